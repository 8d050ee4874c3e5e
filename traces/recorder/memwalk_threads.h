/* The part of memwalk_recorder.c, which includes it, that records what threads wait for: functions that memwalk_wrap.rsp tells the linker to
 * wrap. Each calls the function that it is called instead of, whose name begins with __real_, and notes what that did. */

/* --- the C library's locks, wrapped by memwalk_wrap.rsp --- */

/* A lock is taken by one atomic operation on the word that it begins with, and released by another. Those that find it taken are left out. */
#define LOCK_WORD 4

static void note_taken(enum kind kind, const volatile void *lock, const void *caller) {
    if (records())
        push((uintptr_t)lock, 0, place(kind, 0, caller));
    if (own)
        note(EXCHANGE, lock, LOCK_WORD, caller);
}

static void note_released(enum kind access, const volatile void *lock, const void *caller) {
    note(access, lock, LOCK_WORD, caller);
    if (own)
        push((uintptr_t)lock, 0, place(UNLATCH, 0, caller));
}

/* Whether a function that may have taken a lock did so: its holder may have died, too. */
static int is_taken(int error) { return error == 0 || error == EOWNERDEAD; }

#define TAKES(kind, name, parameters, arguments)                                               \
    int __real_##name parameters __attribute__((weak));                                             \
    int __wrap_##name parameters {                                                                  \
        int error = __real_##name arguments;                                                        \
        if (is_taken(error))                                                                        \
            note_taken(kind, lock, CALLER);                                                         \
        return error;                                                                               \
    }

#define TAKES_NOW(kind, name, type) TAKES(kind, name, (type *lock), (lock))
#define TAKES_UNTIL(kind, name, type) TAKES(kind, name, (type *lock, const struct timespec *end), (lock, end))
#define TAKES_BY_CLOCK(kind, name, type)                                                       \
    TAKES(kind, name, (type *lock, clockid_t clock, const struct timespec *end), (lock, clock, end))

/* Another may have the lock as soon as the function is called, but the record stands before its own. */
#define RELEASES(access, name, type)                                                           \
    int __real_##name(type *lock) __attribute__((weak));                                            \
    int __wrap_##name(type *lock) {                                                                 \
        note_released(access, lock, CALLER);                                                        \
        return __real_##name(lock);                                                                 \
    }

TAKES_NOW(LATCH, pthread_mutex_lock, pthread_mutex_t)
TAKES_NOW(LATCH, pthread_mutex_trylock, pthread_mutex_t)
TAKES_UNTIL(LATCH, pthread_mutex_timedlock, pthread_mutex_t)
TAKES_BY_CLOCK(LATCH, pthread_mutex_clocklock, pthread_mutex_t)
RELEASES(EXCHANGE, pthread_mutex_unlock, pthread_mutex_t)

TAKES_NOW(SHARE_LATCH, pthread_rwlock_rdlock, pthread_rwlock_t)
TAKES_NOW(SHARE_LATCH, pthread_rwlock_tryrdlock, pthread_rwlock_t)
TAKES_UNTIL(SHARE_LATCH, pthread_rwlock_timedrdlock, pthread_rwlock_t)
TAKES_BY_CLOCK(SHARE_LATCH, pthread_rwlock_clockrdlock, pthread_rwlock_t)
TAKES_NOW(LATCH, pthread_rwlock_wrlock, pthread_rwlock_t)
TAKES_NOW(LATCH, pthread_rwlock_trywrlock, pthread_rwlock_t)
TAKES_UNTIL(LATCH, pthread_rwlock_timedwrlock, pthread_rwlock_t)
TAKES_BY_CLOCK(LATCH, pthread_rwlock_clockwrlock, pthread_rwlock_t)
RELEASES(EXCHANGE, pthread_rwlock_unlock, pthread_rwlock_t)

TAKES_NOW(LATCH, pthread_spin_lock, pthread_spinlock_t)
TAKES_NOW(LATCH, pthread_spin_trylock, pthread_spinlock_t)
RELEASES(STORE, pthread_spin_unlock, pthread_spinlock_t)

/* What threads do to each other is counted together, of all threads: that is their time, which begins at 1. */

static uint64_t time_passes(void) {
    static uint64_t now;
    return __atomic_add_fetch(&now, 1, __ATOMIC_SEQ_CST);
}

/* Whoever wakes others at an address signals before he does so, and who was woken there notes it. */

static void note_signal(enum kind kind, const volatile void *address, const void *caller) {
    int error = errno;
    if (is_recorded())
        push((uintptr_t)address, time_passes(), place(kind, 0, caller));
    errno = error;
}

/* Who waits for a condition releases the lock meanwhile. */

#define SIGNALS(name)                                                                          \
    int __real_##name(pthread_cond_t *condition) __attribute__((weak));                            \
    int __wrap_##name(pthread_cond_t *condition) {                                                  \
        note_signal(SIGNAL, condition, CALLER);                                                     \
        return __real_##name(condition);                                                            \
    }

SIGNALS(pthread_cond_signal)
SIGNALS(pthread_cond_broadcast)

#define WAITS(name, parameters, arguments)                                                     \
    int __real_##name parameters __attribute__((weak));                                             \
    int __wrap_##name parameters {                                                                  \
        note_released(EXCHANGE, lock, CALLER);                                                      \
        int error = __real_##name arguments;                                                        \
        if (!error)                                                                                 \
            note_signal(WAKE, condition, CALLER);                                                   \
        note_taken(LATCH, lock, CALLER);                                                            \
        return error;                                                                               \
    }

WAITS(pthread_cond_wait, (pthread_cond_t *condition, pthread_mutex_t *lock), (condition, lock))
WAITS(pthread_cond_timedwait, (pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *end), (condition, lock, end))
WAITS(pthread_cond_clockwait, (pthread_cond_t *condition, pthread_mutex_t *lock, clockid_t clock, const struct timespec *end),
      (condition, lock, clock, end))

/* std::condition_variable::wait(std::unique_lock<std::mutex> &), which libstdc++ has in its library: no linker sees what that calls. Both
 * begin with what they are in C: the condition, and the address of the lock. */
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(pthread_cond_t *condition, pthread_mutex_t **lock) {
    note_released(EXCHANGE, *lock, CALLER);
    __real_pthread_cond_wait(condition, *lock);
    note_signal(WAKE, condition, CALLER);
    note_taken(LATCH, *lock, CALLER);
}

/* The same of notify_one() and notify_all(). */
void __wrap__ZNSt18condition_variable10notify_oneEv(pthread_cond_t *condition) {
    note_signal(SIGNAL, condition, CALLER);
    __real_pthread_cond_signal(condition);
}

void __wrap__ZNSt18condition_variable10notify_allEv(pthread_cond_t *condition) {
    note_signal(SIGNAL, condition, CALLER);
    __real_pthread_cond_broadcast(condition);
}

/* --- barriers, wrapped by memwalk_wrap.rsp --- */

int __real_pthread_barrier_wait(pthread_barrier_t *barrier) __attribute__((weak));
int __wrap_pthread_barrier_wait(pthread_barrier_t *barrier) {
    note(EXCHANGE, (void *)barrier, LOCK_WORD, CALLER);
    if (own)
        push((uintptr_t)barrier, time_passes(), place(MEET, 0, CALLER));
    int result = __real_pthread_barrier_wait(barrier);
    if (own)
        push((uintptr_t)barrier, time_passes(), place(MET, 0, CALLER));
    return result;
}

/* --- semaphores and futexes --- */

/* Who gets what he wants at once waits for nobody. */
#define WAITS_FOR_POST(name, parameters, arguments)                                            \
    int __real_##name parameters __attribute__((weak));                                             \
    int __wrap_##name parameters {                                                                  \
        note(EXCHANGE, semaphore, LOCK_WORD, CALLER);                                               \
        int error = errno;                                                                          \
        if (sem_trywait(semaphore) == 0)                                                            \
            return 0;                                                                               \
        errno = error;                                                                              \
        int result = __real_##name arguments;                                                       \
        if (result == 0)                                                                            \
            note_signal(WAKE, semaphore, CALLER);                                                   \
        return result;                                                                              \
    }

WAITS_FOR_POST(sem_wait, (sem_t *semaphore), (semaphore))
WAITS_FOR_POST(sem_timedwait, (sem_t *semaphore, const struct timespec *end), (semaphore, end))
WAITS_FOR_POST(sem_clockwait, (sem_t *semaphore, clockid_t clock, const struct timespec *end), (semaphore, clock, end))

int __real_sem_post(sem_t *semaphore) __attribute__((weak));
int __wrap_sem_post(sem_t *semaphore) {
    note(EXCHANGE, semaphore, LOCK_WORD, CALLER);
    note_signal(SIGNAL, semaphore, CALLER);
    return __real_sem_post(semaphore);
}

/* Rust's std::sync and C++20's waits at atomics ask the kernel to wake others at a word, or to be woken there. */
long __real_syscall(long number, ...) __attribute__((weak));
long __wrap_syscall(long number, long word, long operation, long a, long b, long c, long d) {
    int command = number == SYS_futex ? (int)operation & FUTEX_CMD_MASK : -1;
    if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET)
        note_signal(SIGNAL, (void *)word, CALLER);
    long result = __real_syscall(number, word, operation, a, b, c, d);
    if (result == 0 && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET))
        note_signal(WAKE, (void *)word, CALLER);
    return result;
}

/* The same of std::future, which libstdc++ has in its library: __atomic_futex_unsigned_base::_M_futex_wait_until() and its like by another
 * clock, which say whether somebody has woken them, and _M_futex_notify_all(). */
#define WAITS_AT_FUTEX(name)                                                                   \
    int __real_##name(const void *self, uint32_t *word, uint32_t value, int ends, long seconds, long rest) __attribute__((weak)); \
    int __wrap_##name(const void *self, uint32_t *word, uint32_t value, int ends, long seconds, long rest) { \
        int woken = __real_##name(self, word, value, ends, seconds, rest) & 0xff;                   \
        if (woken)                                                                                  \
            note_signal(WAKE, word, CALLER);                                                        \
        return woken;                                                                               \
    }

WAITS_AT_FUTEX(_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE)
WAITS_AT_FUTEX(_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE)

void __real__ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(uint32_t *word) __attribute__((weak));
void __wrap__ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(uint32_t *word) {
    note_signal(SIGNAL, word, CALLER);
    __real__ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(word);
}
