/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder of the NVIDIA back end (--record-gpu): keeps what passes through struct nv_library and the functions that are given to CUPTI in a file beside the measurement, as
 * common/format/recording.h lays it out. It stands between the two and changes nothing for either. Must not: lose order, grow without bound, keep a descriptor of the program's open, or be there when
 * nobody asked. Any thread, never from a signal handler; errno is kept. Tests: tests/cli/replay.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_TAPE_NV_TAPE_H
#define HPCRUN_LITE_GPU_CUPTI_TAPE_NV_TAPE_H

#include "hpcrun-lite/gpu/cupti/nv.h"

/*
 * Where the options of gpu=nvidia have "record" or "record=SIZE" (K, M, G): starts a recording and puts the recorder in front of all functions of *l. What goes wrong is said in a note, and nothing is
 * recorded. Before anything else is called through *l.
 */
void nv_tape_start(struct nv_library *l);
/* The calling thread ends: what was kept for it is for others. */
void nv_tape_thread_ends(void);
/* The back end has come in, or has given up. */
void nv_tape_ready(void);

#endif
