/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section about MPI: ranks, the places that wait most, who comes late to collective calls,
 * sizes, pairs of ranks and communicators. Test: tests/cli/mpi/mpi_late.sh.
 */
#include "common/base/foreign.h"
#include "hpcprof-lite/sink/text/text_lines.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/view_mpi.h"
#include "hpcprof-lite/view/view_mpi_open.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 16, MOST_LATE = 4, MANY_RANKS = 24 };

/* ---- names ---- */

static const char *function_name(const struct model *m, uint32_t function)
{
	const char *name = function < m->n_functions ? m->functions[function].name : "";
	return name[0] ? name : "<unknown function>";
}

static void put_name(const struct text_style *s, const char *name, size_t used)
{
	size_t room = s->width > used + 16 ? s->width - used : 16, columns = text_columns(name);
	text_cell(s->out, name, columns < room ? columns : room);
	putc('\n', s->out);
}

/* "main.c:12 in step", or the name of the function if there is no line. */
static void name_place(const struct model *m, uint32_t context, char *to, size_t n_bytes)
{
	const struct model_context *c = &m->contexts[context];
	to[0] = 0;
	if (c->kind != MODEL_CONTEXT_FUNCTION)
		text_place(to, n_bytes, m, c);
	if (!*to) {
		text_name(to, n_bytes, m, c);
		return;
	}
	if (c->function < m->n_functions)
		snprintf(to + strlen(to), n_bytes - strlen(to), " in %s",
			 function_name(m, c->function));
}

static void name_call(const struct model *m, uint16_t call, uint32_t context, char *to,
		      size_t n_bytes)
{
	char place[TEXT_NAME - 64];
	name_place(m, context, place, sizeof place);
	snprintf(to, n_bytes, "%s at %s", mpi_call_name(call), place);
}

/* True for libc, where processes and threads start. */
static bool is_start(const struct model *m, uint32_t module)
{
	return module < m->n_modules && m->modules[module].role == MODEL_MODULE_START;
}

/* ---- chains of functions ---- */

enum { MOST_FUNCTIONS = 4, SEPARATOR = 3, LEAST_COLUMNS = 24, INDENT = 14 };

struct chain {
	char name[MOST_FUNCTIONS][TEXT_NAME];
	size_t n;
};

static void add_name(struct chain *c, const struct model *m, uint32_t function)
{
	char *name = c->name[c->n++];
	if (function < m->n_functions)
		text_function_name(name, TEXT_NAME, m, function);
	else
		snprintf(name, TEXT_NAME, "<unknown function>");
}

/* The columns for each name, if names that need less leave the rest to the others. */
static size_t share_out(const struct chain *c, size_t room)
{
	size_t share = room / c->n;
	for (size_t round = 0; round < c->n; round++) {
		size_t used = 0, n_long = 0;
		for (size_t i = 0; i < c->n; i++) {
			const size_t columns = text_columns(c->name[i]);
			n_long += columns > share;
			used += columns > share ? 0 : columns;
		}
		if (!n_long)
			break;
		share = (room - used) / n_long;
	}
	return share < LEAST_COLUMNS ? LEAST_COLUMNS : share;
}

/* Columns of the chain if no name has more than `most`. */
static size_t columns_of(const struct chain *c, size_t most)
{
	size_t columns = c->n ? SEPARATOR * (c->n - 1) : 0;
	for (size_t i = 0; i < c->n; i++) {
		const size_t n = text_columns(c->name[i]);
		columns += n < most ? n : most;
	}
	return columns;
}

/* Prints the chain on lines of its own, broken between the names. */
static void put_chain_below(const struct text_style *s, struct chain *c, const char *before,
			    const char *separator)
{
	const size_t room = s->width - INDENT - SEPARATOR,
		     half = (room - SEPARATOR) / 2; /* of a line, for names that can be shortened */
	size_t used = INDENT + strlen(before);
	fprintf(s->out, "\n%*s%s", INDENT, "", before);
	for (size_t i = 0; i < c->n; i++) {
		text_shorten(c->name[i], c->n > 1 ? half : room);
		const size_t n = text_columns(c->name[i]), columns = n < room ? n : room;
		if (i && used + SEPARATOR + columns > s->width) {
			fprintf(s->out, "\n%*s", INDENT - 1, "");
			used = INDENT - 1;
		}
		fputs(i ? separator : "", s->out);
		text_cell(s->out, c->name[i], columns);
		used += (i ? SEPARATOR : 0) + columns;
	}
	putc('\n', s->out);
}

/*
 * Prints the chain behind `used` columns. Each name is cut by itself, so that all can be
 * recognised.
 */
static void put_chain(const struct text_style *s, struct chain *c, const char *before,
		      const char *separator, size_t used)
{
	used += 1 + strlen(before);
	if (used + columns_of(c, text_is_narrow(s) ? SIZE_MAX : LEAST_COLUMNS) > s->width) {
		put_chain_below(s, c, before, separator);
		return;
	}
	used += c->n ? SEPARATOR * (c->n - 1) : 0;
	const size_t room = s->width > used ? s->width - used : 0;
	size_t share = c->n ? share_out(c, room) : 0;
	for (size_t i = 0; i < c->n; i++)
		text_shorten(c->name[i], share);
	share = c->n ? share_out(c, room) : 0; /* without parameters, some need less */
	fprintf(s->out, " %s", before);
	for (size_t i = 0; i < c->n; i++) {
		const size_t columns = text_columns(c->name[i]);
		fputs(i ? separator : "", s->out);
		text_cell(s->out, c->name[i], columns < share ? columns : share);
	}
	putc('\n', s->out);
}

/* The functions from the entry to the caller of MPI, the innermost last. */
static void put_path(const struct model *m, uint32_t caller, const struct text_style *s,
		     size_t used)
{
	struct chain c = {.n = 0};
	uint32_t function[MOST_FUNCTIONS];
	size_t n = 0;
	uint32_t at = view_mpi_holder(m, caller);
	for (; at != MODEL_NONE && !is_start(m, m->contexts[at].module) && n < MOST_FUNCTIONS;
	     at = view_mpi_holder(m, m->contexts[at].parent))
		function[n++] = m->contexts[at].function;
	const bool has_more = at != MODEL_NONE && !is_start(m, m->contexts[at].module);
	while (n)
		add_name(&c, m, function[--n]);
	put_chain(s, &c, has_more ? ".. > " : "", " > ", used);
}

/*
 * "MPI_Send at main.c:12 in step < run": the callers up to the one by which the row differs from
 * others.
 */
static void put_call(const struct model *m, const struct view_mpi_place *p,
		     const struct text_style *s, size_t used)
{
	struct chain c = {.n = 0};
	char place[TEXT_NAME] = "";
	uint32_t at = view_mpi_holder(m, p->context);
	if (at == MODEL_NONE || at == p->context) {
		name_call(m, p->call, p->context, place, sizeof place);
		if (!p->n_callers || at == MODEL_NONE) {
			put_name(s, place, used);
			return;
		}
		at = view_mpi_holder(m, m->contexts[at].parent);
	}
	text_place(place, sizeof place, m, &m->contexts[p->context]);
	foreign_printf(s->out, "%s%s%s", mpi_call_name(p->call), *place ? " at " : "", place);
	used += strlen(mpi_call_name(p->call));
	used += *place ? strlen(" at ") + text_columns(place) : 0;
	for (uint32_t i = 0; at != MODEL_NONE && i <= p->n_callers; i++) {
		if (i < MOST_FUNCTIONS - 2 || i == p->n_callers || p->n_callers < MOST_FUNCTIONS)
			add_name(&c, m, m->contexts[at].function);
		else if (i == MOST_FUNCTIONS - 2)
			snprintf(c.name[c.n++], TEXT_NAME, "..");
		at = view_mpi_holder(m, m->contexts[at].parent);
	}
	put_chain(s, &c, "in ", " < ", used);
}

static const char *value(char cell[TEXT_CELL], enum model_unit unit, double v)
{
	return v > 0 ? text_value(cell, unit, v) : "";
}

/* ---- the whole, and ranks ---- */

static void say_head(const struct model *m, const struct view_mpi *v, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL];
	text_heading(s,
		     "MPI: %zu processes, %s in %s calls (%s of the time of the threads that "
		     "called), %s waiting (%s)",
		     v->n_processes, text_seconds(a, v->whole.seconds),
		     text_count(b, v->whole.n_calls), text_share(c, v->whole.seconds, v->elapsed),
		     text_seconds(d, v->whole.waited),
		     text_share(e, v->whole.waited, v->whole.seconds));
	if (m->mpi->n_lost)
		fprintf(s->out, "  %s calls could not be recorded\n",
			text_count(a, m->mpi->n_lost));
	if (m->mpi->n_all_peers)
		fprintf(s->out, "  %s calls are recorded without their peers, to save space\n",
			text_count(a, m->mpi->n_all_peers));
	if (m->mpi->clock_error_ns == UINT64_MAX)
		fputs("  the clocks of the hosts could not be compared; waiting between hosts "
		      "relies on their time of day\n",
		      s->out);
	else if (m->mpi->clock_error_ns)
		fprintf(s->out, "  the clocks of the hosts are known to +-%s\n",
			text_ns(a, m->mpi->clock_error_ns));
}

static bool put_head(const struct model *m, const struct view_mpi *v, const struct text_style *s)
{
	struct text_lines lines;
	if (!text_lines_begin(&lines, s))
		return false;
	say_head(m, v, &lines.style);
	return text_lines_end(&lines);
}

/* A narrow report leaves out the host if there is a rank or no room. */
static void put_process(const struct model *m, const struct view_mpi_process *p,
			const struct text_style *s)
{
	enum { TAKEN = 65 };
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL], f[TEXT_CELL];
	const struct model_process *process = &m->processes[p->process];
	fprintf(s->out, "%10s %7s %10s %11s %10s %10s  ", value(a, MODEL_SECONDS, p->sums.seconds),
		text_share(b, p->sums.seconds, p->elapsed), value(c, MODEL_SECONDS, p->sums.waited),
		text_count(d, p->sums.n_calls), value(e, MODEL_BYTES, (double)p->sums.sent),
		value(f, MODEL_BYTES, (double)p->sums.received));
	char pid[24];
	const size_t n = (size_t)snprintf(pid, sizeof pid, "pid %" PRIu32, process->pid);
	if (process->rank >= 0)
		fprintf(s->out, "rank %" PRId32, process->rank);
	if (text_is_narrow(s) && process->rank >= 0) {
		putc('\n', s->out);
		return;
	}
	fputs(process->rank >= 0 ? " " : "", s->out);
	if (!text_is_narrow(s) || TAKEN + text_columns(process->host) + 1 + n <= s->width) {
		text_cell(s->out, process->host, 0);
		putc(' ', s->out);
	}
	fprintf(s->out, "%s\n", pid);
}

static void put_processes(const struct model *m, const struct view_mpi *v,
			  const struct text_style *s)
{
	const bool all = v->n_processes <= MANY_RANKS || s->threshold == 0;
	fprintf(s->out, "%10s %7s %10s %11s %10s %10s  %s\n", "MPI", "share", "waiting", "calls",
		"sent", "received", "process");
	for (size_t i = 0; i < v->n_processes; i++) {
		if (!all && i == MANY_RANKS - 4) {
			fprintf(s->out, "%10s  ... %zu more ...\n", "",
				v->n_processes - MANY_RANKS);
			i = v->n_processes - 4;
		}
		put_process(m, &v->processes[i], s);
	}
	putc('\n', s->out);
}

/* ---- places ---- */

static bool is_small(const struct text_style *s, double part, double whole)
{
	return part <= 0 || part < s->threshold * whole;
}

static void put_places(const struct model *m, const struct view_mpi *v, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	size_t n_hidden = 0;
	text_heading(s, "Calls of MPI by waiting time (~: a part of it is an estimate)");
	fprintf(s->out, "%10s  %10s %11s %10s  %s\n", "waiting", "time", "calls", "sent", "call");
	for (size_t i = 0; i < v->n_places; i++) {
		const struct view_mpi_place *p = &v->places[i];
		if ((i >= MOST_ROWS && s->threshold > 0) ||
		    is_small(s, p->sums.seconds, v->whole.seconds)) {
			n_hidden++;
			continue;
		}
		fprintf(s->out, "%10s%s %10s %11s %10s  ", value(a, MODEL_SECONDS, p->sums.waited),
			p->sums.waited > 0 && !p->sums.wait_is_known ? "~" : " ",
			value(b, MODEL_SECONDS, p->sums.seconds), text_count(c, p->sums.n_calls),
			value(d, MODEL_BYTES, (double)p->sums.sent));
		put_call(m, p, s, 47);
	}
	if (n_hidden)
		fprintf(s->out, "%10s  %zu more\n", "", n_hidden);
	putc('\n', s->out);
}

/* ---- late arrivers ---- */

static void put_late(const struct model *m, const struct model_mpi_site *site,
		     const struct model_mpi_late *l, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	const struct model_profile *p = &m->profiles[l->profile];
	const struct model_process *process = &m->processes[p->process];
	char who[24];
	if (process->rank >= 0)
		snprintf(who, sizeof who, "rank %" PRId32, process->rank);
	else
		snprintf(who, sizeof who, "pid %" PRIu32, process->pid);
	value(a, MODEL_SECONDS, (double)l->waited_ns / 1e9);
	text_share(b, (double)l->n_calls, (double)site->n_calls);
	text_seconds(c, (double)l->behind_ns / 1e9 / (double)l->n_calls);
	text_ns(d, l->most_behind_ns);
	int used = fprintf(s->out, "%10s  ", a);
	if (text_is_narrow(s))
		used += fprintf(s->out, "%s last in %s of calls, %s behind, %s at most", who, b, c,
				d);
	else
		used += fprintf(s->out,
				"last in %s of the calls, %s behind the others, %s at most: %s,", b,
				c, d, who);
	put_path(m, view_mpi_caller(m, l->context), s, (size_t)used);
}

static void put_sites(const struct model *m, const struct view_mpi *v, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	bool any = false;
	for (uint32_t i = 0; i < m->mpi->n_sites && i < MOST_ROWS; i++) {
		const struct model_mpi_site *site = &m->mpi->sites[i];
		if (is_small(s, (double)site->waited_ns / 1e9, v->whole.seconds))
			break;
		if (!any)
			text_heading(s, "Collective calls: who comes last, and what the others "
					"waited for it");
		any = true;
		fprintf(s->out, "%10s  in %s calls: ",
			value(a, MODEL_SECONDS, (double)site->waited_ns / 1e9),
			text_count(b, site->n_calls));
		put_call(m,
			 &(struct view_mpi_place){.call = site->call,
						  .context = view_mpi_caller(m, site->context)},
			 s, 30);
		for (uint32_t k = 0; k < site->n_late && k < MOST_LATE; k++)
			put_late(m, site, &m->mpi->late[site->first_late + k], s);
		if (site->n_late > MOST_LATE)
			fprintf(s->out, "%10s  and %" PRIu32 " more\n", "",
				site->n_late - MOST_LATE);
	}
	if (any)
		putc('\n', s->out);
}

/* ---- sizes, pairs, communicators ---- */

static void put_sizes(const struct view_mpi *v, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL];
	bool any = false;
	for (size_t i = 0; i < v->n_sizes; i++) {
		const struct view_mpi_size *z = &v->sizes[i];
		if (!z->size_class)
			continue;
		if (!any) {
			text_heading(s, "Calls of MPI by size");
			fprintf(s->out, "%10s %11s %10s %10s %10s\n", "from", "calls", "sent",
				"received", "time");
		}
		any = true;
		fprintf(s->out, "%10s %11s %10s %10s %10s%s\n",
			text_value(a, MODEL_BYTES, (double)(UINT64_C(1) << (z->size_class - 1))),
			text_count(b, z->sums.n_calls), value(c, MODEL_BYTES, (double)z->sums.sent),
			value(d, MODEL_BYTES, (double)z->sums.received),
			text_seconds(e, z->sums.seconds), z->is_collective ? "  collective" : "");
	}
	if (any)
		putc('\n', s->out);
}

static void put_pairs(const struct view_mpi *v, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	size_t n = v->n_pairs <= MOST_ROWS || s->threshold == 0 ? v->n_pairs : MOST_ROWS;
	if (!n)
		return;
	text_heading(s, "Who sends to whom, ranks in MPI_COMM_WORLD");
	fprintf(s->out, "%10s %11s\n", "sent", "calls");
	for (size_t i = 0; i < n; i++)
		fprintf(s->out, "%10s %11s  %" PRId32 " to %" PRId32 "\n",
			text_value(a, MODEL_BYTES, (double)v->pairs[i].bytes),
			text_count(b, v->pairs[i].n_calls), v->pairs[i].from, v->pairs[i].to);
	if (n < v->n_pairs)
		fprintf(s->out, "%10s  %zu more\n", "", v->n_pairs - n);
	putc('\n', s->out);
}

static void put_comms(const struct model *m, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	uint32_t n_shown = 0, n_used = 0;
	for (uint32_t i = 0; i < m->mpi->n_comms; i++)
		n_used += m->mpi->comms[i].n_calls != 0;
	if (!n_used)
		return;
	text_heading(s, "Communicators");
	fprintf(s->out, "%10s %11s %7s\n", "time", "calls", "ranks");
	for (uint32_t i = 0; i < m->mpi->n_comms; i++) {
		const struct model_mpi_comm *c = &m->mpi->comms[i];
		if (!c->n_calls || (n_shown >= MOST_ROWS && s->threshold > 0))
			continue;
		n_shown++;
		fprintf(s->out, "%10s %11s %7" PRIu32 "%s\n", value(a, MODEL_SECONDS, c->seconds),
			text_count(b, c->n_calls), c->size,
			c->is_world              ? "  MPI_COMM_WORLD"
			: !c->is_matched         ? "  of one process"
			: c->n_members < c->size ? "  not all of its ranks were measured"
						 : "");
	}
	if (n_shown < n_used)
		fprintf(s->out, "%10s  %" PRIu32 " more\n", "", n_used - n_shown);
	putc('\n', s->out);
}

/* ---- calls that did not end ---- */

static void put_open(const struct model *m, const struct view_mpi_open *o,
		     const struct text_style *s)
{
	const struct model_mpi_call *c = o->longest;
	const struct model_process *p = &m->processes[m->profiles[c->profile].process];
	char a[TEXT_CELL], b[TEXT_CELL], one[32], who[64], call[VIEW_MPI_CALL], place[TEXT_NAME];
	if (p->rank >= 0)
		snprintf(one, sizeof one, "rank %" PRId32, p->rank);
	else
		snprintf(one, sizeof one, "pid %" PRIu32, p->pid);
	if (o->n_threads > 1)
		snprintf(who, sizeof who, "%s threads, one of %s", text_count(b, o->n_threads),
			 one);
	else
		snprintf(who, sizeof who, "%s", one);
	name_place(m, view_mpi_caller(m, c->context), place, sizeof place);
	foreign_printf(s->out, "%10s  %s: %s at %s\n", text_ns(a, c->ns), who,
		       view_mpi_open_name(o, call), place);
}

/* What threads waited for when the run ended: of a job that hung, the answer. */
static bool put_opens(const struct model *m, const struct text_style *s)
{
	struct view_mpi_open *open;
	size_t n;
	char a[TEXT_CELL];
	if (!view_mpi_open_make(m, &open, &n))
		return false;
	if (n)
		text_heading(s, "Calls of MPI that did not end, by time until the end");
	for (size_t i = 0; i < n && (i < MOST_ROWS || s->threshold == 0); i++)
		put_open(m, &open[i], s);
	if (n > MOST_ROWS && s->threshold > 0)
		fprintf(s->out, "%10s  %s more\n", "", text_count(a, n - MOST_ROWS));
	if (n)
		putc('\n', s->out);
	free(open);
	return true;
}

bool text_report_mpi(const struct model *m, const struct text_style *s)
{
	struct view_mpi v;
	if (!view_mpi_make(m, &v))
		return false;
	const bool ok = put_opens(m, s) && put_head(m, &v, s);
	put_processes(m, &v, s);
	put_places(m, &v, s);
	put_sites(m, &v, s);
	put_sizes(&v, s);
	put_pairs(&v, s);
	put_comms(m, s);
	view_mpi_free(&v);
	return ok;
}
