//! Miss status holding registers: how many misses may be outstanding.

/// Completion times of the outstanding misses, one per register.
#[derive(Clone, Debug)]
pub(crate) struct Mshrs {
    busy_until: Box<[u64]>,
    /// Register to try first: misses complete roughly in the order of their requests.
    oldest: usize,
}

impl Mshrs {
    pub(crate) fn new(registers: u32) -> Self {
        Self {
            busy_until: vec![0; registers as usize].into_boxed_slice(),
            oldest: 0,
        }
    }

    /// The cycle, at or after `request`, from which a register is free, and that register.
    pub(crate) fn acquire(&mut self, request: u64) -> (u64, usize) {
        if self.busy_until[self.oldest] <= request {
            let register = self.oldest;
            self.oldest = if register + 1 == self.busy_until.len() {
                0
            } else {
                register + 1
            };
            return (request, register);
        }
        let mut first = 0;
        for (register, &until) in self.busy_until.iter().enumerate() {
            if until < self.busy_until[first] {
                first = register;
            }
        }
        (self.busy_until[first].max(request), first)
    }

    /// Holds the register until its miss completes.
    pub(crate) fn hold(&mut self, register: usize, until: u64) {
        self.busy_until[register] = until;
    }

    /// The cycle in which the last outstanding miss completes.
    pub(crate) fn drained(&self) -> u64 {
        self.busy_until.iter().copied().max().unwrap_or(0)
    }

    pub(crate) fn clear(&mut self) {
        self.busy_until.fill(0);
        self.oldest = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_waits_for_the_first_completion() {
        let mut mshrs = Mshrs::new(2);
        for (request, until) in [(0, 250), (1, 100)] {
            let (start, register) = mshrs.acquire(request);
            assert_eq!(start, request);
            mshrs.hold(register, until);
        }
        assert_eq!(mshrs.acquire(99).0, 100, "one cycle early waits");
        assert_eq!(mshrs.acquire(100).0, 100, "freed in that very cycle");
        assert_eq!(mshrs.drained(), 250);
    }
}
