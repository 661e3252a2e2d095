/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink folded: one file per metric with one line per call path, root first, and its weight, for
 * flamegraph.pl, inferno and speedscope. Computes nothing; view_calls has the call paths. Weights
 * are whole numbers, because speedscope reads no others: seconds become nanoseconds. Tests:
 * tests/unit/sink/test_sink_folded.c, tests/cli/sink/sink_folded.sh.
 */
#include "hpcprof-lite/sink/folded_sink.h"

#include "common/base/foreign.h"
#include "common/base/log.h"
#include "common/base/strtab.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/view/view_calls.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_NAME = 256 };

struct writer {
	const struct model *m;
	char *directory;
	struct view_calls calls;
	uint32_t *labels;    /* by node: id in `texts` */
	struct strtab texts; /* labels */
	struct strtab files; /* names of the files so far, in lower case */
	uint32_t *path;      /* scratch: nodes of one call path */
};

/* ---- names ---- */

/*
 * A frame's name in the form of --all (tab, newline, backslash and harmful bytes escaped). A
 * semicolon separates frames, so it becomes a colon as in stackcollapse-perf.pl.
 */
static uint32_t add_label(struct strtab *texts, const char *name)
{
	char *label = NULL;
	size_t n_bytes;
	FILE *f = open_memstream(&label, &n_bytes);
	if (!f)
		return STRTAB_FAILED;
	foreign_put_field(f, name);
	bool ok = !ferror(f);
	ok = fclose(f) == 0 && ok && label;
	for (char *at = ok ? label : NULL; at && (at = strchr(at, ';')); at++)
		*at = ':';
	uint32_t id = ok ? strtab_add_z(texts, label) : STRTAB_FAILED;
	free(label);
	return id;
}

/* A frame has only its name, so an address gets the name of its module. */
static uint32_t add_function(struct writer *w, uint32_t function)
{
	static const char at_address[] = "<unknown at 0x";
	const char *name = names_function(w->m, function), *path, *slash;
	char *both;
	if (strncmp(name, at_address, sizeof at_address - 1) != 0 || strchr(name, '['))
		return add_label(&w->texts, name);
	path = names_module(w->m, w->m->functions[function].module);
	slash = strrchr(path, '/');
	if (asprintf(&both, "%s [%s]", name, slash ? slash + 1 : path) < 0)
		return STRTAB_FAILED;
	uint32_t id = add_label(&w->texts, both);
	free(both);
	return id;
}

static bool make_labels(struct writer *w)
{
	w->labels = calloc(w->calls.nodes.n, sizeof *w->labels);
	for (size_t i = 1; w->labels && i < w->calls.nodes.n; i++) {
		const struct model_context *c = &w->m->contexts[w->calls.nodes.at[i].context];
		w->labels[i] = c->kind == MODEL_CONTEXT_FUNCTION
				       ? add_function(w, c->function)
				       : add_label(&w->texts, names_entry(c));
		if (w->labels[i] == STRTAB_FAILED)
			return false;
	}
	return w->labels;
}

static char plain(char c)
{
	bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9') || c == '_' || c == '.';
	return is_plain ? c : '-';
}

/* Adds a file name in lower case. *is_new: no other name was equal. False if memory is short. */
static bool add_file(struct strtab *files, const char *name, bool *is_new)
{
	char lower[FILE_NAME];
	size_t n_before = files->starts.n, n = strlen(name);
	for (size_t i = 0; i < n; i++)
		lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 'a' - 'A') : name[i];
	uint32_t id = strtab_add(files, lower, n);
	*is_new = id == n_before;
	return id != STRTAB_FAILED;
}

/*
 * "CPUTIME.folded" for "CPUTIME (sec)", "GXCOPY-H2D.folded" for "GXCOPY:H2D (B)". A number is
 * added if another metric has this name, also in upper or lower case. False if memory is short.
 */
static bool make_file_name(struct strtab *files, const char *metric, char name[FILE_NAME])
{
	enum { LONGEST = FILE_NAME - 32 };
	const char *from = *metric ? metric : "metric";
	size_t n = strcspn(from, " (");
	n = n < LONGEST ? n : LONGEST;
	for (size_t i = 0; i < n; i++)
		name[i] = from[i] == '.' && i == 0 ? '-' : plain(from[i]);
	strcpy(name + n, ".folded");
	for (unsigned number = 2;; number++) {
		bool is_new;
		if (!add_file(files, name, &is_new))
			return false;
		if (is_new)
			return true;
		snprintf(name + n, FILE_NAME - n, "-%u.folded", number);
	}
}

/* ---- files ---- */

static void put_line(struct writer *w, struct outstream *s, uint32_t node, uint64_t weight)
{
	char number[32];
	uint32_t depth = w->calls.nodes.at[node].depth;
	for (uint32_t i = depth, at = node; i > 0; i--, at = w->calls.nodes.at[at].parent)
		w->path[i - 1] = at;
	for (uint32_t i = 0; i < depth; i++) {
		const char *label = strtab_get(&w->texts, w->labels[w->path[i]]);
		if (i)
			outstream_put(s, ";", 1);
		outstream_put(s, label, strlen(label));
	}
	int n = snprintf(number, sizeof number, " %" PRIu64 "\n", weight);
	outstream_put(s, number, (size_t)n);
}

static enum status write_lines(struct writer *w, struct outfile *f, uint32_t metric)
{
	enum { BUFFER_BYTES = 256 << 10 };
	struct outstream s;
	double scale = model_unit_scale(w->m->metrics[metric].unit);
	double *values = view_calls_values(w->m, &w->calls, metric);
	if (!values) {
		log_error(f->path, "out of memory");
		return STATUS_NO_MEMORY;
	}
	enum status status = outstream_open(&s, f, 0, BUFFER_BYTES);
	for (uint32_t i = 1; status == STATUS_OK && i < w->calls.nodes.n; i++)
		if (values[i] * scale >= 0.5)
			put_line(w, &s, i, (uint64_t)llround(values[i] * scale));
	if (status == STATUS_OK)
		status = outstream_close(&s);
	free(values);
	return status;
}

static enum status write_metric(struct writer *w, uint32_t metric)
{
	struct outfile f;
	char file[FILE_NAME], *name = names_metric(&w->m->metrics[metric]);
	bool ok = name && make_file_name(&w->files, name, file);
	free(name);
	if (!ok) {
		log_error(w->directory, "out of memory");
		return STATUS_NO_MEMORY;
	}
	enum status status = outfile_create(&f, w->directory, file);
	if (status != STATUS_OK)
		return status;
	status = write_lines(w, &f, metric);
	if (status == STATUS_OK)
		return outfile_close(&f);
	outfile_abandon(&f);
	return status;
}

static bool prepare(struct writer *w)
{
	uint32_t deepest = 0;
	if (!view_calls_open(w->m, &w->calls) || !make_labels(w))
		return false;
	for (size_t i = 0; i < w->calls.nodes.n; i++)
		if (w->calls.nodes.at[i].depth > deepest)
			deepest = w->calls.nodes.at[i].depth;
	w->path = calloc(deepest + 1, sizeof *w->path);
	return w->path;
}

static enum status write_folded(const struct model *m, const struct sink_options *o)
{
	struct writer w = {.m = m, .directory = outfile_path(o->directory, "folded")};
	if (!w.directory)
		return STATUS_NO_MEMORY;
	enum status status = outdir_make(w.directory);
	if (status == STATUS_OK) {
		if (!prepare(&w)) {
			log_error(w.directory, "out of memory");
			status = STATUS_NO_MEMORY;
		}
		for (uint32_t i = 0; i < m->n_metrics && status == STATUS_OK; i++)
			if (model_find_total(m, 0, i))
				status = write_metric(&w, i);
		if (status != STATUS_OK)
			outdir_remove(w.directory);
	}
	view_calls_close(&w.calls);
	strtab_free(&w.texts);
	strtab_free(&w.files);
	free(w.labels);
	free(w.path);
	free(w.directory);
	return status;
}

const struct sink_ops sink_folded = {
	.name = "folded",
	.what = "call paths for flamegraph.pl, speedscope",
	.makes_files = true,
	.on_request = true,
	.write = write_folded,
};
