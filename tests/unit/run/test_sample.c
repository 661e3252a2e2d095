/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/runtime/sample on a thread made here: what arrives while the thread is
 * inside the tool is held back, or counted and its weight given to the next sample; no weight is
 * lost. The tree is a fake that sums up, and in which more may arrive.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/code/jit_code.h"
#include "hpcrun-lite/runtime/code/unload.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/sample/sample_entry.h"
#include "hpcrun-lite/runtime/waits/blame.h"
#include "hpcrun-lite/runtime/waits/wait_object.h"
#include "hpcrun-lite/runtime/watch.h"
#include "hpcrun-lite/store/store.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define METRICS 3u

struct process process;
__thread struct thread *thread_self;

static _Atomic uint32_t alive = 1;
static struct msr_thread file_record;
static struct thread thread;
static uint64_t given[METRICS], in_tree[METRICS], n_in_tree;
static unsigned arrive_in_tree; /* so many samples arrive while one is being recorded */
static bool tree_is_full;
static enum { NEVER, AT_INSERT, AT_ADD } file_is_busy; /* another thread makes the file grow */
static unsigned n_followed;

/* ---- fakes ---- */

static void arrive(uint32_t metric, uint64_t weight)
{
	ucontext_t context;
	memset(&context, 0, sizeof context);
	given[metric] += weight;
	sample_from_source(&(struct source_expiry){.metric = metric, .weight = weight}, &context);
}

const char source_look;

void thread_make_tree(struct thread *t)
{
	t->cct = (struct cct *)&n_in_tree; /* not looked at */
}

void watch_after_sample(const struct thread *t, uint64_t now_ns)
{
	(void)t;
	(void)now_ns;
}

void watch_expired(const struct thread *t, bool found)
{
	(void)t;
	(void)found;
}

static void restart_wait(ucontext_t *context)
{
	(void)context;
}

const struct runtime_hooks runtime_hooks = {.restart_wait = restart_wait};

bool file_fault_open(void)
{
	return false;
}

void file_fault_close(bool opened)
{
	(void)opened;
}

bool signal_table_install(int sig, void (*handler)(int, siginfo_t *, void *), unsigned long flags,
			  uint64_t mask)
{
	(void)sig;
	(void)handler;
	(void)flags;
	(void)mask;
	return true;
}

bool signal_table_calls(int sig, void (*handler)(int, siginfo_t *, void *))
{
	(void)sig;
	(void)handler;
	return true;
}

uint64_t signal_table_block_own(void)
{
	return 0;
}

uint64_t signal_table_mask(int how, uint64_t bits)
{
	(void)how;
	return bits;
}

void runtime_note(const char *text)
{
	(void)text;
}

bool thread_is_expiry(const siginfo_t *info)
{
	(void)info;
	return true;
}

bool cct_add(struct cct *tree, uint32_t node, uint32_t metric, uint64_t count, uint64_t sum,
	     enum msr_loss *cause)
{
	(void)tree;
	(void)node;
	for (; arrive_in_tree; arrive_in_tree--)
		arrive(arrive_in_tree % METRICS, 1000 + arrive_in_tree);
	if (tree_is_full || file_is_busy == AT_ADD) {
		*cause = tree_is_full ? MSR_LOSS_NO_SPACE : MSR_LOSS_BUSY;
		return false;
	}
	n_in_tree += count;
	in_tree[metric] += sum;
	return true;
}

bool nvtx_sums_enter(const struct nvtx_thread *t, struct cct *tree, uint32_t *node,
		     enum msr_loss *cause)
{
	(void)t;
	(void)tree;
	(void)node;
	(void)cause;
	return true;
}

bool cct_insert(struct cct *tree, const struct cct_path *path, uint32_t *node, enum msr_loss *cause)
{
	(void)tree;
	(void)path;
	*cause = MSR_LOSS_BUSY;
	*node = 1;
	return file_is_busy != AT_INSERT;
}

bool cct_child(struct cct *tree, uint32_t parent, msr_addr addr, uint32_t *node,
	       enum msr_loss *cause)
{
	(void)tree;
	(void)addr;
	(void)cause;
	*node = parent + 1;
	return true;
}

uint32_t wait_object_of(enum source_object object, uint64_t object_id)
{
	(void)object;
	(void)object_id;
	return 0;
}

bool blame_take(struct thread *t, struct source_expiry *expiry)
{
	(void)t;
	(void)expiry;
	return false;
}

bool cct_trace(struct cct *tree, uint32_t node, uint32_t metric, uint64_t now_ns,
	       enum msr_loss *cause)
{
	(void)tree;
	(void)node;
	(void)metric;
	(void)now_ns;
	(void)cause;
	return true;
}

void unwind_walk(struct unwind_thread *t, const ucontext_t *context, struct unwind_path *path)
{
	(void)t;
	(void)context;
	memset(path, 0, sizeof *path);
}

void unwind_walk_regs(struct unwind_thread *t, const struct unwind_regs *regs,
		      struct unwind_path *path)
{
	(void)t;
	(void)regs;
	memset(path, 0, sizeof *path);
}

void python_splice(struct python_thread *t, const struct unwind_thread *unwind,
		   const struct unwind_path *walked, uint32_t n_inner, bool at_call,
		   const struct python_cuts *cuts, const struct python_place *other,
		   struct python_path *path)
{
	(void)t;
	(void)other;
	(void)cuts;
	(void)unwind;
	(void)walked;
	(void)n_inner;
	(void)at_call;
	memset(path, 0, sizeof *path);
}

bool python_is_there(void)
{
	return false;
}

void thread_make_python(struct thread *t)
{
	(void)t;
}

bool region_path_plan(struct region_thread *t, const struct unwind_thread *own,
		      const struct unwind_path *walked, struct region_plan *plan)
{
	(void)t;
	(void)own;
	(void)walked;
	(void)plan;
	return false;
}

void region_path_make(struct region_thread *t, const struct region_plan *plan,
		      struct region_path *path)
{
	(void)t;
	(void)plan;
	(void)path;
}

void region_sums_write(struct region_thread *t, struct msr_thread *own)
{
	(void)t;
	(void)own;
}

void jit_look_at(const uint64_t *addr, uint32_t n)
{
	(void)addr;
	(void)n;
}

void unwind_here(struct unwind_regs *regs)
{
	memset(regs, 0, sizeof *regs);
}

void sample_entry(int sig, siginfo_t *info, void *context)
{
	sample_on_signal(sig, info, context);
}

void sample_entry_start(bool is_split)
{
	(void)is_split;
}

void sample_entry_give_room(const struct thread *t, void (*fn)(void *), void *argument)
{
	(void)t;
	fn(argument);
}

void unload_stay(const struct thread *t, ucontext_t *context)
{
	(void)t;
	(void)context;
}

void module_own_range(uintptr_t *low, uintptr_t *high)
{
	*low = *high = 0;
}

void thread_found(const ucontext_t *context, bool joins)
{
	(void)context;
	(void)joins;
}

bool unwind_is_go(uintptr_t pc)
{
	(void)pc;
	return false;
}

bool unwind_find_return(struct unwind_thread *t, const ucontext_t *context, uint64_t pc,
			uintptr_t *at)
{
	(void)t;
	(void)context;
	(void)pc;
	(void)at;
	return false;
}

void runtime_count_loss(enum msr_loss cause)
{
	fail_msg("lost: %s", msr_loss_name(cause));
}

void store_count_loss(enum msr_loss cause)
{
	fail_msg("lost: %s", msr_loss_name(cause));
}

void thread_follow(struct thread *t)
{
	assert_int_equal(t->in_handler, 1);
	t->off.is_off = process.off;
	n_followed++;
}

bool thread_is_armed(const struct thread *t)
{
	(void)t;
	return false;
}

void thread_send(struct thread *t)
{
	(void)t;
}

bool thread_sent(const siginfo_t *info)
{
	(void)info;
	return false;
}

/* Nobody attaches. */
bool thread_is_join(const siginfo_t *info)
{
	(void)info;
	return false;
}

void thread_on_join(const siginfo_t *info, ucontext_t *context)
{
	(void)info, (void)context;
}

bool thread_may_leave(void)
{
	return false;
}

void thread_leaves(struct thread *t, ucontext_t *context)
{
	(void)t, (void)context;
}

/* ---- tests ---- */

static int setup(void **state)
{
	(void)state;
	memset(&thread, 0, sizeof thread);
	memset(&file_record, 0, sizeof file_record);
	memset(given, 0, sizeof given);
	memset(in_tree, 0, sizeof in_tree);
	n_in_tree = 0;
	arrive_in_tree = 0;
	tree_is_full = false;
	file_is_busy = NEVER;
	n_followed = 0;
	process.off = false;
	process.measuring = true;
	process.alive = &alive;
	thread.record = &file_record;
	thread_self = &thread;
	return 0;
}

static void all_weight_is_in_the_tree(void)
{
	for (uint32_t m = 0; m < METRICS; m++)
		assert_int_equal(in_tree[m], given[m]);
	assert_int_equal(file_record.recorded, n_in_tree);
	assert_int_equal(file_record.delivered,
			 file_record.recorded + file_record.losses[MSR_LOSS_BUSY]);
}

static const struct unwind_path nowhere;
static const struct sample_place place = {.has_node = true, .node = 1, .walked = &nowhere};

static void outside(void **state)
{
	(void)state;
	arrive(0, 10);
	arrive(2, 20);
	all_weight_is_in_the_tree();
	assert_int_equal(n_in_tree, 2);
}

static void held_back(void **state)
{
	(void)state;
	assert_int_equal(sample_hold(&thread), SAMPLE_HELD);
	for (unsigned i = 0; i < 100; i++)
		arrive(i % METRICS, 1 + i);
	assert_int_equal(n_in_tree, 0);
	sample_release(&thread, &place);
	all_weight_is_in_the_tree();
	assert_int_equal(n_in_tree, METRICS);
	assert_int_equal(file_record.losses[MSR_LOSS_BUSY], 0);
	assert_int_equal(file_record.losses[MSR_LOSS_COALESCED], 97);
}

/* While those held back are being recorded more arrive than can be remembered. */
static void more_than_can_be_held(void **state)
{
	(void)state;
	assert_int_equal(sample_hold(&thread), SAMPLE_HELD);
	arrive(1, 5);
	arrive_in_tree = SAMPLE_MAX_HELD + 7;
	sample_release(&thread, &place);
	assert_int_equal(file_record.losses[MSR_LOSS_BUSY], 8);
	for (uint32_t m = 0; m < METRICS; m++)
		arrive(m, 1);
	all_weight_is_in_the_tree();
}

/* PAPI's signal within our handler. */
static void busy(void **state)
{
	(void)state;
	arrive_in_tree = 4;
	arrive(0, 50);
	assert_int_equal(file_record.losses[MSR_LOSS_BUSY], 4);
	for (uint32_t m = 0; m < METRICS; m++)
		arrive(m, 1);
	all_weight_is_in_the_tree();
}

/* The weight of a sample that finds the file busy goes to the next one of its metric. */
static void file_busy(void **state)
{
	const struct sample_place busy_place = {.cause = MSR_LOSS_BUSY, .walked = &nowhere};
	(void)state;
	file_is_busy = AT_INSERT;
	arrive(0, 50);
	file_is_busy = AT_ADD;
	arrive(1, 60);
	arrive(1, 70);
	file_is_busy = NEVER;
	assert_int_equal(sample_hold(&thread), SAMPLE_HELD);
	arrive(2, 80);
	sample_release(&thread, &busy_place);
	assert_int_equal(n_in_tree, 0);
	assert_int_equal(file_record.losses[MSR_LOSS_BUSY], 4);
	for (uint32_t m = 0; m < METRICS; m++)
		arrive(m, 1);
	all_weight_is_in_the_tree();
}

/* What a sample that could not be recorded was to carry beside its own weight stays for the
 * next. */
static void full(void **state)
{
	(void)state;
	arrive_in_tree = 1;
	arrive(0, 50); /* carries 1001 of metric 1 */
	tree_is_full = true;
	arrive(1, 7);
	tree_is_full = false;
	arrive(1, 8);
	assert_int_equal(file_record.losses[MSR_LOSS_NO_SPACE], 1);
	assert_int_equal(in_tree[1], 1001 + 8);
}

/* The program has stopped the measurement: what arrives is nowhere. */
static void off(void **state)
{
	(void)state;
	arrive(0, 10);
	process.off = true;
	sample_follow(&thread);
	assert_int_equal(n_followed, 1);
	sample_catch_up(&thread);
	assert_int_equal(n_followed, 1);
	given[0] -= 3;
	arrive(0, 3);
	assert_int_equal(n_in_tree, 1);
	process.off = false;
	sample_catch_up(&thread);
	assert_int_equal(n_followed, 2);
	arrive(0, 4);
	all_weight_is_in_the_tree();
	assert_int_equal(n_in_tree, 2);
}

/* Stopped by a signal handler of the program's that came while the thread was inside: it follows
 * when it comes out, and what had arrived before is recorded. */
static void off_while_inside(void **state)
{
	(void)state;
	assert_int_equal(sample_hold(&thread), SAMPLE_HELD);
	arrive(1, 5);
	process.off = true;
	sample_follow(&thread);
	assert_int_equal(n_followed, 0);
	assert_int_equal(n_in_tree, 0);
	sample_release(&thread, &place);
	assert_int_equal(n_followed, 1);
	all_weight_is_in_the_tree();
	process.off = false;
	sample_keep(&thread);
	sample_follow(
		&thread); /* between the tool's own work and a back end's: its tree is nobody's */
	assert_int_equal(n_followed, 2);
	thread.sample.suspended = 1;
	process.off = true;
	sample_follow(&thread);
	assert_int_equal(n_followed, 2);
	thread.sample.suspended = 0;
	sample_unkeep(&thread);
	assert_int_equal(n_followed, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(outside, setup),
		cmocka_unit_test_setup(held_back, setup),
		cmocka_unit_test_setup(more_than_can_be_held, setup),
		cmocka_unit_test_setup(busy, setup),
		cmocka_unit_test_setup(file_busy, setup),
		cmocka_unit_test_setup(full, setup),
		cmocka_unit_test_setup(off, setup),
		cmocka_unit_test_setup(off_while_inside, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
