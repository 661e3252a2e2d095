/* SPDX-License-Identifier: BSD-3-Clause */
/* See prof_fixture.h. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/load/structures.h"
#include "hpcprof-lite/sink/text/text_all.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *fixture_directory(void)
{
	const char *base = getenv("TMPDIR");
	char *name;
	assert_true(asprintf(&name, "%s/hpcprof-unit.XXXXXX", base ? base : "/tmp") > 0);
	assert_non_null(mkdtemp(name));
	return name;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return remove(path);
}

void fixture_remove(char *directory)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(directory);
}

struct found {
	char *directory;
	struct load_structure *list;
	size_t n;
};

bool fixture_finds_structures;

static void find_structures(void *arg, const struct merge_modules *all, const bool *needed,
			    const struct attribute_frame *frames, size_t n_frames,
			    const struct structure **structures, enum model_structure *states)
{
	(void)frames, (void)n_frames;
	struct found *f = arg;
	fixture_finds_structures = true;
	f->list = calloc(all->list.n + 1, sizeof *f->list);
	assert_non_null(f->list);
	f->n = all->list.n;
	for (size_t i = 0; i < f->n; i++) {
		f->list[i].module = all->list.at[i].record;
		f->list[i].path = all->list.at[i].path;
	}
	struct load_structures_options o = {.directories = &f->directory, .n_directories = 1};
	load_structures_open(&o, f->list, f->n);
	for (size_t i = 0; i < f->n; i++) {
		structures[i] = needed[i] ? f->list[i].structure : NULL;
		states[i] = f->list[i].state;
	}
	fixture_finds_structures = false;
}

bool fixture_internals, fixture_ranges;

enum status fixture_try_model(struct load_job *job, const char *directory, unsigned n_workers,
	struct model **m)
{
	struct found f = {.directory = directory ? strdup(directory) : NULL};
	struct attribute_options o = {.n_workers = n_workers,
				      .internals = fixture_internals,
				      .ranges = fixture_ranges,
				      .find_structures = directory ? find_structures : NULL,
				      .arg = &f};
	enum status status = attribute_run(job, &o, m);
	if (f.list)
		load_structures_close(f.list, f.n);
	free(f.list);
	free(f.directory);
	return status;
}

struct model *fixture_model_of(struct load_job *job, const char *directory, unsigned n_workers)
{
	struct model *m = NULL;
	assert_int_equal(fixture_try_model(job, directory, n_workers, &m), STATUS_OK);
	return m;
}

struct model *fixture_model(const char *directory, unsigned n_workers)
{
	struct load_job job = {0};
	char *name = strdup(directory);
	assert_int_equal(load_job_open(&name, 1, n_workers, &job), STATUS_OK);
	free(name);
	return fixture_model_of(&job, directory, n_workers);
}

char *fixture_text(const struct model *m)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	assert_non_null(out);
	assert_int_equal(sink_text_all(m, out), STATUS_OK);
	fclose(out);
	return text;
}

static void check_context(const struct model *m, uint32_t i)
{
	const struct model_context *c = &m->contexts[i], *p = i ? &m->contexts[c->parent] : NULL;
	assert_true(c->subtree_n >= 1 && c->subtree_n <= m->n_contexts - i);
	assert_int_equal(i == 0, c->kind == MODEL_CONTEXT_ROOT);
	if (p) {
		assert_true(c->parent < i && i + c->subtree_n <= c->parent + p->subtree_n);
		assert_int_equal(c->kind == MODEL_CONTEXT_ENTRY, c->parent == 0);
	}
	if (c->kind == MODEL_CONTEXT_FUNCTION)
		assert_true(c->relation == MODEL_CALL || c->relation == MODEL_INLINED);
	if (c->kind > MODEL_CONTEXT_ENTRY) {
		assert_true(c->function < m->n_functions);
		assert_int_equal(c->module, m->functions[c->function].module);
	}
	assert_true(c->file == MODEL_NONE || c->file < m->n_files);
	assert_true(c->module == MODEL_NONE || c->module < m->n_modules);
}

static void check_values(const struct model *m, const struct model_profile *p)
{
	assert_true(p->process < m->n_processes);
	for (size_t k = 0; k < p->n_values; k++) {
		const struct model_value *v = &p->values[k], *last = k ? v - 1 : NULL;
		assert_true(v->context < m->n_contexts && v->metric < m->n_metrics);
		assert_true(!last || last->context < v->context ||
			    (last->context == v->context && last->metric < v->metric));
		assert_true(v->at[MODEL_EXECUTION] != 0);
	}
}

void fixture_check_model(const struct model *m)
{
	assert_true(m->n_contexts >= 1);
	for (uint32_t i = 0; i < m->n_contexts; i++)
		check_context(m, i);
	assert_int_equal(m->contexts[0].subtree_n, m->n_contexts);
	for (uint32_t i = 0; i < m->n_profiles; i++)
		check_values(m, &m->profiles[i]);
	for (size_t k = 0; k < m->n_totals; k++) {
		const struct model_total *t = &m->totals[k], *last = k ? t - 1 : NULL;
		assert_true(t->context < m->n_contexts && t->metric < m->n_metrics &&
			    t->n_profiles <= m->n_profiles && t->n_profiles > 0);
		assert_true(!last || last->context < t->context ||
			    (last->context == t->context && last->metric < t->metric));
	}
}

uint8_t *fixture_read(const char *path, size_t *n_bytes)
{
	struct mapfile f;
	assert_int_equal(mapfile_open(path, &f), STATUS_OK);
	uint8_t *bytes = aligned_alloc(64, (f.n_bytes + 127) / 64 * 64);
	assert_non_null(bytes);
	memcpy(bytes, f.bytes, f.n_bytes);
	*n_bytes = f.n_bytes;
	mapfile_close(&f);
	return bytes;
}

uint32_t fixture_find_function(const struct model *m, uint32_t parent, const char *name)
{
	uint32_t end = parent + m->contexts[parent].subtree_n;
	for (uint32_t c = parent + 1; c < end; c += m->contexts[c].subtree_n)
		if (m->contexts[c].kind == MODEL_CONTEXT_FUNCTION &&
		    strcmp(m->functions[m->contexts[c].function].name, name) == 0)
			return c;
	return MODEL_NONE;
}

uint32_t fixture_find_line(const struct model *m, uint32_t parent, uint32_t line)
{
	uint32_t end = parent + m->contexts[parent].subtree_n;
	for (uint32_t c = parent + 1; c < end; c += m->contexts[c].subtree_n)
		if (m->contexts[c].kind == MODEL_CONTEXT_LINE && m->contexts[c].line == line)
			return c;
	return MODEL_NONE;
}
