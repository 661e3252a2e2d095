/* SPDX-License-Identifier: BSD-3-Clause */
/* What torch_program.c calls in torch_fake.cc, as Python calls PyTorch. */
#ifndef TESTS_WORKLOAD_TORCH_TORCH_FAKE_H
#define TESTS_WORKLOAD_TORCH_TORCH_FAKE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a node of the graph does when the engine evaluates it. */
struct fake_work {
	double seconds;          /* of CPU time */
	void (*call)(void *arg); /* after that; may be NULL */
	void *arg;
	int throws;
	int is_leaf; /* no operator made it: it has no number */
};

/* Makes a node, as an operator does in the forward pass. */
void *fake_node(const struct fake_work *work);
void fake_free(void *node);
/* Evaluates up to 16 nodes, the last first. Returns the number of exceptions that it caught. */
int fake_backward(void *const *nodes, int n, int in_thread);

#ifdef __cplusplus
}
#endif
#endif
