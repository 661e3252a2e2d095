/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of code by its name (known_code.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/attribute/known/known_code.h"

static void modules(void **state)
{
	static const struct {
		const char *path;
		enum model_module_role role;
	} cases[] = {
		{"/usr/bin/python3.12", MODEL_MODULE_INTERPRETER},
		{"python", MODEL_MODULE_INTERPRETER},
		{"/usr/lib/libpython3.11.so.1.0", MODEL_MODULE_INTERPRETER},
		{"/opt/bin/pythonic", MODEL_MODULE_PROGRAM},
		{"/usr/lib/x86_64-linux-gnu/libcuda.so.1", MODEL_MODULE_LAUNCH},
		{"/usr/lib/libcublasLt.so.13", MODEL_MODULE_LAUNCH},
		{"/usr/lib/libffi.so.8", MODEL_MODULE_LAUNCH},
		{"/lib/libc.so.6", MODEL_MODULE_START},
		{"/lib/libcrypto.so.3", MODEL_MODULE_PROGRAM},
		{"/python3/app", MODEL_MODULE_PROGRAM},
		{"", MODEL_MODULE_PROGRAM},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(known_module(cases[i].path), cases[i].role);
}

static void imports(void **state)
{
	(void)state;
	assert_true(known_import("<frozen importlib._bootstrap>") &&
		    known_import("<frozen importlib._bootstrap_external>"));
	assert_false(known_import("/usr/lib/python3.11/importlib/__init__.py") ||
		     known_import("<frozen runpy>") || known_import("<string>"));
}

static void launches(void **state)
{
	(void)state;
	assert_true(known_launch("clEnqueueNDRangeKernel") && known_launch("cuLaunchKernel") &&
		    known_launch("__device_stub__Z3addPf(float*)"));
	assert_true(known_launch("cudaError cudaLaunchKernel<char>(char const*)") &&
		    known_launch("static cudaError cudaLaunchKernel<char>(char const*)"));
	assert_false(known_launch("my_cudaLaunch") || known_launch("solve<float>(int)") ||
		     known_launch("main"));
}

static void nvcc(void **state)
{
	const char *stub = NULL;
	(void)state;
	assert_false(known_by_nvcc("void geo::add<float>(float*)",
				   &stub)); /* a function of this name, and no stub below it */
	assert_true(known_by_nvcc("cudaError __cudaLaunchKernel_helper<char>(char*)", &stub));
	assert_true(known_by_nvcc("__device_stub__ZN3geo3addIfEEvPf(float*)", &stub));
	assert_true(known_by_nvcc("void geo::add<float>(float*)", &stub));
	assert_true(known_by_nvcc("(anonymous namespace)::add(float*)", &stub));
	assert_false(known_by_nvcc("step", &stub));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules),
		cmocka_unit_test(imports),
		cmocka_unit_test(launches),
		cmocka_unit_test(nvcc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
