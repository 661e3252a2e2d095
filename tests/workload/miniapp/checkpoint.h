/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checkpoints: the enthalpy of a slab, packed and written to a file by a thread of its own while
 * the solver goes on.
 *
 * File, little-endian: "MELT", u32 version 1, u32 step, u32 CRC-32 of the packed bytes, u64
 * elements, u64 packed bytes, then the packed bytes: for each element the xor with the element
 * before it, as one byte that counts its significant bytes (0 to 8) and those bytes, lowest first.
 */
#ifndef MELT_CHECKPOINT_H
#define MELT_CHECKPOINT_H

#include <stddef.h>

struct checkpoint;

/* Starts the writer thread for files named prefix.step.rank. NULL when it cannot be started. */
struct checkpoint *checkpoint_start(const char *prefix, int rank, size_t n);

/* Hands n numbers over to the writer; they are copied. Waits while the writer is still busy with
 * the last ones. */
void checkpoint_submit(struct checkpoint *checkpoint, unsigned step, const double *field);

/* Waits for the last file, ends the thread and frees everything. 0, or -1 when a file could not be
 * written (which was said). */
int checkpoint_stop(struct checkpoint *checkpoint);

/* Reads one file of n numbers back. 0 and *step set, or -1 after saying what is wrong; field may
 * then be partly filled. */
int checkpoint_read(const char *path, size_t n, double *field, unsigned *step);

#endif
