/* SPDX-License-Identifier: BSD-3-Clause */
/* PC sampling of the NVIDIA back end before a fake host and a fake CUPTI: the gate before
 * launches, the end of a process, windows of bursts. */
#include "tests/unit/cupti/fake_cupti_pc.h"

/* ---- gate, end, windows ---- */

/* The clock stands while threads really wait for one another. */
static uint64_t standing_ns(void) { return 0; }
static void really_sleep(uint64_t ns) { (void)ns; usleep(200); }
static const struct nv_pc_gate_clock real_clock = {standing_ns, really_sleep};

static void *launch_one(void *arg)
{
	nv_pc_gate_enter(true);
	*(_Atomic bool *)arg = true;
	nv_pc_gate_leave();
	return NULL;
}

static void test_gate(void **state)
{
	(void)state;
	pthread_t thread;
	_Atomic bool has_launched = false;
	start_with("pc,mode=bursts");
	uint64_t n = nv_pc_n_launches();
	nv_pc_wake_at(n + 2);
	nv_pc_gate_leave(); /* of a call that we were not told of */
	nv_pc_gate_enter(true);
	nv_pc_gate_enter(true); /* a call inside of a call */
	int woken = 0;
	sem_getvalue(&nv_shared.wake, &woken);
	assert_int_equal(woken, 1);
	assert_true(nv_pc_gate_close(seen.now_ns)); /* our own does not count */
	nv_pc_gate_open();
	nv_pc_gate_leave();
	nv_pc_gate_leave();
	assert_int_equal(nv_pc_n_launches(), n + 2);
	nv_pc_gate_use(&real_clock);
	assert_true(nv_pc_gate_close(seen.now_ns));
	assert_int_equal(pthread_create(&thread, NULL, launch_one, &has_launched), 0);
	usleep(20000);
	assert_false(has_launched);
	nv_pc_gate_open();
	pthread_join(thread, NULL);
	assert_true(has_launched);
	assert_true(
		nv_pc_gate_close(seen.now_ns)); /* nobody opens it: the launch goes on after 2 s */
	uint64_t begin_ns = seen.now_ns;
	has_launched = false;
	nv_pc_gate_use(&fake_clock);
	launch_one(&has_launched);
	assert_true(has_launched);
	assert_true(seen.now_ns - begin_ns >= 2000 * MS && seen.now_ns - begin_ns < 2100 * MS);
	begin_ns = seen.now_ns;
	launch_one(&has_launched); /* and so do those behind it, at once */
	assert_int_equal(seen.now_ns, begin_ns);
}

static void *stay_inside(void *arg)
{
	sem_t *sems = arg;
	nv_pc_gate_enter(true);
	sem_post(&sems[0]);
	sem_wait(&sems[1]);
	nv_pc_gate_leave();
	return NULL;
}

static void *end_inside(void *unused)
{
	nv_pc_gate_enter(true);
	nv_pc_gate_enter(true);
	nv_pc_gate_thread_ends();
	return unused;
}

static void *end_outside(void *unused)
{
	nv_pc_gate_thread_ends(); /* never launched */
	nv_pc_gate_enter(true);
	nv_pc_gate_leave();
	nv_pc_gate_thread_ends();
	nv_pc_gate_enter(true); /* another destructor of the thread's */
	nv_pc_gate_leave();
	return unused;
}

/* A thread that ends in its launch, as one that is cancelled does, is waited for by nobody. */
static void test_ended(void **state)
{
	(void)state;
	pthread_t thread;
	start_with("pc");
	assert_int_equal(pthread_create(&thread, NULL, end_inside, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(pthread_create(&thread, NULL, end_outside, NULL), 0);
	pthread_join(thread, NULL);
	assert_true(nv_pc_gate_close(seen.now_ns + 10 * MS));
	nv_pc_gate_open();
}

#ifndef __SANITIZE_ADDRESS__
void *__libc_calloc(size_t n, size_t bytes);
static __thread bool counts_calloc;
static unsigned n_calloc;

void *calloc(size_t n, size_t bytes)
{
	n_calloc += counts_calloc;
	return __libc_calloc(n, bytes);
}

static void *launch_first(void *unused)
{
	counts_calloc = true;
	nv_pc_gate_enter(true);
	nv_pc_gate_leave();
	counts_calloc = false;
	return unused;
}

/* A program with so many keys that one more costs memory of malloc, which may be the program's own,
 * and be what launches. */
static void test_no_malloc(void **state)
{
	(void)state;
	pthread_t thread;
	pthread_key_t keys[64];
	start_with("pc");
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(pthread_key_create(&keys[i], NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, launch_first, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(n_calloc, 0);
	for (unsigned i = 0; i < 64; i++)
		pthread_key_delete(keys[i]);
}
#endif

/* A thread is stuck in its launch: whoever wants to close the gate gives up, and it is open. */
static void test_stuck(void **state)
{
	(void)state;
	pthread_t thread;
	sem_t sems[2];
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	sem_init(&sems[0], 0, 0);
	sem_init(&sems[1], 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, stay_inside, sems), 0);
	sem_wait(&sems[0]);
	assert_false(nv_pc_gate_close(seen.now_ns + 10 * MS));
	nv_pc_gate_enter(false); /* open */
	nv_pc_gate_leave();
	end(true);
	assert_int_equal(cupti.n_disabled, 0);
	nv_pc_context_gone(CONTEXT); /* what it had is lost, and said to be */
	assert_int_equal(cupti.n_disabled, 0);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_CUT);
	cupti.is_on = false;
	sem_post(&sems[1]);
	pthread_join(thread, NULL);
}

static void test_end_of_endless(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.busy_until_ns = UINT64_MAX;
	cupti.n_pcs = 1;
	end(false);
	assert_int_equal(cupti.n_disabled, 0); /* it would wait for the kernel */
	assert_int_equal(seen.range[0].recorded, 3);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_CUT);
	assert_non_null(strstr(seen.note, "kernels are still running"));
}

static void launch_many(unsigned n)
{
	while (n--) {
		nv_pc_gate_enter(true);
		nv_pc_gate_leave();
	}
}

static bool is_in_window(void)
{
	return cupti.mode == CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED;
}

static void test_bursts(void **state)
{
	(void)state;
	start_with("pc,mode=bursts@10");
	nv_pc_context_made(CONTEXT);
	assert_false(is_in_window());
	launch_many(50);
	work(100);
	launch_many(1);
	work(200); /* a tenth of these is too few */
	assert_false(is_in_window());
	launch_many(100);
	cupti.busy_until_ns = seen.now_ns + 1000 * MS;
	work(100); /* never idle */
	assert_int_equal(cupti.n_disabled, 0);
	launch_many(1);
	cupti.n_pcs = 7;
	work(3000);
	assert_true(is_in_window());
	assert_int_equal(last_range()->recorded,
			 0); /* of Disable; the seven were taken out before */
	unsigned n_got = cupti.n_got;
	work(10);
	assert_int_equal(cupti.n_got, n_got); /* it would wait for kernels */
	unsigned n_wanted = (unsigned)(nv_pc_n_launches() / 10);
	while (sem_trywait(&nv_shared.wake) == 0)
		;
	launch_many(n_wanted);
	int woken = 0;
	sem_getvalue(&nv_shared.wake, &woken);
	assert_int_equal(woken, 0);
	_Atomic bool has_launched =
		false; /* the one behind them waits until the window is closed */
	pthread_t thread;
	nv_pc_gate_use(&real_clock);
	assert_int_equal(pthread_create(&thread, NULL, launch_one, &has_launched), 0);
	while (!woken) {
		usleep(200);
		sem_getvalue(&nv_shared.wake, &woken);
	}
	assert_int_equal(woken, 1);
	usleep(20000); /* it would be in by now if nobody held it */
	assert_false(has_launched);
	cupti.n_pcs = 3;
	cupti.correlation = 9;
	work(90);
	assert_false(is_in_window());
	pthread_join(thread, NULL);
	assert_true(has_launched);
	nv_pc_gate_use(&fake_clock);
	unsigned n_serialized = 0;
	for (unsigned i = 0; i < seen.n_ranges; i++)
		n_serialized += (seen.range[i].flags & MSR_GPU_RANGE_SERIALIZED) != 0;
	assert_true(n_serialized >= 1);
	assert_int_equal(seen.last_id, 18);
	launch_many(50);
	work(10000);
	launch_many(1);
	work(100000); /* a tenth of the launches at most ... */
	assert_false(is_in_window());
	launch_many(100);
	work(100);
	assert_true(is_in_window());
	work(500); /* few launches: it ends by time */
	assert_false(is_in_window());
	launch_many(100000);
	work(4000); /* ... and a tenth of the time: it took 0.5 s */
	assert_false(is_in_window());
	launch_many(1);
	work(2000);
	assert_true(is_in_window());
	end(true);
	assert_null(strstr(seen.note, "no launch was in"));
}

static void test_no_window(void **state)
{
	(void)state;
	start_with("pc,mode=bursts@1");
	nv_pc_context_made(CONTEXT);
	work(1000);
	end(true);
	assert_non_null(strstr(seen.note,
			       "no launch was in a serialized window, because there were too few"));
}

/* Records were asked for by force: that none is out says nothing about what runs. */
static CUresult CUDAAPI never_done(CUcontext c) { while (c) pause(); return CUDA_SUCCESS; }

static void test_forced(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	nv_shared.n_unfinished = 1;
	nv.lib.cuCtxSynchronize_v2 = never_done;
	end(true);
	assert_int_equal(cupti.n_disabled, 0);
	assert_non_null(strstr(seen.note, "kernels are still running"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(test_no_malloc),
#endif
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test_teardown(test_end_of_endless, leave),
		cmocka_unit_test_teardown(test_bursts, leave),
		cmocka_unit_test_teardown(test_no_window, leave),
		cmocka_unit_test_teardown(test_forced, leave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
