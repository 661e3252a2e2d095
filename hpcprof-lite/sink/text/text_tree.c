/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call paths from the top: one row for each entry, function and loop, and for each line that
 * takes time itself; the rest of a function's lines shows as the call site behind what they call. A
 * function or loop with one callee alone to show does not indent it, and the middle of a long run
 * of such is left out where nothing takes time itself. Beside a metric of CPUs there may be GPU
 * time: a row is shown when either has its share, rows are ordered by the larger of the two, and
 * the way from a launch to its kernel is never left out. Inside of kernels GPU time is shared out
 * by PC samples, and lines show what was waited for. Explicit stack: paths may be deeper than ours.
 * Test: tests/cli/prof/prof_text.sh, tests/unit/sink/test_text.c.
 */
#include "hpcprof-lite/view/view_fold.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"

#include "common/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
	NUMBERS_COLUMNS = 29, /* "  total    self  total time  " */
	GPU_COLUMNS = 48,     /* "  total    self total time  | GPU  GPU time  " */
	GUESSED_COLUMNS = 8,  /* " guessed" */
	KERNELS_COLUMNS = 9,  /* where there is room */
	KERNELS_WIDTH = 110,
	NARROW_COLUMNS = 15,  /* " total   self  ", where names need the room */
	NARROW_COLUMN = 7,    /* each of " guess" and "   GPU" */
	NARROW_VALUE = 10,
	LONG_RUN = 8, /* functions one below the other without a branch or time of their own ... */
	RUN_HEAD = 3, /* ... of which so many stay at the top */
	RUN_TAIL = 2  /* ... and at the end */
};

struct item {
	uint32_t context;
	bool is_line; /* a line's own time; else an entry, function or loop with all below it */
};

struct level {
	size_t first, end;  /* its items in the list; what comes after is of inner levels */
	size_t next;
	unsigned functions; /* depth in functions of these items */
	bool indents;
};

struct walk {
	const struct model *m;
	const struct view_values *t;
	const struct text_gpu_columns *gpu; /* NULL: none */
	const struct view_values *guessed;  /* of t: what came by a guessed frame; NULL: nothing */
	const struct text_style *s;
	const struct view_fold *fold;
	VEC(struct item) items;
	VEC(struct level) levels;
	bool failed;
};

static double value_of(const struct view_values *t, const struct item *i)
{
	return i->is_line ? t->self[i->context] : t->total[i->context];
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* By what items are ordered: the value, or the larger share of CPU and GPU. */
static double weight(const struct walk *w, const struct item *i)
{
	double value = value_of(w->t, i);
	return w->gpu ? larger(share(value, w->t->whole),
			       share(value_of(&w->gpu->time, i), w->gpu->time.whole))
		      : value;
}

static bool is_shown_by(const struct walk *w, const struct view_values *t, double value)
{
	return value > 0 && value >= w->s->threshold * t->whole;
}

static bool is_shown(const struct walk *w, double value, double gpu_value)
{
	return is_shown_by(w, w->t, value) || (w->gpu && is_shown_by(w, &w->gpu->time, gpu_value));
}

static void add_item(struct walk *w, uint32_t context, bool is_line)
{
	struct item i = {context, is_line}, *at;
	if (!is_shown(w, value_of(w->t, &i), w->gpu ? value_of(&w->gpu->time, &i) : 0))
		return;
	at = vec_push(&w->items);
	if (at)
		*at = i;
	w->failed |= !at;
}

/* A loop whose line is not known says nothing to people: what is in it shows where the loop is. */
static bool has_row(const struct model_context *c)
{
	return c->kind == MODEL_CONTEXT_ENTRY || c->kind == MODEL_CONTEXT_FUNCTION ||
	       (c->kind == MODEL_CONTEXT_LOOP && c->file != MODEL_NONE && c->line);
}

static bool is_folded(const struct walk *w, uint32_t context)
{
	return w->fold->is_folded && w->fold->is_folded[context];
}

static bool is_moved(const struct walk *w, uint32_t context)
{
	return w->fold->caller && w->fold->caller[context] != MODEL_NONE;
}

/* The Python functions that interpreter frames lead to from here. */
static void add_moved(struct walk *w, uint32_t context)
{
	const struct model_context *all = w->m->contexts;
	for (uint32_t c = context + 1; c < context + all[context].subtree_n;) {
		if (is_moved(w, c))
			add_item(w, c, false);
		c += is_folded(w, c) ? 1 : all[c].subtree_n;
	}
}

/* What belongs directly below `context`: its own lines' time, its loops, what the lines call, and
 * what is inlined there. */
static void add_items_below(struct walk *w, uint32_t context)
{
	const struct model_context *all = w->m->contexts;
	uint32_t end = context + all[context].subtree_n;
	for (uint32_t c = context + 1; c < end;) {
		if (has_row(&all[c])) {
			if (!is_moved(w, c))
				add_item(w, c, false);
			if (is_folded(w, c) && !is_folded(w, context))
				add_moved(w, c);
			c += all[c].subtree_n;
			continue;
		}
		if (all[c].kind == MODEL_CONTEXT_LINE)
			add_item(w, c, true);
		c++; /* go inside */
	}
}

static int compare_items(const void *pa, const void *pb, void *arg)
{
	const struct walk *w = arg;
	const struct item *a = pa, *b = pb;
	double x = weight(w, a), y = weight(w, b);
	if (x != y)
		return x < y ? 1 : -1;
	return (a->context > b->context) - (a->context < b->context);
}

static void open_level(struct walk *w, uint32_t context, unsigned functions, bool indents)
{
	struct level l = {.first = w->items.n, .functions = functions, .indents = indents};
	add_items_below(w, context);
	l.end = w->items.n;
	l.next = l.first;
	if (l.end == l.first || w->failed)
		return;
	qsort_r(w->items.at + l.first, l.end - l.first, sizeof *w->items.at, compare_items, w);
	struct level *at = vec_push(&w->levels);
	if (at)
		*at = l;
	w->failed |= !at;
}

/* ---- rows ---- */

static double self_of(const struct walk *w, const struct view_values *t, uint32_t context)
{
	const struct model_context *all = w->m->contexts;
	double self = t->self[context];
	for (uint32_t c = context + 1; c < context + all[context].subtree_n;) {
		if (all[c].kind == MODEL_CONTEXT_FUNCTION || all[c].kind == MODEL_CONTEXT_ENTRY) {
			c += all[c].subtree_n;
			continue;
		}
		self += t->self[c++];
	}
	return self;
}

/* It has time of its own to show. */
static bool has_self(const struct walk *w, uint32_t context)
{
	return is_shown(w, self_of(w, w->t, context),
			w->gpu ? self_of(w, &w->gpu->time, context) : 0);
}

/* The time itself is the first to go: shares say the same. */
static bool has_values(const struct walk *w)
{
	return !text_is_narrow(w->s) || !(w->gpu || w->guessed);
}

static size_t numbers_columns(const struct walk *w)
{
	if (text_is_narrow(w->s))
		return NARROW_COLUMNS + (w->guessed ? NARROW_COLUMN : 0)
			+ (w->gpu ? NARROW_COLUMN : 0) + (has_values(w) ? NARROW_VALUE : 0);
	size_t n = !w->gpu                       ? NUMBERS_COLUMNS
		   : w->s->width < KERNELS_WIDTH ? GPU_COLUMNS
						 : GPU_COLUMNS + KERNELS_COLUMNS;
	return w->guessed ? n + GUESSED_COLUMNS : n;
}

static bool is_in_kernel(const struct model *m, uint32_t context)
{
	for (uint32_t c = m->contexts[context].parent; c != MODEL_NONE; c = m->contexts[c].parent)
		if (view_is_kernel(m, c))
			return true;
	return false;
}

/* Inside of a kernel, below what counts launches. */
static bool is_inside(const struct walk *w, const struct item *i)
{
	if (!w->gpu)
		return (w->t->spread || w->m->metrics[w->t->metric].role == MODEL_ROLE_SAMPLES) &&
		       is_in_kernel(w->m, i->context);
	return w->gpu->samples.total && w->gpu->samples.total[i->context] > 0 &&
	       w->gpu->kernels.total[i->context] <= 0;
}

static const char *count_samples(const struct walk *w, const struct item *i, char cell[TEXT_CELL])
{
	char n[TEXT_CELL];
	cell[0] = 0;
	if (is_inside(w, i))
		snprintf(cell, TEXT_CELL, "#%.*s", TEXT_CELL - 2,
			 text_count(n, (uint64_t)value_of(&w->gpu->samples, i)));
	return cell;
}

static void put_guessed(const struct walk *w, const struct item *i)
{
	char a[TEXT_CELL];
	if (w->guessed)
		fprintf(w->s->out, text_is_narrow(w->s) ? " %6s" : " %7s",
			text_share(a, value_of(w->guessed, i), value_of(w->t, i)));
}

static void put_gpu_numbers(const struct walk *w, const struct item *i, double total, double self)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL], f[TEXT_CELL];
	double gpu = value_of(&w->gpu->time, i), kernels = value_of(&w->gpu->kernels, i);
	text_emphasise(w->s, share(total, w->t->whole));
	fprintf(w->s->out, "%7s %7s %10s", text_share(a, total, w->t->whole),
		text_share(b, self, w->t->whole),
		total > 0 ? text_value(c, w->m->metrics[w->t->metric].unit, total) : "");
	text_plain(w->s);
	put_guessed(w, i);
	text_emphasise(w->s, share(gpu, w->gpu->time.whole));
	fprintf(w->s->out, " %8s %10s", text_share(d, gpu, w->gpu->time.whole),
		gpu > 0 ? text_value(e, "sec", gpu) : "");
	text_plain(w->s);
	if (w->s->width >= KERNELS_WIDTH)
		fprintf(w->s->out, " %8s",
			kernels > 0 ? text_value(f, "count", kernels) : count_samples(w, i, f));
	fputs("  ", w->s->out);
}

static void put_narrow_numbers(const struct walk *w, const struct item *i, double total,
			       double self)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	FILE *out = w->s->out;
	text_emphasise(w->s, share(total, w->t->whole));
	fprintf(out, "%6s %6s", text_share(a, total, w->t->whole),
		text_share(b, self, w->t->whole));
	if (has_values(w))
		fprintf(out, " %9s", text_value(c, w->m->metrics[w->t->metric].unit, total));
	text_plain(w->s);
	put_guessed(w, i);
	if (w->gpu) {
		double gpu = value_of(&w->gpu->time, i);
		text_emphasise(w->s, share(gpu, w->gpu->time.whole));
		fprintf(out, " %6s", text_share(a, gpu, w->gpu->time.whole));
		text_plain(w->s);
	}
	fputs("  ", out);
}

static void put_numbers(const struct walk *w, const struct item *i)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	double total = value_of(w->t, i), self = i->is_line ? total : self_of(w, w->t, i->context);
	if (text_is_narrow(w->s)) {
		put_narrow_numbers(w, i, total, self);
		return;
	}
	if (w->gpu) {
		put_gpu_numbers(w, i, total, self);
		return;
	}
	text_emphasise(w->s, w->t->whole > 0 ? total / w->t->whole : 0);
	fprintf(w->s->out, "%7s %7s %11s", text_share(a, total, w->t->whole),
		text_share(b, self, w->t->whole),
		text_value(c, w->m->metrics[w->t->metric].unit, total));
	text_plain(w->s);
	put_guessed(w, i);
	fputs("  ", w->s->out);
}

/* Columns of the call site, and levels of indentation that are drawn, so that the names keep their
 * room. */
static size_t place_columns(const struct text_style *s)
{
	return text_is_narrow(s) ? 15 : 24;
}

static size_t guide_levels(const struct text_style *s)
{
	return s->width < 78 ? 3 : s->width > 200 ? 24 : (s->width - 60) / 6;
}

/* The guides of the levels around the present row, which begins a branch of the innermost or goes
 * on below one. Returns their columns. */
static size_t put_guides(const struct walk *w, bool branch)
{
	size_t n = w->levels.n, first = n > guide_levels(w->s) ? n - guide_levels(w->s) : 0,
	       columns = 0;
	if (first) {
		fputs("..", w->s->out);
		columns = 2;
	}
	for (size_t i = first; i < n; i++) {
		const struct level *l = &w->levels.at[i];
		bool last = l->next == l->end;
		if (!l->indents)
			continue;
		if (branch && i + 1 == n)
			fputs(w->s->utf8 ? (last ? "└ " : "├ ") : last ? "`-" : "|-", w->s->out);
		else
			fputs(last ? "  " : w->s->utf8 ? "│ " : "| ", w->s->out);
		columns += 2;
	}
	return columns;
}

static void put_name(const struct walk *w, size_t guides, char *name, const char *place)
{
	size_t places = place_columns(w->s), taken = numbers_columns(w) + guides + places + 2;
	size_t room = w->s->width > taken + 12 ? w->s->width - taken : 12;
	text_shorten(name, room);
	size_t n = text_columns(name);
	if (*place) {
		text_cell(w->s->out, name, room);
		fputs("  ", w->s->out);
		n = text_columns(place);
		text_cell(w->s->out, place, n < places ? n : places);
	} else {
		text_cell(w->s->out, name, n > room + places + 2 ? room + places + 2 : n);
	}
	putc('\n', w->s->out);
}

static bool is_placeholder(const struct walk *w, uint32_t context)
{
	return w->m->contexts[context].kind == MODEL_CONTEXT_FUNCTION &&
	       view_is_placeholder(w->m, w->m->contexts[context].function);
}

static bool is_kernel(const struct walk *w, uint32_t context)
{
	return w->m->contexts[context].parent != MODEL_NONE &&
	       is_placeholder(w, w->m->contexts[context].parent);
}

/* Two reasons where there is room for both, else the first. */
static void name_stalls(const struct walk *w, const struct item *i, char *to, size_t n_bytes)
{
	text_gpu_stalls(w->m, i->context, !i->is_line, to, n_bytes);
	char *second = text_columns(to) > place_columns(w->s) ? strchr(to, ',') : NULL;
	if (second)
		*second = 0;
}

static void put_item(const struct walk *w, const struct item *i, bool branch)
{
	const struct model_context *c = &w->m->contexts[i->context];
	char name[TEXT_NAME], place[256] = "";
	text_name(name, sizeof name, w->m, c);
	put_numbers(w, i);
	size_t guides = put_guides(w, branch);
	if (!i->is_line && c->kind != MODEL_CONTEXT_LOOP && c->parent != MODEL_NONE &&
	    !is_placeholder(w,
			    i->context)) /* whose line is the profiler's or the API's own; a kernel
					    is called at no line: it shows where it is defined */
		text_place(place, sizeof place, w->m,
			   is_kernel(w, i->context)
				   ? c
				   : &w->m->contexts[is_moved(w, i->context)
							     ? w->fold->caller[i->context]
							     : c->parent]);
	if (!*place && is_inside(w, i))
		name_stalls(w, i, place, sizeof place);
	put_name(w, guides, name, place);
}

/* ---- runs of functions without a branch ---- */

/* The only item to show below a function, when it is a function; else MODEL_NONE. */
static uint32_t only_child(struct walk *w, uint32_t context)
{
	size_t n = w->items.n;
	add_items_below(w, context);
	uint32_t child = w->items.n == n + 1 && !w->items.at[n].is_line ? w->items.at[n].context
									: MODEL_NONE;
	w->items.n = n;
	return child;
}

/* On the short way from the function that launches to what the GPU does. */
static bool is_near_gpu(struct walk *w, uint32_t context)
{
	if (!w->gpu)
		return false;
	if (is_kernel(w, context))
		return true;
	for (unsigned i = 0; i < 3 && context != MODEL_NONE; i++, context = only_child(w, context))
		if (is_placeholder(w, context))
			return true;
	return false;
}

/* How many contexts from `context` on have one child to show and nothing of their own; the one
 * RUN_TAIL before the end goes to *resume. */
static unsigned measure_run(struct walk *w, uint32_t context, uint32_t *resume)
{
	uint32_t tail[RUN_TAIL] = {context};
	unsigned n = 0;
	for (uint32_t c = context; c != MODEL_NONE && !has_self(w, c) && !is_near_gpu(w, c); n++) {
		tail[n % RUN_TAIL] = c;
		c = only_child(w, c);
	}
	*resume = tail[n % RUN_TAIL];
	return n;
}

static void put_gap(const struct walk *w, unsigned n)
{
	char text[64];
	fprintf(w->s->out, "%*s", (int)numbers_columns(w), "");
	size_t guides = put_guides(w, false);
	snprintf(text, sizeof text, w->s->utf8 ? "  ⋮ %u more calls" : "  : %u more calls", n);
	put_name(w, guides, text, "");
}

/* Shows one item and what hangs on it without a branch; opens the level of what branches off at the
 * end. */
static void show(struct walk *w, struct item item, unsigned functions)
{
	unsigned quiet = 0; /* rows in a row without time of their own */
	for (bool branch = true;; branch = false) {
		put_item(w, &item, branch);
		if (item.is_line || (w->s->depth && functions >= w->s->depth))
			return;
		uint32_t child = only_child(w, item.context), resume;
		if (child == MODEL_NONE)
			break;
		quiet = has_self(w, item.context) ? 0 : quiet + 1;
		unsigned ahead =
			quiet == RUN_HEAD && !w->s->depth ? measure_run(w, child, &resume) : 0;
		if (ahead > LONG_RUN - RUN_HEAD) {
			put_gap(w, ahead - RUN_TAIL);
			child = resume;
		}
		functions += w->m->contexts[item.context].kind != MODEL_CONTEXT_LOOP;
		item = (struct item){child, false};
	}
	functions += w->m->contexts[item.context].kind != MODEL_CONTEXT_LOOP;
	open_level(w, item.context, functions, true);
}

static bool has_marks(const struct walk *w)
{
	for (uint32_t c = 0; c < w->m->n_contexts; c++)
		if (w->m->contexts[c].marked &&
		    (w->t->total[c] > 0 || (w->gpu && w->gpu->time.total[c] > 0)))
			return true;
	return false;
}

static void put_heading(const struct walk *w)
{
	const struct model_metric *metric = &w->m->metrics[w->t->metric];
	const struct text_style *s = w->s;
	size_t taken = numbers_columns(w) + place_columns(s);
	if (w->gpu)
		text_heading(s, "Call paths from the top, %s and %s%s", metric->name,
			     w->m->metrics[w->gpu->time.metric].name,
			     !w->gpu->samples.total || s->width < 100 ? ""
			     : s->width < KERNELS_WIDTH
				     ? "; in kernels by PC samples"
				     : "; in kernels by PC samples (#), with stall reasons");
	else
		text_heading(s, "Call paths from the top, %s%s", metric->name,
			     metric->kind == MODEL_METRIC_GPU_MEAN ? ", summed over launches"
			     : w->t->spread                        ? "; in kernels by PC samples"
								   : "");
	if (w->guessed)
		fputs("  ?: a guessed frame; guessed: the row's share that came by paths with "
		      "one.\n"
		      "  Where that is 100%, the callers above the guessed frame are a guess, "
		      "too.\n",
		      s->out);
	else if (has_marks(w))
		fputs("  ?: a guessed frame; its callers are a guess, too, as far as they are "
		      "known by it.\n",
		      s->out);
	if (text_is_narrow(s))
		fprintf(s->out, "%6s %6s%s%s%s  ", w->gpu ? "CPU" : "total", "self",
			has_values(w) ? "     total" : "", w->guessed ? "  guess" : "",
			w->gpu ? "    GPU" : "");
	else if (!w->gpu)
		fprintf(s->out, "%7s %7s %11s%s  ", "total", "self", "total",
			w->guessed ? " guessed" : "");
	else
		fprintf(s->out, "%7s %7s %10s%s %8s %10s  %s", "CPU", "self", "CPU",
			w->guessed ? " guessed" : "", "GPU", "GPU",
			s->width < KERNELS_WIDTH ? "" : "kernels  ");
	fprintf(s->out, "%-*s%s\n", (int)(s->width > taken ? s->width - taken : 18), "call path",
		"called at");
}

static bool write_tree(const struct walk *how)
{
	struct walk w = *how;
	const struct text_style *s = w.s;
	put_heading(&w);
	open_level(&w, 0, 0, false);
	while (w.levels.n && !w.failed) {
		struct level *l = &w.levels.at[w.levels.n - 1];
		if (l->next == l->end) {
			w.items.n = l->first;
			w.levels.n--;
			continue;
		}
		struct item item = w.items.at[l->next++];
		show(&w, item, l->functions);
	}
	putc('\n', s->out);
	vec_free(&w.items);
	vec_free(&w.levels);
	return !w.failed;
}

/* With totals of its own, from which those of folded frames are taken. */
static bool copy_totals(const struct model *m, const struct view_fold *f, struct view_values *t)
{
	double *own = f->caller && t->total ? malloc(m->n_contexts * sizeof *own) : NULL;
	bool good = own || !f->caller || !t->total;
	if (own)
		memcpy(own, t->total, m->n_contexts * sizeof *own);
	t->total = own ? own : t->total;
	if (own)
		view_fold_apply(m, f, t);
	return good;
}

/* What of `t` came by guessed frames; nothing is opened where there is none. False when memory is
 * short. */
static bool open_guessed(const struct model *m, const struct view_values *t,
			 struct view_values *guessed)
{
	*guessed = (struct view_values){0};
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_GUESSED && m->metrics[i].parent == t->metric)
			return view_values_open(m, i, guessed);
	return true;
}

bool text_report_tree(const struct model *m, const struct view_values *t,
		      const struct text_gpu_columns *gpu, const struct text_style *s)
{
	struct view_values own = *t;
	struct text_gpu_columns own_gpu = gpu ? *gpu : (struct text_gpu_columns){0};
	struct view_values guessed, own_guessed;
	struct view_values *const metrics[] = {&own, &own_gpu.time, &own_gpu.kernels,
					       &own_gpu.samples, &own_guessed};
	const double *given[sizeof metrics / sizeof *metrics];
	struct view_fold fold = {0};
	bool good = open_guessed(m, t, &guessed) && (s->interpreter || view_fold_open(m, &fold));
	own_guessed = guessed;
	for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
		given[i] = metrics[i]->total;
		good = good && copy_totals(m, &fold, metrics[i]);
	}
	good = good && write_tree(&(struct walk){.m = m,
						 .t = &own,
						 .gpu = gpu ? &own_gpu : NULL,
						 .guessed = guessed.whole > 0 ? &own_guessed : NULL,
						 .s = s,
						 .fold = &fold});
	for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
		if (metrics[i]->total != given[i])
			free(metrics[i]->total);
	view_fold_close(&fold);
	view_values_close(&guessed);
	return good;
}
