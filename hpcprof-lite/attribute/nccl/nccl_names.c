/* SPDX-License-Identifier: BSD-3-Clause */
/* See nccl_names.h. Test: tests/unit/prof_nccl/test_nccl.c. */
#include "hpcprof-lite/attribute/nccl/nccl_names.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Prefixes of the operation, used since NCCL 2.19, 2.7, 2.28 and 2.27. */
static const char *const heads[] = {"ncclDevKernel_", "ncclKernel_", "ncclSymkDevKernel_",
				    "ncclSymDevKernel_"};

static const struct {
	const char *name;
	enum nccl_kind kind;
} operations[] = {
	{"AllReduce", NCCL_ALL_REDUCE},
	{"AllGather", NCCL_ALL_GATHER},
	{"ReduceScatter", NCCL_REDUCE_SCATTER},
	{"Broadcast", NCCL_BROADCAST},
	{"Reduce", NCCL_REDUCE},
	{"SendRecv", NCCL_SEND_RECV},
};
enum { N_OPERATIONS = sizeof operations / sizeof *operations };

static enum nccl_kind operation(const char *name)
{
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		size_t n = strlen(operations[i].name);
		if (strncmp(name, operations[i].name, n) == 0 && !isalnum((unsigned char)name[n]))
			return operations[i].kind;
	}
	return NCCL_OTHER;
}

/* Names before NCCL 2.7: "ncclAllReduceRingLLKernel_sum_f32(ncclColl)". */
static enum nccl_kind old_operation(const char *name)
{
	static const char *const algorithms[] = {"Ring", "Tree", "CollNet", "Kernel"};
	for (size_t i = 0; i < N_OPERATIONS && strstr(name, "Kernel_"); i++) {
		size_t n = strlen(operations[i].name);
		for (size_t k = 0; k < sizeof algorithms / sizeof *algorithms; k++)
			if (strncmp(name, operations[i].name, n) == 0 &&
			    strncmp(name + n, algorithms[k], strlen(algorithms[k])) == 0)
				return operations[i].kind;
	}
	return NCCL_NOT;
}

enum nccl_kind nccl_kind_of(const char *kernel)
{
	if (strncmp(kernel, "void ", 5) == 0)
		kernel += 5;
	if (strncmp(kernel, "_Z", 2) == 0)
		kernel += 2 + strspn(kernel + 2, "0123456789");
	if (strncmp(kernel, "nccl", 4) != 0)
		return NCCL_NOT;
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		if (strncmp(kernel, heads[i], strlen(heads[i])) == 0)
			return operation(kernel + strlen(heads[i]));
	return old_operation(kernel + 4);
}
