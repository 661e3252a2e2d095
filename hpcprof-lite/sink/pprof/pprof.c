/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink pprof: profile.pb.gz, for go tool pprof, Pyroscope, Parca and speedscope. One sample for
 * each thread and context with a value of its own. Format: proto/profile.proto of
 * github.com/google/pprof. Computes nothing. Test: tests/cli/sink/sink_pprof.sh.
 */
#include "hpcprof-lite/sink/pprof/pprof_sink.h"

#include "common/base/log.h"
#include "common/base/strtab.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/pprof/pprof_file.h"
#include "hpcprof-lite/sink/pprof/pprof_places.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of fields. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINED = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5
};

struct writer {
	const struct model *m;
	struct pprof_file *file;
	struct pprof_places places;
	struct strtab strings;
	uint32_t *file_of;                      /* by function: model file; MODEL_NONE: unknown */
	int64_t *values;                        /* scratch: by metric */
	struct protobuf_message top, message, sub; /* scratch */
};

/* ---- strings ---- */

/* The index in the table of strings. */
static uint64_t string(struct writer *w, const char *s)
{
	uint32_t id = names_add(&w->strings, s);
	w->top.failed |= id == STRTAB_FAILED;
	return id;
}

/* Writes `message` as a field of the profile and clears it. */
static void write_message(struct writer *w, unsigned field)
{
	protobuf_clear(&w->top);
	protobuf_put_message(&w->top, field, &w->message);
	pprof_write(w->file, &w->top);
	protobuf_clear(&w->message);
}

static void write_number(struct writer *w, unsigned field, uint64_t value)
{
	protobuf_clear(&w->top);
	protobuf_put(&w->top, field, value);
	pprof_write(w->file, &w->top);
}

static void write_strings(struct writer *w)
{
	for (uint32_t i = 0; i < w->strings.starts.n; i++) {
		const char *s = strtab_get(&w->strings, i);
		protobuf_clear(&w->top);
		protobuf_put_bytes(&w->top, PROFILE_STRING, s, strlen(s));
		pprof_write(w->file, &w->top);
	}
}

/* ---- types of samples ---- */

static bool is_time(const struct model_metric *metric)
{
	return metric->unit == MODEL_SECONDS;
}

/* "CPUTIME" of "CPUTIME (sec)". The unit is a field of its own. */
static uint64_t type_name(struct writer *w, const struct model_metric *metric)
{
	char *name = names_metric(metric);
	if (name)
		name[model_metric_stem(name, metric->unit)] = '\0';
	w->top.failed |= !name;
	uint64_t id = name ? string(w, name) : 0;
	free(name);
	return id;
}

static void put_type(struct writer *w, const struct model_metric *metric)
{
	const char *unit = is_time(metric)               ? "nanoseconds"
			   : metric->unit == MODEL_BYTES ? "bytes"
							 : model_unit_name(metric->unit);
	protobuf_put(&w->message, TYPE_NAME, type_name(w, metric));
	protobuf_put(&w->message, TYPE_UNIT, string(w, unit));
}

static void write_head(struct writer *w)
{
	const struct model *m = w->m;
	char comment[256];
	const char *whole = m->part ? " of the whole run" : "";
	string(w, ""); /* has to be the first */
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		put_type(w, &m->metrics[i]);
		write_message(w, PROFILE_SAMPLE_TYPE);
	}
	write_number(w, PROFILE_TIME_NS, m->start_ns);
	write_number(w, PROFILE_DURATION_NS, m->elapsed_ns);
	if (m->n_metrics) {
		put_type(w, &m->metrics[0]);
		write_message(w, PROFILE_PERIOD_TYPE);
		write_number(w, PROFILE_PERIOD, m->metrics[0].period);
		write_number(w, PROFILE_DEFAULT_TYPE, type_name(w, &m->metrics[0]));
	}
	snprintf(comment, sizeof comment,
		 "hpctoolkit-lite: samples delivered %" PRIu64 ", in the tree %" PRIu64
		 "; the ledger%s %s",
		 m->ledger.delivered, m->ledger.in_tree, whole,
		 m->ledger_closes ? "closes" : "does not close");
	write_number(w, PROFILE_COMMENT, string(w, comment));
	if (m->part) {
		snprintf(comment, sizeof comment, "part of the run: %s", m->part);
		write_number(w, PROFILE_COMMENT, string(w, comment));
	}
	for (uint32_t i = 0; i < m->n_part_notes; i++)
		write_number(w, PROFILE_COMMENT, string(w, m->part_notes[i]));
}

/* ---- samples ---- */

static void put_label(struct writer *w, const char *key, const char *value)
{
	protobuf_clear(&w->sub);
	protobuf_put(&w->sub, LABEL_KEY, string(w, key));
	protobuf_put(&w->sub, LABEL_STRING, string(w, value));
	protobuf_put_message(&w->message, SAMPLE_LABEL, &w->sub);
}

static void put_number_label(struct writer *w, const char *key, int64_t number)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRId64, number);
	put_label(w, key, text);
}

/* Numbers are strings: readers take a numeric label of 0 for a missing one. */
static void put_labels(struct writer *w, const struct model_profile *p)
{
	const struct model_process *process = &w->m->processes[p->process];
	if (process->rank >= 0)
		put_number_label(w, "rank", process->rank);
	put_label(w, "host", process->host);
	put_number_label(w, "pid", process->pid);
	put_number_label(w, "thread", p->thread);
	if (p->name && *p->name)
		put_label(w, "thread_name", p->name);
}

static void write_sample(struct writer *w, uint32_t context, const struct protobuf_message *labels)
{
	protobuf_clear(&w->sub);
	for (uint32_t at = context; at != MODEL_NONE; at = w->places.caller[at])
		protobuf_put_packed(&w->sub, w->places.id[at]);
	protobuf_put_message(&w->message, SAMPLE_LOCATION, &w->sub);
	protobuf_clear(&w->sub);
	for (uint32_t i = 0; i < w->m->n_metrics; i++)
		protobuf_put_packed(&w->sub, (uint64_t)w->values[i]);
	protobuf_put_message(&w->message, SAMPLE_VALUE, &w->sub);
	uint8_t *to = vec_extend(&w->message.bytes, labels->bytes.n);
	if (to)
		memcpy(to, labels->bytes.at, labels->bytes.n);
	w->message.failed |= !to;
	write_message(w, PROFILE_SAMPLE);
}

/* The values of one context are next to each other. */
static void write_samples(struct writer *w, const struct model_profile *p)
{
	struct protobuf_message labels = {0};
	put_labels(w, p);
	labels = w->message;
	w->message = (struct protobuf_message){0};
	for (size_t i = 0; i < p->n_values;) {
		uint32_t context = p->values[i].context;
		bool any = false;
		memset(w->values, 0, w->m->n_metrics * sizeof *w->values);
		for (; i < p->n_values && p->values[i].context == context; i++) {
			uint32_t metric = p->values[i].metric;
			double scale = is_time(&w->m->metrics[metric]) ? 1e9 : 1;
			w->values[metric] = llround(p->values[i].at[MODEL_POINT] * scale);
			any |= w->values[metric] != 0;
		}
		if (any && context)
			write_sample(w, context, &labels);
	}
	model_values_done(w->m, p->n_values);
	w->message.failed |= labels.failed;
	protobuf_free(&labels);
}

/* ---- places ---- */

static void write_mapping(struct writer *w, uint32_t module)
{
	const struct model_module *x = &w->m->modules[module];
	char *id = malloc(2 * (size_t)x->build_id_bytes + 1);
	for (uint32_t i = 0; id && i < x->build_id_bytes; i++)
		snprintf(id + 2 * (size_t)i, 3, "%02x", x->build_id[i]);
	if (id)
		id[2 * (size_t)x->build_id_bytes] = '\0';
	protobuf_put(&w->message, MAPPING_ID, module + 1);
	protobuf_put(&w->message, MAPPING_FILE, string(w, x->path && *x->path ? x->path : id));
	protobuf_put(&w->message, MAPPING_BUILD_ID, string(w, id));
	/* Names are final: readers must not look for symbols at link addresses. */
	protobuf_put(&w->message, MAPPING_HAS_FUNCTIONS, true);
	bool has_lines = x->structure == MODEL_STRUCTURE_LINES;
	for (unsigned field = MAPPING_HAS_FILES; field <= MAPPING_HAS_INLINED && has_lines; field++)
		protobuf_put(&w->message, field, true);
	w->message.failed |= !id;
	free(id);
	write_message(w, PROFILE_MAPPING);
}

/* The format says that the first mapping is the program. */
static void write_mappings(struct writer *w)
{
	const struct model *m = w->m;
	const char *program = m->n_processes ? m->processes[0].executable : NULL;
	uint32_t first = 0;
	while (first < m->n_modules && (!program || strcmp(m->modules[first].path, program) != 0))
		first++;
	if (first < m->n_modules)
		write_mapping(w, first);
	for (uint32_t i = 0; i < m->n_modules; i++)
		if (i != first)
			write_mapping(w, i);
}

/* The innermost line comes first. */
static void write_locations(struct writer *w)
{
	const struct pprof_places *p = &w->places;
	for (uint32_t id = 1; id <= p->at.n; id++) {
		const struct pprof_place *place = &p->at.at[id - 1];
		protobuf_put(&w->message, LOCATION_ID, id);
		if (place->module != MODEL_NONE)
			protobuf_put(&w->message, LOCATION_MAPPING, place->module + 1);
		if (place->address)
			protobuf_put(&w->message, LOCATION_ADDRESS, place->address);
		for (uint32_t at = id; at; at = p->at.at[at - 1].inlined_at) {
			protobuf_clear(&w->sub);
			protobuf_put(&w->sub, LINE_FUNCTION, p->at.at[at - 1].function + 1);
			protobuf_put(&w->sub, LINE_LINE, p->at.at[at - 1].line);
			protobuf_put_message(&w->message, LOCATION_LINE, &w->sub);
		}
		write_message(w, PROFILE_LOCATION);
	}
}

/* The format has one file for a function: that of its definition, else of its first line. */
static bool find_files(struct writer *w)
{
	const struct model *m = w->m;
	w->file_of = malloc((m->n_functions + 1) * sizeof *w->file_of);
	for (uint32_t i = 0; w->file_of && i < m->n_functions; i++)
		w->file_of[i] = m->functions[i].file;
	for (uint32_t i = 0; w->file_of && i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		if (c->kind == MODEL_CONTEXT_LINE && w->file_of[c->function] == MODEL_NONE)
			w->file_of[c->function] = c->file;
	}
	return w->file_of;
}

static void write_functions(struct writer *w)
{
	const struct model *m = w->m;
	bool has[PPROF_N_ENTRIES] = {false};
	for (uint32_t i = 0; i < m->n_functions; i++) {
		const struct model_function *f = &m->functions[i];
		protobuf_put(&w->message, FUNCTION_ID, i + 1);
		protobuf_put(&w->message, FUNCTION_NAME, string(w, names_function(m, i)));
		if (w->file_of[i] != MODEL_NONE)
			protobuf_put(&w->message, FUNCTION_FILE,
				  string(w, m->files[w->file_of[i]].path));
		protobuf_put(&w->message, FUNCTION_LINE, f->line);
		write_message(w, PROFILE_FUNCTION);
	}
	for (uint32_t i = 1; i < m->n_contexts; i += m->contexts[i].subtree_n) {
		uint32_t entry = pprof_entry_index(&m->contexts[i]);
		if (has[entry])
			continue;
		has[entry] = true;
		protobuf_put(&w->message, FUNCTION_ID, m->n_functions + entry + 1);
		protobuf_put(&w->message, FUNCTION_NAME, string(w, names_entry(&m->contexts[i])));
		write_message(w, PROFILE_FUNCTION);
	}
}

/* ---- the sink ---- */

static bool prepare(struct writer *w)
{
	w->values = calloc(w->m->n_metrics + 1, sizeof *w->values);
	return w->values && find_files(w) && pprof_places_open(w->m, &w->places);
}

static enum status write_profile(struct writer *w, const char *directory)
{
	enum status status = pprof_open(w->file, directory, "profile.pb.gz");
	if (status != STATUS_OK)
		return status;
	bool ok = prepare(w);
	if (ok) {
		write_head(w);
		for (uint32_t i = 0; i < w->m->n_profiles; i++)
			write_samples(w, &w->m->profiles[i]);
		write_mappings(w);
		write_locations(w);
		write_functions(w);
		write_strings(w);
	} else {
		log_error(w->file->file.path, "out of memory");
	}
	status = pprof_close(w->file, ok);
	return ok ? status : STATUS_NO_MEMORY;
}

static enum status write_pprof(const struct model *m, const struct sink_options *o)
{
	struct writer w = {.m = m, .file = malloc(sizeof *w.file)};
	if (!w.file) {
		log_error(o->directory, "out of memory");
		return STATUS_NO_MEMORY;
	}
	enum status status = write_profile(&w, o->directory);
	pprof_places_close(&w.places);
	strtab_free(&w.strings);
	protobuf_free(&w.top);
	protobuf_free(&w.message);
	protobuf_free(&w.sub);
	free(w.file_of);
	free(w.values);
	free(w.file);
	return status;
}

const struct sink_ops sink_pprof = {
	.name = "pprof",
	.what = "profile for pprof, Pyroscope, Parca",
	.makes_files = true,
	.on_request = true,
	.write = write_pprof,
};
