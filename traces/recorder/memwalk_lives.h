/* The part of memwalk_recorder.c, which includes it, that records how threads begin and end: functions that memwalk_wrap.rsp tells the linker
 * to wrap. Threads are told by numbers of their own, as the system gives a new one the pthread_t of one that has ended. */

static __thread uint64_t number_of_self; /* 0, it has none yet */
static __thread unsigned noted;          /* beginnings and ends */

/* The last thread that was called so, and its number. */
struct known {
    struct known *next;
    pthread_t thread;
    uint64_t number;
};

static struct known *all_known;

static struct known *find_known(pthread_t thread) {
    struct known *one = __atomic_load_n(&all_known, __ATOMIC_ACQUIRE);
    while (one && !pthread_equal(one->thread, thread))
        one = one->next;
    return one;
}

static uint64_t number_of(pthread_t thread) {
    struct known *one = find_known(thread);
    return one ? __atomic_load_n(&one->number, __ATOMIC_RELAXED) : 0;
}

/* Both the thread and the one that begins it say so, as each may be the first that somebody asks. */
static void know(pthread_t thread, uint64_t number) {
    struct known *one = find_known(thread);
    if (one) {
        __atomic_store_n(&one->number, number, __ATOMIC_RELAXED);
    } else if ((one = malloc(sizeof *one))) {
        one->thread = thread;
        one->number = number;
        one->next = __atomic_load_n(&all_known, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&all_known, &one->next, one, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
    }
}

static uint64_t new_number(void) {
    static uint64_t numbers;
    return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
}

static uint64_t own_number(void) {
    if (!number_of_self) {
        number_of_self = new_number();
        know(pthread_self(), number_of_self);
    }
    return number_of_self;
}

/* The thread begins. So does its recording, even if it does nothing that is recorded. */
static void begin_as(uint64_t number) {
    if (!number_of_self) {
        number_of_self = number;
        know(pthread_self(), number);
    }
    is_recorded();
}

static void note_thread(enum kind kind, uint64_t number, const void *caller) {
    ++noted;
    if (is_recorded())
        push(0, number, place(kind, 0, caller));
}

/* --- POSIX threads --- */

struct beginning {
    void *(*work)(void *);
    void *argument;
    uint64_t number;
};

static void *work_numbered(void *of_beginning) {
    struct beginning beginning = *(struct beginning *)of_beginning;
    free(of_beginning);
    begin_as(beginning.number);
    return beginning.work(beginning.argument);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument) __attribute__((weak));
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument) {
    struct beginning *beginning = path ? malloc(sizeof *beginning) : NULL;
    if (!beginning)
        return __real_pthread_create(thread, attributes, work, argument);
    uint64_t number = new_number();
    *beginning = (struct beginning){work, argument, number};
    int error = __real_pthread_create(thread, attributes, work_numbered, beginning);
    if (error) {
        free(beginning);
    } else {
        know(*thread, number);
        note_thread(BEGIN, number, CALLER);
    }
    return error;
}

int __real_pthread_join(pthread_t thread, void **result) __attribute__((weak));
int __wrap_pthread_join(pthread_t thread, void **result) {
    uint64_t number = path ? number_of(thread) : 0;
    int error = __real_pthread_join(thread, result);
    if (!error)
        note_thread(AWAIT, number, CALLER);
    return error;
}

/* --- std::thread, whose threads libstdc++ begins and joins in its library --- */

/* A std::thread::_State has virtual functions: its destructor, the one that frees it as well, and what the thread does. Another takes its place,
 * which knows the thread's number. */
struct state {
    void (*const *functions)(struct state *);
};

struct numbered_state {
    struct state state;
    struct state *inner;
    uint64_t number;
};

static void delete_inner(struct state *state) {
    struct state *inner = ((struct numbered_state *)state)->inner;
    inner->functions[1](inner);
}

static void delete_numbered(struct state *state) {
    delete_inner(state);
    free(state);
}

static void run_numbered(struct state *state) {
    struct numbered_state *numbered = (struct numbered_state *)state;
    begin_as(numbered->number);
    numbered->inner->functions[2](numbered->inner);
}

static void (*const numbered_functions[])(struct state *) = {delete_inner, delete_numbered, run_numbered};

/* A std::thread is its pthread_t, and a std::unique_ptr is passed by its address. Linked statically, these two functions call those above,
 * which have noted it then. */

void __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(pthread_t *thread, struct state **state, void (*depend)(void))
    __attribute__((weak));
void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(pthread_t *thread, struct state **state, void (*depend)(void)) {
    struct numbered_state *numbered = path ? malloc(sizeof *numbered) : NULL;
    uint64_t number = numbered ? new_number() : 0;
    unsigned before = noted;
    if (numbered) {
        *numbered = (struct numbered_state){{numbered_functions}, *state, number};
        *state = &numbered->state;
    }
    __real__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(thread, state, depend);
    if (numbered && noted == before) {
        know(*thread, number);
        note_thread(BEGIN, number, CALLER);
    }
}

void __real__ZNSt6thread4joinEv(pthread_t *thread) __attribute__((weak));
void __wrap__ZNSt6thread4joinEv(pthread_t *thread) {
    uint64_t number = path ? number_of(*thread) : 0;
    unsigned before = noted;
    __real__ZNSt6thread4joinEv(thread);
    if (noted == before)
        note_thread(AWAIT, number, CALLER);
}
