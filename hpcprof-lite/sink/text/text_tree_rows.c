/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the tree and its heading. See text_tree.h. Test: tests/cli/prof/prof_text.sh. */
#include "hpcprof-lite/sink/text/text_tree.h"

#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_start.h"

#include <string.h>

enum {
	NUMBERS_COLUMNS = 29, /* "  total    self  total time  " */
	GPU_COLUMNS = 48,     /* "  total    self total time  | GPU  GPU time  " */
	GUESSED_COLUMNS = 8,  /* " guessed" */
	KERNELS_COLUMNS = 9,  /* from KERNELS_WIDTH on */
	KERNELS_WIDTH = 110,
	NARROW_COLUMNS = 15, /* " total   self  " on narrow terminals */
	NARROW_COLUMN = 7,   /* each of " guess" and "   GPU" */
	NARROW_VALUE = 10
};

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* If there is little room, the time itself is left out, because the shares say the same. */
static bool has_values(const struct text_tree *w)
{
	return !text_is_narrow(w->s) || !(w->t->has_gpu || w->t->has_guesses);
}

static size_t numbers_columns(const struct text_tree *w)
{
	if (text_is_narrow(w->s))
		return NARROW_COLUMNS + (w->t->has_guesses ? NARROW_COLUMN : 0) +
		       (w->t->has_gpu ? NARROW_COLUMN : 0) + (has_values(w) ? NARROW_VALUE : 0);
	size_t n = !w->t->has_gpu                ? NUMBERS_COLUMNS
		   : w->s->width < KERNELS_WIDTH ? GPU_COLUMNS
						 : GPU_COLUMNS + KERNELS_COLUMNS;
	return w->t->has_guesses ? n + GUESSED_COLUMNS : n;
}

static bool is_in_kernel(const struct model *m, uint32_t context)
{
	for (uint32_t c = m->contexts[context].parent; c != MODEL_NONE; c = m->contexts[c].parent)
		if (view_is_kernel(m, c))
			return true;
	return false;
}

/* True if the item is inside a kernel, where samples count and launches do not. */
static bool is_inside(const struct text_tree *w, const struct view_item *i)
{
	if (!w->t->has_gpu)
		return (w->t->values.spread ||
			w->t->m->metrics[w->t->values.metric].role == MODEL_ROLE_SAMPLES) &&
		       is_in_kernel(w->t->m, i->context);
	return w->t->gpu.samples.total && w->t->gpu.samples.total[i->context] > 0 &&
	       w->t->gpu.kernels.total[i->context] <= 0;
}

static const char *count_samples(const struct text_tree *w, const struct view_item *i,
				 char cell[TEXT_CELL])
{
	char n[TEXT_CELL];
	cell[0] = 0;
	if (is_inside(w, i))
		snprintf(cell, TEXT_CELL, "#%.*s", TEXT_CELL - 2,
			 text_count(n, (uint64_t)view_item_value(&w->t->gpu.samples, i)));
	return cell;
}

static void put_guessed(const struct text_tree *w, const struct view_item *i)
{
	char a[TEXT_CELL];
	if (w->t->has_guesses)
		fprintf(w->s->out, text_is_narrow(w->s) ? " %6s" : " %7s",
			text_share(a, view_item_value(&w->t->guessed, i),
				   view_item_value(&w->t->values, i)));
}

static void put_gpu_numbers(const struct text_tree *w, const struct view_item *i, double total,
			    double self)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL], f[TEXT_CELL];
	double gpu = view_item_value(&w->t->gpu.time, i),
	       kernels = view_item_value(&w->t->gpu.kernels, i);
	text_emphasise(w->s, share(total, w->t->values.whole));
	fprintf(w->s->out, "%7s %7s %10s", text_share(a, total, w->t->values.whole),
		text_share(b, self, w->t->values.whole),
		total > 0 ? text_value(c, w->t->m->metrics[w->t->values.metric].unit, total) : "");
	text_plain(w->s);
	put_guessed(w, i);
	text_emphasise(w->s, share(gpu, w->t->gpu.time.whole));
	fprintf(w->s->out, " %8s %10s", text_share(d, gpu, w->t->gpu.time.whole),
		gpu > 0 ? text_seconds(e, gpu) : "");
	text_plain(w->s);
	if (w->s->width >= KERNELS_WIDTH)
		fprintf(w->s->out, " %8s",
			kernels > 0 ? text_value(f, MODEL_COUNT, kernels) : count_samples(w, i, f));
	fputs("  ", w->s->out);
}

static void put_narrow_numbers(const struct text_tree *w, const struct view_item *i, double total,
			       double self)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	FILE *out = w->s->out;
	text_emphasise(w->s, share(total, w->t->values.whole));
	fprintf(out, "%6s %6s", text_share(a, total, w->t->values.whole),
		text_share(b, self, w->t->values.whole));
	if (has_values(w))
		fprintf(out, " %9s",
			text_value(c, w->t->m->metrics[w->t->values.metric].unit, total));
	text_plain(w->s);
	put_guessed(w, i);
	if (w->t->has_gpu) {
		double gpu = view_item_value(&w->t->gpu.time, i);
		text_emphasise(w->s, share(gpu, w->t->gpu.time.whole));
		fprintf(out, " %6s", text_share(a, gpu, w->t->gpu.time.whole));
		text_plain(w->s);
	}
	fputs("  ", out);
}

static void put_numbers(const struct text_tree *w, const struct view_item *i)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	double total = view_item_value(&w->t->values, i),
	       self = i->is_line ? total : view_tree_self(w->t, &w->t->values, i->context);
	if (text_is_narrow(w->s)) {
		put_narrow_numbers(w, i, total, self);
		return;
	}
	if (w->t->has_gpu) {
		put_gpu_numbers(w, i, total, self);
		return;
	}
	text_emphasise(w->s, w->t->values.whole > 0 ? total / w->t->values.whole : 0);
	fprintf(w->s->out, "%7s %7s %11s", text_share(a, total, w->t->values.whole),
		text_share(b, self, w->t->values.whole),
		text_value(c, w->t->m->metrics[w->t->values.metric].unit, total));
	text_plain(w->s);
	put_guessed(w, i);
	fputs("  ", w->s->out);
}

/* Columns for the call site. */
static size_t place_columns(const struct text_style *s)
{
	return text_is_narrow(s) ? 15 : 24;
}

/* Levels of indentation to draw: few on narrow terminals, so that names keep their room. */
static size_t guide_levels(const struct text_style *s)
{
	return s->width < 78 ? 3 : s->width > 200 ? 24 : (s->width - 60) / 6;
}

/* Draws the guides of the levels around the row, as in text_tree_put_item(). Returns their columns.
 */
static size_t put_guides(const struct text_tree *w, bool branch)
{
	size_t n = w->levels.n, first = n > guide_levels(w->s) ? n - guide_levels(w->s) : 0,
	       columns = 0;
	if (first) {
		fputs("..", w->s->out);
		columns = 2;
	}
	for (size_t i = first; i < n; i++) {
		const struct text_level *l = &w->levels.at[i];
		bool last = l->next == l->end;
		if (!l->indents)
			continue;
		if (branch && i + 1 == n)
			fputs(w->s->utf8 ? (last ? "└ " : "├ ") : (last ? "`-" : "|-"),
			      w->s->out);
		else
			fputs(last ? "  " : w->s->utf8 ? "│ " : "| ", w->s->out);
		columns += 2;
	}
	return columns;
}

static void put_name(const struct text_tree *w, size_t guides, char *name, const char *place)
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

bool text_tree_is_placeholder(const struct text_tree *w, uint32_t context)
{
	return w->t->m->contexts[context].kind == MODEL_CONTEXT_FUNCTION &&
	       view_is_placeholder(w->t->m, w->t->m->contexts[context].function);
}

bool text_tree_is_kernel(const struct text_tree *w, uint32_t context)
{
	return w->t->m->contexts[context].parent != MODEL_NONE &&
	       text_tree_is_placeholder(w, w->t->m->contexts[context].parent);
}

/* Two stall reasons if there is room for both, else the first. */
static void name_stalls(const struct text_tree *w, const struct view_item *i, char *to,
			size_t n_bytes)
{
	text_gpu_stalls(w->t->m, i->context, !i->is_line, to, n_bytes);
	char *second = text_columns(to) > place_columns(w->s) ? strchr(to, ',') : NULL;
	if (second)
		*second = 0;
}

static bool is_called_by_start(const struct model *m, uint32_t place)
{
	while (m->contexts[place].kind >= MODEL_CONTEXT_LOOP)
		place = m->contexts[place].parent;
	return view_is_start_frame(m, place);
}

/*
 * The context whose place is shown beside the row: that of the caller, or the definition of a
 * kernel, because no line calls it. NULL: none. The line of a placeholder belongs to the API, and
 * that of main's caller to libc.
 */
static const struct model_context *called_at(const struct text_tree *w, const struct view_item *i)
{
	const struct model_context *all = w->t->m->contexts, *c = &all[i->context];
	if (i->is_line || c->kind == MODEL_CONTEXT_LOOP || c->parent == MODEL_NONE ||
	    text_tree_is_placeholder(w, i->context))
		return NULL;
	if (text_tree_is_kernel(w, i->context))
		return c;
	if (is_called_by_start(w->t->m, c->parent))
		return NULL;
	return &all[view_tree_is_moved(w->t, i->context) ? w->t->fold.caller[i->context]
							 : c->parent];
}

void text_tree_put_item(const struct text_tree *w, const struct view_item *i, bool branch)
{
	const struct model_context *c = &w->t->m->contexts[i->context];
	char name[TEXT_NAME], place[256] = "";
	text_name(name, sizeof name, w->t->m, c);
	put_numbers(w, i);
	size_t guides = put_guides(w, branch);
	const struct model_context *site = called_at(w, i);
	if (site)
		text_place(place, sizeof place, w->t->m, site);
	if (!*place && is_inside(w, i))
		name_stalls(w, i, place, sizeof place);
	put_name(w, guides, name, place);
}

void text_tree_put_gap(const struct text_tree *w, unsigned n)
{
	char text[64];
	fprintf(w->s->out, "%*s", (int)numbers_columns(w), "");
	size_t guides = put_guides(w, false);
	snprintf(text, sizeof text, w->s->utf8 ? "  ⋮ %u more calls" : "  : %u more calls", n);
	put_name(w, guides, text, "");
}

static bool has_marks(const struct text_tree *w)
{
	for (uint32_t c = 0; c < w->t->m->n_contexts; c++)
		if (w->t->m->contexts[c].marked &&
		    (w->t->values.total[c] > 0 || (w->t->has_gpu && w->t->gpu.time.total[c] > 0)))
			return true;
	return false;
}

void text_tree_put_heading(const struct text_tree *w)
{
	const struct model_metric *metric = &w->t->m->metrics[w->t->values.metric];
	const struct text_style *s = w->s;
	size_t taken = numbers_columns(w) + place_columns(s);
	if (w->t->has_gpu)
		text_heading(s, "Call paths from the top, %s and %s%s", metric->name,
			     w->t->m->metrics[w->t->gpu.time.metric].name,
			     !w->t->gpu.samples.total || s->width < 100 ? ""
			     : s->width < KERNELS_WIDTH
				     ? "; in kernels by PC samples"
				     : "; in kernels by PC samples (#), with stall reasons");
	else
		text_heading(s, "Call paths from the top, %s%s", metric->name,
			     metric->kind == MODEL_METRIC_GPU_MEAN ? ", summed over launches"
			     : w->t->values.spread                 ? "; in kernels by PC samples"
								   : "");
	if (w->t->has_guesses)
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
		fprintf(s->out, "%6s %6s%s%s%s  ", w->t->has_gpu ? "CPU" : "total", "self",
			has_values(w) ? "     total" : "", w->t->has_guesses ? "  guess" : "",
			w->t->has_gpu ? "    GPU" : "");
	else if (!w->t->has_gpu)
		fprintf(s->out, "%7s %7s %11s%s  ", "total", "self", "total",
			w->t->has_guesses ? " guessed" : "");
	else
		fprintf(s->out, "%7s %7s %10s%s %8s %10s  %s", "CPU", "self", "CPU",
			w->t->has_guesses ? " guessed" : "", "GPU", "GPU",
			s->width < KERNELS_WIDTH ? "" : "kernels  ");
	fprintf(s->out, "%-*s%s\n", (int)(s->width > taken ? s->width - taken : 18), "call path",
		"called at");
}
