/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What those who read a measurement file's extents share: threads by number, a walk over records, pages given back. Tests: tests/unit/test_load.c,
 * tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_RECORDS_H
#define HPCPROF_LITE_LOAD_LOAD_RECORDS_H

#include "hpcprof-lite/load/load_file.h"

/* The thread with this number, made when new; NULL when memory is short. It may move others. */
struct load_thread *load_get_thread(struct load_file *f, uint32_t number);
/* Walks records that begin with their own length; BAD_INPUT of `read` is damage. The rest of the extent is lost with the first one whose length makes no sense. */
enum status load_lengthed(struct load_file *f, const struct msr_view *v, enum status (*read)(struct load_file *, const uint8_t *, uint32_t));

/*
 * So many bytes of the file were read and will not be again soon: they need not stay resident, being in the page cache. Now and then gives all pages of a mapped file
 * back (the kernel maps around what is touched, so single ranges would leave much behind). Any thread; harmless at any time.
 */
void load_release(struct load_file *f, uint64_t n_bytes);

#endif
