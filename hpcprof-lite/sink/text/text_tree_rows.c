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
	KERNELS_COLUMNS = 9,
	NARROW_COLUMNS = 15, /* " total   self  " on narrow terminals */
	NARROW_COLUMN = 7,   /* each of " guess" and "   GPU" */
	NARROW_VALUE = 10,
	/*
	 * More numbers are shown where guides and name have ROOM columns all the same, and until
	 * then no more than ROOM: a wider terminal never cuts a name more.
	 */
	ROOM = 45,
	PLACE = 15, /* of the call site; PLACE_MOST if all numbers are shown */
	PLACE_MOST = 24,
	BETWEEN = 2,
	NAME_LEAST = 12,
	WIDE_GUIDES = 8 /* levels with two columns; those below have one, but for the last */
};

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* The columns of the numbers, without that of kernels. */
static size_t wide_columns(const struct text_tree *w)
{
	return (w->t->has_gpu ? GPU_COLUMNS : NUMBERS_COLUMNS) +
	       (w->t->has_guesses ? GUESSED_COLUMNS : 0);
}

static bool is_narrow(const struct text_tree *w)
{
	return w->s->width < wide_columns(w) + ROOM + BETWEEN + PLACE;
}

static bool has_kernels(const struct text_tree *w)
{
	return w->t->has_gpu &&
	       w->s->width >= wide_columns(w) + KERNELS_COLUMNS + ROOM + BETWEEN + PLACE;
}

/* If there is little room, the time itself is left out, because the shares say the same. */
static bool has_values(const struct text_tree *w)
{
	return !is_narrow(w) || !(w->t->has_gpu || w->t->has_guesses);
}

static size_t numbers_columns(const struct text_tree *w)
{
	if (is_narrow(w))
		return NARROW_COLUMNS + (w->t->has_guesses ? NARROW_COLUMN : 0) +
		       (w->t->has_gpu ? NARROW_COLUMN : 0) + (has_values(w) ? NARROW_VALUE : 0);
	return wide_columns(w) + (has_kernels(w) ? KERNELS_COLUMNS : 0);
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
		fprintf(w->s->out, is_narrow(w) ? " %6s" : " %7s",
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
	if (has_kernels(w))
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
	if (is_narrow(w)) {
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

/* Columns for the guides and the name, and for the call site. */
static void share_room(const struct text_tree *w, size_t *room, size_t *place)
{
	const size_t taken = numbers_columns(w) + BETWEEN + PLACE,
		     all = w->s->width > taken + NAME_LEAST ? w->s->width - taken : NAME_LEAST;
	*place = PLACE;
	*room = all;
	if (is_narrow(w) || has_kernels(w) != w->t->has_gpu) {
		*room = all < ROOM ? all : ROOM;
		return;
	}
	const size_t more = (all - ROOM) / 2;
	*place += more < PLACE_MOST - PLACE ? more : PLACE_MOST - PLACE;
	*room -= *place - PLACE;
}

static size_t place_columns(const struct text_tree *w)
{
	size_t room, place;
	share_room(w, &room, &place);
	return place;
}

/* Of the guides of the innermost n levels and of the run that the row is in. */
static size_t guide_columns(const struct text_tree *w, size_t n_levels)
{
	size_t n = n_levels <= WIDE_GUIDES ? 2 * n_levels : WIDE_GUIDES + n_levels + 1;
	for (size_t i = 0; i < w->levels.n; i++)
		n += w->levels.at[i].pad;
	return n + w->run;
}

bool text_tree_is_deep(const struct text_tree *w)
{
	size_t room, place, n = w->levels.n;
	share_room(w, &room, &place);
	return n >= TEXT_TREE_LEVELS ||
	       guide_columns(w, n + 1) + NAME_LEAST > room + BETWEEN + place;
}

/* Draws the guides of the levels around the row, as in text_tree_put_item(). Returns their columns.
 */
static size_t put_guides(const struct text_tree *w, bool branch)
{
	const size_t first = w->levels.n && !w->levels.at[0].indents, n = w->levels.n - first;
	const bool utf8 = w->s->utf8;
	for (size_t i = 0; i < n; i++) {
		const struct text_level *l = &w->levels.at[first + i];
		const bool last = l->next == l->end, innermost = i + 1 == n;
		fprintf(w->s->out, "%*s", (int)l->pad, "");
		if (branch && innermost)
			fputs(utf8 ? (last ? "└" : "├") : (last ? "`" : "|"), w->s->out);
		else
			fputs(last ? " " : utf8 ? "│" : "|", w->s->out);
		if (i < WIDE_GUIDES || innermost)
			putc(branch && innermost && !utf8 ? '-' : ' ', w->s->out);
	}
	fprintf(w->s->out, "%*s", (int)w->run, "");
	return guide_columns(w, n);
}

/* Deep in the tree, the name takes columns from the place. */
static void put_name(const struct text_tree *w, size_t guides, char *name, const char *place)
{
	size_t room, places;
	share_room(w, &room, &places);
	const size_t all = room + BETWEEN + places - guides;
	room = room > guides + NAME_LEAST ? room - guides : NAME_LEAST;
	places = all > room + BETWEEN ? all - room - BETWEEN : 0;
	if (!*place || !places)
		room = all;
	text_shorten(name, room);
	size_t n = text_columns(name);
	if (*place && places) {
		text_cell(w->s->out, name, room);
		fputs("  ", w->s->out);
		n = text_columns(place);
		text_cell(w->s->out, place, n < places ? n : places);
	} else {
		text_cell(w->s->out, name, n > room ? room : n);
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
	char *second = text_columns(to) > place_columns(w) ? strchr(to, ',') : NULL;
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
	const int n = w->piece ? snprintf(name, sizeof name, "[%zu] ", w->piece) : 0;
	text_name(name + n, sizeof name - (size_t)n, w->t->m, c);
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

void text_tree_put_continued(const struct text_tree *w, size_t piece)
{
	char text[64];
	fprintf(w->s->out, "%*s", (int)numbers_columns(w), "");
	size_t guides = put_guides(w, false);
	snprintf(text, sizeof text, w->s->utf8 ? "  ⋮ below: [%zu]" : "  : below: [%zu]", piece);
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
	size_t room, place;
	share_room(w, &room, &place);
	if (w->t->has_gpu)
		text_heading(s, "Call paths from the top, %s and %s%s", metric->name,
			     w->t->m->metrics[w->t->gpu.time.metric].name,
			     !w->t->gpu.samples.total || is_narrow(w) ? ""
			     : has_kernels(w) ? "; in kernels by PC samples (#), with stall reasons"
					      : "; in kernels by PC samples");
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
	if (is_narrow(w))
		fprintf(s->out, "%6s %6s%s%s%s  ", w->t->has_gpu ? "CPU" : "total", "self",
			has_values(w) ? "     total" : "", w->t->has_guesses ? "  guess" : "",
			w->t->has_gpu ? "    GPU" : "");
	else if (!w->t->has_gpu)
		fprintf(s->out, "%7s %7s %11s%s  ", "total", "self", "total",
			w->t->has_guesses ? " guessed" : "");
	else
		fprintf(s->out, "%7s %7s %10s%s %8s %10s  %s", "CPU", "self", "CPU",
			w->t->has_guesses ? " guessed" : "", "GPU", "GPU",
			has_kernels(w) ? "kernels  " : "");
	fprintf(s->out, "%-*s%s\n", (int)(room + BETWEEN), "call path", "called at");
}
