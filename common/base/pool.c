/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel loop; see pool.h. Holds no threads between calls.
 * Test: tests/unit/common/test_base.c. */
#include "common/base/pool.h"

#include "common/base/log.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct loop {
	void (*work)(void *, size_t, unsigned);
	void *arg;
	size_t n;
	atomic_size_t next;
	atomic_uint next_worker;
};

unsigned pool_n_cpus(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return n > 0 ? (unsigned)n : 1;
}

static void *run(void *p)
{
	struct loop *l = p;
	unsigned worker = atomic_fetch_add(&l->next_worker, 1);
	for (size_t i; (i = atomic_fetch_add(&l->next, 1)) < l->n;)
		l->work(l->arg, i, worker);
	return NULL;
}

unsigned pool_run(size_t n, unsigned n_workers, void (*work)(void *arg, size_t i, unsigned worker),
		  void *arg)
{
	struct loop l = {.work = work, .arg = arg, .n = n};
	if (n_workers == 0)
		n_workers = pool_n_cpus();
	if (n_workers > n)
		n_workers = n ? (unsigned)n : 1;
	pthread_t *threads = n_workers > 1 ? calloc(n_workers - 1, sizeof *threads) : NULL;
	unsigned n_threads = 0;
	while (threads && n_threads < n_workers - 1 &&
	       pthread_create(&threads[n_threads], NULL, run, &l) == 0)
		n_threads++;
	run(&l);
	for (unsigned i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return n_threads + 1;
}

struct shown {
	void (*work)(void *, size_t, unsigned);
	void *arg;
	const char *label;
	size_t n;
	atomic_size_t n_done;
};

static void run_shown(void *arg, size_t i, unsigned worker)
{
	struct shown *s = arg;
	s->work(s->arg, i, worker);
	log_progress(s->label, atomic_fetch_add(&s->n_done, 1) + 1, s->n);
}

unsigned pool_run_shown(const char *label, size_t n, unsigned n_workers,
			void (*work)(void *arg, size_t i, unsigned worker), void *arg)
{
	struct shown s = {.work = work, .arg = arg, .label = label, .n = n};
	unsigned n_used = pool_run(n, n_workers, run_shown, &s);
	log_progress(NULL, 0, 0);
	return n_used;
}
