/* SPDX-License-Identifier: BSD-3-Clause */
/* The complete text output, for programs: one record per line.
 * Test: tests/cli/prof/prof_text.sh. */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_ALL_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_ALL_H

#include "common/base/status.h"
#include "hpcprof-lite/model/model.h"

#include <stdio.h>

/*
 * Writes the whole model with its time lines, as lines of tab separated fields. The first field
 * names the kind of record. Lines that begin with '#' name the fields. Numbers have full precision.
 * Tabs, newlines and backslashes in names become \t, \n, \\. Each byte that could control a
 * terminal, or is not UTF-8, becomes an escape like \x1b. Equal models give equal bytes. Returns
 * STATUS_IO if `out` fails, or STATUS_NO_MEMORY; does not log.
 *
 * The records context, total, value, sample and so on repeat the model as it is. The records tree,
 * by-function, by-line, by-module and thread say the same in words, for scripts that do no joins.
 * "exclusive" of a tree row counts at the context itself; "exclusive" of a function counts at its
 * own lines (see MODEL_POINT and view_table.h):
 *
 *     # tree metric depth kind name place inclusive exclusive samples
 *     tree	CPUTIME (sec)	0	root	everything		6.0150000000000006	0
 * 0 tree	CPUTIME (sec)	1	entry	<main thread>		3.02	0	0 tree
 * CPUTIME (sec)	2	function	main	/src/mini.c:10	3.02	0	0 tree
 * CPUTIME (sec)	3	line	main	/src/mini.c:12	3.02	0.010999999999999999	11
 *     tree	CPUTIME (sec)	4	inlined	small	/src/mini.c:4	0.5	0	0
 *     # by-function metric name place module exclusive inclusive samples
 *     by-function	CPUTIME (sec)	main	/src/mini.c:10	/bin/mini
 * 0.010999999999999999	3.02	11 # by-line metric place function exclusive inclusive samples
 *     by-line	CPUTIME (sec)	/src/mini.c:12	main	0.010999999999999999	3.02	11
 *     # by-module metric path exclusive inclusive samples
 *     by-module	CPUTIME (sec)	/bin/mini	3.02	3.02	3020
 *     # thread rank host pid exec thread name cpu-ns delivered in-tree lost closes metric value
 *         [metric value]...
 *     thread	0	node0	1000	0	0	mini	3021000000	3021	3020	1
 * 1	CPUTIME (sec)	3.02
 *     ledger	all	-	3021	3020	3020	0	3020	0	65536	4500000
 * 40000 loss	all	-	busy	1	1 # paths of id how n     (samples in the tree:
 * complete, guessed, or why they were cut) paths	all	-	complete	3020 #
 * guessed metric of     (metric 1: the part of metric 0 on call paths with a guessed frame) guessed
 * 1	0 # live process     (it was still running when its file was read) live	0 closes	1
 *
 * If there are GPUs, more records follow. Ids of gpu-... records are indices; "-" is none. Times
 * are nanoseconds since 1970; 0 is unknown:
 *
 *     # kernel name place module launches seconds least-ns most-ns shape
 *     kernel	stencil	/src/heat.cl:12	/run/gpubins/01ab.cl	1000	3.02	2900000 3300000 128
 * x 64 # copies direction n bytes ns     (of operations with a record; "set" for fills) copies H2D
 * 2	33554432	4100000 # queue rank host pid exec device context queue busy-ns ops flags
 * name queue	-1	node0	1000	0	0	0	0 3021000000	1002	0
 * queue 0 # gpu-kind of id backend kind launched joined summed-up gpu-kind	all	-	-
 * kernel	1003	1000	0 # gpu-loss of id backend cause takes-operation n gpu-loss	all
 * -	-	never-done	1	3 # gpu-graph-loss of id backend cause n     (operations of
 * graphs; only if there are any) # gpu-ledger of id backend ops orphans no-path bad-order
 * unknown-calls clipped unexplained handler-ns closes entrance gpu-ledger	all	- - 1002
 * 0	0	0	0	0	0	1200000	1 # gpu-unwritten of id backend definitions
 * contents values     (only if there are any) gpu-closes	1 # gpu-sampling of id ranges total
 * recorded dropped outside exact apportioned not-issued sampled-ns gap-ns buffer-full closes
 * unattributed ...
 *     gpu-sampling	all	-	12	15838	15770	40	28	1478	14292	0
 * 12000000000	0	0	1	0 ... # gpu-yardstick of id kernels samples weight
 * wrong-context by-chance wrong-place by-chance (shares; only if kernels ran serialized)
 *     gpu-yardstick	all	-	2	5000	120000	0.011	0.006	0.05	0.049
 *
 * and the model as it is: gpu-device, gpu-context, gpu-queue, gpu-shape, gpu-module, gpu-function,
 * gpu-metric, gpu-profile, gpu-op, gpu-device-limits, gpu-yardstick-kernel. Of idle time:
 * gpu-idle for each device, gpu-waits; lines with # before them name the fields.
 *
 * If calls of MPI were measured (-e MPI), there are mpi-comm, mpi-call, mpi-site, mpi-late and one
 * mpi-ledger; see model_mpi.h for their fields. If kernels of NCCL ran, there are nccl-device,
 * nccl-comm, nccl-site, nccl-late and one nccl-ledger; see model_nccl.h.
 */
enum status sink_text_all(const struct model *m, FILE *out);

/* Fields of a record. */
void text_all_name(FILE *out, const char *s);
void text_all_u64(FILE *out, uint64_t n);
void text_all_id(FILE *out, uint32_t id);
/* file:line with the whole path, or the address if the line is unknown. */
void text_all_place(const struct model *m, uint32_t file, uint32_t line, uint64_t link_addr,
	FILE *out);
/*
 * The records of GPUs; nothing if there are none: the things that contexts name, the records of one
 * process and of one profile, and the rest in words. False if memory is short.
 */
void text_all_gpu_things(const struct model *m, FILE *out);
void text_all_gpu_process(const struct model *m, uint32_t process, FILE *out);
void text_all_gpu_profile(const struct model *m, uint32_t profile, FILE *out);
/* Idle time of devices, and waits for them. */
void text_all_gpu_idle(const struct model *m, FILE *out);
void text_all_energy(const struct model *m, FILE *out);
bool text_all_gpu_words(const struct model *m, FILE *out);
/* The records of NCCL; nothing if none of its kernels ran. */
void text_all_nccl(const struct model *m, FILE *out);
/* The records of MPI; nothing if it was not measured. */
void text_all_mpi(const struct model *m, FILE *out);

#endif
