/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of functions of PyTorch (known_torch.h), as its libraries have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hpcprof-lite/attribute/known/known_torch.h"

static void libraries(void **state)
{
	(void)state;
	assert_true(known_torch_library("/usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13"));
	assert_true(known_torch_library("/venv/site-packages/torch/lib/libtorch_cuda.so"));
	assert_true(known_torch_library("/venv/site-packages/torch/lib/libc10.so"));
	assert_true(known_torch_library("/venv/site-packages/torch/lib/libc10_cuda.so"));
	assert_true(known_torch_library("/x/torch/_C.cpython-311-x86_64-linux-gnu.so"));
	assert_true(known_torch_binding("/x/torch/lib/libtorch_python.so"));
	assert_false(known_torch_binding("/x/torch/lib/libtorch_cpu.so"));
	assert_false(known_torch_library("/x/torchvision/_C.so"));
	assert_false(known_torch_library("/x/lib/libtorchvision.so"));
	assert_false(known_torch_library("/x/lib/libtorch_solver.so"));
	assert_false(known_torch_library("/x/other/_C.cpython-311-x86_64-linux-gnu.so"));
	assert_false(known_torch_library("/home/libtorch/solver"));
	assert_false(known_torch_library(""));
}

static const struct {
	const char *function;
	enum torch_kind kind;
	const char *name;
} cases[] = {
	{"at::_ops::add_Tensor::call(at::Tensor const&, at::Tensor const&, c10::Scalar const&)",
	 TORCH_OPERATOR, "aten::add_Tensor"},
	{"at::_ops::__and___Scalar::call(at::Tensor const&, c10::Scalar const&)", TORCH_OPERATOR,
	 "aten::__and___Scalar"},
	{"at::_ops::add_Tensor::redispatch(c10::DispatchKeySet, at::Tensor const&)", TORCH_GLUE,
	 NULL},
	{"at::_ops::call(int)", TORCH_GLUE, NULL},
	{"at::_ops::create_relu_typed_handle()", TORCH_GLUE, NULL},
	{"torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor, "
	 "std::allocator<at::Tensor> >&&)",
	 TORCH_NODE, "AddmmBackward0"},
	{"torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)", TORCH_NODE,
	 "AccumulateGrad"},
	{"torch::autograd::CppNode<my::Function>::apply(std::vector<at::Tensor>&&)", TORCH_NODE,
	 "CppNode<my::Function>"},
	{"torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&, "
	 "torch::autograd::Node*)",
	 TORCH_ENGINE, NULL},
	{"torch::autograd::python::PythonEngine::thread_init(int, bool)", TORCH_ENGINE, NULL},
	{"THPEngine_run_backward(_object*, _object*, _object*)", TORCH_ENGINE, NULL},
	{"torch::autograd::Node::operator()(std::vector<at::Tensor>&&)", TORCH_GLUE, NULL},
	{"at::native::addmm_out_cuda_impl(at::Tensor&)", TORCH_KERNEL, NULL},
	/* of templates the return type is in front */
	{"at::Tensor c10::Dispatcher::call<at::Tensor, at::Tensor const&>(c10::TypedOperatorHandle<"
	 "at::Tensor (at::Tensor const&)> const&, at::Tensor const&) const",
	 TORCH_GLUE, NULL},
	{"std::tuple<at::Tensor, at::Tensor> c10::Dispatcher::redispatch<std::tuple<at::Tensor, "
	 "at::Tensor>, at::Tensor const&>(int)",
	 TORCH_GLUE, NULL},
	{"c10::impl::wrap_kernel_functor_unboxed_<c10::impl::detail::WrapFunctionIntoFunctor_<"
	 "c10::CompileTimeFunctionPointer<at::Tensor (at::Tensor const&), "
	 "&(anonymous namespace)::wrapper_relu>, at::Tensor>, at::Tensor (at::Tensor const&)>::"
	 "call(c10::OperatorKernel*, c10::DispatchKeySet, at::Tensor const&)",
	 TORCH_GLUE, NULL},
	{"at::(anonymous namespace)::(anonymous namespace)::wrapper_CPU_add_Tensor(at::Tensor "
	 "const&)",
	 TORCH_GLUE, NULL},
	{"torch::autograd::VariableType::(anonymous namespace)::relu(c10::DispatchKeySet)",
	 TORCH_GLUE, NULL},
	{"torch::autograd::THPVariable_conv2d(_object*, _object*, _object*)", TORCH_GLUE, NULL},
	{"torch::autograd::THPVariable_add(_object*)::{lambda(int)#1}::operator()(int) const",
	 TORCH_GLUE, NULL},
	{"pybind11::cpp_function::dispatcher(_object*, _object*, _object*)", TORCH_GLUE, NULL},
	{"at::Tensor torch::autograd::dispatch_to(at::Tensor const&, c10::Device)", TORCH_GLUE,
	 NULL},
	{"torch::autograd::generated::AddmmBackward0_apply_functional(std::vector<at::Tensor>&&, "
	 "std::array<bool, 3ul>)",
	 TORCH_GLUE, NULL},
	{"torch::autograd::generated::details::mm_mat1_backward(at::Tensor const&)", TORCH_OTHER,
	 NULL},
	{"dynamo__custom_eval_frame", TORCH_GLUE, NULL},
	/* what uses the dispatcher is not the dispatcher */
	{"c10::Dispatcher::registerImpl(c10::OperatorName)", TORCH_OTHER, NULL},
	{"void std::vector<c10::KernelFunction::X>::push_back(int)", TORCH_OTHER, NULL},
	{"my::layer<at::_ops::relu::call(int)>::run(int)", TORCH_OTHER, NULL},
	{"std::operator<(c10::Scalar, c10::Scalar)", TORCH_OTHER, NULL},
	{"at::TensorIteratorBase::for_each(int)", TORCH_OTHER, NULL},
	{"main", TORCH_OTHER, NULL},
	{"", TORCH_OTHER, NULL},
};

static void functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char name[TORCH_NAME_BYTES] = "unset";
		enum torch_kind kind = known_torch(cases[i].function, name);
		const char *expected = cases[i].name ? cases[i].name : "unset";
		if (kind != cases[i].kind || strcmp(name, expected) != 0)
			fail_msg("%s: kind %d, name %s", cases[i].function, (int)kind, name);
	}
}

static void long_names(void **state)
{
	char function[2 * TORCH_NAME_BYTES] = "at::_ops::", name[TORCH_NAME_BYTES];
	(void)state;
	memset(function + 10, 'x', sizeof function - 20);
	memcpy(function + sizeof function - 10, "::call()", 9);
	assert_int_equal(known_torch(function, name), TORCH_OPERATOR);
	assert_int_equal(strlen(name), TORCH_NAME_BYTES - 1);
}

static void wrappers(void **state)
{
	static const char module[] = "/venv/site-packages/torch/nn/modules/module.py";
	(void)state;
	assert_true(known_torch_wrapper(module, "Module._call_impl"));
	assert_true(known_torch_wrapper(module, "_wrapped_call_impl"));
	assert_true(known_torch_wrapper(module, "Module._call_impl.<locals>.inner"));
	assert_true(known_torch_wrapper("/x/torch/utils/_contextlib.py",
					"context_decorator.<locals>.decorate_context"));
	assert_true(known_torch_wrapper("/x/torch/_dynamo/eval_frame.py",
					"_TorchDynamoContext.__call__.<locals>._fn"));
	assert_true(known_torch_wrapper("/x/torch/_dynamo/eval_frame.py",
					"OptimizedModule.__call__"));
	assert_true(known_torch_wrapper("/x/torch/_functorch/_aot_autograd/utils.py",
					"make_boxed_func.<locals>.g"));
	assert_true(known_torch_wrapper("/x/transformers/utils/generic.py",
					"can_return_tuple.<locals>.wrapper"));
	assert_false(known_torch_wrapper("/x/torch/_dynamo/eval_frame.py", "Other.__call__"));
	assert_false(known_torch_wrapper("/x/torch/autograd/function.py", "Function.apply"));
	assert_false(known_torch_wrapper(module, "Module.my_call_impl"));
	assert_false(known_torch_wrapper(module, "Module.forward"));
	assert_false(known_torch_wrapper("/home/me/module.py", "Module._call_impl"));
	assert_false(known_torch_wrapper("", ""));
}

static void forwards(void **state)
{
	static const char conv[] = "/usr/lib/python3/dist-packages/torch/nn/modules/conv.py";
	(void)state;
	assert_true(known_torch_forward(conv, "Conv2d.forward"));
	assert_true(known_torch_forward(conv, "forward"));
	assert_true(known_torch_forward(conv, "Conv2d._conv_forward"));
	assert_false(known_torch_forward(conv, "TransformerEncoderLayer._ff_block"));
	assert_false(known_torch_forward(conv, "Conv2d.my_forward"));
	assert_false(known_torch_forward("/home/me/net.py", "Net.forward"));
	assert_false(known_torch_forward("/x/torchvision/models/resnet.py", "ResNet.forward"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries),
		cmocka_unit_test(functions),
		cmocka_unit_test(long_names),
		cmocka_unit_test(wrappers),
		cmocka_unit_test(forwards),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
