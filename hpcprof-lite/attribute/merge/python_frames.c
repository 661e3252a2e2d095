/* SPDX-License-Identifier: BSD-3-Clause */
/* See python_frames.h. Test: tests/cli/python/python_frames.sh. */
#include "hpcprof-lite/attribute/merge/python_frames.h"

#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/attribute/merge/torch_modules.h"
#include "hpcprof-lite/load/python_lines.h"
#include "hpcprof-lite/model/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct python_part {
	VEC(struct python_function) functions;
	struct map by_identity;
	struct python_file *files; /* by file of the job; NULL: there is no Python */
	size_t n_files;
};

struct python_file {
	const struct load_file *in;     /* NULL: there is no Python in it */
	const struct python_part *part;
	/* by id of the code object or module of PyTorch; [0]: for unknown ones */
	uint32_t *function_of;
	size_t n; /* all ids are below n */
};

/* Names such as "<string>" and "<frozen importlib._bootstrap>" are not paths. */
static char *full_path(const char *file, const char *directory)
{
	char *path = NULL;
	if (file[0] == '/' || file[0] == '<' || directory[0] != '/')
		return strdup(file);
	while (file[0] == '.' && file[1] == '/')
		file += 2;
	if (asprintf(&path, "%s/%s", directory, file) < 0)
		return NULL;
	return path;
}

static uint32_t add_module(struct merge_modules *modules, struct model *m, const char *path)
{
	struct msr_module *record = model_own(m, calloc(1, sizeof *record));
	if (!record)
		return UINT32_MAX;
	record->flags = PYTHON_MODULE;
	return merge_add_module(modules, &(struct load_module){record, path});
}

/* Returns UINT32_MAX if memory is short. `file` NULL: unknown. */
static uint32_t get_function(struct python_part *p, struct merge_modules *modules, struct model *m,
			     const char *file, const char *name, uint32_t line)
{
	uint64_t hash = hash_bytes(name, strlen(name)) +
			(file ? hash_bytes(file, strlen(file)) * 3 : 0) + line;
	for (uint64_t probe = 0;; probe++) {
		uint64_t id = map_put(&p->by_identity, hash, probe, p->functions.n);
		if (id == MAP_NONE)
			return UINT32_MAX;
		if (id < p->functions.n) {
			const struct python_function *f = &p->functions.at[id];
			if (f->line == line && strcmp(f->name, name) == 0 &&
			    (f->file && file ? strcmp(f->file, file) == 0 : f->file == file))
				return (uint32_t)id;
			continue;
		}
		struct python_function *new =
			id < PYTHON_FUNCTIONS_MAX ? vec_push(&p->functions) : NULL;
		if (!new)
			return UINT32_MAX;
		*new = (struct python_function){
			.name = model_own(m, strdup(name)),
			.file = file,
			.line = line,
			.module = add_module(modules, m, file ? file : "[python]")};
		return new->name && new->module != UINT32_MAX ? (uint32_t)id : UINT32_MAX;
	}
}

/* Modules of PyTorch belong to a load module of their own, with a path that no file has. */
static bool unify_torch_modules(struct python_part *p, struct python_file *to,
				struct merge_modules *modules, struct model *m)
{
	char **names = torch_modules_name(to->in);
	const size_t n = to->in->torch_modules.n;
	bool ok = names;
	for (size_t id = 1; names && id < n; id++) {
		const uint32_t function =
			names[id] && ok ? get_function(p, modules, m, "[torch.nn]", names[id], 0)
					: UINT32_MAX;
		ok = ok && (!names[id] || function != UINT32_MAX);
		if (ok && names[id] && to->function_of[id] == to->function_of[0]) {
			p->functions.at[function].is_torch_module = true;
			to->function_of[id] = function;
		}
		free(names[id]);
	}
	free(names);
	return ok;
}

static bool unify_file(struct python_part *p, struct python_file *to, const struct load_file *in,
		       struct merge_modules *modules, struct model *m)
{
	to->in = in;
	to->part = p;
	to->n = in->python.n > in->torch_modules.n ? in->python.n : in->torch_modules.n;
	to->function_of = calloc(to->n + 1, sizeof *to->function_of);
	if (!to->function_of ||
	    (to->function_of[0] = get_function(p, modules, m, NULL, "<unknown Python function>",
					       0)) == UINT32_MAX)
		return false;
	for (size_t id = 1; id < to->n; id++) {
		const struct load_python *code = id < in->python.n ? &in->python.at[id] : NULL;
		to->function_of[id] = to->function_of[0];
		if (!code || !code->record)
			continue;
		char *file = model_own(m, full_path(code->file, in->directory));
		to->function_of[id] = file ? get_function(p, modules, m, file, code->name,
							  code->record->first_line)
					   : UINT32_MAX;
		if (to->function_of[id] == UINT32_MAX)
			return false;
	}
	return unify_torch_modules(p, to, modules, m);
}

static uint32_t line_of(const struct load_python *code, uint32_t unit)
{
	const struct msr_python_code *r = code->record;
	uint32_t line;
	bool has_line = unit != MSR_PYTHON_UNIT_NONE &&
			python_line((enum msr_python_lines)r->lines, code->lines, r->line_bytes,
				    r->first_line, unit, &line);
	return has_line ? line : r->first_line;
}

bool python_translate(const struct python_file *f, msr_addr addr, uint32_t *module, uint64_t *place)
{
	uint16_t id = msr_addr_module(addr);
	if (id >= f->in->modules.n || !f->in->modules.at[id].record ||
	    !(f->in->modules.at[id].record->flags & MSR_MODULE_PYTHON))
		return false;
	uint32_t number = msr_python_code_of(msr_addr_link(addr));
	const struct load_python *code = number < f->in->python.n && f->in->python.at[number].record
						 ? &f->in->python.at[number]
						 : NULL;
	uint32_t function = f->function_of[number < f->n ? number : 0],
		 line = code ? line_of(code, msr_python_unit_of(msr_addr_link(addr))) : 0;
	*module = f->part->functions.at[function].module;
	*place = (uint64_t)function << PYTHON_LINE_BITS |
		 (line < PYTHON_LINE_MAX ? line : PYTHON_LINE_MAX);
	return true;
}

static bool name_python(void *state, struct topic_run *r)
{
	struct python_part *p = state;
	const struct load_job *job = r->job;
	bool any = false;
	for (size_t i = 0; i < job->files.n; i++)
		any = any || job->files.at[i].has_python;
	p->n_files = job->files.n;
	if (!any)
		return true;
	p->files = calloc(job->files.n, sizeof *p->files);
	if (!p->files)
		return false;
	for (size_t i = 0; i < job->files.n; i++)
		if (job->files.at[i].has_python &&
		    !unify_file(p, &p->files[i], &job->files.at[i], r->modules, r->m))
			return false;
	r->modules->python = p->functions.at;
	r->modules->n_python = p->functions.n;
	return true;
}

static void take_file(const void *state, size_t file, struct merge_names *names)
{
	const struct python_part *p = state;
	names->python = p->files && p->files[file].in ? &p->files[file] : NULL;
}

static void close_python(void *state)
{
	struct python_part *p = state;
	for (size_t i = 0; p->files && i < p->n_files; i++)
		free(p->files[i].function_of);
	free(p->files);
	vec_free(&p->functions);
	map_free(&p->by_identity);
}

const struct topic_ops topic_python = {.state_bytes = sizeof(struct python_part),
				       .steps = {[TOPIC_NAME] = name_python},
				       .take_file = take_file,
				       .close = close_python};
