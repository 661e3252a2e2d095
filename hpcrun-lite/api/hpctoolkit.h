/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting and stopping the measurement from within a program. The functions have the names and
 * meaning of HPCToolkit's, so a program that calls those needs no change. Link with -lhpctoolkit: a
 * static library that does nothing where hpcrun-lite is not there, so the program runs everywhere
 * as without it.
 *
 * The switch is one for the whole process: all threads, those made later too, and the GPUs. It is
 * no counter: one start undoes any number of stops. A process starts with measurement on, or off
 * where hpcrun-lite was given --delay-sampling. A forked child goes on as its parent was; a program
 * that is executed begins as any process.
 *
 * Any thread may call any of them at any time. They wait for nothing but for hpcrun-lite's own
 * thread where it is just taking records or samples of an NVIDIA GPU out of CUPTI: milliseconds,
 * with PC samples up to some tenths of a second, 1 s at most. The calling thread's signals are
 * blocked meanwhile, and come when the call returns. In a signal handler they switch what samples
 * the CPU, and a stop ends the recording of launches; all else about GPUs follows with the next
 * call outside of one. From Fortran: call hpctoolkit_sampling_start(), call
 * hpctoolkit_sampling_stop(). Test: tests/cli/run/control.sh.
 */
#ifndef HPCTOOLKIT_H
#define HPCTOOLKIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* From here on the process is measured. Begins a phase, also where it is measured already. */
void hpctoolkit_sampling_start(void);
/* From here on it is not, and costs no more than without hpcrun-lite. */
void hpctoolkit_sampling_stop(void);
/* Not 0: the process is measured now. 0 also where hpcrun-lite is not there. */
int hpctoolkit_sampling_is_active(void);

#ifdef __cplusplus
}
#endif

#endif
