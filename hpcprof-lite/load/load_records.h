/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the readers of a measurement file: the steps of reading, threads by number, a walk over
 * records, and giving pages back. Tests: tests/unit/prof/test_load.c,
 * tests/fuzz/fuzz_measurement.c.
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
/* Gives the thread a record of zeros. It must not have one yet. False if memory is short. */
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
 * Scans the file and keeps the contents of its extents. f->header must be set. Damage is counted,
 * so the only failure is lack of memory.
 */
enum status load_extents(struct load_file *f);
/* Validates the tree of a thread: sets n_nodes and node_to[]. Fails only if memory is short. */
enum status load_check_nodes(struct load_file *f, struct load_thread *t);
/* Sorts the parts of cells and of the time line. load_check_values() needs this. */
void load_order_values(struct load_file *f, struct load_thread *t);

/* Read one record, for load_lengthed(). */
enum status load_python_code(struct load_file *f, const uint8_t *record, uint32_t bytes);
enum status load_torch_module(struct load_file *f, const uint8_t *record, uint32_t bytes);

/*
 * Used if the data of the mapped file is still on the node of its process. On that node, maps the
 * data. Elsewhere, keeps the file mapped if it has a part of the data, which was copied while the
 * process ran; a warning and f->notes say so. Otherwise returns STATUS_NOT_FOUND, with a warning,
 * and nothing is mapped.
 */
enum status load_from_node(const char *path, struct load_file *f);

/*
 * Says that n_bytes of the file were read and will not be needed again soon. From time to time,
 * gives back all pages of a mapped file; they remain in the page cache. It gives back all pages
 * because the kernel maps around each touched page, so single ranges would leave much behind. Any
 * thread may call it at any time.
 */
void load_release(struct load_file *f, uint64_t n_bytes);
/* as n_bytes: give back all pages now; the reader is done with the file */
#define LOAD_ALL UINT32_MAX

#endif
