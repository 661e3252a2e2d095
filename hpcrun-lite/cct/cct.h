/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calling context tree, the metric cells and the time line of one thread. Their memory is the
 * measurement file; only the index that finds a node by (parent, address) is private. One writer:
 * the thread itself, in its signal handler. Everything is signal-safe and keeps errno. If something
 * cannot be stored, the caller gets the cause and must count the loss.
 * Test: tests/unit/run/test_cct.c.
 */
#ifndef HPCRUN_LITE_CCT_CCT_H
#define HPCRUN_LITE_CCT_CCT_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cct;

struct cct_options {
	uint32_t thread;     /* number of the thread in the file */
	uint32_t max_depth;  /* most frames of a path */
	uint32_t max_nodes;  /* most context nodes, at most MSR_TRACE_NODE_MAX */
};

/* Size of the memory for a tree. Only pages in use are touched. */
size_t cct_bytes(uint32_t max_depth);

/*
 * Makes an empty tree in the caller's memory: cct_bytes() bytes, zeroed, aligned to 64. Takes no
 * space in the file yet. Never fails.
 */
struct cct *cct_init(void *memory, const struct cct_options *options);

struct cct_path {
	/* Packed addresses, innermost frame first. */
	const uint64_t *addr;
	uint32_t n;           /* 0: the sample belongs to the entry point itself */
	/* the outermost n_same frames and `end` equal those of the previous path */
	uint32_t n_same;
	enum msr_path_end end;
	/* Module 0 means synthetic frames; if false, it is recorded as MSR_MODULE_UNKNOWN. */
	bool has_synthetic;
	/* MSR_ENTRY_* of a complete path. If it changes, n_same must be 0. */
	enum msr_synthetic entry;
};

/*
 * Sets *node to the node of the path and makes the node if necessary. On failure returns false and
 * sets *cause; nodes made for outer frames stay. Costs one look-up for each frame outside n_same.
 */
bool cct_insert(struct cct *tree, const struct cct_path *path, uint32_t *node,
		enum msr_loss *cause);

/*
 * Sets *node to the child of `parent` with this address, which may be a synthetic frame. Makes the
 * child if necessary.
 */
bool cct_child(struct cct *tree, uint32_t parent, msr_addr addr, uint32_t *node,
	       enum msr_loss *cause);

/* A path was walked but not inserted, so the next n_same is not about the last inserted path. */
void cct_forget_path(struct cct *tree);

/* Adds `count` samples with a weight of `sum` to a node's cell of a metric. */
bool cct_add(struct cct *tree, uint32_t node, uint32_t metric, uint64_t count, uint64_t sum,
	     enum msr_loss *cause);

/*
 * Appends a record to the time line. now_ns is CLOCK_MONOTONIC and not before the previous record.
 */
bool cct_trace(struct cct *tree, uint32_t node, uint32_t metric, uint64_t now_ns,
	       enum msr_loss *cause);

/* Returns unused space to the store. The tree remains usable. */
void cct_trim(struct cct *tree);

/*
 * At the end of the thread: returns unused space to the store and frees the index. Only cct_init
 * may follow.
 */
void cct_finish(struct cct *tree);

/*
 * In a forked child: frees the index and does not touch the parent's file. Only cct_init may
 * follow.
 */
void cct_forget(struct cct *tree);

/* Number of nodes, including the root. */
uint32_t cct_n_nodes(const struct cct *tree);

#endif
