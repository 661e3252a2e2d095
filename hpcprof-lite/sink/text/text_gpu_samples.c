/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the report about PC samples of GPUs: who launched each kernel, its hottest lines,
 * what its warps waited for, and the account. Test: tests/cli/prof/prof_gpu_pc.sh.
 */
#include "common/base/foreign.h"
#include "hpcprof-lite/view/view_hot.h"
#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_lines.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_KERNELS = 10,
	MOST_LAUNCHERS = 4,
	MOST_LINES = 6,
	MOST_STALLS = 5,
	HINT_COLUMN = 25,
	STALLS_COLUMNS = 34
};

#define OUTSIDE_ADVICE                                                                      \
	0.02 /* share of samples without code above which something can be done about it:   \
		doc/notes/cupti-facts.md A4 */
#define RATE_TOLERANCE 0.05
#define PLACE_TOLERANCE 0.05

static void put_cell(const struct text_style *s, char *text, size_t room)
{
	text_shorten(text, room);
	size_t n = text_columns(text);
	text_cell(s->out, text, n < room ? n : room);
}

/* ---- one kernel ---- */

static const struct view_gpu_kernel *find_kernel(const struct view_gpu *g, uint32_t function)
{
	for (size_t i = 0; i < g->kernels.n; i++)
		if (g->kernels.at[i].function == function)
			return &g->kernels.at[i];
	return NULL;
}

/* Uses the shape of the first launch. NULL: unknown. */
static const struct model_gpu_occupancy *find_occupancy(const struct model *m,
							const struct view_gpu_kernel *k)
{
	const struct model_gpu_occupancy *o = k && m->gpu_occupancies && k->shape < m->n_gpu_shapes
						      ? &m->gpu_occupancies[k->shape]
						      : NULL;
	return o && o->warps_most ? o : NULL;
}

static void put_facts(const struct model *m, const struct view_gpu *g,
		      const struct view_hot_kernel *k, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	const struct model_gpu_occupancy *o = find_occupancy(m, find_kernel(g, k->function));
	fprintf(s->out, "    %s samples", text_value(a, MODEL_COUNT, k->samples));
	if (k->apportioned > 0)
		fprintf(s->out, " (%s exact, %s apportioned)",
			k->samples > k->apportioned
				? text_share(b, k->samples - k->apportioned, k->samples)
				: "none",
			text_share(c, k->apportioned, k->samples));
	if (k->expected > 0)
		fprintf(s->out, "; SMs busy %s",
			text_share(b, k->measured < k->expected ? k->measured : k->expected,
				   k->expected));
	if (o) {
		fprintf(s->out, "; occupancy %s", text_share(b, o->warps, o->warps_most));
		if (o->warps < o->warps_most)
			fprintf(s->out, " (%" PRIu32 " of %" PRIu32 " warps, by %s)", o->warps,
				o->warps_most, model_gpu_limit_name(o->limit));
	}
	putc('\n', s->out);
}

static bool put_facts_line(const struct model *m, const struct view_gpu *g,
			   const struct view_hot_kernel *k, const struct text_style *s)
{
	struct text_lines lines;
	if (!text_lines_begin(&lines, s))
		return false;
	put_facts(m, g, k, &lines.style);
	return text_lines_end(&lines);
}

/* "solve.cu:57 in step(float*, int)" */
static void name_place(const struct model *m, uint32_t context, char *to, size_t n_bytes)
{
	const struct model_context *c = &m->contexts[context];
	char place[TEXT_FILE + 16] = "", function[TEXT_NAME] = "";
	if (c->kind == MODEL_CONTEXT_ENTRY || c->kind == MODEL_CONTEXT_FUNCTION) {
		text_name(to, n_bytes, m, c);
		return;
	}
	text_place(place, sizeof place, m, c);
	if (c->function < m->n_functions)
		text_function_name(function, sizeof function, m, c->function);
	snprintf(to, n_bytes, "%s%s%s", place, *place && *function ? " in " : "", function);
	if (c->kind == MODEL_CONTEXT_INSTRUCTION && c->module < m->n_modules &&
	    !strchr(function, '[')) {
		char file[TEXT_FILE];
		snprintf(to + strlen(to), n_bytes - strlen(to), " [%s]",
			 text_file(file, m->modules[c->module].path));
	}
}

/* "pressure.cu:90 in cycle(int); graph launched at work.cuh:136": the call that made a graph's node
 * comes first. */
static void name_launcher(const struct model *m, const struct view_hot_launcher *l, size_t room,
			  char *to, size_t n_bytes)
{
	const struct model_function *node =
		l->node != MODEL_NONE ? &m->functions[m->contexts[l->node].function] : NULL;
	char made[TEXT_NAME], function[TEXT_NAME], place[TEXT_FILE + 16] = "";
	if (!node || !node->is_node) {
		name_place(m, l->context, to, n_bytes);
		text_shorten(to, room);
		return;
	}
	snprintf(made, sizeof made, "%s:%" PRIu32, text_base(m->files[node->node_file].path),
		 node->node_line);
	snprintf(function, sizeof function, "%s", m->functions[node->node_function].name);
	text_place(place, sizeof place, m, &m->contexts[l->context]);
	size_t taken = strlen(made) + strlen(place) + sizeof " in ; graph launched at ";
	text_shorten(function, room > taken + 12 ? room - taken : 12);
	snprintf(to, n_bytes, "%s in ", made);
	snprintf(to + strlen(to), n_bytes - strlen(to), "%s", function);
	if (*place)
		snprintf(to + strlen(to), n_bytes - strlen(to), "; graph launched at %s", place);
}

static void put_launchers(const struct model *m, const struct view_hot *h,
			  const struct view_hot_kernel *k, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], name[TEXT_NAME];
	size_t n_hidden = 0, room = s->width > 60 ? s->width - 38 : 22;
	bool by_time = k->seconds > 0, any_guess = false;
	for (size_t i = 0; i < k->n_launchers; i++)
		any_guess |= h->launchers.at[k->first_launcher + i].on_guess;
	fprintf(s->out, any_guess ? "    launched at (?: by way of a guessed frame)\n"
				  : "    launched at\n");
	for (size_t i = 0; i < k->n_launchers; i++) {
		const struct view_hot_launcher *l = &h->launchers.at[k->first_launcher + i];
		double part = by_time ? l->seconds : l->samples,
		       whole = by_time ? k->seconds : k->samples;
		if (i >= MOST_LAUNCHERS || (i && part < s->threshold * whole)) {
			n_hidden++;
			continue;
		}
		name_launcher(m, l, room, name, sizeof name);
		fprintf(s->out, "%11s %10s %9s x  ", text_share(a, part, whole),
			by_time ? text_seconds(b, l->seconds) : "",
			l->n > 0 ? text_value(c, MODEL_COUNT, l->n) : "");
		fputs(l->on_guess ? TEXT_GUESSED : "", s->out);
		size_t columns = text_columns(name);
		text_cell(s->out, name, columns < room ? columns : room);
		putc('\n', s->out);
	}
	if (n_hidden)
		fprintf(s->out, "%11s %10s %9s    %zu more\n", "", "", "", n_hidden);
}

/* "GMEM 71%, IDEP 12%" */
static void name_stalls(const struct model *m, const struct view_hot *h,
			const struct view_hot_line *l, struct view_hot_reason *room, char *to,
			size_t n_bytes)
{
	size_t n = view_hot_rank(m, h, l->stalls, room);
	to[0] = 0;
	for (size_t i = 0, said = 0; i < n && said < 2; i++) {
		double share = l->samples > 0 ? room[i].value / l->samples : 0;
		if (share < 0.05)
			break;
		bool issued = view_hot_is_issued(m, h, room[i].stall);
		snprintf(to + strlen(to), n_bytes - strlen(to), "%s%s %.0f%%", said++ ? ", " : "",
			 issued ? "issued" : m->metrics[h->stalls[room[i].stall]].reason,
			 100 * share);
	}
	for (char *at = to; *at; at++)
		*at = *at == '_' ? ' ' : *at;
}

static bool is_line_hidden(const struct view_hot_kernel *k, const struct view_hot_line *l, size_t i,
			   const struct text_style *s)
{
	return i >= MOST_LINES || (i && l->samples < s->threshold * k->samples);
}

/* The columns for lines; fewer if the text beside them needs more. */
static size_t room_of_lines(const struct model *m, const struct view_hot *h,
			    const struct view_hot_kernel *k, struct view_hot_reason *ranked,
			    const struct text_style *s)
{
	size_t widest = STALLS_COLUMNS;
	char stalls[256];
	for (size_t i = 0; i < k->n_lines; i++) {
		const struct view_hot_line *l = &h->lines.at[k->first_line + i];
		if (is_line_hidden(k, l, i, s))
			continue;
		name_stalls(m, h, l, ranked, stalls, sizeof stalls);
		const size_t columns = text_columns(stalls);
		widest = columns > widest ? columns : widest;
	}
	return s->width > widest + 15 + 20 ? s->width - widest - 15 : 20;
}

static void put_lines(const struct model *m, const struct view_hot *h,
		      const struct view_hot_kernel *k, struct view_hot_reason *ranked,
		      const struct text_style *s)
{
	char a[TEXT_CELL], name[TEXT_NAME], stalls[256];
	size_t room = room_of_lines(m, h, k, ranked, s), n_hidden = 0;
	double hidden = 0;
	fprintf(s->out, "%-*s%s\n", (int)room + 15, "    hottest lines",
		h->n_stalls ? "what their samples say" : "");
	for (size_t i = 0; i < k->n_lines; i++) {
		const struct view_hot_line *l = &h->lines.at[k->first_line + i];
		if (is_line_hidden(k, l, i, s)) {
			n_hidden++;
			hidden += l->samples;
			continue;
		}
		text_gpu_line(m, l->context, room, name, sizeof name);
		name_stalls(m, h, l, ranked, stalls, sizeof stalls);
		text_emphasise(s, l->samples / k->samples);
		fprintf(s->out, "%11s", text_share(a, l->samples, k->samples));
		text_plain(s);
		fputs("  ", s->out);
		text_cell(s->out, name, room);
		foreign_printf(s->out, *stalls ? "  %s\n" : "\n", stalls);
	}
	if (n_hidden)
		fprintf(s->out, "%11s  %zu more\n", text_share(a, hidden, k->samples), n_hidden);
}

static void put_stalls(const struct model *m, const struct view_hot *h,
		       const struct view_hot_kernel *k, struct view_hot_reason *ranked,
		       const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], line[512];
	size_t n = view_hot_rank(m, h, k->stalls, ranked),
	       room = s->width > 50 ? s->width - 23 : 28, said = 0;
	if (!n)
		return;
	fputs("    what warps waited for (idle: while their scheduler issued nothing)\n", s->out);
	fprintf(s->out, "%11s %8s\n", "", "idle");
	for (size_t i = 0; i < n && (i < MOST_STALLS || view_hot_is_issued(m, h, ranked[i].stall));
	     i++) {
		uint32_t other = view_hot_idle_part(m, h, ranked[i].stall);
		const struct model_metric *metric = &m->metrics[h->stalls[ranked[i].stall]];
		bool issued = view_hot_is_issued(m, h, ranked[i].stall);
		if (ranked[i].value < s->threshold * k->samples && i)
			break;
		fprintf(s->out, "%11s %8s  ", text_share(a, ranked[i].value, k->samples),
			!issued && other < h->n_stalls
				? text_share(b, h->values.at[k->stalls + other], k->samples)
				: "");
		snprintf(line, sizeof line, "%s%s%s",
			 issued ? "issued an instruction" : metric->reason,
			 metric->meaning && !issued ? ": " : "",
			 metric->meaning && !issued ? metric->meaning : "");
		put_cell(s, line, room);
		putc('\n', s->out);
		if (issued || said || !metric->hint || !*metric->hint)
			continue;
		said++;
		fputs(s->utf8 ? "                       \u2192 " : "                       > ",
		      s->out);
		text_wrap(s->out, metric->hint, room - 3, HINT_COLUMN);
	}
}

/* False if memory is short. */
static bool put_kernel(const struct model *m, const struct view_gpu *g, const struct view_hot *h,
		       const struct view_blame *blame, const struct view_hot_kernel *k,
		       struct view_hot_reason *ranked, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], name[TEXT_NAME], file[TEXT_FILE];
	double whole = view_total(m, view_find_metric(m, MODEL_ROLE_KERNEL_TIME));
	const struct model_function *f = &m->functions[k->function];
	size_t room = s->width > 60 ? s->width - 38 : 22;
	text_emphasise(s, whole > 0 ? k->seconds / whole : 0);
	fprintf(s->out, "%7s %10s %9s x  ",
		whole > 0 ? text_share(a, k->seconds, whole)
			  : text_share(a, k->samples, h->samples),
		k->seconds > 0 ? text_seconds(b, k->seconds) : "",
		k->n > 0 ? text_value(c, MODEL_COUNT, k->n) : "");
	text_plain(s);
	text_function_name(name, sizeof name, m, k->function);
	text_shorten(name, room);
	if (f->file != MODEL_NONE)
		snprintf(name + strlen(name), sizeof name - strlen(name), " [%s:%" PRIu32 "]",
			 text_file(file, m->files[f->file].path), f->line);
	put_cell(s, name, room);
	putc('\n', s->out);
	const bool ok = put_facts_line(m, g, k, s);
	put_launchers(m, h, k, s);
	put_lines(m, h, k, ranked, s);
	put_stalls(m, h, k, ranked, s);
	text_report_gpu_blame(m, blame, k->function, k->samples, s);
	putc('\n', s->out);
	return ok;
}

bool text_report_gpu_hot(const struct model *m, const struct view_gpu *g,
			 const struct text_style *s)
{
	struct view_hot h;
	struct view_blame blame;
	char a[TEXT_CELL];
	if (!view_hot_open(m, &h))
		return false;
	if (!view_blame_open(m, &blame)) {
		view_hot_close(&h);
		return false;
	}
	struct view_hot_reason *ranked = malloc((h.n_stalls + 1) * sizeof *ranked);
	bool ok = ranked;
	size_t n_hidden = 0;
	if (ok && h.kernels.n) {
		double whole = view_total(m, view_find_metric(m, MODEL_ROLE_KERNEL_TIME));
		text_heading(s, "Inside of GPU kernels, by %s PC samples",
			     text_value(a, MODEL_COUNT, h.samples));
		for (size_t i = 0; i < h.kernels.n; i++) {
			const struct view_hot_kernel *k = &h.kernels.at[i];
			double part = whole > 0 ? k->seconds / whole : k->samples / h.samples;
			if (i >= MOST_KERNELS || (i && part < 5 * s->threshold &&
						  k->samples < 5 * s->threshold * h.samples))
				n_hidden++;
			else
				ok = put_kernel(m, g, &h, &blame, k, ranked, s) && ok;
		}
		if (n_hidden)
			fprintf(s->out, "%7s %10s %9s    %zu more kernels with samples\n\n", "", "",
				"", n_hidden);
	}
	free(ranked);
	view_blame_close(&blame);
	view_hot_close(&h);
	return ok;
}

/* ---- the account ---- */

/* The interface that did not attribute samples. */
static const char *vendor_interface(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_processes; i++)
		for (uint32_t k = 0; k < m->processes[i].n_gpu; k++)
			if (strcmp(m->processes[i].gpu[k].backend, "nvidia") == 0)
				return "CUPTI";
	return "the vendor's interface";
}

static void put_outside(const struct model *m, const struct model_gpu_sampling *p, FILE *out)
{
	char a[TEXT_CELL];
	if (!p->outside || !p->total)
		return;
	double share = (double)p->outside / (double)p->total;
	fprintf(out,
		"    not attributed by %s: %s (%.1f%%), work of its own and samples of kernels "
		"that it could not name\n",
		vendor_interface(m), text_count(a, p->outside), 100 * share);
	if (share <= OUTSIDE_ADVICE)
		return;
	fputs("      That is much: short kernels of several streams that overlap while they are "
	      "traced, or modules loaded before sampling began. Lines and stall reasons of what\v"
	      "is left may be out of proportion. To have all samples, sample without times "
	      "of kernels: gpu=nvidia,pc,notimes\n",
	      out);
}

static void put_tree_account(const struct model_gpu_sampling *p, FILE *out)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	double found =
		(double)(p->in_tree_exact + p->in_tree_apportioned + p->in_tree_unattributed);
	fprintf(out, "    in the tree: %s exact (%s)", text_count(a, p->in_tree_exact),
		p->in_tree_exact ? text_share(b, (double)p->in_tree_exact, found) : "none");
	if (p->in_tree_apportioned)
		fprintf(out, " + %s apportioned (%s)", text_count(a, p->in_tree_apportioned),
			text_share(b, (double)p->in_tree_apportioned, found));
	if (p->in_tree_unattributed)
		fprintf(out, " + %s of functions that nothing known launched",
			text_count(c, p->in_tree_unattributed));
	if (p->not_written)
		fprintf(out, " + %s that could not be written", text_count(a, p->not_written));
	putc('\n', out);
	uint64_t by_time =
		p->in_tree_apportioned - p->apportioned_by_calls - p->apportioned_by_launches;
	if (by_time)
		fprintf(out, "      %s by GPU time over the contexts that launched the kernel\n",
			text_count(a, by_time));
	if (p->apportioned_by_launches)
		fprintf(out,
			"      %s by the number of launches over these contexts, as times of the "
			"kernels are not known\n",
			text_count(a, p->apportioned_by_launches));
	if (p->apportioned_by_calls)
		fprintf(out,
			"      %s over the calls that lead to a device function; their launch is "
			"certain\n",
			text_count(a, p->apportioned_by_calls));
	if (p->cut_off)
		fprintf(out, "    %s without an account: the process ended before it was written\n",
			text_count(a, p->cut_off));
}

static void put_rate(const struct model_gpu_sampling *p, FILE *out)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	if (p->promised < 1 || !p->clock_mhz)
		return;
	double share = (double)p->total / p->promised,
	       busy = p->expected > 0 ? (double)p->total / p->expected : 0;
	fprintf(out, "    rate: one for each %s%s%s cycles of each SM",
		text_count(a, p->period_least), p->period_most > p->period_least ? " to " : "",
		p->period_most > p->period_least ? text_count(b, p->period_most) : "");
	fprintf(out, ": %s were promised while kernels ran, %.1f%% of them came\n",
		text_value(c, MODEL_COUNT, p->promised), 100 * share);
	if (p->samplers)
		fprintf(out,
			"      %" PRIu32 " SMs at %" PRIu32
			" MHz; %.0f%% of their time while kernels ran they had a warp\n",
			p->samplers, p->clock_mhz, 100 * (busy < 1 ? busy : 1));
	if (share < 1 - RATE_TOLERANCE)
		fputs("      Fewer came: other processes on the GPU, blocks that end at different "
		      "times, a lower clock than that, gaps, or samples lost without a count\n",
		      out);
	else if (share > 1 + RATE_TOLERANCE)
		fputs("      More came: kernels of other contexts or without a record ran, too\n",
		      out);
}

static void put_gaps(const struct model_gpu_sampling *p, const char *interface, FILE *out)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	if (p->n_gaps)
		fprintf(out, "    %s %s without sampling: %s of %s in all, the longest %s\n",
			text_count(a, p->n_gaps), p->n_gaps == 1 ? "gap" : "gaps",
			text_ns(b, p->gap_ns), text_ns(c, p->gap_ns + p->sampled_ns),
			text_ns(d, p->longest_gap_ns));
	if (p->n_cut)
		fprintf(out,
			"      %s of them at the end of a context, where kernels still ran or %s "
			"could not be asked: the last samples of it are in no count\n",
			text_count(a, p->n_cut), interface);
	if (p->n_buffer_full)
		fprintf(out,
			"    the hardware's buffer was full %s %s: take a longer period, "
			"gpu=nvidia,pc@EXP\n",
			text_count(a, p->n_buffer_full), p->n_buffer_full == 1 ? "time" : "times");
}

/* "98.9%" of agreement, and the agreement if chance were the only error. */
static void put_agreement(FILE *out, const char *what, double wrong, double by_chance,
			  double weight)
{
	if (weight > 0)
		fprintf(out, "      %s: %.1f%% agree (chance alone: %.1f%%)\n", what,
			100 * (1 - wrong / weight), 100 * (1 - by_chance / weight));
}

static void put_yardstick(const struct model_gpu_sampling *p, FILE *out)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	if (!p->n_serialized)
		return;
	fprintf(out, "    %s serialized %s (%s), in which samples know their launch",
		text_count(a, p->n_serialized), p->n_serialized == 1 ? "window" : "windows",
		text_ns(b, p->serialized_ns));
	if (p->yardstick.weight <= 0 && p->yardstick.place_weight <= 0) {
		fputs("; no kernel that several contexts launch ran there: the error of "
		      "apportioning is not known\n",
		      out);
		return;
	}
	fprintf(out,
		": %s samples of %s %s that several contexts launched.\n      Had these been "
		"apportioned by GPU time, too:\n",
		text_count(c, p->yardstick.n_samples), text_count(d, p->yardstick.n_kernels),
		p->yardstick.n_kernels == 1 ? "kernel" : "kernels");
	put_agreement(out, "shares of launching contexts", p->yardstick.wrong_context,
		      p->yardstick.chance_context, p->yardstick.weight);
	if (p->yardstick.place_weight <= 0)
		return;
	put_agreement(out, "shares of contexts and instructions", p->yardstick.wrong_place,
		      p->yardstick.chance_place, p->yardstick.place_weight);
	if (p->yardstick.wrong_place - p->yardstick.chance_place >
	    PLACE_TOLERANCE * p->yardstick.place_weight)
		fputs("      The kernels do other work where they are launched from another place: "
		      "lines and stall reasons that are apportioned to a context are an\v"
		      "average over all that launch the kernel. Those of the kernel as a "
		      "whole are right; mode=serialized has them by context\n",
		      out);
}

void text_report_gpu_sampling(const struct model *m, const struct text_style *s)
{
	const struct model_gpu_sampling *p = &m->gpu_sampling;
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	if (!p->n_ranges && !p->n_gaps)
		return;
	fprintf(s->out,
		"  PC samples: %s taken = %s recorded + %s dropped + %s not attributed; %s\n",
		text_count(a, p->total), text_count(b, p->recorded), text_count(c, p->dropped),
		text_count(d, p->outside), p->closes ? "closes for every range" : "DOES NOT CLOSE");
	if (p->n_open_ranges)
		fprintf(s->out, "    in %s of %s ranges these do not add up\n",
			text_count(a, p->n_open_ranges), text_count(b, p->n_ranges + p->n_gaps));
	put_tree_account(p, s->out);
	put_outside(m, p, s->out);
	put_rate(p, s->out);
	put_gaps(p, vendor_interface(m), s->out);
	put_yardstick(p, s->out);
}
