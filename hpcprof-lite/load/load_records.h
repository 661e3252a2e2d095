/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the readers of a measurement file: its steps, threads by number, a walk over records,
 * and giving pages back. Tests: tests/unit/prof/test_load.c, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_RECORDS_H
#define HPCPROF_LITE_LOAD_LOAD_RECORDS_H

#include "hpcprof-lite/load/load_file.h"

/*
 * Returns the thread with this number, and makes it if it is new. NULL if memory is short. The call
 * may move other threads in memory.
 */
struct load_thread *load_get_thread(struct load_file *f, uint32_t number);
/* Begins a thread without a record. The caller has zeroed it. */
void load_begin_thread(struct load_thread *t, uint32_t number);
/* Gives it a record, in which all is 0. It must have none. False if memory is short. */
bool load_make_record(struct load_thread *t);
/* The node with this id; NULL: the file does not have it. */
const struct msr_node *load_node(const struct load_thread *t, uint32_t id);
/*
 * Calls read() for each record of an extent whose records begin with their own length.
 * STATUS_BAD_INPUT from read() counts as damage. An impossible length ends the walk; the rest of
 * the extent is lost.
 */
enum status load_lengthed(struct load_file *f, const struct msr_view *v,
	enum status (*read)(struct load_file *, const uint8_t *, uint32_t));

/*
 * Scans the file and keeps what its extents have; f->header is known. Damage is counted, so all
 * failures are of memory.
 */
enum status load_extents(struct load_file *f);
/* Validates the tree of a thread: sets n_nodes and node_to[]. Then only memory can be short. */
enum status load_check_nodes(struct load_file *f, struct load_thread *t);
/* Sorts the parts of cells and of the time line, for load_check_values(). */
void load_order_values(struct load_file *f, struct load_thread *t);

/* Read one record, for load_lengthed(). */
enum status load_python_code(struct load_file *f, const uint8_t *record, uint32_t bytes);
enum status load_torch_module(struct load_file *f, const uint8_t *record, uint32_t bytes);

/*
 * If the mapped file waits for its data, which are on the node of its process, maps those, if this
 * is the node. Else the file stays mapped if it has a part of them, which was copied while the
 * process ran; a warning and f->notes say so. Else returns STATUS_NOT_FOUND, with a warning, and
 * nothing is mapped.
 */
enum status load_from_node(const char *path, struct load_file *f);

/*
 * Says that n_bytes of the file were read and will not be needed again soon. From time to time,
 * gives back all pages of a mapped file; they remain in the page cache. It gives back all pages
 * because the kernel maps around each touched page, so single ranges would leave much behind. Any
 * thread may call it at any time.
 */
void load_release(struct load_file *f, uint64_t n_bytes);
#define LOAD_ALL UINT32_MAX /* as n_bytes: now, because the reader goes on to another file */

#endif
