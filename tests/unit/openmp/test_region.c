/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/regions/region.c and region_path.c with a run time made here: fork_region()
 * forks, run_time() runs the function of a region in the threads of its team. Paths are compared
 * as names of functions, leaf first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/format/measurement.h"
#include "common/safe/find_object.h"
#include "hpcrun-lite/regions/region_path.h"
#include "hpcrun-lite/regions/region_sums.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline, optnone))
#else
#define NOINLINE __attribute__((noipa)) /* and no copies under other names */
#endif
#define KEEP_FRAME() __asm__ volatile("" ::: "memory") /* no tail call before this */

enum { DEPTH = 256, TEXT_BYTES = 512, STACK_BYTES = 1 << 18 };

/* ---- threads ---- */

/* A thread as the run time of the measurement sees it. */
struct party {
	struct region_thread regions;
	struct unwind_stack stack;
	struct unwind_thread *unwind;
	struct region_path path;
	char text[TEXT_BYTES];
	struct party *next;
};
static __thread struct party *self;

typedef void body_fn(void *arg);

static void *stack_of_thread(size_t *n_bytes)
{
	pthread_attr_t attr;
	void *lo;
	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	assert_int_equal(pthread_attr_getstack(&attr, &lo, n_bytes), 0);
	pthread_attr_destroy(&attr);
	return lo;
}

static void begin_party(struct party *p, uintptr_t base, bool is_main)
{
	size_t n;
	self = p;
	p->stack.lo = (uintptr_t)stack_of_thread(&n);
	p->stack.hi = p->stack.lo + n;
	p->unwind = unwind_thread_init(calloc(1, unwind_thread_bytes(DEPTH)), DEPTH, &p->stack);
	region_reset(&p->regions, &p->stack, base, is_main);
}

/* Blocks of threads are never unmapped, and so nothing of a party is freed. */
static struct party *new_party(void)
{
	static _Atomic(struct party *) all;
	struct party *p = calloc(1, sizeof *p);
	assert_non_null(p);
	p->next = atomic_exchange(&all, p);
	return p;
}

/* ---- the run time ---- */

/* A team: the region and what its threads do. */
struct team {
	struct region *region;
	body_fn *function;
	void *arg;
	unsigned number;
	body_fn *at_end; /* in the thread of the team, after the function has returned */
	body_fn *idle;   /* after the join */
	pthread_barrier_t joined;
};

static NOINLINE void trampoline(struct team *team)
{
	struct region_visit visit;
	region_enter(&self->regions, team->region, REGION_PLACE_OF_CALLER(), NULL, team->number,
		     2, &visit);
	team->function(team->arg);
	region_leave(&self->regions, &visit);
}

static NOINLINE void run_time(struct team *team)
{
	trampoline(team);
	if (team->at_end)
		team->at_end(team->arg);
	KEEP_FRAME();
}

static NOINLINE void worker(struct team *team)
{
	begin_party(new_party(), REGION_PLACE_OF_CALLER(), false);
	run_time(team);
	pthread_barrier_wait(&team->joined);
	pthread_barrier_wait(&team->joined);
	if (team->idle)
		team->idle(team->arg);
	KEEP_FRAME();
}

static NOINLINE void *start_of_worker(void *arg)
{
	worker(arg);
	return NULL;
}

/*
 * Forks a team of this thread, if `here`, and another one. The place is in the caller, as if this
 * function were the hook: walks leave it out.
 */
static NOINLINE void fork_region(struct team *team, bool here)
{
	const struct region_fork fork = {.place = REGION_PLACE_OF_CALLER(), .call = 1};
	struct unwind_regs regs;
	struct team own = *team;
	pthread_t thread;
	unwind_here(&regs);
	team->region = own.region = region_fork(&self->regions, &fork, &regs, false);
	assert_non_null(team->region);
	team->number = 1;
	pthread_barrier_init(&team->joined, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, start_of_worker, team), 0);
	if (here)
		run_time(&own);
	pthread_barrier_wait(&team->joined);
	region_join(&self->regions, team->region);
	pthread_barrier_wait(&team->joined);
	pthread_join(thread, NULL);
	KEEP_FRAME();
}

/* ---- samples ---- */

static NOINLINE void sample(void);
static NOINLINE void work(void *arg);
static NOINLINE void inner_work(void *arg);
static NOINLINE void caller(body_fn *function, body_fn *at_end, body_fn *idle, void *arg,
			    bool here);
static NOINLINE void inner_caller(void *arg);
static NOINLINE void outer(body_fn *function, body_fn *at_end, body_fn *idle, void *arg, bool here);

static void take(void);
static void wait_at_end(void *arg);
static void wait_idle(void *arg);
static void fork_two(void *arg);
static void worker_continues_at_the_fork(void **state);
static void unchanged_paths_are_the_same(void **state);
static void the_thread_that_forks(void **state);
static void jumps_leave_nothing(void **state);
static void nested(void **state);
static void nested_in_the_thread_that_forked(void **state);
static void marked(body_fn *function, void *arg, uint32_t number);
static void marked_in_marked(void *arg);
static void not_marked(body_fn *function);
static void fork_in_marked(void *arg);
static void marks(void **state);
static void marks_that_returned(void **state);
static void marks_of_the_thread_that_forks(void **state);

/* Those without a name are not in the text of a path. */
static const struct {
	uintptr_t code;
	const char *name;
} functions[] = {
	{(uintptr_t)sample, "sample"},	     {(uintptr_t)work, "work"},
	{(uintptr_t)inner_work, "inner_work"}, {(uintptr_t)caller, "caller"},
	{(uintptr_t)outer, "outer"},	     {(uintptr_t)inner_caller, "inner_caller"},
	{(uintptr_t)run_time, "run_time"},   {(uintptr_t)worker, "worker"},
	{(uintptr_t)trampoline, NULL},	     {(uintptr_t)fork_region, NULL},
	{(uintptr_t)take, NULL},
	{(uintptr_t)start_of_worker, NULL},  {(uintptr_t)wait_at_end, NULL},
	{(uintptr_t)wait_idle, NULL},	     {(uintptr_t)fork_two, NULL},
	{(uintptr_t)worker_continues_at_the_fork, NULL},
	{(uintptr_t)unchanged_paths_are_the_same, NULL},
	{(uintptr_t)the_thread_that_forks, NULL},
	{(uintptr_t)jumps_leave_nothing, NULL},
	{(uintptr_t)nested, NULL},
	{(uintptr_t)nested_in_the_thread_that_forked, NULL},
	{(uintptr_t)marked, "marked"},	     {(uintptr_t)marked_in_marked, NULL},
	{(uintptr_t)not_marked, "not_marked"}, {(uintptr_t)fork_in_marked, NULL},
	{(uintptr_t)marks, NULL},	     {(uintptr_t)marks_that_returned, NULL},
	{(uintptr_t)marks_of_the_thread_that_forks, NULL},
};

enum { OUR_MODULE = 1, OTHER_MODULE };

static uint16_t module_of(const struct dl_find_object *object, uintptr_t *bias)
{
	const uintptr_t here = (uintptr_t)take;
	*bias = object->dlfo_link_map->l_addr;
	return here >= (uintptr_t)object->dlfo_map_start && here < (uintptr_t)object->dlfo_map_end
		       ? OUR_MODULE
		       : OTHER_MODULE;
}

/* The name of the function; NULL: one that is not listed, or of another module. */
static const char *name_of(uint64_t addr)
{
	enum { LONGEST = 1024 };
	struct dl_find_object own;
	const char *name = NULL;
	uintptr_t nearest = 0;
	if (addr == msr_addr_make(MSR_MODULE_NONE, MSR_WAIT + MSR_WAIT_OMP_END, false))
		return "WAIT";
	if (addr == msr_forward_make(0, 1) || addr == msr_forward_make(0, 2))
		return addr == msr_forward_make(0, 1) ? "FIRST" : "SECOND";
	if (msr_addr_module(addr) != OUR_MODULE)
		return NULL;
	assert_int_equal(find_object((void *)(uintptr_t)name_of, &own), 0);
	const uintptr_t pc = msr_addr_link(addr) + own.dlfo_link_map->l_addr;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (functions[i].code <= pc && functions[i].code > nearest &&
		    pc - functions[i].code < LONGEST) {
			nearest = functions[i].code;
			name = functions[i].name;
		}
	return name;
}

/* Takes a sample of the calling thread and writes its path as names of functions. */
static void take(void)
{
	struct unwind_regs regs;
	struct unwind_path walked;
	struct region_plan plan;
	struct party *p = self;
	unwind_here(&regs);
	unwind_walk_regs(p->unwind, &regs, &walked);
	const bool planned = region_path_plan(&p->regions, p->unwind, &walked, &plan);
	p->path = (struct region_path){
		.addr = walked.addr, .n = walked.n, .n_same = walked.n_same, .end = walked.end};
	region_path_make(&p->regions, planned ? &plan : NULL, &p->path);
	p->text[0] = '\0';
	for (uint32_t i = 0; i < p->path.n; i++) {
		const char *name = name_of(p->path.addr[i]);
		if (!name)
			continue;
		assert_true(strlen(p->text) + strlen(name) + 2 < TEXT_BYTES);
		strcat(strcat(p->text, name), " ");
	}
}

static NOINLINE void sample(void)
{
	take();
	KEEP_FRAME();
}

/* What the samples of a test saw, by what took them. */
static struct seen {
	char text[TEXT_BYTES];
	struct region_path path;
	uint64_t tag;
} in_work[2], at_end, idle, again;

static void keep(struct seen *s)
{
	s->path = self->path;
	s->tag = region_path_tag(&self->regions);
	memcpy(s->text, self->text, TEXT_BYTES);
}

static NOINLINE void work(void *arg)
{
	sample();
	keep(&in_work[self->regions.is_worker]);
	sample();
	keep(&again);
	if (arg)
		((body_fn *)arg)(NULL);
	KEEP_FRAME();
}

static void wait_at_end(void *arg)
{
	(void)arg;
	sample();
	keep(&at_end);
}

static void wait_idle(void *arg)
{
	(void)arg;
	sample();
	keep(&idle);
}

static NOINLINE void caller(body_fn *function, body_fn *end, body_fn *after, void *arg, bool here)
{
	struct team team = {.function = function, .at_end = end, .idle = after, .arg = arg};
	fork_region(&team, here);
	KEEP_FRAME();
}

static NOINLINE void outer(body_fn *function, body_fn *end, body_fn *after, void *arg, bool here)
{
	caller(function, end, after, arg, here);
	KEEP_FRAME();
}

/* ---- tests ---- */

static int setup(void **state)
{
	(void)state;
	begin_party(new_party(), 0, true);
	return 0;
}


static void worker_continues_at_the_fork(void **state)
{
	(void)state;
	outer(work, wait_at_end, wait_idle, NULL, false);
	assert_string_equal(in_work[1].text, "sample work caller outer ");
	assert_true(in_work[1].path.is_joined && in_work[1].path.is_main);
	assert_int_equal(in_work[1].path.end, UNWIND_ROOT);
	assert_string_equal(at_end.text, "sample run_time worker WAIT caller outer ");
	assert_true(at_end.path.is_main);
	assert_string_equal(idle.text, "sample worker ");
	assert_true(idle.path.is_idle);
}

static void unchanged_paths_are_the_same(void **state)
{
	(void)state;
	outer(work, NULL, NULL, NULL, false);
	assert_int_equal(again.path.n, in_work[1].path.n);
	/* the call of sample() is another one: up to three frames differ */
	assert_in_range(again.path.n - again.path.n_same, 1, 3);
}

static void the_thread_that_forks(void **state)
{
	(void)state;
	outer(work, NULL, NULL, NULL, true);
	assert_string_equal(in_work[0].text, "sample work caller outer ");
	assert_string_equal(in_work[1].text, "sample work caller outer ");
	assert_int_equal(in_work[0].path.n, in_work[1].path.n);
	assert_int_equal(self->regions.n_entries, 0);
	assert_int_equal(self->regions.n_forks, 0);
	sample();
	assert_false(self->path.is_joined);
}

/* Equal calls of the thread that forks have one tag; those of a worker have one per instance. */
static void tags(void **state)
{
	uint64_t tag[2][2];
	(void)state;
	for (volatile int i = 0; i < 2; i++) {
		outer(work, wait_at_end, NULL, NULL, true);
		for (int k = 0; k < 2; k++)
			tag[k][i] = in_work[k].tag;
		assert_int_not_equal(in_work[0].tag, at_end.tag);
	}
	assert_int_equal(tag[0][0], tag[0][1]);
	assert_int_not_equal(tag[1][0], tag[1][1]);
	assert_int_equal(region_path_tag(&self->regions), 0);
}

static uint64_t inner_tag[2];

static void note_tag(void *arg)
{
	(void)arg;
	if (self->regions.n_forks)
		inner_tag[self->regions.is_worker] = region_path_tag(&self->regions);
}

static void fork_and_note(void *arg)
{
	struct team team = {.function = note_tag};
	(void)arg;
	fork_region(&team, true);
}

/* A thread that forks in a region of another thread depends on the instance of that. */
static void tags_of_nested_regions(void **state)
{
	uint64_t tag[2][2];
	(void)state;
	for (volatile int i = 0; i < 2; i++) {
		outer(fork_and_note, NULL, NULL, NULL, true);
		for (int k = 0; k < 2; k++)
			tag[k][i] = inner_tag[k];
	}
	assert_int_equal(tag[0][0], tag[0][1]);
	assert_int_not_equal(tag[1][0], tag[1][1]);
}

static NOINLINE void inner_work(void *arg)
{
	(void)arg;
	sample();
	keep(&again);
	KEEP_FRAME();
}

/* In a worker: forks a region whose work another thread does. */
static NOINLINE void inner_caller(void *arg)
{
	struct team team = {.function = inner_work, .at_end = wait_at_end};
	(void)arg;
	fork_region(&team, false);
	sample();
	keep(&idle);
	KEEP_FRAME();
}

static void nested(void **state)
{
	(void)state;
	outer(inner_caller, NULL, NULL, NULL, false);
	assert_string_equal(again.text, "sample inner_work inner_caller caller outer ");
	assert_true(again.path.is_main);
	assert_string_equal(at_end.text, "sample run_time worker WAIT inner_caller caller outer ");
	assert_string_equal(idle.text, "sample inner_caller caller outer ");
}

static NOINLINE void fork_two(void *arg)
{
	struct team team = {.function = inner_work};
	(void)arg;
	fork_region(&team, true);
	KEEP_FRAME();
}

static void nested_in_the_thread_that_forked(void **state)
{
	(void)state;
	outer(fork_two, NULL, NULL, NULL, true);
	assert_non_null(strstr(again.text, "sample inner_work "));
	assert_null(strstr(again.text, "run_time"));
	assert_non_null(strstr(again.text, "caller outer "));
}

/* ---- regions that were left ---- */

static jmp_buf out;

static NOINLINE void fork_and_jump(void)
{
	const struct region_fork fork = {.place = REGION_PLACE_OF_CALLER(), .call = 1};
	struct unwind_regs regs;
	struct region_visit visit;
	unwind_here(&regs);
	struct region *r = region_fork(&self->regions, &fork, &regs, false);
	region_enter(&self->regions, r, (uintptr_t)&visit, NULL, 0, 1, &visit);
	longjmp(out, 1);
}

static void jumps_leave_nothing(void **state)
{
	static volatile int n;
	(void)state;
	n = 0;
	if (setjmp(out) == 0 || n < 100) {
		n++;
		fork_and_jump();
	}
	assert_int_equal(self->regions.n_forks, 1);
	assert_in_range(self->regions.n_entries, 0, 1);
	assert_int_equal(self->regions.n_lost, 0);
}

static void too_many_levels(void **state)
{
	char stack[REGION_MAX_NESTED + 1];
	struct unwind_regs regs = {0};
	struct region *r[REGION_MAX_NESTED];
	(void)state;
	for (int i = 0; i < REGION_MAX_NESTED; i++) {
		const struct region_fork fork = {.place = (uintptr_t)&stack[REGION_MAX_NESTED - i]};
		r[i] = region_fork(&self->regions, &fork, &regs, false);
		assert_non_null(r[i]);
	}
	const struct region_fork fork = {.place = (uintptr_t)&stack[0]};
	assert_null(region_fork(&self->regions, &fork, &regs, false));
	assert_int_equal(self->regions.n_lost, 1);
	region_join(&self->regions, r[3]); /* what is inside ends too */
	assert_int_equal(self->regions.n_forks, 3);
	assert_int_equal(r[REGION_MAX_NESTED - 1]->generation & 1, 0);
	assert_int_equal(r[2]->generation & 1, 1);
}

/* ---- a stack that goes away ---- */

static void *fork_on_my_stack(void *arg)
{
	struct region **r = arg;
	const struct region_fork fork = {.place = REGION_PLACE_OF_CALLER()};
	struct unwind_regs regs;
	begin_party(new_party(), 0, false);
	unwind_here(&regs);
	*r = region_fork(&self->regions, &fork, &regs, false);
	return NULL;
}

static NOINLINE void enter_and_sample(struct region *r)
{
	struct team team = {.region = r, .function = work, .number = 1};
	run_time(&team);
	KEEP_FRAME();
}

/* The thread that forked has ended without a join, and its stack is unmapped. */
static void stack_is_gone(void **state)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	struct region *r = NULL;
	pthread_attr_t attr;
	pthread_t thread;
	(void)state;
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstack(&attr, stack, STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attr, fork_on_my_stack, &r), 0);
	pthread_join(thread, NULL);
	munmap(stack, STACK_BYTES);
	enter_and_sample(r);
	assert_non_null(strstr(in_work[1].text, "sample work run_time "));
	assert_false(in_work[1].path.is_joined);
	assert_true(in_work[1].path.is_lost);
	pthread_attr_destroy(&attr);
}

static void work_without_memory(void *arg)
{
	const struct rlimit little = {1, RLIM_INFINITY};
	struct rlimit old;
	assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
	assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
	work(arg);
	assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
}

/* A worker that needs its memory now gets none; later it does. */
static void without_memory(void **state)
{
	(void)state;
	outer(work_without_memory, wait_at_end, NULL, NULL, false);
	assert_non_null(strstr(in_work[1].text, "sample work "));
	assert_null(strstr(in_work[1].text, "caller"));
	assert_false(in_work[1].path.is_joined);
	assert_true(in_work[1].path.is_lost);
	assert_true(at_end.path.is_joined);
	assert_false(at_end.path.is_lost);
}

/* ---- marks ---- */

/* A section of its own says where the function is. */
extern const char __start_marked_code[], __stop_marked_code[];

static NOINLINE __attribute__((section("marked_code"))) void
marked(body_fn *function, void *arg, uint32_t number)
{
	if (!stack_marks_enter(&self->regions.marks, (uintptr_t)__builtin_frame_address(0) + 8,
			       number ? msr_forward_make(0, number) : 0))
		fail_msg("too many marks");
	function(arg);
	KEEP_FRAME();
}

static NOINLINE void not_marked(body_fn *function)
{
	function(NULL);
	KEEP_FRAME();
}

static NOINLINE void marked_in_marked(void *arg)
{
	marked(work, arg, 2);
	KEEP_FRAME();
}

static int setup_marks(void **state)
{
	struct dl_find_object own;
	assert_int_equal(find_object((void *)(uintptr_t)name_of, &own), 0);
	const uintptr_t bias = own.dlfo_link_map->l_addr;
	stack_marks_set_code(msr_addr_make(1, (uintptr_t)__start_marked_code - bias, false),
			     msr_addr_make(1, (uintptr_t)__stop_marked_code - bias, false));
	return setup(state);
}

static void marks(void **state)
{
	(void)state;
	marked(work, NULL, 1);
	assert_string_equal(in_work[0].text, "sample work FIRST marked ");
	assert_true(in_work[0].path.is_joined && !in_work[0].path.is_lost);
	assert_true(again.path.n_same + 3 >= again.path.n && again.path.n_same < again.path.n);
	const uint64_t tag = in_work[0].tag;
	marked(work, NULL, 2);
	assert_string_equal(in_work[0].text, "sample work SECOND marked ");
	assert_int_not_equal(in_work[0].tag, tag);
	marked(marked_in_marked, NULL, 1);
	assert_string_equal(in_work[0].text, "sample work SECOND marked FIRST marked ");
	marked(marked_in_marked, NULL, 0);
	assert_string_equal(in_work[0].text, "sample work SECOND marked marked ");
}

/* Their marks are still there. */
static void marks_that_returned(void **state)
{
	(void)state;
	marked(marked_in_marked, NULL, 1);
	assert_int_equal(self->regions.marks.n, 2);
	not_marked(work);
	assert_string_equal(in_work[0].text, "sample work not_marked ");
	assert_false(in_work[0].path.is_joined);
	marked(work, NULL, 0);
	assert_string_equal(in_work[0].text, "sample work marked ");
	assert_int_equal(self->regions.marks.n, 0);
}

static void fork_in_marked(void *arg)
{
	(void)arg;
	caller(work, wait_at_end, NULL, NULL, true);
	KEEP_FRAME();
}

static void marks_of_the_thread_that_forks(void **state)
{
	(void)state;
	marked(fork_in_marked, NULL, 1);
	assert_string_equal(in_work[0].text, "sample work caller FIRST marked ");
	assert_string_equal(in_work[1].text, "sample work caller FIRST marked ");
	assert_true(strstr(at_end.text, "WAIT caller FIRST marked ") != NULL);
}

static void too_many_marks(void **state)
{
	struct stack_marks m = {0};
	(void)state;
	for (uintptr_t i = 0; i < STACK_MARKS_MAX; i++)
		assert_true(stack_marks_enter(&m, 1000 - i, 1));
	assert_false(stack_marks_enter(&m, 100, 1));
	assert_int_equal(m.n, STACK_MARKS_MAX);
	assert_int_not_equal(stack_marks_tag(&m, 1000), 0);
	assert_int_equal(stack_marks_tag(&m, 1001), 0); /* all are deeper */
	assert_true(stack_marks_enter(&m, 1000 - 2, 7));
	assert_int_equal(m.n, 3);
	assert_int_equal(m.mark[2].frame, 7);
	assert_true(stack_marks_enter(&m, 2000, 0));
	assert_int_equal(m.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(worker_continues_at_the_fork, setup),
		cmocka_unit_test_setup(unchanged_paths_are_the_same, setup),
		cmocka_unit_test_setup(the_thread_that_forks, setup),
		cmocka_unit_test_setup(tags, setup),
		cmocka_unit_test_setup(tags_of_nested_regions, setup),
		cmocka_unit_test_setup(nested, setup),
		cmocka_unit_test_setup(nested_in_the_thread_that_forked, setup),
		cmocka_unit_test_setup(marks, setup_marks),
		cmocka_unit_test_setup(marks_that_returned, setup_marks),
		cmocka_unit_test_setup(marks_of_the_thread_that_forks, setup_marks),
		cmocka_unit_test(too_many_marks),
		cmocka_unit_test_setup(jumps_leave_nothing, setup),
		cmocka_unit_test_setup(too_many_levels, setup),
		cmocka_unit_test_setup(stack_is_gone, setup),
		cmocka_unit_test_setup(without_memory, setup),
	};
	const struct unwind_config config = {.module_of = module_of};
	unwind_init(&config);
	region_path_start(DEPTH);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
