/* SPDX-License-Identifier: BSD-3-Clause */
/* See merge.h. Cost: one look-up in a hash table for each node of each thread. Test:
 * tests/unit/prof/test_merge.c. */
#include "hpcprof-lite/attribute/merge.h"

#include "hpcprof-lite/attribute/activity/wait_objects.h"
#include "hpcprof-lite/attribute/nvtx/nvtx_labels.h"
#include "hpcprof-lite/attribute/python_frames.h"

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

/* Makes the node for node `id` of the thread, a range. False: the tree has no such ranges. */
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

bool merge_thread(struct merge_tree *t, struct load_thread *thread, const uint32_t *module_of,
		  const struct merge_names *names)
{
	for (size_t p = 0; p < thread->nodes.n; p++) {
		const struct load_part *part = &thread->nodes.at[p];
		const struct msr_node *nodes = (const void *)part->content;
		for (size_t i = 0; i < part->n_bytes / sizeof *nodes; i++) {
			uint64_t id = part->first + i;
			if (id == 0 || thread->node_to[id] == LOAD_DAMAGED)
				continue;
			struct merge_node n;
			if (load_is_nvtx(nodes[i].addr)) {
				thread->node_to[id] =
					make_range(thread, names->ranges, id, &nodes[i], &n)
						? add(t, &n)
						: thread->node_to[nodes[i].parent];
				if (thread->node_to[id] == UINT32_MAX)
					return false;
				continue;
			}
			uint16_t module = msr_addr_module(nodes[i].addr);
			n = (struct merge_node){
				.parent = thread->node_to[nodes[i].parent],
				.module = module == MSR_MODULE_NONE      ? MERGE_NO_MODULE
					  : module == MSR_MODULE_UNKNOWN ? MERGE_UNKNOWN
									 : module_of[module],
				.link_addr = msr_addr_link(nodes[i].addr),
				.marked = msr_addr_marked(nodes[i].addr),
			};
			if (module == MSR_MODULE_NONE)
				n.link_addr = wait_objects_translate(names->waits, n.link_addr);
			if (names->python)
				python_translate(names->python, nodes[i].addr, &n.module,
						 &n.link_addr);
			thread->node_to[id] = add(t, &n);
			if (thread->node_to[id] == UINT32_MAX)
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
