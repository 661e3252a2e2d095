/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU core in this process; see gpu_glue.h. A launch walks the stack outside a handler. It
 * holds back the thread's samples in the meantime, because both write the thread's tree. It must
 * not wait for a device or call a back end from a signal handler. Tests: tests/cli/gpu/gpu_core.sh,
 * tests/bench/bench_gpu.sh.
 */
#include "hpcrun-lite/runtime/glue/gpu_glue.h"

#include "common/safe/clock.h"
#include "common/safe/find_object.h"
#include "common/safe/quiet.h"
#include "common/safe/text.h"
#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/call_path.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* total waiting time of all back ends at the end of a process */
#define END_PATIENCE_NS UINT64_C(2000000000)

#define COST_EVERY 128u /* reading the thread's CPU clock twice costs as much as a launch */

#define LEFT_OUT_MODULES 4u /* the back end's, and the vendor's between it and the call */

typedef void at_end_fn(uint64_t may_wait_ns);
typedef void at_thread_end_fn(void);
typedef void switch_fn(bool on);

static struct {
	struct gpu_runtime runtime;
	/* numbers in the module map; 0: none */
	_Atomic uint32_t module[GPU_MAX_BACKENDS][LEFT_OUT_MODULES];
	_Atomic uint32_t n_left_out; /* of all */
	_Atomic(at_end_fn *) at_end[GPU_MAX_BACKENDS];
	_Atomic(at_thread_end_fn *) at_thread_end[GPU_MAX_BACKENDS];
	_Atomic(switch_fn *) on_switch[GPU_MAX_BACKENDS];
	_Atomic bool has_timer[GPU_MAX_BACKENDS];  /* sample_by_timer() was called */
	_Atomic bool registered;                   /* with exit, in this process */
} glue;

/* A launch, from begin_launch to end_launch. */
static __thread struct {
	struct thread *thread;     /* NULL: not measured, or inside already */
	struct call_path path;
	uint64_t cost_begin;
	uint32_t n_turns;
} launching;

static __thread uint32_t n_suspended;

/* ---- launches ---- */

static bool is_left_out(unsigned number, uint32_t module)
{
	for (unsigned i = 0; i < LEFT_OUT_MODULES; i++)
		if (module &&
		    atomic_load_explicit(&glue.module[number][i], memory_order_relaxed) == module)
			return true;
	return false;
}

/* The tag of a back end: its number + 1, and the number of modules that are left out. */
static uint64_t tag_of(unsigned number)
{
	return (uint64_t)(number + 1) << 32 |
	       atomic_load_explicit(&glue.n_left_out, memory_order_relaxed);
}

/*
 * Number of innermost frames that mean nothing to the user: the frames of the back end, except the
 * outermost one, which is the call that the program made.
 */
static uint32_t inner_frames(const struct unwind_path *walked, uint64_t tag)
{
	const unsigned number = (unsigned)(tag >> 32) - 1;
	uint32_t n = 0;
	while (n < walked->n && is_left_out(number, msr_addr_module(walked->addr[n])))
		n++;
	return n ? n - 1 : 0;
}

static enum gpu_entry begin_launch(unsigned number, struct gpu_place *p)
{
	struct thread *t = thread_self;
	*p = (struct gpu_place){.thread = UINT32_MAX};
	if (!t)
		return atomic_load_explicit(&process.ending, memory_order_relaxed) ? GPU_STOPPED
										   : GPU_ENTERED;
	switch (sample_hold(t)) {
	case SAMPLE_ENDED:
		return GPU_STOPPED;
	case SAMPLE_NESTED:
		return GPU_ENTERED;
	default:
		break;
	}
	launching.thread = t;
	launching.cost_begin = sample_begin_cost(t, &launching.n_turns, COST_EVERY);
	if (atomic_load_explicit(&glue.has_timer[number], memory_order_relaxed))
		thread_sources_launch(t);
	p->thread = t->record->number;
	p->writer = &t->gpu;
	call_path_find(t, &(struct call_kind){inner_frames, tag_of(number)}, &launching.path);
	p->node = launching.path.place.has_node ? launching.path.place.node : 0;
	return GPU_ENTERED;
}

static uint64_t end_launch(const struct gpu_place *p)
{
	if (!p->writer)
		return 0;
	uint64_t cost_ns = sample_end_cost(launching.cost_begin, COST_EVERY);
	sample_release(launching.thread, &launching.path.place);
	return cost_ns;
}

/* ---- what back ends ask ---- */

static void leave_out(unsigned number, const void *text)
{
	struct dl_find_object object;
	uintptr_t bias;
	uint32_t module = find_object((void *)(uintptr_t)text, &object) == 0
				  ? module_of(&object, &bias)
				  : MSR_MODULE_NONE;
	for (unsigned i = 0; module != MSR_MODULE_UNKNOWN && module &&
			     !is_left_out(number, module) && i < LEFT_OUT_MODULES;
	     i++) {
		uint32_t none = 0;
		if (atomic_compare_exchange_strong_explicit(&glue.module[number][i], &none, module,
							    memory_order_relaxed,
							    memory_order_relaxed)) {
			atomic_fetch_add_explicit(&glue.n_left_out, 1, memory_order_relaxed);
			return;
		}
	}
}

void gpu_glue_note(const char *text)
{
	runtime_note(text);
	if (process.config.say != CONFIG_VERBOSE)
		return;
	char line[1024];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "hpcrun-lite: ");
	text_put_foreign(&t, text);
	text_put_char(&t, '\n');
	say(&t);
}

static void suspend(void)
{
	n_suspended++;
	if (thread_self)
		sample_keep(thread_self);
}

static void resume(void)
{
	if (!n_suspended)
		return;
	n_suspended--;
	if (thread_self)
		sample_unkeep(thread_self);
}

static void sample_by_timer(unsigned number)
{
	atomic_store_explicit(&glue.has_timer[number], true, memory_order_relaxed);
}

bool gpu_glue_hides_threads(void)
{
	return n_suspended != 0;
}

/* ---- the end ---- */

static bool is_in_signal_handler(void)
{
	struct thread *t = thread_self;
	struct unwind_path walked;
	if (sample_hold(t) != SAMPLE_HELD)
		return true;
	const uint64_t mask = quiet_begin();
	sample_walk_here(t, &walked);
	bool found = unwind_met_signal(t->unwind);
	cct_forget_path(t->cct);
	quiet_end(mask);
	/*
	 * Makes a node only if a sample arrived meanwhile, which is possible even with signals
	 * blocked.
	 */
	sample_release_here(t);
	return found;
}

/*
 * Lets back ends deliver their data, for a limited time. Does nothing if they have already done so,
 * or in a signal handler. In a thread that is not measured, where a handler cannot be detected,
 * does it only if `from_exit`. `may_return`: they are called again later.
 */
static void end_back_ends(bool from_exit, bool may_return)
{
	bool any = false;
	for (unsigned i = 0; i < GPU_MAX_BACKENDS; i++)
		any = any || atomic_load_explicit(&glue.at_end[i], memory_order_relaxed);
	if (!any || !process_is_owner() || (thread_self ? is_in_signal_handler() : !from_exit))
		return;
	int saved_errno = errno;
	uint64_t end_ns = clock_mono_ns() + END_PATIENCE_NS;
	for (unsigned i = 0; i < GPU_MAX_BACKENDS; i++) {
		at_end_fn *fn =
			may_return ? atomic_load_explicit(&glue.at_end[i], memory_order_acquire)
				   : atomic_exchange_explicit(&glue.at_end[i], NULL,
							      memory_order_acquire);
		uint64_t now_ns = clock_mono_ns();
		if (fn)
			fn(now_ns < end_ns ? end_ns - now_ns : 0);
	}
	errno = saved_errno;
}

void gpu_glue_before_end(bool may_return)
{
	end_back_ends(false, may_return);
}

static void on_process_exit(int status, void *unused)
{
	(void)status;
	(void)unused;
	end_back_ends(true, false);
}

static void on_process_quick_exit(void)
{
	end_back_ends(true, false);
}

/*
 * Registers with exit() here and not at the start. Exit functions run in reverse order, and a
 * vendor's library, which is set up by now, must still work when its back end asks it for the
 * remaining records.
 */
static void at_end(unsigned number, at_end_fn *fn)
{
	atomic_store_explicit(&glue.at_end[number], fn, memory_order_release);
	if (!fn || atomic_exchange_explicit(&glue.registered, true, memory_order_relaxed))
		return;
	(void)on_exit(on_process_exit, NULL);
	(void)at_quick_exit(on_process_quick_exit);
}

bool gpu_glue_finish(void)
{
	return !process.config.n_gpus || gpu_finish();
}

void gpu_glue_trim(struct thread *self, enum msr_exit_kind kind)
{
	(void)kind;
	gpu_thread_trim(&self->gpu);
}

/* ---- threads ---- */

void gpu_glue_thread_reset(struct thread *t)
{
	t->gpu = (struct gpu_thread){0};
}

static void at_thread_end(unsigned number, at_thread_end_fn *fn)
{
	atomic_store_explicit(&glue.at_thread_end[number], fn, memory_order_release);
}

void gpu_glue_thread_ends(struct thread *t)
{
	for (unsigned i = 0; i < GPU_MAX_BACKENDS; i++) {
		at_thread_end_fn *fn =
			atomic_load_explicit(&glue.at_thread_end[i], memory_order_acquire);
		if (fn)
			fn();
	}
	gpu_thread_trim(&t->gpu);
}

/* ---- off and on ---- */

static void on_switch(unsigned number, switch_fn *fn)
{
	atomic_store_explicit(&glue.on_switch[number], fn, memory_order_seq_cst);
	if (fn && atomic_load_explicit(&process.off, memory_order_seq_cst))
		fn(false);
}

bool gpu_glue_switch(bool on)
{
	switch_fn *fns[GPU_MAX_BACKENDS];
	bool any = false;
	for (unsigned i = 0; i < GPU_MAX_BACKENDS; i++) {
		fns[i] = atomic_load_explicit(&glue.on_switch[i], memory_order_seq_cst);
		any = any || fns[i];
	}
	if (!any)
		return true;
	if (!thread_self || is_in_signal_handler())
		return false;
	for (unsigned i = 0; i < GPU_MAX_BACKENDS; i++)
		if (fns[i])
			fns[i](on);
	return true;
}

/* ---- start ---- */

void gpu_glue_start(void)
{
	if (!process.config.n_gpus)
		return;
	glue.runtime = (struct gpu_runtime){
		.directory = process.config.directory,
		.cache = process.config.cache,
		.max_record_bytes = process.config.gpu_bytes,
		.is_alive = process_is_alive,
		.begin_launch = begin_launch,
		.end_launch = end_launch,
		.leave_out = leave_out,
		.at_end = at_end,
		.at_thread_end = at_thread_end,
		.is_off = &process.off,
		.on_switch = on_switch,
		.note = gpu_glue_note,
		.suspend = suspend,
		.resume = resume,
		.sample_by_timer = sample_by_timer,
	};
	gpu_start(&glue.runtime);
}

void gpu_glue_forked(void)
{
	if (!process.config.n_gpus)
		return;
	for (unsigned i = 0; i < GPU_MAX_BACKENDS; i++) {
		atomic_store_explicit(&glue.at_end[i], NULL, memory_order_relaxed);
		atomic_store_explicit(&glue.on_switch[i], NULL, memory_order_relaxed);
	}
	atomic_store_explicit(&glue.registered, false, memory_order_relaxed);
	gpu_forked();
}
