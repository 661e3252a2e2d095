/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads and turns; see player.h. All waits have a limit, because the back end may have a bug.
 * Test: tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/replay/player.h"

#include "common/base/log.h"
#include "common/safe/clock.h"
#include "common/safe/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * A turn takes microseconds. If it takes this long, its thread waits for something that never
 * comes.
 */
#define TURN_NS UINT64_C(5000000000)
/* ... unless the thread is using a processor. Then the turn may take this many times as long. */
#define MOST_TURNS 24u
#define MAX_STUCK 3u
#define STACK_BYTES ((size_t)256 << 10)
#define MAX_YIELDING 16u
#define YIELDS (TAPE_NONE - 1)  /* in place of an event */

struct player player;
struct replay_seam replay_seam;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_over;
static __thread struct player_thread *self;

struct player_thread *player_self(void)
{
	return self;
}

/* ---- in the threads ---- */

/* Gives the turn away, waits for a command and returns it. The caller holds the lock. */
static uint32_t rest(struct player_thread *t, uint32_t call)
{
	t->waits_for = call;
	t->is_idle = true;
	pthread_cond_signal(&turn_over);
	while (t->command == TAPE_NONE && !t->must_end)
		pthread_cond_wait(&t->wake, &lock);
	uint32_t command = t->command;
	t->command = TAPE_NONE;
	t->is_idle = false;
	return command;
}

/* Carries out commands until the command is `call`. */
bool player_wait(struct player_thread *t, uint32_t call)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		uint32_t command = rest(t, call);
		pthread_mutex_unlock(&lock);
		if (command == TAPE_NONE)
			return false;
		if (command == call)
			return true;
		enter_do(t, command);
	}
}

static struct player_thread *yielding[MAX_YIELDING];
static bool is_at_end;

bool player_yield(struct player_thread *t)
{
	uint32_t command = TAPE_NONE;
	do {
		if (command != TAPE_NONE)
			enter_do(t, command);
		pthread_mutex_lock(&lock);
		unsigned i = 0;
		while (i < MAX_YIELDING && yielding[i])
			i++;
		command = TAPE_NONE;
		if (i < MAX_YIELDING && !is_at_end) {
			yielding[i] = t;
			command = rest(t, YIELDS);
			yielding[i] = NULL;
		}
		bool is_over = is_at_end;
		pthread_mutex_unlock(&lock);
		if (is_over)
			return false;
	} while (command != TAPE_NONE && command != YIELDS);
	return command == YIELDS;
}

static void *thread_main(void *arg)
{
	struct player_thread *t = arg;
	struct player_frame below = {.enter = TAPE_NONE,
				     .cursor = player.tape.stream[t->stream].first,
				     .now_cursor = player.tape.stream[t->stream].first};
	self = t;
	t->frame = &below;
	pthread_mutex_lock(&lock);
	t->tid = sys_gettid();
	pthread_mutex_unlock(&lock);
	player_wait(t, TAPE_NONE);
	pthread_mutex_lock(&lock);
	t->is_done = true;
	pthread_cond_signal(&turn_over);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* ---- turns ---- */

/*
 * Returns true if the thread runs, or waits for a processor or a disk. False if it waits for
 * another thread.
 */
static bool is_running(const struct player_thread *t)
{
	char path[64], line[512] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", t->tid);
	FILE *in = t->tid ? fopen(path, "re") : NULL;
	const char *behind_name = in && fgets(line, sizeof line, in) ? strrchr(line, ')') : NULL;
	if (in)
		fclose(in);
	return !t->tid || (behind_name && (behind_name[2] == 'R' || behind_name[2] == 'D'));
}

/* Returns false if the thread is still busy. The caller holds the lock. */
static bool wait_until_idle(struct player_thread *t)
{
	for (unsigned i = 0; i < MOST_TURNS && !t->is_idle && !t->is_done; i++) {
		uint64_t until_ns = clock_mono_ns() + TURN_NS;
		const struct timespec until = {(time_t)(until_ns / 1000000000u),
					       (long)(until_ns % 1000000000u)};
		while (!t->is_idle && !t->is_done)
			if (pthread_cond_timedwait(&turn_over, &lock, &until) != 0)
				break;
		if (!t->is_idle && !t->is_done && !is_running(t))
			break;
	}
	return t->is_idle || t->is_done;
}

static bool start_thread(struct player_thread *t)
{
	pthread_attr_t attributes;
	if (pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_cond_init(&t->wake, NULL);
	t->command = t->waits_for = TAPE_NONE;
	t->is_there = pthread_create(&t->thread, &attributes, thread_main, t) == 0;
	pthread_attr_destroy(&attributes);
	return t->is_there;
}

/*
 * Ends the thread after its last event, if it is not in a call. In a damaged recording the thread
 * may never have started.
 */
static void end_thread(struct player_thread *t)
{
	if (!t->is_there)
		return;
	pthread_mutex_lock(&lock);
	bool is_free =
		wait_until_idle(t) && t->waits_for == TAPE_NONE && t->frame && !t->frame->outer;
	if (is_free) {
		t->must_end = true;
		pthread_cond_signal(&t->wake);
	}
	pthread_mutex_unlock(&lock);
	if (is_free)
		pthread_join(t->thread, NULL);
}

static enum status stuck(uint32_t n)
{
	log_warn(NULL,
		 "the back end does not come back from event %u of %u; the replay goes on without "
		 "it",
		 n, player.tape.n_events);
	return ++player.n_stuck < MAX_STUCK ? STATUS_OK : STATUS_IO;
}

/* Gives the turn back to the threads that yielded it for one event. */
static enum status end_yields(void)
{
	enum status status = STATUS_OK;
	for (unsigned i = 0; i < MAX_YIELDING; i++) {
		struct player_thread *t = yielding[i];
		if (!t)
			continue;
		pthread_mutex_lock(&lock);
		t->command = YIELDS;
		t->is_idle = false;
		pthread_cond_signal(&t->wake);
		bool good = wait_until_idle(t);
		pthread_mutex_unlock(&lock);
		status = good ? status : stuck(0);
	}
	return status;
}

/* The caller holds the lock. */
static bool has_turn(const struct player_thread *t, uint32_t n)
{
	return player.tape.event[n].head->type == RECORDING_ENTER || t->waits_for == n;
}

static enum status turn(uint32_t n)
{
	struct player_thread *t = &player.threads[player.tape.event[n].stream];
	player.is_played[n] = true;
	if (t->is_done || (!t->is_there && player.tape.event[n].head->type != RECORDING_ENTER))
		return STATUS_OK;
	if (!t->is_there && !start_thread(t)) {
		log_error(NULL, "a thread could not be started");
		return STATUS_NO_MEMORY;
	}
	pthread_mutex_lock(&lock);
	bool good = wait_until_idle(t);
	if (good && !t->is_done && has_turn(t, n)) {
		t->command = n;
		t->is_idle = false;
		pthread_cond_signal(&t->wake);
		good = wait_until_idle(t);
	}
	pthread_mutex_unlock(&lock);
	return good ? STATUS_OK : stuck(n);
}

/* ---- all of it ---- */

/* With --speed: waits until the time of the event. */
static void pace(uint32_t n, uint64_t begun_ns)
{
	uint64_t first_ns = player.tape.event[0].head->time_ns,
		 then_ns = player.tape.event[n].head->time_ns;
	if (player.speed <= 0 || then_ns <= first_ns)
		return;
	uint64_t at_ns = begun_ns + (uint64_t)((double)(then_ns - first_ns) / player.speed);
	const struct timespec until = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static bool is_yielding(const struct player_thread *t)
{
	for (unsigned i = 0; i < MAX_YIELDING; i++)
		if (yielding[i] == t)
			return true;
	return false;
}

/*
 * Returns the next event, and moves it to plan[i]. If a thread waits for a lock, events of other
 * threads come first, because one of them has the lock. If all threads wait, the plan decides.
 */
static uint32_t choose_event(uint32_t i)
{
	uint32_t *plan = player.plan, k = i;
	while (k < player.n_plan && is_yielding(&player.threads[player.tape.event[plan[k]].stream]))
		k++;
	if (k == i || k == player.n_plan)
		return plan[i];
	uint32_t n = plan[k];
	memmove(plan + i + 1, plan + i, (k - i) * sizeof *plan);
	return plan[i] = n;
}

void player_end(void)
{
	static struct player_thread t;
	static struct player_frame below = {
		.enter = TAPE_NONE, .cursor = TAPE_NONE, .now_cursor = TAPE_NONE};
	t.frame = &below;
	t.virtual_ns = player.tape.event[player.tape.n_events - 1].head->time_ns;
	self = &t;
	if (player.at_end)
		player.at_end(0);
	self = NULL;
}

enum status player_run(void)
{
	pthread_condattr_t monotonic;
	uint64_t begun_ns = clock_mono_ns();
	enum status status = STATUS_OK;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&turn_over, &monotonic);
	for (uint32_t i = 0; status == STATUS_OK && i < player.n_plan; i++) {
		uint32_t n = choose_event(i);
		pace(n, begun_ns);
		status = turn(n);
		if (status == STATUS_OK)
			status = end_yields();
		if (player.tape.event[n].next == TAPE_NONE)
			end_thread(&player.threads[player.tape.event[n].stream]);
	}
	is_at_end = true;
	if (status == STATUS_OK)
		status = end_yields();
	if (status != STATUS_OK)
		log_error(NULL, "the replay does not get on");
	return status;
}
