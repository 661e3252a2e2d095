/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classifies functions of PyTorch by their names: operators, nodes of autograd's graph, and the
 * code between them. The names are those of C++ functions, so this needs no interface of PyTorch.
 * Nothing allocates. Test: tests/unit/prof_torch/test_known_torch.c.
 */
#ifndef HPCPROF_ATTRIBUTE_KNOWN_KNOWN_TORCH_H
#define HPCPROF_ATTRIBUTE_KNOWN_KNOWN_TORCH_H

#include <stdbool.h>

enum { TORCH_NAME_BYTES = 256 };

enum torch_kind {
	TORCH_OTHER,
	TORCH_OPERATOR, /* enters an operator: at::_ops::add_Tensor::call() */
	TORCH_NODE,     /* the backward function of an operator: AddmmBackward0::apply() */
	TORCH_ENGINE,   /* autograd's engine, which calls nodes */
	TORCH_KERNEL,   /* implements an operator: at::native::addmm_cpu_out() */
	TORCH_GLUE      /* between these: dispatcher, boxing, wrappers, Python bindings */
};

/* True for the libraries of PyTorch itself, by their file names; not for libtorchvision. */
bool known_torch_library(const char *path);
/* True for the libraries of PyTorch that Python calls. */
bool known_torch_binding(const char *path);
/*
 * Classifies a function by its demangled name. For operators and nodes sets `name` to the name that
 * users know: "aten::add_Tensor", "AddmmBackward0". A name that is too long is cut.
 */
enum torch_kind known_torch(const char *function, char name[TORCH_NAME_BYTES]);
/* True for a Python function that only calls a module's forward() or a similar function. */
bool known_torch_wrapper(const char *file, const char *function);
/* True for forward() of a module of PyTorch itself: "Conv2d.forward", "Conv2d._conv_forward". */
bool known_torch_forward(const char *file, const char *function);

#endif
