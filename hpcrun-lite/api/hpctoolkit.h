/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and stops the measurement from within a program. The functions have the names and the
 * meaning of HPCToolkit's, so a program that calls those needs no change. Link with
 * -lhpctoolkit (before glibc 2.34 also -ldl). That is a static library that does nothing if
 * hpcrun-lite is absent, so the program runs everywhere.
 *
 * There is one switch for the whole process: for all threads, including later ones, and for the
 * GPUs. It does not count: one start undoes any number of stops. A process starts with measurement
 * on, or off if hpcrun-lite was given --delay-sampling. A forked child keeps its parent's state. A
 * program that is executed begins like any other process.
 *
 * Any thread may call any of these functions at any time. They wait for only one thing: while
 * hpcrun-lite's own thread takes records or samples of an NVIDIA GPU out of CUPTI. That takes
 * milliseconds, with PC samples up to some tenths of a second, and 1 s at most. Meanwhile the
 * calling thread's signals are blocked; they arrive when the call returns. In a signal handler the
 * functions switch only the sampling of the CPU, and a stop ends the recording of launches. The
 * rest of the GPU measurement follows with the next call outside a handler. From Fortran: call
 * hpctoolkit_sampling_start(), call hpctoolkit_sampling_stop(). Test: tests/cli/run/control.sh.
 */
#ifndef HPCTOOLKIT_H
#define HPCTOOLKIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* From here on the process is measured. Begins a phase, even if the process is already measured. */
void hpctoolkit_sampling_start(void);
/* From here on the process is not measured and costs no more than without hpcrun-lite. */
void hpctoolkit_sampling_stop(void);
/* Not 0: the process is measured now. 0: it is not, or hpcrun-lite is absent. */
int hpctoolkit_sampling_is_active(void);

#ifdef __cplusplus
}
#endif

#endif
