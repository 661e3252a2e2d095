/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stopping and starting before a fake host and a fake CUPTI: what is switched beside other
 * threads, and what must not be (doc/notes/cupti-facts.md K).
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"
#include "tests/unit/cupti/fake_cupti_trace.h"

#include <time.h>

static struct {
	unsigned n_calls_on, n_calls_off, n_kinds_on, n_kinds_off;
	unsigned n_waits;
	bool calls_were_on;    /* when the first kind was switched on; and launches that nobody told
				  had time to end */
	void (*during)(void);  /* in the call that switches kinds on */
} cupti;
static void (*switch_it)(bool on);

static void nothing(const struct gpu_host *h) { (void)h; }
static void take_switch(void (*fn)(bool on)) { switch_it = fn; }
static CUptiResult CUPTIAPI flush(uint32_t flag) { (void)flag; return CUPTI_SUCCESS; }

static CUptiResult CUPTIAPI enable_callback(uint32_t on, CUpti_SubscriberHandle s,
					    CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	(void)s, (void)id;
	assert_int_equal(d, CUPTI_CB_DOMAIN_DRIVER_API);
	*(on ? &cupti.n_calls_on : &cupti.n_calls_off) += 1;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI enable_kind(CUpti_ActivityKind k)
{
	(void)k;
	if (!cupti.n_kinds_on++) {
		cupti.calls_were_on = cupti.n_calls_on == cupti.n_calls_off && cupti.n_waits == 1;
		if (cupti.during)
			cupti.during();
	}
	return CUPTI_SUCCESS;
}

static void count_wait(sem_t *wake, uint64_t until_ns)
{
	(void)wake, (void)until_ns;
	cupti.n_waits++;
}

static CUptiResult CUPTIAPI disable_kind(CUpti_ActivityKind k)
{
	(void)k;
	cupti.n_kinds_off++;
	return CUPTI_SUCCESS;
}

static int start_switch(void **state)
{
	static struct gpu_host with_holds;
	start(state);
	memset(&cupti, 0, sizeof cupti);
	with_holds = *nv.host;
	with_holds.suspend = with_holds.resume = nothing;
	nv.host = &with_holds;
	nv.lib.cuptiEnableCallback = enable_callback;
	nv.lib.cuptiActivityEnable = enable_kind;
	nv.lib.cuptiActivityDisable = disable_kind;
	nv.lib.cuptiActivityFlushAll = flush;
	nv.lib.on_switch = take_switch;
	nv.lib.wait = count_wait;
	pthread_mutex_init(&nv_shared.flush_lock, NULL);
	nv_switch_start();
	do_call(SYNC, 1, NULL, CUDA_SUCCESS);
	return 0;
}

/* The next test begins as a thread that was told of nothing. */
static int end_switch(void **state)
{
	(void)state;
	nv_switch_thread_ends();
	return 0;
}

static void launch_one(uint32_t correlation)
{
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x10};
	do_call(LAUNCH, correlation, &p, CUDA_SUCCESS);
}

/* Which launches are recorded shows whether measurement is on, and what CUPTI was asked shows how
 * it went off. */
static void assert_recorded(uint32_t correlation, bool is_recorded)
{
	unsigned before = seen.n_launched[MSR_GPU_KERNEL];
	launch_one(correlation);
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], before + is_recorded);
}

static void test_alone(void **state)
{
	(void)state;
	assert_recorded(1, true);
	switch_it(false);
	assert_int_equal(cupti.n_calls_off, SYNC); /* not those that capture or load */
	assert_int_equal(cupti.n_kinds_off, 4);
	switch_it(false);
	assert_int_equal(cupti.n_kinds_off, 4);
	assert_recorded(2, false); /* under way when its callback was switched */
	switch_it(true);
	assert_int_equal(cupti.n_calls_on, SYNC);
	assert_int_equal(cupti.n_kinds_on, 4);
	assert_true(
		cupti.calls_were_on); /* else there would be records of launches that nobody told */
	assert_recorded(3, true);
}

/* ---- beside other threads ---- */

static sem_t is_there, may_end;

static void *stay_in_call(void *unused)
{
	struct call c;
	enter(&c, SYNC, 7, NULL, NULL);
	sem_post(&is_there);
	sem_wait(&may_end);
	leave(&c, SYNC, CUDA_SUCCESS);
	nv_switch_thread_ends();
	return unused;
}

static void test_beside_a_caller(void **state)
{
	(void)state;
	pthread_t t;
	sem_init(&is_there, 0, 0);
	sem_init(&may_end, 0, 0);
	pthread_create(&t, NULL, stay_in_call, NULL);
	sem_wait(&is_there);
	switch_it(false);
	assert_int_equal(cupti.n_calls_off + cupti.n_kinds_off, 0);
	assert_recorded(8, true); /* CUPTI goes on, and the host drops what it says */
	switch_it(true);
	assert_int_equal(cupti.n_calls_on + cupti.n_kinds_on, 0);
	assert_recorded(9, true);
	sem_post(&may_end);
	pthread_join(t, NULL);
	switch_it(false); /* it calls no more */
	assert_int_equal(cupti.n_calls_off, SYNC);
	assert_int_equal(cupti.n_kinds_off, 4);
}

/* The gate's clock: its patience ends after 10 s of looking. */
static _Atomic unsigned n_looks;
static uint64_t patience_ns(void) { return n_looks < 10000 ? 0 : UINT64_MAX; }

static void look_again(uint64_t ns)
{
	const struct timespec t = {0, 1000000};
	(void)ns;
	n_looks++;
	nanosleep(&t, NULL);
}

static pthread_t launcher;
static _Atomic bool has_entered;

static void *launch_beside(void *unused)
{
	struct call c;
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x10};
	enter(&c, LAUNCH, 9, &p, "k");
	has_entered = true;
	leave(&c, LAUNCH, CUDA_SUCCESS);
	nv_switch_thread_ends();
	return unused;
}

static void begin_a_launch(void)
{
	const struct timespec t = {0, 50000000};
	pthread_create(&launcher, NULL, launch_beside, NULL);
	nanosleep(&t, NULL);
	assert_false(has_entered);
}

/* A thread that has come to use CUDA while measurement was off: its launch waits for the switch,
 * and is measured. */
static void test_beside_a_new_thread(void **state)
{
	(void)state;
	switch_it(false);
	nv_pc_gate_use(&(struct nv_pc_gate_clock){patience_ns, look_again});
	has_entered = false;
	cupti.during = begin_a_launch;
	switch_it(true);
	pthread_join(launcher, NULL);
	assert_true(has_entered);
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 1);
	assert_int_equal(nv_open_count(), 1);
	assert_in_range(n_looks, 1, 9999); /* it was let go */
	launch_one(11);
	assert_true(nv_pc_gate_close(1)); /* nor inside of it */
	nv_pc_gate_open();
	switch_it(false);
	assert_int_equal(cupti.n_kinds_off, 8);
}

/* Allocations that are freed meanwhile are not told, and their addresses are given out again. */
static void test_sizes_are_forgotten(void **state)
{
	(void)state;
	CUdeviceptr at = 0x7000;
	cuMemAlloc_v2_params p = {.dptr = &at, .bytesize = 12345};
	cuMemFree_v2_params q = {.dptr = at};
	do_call(ALLOC, 2, &p, CUDA_SUCCESS);
	switch_it(false);
	switch_it(true);
	do_call(FREE, 3, &q, CUDA_SUCCESS);
	assert_int_equal(seen.op.kind, MSR_GPU_FREE);
	assert_int_equal(seen.op.amount, 0);
}

static void test_over(void **state)
{
	(void)state;
	nv_shared.is_over = true;
	switch_it(false);
	nv_shared.is_over = false;
	seen.generation = 2; /* in a child */
	switch_it(false);
	seen.generation = 1;
	assert_int_equal(cupti.n_calls_off + cupti.n_kinds_off, 0);
	assert_recorded(2, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_alone, start_switch, end_switch),
		cmocka_unit_test_setup_teardown(test_beside_a_caller, start_switch, end_switch),
		cmocka_unit_test_setup_teardown(test_beside_a_new_thread, start_switch, end_switch),
		cmocka_unit_test_setup_teardown(test_sizes_are_forgotten, start_switch, end_switch),
		cmocka_unit_test_setup_teardown(test_over, start_switch, end_switch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
