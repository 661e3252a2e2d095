/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See forward_paths.h. Only the innermost MSR_FORWARD frame of a path matters: it says where
 * everything inside of it belongs. So each path continues at most one other path. Walks along these
 * have a limited length, which detects the circles that damaged files may have. Test:
 * tests/unit/prof_torch/test_forward_paths.c.
 */
#include "hpcprof-lite/attribute/merge/forward_paths.h"

#include "common/base/sorted.h"
#include "hpcprof-lite/attribute/known/known_code.h"
#include "hpcprof-lite/attribute/known/known_torch.h"
#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>

enum { TORCH = 1, INTERPRETER = 2, PYTHON = 4 }; /* kinds of modules */

struct finding {
	struct forward_paths *p;
	const struct load_file *file;
	uint8_t *kind; /* by module id of the file */
};

/* Finds the node that a frame names, and its thread. NULL: damage. */
static const struct msr_node *target_of(const struct load_file *f, msr_addr frame,
					const struct load_thread **thread)
{
	const uint32_t number = msr_forward_thread(frame), node = msr_forward_node(frame);
	const size_t i = sorted_below(f->threads.at, f->threads.n, number, number);
	if (i == f->threads.n || f->threads.at[i].number != number)
		return NULL;
	*thread = &f->threads.at[i];
	return node && node < (*thread)->n_nodes && (*thread)->node_to[node] != LOAD_DAMAGED
		       ? load_node(*thread, node)
		       : NULL;
}

static unsigned kind_of(const struct finding *w, msr_addr addr)
{
	const uint16_t module = msr_addr_module(addr);
	return module < w->file->modules.n ? w->kind[module] : 0;
}

static const struct msr_node *caller_of(const struct load_thread *t, const struct msr_node *n)
{
	return n->parent ? load_node(t, n->parent) : NULL;
}

/* Goes outwards and skips frames of these kinds. */
static const struct msr_node *skip(const struct finding *w, const struct load_thread *t,
				   const struct msr_node *n, unsigned kinds)
{
	while (n && (load_is_nvtx(n->addr) || kind_of(w, n->addr) & kinds))
		n = caller_of(t, n);
	return n;
}

/* The line that called PyTorch: of Python if there is one, otherwise of the C++ caller. */
static const struct msr_node *find_line(const struct finding *w, const struct load_thread *t,
					const struct msr_node *n)
{
	const struct msr_node *native = skip(w, t, n, TORCH),
			      *line = skip(w, t, native, TORCH | INTERPRETER);
	return line && kind_of(w, line->addr) == PYTHON ? line : native;
}

static void reverse(msr_addr *at, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		const msr_addr outer = at[n - 1 - i];
		at[n - 1 - i] = at[i];
		at[i] = outer;
	}
}

/* Copies the path to node `n`. It starts at the entry, or at the innermost MSR_FORWARD frame. */
static bool copy_path(struct finding *w, const struct load_thread *t, const struct msr_node *n,
		      struct forward_path *path)
{
	path->first = w->p->addrs.n;
	for (n = find_line(w, t, n); n && !path->continues; n = caller_of(t, n)) {
		if (load_is_forward(n->addr)) {
			path->continues = n->addr;
		} else if (!load_is_nvtx(n->addr)) {
			msr_addr *to = vec_push(&w->p->addrs);
			if (!to)
				return false;
			*to = n->addr;
		}
	}
	path->n = (uint32_t)(w->p->addrs.n - path->first);
	if (path->n)
		reverse(&w->p->addrs.at[path->first], path->n);
	return true;
}

static bool add_path(struct finding *w, msr_addr frame)
{
	const struct load_thread *t;
	const uint64_t id = map_put(&w->p->index, frame, 0, w->p->paths.n);
	if (id != w->p->paths.n)
		return id != MAP_NONE;
	struct forward_path path = {0}, *to;
	const struct msr_node *n = target_of(w->file, frame, &t);
	path.leads = n;
	if ((n && !copy_path(w, t, n, &path)) || !(to = vec_push(&w->p->paths)))
		return false;
	*to = path;
	return true;
}

static bool add_thread(struct finding *w, const struct load_thread *t)
{
	for (size_t k = 0; k < t->nodes.n; k++) {
		const struct msr_node *nodes = (const void *)t->nodes.at[k].content;
		for (size_t i = 0; i < t->nodes.at[k].n_bytes / sizeof *nodes; i++) {
			const uint64_t id = t->nodes.at[k].first + i;
			if (id && t->node_to[id] != LOAD_DAMAGED &&
			    load_is_forward(nodes[i].addr) && !add_path(w, nodes[i].addr))
				return false;
		}
	}
	return true;
}

static const struct forward_path *path_of(const struct forward_paths *p, msr_addr frame)
{
	const uint64_t id = map_get(&p->index, frame, 0);
	return id == MAP_NONE ? NULL : &p->paths.at[id];
}

/* False if the path continues a path that leads nowhere. */
static bool leads(const struct forward_paths *p, const struct forward_path *path)
{
	unsigned depth = 1;
	for (; path && path->leads && depth <= FORWARD_DEPTH_MAX; depth++) {
		if (!path->continues)
			return true;
		path = path_of(p, path->continues);
	}
	return false;
}

static uint8_t kind_of_module(const struct load_module *m)
{
	if (!m->record)
		return 0;
	if (m->record->flags & MSR_MODULE_PYTHON)
		return PYTHON;
	return known_torch_library(m->path)                        ? TORCH
	       : known_module(m->path) == MODEL_MODULE_INTERPRETER ? INTERPRETER
								   : 0;
}

bool forward_paths_find(struct forward_paths *p, const struct load_file *f)
{
	if (!f->has_forward)
		return true;
	struct finding w = {p, f, calloc(f->modules.n + 1, sizeof *w.kind)};
	bool ok = w.kind;
	for (size_t i = 0; ok && i < f->modules.n; i++)
		w.kind[i] = kind_of_module(&f->modules.at[i]);
	for (size_t i = 0; ok && i < f->threads.n; i++)
		ok = add_thread(&w, &f->threads.at[i]);
	free(w.kind);
	return ok;
}

const struct forward_path *forward_paths_of(const struct forward_paths *p, msr_addr frame)
{
	const struct forward_path *path = path_of(p, frame);
	return path && leads(p, path) ? path : NULL;
}

void forward_paths_free(struct forward_paths *p)
{
	map_free(&p->index);
	vec_free(&p->paths);
	vec_free(&p->addrs);
}

/* ---- all files ---- */

struct forward {
	struct forward_paths *files; /* NULL: the internals of PyTorch are kept */
	size_t n_files;
};

static bool name_forward(void *state, struct topic_run *r)
{
	struct forward *f = state;
	if (r->internals)
		return true;
	f->files = calloc(r->job->files.n + 1, sizeof *f->files);
	bool ok = f->files;
	for (; ok && f->n_files < r->job->files.n; f->n_files++)
		ok = forward_paths_find(&f->files[f->n_files], &r->job->files.at[f->n_files]);
	return ok;
}

static void take_file(const void *state, size_t file, struct merge_names *names)
{
	const struct forward *f = state;
	names->forward = f->files ? &f->files[file] : NULL;
}

static void close_forward(void *state)
{
	struct forward *f = state;
	for (size_t i = 0; i < f->n_files; i++)
		forward_paths_free(&f->files[i]);
	free(f->files);
}

const struct topic_ops topic_forward = {.state_bytes = sizeof(struct forward),
					.steps = {[TOPIC_NAME] = name_forward},
					.take_file = take_file,
					.close = close_forward};
