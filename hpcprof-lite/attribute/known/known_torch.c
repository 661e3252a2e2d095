/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See known_torch.h. In PyTorch, torchgen generates at::_ops, boxing is in
 * aten/src/ATen/core/boxing, and the engine is in torch/csrc/autograd. Test:
 * tests/unit/prof_torch/test_known_torch.c.
 */
#include "hpcprof-lite/attribute/known/known_torch.h"

#include <stdio.h>
#include <string.h>

static bool begins(const char *name, const char *head)
{
	return strncmp(name, head, strlen(head)) == 0;
}

static bool begins_as(const char *name, const char *const *heads)
{
	while (*heads && !begins(name, *heads))
		heads++;
	return *heads;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool known_torch_binding(const char *path)
{
	return begins(last_part(path), "libtorch_python.so") ||
	       (begins(last_part(path), "_C.") && strstr(path, "/torch/_C."));
}

bool known_torch_library(const char *path)
{
	static const char *const heads[] = {"libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so",
					    "libtorch_cuda_", "libtorch_hip.so", "libtorch_xpu.so",
					    "libc10.so", "libc10_",
					    /* our interposed functions */
					    "libhpcrun-lite-torch.so", NULL};
	return begins_as(last_part(path), heads) || known_torch_binding(path);
}

/* Skips the return type that precedes demangled names of templates. */
static const char *skip_return_type(const char *function)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *start = function;
	int depth = 0;
	for (const char *at = function; *at; at++) {
		if (begins(at, anonymous)) {
			at += sizeof anonymous - 2;
			continue;
		}
		if (begins(at, "operator") || (*at == '(' && depth == 0))
			break;
		if (*at == '<')
			depth++;
		else if (*at == '>')
			depth--;
		else if (*at == ' ' && depth == 0)
			start = at + 1;
	}
	return start;
}

/* The length of the name without its arguments. */
static size_t length_of(const char *name)
{
	int depth = 0;
	size_t n = 0;
	for (; name[n] && (name[n] != '(' || depth > 0); n++)
		depth += name[n] == '<' ? 1 : name[n] == '>' ? -1 : 0;
	return n;
}

static bool ends(const char *name, size_t n, const char *end)
{
	const size_t length = strlen(end);
	return n >= length && strncmp(name + n - length, end, length) == 0;
}

/* "at::_ops::add_Tensor::call" enters the operator; "redispatch" continues inside of it. */
static enum torch_kind find_operator(const char *at, char name[TORCH_NAME_BYTES])
{
	static const char head[] = "at::_ops::", call[] = "::call";
	const size_t n = length_of(at), skip = sizeof head - 1;
	if (!ends(at, n, call) || n <= skip + sizeof call - 1)
		return TORCH_GLUE;
	snprintf(name, TORCH_NAME_BYTES, "aten::%.*s", (int)(n - skip - (sizeof call - 1)),
		 at + skip);
	return TORCH_OPERATOR;
}

/* "torch::autograd::generated::MulBackward0::apply": the class is the name of the node. */
static bool find_node(const char *at, char name[TORCH_NAME_BYTES])
{
	static const char head[] = "torch::autograd::", apply[] = "::apply";
	size_t n = length_of(at);
	if (!begins(at, head) || !ends(at, n, apply))
		return false;
	n -= sizeof apply - 1;
	size_t begin = sizeof head - 1;
	if (begins(at + begin, "generated::"))
		begin += strlen("generated::");
	if (begin >= n)
		return false;
	snprintf(name, TORCH_NAME_BYTES, "%.*s", (int)(n - begin), at + begin);
	return true;
}

/*
 * True for "torch::autograd::generated::MulBackward0_apply_functional", which apply() calls since
 * 2.6.
 */
static bool is_node_part(const char *at)
{
	return begins(at, "torch::autograd::generated::") &&
	       ends(at, length_of(at), "_apply_functional");
}

enum torch_kind known_torch(const char *function, char name[TORCH_NAME_BYTES])
{
	static const char *const engine[] = {
		"torch::autograd::Engine::", "torch::autograd::python::PythonEngine::",
		"THPEngine_run_backward", NULL};
	static const char *const glue[] = {
		/* dispatcher and boxing */
		"c10::Dispatcher::call", "c10::Dispatcher::redispatch", "c10::KernelFunction::",
		"c10::BoxedKernel::", "c10::OperatorHandle::", "c10::TypedOperatorHandle<",
		"c10::impl::wrap_kernel_functor_unboxed_<",
		"c10::impl::make_boxed_from_unboxed_functor<", "c10::impl::BoxedKernelWrapper<",
		"c10::impl::call_functor_with_args_from_stack", "at::redispatch::",
		/* dispatch keys before the kernel: autograd, views, tracer, mixed precision */
		"torch::autograd::VariableType::", "torch::ADInplaceOrView::", "torch::TraceType::",
		"at::autocast::WrapFunction_<",
		"at::functorch::", "torch::autograd::Node::operator()", "at::sequence_number::",
		/* registered wrappers that call at::native */
		"at::(anonymous namespace)::wrapper_",
		"at::(anonymous namespace)::(anonymous namespace)::wrapper_",
		/* from Python */
		"torch::autograd::THPVariable_", "THPVariable_", "THPFunction_apply",
		"torch::autograd::dispatch_", "torch::jit::invokeOperatorFromPython",
		"torch::jit::_get_operation_for_overload",
		"pybind11::cpp_function::dispatcher", "pybind11::cpp_function::initialize<",
		"pybind11::detail::argument_loader<",
		/* code that torch.compile generated */
		"dynamo_", NULL};
	const char *at = skip_return_type(function);
	if (begins(at, "at::_ops::"))
		return find_operator(at, name);
	if (begins_as(at, engine))
		return TORCH_ENGINE;
	if (begins_as(at, glue) || is_node_part(at))
		return TORCH_GLUE;
	if (find_node(at, name))
		return TORCH_NODE;
	return begins(at, "at::native::") ? TORCH_KERNEL : TORCH_OTHER;
}

/* `function` may be qualified: "Module._call_impl" or, before Python 3.11, "_call_impl". */
static bool is_function(const char *function, const char *name)
{
	const size_t n_function = strlen(function), n = strlen(name);
	return ends(function, n_function, name) &&
	       (n_function == n || function[n_function - n - 1] == '.');
}

bool known_torch_wrapper(const char *file, const char *function)
{
	static const struct {
		const char *file;
		const char *function; /* NULL: all */
	} rows[] = {
		{"/torch/nn/modules/module.py", "_call_impl"},
		{"/torch/nn/modules/module.py", "_wrapped_call_impl"},
		{"/torch/nn/modules/module.py", "inner"}, /* of _call_impl */
		{"/torch/autograd/grad_mode.py", "decorate_context"},
		{"/torch/utils/_contextlib.py", "decorate_context"},
		{"/torch/amp/autocast_mode.py", "decorate_autocast"},
		{"/torch/optim/optimizer.py", "wrapper"},
		{"/torch/optim/optimizer.py", "_use_grad"},
		{"/torch/optim/optimizer.py", "maybe_fallback"},
		/* torch.compile: wrappers around the code that it generates */
		{"/torch/_dynamo/eval_frame.py", "compile_wrapper"},
		{"/torch/_dynamo/eval_frame.py", "_fn"},
		{"/torch/_dynamo/eval_frame.py", "OptimizedModule.__call__"},
		{"/torch/_dynamo/external_utils.py", "inner"},
		{"/torch/_functorch/aot_autograd.py", "forward"},
		{"/torch/_functorch/_aot_autograd/runtime_wrappers.py", NULL},
		{"/torch/_functorch/_aot_autograd/utils.py", NULL},
		{"/torch/_inductor/output_code.py", "__call__"},
		{"/torch/_inductor/utils.py", "run"},
		/* decorators of transformers */
		{"/transformers/modeling_layers.py", "__call__"},
		{"/transformers/utils/generic.py", "wrapper"},
		{"/transformers/utils/output_capturing.py", "wrapper"},
	};
	const size_t n_file = strlen(file);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (ends(file, n_file, rows[i].file) &&
		    (!rows[i].function || is_function(function, rows[i].function)))
			return true;
	return false;
}

bool known_torch_forward(const char *file, const char *function)
{
	return strstr(file, "/torch/nn/modules/") &&
	       (is_function(function, "forward") || is_function(function, "_conv_forward"));
}
