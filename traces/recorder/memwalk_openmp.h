/* The part of memwalk_recorder.c, which includes it, that records what threads of gcc's OpenMP wait for: functions that memwalk_wrap.rsp tells
 * the linker to wrap, as those of memwalk_threads.h. */

int omp_get_thread_num(void) __attribute__((weak));
int omp_get_num_threads(void) __attribute__((weak));

/* Addresses where no program has anything. Each name has some behind it: one for each member of a team. */
#define NAMES (UINT64_C(1) << 63)
#define MEMBERS (UINT64_C(1) << 20)

static uint64_t new_name(void) {
    static uint64_t names;
    return NAMES + __atomic_fetch_add(&names, 1, __ATOMIC_RELAXED) * MEMBERS;
}

static void note_named(enum kind kind, uint64_t name, const void *caller) { note_signal(kind, (const void *)(uintptr_t)name, caller); }

/* Waits for what the other members of the team have signalled, each at its own address behind the name. */
static void await_others(uint64_t name, const void *caller) {
    int members = omp_get_num_threads(), self = omp_get_thread_num();
    for (int member = 0; member < members; ++member)
        if (member != self)
            note_named(WAKE, name + (uint64_t)member, caller);
}

/* --- teams --- */

/* Threads that run a parallel region. The one that came to it begins it, and waits for the end of each other. */
struct team {
    void *reductions;  /* the library reads them before the region begins, if there are any */
    void (*work)(void *);
    void *data;
    uint64_t name;     /* it begins with a signal here, and a member's end is one at its address behind it */
    uint64_t barriers; /* where its members meet: at an address for each size of a team */
    unsigned members;
};

static __thread const struct team *own_team; /* NULL, outside of parallel regions */

/* Where members of the teams meet that a thread begins. Other teams are of other threads, as its pool has them: those of another size, and all
 * that a member begins. */
static __thread uint64_t own_barriers;
static __thread unsigned own_members;

/* Whom the task that is run waits for: those that it has created, and those of the group that it is in. */
struct group {
    uint64_t name; /* a task ends with a signal behind it; 0, there is none */
    struct group *outer;
};

static __thread uint64_t own_children;
static __thread struct group *own_group;

/* What a region or a task waits for before it begins, and its end, is noted at its first instruction: a place is before where one returns to. */
static const void *first_of(void (*work)(void *)) { return (const char *)work + 1; }

static void work_in_team(void *of_team) {
    struct team *team = of_team;
    const void *caller = first_of(team->work);
    const struct team *outer = own_team;
    uint64_t outer_children = own_children;
    struct group *outer_group = own_group;
    unsigned member = (unsigned)omp_get_thread_num();
    __atomic_store_n(&team->members, (unsigned)omp_get_num_threads(), __ATOMIC_RELAXED);
    own_team = team;
    own_children = 0;
    own_group = NULL;
    if (member > 0)
        note_named(WAKE, team->name, caller);
    team->work(team->data);
    if (member > 0)
        note_named(SIGNAL, team->name + member, caller);
    own_team = outer;
    own_children = outer_children;
    own_group = outer_group;
}

static void begin_team(struct team *team, void (*work)(void *), void *data, const void *caller) {
    if (!own_barriers || own_team)
        own_barriers = new_name();
    team->work = work;
    team->data = data;
    team->name = new_name();
    team->barriers = own_barriers;
    team->members = 1;
    note_named(SIGNAL, team->name, caller);
}

static void end_team(const struct team *team, const void *caller) {
    for (unsigned member = 1; member < team->members; ++member)
        note_named(WAKE, team->name + member, caller);
    if (own_members != team->members)
        own_barriers = 0;
    own_members = team->members;
}

#define PARALLEL(name, parameters, arguments)                                                  \
    void __real_##name parameters __attribute__((weak));                                            \
    void __wrap_##name parameters {                                                                 \
        struct team team;                                                                           \
        begin_team(&team, work, data, CALLER);                                                      \
        __real_##name arguments;                                                                    \
        end_team(&team, CALLER);                                                                    \
    }

#define REGION void (*work)(void *), void *data, unsigned threads
#define LOOP REGION, long from, long to, long step

PARALLEL(GOMP_parallel, (REGION, unsigned flags), (work_in_team, &team, threads, flags))
PARALLEL(GOMP_parallel_sections, (REGION, unsigned count, unsigned flags), (work_in_team, &team, threads, count, flags))

#define PARALLEL_LOOP(name) \
    PARALLEL(GOMP_parallel_loop_##name, (LOOP, long chunk, unsigned flags), (work_in_team, &team, threads, from, to, step, chunk, flags))
#define PARALLEL_LOOP_AT_RUNTIME(name) \
    PARALLEL(GOMP_parallel_loop_##name, (LOOP, unsigned flags), (work_in_team, &team, threads, from, to, step, flags))

unsigned __real_GOMP_parallel_reductions(REGION, unsigned flags) __attribute__((weak));
unsigned __wrap_GOMP_parallel_reductions(REGION, unsigned flags) {
    struct team team = {.reductions = *(void **)data};
    begin_team(&team, work, data, CALLER);
    unsigned members = __real_GOMP_parallel_reductions(work_in_team, &team, threads, flags);
    end_team(&team, CALLER);
    return members;
}

PARALLEL_LOOP(static)
PARALLEL_LOOP(dynamic)
PARALLEL_LOOP(guided)
PARALLEL_LOOP(nonmonotonic_dynamic)
PARALLEL_LOOP(nonmonotonic_guided)
PARALLEL_LOOP_AT_RUNTIME(runtime)
PARALLEL_LOOP_AT_RUNTIME(nonmonotonic_runtime)
PARALLEL_LOOP_AT_RUNTIME(maybe_nonmonotonic_runtime)

/* --- where members of a team meet --- */

/* They run tasks there, and nobody goes on before all are done: so this is noted behind it, with the time at which the thread came. */
static void note_meeting(uint64_t came, const void *caller) {
    if (!own_team || !is_recorded())
        return;
    uint64_t barrier = own_team->barriers + (uint64_t)omp_get_num_threads();
    push(barrier, came, place(MEET, 0, caller));
    if (own)
        push(barrier, time_passes(), place(MET, 0, caller));
}

static uint64_t comes(void) { return own_team && path ? time_passes() : 0; }

#define MEETS(name)                                                                            \
    void __real_##name(void) __attribute__((weak));                                                 \
    void __wrap_##name(void) {                                                                      \
        uint64_t came = comes();                                                                    \
        __real_##name();                                                                            \
        note_meeting(came, CALLER);                                                                 \
    }

MEETS(GOMP_barrier)
MEETS(GOMP_loop_end)
MEETS(GOMP_sections_end)

void __real_GOMP_workshare_task_reduction_unregister(_Bool is_cancelled) __attribute__((weak));
void __wrap_GOMP_workshare_task_reduction_unregister(_Bool is_cancelled) {
    uint64_t came = comes();
    __real_GOMP_workshare_task_reduction_unregister(is_cancelled);
    if (!is_cancelled)
        note_meeting(came, CALLER);
}

/* One member runs the region of `single copyprivate` and hands the others what it has found, for which they wait. */
void *__real_GOMP_single_copy_start(void) __attribute__((weak));
void *__wrap_GOMP_single_copy_start(void) {
    uint64_t came = comes();
    void *found = __real_GOMP_single_copy_start();
    if (found)
        note_meeting(came, CALLER);
    return found;
}

void __real_GOMP_single_copy_end(void *found) __attribute__((weak));
void __wrap_GOMP_single_copy_end(void *found) {
    uint64_t came = comes();
    __real_GOMP_single_copy_end(found);
    note_meeting(came, CALLER);
}

/* Turns of an ordered loop: whoever comes to one waits for the one before it. */
void __real_GOMP_ordered_start(void) __attribute__((weak));
void __wrap_GOMP_ordered_start(void) {
    __real_GOMP_ordered_start();
    if (own_team)
        note_named(WAKE, own_team->name + MEMBERS - 1, CALLER);
}

void __real_GOMP_ordered_end(void) __attribute__((weak));
void __wrap_GOMP_ordered_end(void) {
    if (own_team)
        note_named(SIGNAL, own_team->name + MEMBERS - 1, CALLER);
    __real_GOMP_ordered_end();
}

/* --- locks --- */

/* Critical sections without a name have one lock, and so have atomic operations that the processor does not have. */
static char critical[64] __attribute__((aligned(64))), atomic[64] __attribute__((aligned(64)));

#define SECTION(begin, end, parameters, arguments, lock)                                       \
    void __real_##begin parameters __attribute__((weak));                                           \
    void __wrap_##begin parameters {                                                                \
        __real_##begin arguments;                                                                   \
        note_taken(LATCH, lock, CALLER);                                                            \
    }                                                                                               \
    void __real_##end parameters __attribute__((weak));                                             \
    void __wrap_##end parameters {                                                                  \
        note_released(EXCHANGE, lock, CALLER);                                                      \
        __real_##end arguments;                                                                     \
    }

SECTION(GOMP_critical_start, GOMP_critical_end, (void), (), critical)
SECTION(GOMP_critical_name_start, GOMP_critical_name_end, (void **lock), (lock), lock)
SECTION(GOMP_atomic_start, GOMP_atomic_end, (void), (), atomic)
SECTION(omp_set_lock, omp_unset_lock, (void *lock), (lock), lock)
SECTION(omp_set_nest_lock, omp_unset_nest_lock, (void *lock), (lock), lock)

/* They say how often the lock is held now: not at all, where another has it. */
#define TRIES(name)                                                                            \
    int __real_##name(void *lock) __attribute__((weak));                                            \
    int __wrap_##name(void *lock) {                                                                 \
        int count = __real_##name(lock);                                                            \
        if (count)                                                                                  \
            note_taken(LATCH, lock, CALLER);                                                        \
        return count;                                                                               \
    }

TRIES(omp_test_lock)
TRIES(omp_test_nest_lock)

#include "memwalk_tasks.h"
