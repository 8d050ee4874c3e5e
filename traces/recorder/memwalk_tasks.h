/* The part of memwalk_openmp.h, which includes it, that records what tasks of gcc's OpenMP wait for, and who waits for them. A task waits for
 * the thread that has created it, and for tasks that it depends on. It ends with a signal of the member that has run it, at an address of
 * that member: so who waits for many tasks waits for the last of each member. */

/* Flags of GOMP_task and GOMP_taskloop. */
#define DEPENDS (1u << 3)
#define WITHOUT_GROUP (1u << 11)
#define REDUCES (1u << 12)
#define DETACHES (1u << 13)

/* Where tasks signal that write what others depend on, or only read it: the address itself is among these bits. */
#define WRITTEN (UINT64_C(3) << 62)
#define READ (UINT64_C(7) << 61)
#define ADDRESS ((UINT64_C(1) << 47) - 1)
#define OF_MEMBER(member) ((uint64_t)((member) & 0x3fff) << 47)

/* Stands before the data of a task, where the library keeps them. The library writes the range of a loop's task, and reads its reductions. */
struct task {
    uint64_t range[2];
    void *reductions;
    void (*work)(void *);
    const struct team *team;
    const struct recording *creator;
    uint64_t name;          /* it is created with a signal here */
    uint64_t siblings;      /* its creator's children, and its group: their names */
    uint64_t group;
    uint32_t is_loop;
    uint32_t written, read; /* what it depends on: so many addresses stand behind this */
    uint32_t data;          /* where its data begin */
};

/* A task that is created. */
struct creation {
    struct task task;
    void *data;
    void (*copy)(void *to, void *from); /* NULL, bytes are copied */
    size_t bytes;
    void **depends_on;
};

/* The task or loop of tasks that the thread is about to create; 0, the task has been run at once. Nobody need wait for such a one: it is a part
 * of the task that creates it. */
static __thread uint64_t own_creation;

static uint64_t *dependences(struct task *task) { return (uint64_t *)(task + 1); }

static void copy_task(void *to, void *from) {
    struct creation *creation = from;
    struct task *task = to;
    *task = creation->task;
    for (uint32_t number = 0; number < task->written + task->read; ++number)
        dependences(task)[number] = (uint64_t)(uintptr_t)creation->depends_on[number] & ADDRESS;
    void *data = (char *)task + task->data;
    if (creation->copy)
        creation->copy(data, creation->data);
    else
        OWN(memcpy)(data, creation->data, creation->bytes);
}

/* Waits for whoever has written what this task needs, and for those that have read what it writes. */
static void await_dependence(uint64_t address, int is_written, const void *caller) {
    note_named(WAKE, WRITTEN | address, caller);
    int members = is_written ? omp_get_num_threads() : 0, self = omp_get_thread_num();
    for (int member = 0; member < members; ++member)
        if (member != self)
            note_named(WAKE, READ | OF_MEMBER(member) | address, caller);
}

static void run_task(void *of_task) {
    struct task *task = of_task;
    const struct team *outer = own_team;
    uint64_t outer_children = own_children;
    struct group *outer_group = own_group, group = {task->group, NULL};
    uint64_t member = (uint64_t)omp_get_thread_num();
    const void *caller = first_of(task->work);
    void *data = (char *)task + task->data;
    if (task->is_loop)
        OWN(memcpy)(data, task->range, sizeof task->range);
    own_team = task->team;
    own_children = 0;
    own_group = task->group ? &group : NULL;
    if (own != task->creator)
        note_named(WAKE, task->name, caller);
    for (uint32_t number = 0; number < task->written + task->read; ++number)
        await_dependence(dependences(task)[number], number < task->written, caller);
    task->work(data);
    for (uint32_t number = 0; number < task->written + task->read; ++number)
        note_named(SIGNAL, (number < task->written ? WRITTEN : READ | OF_MEMBER(member)) | dependences(task)[number], caller);
    if (task->name == own_creation) {
        if (!task->is_loop)
            own_creation = 0;
    } else {
        note_named(SIGNAL, task->siblings + member, caller);
        if (task->group)
            note_named(SIGNAL, task->group + member, caller);
        if (outer != task->team) /* the member has come to the end of its region before */
            note_named(SIGNAL, task->team->name + member, caller);
    }
    own_team = outer;
    own_children = outer_children;
    own_group = outer_group;
}

/* What a task depends on, and how much of that it writes; where the list is of a newer kind, the first of it only. */
static void **read_dependences(void **list, uint32_t *written, uint32_t *read) {
    uintptr_t all = (uintptr_t)list[0], out = (uintptr_t)list[1];
    if (all > 0) {
        *written = (uint32_t)out;
        *read = (uint32_t)(all - out);
        return list + 2;
    }
    *written = (uint32_t)((uintptr_t)list[2] + (uintptr_t)list[3]);
    *read = (uint32_t)(uintptr_t)list[4];
    return list + 5;
}

#define TASK void (*work)(void *), void *data, void (*copy)(void *, void *), long bytes, long align

static struct creation create(TASK, unsigned flags, void **depend, uint64_t group, const void *caller) {
    struct creation creation = {.data = data, .copy = copy, .bytes = (size_t)bytes};
    struct task *task = &creation.task;
    if (!own_children)
        own_children = new_name();
    if (flags & DEPENDS)
        creation.depends_on = read_dependences(depend, &task->written, &task->read);
    size_t begin = sizeof *task + (task->written + task->read) * sizeof(uint64_t);
    task->data = (uint32_t)((begin + (size_t)align - 1) / (size_t)align * (size_t)align);
    task->work = work;
    task->team = own_team;
    task->creator = own;
    task->name = own_creation = new_name();
    task->siblings = own_children;
    task->group = group;
    note_named(SIGNAL, task->name, caller);
    return creation;
}

#define AT_LEAST(one, other) ((one) > (long)(other) ? (one) : (long)(other))

/* Outside of parallel regions tasks are run at once. The library tells the event of one that is detached through its data. */
static int is_noted(unsigned flags) { return path && own_team && !(flags & DETACHES); }

static uint64_t group_name(void) { return own_group ? own_group->name : 0; }

void __real_GOMP_task(TASK, int is_deferred, unsigned flags, void **depend, int priority, void *detach) __attribute__((weak));
void __wrap_GOMP_task(TASK, int is_deferred, unsigned flags, void **depend, int priority, void *detach) {
    if (!is_noted(flags)) {
        __real_GOMP_task(work, data, copy, bytes, align, is_deferred, flags, depend, priority, detach);
        return;
    }
    align = AT_LEAST(align, sizeof(uint64_t));
    uint64_t outer = own_creation, children = own_children;
    struct creation creation = create(work, data, copy, bytes, align, flags, depend, group_name(), CALLER);
    bytes += creation.task.data;
    __real_GOMP_task(run_task, &creation, copy_task, bytes, align, is_deferred, flags, depend, priority, detach);
    if (!own_creation)
        own_children = children;
    own_creation = outer;
}

/* Who comes to a loop waits for its tasks, but for those without a group. */
#define TASK_LOOP(function, type)                                                                  \
    void __real_##function(TASK, unsigned flags, unsigned long tasks, int priority, type from, type to, type step) __attribute__((weak)); \
    void __wrap_##function(TASK, unsigned flags, unsigned long tasks, int priority, type from, type to, type step) { \
        if (!is_noted(flags)) {                                                                     \
            __real_##function(work, data, copy, bytes, align, flags, tasks, priority, from, to, step);  \
            return;                                                                                 \
        }                                                                                           \
        uint64_t group = flags & WITHOUT_GROUP ? group_name() : new_name();    \
        align = AT_LEAST(align, sizeof(uint64_t));                                                  \
        uint64_t outer = own_creation;                                                              \
        struct creation creation = create(work, data, copy, bytes, align, 0, NULL, group, CALLER);  \
        creation.task.is_loop = 1;                                                                  \
        creation.task.reductions = flags & REDUCES ? ((void **)data)[2] : NULL;                     \
        bytes += creation.task.data;                                                                \
        __real_##function(run_task, &creation, copy_task, bytes, align, flags, tasks, priority, from, to, step); \
        own_creation = outer;                                                                       \
        if (!(flags & WITHOUT_GROUP))                                                               \
            await_others(group, CALLER);                                                            \
    }

TASK_LOOP(GOMP_taskloop, long)
TASK_LOOP(GOMP_taskloop_ull, unsigned long long)

void __real_GOMP_taskwait(void) __attribute__((weak));
void __wrap_GOMP_taskwait(void) {
    __real_GOMP_taskwait();
    if (own_children)
        await_others(own_children, CALLER);
    own_children = 0;
}

void __real_GOMP_taskwait_depend(void **depend) __attribute__((weak));
void __wrap_GOMP_taskwait_depend(void **depend) {
    uint32_t written = 0, read = 0;
    __real_GOMP_taskwait_depend(depend);
    depend = read_dependences(depend, &written, &read);
    for (uint32_t number = 0; own_team && number < written + read; ++number)
        await_dependence((uint64_t)(uintptr_t)depend[number] & ADDRESS, number < written, CALLER);
}

void __real_GOMP_taskgroup_start(void) __attribute__((weak));
void __wrap_GOMP_taskgroup_start(void) {
    struct group *group = own_team ? malloc(sizeof *group) : NULL;
    if (group) {
        *group = (struct group){new_name(), own_group};
        own_group = group;
    }
    __real_GOMP_taskgroup_start();
}

void __real_GOMP_taskgroup_end(void) __attribute__((weak));
void __wrap_GOMP_taskgroup_end(void) {
    struct group *group = own_team ? own_group : NULL;
    __real_GOMP_taskgroup_end();
    if (group) {
        await_others(group->name, CALLER);
        own_group = group->outer;
        free(group);
    }
}
