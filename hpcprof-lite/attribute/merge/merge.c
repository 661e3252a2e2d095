/* SPDX-License-Identifier: BSD-3-Clause */
/* See merge.h. Cost: one look-up in a hash table for each node of each thread. Test:
 * tests/unit/prof/test_merge.c. */
#include "hpcprof-lite/attribute/merge/merge.h"

#include "hpcprof-lite/attribute/merge/forward_paths.h"
#include "hpcprof-lite/attribute/merge/nvtx_labels.h"
#include "hpcprof-lite/attribute/merge/python_frames.h"
#include "hpcprof-lite/attribute/merge/wait_objects.h"

#include <stdlib.h>
#include <string.h>

bool merge_init(struct merge_tree *t)
{
	struct merge_node *root = vec_push(&t->nodes);
	if (root)
		root->module = MERGE_NO_MODULE;
	return root != NULL;
}

static uint32_t add(struct merge_tree *t, const struct merge_node *n)
{
	uint64_t a = (uint64_t)n->parent << 32 | n->module,
		 b = n->link_addr | (n->marked ? MSR_ADDR_MARK : 0);
	uint64_t id = map_put(&t->index, a, b, t->nodes.n);
	if (id != t->nodes.n)
		return id == MAP_NONE ? UINT32_MAX : (uint32_t)id;
	struct merge_node *new = vec_push(&t->nodes);
	if (!new)
		return UINT32_MAX;
	*new = *n;
	return (uint32_t)id;
}

/*
 * Makes the node of the range that node `id` of the thread means. False: the tree has no such
 * ranges.
 */
static bool make_range(const struct load_thread *thread, const struct nvtx_label_file *labels,
		       uint64_t id, const struct msr_node *node, struct merge_node *to)
{
	const uint64_t number = msr_addr_link(node->addr) - MSR_NVTX - 1;
	const struct load_nvtx_range *r =
		number < thread->ranges.n ? &thread->ranges.at[number] : NULL;
	if (!labels || !r || !r->kind)
		return false;
	const uint32_t label = labels->of_name[r->name < labels->n ? r->name : 0],
		       push = r->node < id ? thread->node_to[r->node] : 0;
	*to = (struct merge_node){
		.parent = thread->node_to[node->parent],
		.module = MERGE_RANGE,
		.link_addr = (uint64_t)label << 32 | (push == LOAD_DAMAGED ? 0 : push)};
	return true;
}

/* How to interpret the addresses of a file. */
struct meaning {
	const uint32_t *module_of;
	const struct merge_names *names;
};

/* Like the next two functions, returns UINT32_MAX if memory is short. */
static uint32_t add_frame(struct merge_tree *t, const struct meaning *f, uint32_t parent,
			  msr_addr addr)
{
	const uint16_t module = msr_addr_module(addr);
	struct merge_node n = {
		.parent = parent,
		.module = module == MSR_MODULE_NONE      ? MERGE_NO_MODULE
			  : module == MSR_MODULE_UNKNOWN ? MERGE_UNKNOWN
							 : f->module_of[module],
		.link_addr = msr_addr_link(addr),
		.marked = msr_addr_marked(addr),
	};
	if (module == MSR_MODULE_NONE)
		n.link_addr = wait_objects_translate(f->names->waits, n.link_addr);
	if (f->names->python)
		python_translate(f->names->python, addr, &n.module, &n.link_addr);
	return add(t, &n);
}

/*
 * Puts what ran inside of a MSR_FORWARD frame below the path that the frame names, not below
 * `parent`. Paths that continue others nest no deeper than FORWARD_DEPTH_MAX.
 */
static uint32_t add_backward(struct merge_tree *t, const struct meaning *f, uint32_t parent,
			     msr_addr frame)
{
	const struct forward_paths *all = f->names->forward;
	const struct forward_path *p = all ? forward_paths_of(all, frame) : NULL;
	if (!p)
		return parent;
	uint32_t at = p->continues ? add_backward(t, f, 0, p->continues) : 0;
	for (uint32_t i = 0; i < p->n && at != UINT32_MAX; i++)
		at = add_frame(t, f, at, all->addrs.at[p->first + i]);
	const struct merge_node backward = {.parent = at, .module = MERGE_BACKWARD};
	return at == UINT32_MAX ? at : add(t, &backward);
}

static uint32_t add_node(struct merge_tree *t, const struct meaning *f,
			 const struct load_thread *thread, uint64_t id, const struct msr_node *node)
{
	const uint32_t parent = thread->node_to[node->parent];
	struct merge_node n;
	if (load_is_nvtx(node->addr))
		return make_range(thread, f->names->ranges, id, node, &n) ? add(t, &n) : parent;
	return load_is_forward(node->addr) ? add_backward(t, f, parent, node->addr)
					   : add_frame(t, f, parent, node->addr);
}

/* Adds the node of the thread's own path, without NVTX ranges in a backward pass. */
static uint32_t add_shown(struct merge_tree *t, const struct meaning *f,
			  const struct load_thread *thread, uint64_t id,
			  const struct msr_node *node)
{
	const uint32_t parent = thread->shown_to[node->parent];
	if (load_is_forward(node->addr))
		return parent;
	if (parent == thread->node_to[node->parent])
		return thread->node_to[id];
	return load_is_nvtx(node->addr) ? parent : add_frame(t, f, parent, node->addr);
}

/* Up to the first MSR_FORWARD frame, both paths are the same. */
static bool set_shown(struct merge_tree *t, const struct meaning *f, struct load_thread *thread,
		      uint64_t id, const struct msr_node *node)
{
	if (!thread->shown_to) {
		if (!load_is_forward(node->addr) || !f->names->forward || !thread->trace.n)
			return true;
		thread->shown_to = malloc(thread->n_nodes * sizeof *thread->shown_to);
		if (!thread->shown_to)
			return false;
		memcpy(thread->shown_to, thread->node_to,
		       thread->n_nodes * sizeof *thread->shown_to);
	}
	thread->shown_to[id] = add_shown(t, f, thread, id, node);
	return thread->shown_to[id] != UINT32_MAX;
}

bool merge_thread(struct merge_tree *t, struct load_thread *thread, const uint32_t *module_of,
		  const struct merge_names *names)
{
	const struct meaning f = {module_of, names};
	for (size_t p = 0; p < thread->nodes.n; p++) {
		const struct load_part *part = &thread->nodes.at[p];
		const struct msr_node *nodes = (const void *)part->content;
		for (size_t i = 0; i < part->n_bytes / sizeof *nodes; i++) {
			uint64_t id = part->first + i;
			if (id == 0 || thread->node_to[id] == LOAD_DAMAGED)
				continue;
			thread->node_to[id] = add_node(t, &f, thread, id, &nodes[i]);
			if (thread->node_to[id] == UINT32_MAX ||
			    !set_shown(t, &f, thread, id, &nodes[i]))
				return false;
		}
	}
	return true;
}

bool merge_trees(struct merge_tree *into, const struct merge_tree *from, uint32_t *to_node)
{
	to_node[0] = 0;
	for (size_t i = 1; i < from->nodes.n; i++) {
		struct merge_node n = from->nodes.at[i];
		n.parent = to_node[n.parent];
		if (n.module == MERGE_RANGE)
			n.link_addr = (uint64_t)merge_range_label(&n) << 32 |
				      to_node[merge_range_push(&n)];
		to_node[i] = add(into, &n);
		if (to_node[i] == UINT32_MAX)
			return false;
	}
	return true;
}

void merge_free(struct merge_tree *t)
{
	vec_free(&t->nodes);
	map_free(&t->index);
}
