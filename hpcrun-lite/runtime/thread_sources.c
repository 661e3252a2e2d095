/* SPDX-License-Identifier: BSD-3-Clause */
/* See thread_sources.h. Must not call malloc. Test: tests/cli/run/run_threads.sh. */
#include "hpcrun-lite/runtime/thread_sources.h"

#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/store/store.h"

static size_t state_at[THREAD_MAX_SOURCES]; /* in the block of a thread */

size_t thread_sources_place(size_t at)
{
	for (unsigned i = 0; i < process.n_sources; i++) {
		const struct process_source *s = &process.source[i];
		state_at[i] = at;
		at += (s->ops->thread_bytes(s->n_events) + 63) & ~(size_t)63;
	}
	return at;
}

void thread_sources_reset(struct thread *t)
{
	for (unsigned i = 0; i < process.n_sources; i++) {
		t->sources.state[i] = (uint8_t *)t + state_at[i];
		t->sources.is_on[i] = false;
	}
}

void thread_sources_forked(struct thread *t)
{
	for (unsigned i = 0; i < process.n_sources; i++) {
		process.source[i].ops->thread_forked(t->sources.state[i]);
		t->sources.is_on[i] = false;
	}
}

static void start_source(struct thread *t, unsigned i)
{
	const struct source_ops *ops = process.source[i].ops;
	t->sources.is_on[i] = ops->thread_start(t->sources.state[i], t->record);
	if (!t->sources.is_on[i])
		store_count_loss(MSR_LOSS_THREAD_SETUP);
}

/*
 * While measurement is off, prepares sources that cannot be started in a handler. Blocks our
 * signal, because its handler may also start or stop sources.
 */
void thread_sources_start(struct thread *t)
{
	signal_table_block_own();
	for (unsigned i = 0; i < process.n_sources; i++) {
		const struct source_ops *ops = process.source[i].ops;
		if (t->sources.is_on[i] || (t->off.is_off && !ops->thread_rest))
			continue;
		/* these cannot be started in a handler, which found the thread */
		if (ops->thread_rest && t->record->flags & MSR_THREAD_FOUND)
			continue;
		start_source(t, i);
		if (t->sources.is_on[i] && t->off.is_off)
			ops->thread_rest(t->sources.state[i], true);
	}
	if (t->watch.is_watcher && !t->off.is_off)
		watch_start();
	signal_table_mask(SIG_UNBLOCK, signal_bit(RUNTIME_SIGNAL));
}

void thread_sources_stop(struct thread *t)
{
	if (t->watch.is_watcher)
		watch_stop();
	for (unsigned i = 0; i < process.n_sources; i++)
		if (t->sources.is_on[i]) {
			process.source[i].ops->thread_stop(t->sources.state[i]);
			t->sources.is_on[i] = false;
		}
}

void thread_sources_rest(struct thread *t, bool rests)
{
	if (t->watch.is_watcher) {
		watch_stop();
		if (!rests)
			watch_start();
	}
	for (unsigned i = 0; i < process.n_sources; i++) {
		const struct source_ops *ops = process.source[i].ops;
		if (ops->thread_rest) {
			if (t->sources.is_on[i] && !ops->thread_rest(t->sources.state[i], rests))
				store_count_loss(MSR_LOSS_THREAD_SETUP);
		} else if (!rests && !t->sources.is_on[i]) {
			start_source(t, i);
		} else if (rests && t->sources.is_on[i]) {
			t->sources.is_on[i] = false;
			ops->thread_stop(t->sources.state[i]);
		}
	}
}

void runtime_rest(bool rests)
{
	struct thread *t = thread_self;
	if (t && process_is_alive() && !atomic_load_explicit(&t->off.is_off, memory_order_relaxed))
		thread_sources_rest(t, rests);
}

void thread_sources_launch(struct thread *t)
{
	for (unsigned i = 0; i < process.n_sources; i++)
		if (process.source[i].ops->thread_launches && t->sources.is_on[i])
			process.source[i].ops->thread_launches(t->sources.state[i]);
}

bool thread_is_armed(const struct thread *t)
{
	for (unsigned i = 0; i < process.n_sources; i++)
		if (t->sources.is_on[i] && !process.source[i].ops->thread_rest)
			return true;
	return false;
}
