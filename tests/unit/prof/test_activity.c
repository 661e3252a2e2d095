/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/activity and expand_fold.c: what threads did in each context, the
 * metrics of activities, and the tree without the internals of run-time libraries. */
#include "tests/unit/prof/prof_fixture.h"

#include <stdlib.h>
#include <string.h>

enum module { NONE, APP, LIB, GOMP, OMP, MPI, UCX, LIBC, CUDA, OURS, N_MODULES };

/* Each module has functions of 0x100 bytes; the last known one is followed by code without a name.
 */
static const struct {
	const char *path;
	const char *functions[8];
} modules[N_MODULES] = {
	[APP] = {"/bin/app", {"main", "solve", "solve._omp_fn.0", "task", "user_op"}},
	[LIB] = {"/lib/libother.so", {"helper", "c10d::Work::wait"}},
	[GOMP] = {"/lib/libgomp.so.1",
		  {"GOMP_parallel", "GOMP_barrier", "GOMP_taskwait", "GOMP_critical_start",
		   "omp_get_wtime", "GOMP_task"}},
	[OMP] = {"/lib/libomp.so.5", {"__kmpc_fork_call", "__kmpc_barrier", "__kmp_wait_4"}},
	[MPI] = {"/lib/libmpi.so.40", {"PMPI_Recv", "PMPI_Allreduce", "ompi_progress"}},
	[UCX] = {"/lib/libucp.so.0", {"ucp_worker_progress"}},
	[LIBC] = {"/lib/libc.so.6",
		  {"start_thread", "sched_yield", "___pthread_cond_wait", "__futex_wait",
		   "__pthread_mutex_cond_lock", "__poll", "pthread_rwlock_rdlock"}},
	[CUDA] = {"/lib/libcudart.so.12", {"cudaStreamSynchronize"}},
	[OURS] = {"/lib/libhpcrun-lite.so",
		  {"GOMP_parallel", "MPI_Recv", "MPI_Send", "epoll_wait"}},
};

struct run {
	char *directory;
	struct gen *g;
	uint32_t cpu, off, thread, entry;
	uint64_t time_ns;
	struct model *m;
};

static void write_structure(const char *directory, unsigned i)
{
	const uint8_t id[2] = {0xa0, (uint8_t)i};
	struct gen_structure *s = gen_structure_new(modules[i].path, id, sizeof id);
	uint64_t at = 0x1000;
	for (unsigned k = 0; k < 8 && modules[i].functions[k]; k++, at += 0x100) {
		uint32_t d = gen_structure_definition(s, modules[i].functions[k], STRUCTURE_NONE,
						      0),
			 f = gen_structure_function(s, d, at);
		gen_structure_interval(s, at, f, STRUCTURE_NONE, 0);
	}
	gen_structure_interval(s, at, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

static void begin(struct run *r)
{
	*r = (struct run){.directory = fixture_directory(), .time_ns = 1000};
	r->g = gen_open(r->directory, &(struct gen_process){.pid = 1, .rank = -1});
	for (unsigned i = 1; i < N_MODULES; i++) {
		const uint8_t id[2] = {0xa0, (uint8_t)i};
		assert_int_equal(gen_module(r->g, modules[i].path, id, sizeof id,
					    i == APP ? MSR_MODULE_MAIN : 0),
				 i);
		write_structure(r->directory, i);
	}
	r->cpu = gen_metric(r->g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	r->thread = gen_thread(r->g, "t");
	r->entry = gen_entry(r->g, r->thread, MSR_ENTRY_MAIN);
}

/* A frame in a function, by its name; NULL: code without a name. */
static uint32_t frame(struct run *r, uint32_t above, enum module module, const char *function)
{
	uint64_t at = 0x1000;
	unsigned k = 0;
	for (; k < 8 && modules[module].functions[k]; k++, at += 0x100)
		if (function && strcmp(modules[module].functions[k], function) == 0)
			break;
	assert_true(!function || (k < 8 && modules[module].functions[k]));
	return gen_child(r->g, r->thread, above, msr_addr_make(module, at + 8, false));
}

static uint32_t wait(struct run *r, uint32_t above, enum msr_wait w)
{
	msr_addr addr = msr_addr_make(MSR_MODULE_NONE, MSR_WAIT + w, false);
	return gen_child(r->g, r->thread, above, addr);
}

static void sample(struct run *r, uint32_t node)
{
	r->time_ns += 1000000;
	gen_sample(r->g, r->thread, node, r->cpu, r->time_ns, 1000000000);
}

static void finish(struct run *r, bool internals)
{
	struct load_job job = {0};
	free(gen_close(r->g, MSR_EXIT_RETURN, 0));
	assert_int_equal(load_job_open(&r->directory, 1, 1, &job), STATUS_OK);
	fixture_internals = internals;
	r->m = fixture_model_of(&job, r->directory, 1);
	fixture_internals = false;
	fixture_check_model(r->m);
}

static void clean(struct run *r)
{
	model_free(r->m);
	fixture_remove(r->directory);
}

/* Seconds of an activity; 0: it has no metric. */
static double seconds(const struct run *r, enum model_activity activity)
{
	for (uint32_t i = 0; i < r->m->n_metrics; i++)
		if (r->m->metrics[i].kind == MODEL_METRIC_ACTIVITY &&
		    r->m->metrics[i].activity == activity) {
			const struct model_total *t = model_find_total(r->m, 0, i);
			assert_non_null(t);
			return t->sum[MODEL_EXECUTION];
		}
	return 0;
}

/* The sum over all activities is the time. */
static void assert_adds_up(const struct run *r)
{
	double all = 0, time = 0;
	for (unsigned i = 0; i < MODEL_N_ACTIVITIES; i++)
		all += seconds(r, i);
	for (uint32_t i = 0; i < r->m->n_metrics; i++)
		if (r->m->metrics[i].is_time)
			time += model_find_total(r->m, 0, i)->sum[MODEL_EXECUTION];
	assert_true(all == time);
}

/* One sample at a path; its activity. */
struct step {
	enum module module; /* NONE: the wait `w` */
	const char *function;
	enum msr_wait w;
};

#define AT(m, f) {.module = m, .function = f}
#define PATH(...) ((const struct step[]){__VA_ARGS__}), \
	sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step)

static void assert_activity(enum model_activity expected, const struct step *path, size_t n)
{
	for (int internals = 0; internals < 2; internals++) {
		struct run r;
		begin(&r);
		uint32_t at = r.entry;
		for (size_t i = 0; i < n; i++)
			at = path[i].module == NONE
				     ? wait(&r, at, path[i].w)
				     : frame(&r, at, path[i].module, path[i].function);
		/* another path, so that metrics exist */
		sample(&r, wait(&r, frame(&r, r.entry, APP, "main"), MSR_WAIT_SLEEP));
		sample(&r, at);
		finish(&r, internals);
		double others = expected == MODEL_BLOCKED_SLEEP ? 1 : 0;
		if (seconds(&r, expected) != 1 + others)
			fail_msg("activity %d has %g s, internals %d", (int)expected,
				 seconds(&r, expected), internals);
		assert_adds_up(&r);
		clean(&r);
	}
}

static void test_openmp(void **state)
{
	(void)state;
	assert_activity(MODEL_WORK, PATH(AT(APP, "main"), AT(GOMP, "GOMP_parallel"),
					 AT(APP, "solve._omp_fn.0")));
	assert_activity(MODEL_OMP_OVERHEAD, PATH(AT(APP, "main"), AT(GOMP, "GOMP_parallel")));
	assert_activity(MODEL_OMP_OVERHEAD, PATH(AT(APP, "main"), AT(GOMP, "omp_get_wtime")));
	assert_activity(MODEL_OMP_BARRIER, PATH(AT(APP, "main"), AT(GOMP, "GOMP_barrier"),
						AT(GOMP, NULL), AT(LIBC, "sched_yield")));
	assert_activity(MODEL_OMP_BARRIER, PATH(AT(APP, "main"), AT(GOMP, NULL)));
	assert_activity(MODEL_OMP_LOCK, PATH(AT(APP, "main"), AT(GOMP, "GOMP_critical_start")));
	/* the innermost call decides, if it waits */
	assert_activity(MODEL_OMP_BARRIER, PATH(AT(APP, "main"), AT(OMP, "__kmpc_fork_call"),
						AT(OMP, "__kmpc_barrier"),
						AT(OMP, "__kmp_wait_4")));
	/* a task is work wherever it runs, also in another library */
	assert_activity(MODEL_WORK, PATH(AT(APP, "main"), AT(GOMP, "GOMP_taskwait"), AT(GOMP, NULL),
					 AT(APP, "task")));
	assert_activity(MODEL_WORK, PATH(AT(APP, "main"), AT(GOMP, "GOMP_taskwait"), AT(GOMP, NULL),
					 AT(LIB, "helper")));
	assert_activity(MODEL_OMP_IDLE, PATH(AT(LIBC, "start_thread"), AT(GOMP, NULL)));
}

static void test_mpi(void **state)
{
	(void)state;
	assert_activity(MODEL_MPI_P2P, PATH(AT(APP, "main"), AT(MPI, "PMPI_Recv"),
					    AT(MPI, "ompi_progress"),
					    AT(UCX, "ucp_worker_progress"),
					    AT(LIBC, "sched_yield")));
	assert_activity(MODEL_MPI_COLLECTIVE, PATH(AT(APP, "main"), AT(MPI, "PMPI_Allreduce"),
						   AT(MPI, "PMPI_Recv")));
	assert_activity(MODEL_WORK, PATH(AT(APP, "main"), AT(MPI, "PMPI_Allreduce"),
					 AT(APP, "user_op")));
	assert_activity(MODEL_MPI_OTHER, PATH(AT(LIBC, "start_thread"), AT(MPI, "ompi_progress")));
	/* the waits of MPI for a GPU are its own */
	assert_activity(MODEL_MPI_P2P, PATH(AT(APP, "main"), AT(MPI, "PMPI_Recv"),
					    AT(CUDA, "cudaStreamSynchronize")));
}

static void test_torch(void **state)
{
	(void)state;
	assert_activity(MODEL_TORCH_COLLECTIVE, PATH(AT(APP, "main"), AT(LIB, "c10d::Work::wait"),
						     AT(LIBC, "___pthread_cond_wait")));
	assert_activity(MODEL_TORCH_COLLECTIVE, PATH(AT(APP, "main"), AT(LIB, "c10d::Work::wait"),
						     AT(CUDA, "cudaStreamSynchronize")));
	assert_activity(MODEL_MPI_COLLECTIVE, PATH(AT(APP, "main"), AT(LIB, "c10d::Work::wait"),
						   AT(MPI, "PMPI_Allreduce")));
}

static void test_gpu(void **state)
{
	(void)state;
	assert_activity(MODEL_GPU_WAIT, PATH(AT(APP, "main"), AT(CUDA, "cudaStreamSynchronize"),
					     AT(CUDA, NULL), AT(LIBC, "sched_yield")));
}

static void test_waits(void **state)
{
	(void)state;
	static const struct {
		enum msr_wait wait;
		enum model_activity activity;
	} cases[] = {
		{MSR_WAIT_OMP_END, MODEL_OMP_BARRIER},  {MSR_WAIT_FUTEX, MODEL_BLOCKED_LOCK},
		{MSR_WAIT_SLEEP, MODEL_BLOCKED_SLEEP},  {MSR_WAIT_POLL, MODEL_BLOCKED_POLL},
		{MSR_WAIT_FILE, MODEL_BLOCKED_IO},      {MSR_WAIT_SOCKET, MODEL_BLOCKED_IO},
		{MSR_WAIT_PIPE, MODEL_BLOCKED_IO},      {MSR_WAIT_CHILD, MODEL_BLOCKED_OTHER},
		{MSR_WAIT_SIGNAL, MODEL_BLOCKED_OTHER}, {MSR_WAIT_SYNC, MODEL_BLOCKED_IO},
		{MSR_WAIT_DEVICE, MODEL_BLOCKED_IO},    {MSR_WAIT_OTHER, MODEL_BLOCKED_OTHER},
		{MSR_WAIT_RUN_QUEUE, MODEL_NO_CPU},     {MSR_WAIT_MEMORY, MODEL_BLOCKED_OTHER},
		{MSR_WAIT_STOPPED, MODEL_BLOCKED_OTHER}, {MSR_WAIT_QUEUE, MODEL_BLOCKED_IO},
		{MSR_WAIT_SEMAPHORE, MODEL_BLOCKED_THREAD}, {MSR_WAIT_IO_URING, MODEL_BLOCKED_IO},
		{MSR_WAIT_THREAD, MODEL_BLOCKED_THREAD},
		{MSR_N_WAITS, MODEL_BLOCKED_OTHER},
	};
	assert_int_equal(sizeof cases / sizeof *cases, MSR_N_WAITS + 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_activity(cases[i].activity, PATH(AT(APP, "main"), AT(LIBC, "sched_yield"),
							{.w = cases[i].wait}));
	/* the run-time library decides before the system call does */
	const struct step futex = {.w = MSR_WAIT_FUTEX}, poll = {.w = MSR_WAIT_POLL};
	assert_activity(MODEL_OMP_BARRIER, PATH(AT(APP, "main"), AT(GOMP, "GOMP_barrier"), futex));
	assert_activity(MODEL_OMP_LOCK,
			PATH(AT(APP, "main"), AT(GOMP, "GOMP_critical_start"), futex));
	assert_activity(MODEL_OMP_BARRIER, PATH(AT(APP, "main"), AT(GOMP, "GOMP_parallel"), futex));
	assert_activity(MODEL_MPI_P2P, PATH(AT(APP, "main"), AT(MPI, "PMPI_Recv"), poll));
	assert_activity(MODEL_GPU_WAIT,
			PATH(AT(APP, "main"), AT(CUDA, "cudaStreamSynchronize"), poll));
}

/* A thread that waits for another one has nothing to do; one that waits for a lock has. */
static void test_waits_for_threads(void **state)
{
	(void)state;
	const struct step futex = {.w = MSR_WAIT_FUTEX}, ready = {.w = MSR_WAIT_RUN_QUEUE},
			  thread = {.w = MSR_WAIT_THREAD};
	/* names say more than the kind of the system call */
	assert_activity(MODEL_BLOCKED_LOCK,
			PATH(AT(APP, "main"), AT(LIBC, "pthread_rwlock_rdlock"), thread));
	assert_activity(MODEL_BLOCKED_THREAD, PATH(AT(APP, "main"), AT(LIBC, NULL), thread));
	assert_activity(MODEL_BLOCKED_THREAD,
			PATH(AT(APP, "main"), AT(LIBC, "___pthread_cond_wait"),
			     AT(LIBC, "__futex_wait"), futex));
	assert_activity(MODEL_BLOCKED_LOCK, PATH(AT(APP, "main"), AT(LIBC, "___pthread_cond_wait"),
						 AT(LIBC, "__pthread_mutex_cond_lock"),
						 AT(LIBC, "__futex_wait"), futex));
	assert_activity(MODEL_BLOCKED_LOCK, PATH(AT(APP, "main"), AT(LIBC, "__futex_wait"), futex));
	assert_activity(MODEL_NO_CPU,
			PATH(AT(APP, "main"), AT(LIBC, "___pthread_cond_wait"), ready));
	/* what libc called back waits for itself */
	assert_activity(MODEL_BLOCKED_LOCK, PATH(AT(LIBC, "___pthread_cond_wait"),
						 AT(APP, "user_op"), AT(LIBC, NULL), futex));
}

static void test_no_metrics_if_all_is_work(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	/* a frame of libgomp, but no sample in it */
	sample(&r, frame(&r, frame(&r, frame(&r, r.entry, APP, "main"), GOMP, "GOMP_parallel"), APP,
			 "solve._omp_fn.0"));
	finish(&r, false);
	assert_int_equal(r.m->n_metrics, 1);
	clean(&r);
}

static void test_offcpu_is_a_part_of_the_time(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t off = gen_metric(r.g, "OFFCPU", MSR_UNIT_NS, 5000000, MSR_SOURCE_TEST),
		 real = gen_metric(r.g, "REALTIME", MSR_UNIT_NS, 5000000, MSR_SOURCE_TEST);
	uint32_t main_ = frame(&r, r.entry, APP, "main"), recv = frame(&r, main_, MPI, "PMPI_Recv");
	sample(&r, main_);
	sample(&r, recv);
	gen_sample(r.g, r.thread, recv, off, r.time_ns, 3000000000);
	gen_sample(r.g, r.thread, main_, real, r.time_ns, 5000000000);
	finish(&r, false);
	assert_true(seconds(&r, MODEL_MPI_P2P) == 4 && seconds(&r, MODEL_WORK) == 1);
	assert_adds_up(&r);
	clean(&r);
}

/* ---- the tree ---- */

static uint32_t find(const struct run *r, uint32_t parent, const char *name)
{
	for (uint32_t c = parent + 1; c < parent + r->m->contexts[parent].subtree_n; c++)
		if (r->m->contexts[c].kind == MODEL_CONTEXT_FUNCTION &&
		    strcmp(r->m->functions[r->m->contexts[c].function].name, name) == 0)
			return c;
	return MODEL_NONE;
}

static uint32_t caller(const struct run *r, uint32_t context)
{
	uint32_t c = r->m->contexts[context].parent;
	while (r->m->contexts[c].kind > MODEL_CONTEXT_FUNCTION)
		c = r->m->contexts[c].parent;
	return c;
}

static double time_at(const struct run *r, uint32_t context, enum model_scope scope)
{
	const struct model_total *t = model_find_total(r->m, context, 0);
	return t ? t->sum[scope] : 0;
}

/*
 * A transport calls back MPI in one path. In another one, it calls a hook of ours that is not in
 * front of MPI. Neither makes it a module of the program.
 */
static void test_transports(void **state)
{
	(void)state;
	for (int internals = 0; internals < 2; internals++) {
		struct run r;
		begin(&r);
		uint32_t recv = frame(&r, frame(&r, r.entry, APP, "main"), MPI, "PMPI_Recv"),
			 ucx = frame(&r, recv, UCX, "ucp_worker_progress");
		sample(&r, frame(&r, ucx, MPI, "ompi_progress"));
		sample(&r, frame(&r, frame(&r, r.entry, UCX, "ucp_worker_progress"), OURS,
				 "epoll_wait"));
		sample(&r, ucx);
		finish(&r, internals);
		assert_true(seconds(&r, MODEL_MPI_P2P) == 2 && seconds(&r, MODEL_WORK) == 1);
		assert_true(internals || find(&r, find(&r, 0, "PMPI_Recv"),
					      "ucp_worker_progress") == MODEL_NONE);
		clean(&r);
	}
}

/* The thread that forks and a worker, whose path is that of the fork. */
static void make_region(struct run *r)
{
	uint32_t fork = frame(r, frame(r, r->entry, APP, "main"), APP, "solve");
	uint32_t call = frame(r, frame(r, fork, OURS, "GOMP_parallel"), GOMP, "GOMP_parallel");
	uint32_t master = frame(r, call, APP, "solve._omp_fn.0"),
		 worker = frame(r, fork, APP, "solve._omp_fn.0");
	sample(r, master);
	sample(r, worker);
	sample(r, call);
	sample(r, frame(r, frame(r, master, GOMP, "GOMP_barrier"), GOMP, NULL));
	/* tasks: at a taskwait, at the end of the region, and without delay */
	uint32_t wait_ = frame(r, frame(r, master, GOMP, "GOMP_taskwait"), GOMP, NULL);
	sample(r, wait_);
	sample(r, frame(r, wait_, APP, "task"));
	sample(r, frame(r, frame(r, worker, GOMP, "GOMP_taskwait"), APP, "task"));
	uint32_t end = wait(r, fork, MSR_WAIT_OMP_END),
		 inside = frame(r, frame(r, end, LIBC, "start_thread"), GOMP, NULL);
	sample(r, inside);
	sample(r, frame(r, inside, APP, "task"));
	sample(r, frame(r, frame(r, worker, GOMP, "GOMP_task"), APP, "task"));
}

static void test_regions_are_folded(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	make_region(&r);
	finish(&r, false);
	uint32_t solve = find(&r, 0, "solve"), body = find(&r, solve, "solve._omp_fn.0");
	assert_int_equal(caller(&r, body), solve);
	assert_true(time_at(&r, body, MODEL_FUNCTION) == 2);
	/* all in GOMP_barrier counts at its own context */
	uint32_t barrier = find(&r, body, "GOMP_barrier");
	assert_true(time_at(&r, barrier, MODEL_POINT) == 1);
	assert_int_equal(r.m->contexts[barrier].subtree_n, 1);
	assert_int_equal(find(&r, 0, "start_thread"), MODEL_NONE);
	uint32_t end = find(&r, solve, "<waits at the end of the region>");
	assert_int_equal(caller(&r, end), solve);
	assert_true(time_at(&r, end, MODEL_EXECUTION) == 1);
	/* three tasks are below the fork, one is where it was made */
	double below_solve = 0, below_body = 0;
	for (uint32_t c = 0; c < r.m->n_contexts; c++)
		if (r.m->contexts[c].kind == MODEL_CONTEXT_FUNCTION &&
		    strcmp(r.m->functions[r.m->contexts[c].function].name, "task") == 0)
			*(caller(&r, c) == solve ? &below_solve : &below_body) +=
				time_at(&r, c, MODEL_EXECUTION);
	assert_true(below_solve == 3 && below_body == 1);
	assert_true(time_at(&r, 0, MODEL_EXECUTION) == 10);
	assert_true(seconds(&r, MODEL_WORK) == 6 && seconds(&r, MODEL_OMP_BARRIER) == 2 &&
		    seconds(&r, MODEL_OMP_TASKWAIT) == 1 && seconds(&r, MODEL_OMP_OVERHEAD) == 1);
	assert_adds_up(&r);
	clean(&r);
}

static void test_internals(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	make_region(&r);
	finish(&r, true);
	assert_int_not_equal(find(&r, 0, "start_thread"), MODEL_NONE);
	assert_int_not_equal(find(&r, find(&r, 0, "GOMP_parallel"), "GOMP_parallel"), MODEL_NONE);
	assert_true(time_at(&r, 0, MODEL_EXECUTION) == 10);
	assert_true(seconds(&r, MODEL_WORK) == 6 && seconds(&r, MODEL_OMP_BARRIER) == 2);
	assert_adds_up(&r);
	clean(&r);
}

static void test_idle_threads_are_one_line(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t idle = gen_entry(r.g, r.thread, MSR_ENTRY_OMP_IDLE);
	sample(&r, frame(&r, frame(&r, idle, LIBC, "start_thread"), GOMP, NULL));
	finish(&r, false);
	uint32_t entry = 1 + r.m->contexts[1].subtree_n;
	assert_int_equal(r.m->contexts[entry].entry, MODEL_ENTRY_OMP_IDLE);
	assert_int_equal(r.m->contexts[entry].subtree_n, 1);
	assert_true(time_at(&r, entry, MODEL_POINT) == 1);
	assert_true(seconds(&r, MODEL_OMP_IDLE) == 1);
	clean(&r);
}

static void test_mpi_is_folded(void **state)
{
	(void)state;
	struct run r;
	begin(&r);
	uint32_t main_ = frame(&r, r.entry, APP, "main"), recv = frame(&r, main_, MPI, "PMPI_Recv"),
		 reduce = frame(&r, main_, MPI, "PMPI_Allreduce");
	sample(&r, frame(&r, frame(&r, recv, MPI, "ompi_progress"), UCX, "ucp_worker_progress"));
	sample(&r, wait(&r, recv, MSR_WAIT_POLL));
	sample(&r, frame(&r, frame(&r, reduce, MPI, NULL), APP, "user_op"));
	finish(&r, false);
	uint32_t c = find(&r, 0, "PMPI_Recv");
	assert_true(time_at(&r, c, MODEL_POINT) == 1 && time_at(&r, c, MODEL_EXECUTION) == 2);
	assert_int_equal(caller(&r, find(&r, 0, "<blocked: poll>")), c);
	assert_int_equal(caller(&r, find(&r, 0, "user_op")), find(&r, 0, "PMPI_Allreduce"));
	assert_int_equal(find(&r, 0, "ucp_worker_progress"), MODEL_NONE);
	assert_true(seconds(&r, MODEL_MPI_P2P) == 2 && seconds(&r, MODEL_WORK) == 1);
	clean(&r);
}

/* With -e MPI, samples are in our function in front of MPI's. */
static void test_mpi_behind_ours(void **state)
{
	(void)state;
	struct run r;
	static const char *const names[] = {"MPI_Recv", "MPI_Send"};
	begin(&r);
	uint32_t main_ = frame(&r, r.entry, APP, "main"), recv = frame(&r, main_, OURS, "MPI_Recv");
	sample(&r, frame(&r, main_, OURS, "MPI_Send"));
	sample(&r, frame(&r, frame(&r, recv, MPI, "PMPI_Recv"), UCX, "ucp_worker_progress"));
	finish(&r, false);
	for (size_t i = 0; i < 2; i++) {
		const struct model_function *f =
			&r.m->functions[r.m->contexts[find(&r, 0, names[i])].function];
		assert_string_equal(r.m->modules[f->module].path, modules[MPI].path);
	}
	assert_int_equal(find(&r, 0, "PMPI_Recv"), MODEL_NONE);
	assert_true(seconds(&r, MODEL_MPI_P2P) == 2);
	clean(&r);
}

static void test_libc_is_folded(void **state)
{
	(void)state;
	for (int internals = 0; internals < 2; internals++) {
		struct run r;
		begin(&r);
		uint32_t main_ = frame(&r, r.entry, APP, "main"),
			 start = frame(&r, r.entry, LIBC, "start_thread"),
			 cond = frame(&r, main_, LIBC, "___pthread_cond_wait"),
			 lock = frame(&r, cond, LIBC, "__pthread_mutex_cond_lock");
		sample(&r, wait(&r, frame(&r, cond, LIBC, "__futex_wait"), MSR_WAIT_FUTEX));
		sample(&r, wait(&r, frame(&r, lock, LIBC, "__futex_wait"), MSR_WAIT_FUTEX));
		/* no wait, or one that does not belong to the call */
		sample(&r, frame(&r, cond, LIBC, "sched_yield"));
		sample(&r, frame(&r, cond, APP, "user_op"));
		sample(&r, wait(&r, frame(&r, frame(&r, main_, LIBC, "sched_yield"), LIBC, NULL),
				MSR_WAIT_RUN_QUEUE));
		sample(&r, wait(&r, frame(&r, start, LIBC, "__poll"), MSR_WAIT_POLL));
		finish(&r, internals);
		uint32_t call = find(&r, 0,
				     internals ? "___pthread_cond_wait" : "pthread_cond_wait"),
			 futex = find(&r, call, "<blocked: futex>");
		assert_int_not_equal(call, MODEL_NONE);
		assert_int_equal(caller(&r, futex) == call, !internals);
		assert_int_equal(find(&r, 0, "__futex_wait") == MODEL_NONE, !internals);
		uint32_t again =
			find(&r, call,
			     internals ? "__pthread_mutex_cond_lock" : "pthread_mutex_cond_lock");
		assert_int_equal(caller(&r, again), call);
		assert_int_equal(caller(&r, find(&r, call, "sched_yield")), call);
		assert_int_equal(caller(&r, find(&r, call, "user_op")), call);
		/* threads start in libc: that is not the call */
		uint32_t poll = find(&r, 0, internals ? "__poll" : "poll");
		assert_int_equal(caller(&r, poll), find(&r, 0, "start_thread"));
		assert_int_equal(caller(&r, find(&r, poll, "<blocked: poll>")), poll);
		uint32_t ready = find(&r, 0, "<ready, no processor>");
		assert_string_equal(r.m->functions[r.m->contexts[caller(&r, ready)].function].name,
				    "<unknown function> [libc.so.6]");
		assert_true(time_at(&r, 0, MODEL_EXECUTION) == 6);
		assert_true(seconds(&r, MODEL_BLOCKED_THREAD) == 1 &&
			    seconds(&r, MODEL_BLOCKED_LOCK) == 1);
		assert_adds_up(&r);
		clean(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openmp),
		cmocka_unit_test(test_mpi),
		cmocka_unit_test(test_transports),
		cmocka_unit_test(test_torch),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_waits_for_threads),
		cmocka_unit_test(test_no_metrics_if_all_is_work),
		cmocka_unit_test(test_offcpu_is_a_part_of_the_time),
		cmocka_unit_test(test_regions_are_folded),
		cmocka_unit_test(test_internals),
		cmocka_unit_test(test_idle_threads_are_one_line),
		cmocka_unit_test(test_mpi_is_folded),
		cmocka_unit_test(test_mpi_behind_ours),
		cmocka_unit_test(test_libc_is_folded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
