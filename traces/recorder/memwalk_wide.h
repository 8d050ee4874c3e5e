/* The part of memwalk_recorder.c, which includes it, that has atomic operations of 16 bytes, as -fsanitize=thread calls them. gcc's own are in a
 * library which programs need not be linked with. So all are made of the processor's one instruction for it. */
#ifdef __x86_64__

__extension__ typedef unsigned __int128 wide;

/* Whether it was `expected`, which becomes what it was. */
static int exchange_wide(volatile wide *address, wide *expected, wide value) {
    uint64_t low = (uint64_t)*expected, high = (uint64_t)(*expected >> 64);
    int is_exchanged;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(is_exchanged), "+m"(*address), "+a"(low), "+d"(high)
                     : "b"((uint64_t)value), "c"((uint64_t)(value >> 64))
                     : "memory");
    *expected = (wide)high << 64 | low;
    return is_exchanged;
}

wide __tsan_atomic128_load(const volatile wide *address, int order) {
    wide was = 0;
    (void)order;
    note(LOAD, address, sizeof *address, CALLER);
    exchange_wide((volatile wide *)address, &was, 0);
    return was;
}

void __tsan_atomic128_store(volatile wide *address, wide value, int order) {
    wide was = 0;
    (void)order;
    note(STORE, address, sizeof *address, CALLER);
    while (!exchange_wide(address, &was, value))
        ;
}

#define UPDATE_WIDE(name, updated)                                                             \
    wide __tsan_atomic128_##name(volatile wide *address, wide value, int order) {                   \
        wide was = 0;                                                                               \
        (void)order;                                                                                \
        note(EXCHANGE, address, sizeof *address, CALLER);                                           \
        while (!exchange_wide(address, &was, updated))                                              \
            ;                                                                                       \
        return was;                                                                                 \
    }

UPDATE_WIDE(exchange, value)
UPDATE_WIDE(fetch_add, was + value)
UPDATE_WIDE(fetch_sub, was - value)
UPDATE_WIDE(fetch_and, was & value)
UPDATE_WIDE(fetch_or, was | value)
UPDATE_WIDE(fetch_xor, was ^ value)
UPDATE_WIDE(fetch_nand, ~(was & value))

#define COMPARE_WIDE(name)                                                                     \
    int __tsan_atomic128_compare_exchange_##name(volatile wide *address, wide *expected, wide value, int order, int failed) { \
        (void)order, (void)failed;                                                                  \
        note(EXCHANGE, address, sizeof *address, CALLER);                                           \
        return exchange_wide(address, expected, value);                                             \
    }

COMPARE_WIDE(strong)
COMPARE_WIDE(weak)

wide __tsan_atomic128_compare_exchange_val(volatile wide *address, wide expected, wide value, int order, int failed) {
    (void)order, (void)failed;
    note(EXCHANGE, address, sizeof *address, CALLER);
    exchange_wide(address, &expected, value);
    return expected;
}

#endif
