/* SPDX-License-Identifier: BSD-3-Clause */
/* See ledger.h. Test: tests/unit/prof/test_ledger.c. */
#include "hpcprof-lite/attribute/describe/ledger.h"

#include "common/base/capped.h"

#include <stdlib.h>
#include <string.h>

/* How well the path to a node is known. */
enum path {
	PATH_COMPLETE,
	PATH_GUESSED,
	PATH_CUT /* add the cause */
};

static uint8_t path_of_entry(uint64_t code)
{
	if (code == MSR_ENTRY_MAIN || code == MSR_ENTRY_THREAD || code == MSR_ENTRY_OMP_IDLE)
		return PATH_COMPLETE;
	uint64_t end = code >= MSR_ENTRY_PARTIAL ? code - MSR_ENTRY_PARTIAL : MSR_END_ROOT;
	return (uint8_t)(PATH_CUT + (end < MSR_N_PATH_ENDS ? end : MSR_END_ROOT));
}

/*
 * The enum path of each node; damaged nodes have none. The caller owns it. NULL: memory is short.
 */
static uint8_t *find_paths(const struct load_thread *t)
{
	uint8_t *path = malloc(t->n_nodes);
	if (!path)
		return NULL;
	path[0] = PATH_CUT + MSR_END_ROOT;
	for (size_t p = 0; p < t->nodes.n; p++) {
		const struct msr_node *nodes = (const void *)t->nodes.at[p].content;
		for (size_t i = 0; i < t->nodes.at[p].n_bytes / sizeof *nodes; i++) {
			uint64_t id = t->nodes.at[p].first + i;
			if (!id || t->node_to[id] == LOAD_DAMAGED)
				continue;
			if (load_is_entry(nodes[i].addr))
				path[id] = path_of_entry(msr_addr_link(nodes[i].addr));
			else
				path[id] = path[nodes[i].parent] == PATH_COMPLETE &&
							   msr_addr_marked(nodes[i].addr)
						   ? PATH_GUESSED
						   : path[nodes[i].parent];
		}
	}
	return path;
}

/* Sums of the weights of two metrics. */
struct times {
	int cputime, offcpu; /* ids of metrics; -1: not measured */
	uint64_t cputime_ns, offcpu_ns;
};

static void find_times(const struct load_file *f, struct times *t)
{
	*t = (struct times){.cputime = -1, .offcpu = -1};
	for (int i = 0; i < (int)MSR_MAX_METRICS; i++) {
		if (f->metrics[i] && !strcmp(f->metrics[i]->name, MSR_METRIC_CPUTIME))
			t->cputime = i;
		if (f->metrics[i] && !strcmp(f->metrics[i]->name, MSR_METRIC_OFFCPU))
			t->offcpu = i;
	}
}

/*
 * Balances the thread's times. The CPU clock says exactly how long the thread ran. In a short
 * thread, samples of CPUTIME know this only on average.
 */
static void balance_times(const struct msr_thread *r, const struct times *t,
			  struct model_ledger *l)
{
	if (t->offcpu < 0 || r->end_ns <= r->start_ns || r->end_ns - r->start_ns < r->wall_off_ns)
		return;
	l->elapsed_ns = r->end_ns - r->start_ns - r->wall_off_ns;
	l->on_ns = r->cpu_end_ns > r->cpu_start_ns + r->cpu_off_ns
			   ? r->cpu_end_ns - r->cpu_start_ns - r->cpu_off_ns
		   : t->cputime >= 0 ? capped_add(t->cputime_ns, r->cpu_unsampled_ns)
				     : 0;
	l->off_ns = capped_add(t->offcpu_ns, r->offcpu_node ? 0 : r->offcpu_unsampled_ns);
	const uint64_t sum = capped_add(l->on_ns, l->off_ns);
	l->gap_ns = sum > l->elapsed_ns ? sum - l->elapsed_ns : l->elapsed_ns - sum;
}

static void balance_cpu(const struct load_file *f, const struct msr_thread *r,
			const struct times *t, struct model_ledger *l)
{
	if (!f->header.cpu_end_ns || t->cputime < 0)
		return;
	l->cpu_sampled_ns = t->cputime_ns;
	l->cpu_unseen_ns = msr_unseen_cpu_ns(r, f->metrics[t->cputime]->period);
	l->cpu_after_ns = l->cpu_unseen_ns > r->cpu_unseen_ns ? 0 : r->cpu_unsampled_ns;
}

static bool count_cells(const struct load_file *f, const struct load_thread *t,
			struct model_ledger *l, struct times *times)
{
	uint8_t *path = find_paths(t);
	for (size_t p = 0; path && p < t->cells.n; p++) {
		const struct msr_cell *cells = (const void *)t->cells.at[p].content;
		for (size_t i = 0; i < t->cells.at[p].n_bytes / sizeof *cells; i++) {
			/* it may still be written to */
			const struct msr_cell c = cells[i];
			if (!load_cell_is_sound(f, t, &c))
				continue;
			uint8_t how = path[c.node];
			uint64_t *n = how == PATH_COMPLETE  ? &l->n_complete
				      : how == PATH_GUESSED ? &l->n_guessed
							    : &l->n_cut[how - PATH_CUT];
			capped_grow(n, c.count);
			capped_grow(&l->in_tree, c.count);
			if (c.metric == times->cputime)
				capped_grow(&times->cputime_ns, c.sum);
			if (c.metric == times->offcpu)
				capped_grow(&times->offcpu_ns, c.sum);
		}
	}
	free(path);
	return path;
}

/* The most samples that one signal can deliver: one of each metric, and three of OFFCPU. */
static unsigned most_of_a_signal(const struct load_file *f)
{
	unsigned n = 0;
	for (unsigned i = 0; i < MSR_MAX_METRICS; i++)
		if (f->metrics[i])
			n += strcmp(f->metrics[i]->name, MSR_METRIC_OFFCPU) == 0 ? 3 : 1;
	return n;
}

/*
 * The run time counts the samples of a signal as delivered, then writes the cell of each sample,
 * then counts that sample as recorded. After a kill in between, some samples are delivered only:
 * these are in flight. One sample may be in the tree without being counted as recorded: this one is
 * counted now.
 */
static void settle_kill(const struct load_file *f, struct model_ledger *l)
{
	if (l->in_tree == l->recorded + 1)
		l->recorded = l->in_tree;
	uint64_t accounted = capped_add(l->in_tree, ledger_samples_lost(l));
	if (l->recorded == l->in_tree && l->delivered > accounted &&
	    l->delivered - accounted <= most_of_a_signal(f))
		capped_grow(&l->losses[MSR_LOSS_IN_FLIGHT], l->delivered - accounted);
}

/*
 * True if the thread was stopped from outside, perhaps inside a handler: it wrote no end, or
 * another thread ended the process. A thread that ends by itself is not in a handler.
 */
static bool may_be_in_handler(const struct load_file *f, const struct load_thread *t)
{
	if (t->record->end_ns == 0 ||
	    (f->header.cpu_end_ns && t->record->end_ns == f->header.end_mono_ns))
		return true;
	for (size_t i = 0; i < f->threads.n; i++)
		if (&f->threads.at[i] != t && f->threads.at[i].record->end_ns == t->record->end_ns)
			return true;
	return false;
}

bool ledger_of_thread(const struct load_file *f, const struct load_thread *t,
		      struct model_ledger *l)
{
	const struct msr_thread *r = t->record;
	*l = (struct model_ledger){.delivered = r->delivered,
				   .recorded = r->recorded,
				   .n_marked = r->n_marked,
				   .handler_ns = r->handler_ns,
				   .n_frames = r->n_frames,
				   .n_trace_records = t->n_trace_records};
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		l->losses[i] = r->losses[i];
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		l->path_ends[i] = r->path_ends[i];
	struct times times;
	find_times(f, &times);
	if (!count_cells(f, t, l, &times))
		return false;
	balance_times(r, &times, l);
	balance_cpu(f, r, &times, l);
	l->is_live = load_is_live(f, t);
	if (l->is_live) { /* the tree is newer than the record */
		l->recorded = l->in_tree;
		l->delivered = l->in_tree + ledger_samples_lost(l);
	}
	if (t->copy && !ledger_closes(l) && may_be_in_handler(f, t))
		settle_kill(f, l);
	return true;
}

/* Compares the CPU clock of the process with those of its threads. */
static void balance_process(const struct load_file *f, struct model_ledger *l)
{
	const struct msr_header *h = &f->header;
	uint64_t known = 0, before = 0;
	if (h->cpu_end_ns <= h->cpu_start_ns)
		return;
	l->cpu_clock_ns = h->cpu_end_ns - h->cpu_start_ns;
	for (size_t i = 0; i < f->threads.n; i++) {
		const struct msr_thread *r = f->threads.at[i].record;
		capped_grow(&known, msr_thread_cpu_ns(r));
		capped_grow(&l->cpu_off_ns, r->cpu_off_ns);
		if (r->number && !(r->flags & MSR_THREAD_FOUND))
			capped_grow(&before, r->cpu_start_ns);
	}
	const uint64_t rest = l->cpu_clock_ns > known ? l->cpu_clock_ns - known : 0;
	l->cpu_strange_ns = msr_strange_cpu_ns(l->cpu_clock_ns, known, f->threads.n);
	l->cpu_edges_ns = capped_add(before, rest - l->cpu_strange_ns);
}

void ledger_of_process(const struct load_file *f, struct model_ledger *l)
{
	*l = (struct model_ledger){.bytes_damaged = f->bytes_damaged, .bytes_file = f->map.n_bytes};
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		l->losses[i] = f->header.losses[i];
	l->delivered = ledger_samples_lost(l);
	balance_process(f, l);
}

uint64_t ledger_samples_lost(const struct model_ledger *l)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		if (msr_loss_takes_sample(i))
			capped_grow(&n, l->losses[i]);
	return n;
}

bool ledger_closes(const struct model_ledger *l)
{
	uint64_t accounted = capped_add(l->in_tree, ledger_samples_lost(l));
	return l->delivered == accounted && l->recorded == l->in_tree && accounted != UINT64_MAX;
}

bool ledger_is_at_bound(const struct model_ledger *l)
{
	const uint64_t single[] = {l->delivered,       l->recorded,      l->in_tree,
				   l->n_complete,      l->n_guessed,     l->n_marked,
				   l->n_trace_records, l->bytes_damaged, l->bytes_file,
				   l->handler_ns,      l->n_frames,      l->elapsed_ns,
				   l->on_ns,           l->off_ns,        l->gap_ns,
				   l->cpu_clock_ns,    l->cpu_sampled_ns, l->cpu_after_ns,
				   l->cpu_unseen_ns,   l->cpu_edges_ns,  l->cpu_strange_ns,
				   l->cpu_off_ns};
	bool is = false;
	for (size_t i = 0; i < sizeof single / sizeof *single; i++)
		is |= single[i] == UINT64_MAX;
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		is |= l->losses[i] == UINT64_MAX;
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		is |= l->path_ends[i] == UINT64_MAX || l->n_cut[i] == UINT64_MAX;
	return is;
}

void ledger_add(struct model_ledger *to, const struct model_ledger *from)
{
	capped_grow(&to->delivered, from->delivered);
	capped_grow(&to->recorded, from->recorded);
	capped_grow(&to->in_tree, from->in_tree);
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		capped_grow(&to->losses[i], from->losses[i]);
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		capped_grow(&to->path_ends[i], from->path_ends[i]);
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		capped_grow(&to->n_cut[i], from->n_cut[i]);
	capped_grow(&to->n_complete, from->n_complete);
	capped_grow(&to->n_guessed, from->n_guessed);
	capped_grow(&to->n_marked, from->n_marked);
	capped_grow(&to->n_trace_records, from->n_trace_records);
	capped_grow(&to->bytes_damaged, from->bytes_damaged);
	capped_grow(&to->bytes_file, from->bytes_file);
	capped_grow(&to->handler_ns, from->handler_ns);
	capped_grow(&to->n_frames, from->n_frames);
	capped_grow(&to->elapsed_ns, from->elapsed_ns);
	capped_grow(&to->on_ns, from->on_ns);
	capped_grow(&to->off_ns, from->off_ns);
	capped_grow(&to->gap_ns, from->gap_ns);
	capped_grow(&to->cpu_clock_ns, from->cpu_clock_ns);
	capped_grow(&to->cpu_sampled_ns, from->cpu_sampled_ns);
	capped_grow(&to->cpu_after_ns, from->cpu_after_ns);
	capped_grow(&to->cpu_unseen_ns, from->cpu_unseen_ns);
	capped_grow(&to->cpu_edges_ns, from->cpu_edges_ns);
	capped_grow(&to->cpu_strange_ns, from->cpu_strange_ns);
	capped_grow(&to->cpu_off_ns, from->cpu_off_ns);
}
