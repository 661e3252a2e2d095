/* SPDX-License-Identifier: BSD-3-Clause */
/* See code.h. */
#include "hpcprof-lite/code/code.h"

#include "common/format/structure.h"
#include "hpcprof-lite/code/code_text.h"
#include "hpcprof-lite/code/code_tool.h"
#include "hpcprof-lite/code/disassemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_FUNCTIONS = 20,
	MOST_TEXT = 300 << 10,   /* bytes of text of all functions */
	MOST_BINARY = 512 << 20, /* bytes of a binary that is copied for tools */
	TOOL_MS = 10000,         /* of all runs of a tool together */
};

static const struct disassembler *const disassemblers[] = {&disassemble_zydis, &disassemble_objdump,
							   &disassemble_objdump_aarch64,
							   &disassemble_nvdisasm};
enum { N_DISASSEMBLERS = sizeof disassemblers / sizeof *disassemblers };

struct making {
	const struct model *m;
	const struct code_options *o;
	struct code *c;
	struct code_hots hots;
	struct disassembly *texts; /* by hot function */
	struct rights owners;
	int64_t left_ms[N_DISASSEMBLERS]; /* of TOOL_MS */
	bool failed;                      /* memory is short */
};

static void say_missing(struct making *k, const char *words)
{
	const uint32_t id = strtab_add_z(&k->c->strings, words);
	for (size_t i = 0; i < k->c->missing.n; i++)
		if (k->c->missing.at[i] == id)
			return;
	uint32_t *new = id == STRTAB_FAILED ? NULL : vec_push(&k->c->missing);
	k->failed |= !new;
	if (new)
		*new = id;
}

static void say_about(struct making *k, uint32_t module, bool has_some, const char *words)
{
	char text[512];
	snprintf(text, sizeof text, "no instructions of %s%.300s: %s",
		 has_some ? "some functions of " : "", k->m->modules[module].path, words);
	say_missing(k, text);
}

/* ---- a private copy for tools ---- */

struct copy {
	char directory[PATH_MAX], path[PATH_MAX + 16];
};

static void remove_copy(struct copy *c)
{
	if (c->path[0])
		unlink(c->path);
	if (c->directory[0])
		rmdir(c->directory);
	*c = (struct copy){.path = ""};
}

static bool make_copy(const struct making *k, const struct code_binary *b, struct copy *c)
{
	if (b->map.n_bytes > MOST_BINARY ||
	    snprintf(c->directory, sizeof c->directory, "%s/code-XXXXXX", k->o->directory) >=
		    PATH_MAX ||
	    !mkdtemp(c->directory)) {
		c->directory[0] = '\0';
		return false;
	}
	snprintf(c->path, sizeof c->path, "%s/binary", c->directory);
	FILE *f = fopen(c->path, "wxe");
	bool ok = f && fwrite(b->map.bytes, 1, b->map.n_bytes, f) == b->map.n_bytes;
	ok = f && fclose(f) == 0 && ok;
	if (!ok)
		remove_copy(c);
	return ok;
}

/* ---- disassembling ---- */

struct reading {
	struct code_binary binary;
	struct copy copy;
	bool gave_up[N_DISASSEMBLERS]; /* no chance for other functions of this module */
	bool has_some, lacks_some;     /* functions with, without instructions */
	char why[128];                 /* the last function without instructions has none */
};

static bool has_copy(const struct making *k, struct reading *r)
{
	return r->copy.path[0] || make_copy(k, &r->binary, &r->copy);
}

/* Disassembles one function. False: this disassembler does not help. r->why says why. */
static bool read_by(struct making *k, struct reading *r, size_t i, const char *tool, size_t hot)
{
	const struct disassembler *d = disassemblers[i];
	struct disassembly *text = &k->texts[hot];
	*text = (struct disassembly){.binary = &r->binary,
				     .hot = &k->hots.list.at[hot],
				     .tool = tool,
				     .left_ms = &k->left_ms[i],
				     .strings = &k->c->strings};
	const bool may_run = !tool || (k->left_ms[i] && has_copy(k, r));
	text->copy = r->copy.path;
	if (may_run && d->read(text))
		return true;
	k->failed |= text->failed;
	vec_free(&text->lines);
	r->gave_up[i] = !may_run || text->is_refused;
	if (tool && !k->left_ms[i])
		snprintf(r->why, sizeof r->why,
			 "%s did not finish in the %d seconds that it has for all binaries",
			 d->tool, TOOL_MS / 1000);
	else if (!may_run)
		snprintf(r->why, sizeof r->why,
			 "it has more than %d MiB, or there is no room for a copy for %s",
			 MOST_BINARY >> 20, d->tool);
	else if (text->is_refused)
		snprintf(r->why, sizeof r->why, "%s failed or printed too much", d->tool);
	else
		snprintf(r->why, sizeof r->why, "none were found at sampled addresses");
	return false;
}

static void read_function(struct making *k, struct reading *r, size_t hot)
{
	char tool[PATH_MAX];
	const char *missing = NULL;
	bool has_tool = false, failed = false;
	for (size_t i = 0; i < N_DISASSEMBLERS; i++) {
		const struct disassembler *d = disassemblers[i];
		if (!d->can || !d->can(&r->binary))
			continue;
		if (d->tool && !code_tool_find(d->tool, d->is_cuda, tool)) {
			missing = d->missing;
			has_tool &= !failed; /* another one may do better */
			continue;
		}
		has_tool = true;
		if (!r->gave_up[i] && read_by(k, r, i, d->tool ? tool : NULL, hot)) {
			r->has_some = true;
			return;
		}
		failed = d->tool && r->gave_up[i] && k->left_ms[i];
	}
	if (!has_tool && missing) {
		say_missing(k, missing);
		return;
	}
	r->lacks_some = true;
	if (!has_tool)
		snprintf(r->why, sizeof r->why,
			 "it has code of a machine that no disassembler here knows");
}

/* Disassembles the functions of one module, and keeps its binary no longer than that. */
static void read_module(struct making *k, uint32_t module)
{
	struct reading r = {.has_some = false};
	if (!code_binary_open(&k->m->modules[module], &k->owners, k->o, &r.binary)) {
		say_about(k, module, false,
			  "it is not there, has changed, may not be read, or is no ELF file");
		return;
	}
	for (size_t i = 0; i < k->hots.list.n && !k->failed; i++)
		if (k->hots.list.at[i].module == module)
			read_function(k, &r, i);
	if (r.lacks_some)
		say_about(k, module, r.has_some, r.why);
	k->c->is_private |= r.binary.is_private;
	remove_copy(&r.copy);
	code_binary_close(&r.binary);
}

static bool is_hot(const struct making *k, uint32_t module)
{
	for (size_t i = 0; i < k->hots.list.n; i++)
		if (k->hots.list.at[i].module == module)
			return true;
	return false;
}

/* ---- the whole ---- */

/* Two static functions may have one name, and copies of a function one definition. */
static bool is_defined_at(const struct model *m, const struct model_function *f,
			  const struct structure *s, const struct structure_scope *scope)
{
	return f->file != MODEL_NONE && scope->file != STRUCTURE_NONE && f->line == scope->line &&
	       strcmp(m->files[f->file].path, structure_get_file(s, scope->file)) == 0;
}

static uint32_t find_function(const struct model *m, const struct code_hot *hot,
			      const struct structure *s, const struct structure_scope *scope)
{
	uint32_t named = MODEL_NONE;
	for (uint32_t i = 0; i < m->n_functions; i++) {
		const struct model_function *f = &m->functions[i];
		if (f->module != hot->module || strstr(f->name, MODEL_GUESSED_SUFFIX))
			continue;
		if (f->link_addr == scope->entry && f->link_addr)
			return i;
		if (named == MODEL_NONE && strcmp(f->name, scope->name) == 0 &&
		    (!f->link_addr || is_defined_at(m, f, s, scope)))
			named = i;
	}
	return named;
}

static bool put_function(struct making *k, size_t i, size_t *bytes_left)
{
	const struct code_hot *hot = &k->hots.list.at[i];
	const struct structure *s = k->m->modules[hot->module].code;
	const struct structure_scope scope = structure_get_scope(s, hot->scope);
	/* half of what is left stays for the following functions */
	const size_t share = i + 1 < k->hots.list.n ? *bytes_left / 2 : *bytes_left;
	const uint32_t name = strtab_add_z(&k->c->strings, scope.name);
	struct code_function *new = name == STRTAB_FAILED ? NULL : vec_push(&k->c->functions);
	if (!new)
		return false;
	*new = (struct code_function){.module = hot->module,
				      .function = find_function(k->m, hot, s, &scope),
				      .name = name,
				      .share = hot->share,
				      .first = k->c->instructions.n};
	size_t used;
	if (!code_text_put(k->m, hot, &k->texts[i], share, k->c, &used))
		return false;
	*bytes_left -= used;
	new->n = k->c->instructions.n - new->first;
	return true;
}

static void make(struct making *k)
{
	size_t bytes_left = MOST_TEXT;
	k->failed = strtab_add_z(&k->c->strings, "") == STRTAB_FAILED ||
		    !code_hots_find(k->m, MOST_FUNCTIONS, &k->hots) ||
		    !(k->texts = calloc(k->hots.list.n + 1, sizeof *k->texts));
	for (size_t i = 0; i < N_DISASSEMBLERS; i++)
		k->left_ms[i] = TOOL_MS;
	for (uint32_t i = 0; !k->failed && i < k->m->n_processes; i++)
		k->failed = !rights_add(&k->owners, k->m->processes[i].owner);
	for (uint32_t i = 0; !k->failed && i < k->m->n_modules; i++)
		if (is_hot(k, i))
			read_module(k, i);
	for (size_t i = 0; !k->failed && i < k->hots.list.n; i++)
		k->failed = !put_function(k, i, &bytes_left);
}

bool code_make(const struct model *m, const struct code_options *o, struct code *c)
{
	struct making k = {.m = m, .o = o, .c = c};
	make(&k);
	for (size_t i = 0; k.texts && i < k.hots.list.n; i++)
		vec_free(&k.texts[i].lines);
	free(k.texts);
	rights_free(&k.owners);
	code_hots_free(&k.hots);
	return !k.failed;
}

void code_free(struct code *c)
{
	vec_free(&c->functions);
	vec_free(&c->instructions);
	vec_free(&c->missing);
	strtab_free(&c->strings);
}
