/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measurements of ranks that train with NCCL, with truth known. Each rank is a process with a GPU,
 * a queue for kernels and one for NCCL. Step k begins at k * 10 ms:
 *
 *     0 to 4 ms      gemm, a kernel of the program
 *     3 to 6 ms      AllReduce, launched at line 20; on the late rank from 4 ms on
 *     7 to 8 ms      AllGather, launched at line 30; nobody is late
 *     8 to 9 ms      SendRecv
 *     8.8 to 9.5 ms  a copy
 *
 * Late is rank 1 (or `late`), and rank 0 in each fourth step. Tests:
 * tests/unit/prof_nccl/test_nccl.c, tests/cli/nccl/nccl_ranks.sh.
 */
#ifndef TESTS_GEN_GEN_NCCL_H
#define TESTS_GEN_GEN_NCCL_H

#include <stdbool.h>
#include <stdint.h>

struct gen_nccl {
	uint32_t n_ranks, n_steps;
	uint32_t late;         /* the late rank; 0: rank 1 */
	/* ranks with equal rank % n_groups communicate, each group half a step later; 0: all */
	uint32_t n_groups;
	uint32_t n_hosts;      /* ranks are spread over so many; 0: one */
	uint64_t clock_ns;     /* by which the clock of each host is ahead of the one before */
	uint32_t cut_steps;    /* of the last rank the last steps are missing */
	uint32_t cut_first;    /* ... and so many of the first operations of NCCL */
	uint32_t n_samples;    /* of CPU time in step, of each rank; of rank 1 twice as many */
	bool in_one_process;   /* ranks are GPUs of one process */
	bool other_order;      /* the last rank has the operations of each step in another order */
	bool none;             /* the program does not use NCCL: its kernels have other names */
};

void gen_nccl_job(const char *directory, const struct gen_nccl *p);

#endif
