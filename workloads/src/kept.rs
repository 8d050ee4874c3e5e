//! What was built for one workload and is kept for the next, since experiments come back to the same few.

/// What was built, of the latest `MOST` kinds asked for. Each is known by what determines it.
#[derive(Clone, Debug)]
pub(crate) struct Kept<K, V, const MOST: usize> {
    /// Least recently used first.
    entries: Vec<(K, V)>,
}

impl<K, V, const MOST: usize> Default for Kept<K, V, MOST> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
        }
    }
}

impl<K: PartialEq, V: Clone, const MOST: usize> Kept<K, V, MOST> {
    /// Whether this is kept.
    pub(crate) fn holds(&self, key: &K) -> bool {
        self.entries.iter().any(|(kept, _)| kept == key)
    }

    /// What `key` determines, kept or built.
    ///
    /// # Errors
    /// That of building it.
    pub(crate) fn get<E>(
        &mut self,
        key: K,
        build: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E> {
        let entry = match self.entries.iter().position(|(kept, _)| *kept == key) {
            Some(place) => self.entries.remove(place),
            None => {
                // Make room first: what is built may take a large part of the host's memory.
                if self.entries.len() == MOST {
                    self.entries.remove(0);
                }
                let built = build(&key)?;
                (key, built)
            }
        };
        let value = entry.1.clone();
        self.entries.push(entry);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept_and_built_once() {
        let mut kept: Kept<u32, u32, 2> = Kept::default();
        let mut built = Vec::new();
        for key in [1, 2, 1, 3, 1, 2] {
            let value = kept.get(key, |&key| {
                built.push(key);
                Ok::<_, ()>(10 * key)
            });
            assert_eq!(value, Ok(10 * key));
        }
        // 2 had to leave for 3, since 1 was asked for meanwhile.
        assert_eq!(built, [1, 2, 3, 2]);
        assert!(kept.holds(&1) && kept.holds(&2) && !kept.holds(&3));
    }

    #[test]
    fn what_cannot_be_built_is_not_kept() {
        let mut kept: Kept<u32, u32, 1> = Kept::default();
        kept.get(1, |_| Ok::<_, ()>(1)).unwrap();
        assert_eq!(kept.get(2, |_| Err("full")), Err("full"));
        // It may have needed the room.
        assert!(!kept.holds(&1) && !kept.holds(&2));
    }
}
