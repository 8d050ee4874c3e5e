/* Records the loads, stores and basic blocks of a program whose compiler calls a function for each of them.
 *
 *   gcc, g++, clang:  compile the program with @memwalk_compile.rsp, and link it with this file and @memwalk_wrap.rsp
 *   rustc:            -C passes=sancov-module -C llvm-args=... (docs/your-own-program.md)
 *
 * Compile this file without such options. The program writes into the file or pipe that $MEMWALK_TRACE names; without it, it runs
 * unrecorded. `memwalk trace import FILE --format recording` reads it; traces/src/import/recording.rs describes the records.
 *
 * The thread that began is recorded, and with $MEMWALK_THREADS=N the first N: each in a file of its own, FILE, FILE.1, FILE.2, ...
 * Accesses of others are counted. Of the C library's functions those are seen that memwalk_wrap.rsp tells the linker to wrap: copies,
 * mappings of files, and what threads wait for.
 */
#if defined(__SANITIZE_THREAD__)
#error "compile memwalk_recorder.c without -fsanitize=thread: it would record itself"
#endif

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library's own functions where the linker wraps them; NULL elsewhere. This file's copies must not be recorded. */
void *__real_memcpy(void *to, const void *from, size_t bytes) __attribute__((weak));
void *__real_memmove(void *to, const void *from, size_t bytes) __attribute__((weak));
void *__real_memset(void *to, int byte, size_t bytes) __attribute__((weak));
int __real_memcmp(const void *one, const void *other, size_t bytes) __attribute__((weak));
#define OWN(function) (__real_##function ? __real_##function : function)

enum kind { LOAD = 1, STORE, EXCHANGE, LOADS, STORES, MESSAGE, END, LATCH, SHARE_LATCH, UNLATCH, BLOCK, BEGIN, AWAIT, THREAD, MEET, SIGNAL, WAKE, COPY, MET };

struct record {
    uint64_t address;
    uint64_t value; /* what a load of 8 bytes reads; bytes of a range or of a text; where a copy goes; 1 if a function begins with a block; a
                       thread; a time of all threads */
    uint64_t place; /* the instruction, 48 bits; bytes, 8 bits; kind, 8 bits */
};

typedef uint64_t __attribute__((may_alias, aligned(1))) unaligned;

#define MAGIC "memwalk recording 2\n"
#define LONGEST_NAME 4096
#define RECORDS 8192
#define MOST_RANGE 65536
#define MOST_TEXT 1024
#define VECTOR 32
#define MOST_COPIED 224
#define PLACE ((UINT64_C(1) << 48) - 1)

/* What the program has said to all threads, and what it said next. */
struct line {
    struct line *next;
    size_t length;
    char text[];
};

/* What is recorded of a thread. It stays when that has ended. */
struct recording {
    struct recording *next;
    int busy;         /* somebody writes, or closes the file */
    int file;         /* -1, it is closed */
    size_t filled;
    uint64_t written; /* records that are in the file */
    struct record buffer[RECORDS];
};

static __thread struct recording *own; /* of this thread; NULL if it is not recorded */
static __thread int has_asked;         /* whether it has asked for one */
static __thread int enters;            /* its next basic block is the first of a function */
static struct line begins;             /* stands before all lines */
static __thread struct line *heard = &begins; /* the last one that this thread has come to */
static const char *path;               /* NULL, nothing is recorded */
static unsigned most_threads = 1;
static unsigned threads;               /* that have asked */
static __thread volatile sig_atomic_t inside; /* the recorder works for this thread: what interrupts it is not recorded */
static __thread uint64_t interrupting; /* what signal handlers did meanwhile */
static struct recording *all;
static uint64_t others;                /* accesses of those that are not recorded */
static uintptr_t base;                 /* what a position-independent program was moved up by */
static pthread_key_t at_exit;          /* ends a thread's recording */

static void hold(struct recording *recording) {
    while (__atomic_exchange_n(&recording->busy, 1, __ATOMIC_ACQUIRE))
        ;
}

static void release(struct recording *recording) { __atomic_store_n(&recording->busy, 0, __ATOMIC_RELEASE); }

/* A signal handler may come at any time, and be recorded itself: but not in the midst of this. */
static inline int enter(void) {
    if (inside) {
        ++interrupting;
        return 0;
    }
    inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return 1;
}

static inline void leave(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    inside = 0;
}

/* Writes as write() does. Where nobody reads a pipe any more, that is an error as others are: the program gets no signal for it. */
static ssize_t write_quietly(int file, const void *bytes, size_t count) {
    const struct timespec at_once = {0, 0};
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t done = write(file, bytes, count);
    int error = errno;
    /* It comes with a part that was still written, too. */
    if (done < (ssize_t)count && !sigismember(&pending, SIGPIPE))
        while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

/* Who calls these two holds the recording. */

static void close_file(struct recording *recording) {
    close(recording->file);
    recording->file = -1;
}

static void write_buffer(struct recording *recording) {
    size_t filled = __atomic_load_n(&recording->filled, __ATOMIC_RELAXED);
    const char *bytes = (const char *)recording->buffer;
    size_t left = recording->file < 0 ? 0 : filled * sizeof *recording->buffer;
    while (left > 0) {
        ssize_t done = write_quietly(recording->file, bytes, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            fprintf(stderr, "memwalk: what is recorded cannot be written: %s; the rest is not recorded\n", strerror(errno));
            close_file(recording);
            return;
        }
        bytes += done;
        left -= (size_t)done;
    }
    recording->written += filled;
}

/* The thread records nothing any more. */
static void stop(void) {
    hold(own);
    if (own->file >= 0)
        close_file(own);
    release(own);
    own = NULL;
}

static void flush(void) {
    int error = errno;
    hold(own);
    write_buffer(own);
    own->filled = 0;
    release(own);
    if (own->file < 0)
        own = NULL;
    errno = error;
}

/* Who calls this has entered. */
static inline void put(uint64_t address, uint64_t value, uint64_t place) {
    own->buffer[own->filled] = (struct record){address, value, place};
    if (++own->filled >= RECORDS)
        flush();
}

/* Right behind is_recorded(), which has seen that the thread is not inside. */
static inline void push_at_once(uint64_t address, uint64_t value, uint64_t place) {
    inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    put(address, value, place);
    leave();
}

static inline void push(uint64_t address, uint64_t value, uint64_t place) {
    if (enter()) {
        put(address, value, place);
        leave();
    }
}

/* Where a thread is recorded: the first in the file of $MEMWALK_TRACE, the others in those beside it. Whether there is room for that name. */
static int name_file(char name[LONGEST_NAME], unsigned number) {
    int length = number ? snprintf(name, LONGEST_NAME, "%s.%u", path, number) : snprintf(name, LONGEST_NAME, "%s", path);
    return length < LONGEST_NAME;
}

/* Removes threads of an earlier recording, of which there may have been more. */
static void forget_earlier(void) {
    char name[LONGEST_NAME], begin[sizeof MAGIC - 1];
    for (unsigned number = 1; name_file(name, number); ++number) {
        int file = open(name, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            return;
        int is_recording = read(file, begin, sizeof begin) == sizeof begin && OWN(memcmp)(begin, MAGIC, sizeof begin) == 0;
        close(file);
        if (!is_recording || unlink(name))
            return;
    }
}

static uint64_t own_number(void);
static void say_areas(int of_program);
static void hear(void);

/* Begins the recording of a thread, and has entered. */
static void begin_thread(void) {
    char name[LONGEST_NAME];
    has_asked = 1;
    unsigned number = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    if (number >= most_threads)
        return;
    int file = name_file(name, number) ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    struct recording *recording = file < 0 ? NULL : malloc(sizeof *recording);
    if (!recording) {
        fprintf(stderr, "memwalk: $MEMWALK_TRACE, %s, cannot be written: %s\n", name, strerror(errno));
        _exit(2);
    }
    recording->busy = 0;
    recording->file = file;
    recording->filled = 0;
    recording->written = 0;
    recording->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all, &recording->next, recording, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    own = recording;
    pthread_setspecific(at_exit, recording);
    struct record first = {0};
    OWN(memcpy)(&first, MAGIC, sizeof MAGIC - 1);
    put(first.address, first.value, first.place);
    put(0, own_number(), (uint64_t)THREAD << 56);
    say_areas(number == 0);
}

static __attribute__((noinline)) int begins_or_hears(void) {
    if ((!own && (!path || has_asked)) || !enter())
        return 0;
    if (!own)
        begin_thread();
    hear();
    leave();
    return own != NULL;
}

static inline int is_recorded(void) {
    if (__builtin_expect(own && !inside && !__atomic_load_n(&heard->next, __ATOMIC_RELAXED), 1))
        return 1;
    return begins_or_hears();
}

/* Whether an access is recorded. Two accesses at once of threads that are not recorded may count as one. */
static inline int records(void) {
    if (is_recorded())
        return 1;
    if (path && !own)
        __atomic_store_n(&others, __atomic_load_n(&others, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    return 0;
}

/* `caller` is where the function returns to: the call stands before it, and the access behind. */
static inline uint64_t place(enum kind kind, uint64_t bytes, const void *caller) {
    uint64_t instruction = ((uintptr_t)caller - base - 1) & PLACE;
    return (uint64_t)kind << 56 | bytes << 48 | instruction;
}

static inline void note(enum kind kind, const volatile void *address, uint64_t bytes, const void *caller) {
    if (records()) {
        uint64_t value = 0;
        if (kind == LOAD && bytes == 8)
            value = *(const volatile unaligned *)address;
        push_at_once((uintptr_t)address, value, place(kind, bytes, caller));
    }
}

/* Eight bytes may be a pointer: they are noted as an access, which keeps what is read. */
static void note_range(enum kind kind, const void *address, size_t bytes, const void *caller) {
    uintptr_t at = (uintptr_t)address;
    if (bytes == sizeof(uint64_t)) {
        note(kind == LOADS ? LOAD : STORE, address, bytes, caller);
        return;
    }
    while (bytes > 0 && records()) {
        size_t part = bytes < MOST_RANGE ? bytes : MOST_RANGE;
        push(at, part, place(kind, 0, caller));
        at += part;
        bytes -= part;
    }
}

/* Copies go vector by vector, a piece of so many after the other: from the end on where the ranges overlap and `to` lies behind `from`. */
static void note_copy(const void *to_, const void *from_, size_t bytes, const void *caller) {
    uintptr_t to = (uintptr_t)to_, from = (uintptr_t)from_;
    if (bytes == sizeof(uint64_t)) {
        note(LOAD, from_, bytes, caller);
        note(STORE, to_, bytes, caller);
        return;
    }
    int is_backward = to > from && to - from < bytes;
    size_t left = bytes, begin = 0;
    while (left > 0 && records()) {
        size_t part = left < MOST_COPIED ? left : MOST_COPIED;
        left -= part;
        size_t at = is_backward ? left : begin;
        push(from + at, to + at, place(COPY, part, caller));
        begin += part;
    }
}

/* What a comparison reads: vectors up to the first difference, of one range and of the other. */
static void note_comparison(const void *one, const void *other, size_t bytes, int result, const void *caller) {
    const unsigned char *left = one, *right = other;
    size_t same = 0;
    if (result && path)
        while (left[same] == right[same])
            ++same;
    size_t read = result ? same / VECTOR * VECTOR + VECTOR : bytes;
    read = read < bytes ? read : bytes;
    for (size_t begin = 0; begin < read; begin += MOST_COPIED) {
        size_t part = read - begin < MOST_COPIED ? read - begin : MOST_COPIED;
        note_range(LOADS, left + begin, part, caller);
        note_range(LOADS, right + begin, part, caller);
    }
}

/* `frame` is this far below the stack pointer of whose block begins, however deep that is. */
static inline void note_block(int is_entry, const void *frame, const void *caller) {
    if (is_recorded())
        push_at_once((uintptr_t)frame, (uint64_t)is_entry, place(BLOCK, 0, caller));
}

/* --- what the program says --- */

/* Whoever calls this is recorded, and has entered. */
static void say(const char *line, size_t length) {
    put(0, length, (uint64_t)MESSAGE << 56);
    for (size_t begin = 0; begin < length && own; begin += sizeof(struct record)) {
        struct record part = {0};
        OWN(memcpy)(&part, line + begin, length - begin < sizeof part ? length - begin : sizeof part);
        put(part.address, part.value, part.place);
    }
}

/* What is said to all threads comes into the recording of each before what that does next. */

static void hear(void) {
    struct line *next;
    while (own && (next = __atomic_load_n(&heard->next, __ATOMIC_ACQUIRE))) {
        heard = next;
        say(next->text, next->length);
    }
}

static void say_to_all(const char *text, size_t length) {
    struct line *line = malloc(sizeof *line + length);
    if (!line) {
        fprintf(stderr, "memwalk: there is no memory for what is said to all threads\n");
        _exit(2);
    }
    line->next = NULL;
    line->length = length;
    OWN(memcpy)(line->text, text, length);
    struct line *last = heard, *next = NULL;
    while (!__atomic_compare_exchange_n(&last->next, &next, line, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
        last = next;
        next = NULL;
    }
    is_recorded();
}

#define TO_ALL "all "
#define BEGINS(line, text) (strncmp(line, text, sizeof text - 1) == 0)

void memwalk_message(const char *line) {
    size_t length = strnlen(line, MOST_TEXT), word = sizeof TO_ALL - 1;
    if (length == 0 || !records())
        return;
    while (length > 0 && (line[length] & 0xc0) == 0x80)
        --length; /* it is cut before a letter of several bytes */
    if (BEGINS(line, TO_ALL "phase ") || strcmp(line, TO_ALL "on") == 0 || strcmp(line, TO_ALL "off") == 0)
        say_to_all(line + word, length - word);
    else if (enter()) {
        say(line, length);
        leave();
    }
}

/* --- memory that the program has not named --- */

static void say_area(const char *name, uintptr_t address, size_t bytes) {
    char line[MOST_TEXT];
    int length = snprintf(line, sizeof line, "area %s %zu %zu", name, (size_t)address, bytes);
    if (own && bytes > 0)
        say(line, (size_t)length);
}

/* The thread's stack; and of the program, which is the first in the list, what it was loaded with and does not execute. */

static int say_loaded(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int number = 0; number < info->dlpi_phnum; ++number) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[number];
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_X))
            say_area(part->p_flags & PF_W ? "globals" : "constants", info->dlpi_addr + part->p_vaddr, part->p_memsz);
    }
    return 1;
}

static void say_areas(int of_program) {
    pthread_attr_t attributes;
    void *stack;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &stack, &bytes) == 0)
            say_area("stack", (uintptr_t)stack, bytes);
        pthread_attr_destroy(&attributes);
    }
    if (of_program)
        dl_iterate_phdr(say_loaded, NULL);
}

/* --- begin and end --- */

static int find_base(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    base = info->dlpi_addr; /* the program itself comes first */
    return 1;
}

/* A process that was forked has another memory, and is not recorded. */
static void in_child(void) {
    path = NULL;
    all = NULL;
    if (own)
        stop();
}

/* The end of a thread, told by `recording`, or of the program: that tells of the threads that were not recorded. */
static void end_thread(void *recording) {
    uint64_t unrecorded = recording ? 0 : __atomic_load_n(&others, __ATOMIC_RELAXED);
    if (!own || !enter())
        return;
    put(own->written + own->filled, unrecorded, (uint64_t)END << 56 | (interrupting & PLACE));
    if (own)
        flush();
    if (own)
        stop();
    leave();
}

/* 0 if a text is no number from 1 on. */
static unsigned number_of_threads(const char *text) {
    char *behind;
    errno = 0;
    unsigned long number = strtoul(text, &behind, 10);
    return *text < '0' || *text > '9' || *behind || errno || number > UINT32_MAX ? 0 : (unsigned)number;
}

__attribute__((constructor(101))) static void begin(void) {
    const char *count = getenv("MEMWALK_THREADS");
    path = getenv("MEMWALK_TRACE");
    if (path && !*path)
        path = NULL;
    if (!path)
        return;
    if (count && !(most_threads = number_of_threads(count))) {
        fprintf(stderr, "memwalk: $MEMWALK_THREADS, %s, is no number of threads from 1 on\n", count);
        _exit(2);
    }
    dl_iterate_phdr(find_base, NULL);
    pthread_key_create(&at_exit, end_thread);
    pthread_atfork(NULL, NULL, in_child);
    forget_earlier();
    is_recorded();
}

/* The program ends while a thread goes on: what that records at this moment is left out. */
static void end_other(struct recording *other) {
    struct record last = {0, 0, (uint64_t)END << 56};
    hold(other);
    if (other->file >= 0)
        write_buffer(other);
    last.address = other->written;
    if (other->file >= 0 && write_quietly(other->file, &last, sizeof last) == sizeof last)
        close_file(other);
    release(other);
}

__attribute__((destructor(101))) static void end(void) {
    struct recording *interrupted = inside ? own : NULL; /* by a signal handler that ends the program: it has no end */
    path = NULL; /* what runs behind this is not recorded */
    end_thread(NULL);
    for (struct recording *one = __atomic_load_n(&all, __ATOMIC_ACQUIRE); one; one = one->next)
        if (one != interrupted)
            end_other(one);
}

/* --- what compilers call: -fsanitize=thread --- */

#define CALLER __builtin_return_address(0)

#define ACCESSES(bytes)                                                                  \
    void __tsan_read##bytes(void *address) { note(LOAD, address, bytes, CALLER); }             \
    void __tsan_write##bytes(void *address) { note(STORE, address, bytes, CALLER); }           \
    void __tsan_unaligned_read##bytes(void *address) { note(LOAD, address, bytes, CALLER); }   \
    void __tsan_unaligned_write##bytes(void *address) { note(STORE, address, bytes, CALLER); } \
    void __tsan_volatile_read##bytes(void *address) { note(LOAD, address, bytes, CALLER); }    \
    void __tsan_volatile_write##bytes(void *address) { note(STORE, address, bytes, CALLER); }

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) {
    (void)caller;
    enters = 1;
}
void __tsan_func_exit(void) {}
void __tsan_vptr_read(void **address) { note(LOAD, address, sizeof *address, CALLER); }
void __tsan_vptr_update(void **address, void *value) {
    (void)value;
    note(STORE, address, sizeof *address, CALLER);
}
void __tsan_read_range(void *address, size_t bytes) { note_range(LOADS, address, bytes, CALLER); }
void __tsan_write_range(void *address, size_t bytes) { note_range(STORES, address, bytes, CALLER); }

#define UPDATE(bits, type, name)                                                              \
    type __tsan_atomic##bits##_##name(volatile type *address, type value, int order) {             \
        (void)order;                                                                               \
        note(EXCHANGE, address, sizeof *address, CALLER);                                          \
        return __atomic_##name(address, value, __ATOMIC_SEQ_CST);                                  \
    }

#define COMPARE(bits, type, name)                                                             \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *address, type *expected, type value, int order, int failed) { \
        (void)order, (void)failed;                                                                 \
        note(EXCHANGE, address, sizeof *address, CALLER);                                          \
        return __atomic_compare_exchange_n(address, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }

#define ATOMICS(bits, type)                                                                   \
    type __tsan_atomic##bits##_load(const volatile type *address, int order) {                     \
        (void)order;                                                                               \
        note(LOAD, address, sizeof *address, CALLER);                                              \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *address, type value, int order) {              \
        (void)order;                                                                               \
        note(STORE, address, sizeof *address, CALLER);                                             \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    type __tsan_atomic##bits##_exchange(volatile type *address, type value, int order) {           \
        (void)order;                                                                               \
        note(EXCHANGE, address, sizeof *address, CALLER);                                          \
        return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                              \
    }                                                                                              \
    UPDATE(bits, type, fetch_add)                                                                  \
    UPDATE(bits, type, fetch_sub)                                                                  \
    UPDATE(bits, type, fetch_and)                                                                  \
    UPDATE(bits, type, fetch_or)                                                                   \
    UPDATE(bits, type, fetch_xor)                                                                  \
    UPDATE(bits, type, fetch_nand)                                                                 \
    COMPARE(bits, type, strong)                                                                    \
    COMPARE(bits, type, weak)                                                                      \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected, type value, int order, int failed) { \
        (void)order, (void)failed;                                                                 \
        note(EXCHANGE, address, sizeof *address, CALLER);                                          \
        __atomic_compare_exchange_n(address, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected;                                                                           \
    }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
#include "memwalk_wide.h"

void __tsan_atomic_thread_fence(int order) {
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* --- what compilers call: LLVM's -sanitizer-coverage-trace-loads and -trace-stores --- */

#define COVERED(bytes)                                                                         \
    void __sanitizer_cov_load##bytes(void *address) { note(LOAD, address, bytes, CALLER); }         \
    void __sanitizer_cov_store##bytes(void *address) { note(STORE, address, bytes, CALLER); }

COVERED(1)
COVERED(2)
COVERED(4)
COVERED(8)
COVERED(16)

void __sanitizer_cov_bool_flag_init(uint8_t *start, uint8_t *stop_) { (void)start, (void)stop_; }

/* --- what compilers call for basic blocks: -fsanitize-coverage=trace-pc, beside -fsanitize=thread, which tells of functions --- */

void __sanitizer_cov_trace_pc(void) {
    note_block(enters, __builtin_frame_address(0), CALLER);
    enters = 0;
}

/* The same: LLVM's -sanitizer-coverage-trace-pc-guard with -pc-table. Guards and the table's pairs have the same order. */

static uint32_t *guards, *guards_end;
static const uintptr_t *blocks; /* pairs of an address, and 1 if a function begins there */

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop_) {
    if (!guards)
        guards = start, guards_end = stop_;
}

void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop_) {
    (void)stop_;
    if (!blocks)
        blocks = start;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    if (blocks && guard >= guards && guard < guards_end)
        note_block(blocks[2 * (guard - guards) + 1] & 1, __builtin_frame_address(0), CALLER);
}

/* --- the C library's copies, wrapped by memwalk_wrap.rsp, or of clang's -fsanitize=thread --- */

#define COPIES(name, own)                                                                      \
    void *name(void *to, const void *from, size_t bytes) {                                          \
        note_copy(to, from, bytes, CALLER);                                                         \
        return OWN(own)(to, from, bytes);                                                           \
    }

#define FILL(name)                                                                             \
    void *name(void *to, int byte, size_t bytes) {                                                  \
        note_range(STORES, to, bytes, CALLER);                                                      \
        return OWN(memset)(to, byte, bytes);                                                        \
    }

COPIES(__wrap_memcpy, memcpy)
COPIES(__wrap_memmove, memmove)
FILL(__wrap_memset)

int __wrap_memcmp(const void *one, const void *other, size_t bytes) {
    int result = OWN(memcmp)(one, other, bytes);
    note_comparison(one, other, bytes, result, CALLER);
    return result;
}

COPIES(__tsan_memcpy, memmove)
COPIES(__tsan_memmove, memmove)
FILL(__tsan_memset)

/* --- files that the program maps into its memory, wrapped by memwalk_wrap.rsp --- */

#define MAPS(name)                                                                             \
    void *__real_##name(void *, size_t, int, int, int, off_t) __attribute__((weak));                \
    void *__wrap_##name(void *wanted, size_t bytes, int protection, int flags, int file, off_t from) { \
        void *address = __real_##name(wanted, bytes, protection, flags, file, from);                \
        int error = errno;                                                                          \
        if (address != MAP_FAILED && !(flags & MAP_ANONYMOUS) && is_recorded() && enter()) {        \
            say_area("mapped files", (uintptr_t)address, bytes);                                    \
            leave();                                                                                \
        }                                                                                           \
        errno = error;                                                                              \
        return address;                                                                             \
    }

MAPS(mmap)
MAPS(mmap64)

/* --- locks, and what else threads wait for --- */

#include "memwalk_lives.h"
#include "memwalk_threads.h"
#include "memwalk_openmp.h"
