//! Something that is on its way: when it was asked for, and when it is there.

/// From the cycle in which a translation or a line was asked for to the one from which it can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Arrival {
    /// The cycle from which somebody has it who asks at `time`.
    ///
    /// Events are simulated in the order of the program, not of time. Who asks before it was asked for has it after as
    /// long a time as it took.
    pub(crate) fn wait(self, time: u64) -> u64 {
        if time < self.start {
            time + (self.end - self.start)
        } else {
            time.max(self.end)
        }
    }

    /// The earlier of two ways to have it.
    pub(crate) fn no_later_than(self, start: u64, end: u64) -> Self {
        if end < self.end {
            Self { start, end }
        } else {
            self
        }
    }

    /// Whether somebody who asks at `now` or later might have to wait.
    pub(crate) fn is_awaited(self, now: u64) -> bool {
        self.end > now.max(self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_before_during_and_after_the_journey() {
        let walk = Arrival {
            start: 100,
            end: 130,
        };
        let asked = [50, 99, 100, 129, 130, 131];
        assert_eq!(
            asked.map(|time| walk.wait(time)),
            [80, 129, 130, 130, 130, 131]
        );
        assert_eq!(walk.no_later_than(50, 80), Arrival { start: 50, end: 80 });
        assert_eq!(walk.no_later_than(110, 140), walk);
        assert!(walk.is_awaited(0) && walk.is_awaited(129) && !walk.is_awaited(130));
        let free = Arrival { start: 7, end: 7 };
        assert!(
            !free.is_awaited(0),
            "what takes no time is waited for by nobody"
        );
    }
}
