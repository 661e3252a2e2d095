/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_join DIR merges the trees of a measurement as ranks of a parallel job would: each rank
 * those of its files, then rank i joins the tree of rank i + 1, then of i + 2, i + 4, and so on.
 * Ranks run one after another here. A row for each number of ranks, in ms of CPU time: the slowest
 * rank, the slowest pair of each step added up, and the work of all. "sent" is what the receivers
 * of the slowest pairs got and sent back. Asserts nothing.
 */
#include "common/base/log.h"
#include "hpcprof-lite/attribute/merge.h"
#include "hpcprof-lite/attribute/merge_modules.h"
#include "hpcprof-lite/load/load_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_RANKS = 1024 };

struct rank {
	struct merge_tree tree;
	uint32_t
		*to_node; /* by node: that of the tree which it was joined with; the whole's then */
	size_t n_nodes;
};

struct job {
	struct load_job files;
	uint32_t **module_of; /* by file */
	struct rank ranks[MOST_RANKS];
	size_t n_ranks;
};

/* What ranks do at the same time costs as much as the slowest; all of it is work. */
struct cost {
	double longest_ms, work_ms, sent_mib;
};

static void *need(void *memory)
{
	if (memory)
		return memory;
	log_error(NULL, "out of memory");
	exit(1);
}

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void spend(struct cost *c, double ms, double mib)
{
	c->work_ms += ms;
	if (ms <= c->longest_ms)
		return;
	c->longest_ms = ms;
	c->sent_mib = mib;
}

static void add(struct cost *to, struct cost step)
{
	to->longest_ms += step.longest_ms;
	to->work_ms += step.work_ms;
	to->sent_mib += step.sent_mib;
}

static void unify_modules(struct job *j)
{
	static struct merge_modules all;
	j->module_of = need(calloc(j->files.files.n, sizeof *j->module_of));
	for (size_t i = 0; i < j->files.files.n; i++) {
		const struct load_file *f = &j->files.files.at[i];
		j->module_of[i] = need(calloc(f->modules.n + 1, sizeof **j->module_of));
		for (size_t k = 0; k < f->modules.n; k++)
			if (f->modules.at[k].record)
				j->module_of[i][k] = merge_add_module(&all, &f->modules.at[k]);
	}
}

/* The rank's share of the files are neighbours. */
static void merge_own(struct job *j, size_t r)
{
	static const struct merge_names none;
	const size_t n = j->files.files.n;
	struct merge_tree *t = &j->ranks[r].tree;
	bool ok = merge_init(t);
	for (size_t i = r * n / j->n_ranks; ok && i < (r + 1) * n / j->n_ranks; i++) {
		struct load_file *f = &j->files.files.at[i];
		for (size_t k = 0; ok && k < f->threads.n; k++)
			ok = merge_thread(t, &f->threads.at[k], j->module_of[i], &none);
	}
	need(ok ? t : NULL);
	j->ranks[r].n_nodes = t->nodes.n;
}

static struct cost merge_all_own(struct job *j)
{
	struct cost c = {0};
	for (size_t r = 0; r < j->n_ranks; r++) {
		const double start = now_ms();
		merge_own(j, r);
		spend(&c, now_ms() - start, 0);
	}
	return c;
}

static struct cost join_pairs(struct job *j, size_t distance)
{
	struct cost c = {0};
	for (size_t r = 0; r + distance < j->n_ranks; r += 2 * distance) {
		struct rank *from = &j->ranks[r + distance];
		const double start = now_ms();
		from->n_nodes = from->tree.nodes.n;
		from->to_node = need(malloc(from->n_nodes * sizeof *from->to_node));
		if (!merge_trees(&j->ranks[r].tree, &from->tree, from->to_node))
			need(NULL);
		spend(&c, now_ms() - start,
		      (double)(from->n_nodes * sizeof *from->tree.nodes.at) / (1 << 20));
		merge_free(&from->tree);
		from->tree = (struct merge_tree){0};
	}
	return c;
}

/* Ranks learn which nodes of the whole tree their nodes are, the last that were joined first. */
static struct cost tell_pairs(struct job *j, size_t distance)
{
	struct cost c = {0};
	for (size_t r = 0; r + distance < j->n_ranks; r += 2 * distance) {
		struct rank *from = &j->ranks[r + distance];
		const uint32_t *to_whole = j->ranks[r].to_node; /* NULL: this has the whole tree */
		const double start = now_ms();
		for (size_t i = 0; to_whole && i < from->n_nodes; i++)
			from->to_node[i] = to_whole[from->to_node[i]];
		spend(&c, now_ms() - start,
		      (double)(from->n_nodes * sizeof *from->to_node) / (1 << 20));
	}
	return c;
}

static void run(struct job *j, size_t n_ranks)
{
	struct cost joins = {0}, tells = {0};
	size_t distance = 1;
	j->n_ranks = n_ranks;
	const struct cost own = merge_all_own(j);
	for (; distance < n_ranks; distance *= 2)
		add(&joins, join_pairs(j, distance));
	while (distance /= 2)
		add(&tells, tell_pairs(j, distance));
	printf("| %zu | %zu | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", n_ranks,
	       j->ranks[0].tree.nodes.n, own.longest_ms, joins.longest_ms, tells.longest_ms,
	       own.longest_ms + joins.longest_ms + tells.longest_ms,
	       own.work_ms + joins.work_ms + tells.work_ms, joins.sent_mib + tells.sent_mib);
	for (size_t r = 0; r < n_ranks; r++) {
		merge_free(&j->ranks[r].tree);
		free(j->ranks[r].to_node);
		j->ranks[r] = (struct rank){0};
	}
}

int main(int argc, char **argv)
{
	static struct job j;
	if (argc != 2 || load_job_open(argv + 1, 1, 1, &j.files) != STATUS_OK) {
		fprintf(stderr, "usage: bench_join DIR\n");
		return 1;
	}
	unify_modules(&j);
	puts("| ranks | nodes | own trees | joins | way back | critical path | all work | sent MiB "
	     "|");
	puts("|---:|---:|---:|---:|---:|---:|---:|---:|");
	for (size_t n = 1; n <= MOST_RANKS && n <= j.files.files.n; n *= 2)
		run(&j, n);
	load_job_close(&j.files);
	return 0;
}
