/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See comm_threads.h. Each pair of parts has one place for a message under way. A part that sends
 * puts its message there and waits until it has been taken. Test:
 * tests/unit/prof_parts/test_comm.c.
 */
#include "hpcprof-lite/parts/comm_threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct message {
	const void *bytes;
	size_t n;
	bool is_there;
};

struct team {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct message *messages; /* by sender, then receiver */
	int n;
};

struct member {
	struct team *team;
	struct comm comm;
	void (*work)(struct comm *c, void *arg);
	void *arg;
	pthread_t thread;
};

static struct message *place(struct team *t, int from, int to)
{
	return &t->messages[(size_t)from * (size_t)t->n + (size_t)to];
}

static void swap(void *own, int to, const void *out, size_t n_out, int from, void *in, size_t n_in)
{
	const struct member *me = own;
	struct team *t = me->team;
	struct message *sent = NULL;
	pthread_mutex_lock(&t->lock);
	if (to != COMM_NOBODY && n_out) {
		sent = place(t, me->comm.part, to);
		*sent = (struct message){out, n_out, true};
	}
	if (from != COMM_NOBODY && n_in) {
		struct message *m = place(t, from, me->comm.part);
		pthread_cond_broadcast(&t->changed);
		while (!m->is_there)
			pthread_cond_wait(&t->changed, &t->lock);
		if (m->n != n_in)
			abort(); /* the parts do not agree: a mistake in the caller */
		memcpy(in, m->bytes, n_in);
		m->is_there = false;
	}
	pthread_cond_broadcast(&t->changed);
	while (sent && sent->is_there)
		pthread_cond_wait(&t->changed, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

static void *run(void *arg)
{
	struct member *me = arg;
	me->work(&me->comm, me->arg);
	return NULL;
}

static bool start_all(struct team *t, struct member *members,
		      void (*work)(struct comm *c, void *arg), void *arg)
{
	static const struct comm_ops ops = {swap};
	int n = 0;
	for (; n < t->n; n++) {
		members[n] = (struct member){
			.team = t,
			.comm = {.ops = &ops, .own = &members[n], .part = n, .n_parts = t->n},
			.work = work,
			.arg = arg};
		if (pthread_create(&members[n].thread, NULL, run, &members[n]) != 0)
			abort(); /* the parts that already run would wait for it */
	}
	for (int i = 0; i < n; i++)
		pthread_join(members[i].thread, NULL);
	return true;
}

bool comm_threads_run(int n, void (*work)(struct comm *c, void *arg), void *arg)
{
	struct team t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
			 calloc((size_t)n * (size_t)n, sizeof *t.messages), n};
	struct member *members = calloc((size_t)n, sizeof *members);
	bool ok = t.messages && members && start_all(&t, members, work, arg);
	free(members);
	free(t.messages);
	return ok;
}
