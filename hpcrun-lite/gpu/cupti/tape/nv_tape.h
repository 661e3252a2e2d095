/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder of the NVIDIA back end (--record-gpu). It sits between the back end and CUPTI and
 * saves everything that passes through struct nv_library and through our callbacks, in a file
 * beside the measurement (common/format/recording.h). It changes nothing for either side.
 *
 * It keeps the order, has a size limit, keeps no descriptor open in the program, and does not exist
 * unless the user asked for it. Any thread, never in a signal handler; keeps errno. Test:
 * tests/cli/gpu/replay.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_TAPE_NV_TAPE_H
#define HPCRUN_LITE_GPU_CUPTI_TAPE_NV_TAPE_H

#include "hpcrun-lite/gpu/cupti/nv.h"

/*
 * If the options of gpu=nvidia contain "record" or "record=SIZE" (K, M, G), starts a recording and
 * puts the recorder in front of all functions of *l. On failure a note says why and nothing is
 * recorded. Call this before any other function of *l.
 */
void nv_tape_start(struct nv_library *l);
/* The calling thread ends; another thread may reuse its recording state. */
void nv_tape_thread_ends(void);
/* Ends the recording, if there is one. */
void nv_tape_end(const char *why);
/* The back end has started, or has given up. */
void nv_tape_ready(void);

#endif
