/* What a program tells memwalk while it is recorded: names of data structures and phases, and what to record.
 *
 * Works in C and C++. It goes to memwalk_recorder.c if that is linked, else to Valgrind if the program runs under it and its
 * header was there; else nothing happens. The whole story: docs/your-own-program.md.
 */
#ifndef MEMWALK_H
#define MEMWALK_H

#include <stddef.h>
#include <stdio.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define MEMWALK_VALGRIND_
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Takes a line such as "phase probe". Defined by the recorder. */
void memwalk_message(const char *line) __attribute__((weak));

static inline void memwalk_tell_(const char *line) {
    if (memwalk_message)
        memwalk_message(line);
#ifdef MEMWALK_VALGRIND_
    else
        VALGRIND_PRINTF("memwalk %s\n", line);
#endif
}

/* These `bytes` at `address` are called `name`, in the whole trace. Say it again when they have grown. */
static inline void memwalk_segment(const char *name, const void *address, size_t bytes) {
    char line[512];
    snprintf(line, sizeof line, "segment %.256s 0x%zx %zu", name, (size_t)address, bytes);
    memwalk_tell_(line);
}

/* A phase of this thread begins, and the one before it ends. */
static inline void memwalk_phase(const char *name) {
    char line[512];
    snprintf(line, sizeof line, "phase %.256s", name);
    memwalk_tell_(line);
}

/* A phase of all threads begins: each comes to it with what it does next. */
static inline void memwalk_phase_all(const char *name) {
    char line[512];
    snprintf(line, sizeof line, "all phase %.256s", name);
    memwalk_tell_(line);
}

/* The thread waits here for all others that say it. Say it beside a barrier of the program's own; those of POSIX threads are known. All
 * threads that say it do so equally often. */
static inline void memwalk_barrier(void) { memwalk_tell_("barrier"); }

/* What comes is recorded, of this thread or of all. If nothing was switched before, all that came before is left out. */
static inline void memwalk_on(void) { memwalk_tell_("on"); }
static inline void memwalk_on_all(void) { memwalk_tell_("all on"); }

/* What comes is left out, of this thread or of all. */
static inline void memwalk_off(void) { memwalk_tell_("off"); }
static inline void memwalk_off_all(void) { memwalk_tell_("all off"); }

#ifdef __cplusplus
}
#endif

#endif
