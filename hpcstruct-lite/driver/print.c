/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a structure file as text; see print.h. Every interval is printed once, under its scope. */
#include "hpcstruct-lite/driver/print.h"

#include "common/base/foreign.h"
#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "common/base/vec.h"
#include "common/format/structure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An interval, to be sorted by scope. */
struct item {
	uint64_t start, end;
	struct structure_place place;
};

struct printer {
	const struct structure *s;
	FILE *out;
	/* by scope, then address; items without a scope come last */
	VEC(struct item) items;
	uint32_t *first_item; /* by scope; one more than there are scopes */
	VEC(struct item) ranges;      /* of whole functions: place.scope is the function */
	size_t next_alias, next_range;
	unsigned *depths; /* by scope */
};

static const char *const origins[] = {"dwarf",    "symtab", "dynsym", "plt",
				      "eh_frame", "source", "code",   "go"};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	if (x->place.scope != y->place.scope)
		return x->place.scope < y->place.scope ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static bool collect(struct printer *p)
{
	uint32_t n_scopes = structure_n_scopes(p->s);
	for (size_t i = 0; i < structure_n_intervals(p->s); i++) {
		struct item item;
		if (!structure_get_interval(p->s, i, &item.start, &item.end, &item.place))
			continue;
		struct item *slot = vec_push(&p->items);
		if (!slot)
			return false;
		*slot = item;
		uint32_t function = item.place.scope;
		if (function == STRUCTURE_NONE)
			continue;
		while (structure_get_scope(p->s, function).kind != STRUCTURE_FUNCTION)
			function = structure_get_scope(p->s, function).parent;
		struct item *last = p->ranges.n ? &p->ranges.at[p->ranges.n - 1] : NULL;
		if (last && last->place.scope == function && last->end == item.start) {
			last->end = item.end;
			continue;
		}
		slot = vec_push(&p->ranges);
		if (!slot)
			return false;
		*slot = (struct item){item.start, item.end, {function, 0, 0}};
	}
	if (p->items.n > 1)
		qsort(p->items.at, p->items.n, sizeof *p->items.at, compare_items);
	if (p->ranges.n > 1)
		qsort(p->ranges.at, p->ranges.n, sizeof *p->ranges.at, compare_items);
	p->first_item = malloc(((size_t)n_scopes + 1) * sizeof *p->first_item);
	p->depths = malloc(((size_t)n_scopes + 1) * sizeof *p->depths);
	if (!p->first_item || !p->depths)
		return false;
	uint32_t i = 0;
	for (uint32_t scope = 0; scope <= n_scopes; scope++) {
		while (i < p->items.n && p->items.at[i].place.scope < scope)
			i++;
		p->first_item[scope] = i;
	}
	return true;
}

static void print_place(struct printer *p, uint32_t file, uint32_t line)
{
	if (file == STRUCTURE_NONE)
		fputs("?", p->out);
	else
		foreign_printf(p->out, "%s:%u", structure_get_file(p->s, file), line);
}

static void print_item(struct printer *p, const struct item *item, unsigned depth)
{
	fprintf(p->out, "%*s0x%llx-0x%llx ", 2 * (int)depth, "", (unsigned long long)item->start,
		(unsigned long long)item->end);
	print_place(p, item->place.file, item->place.line);
	fputc('\n', p->out);
}

static void print_resources(struct printer *p, uint32_t id)
{
	struct structure_resources r;
	if (!structure_get_resources(p->s, id, &r))
		return;
	fprintf(p->out, "  %s", r.is_kernel ? "kernel" : "device function");
	const struct {
		const char *name;
		uint32_t value;
	} facts[] = {{"registers", r.registers},
		     {"shared-bytes", r.shared_bytes},
		     {"frame-bytes", r.frame_bytes},
		     {"stack-bytes", r.stack_bytes},
		     {"parameter-bytes", r.parameter_bytes},
		     {"max-threads", r.max_threads},
		     {"barriers", r.barriers}};
	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
		if (facts[i].value > 0)
			fprintf(p->out, " %s %u", facts[i].name, facts[i].value);
	fputc('\n', p->out);
}

static void print_calls(struct printer *p)
{
	size_t n = structure_n_calls(p->s);
	if (n > 0)
		fputs("\ncalls\n", p->out);
	for (size_t i = 0; i < n; i++) {
		struct structure_call c = structure_get_call(p->s, i);
		struct structure_place place;
		fprintf(p->out, "  0x%llx ", (unsigned long long)c.link_addr);
		if (structure_lookup(p->s, c.link_addr, &place))
			print_place(p, place.file, place.line);
		else
			fputc('?', p->out);
		foreign_printf(p->out, " to %s\n",
			       c.target == STRUCTURE_NONE
				       ? "?"
				       : structure_get_scope(p->s, c.target).name);
	}
}

static void print_cause(struct printer *p, const struct structure_cause *c)
{
	static const char *const kinds[STRUCTURE_N_WAIT_KINDS + 1] = {
		"result of", "operands of", "latency of", "warps at", "paths from",
		"something newer at"};
	struct structure_place place;
	fprintf(p->out, "    %s %s 0x%llx ", kinds[c->kind], structure_operation_name(c->operation),
		(unsigned long long)c->link_addr);
	if (structure_lookup(p->s, c->link_addr, &place))
		print_place(p, place.file, place.line);
	else
		fputc('?', p->out);
	fprintf(p->out, " cycles %u%s%s%s\n", c->cycles, c->is_used ? " used" : "",
		c->is_carried ? " carried" : "", c->is_chained ? " chained" : "");
}

static void print_waits(struct printer *p)
{
	size_t n = structure_n_waits(p->s);
	if (n > 0)
		fputs("\nwaits\n", p->out);
	for (size_t i = 0; i < n; i++) {
		struct structure_wait w = structure_get_wait(p->s, i);
		struct structure_place place;
		fprintf(p->out, "  0x%llx ", (unsigned long long)w.link_addr);
		if (structure_lookup(p->s, w.link_addr, &place))
			print_place(p, place.file, place.line);
		else
			fputc('?', p->out);
		fputc('\n', p->out);
		for (size_t k = w.first; k < w.first + w.n; k++) {
			struct structure_cause c = structure_get_cause(p->s, k);
			print_cause(p, &c);
		}
	}
}

static void print_function(struct printer *p, uint32_t id, const struct structure_scope *f)
{
	foreign_printf(p->out, "\nfunction 0x%llx %s", (unsigned long long)f->entry, f->name);
	if (*f->linkage_name)
		foreign_printf(p->out, " (%s)", f->linkage_name);
	if (f->file != STRUCTURE_NONE || f->origin == STRUCTURE_FROM_DWARF) {
		fputs(" at ", p->out);
		print_place(p, f->file, f->line);
	}
	fprintf(p->out, " from %s\n  code",
		f->origin <= STRUCTURE_FROM_GO ? origins[f->origin] : "other");
	for (; p->next_range < p->ranges.n && p->ranges.at[p->next_range].place.scope <= id;
	     p->next_range++)
		fprintf(p->out, " 0x%llx-0x%llx",
			(unsigned long long)p->ranges.at[p->next_range].start,
			(unsigned long long)p->ranges.at[p->next_range].end);
	fputc('\n', p->out);
	for (uint32_t scope; p->next_alias < structure_n_aliases(p->s); p->next_alias++) {
		const char *name = structure_get_alias(p->s, p->next_alias, &scope);
		if (scope > id)
			break;
		if (scope == id)
			foreign_printf(p->out, "  alias %s\n", name);
	}
	print_resources(p, id);
}

static void print_inner(struct printer *p, const struct structure_scope *c, unsigned depth)
{
	if (c->kind == STRUCTURE_LOOP)
		fprintf(p->out, "%*sloop 0x%llx%s at ", 2 * (int)depth, "",
			(unsigned long long)c->entry, c->is_irreducible ? " irreducible" : "");
	else
		foreign_printf(p->out, "%*sinline 0x%llx %s at ", 2 * (int)depth, "",
			       (unsigned long long)c->entry, c->name);
	print_place(p, c->file, c->line);
	if (c->kind == STRUCTURE_INLINE) {
		fputs(" called at ", p->out);
		print_place(p, c->call_file, c->call_line);
	}
	fputc('\n', p->out);
}

static void print_scopes(struct printer *p)
{
	uint32_t n = structure_n_scopes(p->s);
	for (uint32_t id = 0; id < n && !ferror(p->out); id++) {
		struct structure_scope scope = structure_get_scope(p->s, id);
		p->depths[id] = scope.kind == STRUCTURE_FUNCTION ? 0 : p->depths[scope.parent] + 1;
		if (scope.kind == STRUCTURE_FUNCTION)
			print_function(p, id, &scope);
		else
			print_inner(p, &scope, p->depths[id]);
		for (uint32_t i = p->first_item[id]; i < p->first_item[id + 1]; i++)
			/* the line "code" already has the ranges of functions */
			if (structure_has_lines(p->s) || scope.kind != STRUCTURE_FUNCTION)
				print_item(p, &p->items.at[i], p->depths[id] + 1);
	}
}

static void print_head(struct printer *p)
{
	size_t n_bytes;
	const uint8_t *id = structure_build_id(p->s, &n_bytes);
	foreign_printf(p->out, "binary %s\n", structure_binary(p->s));
	fputs("build-id ", p->out);
	for (size_t i = 0; i < n_bytes; i++)
		fprintf(p->out, "%02x", id[i]);
	fprintf(p->out, "%s\n", n_bytes ? "" : "none");
	if (*structure_debug_file(p->s))
		foreign_printf(p->out, "debug-file %s\n", structure_debug_file(p->s));
	if (structure_is_incomplete(p->s))
		fputs("incomplete: part of the debug information could not be used\n", p->out);
	if (structure_is_partial(p->s))
		fputs("partial: only the functions that were asked for\n", p->out);
}

enum status print_structure(const char *path, FILE *out)
{
	struct mapfile file;
	struct structure *s;
	enum status status = mapfile_open(path, &file);
	if (status == STATUS_NOT_FOUND)
		log_error(path, "no such file");
	if (status != STATUS_OK)
		return status;
	status = structure_open(path, file.bytes, file.n_bytes, &s);
	if (status != STATUS_OK) {
		mapfile_close(&file);
		return status;
	}
	struct printer p = {.s = s, .out = out};
	if (!collect(&p)) {
		log_error(path, "out of memory");
		status = STATUS_NO_MEMORY;
	} else {
		print_head(&p);
		print_scopes(&p);
		uint32_t n_scopes = structure_n_scopes(s);
		if (p.first_item[n_scopes] < p.items.n)
			fputs("\nlines outside functions\n", out);
		for (size_t i = p.first_item[n_scopes]; i < p.items.n; i++)
			print_item(&p, &p.items.at[i], 1);
		print_calls(&p);
		print_waits(&p);
	}
	if (status == STATUS_OK && (ferror(out) || fflush(out) != 0)) {
		log_error(path, "cannot be printed: %s", strerror(errno));
		status = STATUS_IO;
	}
	free(p.first_item);
	free(p.depths);
	vec_free(&p.items);
	vec_free(&p.ranges);
	structure_close(s);
	mapfile_close(&file);
	return status;
}
