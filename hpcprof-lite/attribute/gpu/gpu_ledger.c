/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_ledger.h. Test: tests/unit/prof_gpu/test_gpu_ledger.c. */
#include "hpcprof-lite/attribute/gpu/gpu_ledger.h"

#include "common/base/capped.h"
#include "hpcprof-lite/load/load_records.h"

enum { N_KINDS = 16 };

/* What the file contains for one back end. */
struct found {
	bool any;
	uint64_t records[N_KINDS];      /* sound launch records */
	uint64_t waiting[N_KINDS];      /* ... without operation and without a cause */
	struct {
		uint64_t launches, ops, lost;
	} aggregates[N_KINDS];
};

static uint64_t total(const uint64_t *counts, unsigned n)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < n; i++)
		capped_grow(&sum, counts[i]);
	return sum;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t gpu_ledger_launched(const struct model_gpu_ledger *l)
{
	return total(l->launched, N_KINDS);
}

uint64_t gpu_ledger_lost(const struct model_gpu_ledger *l)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < MSR_GPU_LOSS_ROOM; i++)
		capped_grow(&n, msr_gpu_loss_takes_op(i) ? l->losses[i] : 0);
	return n;
}

/* ---- counting ---- */

static void count_launches(struct gpu_join *j, struct found *found,
			   struct model_gpu_ledger *ledgers)
{
	uint32_t number = 0;
	for (size_t k = 0; k < j->file->gpu.launches.n; k++) {
		const struct load_gpu_part *p = &j->file->gpu.launches.at[k];
		for (uint64_t i = 0; i < p->n; i++, number++) {
			const struct msr_gpu_launch *l = load_gpu_at(p, i);
			unsigned b = load_gpu_backend(load_gpu_launch_id(p, l)),
				 kind = msr_gpu_launch_kind(l), state = j->launches.state[number];
			if (state == GPU_LAUNCH_UNSOUND)
				continue;
			found[b].any = true;
			found[b].records[kind]++;
			if (state == GPU_LAUNCH_JOINED)
				ledgers[b].joined[kind]++;
			else if (state)
				ledgers[b].losses[state]++;
			else
				found[b].waiting[kind]++;
		}
		load_release(j->file, p->n * p->stride);
	}
}

static void count_aggregates(const struct load_gpu *g, struct found *found,
			     struct model_gpu_ledger *ledgers)
{
	static const unsigned causes[4] = {MSR_GPU_LOSS_REFUSED, MSR_GPU_LOSS_FAILED,
					   MSR_GPU_LOSS_NEVER_DONE, MSR_GPU_LOSS_NO_TIMES};
	for (size_t k = 0; k < g->aggregates.n; k++) {
		const struct load_gpu_part *p = &g->aggregates.at[k];
		unsigned b = p->first % LOAD_GPU_BACKENDS;
		for (uint64_t i = 0; i < p->n; i++) {
			const struct msr_gpu_aggregate *a = load_gpu_at(p, i);
			if (!load_gpu_kind_is_sound(a->kind))
				continue;
			found[b].any = true;
			capped_grow(&found[b].aggregates[a->kind].launches, a->n_launches);
			capped_grow(&found[b].aggregates[a->kind].ops, a->n_ops);
			/*
			 * A loss belongs to the launches of its kind. Without launches of this
			 * kind, a graph launched the operation. Aggregates with an error count
			 * separately.
			 */
			bool is_of_graph = !a->n_launches && !a->detail && a->kind != MSR_GPU_GRAPH;
			for (unsigned c = 0; c < 4; c++) {
				capped_grow(&found[b].aggregates[a->kind].lost,
					    is_of_graph ? 0 : a->n_lost[c]);
				capped_grow((is_of_graph ? &ledgers[b].graph_losses[causes[c]]
							 : &ledgers[b].losses[causes[c]]),
					    a->n_lost[c]);
			}
		}
	}
}

/* ---- settling ---- */

/*
 * Returns the aggregated launches that are complete. Further operations belong to launches that
 * were recorded before the bound was reached. With graphs, the number of operations says nothing.
 */
static uint64_t settle_aggregates(struct found *f, struct model_gpu_ledger *l)
{
	uint64_t waiting = 0, beyond = 0;
	for (unsigned k = 0; k < N_KINDS; k++) {
		uint64_t launches = f->aggregates[k].launches,
			 done = capped_add(f->aggregates[k].ops, f->aggregates[k].lost);
		bool is_graph = k == MSR_GPU_GRAPH;
		if (done < launches && !is_graph)
			capped_grow(&waiting, launches - done);
		if (done > launches)
			capped_grow(&beyond, done - launches);
		l->aggregated[k] =
			is_graph ? launches - smaller(launches, f->aggregates[k].lost)
				 : smaller(launches, done) -
					   smaller(smaller(launches, done), f->aggregates[k].lost);
	}
	for (unsigned k = 0; k < N_KINDS && beyond; k++) {
		uint64_t n = smaller(beyond, f->waiting[k]);
		f->waiting[k] -= n;
		capped_grow(&l->aggregated[k], n);
		beyond -= n;
	}
	return capped_add(waiting, total(f->waiting, N_KINDS));
}

/*
 * The number of threads that were stopped from outside. They have no end, or they share one,
 * because the thread that ended the process wrote one end for all.
 */
static uint64_t threads_cut_off(const struct load_file *f)
{
	uint64_t n = 0, n_ended_together = 0;
	for (size_t i = 0; i < f->threads.n; i++) {
		uint64_t end_ns = f->threads.at[i].record->end_ns;
		n += end_ns == 0;
		n_ended_together += end_ns != 0 && end_ns == f->header.end_mono_ns;
	}
	return n + (n_ended_together ? n_ended_together - 1 : 0);
}

/*
 * Launches without a record, aggregate or cause are unexplained; if the process or a thread was
 * stopped, they are in flight. The same holds for records and causes in excess of the launches.
 */
static void settle_launches(const struct gpu_join *j, const struct found *f,
			    const struct msr_gpu_tally *t, struct model_gpu_ledger *l)
{
	uint64_t known = total(f->records, N_KINDS), launched = 0;
	for (unsigned k = 0; k < N_KINDS; k++) {
		capped_grow(&known, f->aggregates[k].launches);
		l->launched[k] = t ? t->launched[k] : f->records[k] + f->aggregates[k].launches;
		capped_grow(&launched, l->launched[k]);
	}
	for (unsigned c = 0; t && c < MSR_GPU_LOSS_ROOM; c++) {
		capped_grow(&l->losses[c], t->launch_losses[c]);
		capped_grow(&known, msr_gpu_loss_takes_op(c) ? t->launch_losses[c] : 0);
	}
	/* A kill can come between the record of a launch and its count, once in each thread. */
	uint64_t difference = launched > known ? launched - known : known - launched;
	uint64_t allowed = j->file->header.exit_kind == MSR_EXIT_NONE ? j->file->threads.n
								      : threads_cut_off(j->file);
	if (difference > allowed)
		capped_grow(&l->unexplained, difference);
	else if (launched > known)
		capped_grow(&l->losses[MSR_GPU_LOSS_IN_FLIGHT], difference);
	else
		capped_grow(&l->launched[MSR_GPU_NO_KIND], difference);
}

/*
 * Bounds the switched launches: each thread has at most one call under way when the program stops
 * or starts the measurement.
 */
static uint64_t most_switched(const struct gpu_join *j)
{
	uint64_t n = j->file->header.n_starts + j->file->header.n_stops;
	return n > UINT32_MAX ? UINT64_MAX : n * j->file->threads.n;
}

/*
 * Settles launches without an operation: first with losses of unknown launches, then with what the
 * end of the process cut off. A kill, a fatal signal or _exit() in a handler leaves no time to
 * query the back ends.
 */
static void settle_waiting(const struct gpu_join *j, uint64_t waiting, const struct found *f,
			   const struct msr_gpu_tally *t, struct model_gpu_ledger *l)
{
	/*
	 * Launches under way when the program stopped measurement have no record. Those under way
	 * when it started have only a record.
	 */
	uint64_t n_most = most_switched(j),
		 n_switched = smaller(smaller(waiting, l->n_orphans), n_most);
	capped_grow(&l->losses[MSR_GPU_LOSS_STOPPED], n_switched);
	waiting -= n_switched;
	/* If each launch has a record, further losses are operations of graphs. */
	bool are_all_known =
		l->launched[MSR_GPU_GRAPH] && gpu_ledger_launched(l) == total(f->records, N_KINDS);
	for (unsigned c = 0; t && c < MSR_GPU_LOSS_ROOM; c++) {
		uint64_t n = msr_gpu_loss_takes_op(c) ? smaller(waiting, t->op_losses[c]) : 0;
		capped_grow(&l->losses[c], n);
		capped_grow(&l->graph_losses[c],
			    are_all_known && msr_gpu_loss_takes_op(c) ? t->op_losses[c] - n : 0);
		waiting -= n;
	}
	uint32_t end = j->file->header.exit_kind;
	if (end == MSR_EXIT_NONE || end == MSR_EXIT_SIGNAL || end == MSR_EXIT_QUICK ||
	    end == MSR_EXIT_WITHDRAWN || threads_cut_off(j->file)) {
		capped_grow(&l->losses[MSR_GPU_LOSS_IN_FLIGHT], waiting);
	} else {
		/*
		 * A record without a launch may have been dropped. It is then not an orphan. It
		 * hides one launch without a record from the back end, which counts both.
		 */
		uint64_t n_unseen = smaller(waiting, n_most - n_switched);
		capped_grow(&l->losses[MSR_GPU_LOSS_STOPPED], n_unseen);
		capped_grow(&l->unexplained, waiting - n_unseen);
	}
}

static void settle(struct gpu_join *j, unsigned b, struct found *f, struct model_gpu_ledger *l)
{
	const struct msr_gpu_tally *t = j->file->gpu.tallies[b];
	l->backend = t && t->backend[0] ? t->backend : "unknown";
	l->entrance = t ? t->entrance : "";
	uint64_t waiting = settle_aggregates(f, l);
	l->n_orphans = j->counts[b].orphans;
	settle_launches(j, f, t, l);
	settle_waiting(j, waiting, f, t, l);
	l->n_ops = j->counts[b].ops;
	l->n_no_path = j->counts[b].no_path;
	l->n_bad_order = j->counts[b].bad_order;
	for (unsigned c = 0; c < MSR_GPU_LOSS_ROOM; c++)
		capped_grow(&l->graph_losses[c], j->counts[b].graph_losses[c]);
	if (t) {
		l->n_unknown_calls = t->n_unknown_calls;
		l->handler_ns = t->handler_ns;
		l->n_lost_definitions = t->n_lost_definitions;
		l->n_lost_contents = t->n_lost_contents;
		l->n_lost_values = t->n_lost_values;
	}
	/*
	 * Operations without a launch are explained by launches that left no record, or that were
	 * under way when measurement was started.
	 */
	uint64_t lost = 0;
	for (unsigned c = 0; t && c < MSR_GPU_LOSS_ROOM; c++)
		capped_grow(&lost, t->launch_losses[c]);
	if (!lost && l->n_orphans > most_switched(j))
		capped_grow(&l->unexplained, l->n_orphans);
	uint64_t accounted =
		capped_add(capped_add(total(l->joined, N_KINDS), total(l->aggregated, N_KINDS)),
			   gpu_ledger_lost(l));
	l->closes = l->unexplained == 0 && gpu_ledger_launched(l) == accounted &&
		    accounted != UINT64_MAX;
}

/* Counts shortened operations by back end. The ids of a queue's operations give the back end. */
static void count_clipped(const struct gpu_join *j, struct model_gpu_ledger *ledgers)
{
	for (size_t i = 0; i < j->lines.n; i++) {
		const struct gpu_line *line = &j->lines.at[i];
		if (line->n)
			ledgers[load_gpu_backend(msr_gpu_op_id(line->items[0].record))].n_clipped +=
				line->n_clipped;
	}
}

void gpu_ledger_make(struct gpu_join *j)
{
	struct found found[LOAD_GPU_BACKENDS] = {0};
	struct model_gpu_ledger all[LOAD_GPU_BACKENDS] = {0};
	count_launches(j, found, all);
	count_aggregates(&j->file->gpu, found, all);
	count_clipped(j, all);
	j->n_ledgers = 0;
	for (unsigned b = 0; b < LOAD_GPU_BACKENDS; b++) {
		if (!found[b].any && !j->file->gpu.tallies[b] && !j->counts[b].ops)
			continue;
		settle(j, b, &found[b], &all[b]);
		j->ledgers[j->n_ledgers++] = all[b];
	}
}

void gpu_ledger_add(struct model_gpu_ledger *to, const struct model_gpu_ledger *from)
{
	for (unsigned k = 0; k < N_KINDS; k++) {
		capped_grow(&to->launched[k], from->launched[k]);
		capped_grow(&to->joined[k], from->joined[k]);
		capped_grow(&to->aggregated[k], from->aggregated[k]);
	}
	for (unsigned c = 0; c < MSR_GPU_LOSS_ROOM; c++) {
		capped_grow(&to->losses[c], from->losses[c]);
		capped_grow(&to->graph_losses[c], from->graph_losses[c]);
	}
	capped_grow(&to->unexplained, from->unexplained);
	capped_grow(&to->n_ops, from->n_ops);
	capped_grow(&to->n_orphans, from->n_orphans);
	capped_grow(&to->n_no_path, from->n_no_path);
	capped_grow(&to->n_bad_order, from->n_bad_order);
	capped_grow(&to->n_unknown_calls, from->n_unknown_calls);
	capped_grow(&to->n_clipped, from->n_clipped);
	capped_grow(&to->n_lost_definitions, from->n_lost_definitions);
	capped_grow(&to->n_lost_contents, from->n_lost_contents);
	capped_grow(&to->n_lost_values, from->n_lost_values);
	capped_grow(&to->handler_ns, from->handler_ns);
	to->closes = to->closes && from->closes;
}
