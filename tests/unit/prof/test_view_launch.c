/* SPDX-License-Identifier: BSD-3-Clause */
/* Launch sites (view_launch.h), of models that are written down here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/view/view_launch.h"

enum { PROGRAM, RUNTIME, N_MODULES };
enum { MAIN, STUB, API, PLACEHOLDER, NODE, KERNEL, N_FUNCTIONS };

static const struct model_module modules[N_MODULES] = {
	{.path = "app"}, {.path = "libcuda.so.1", .role = MODEL_MODULE_LAUNCH}};
static const struct model_function functions[N_FUNCTIONS] = {
	[MAIN] = {.name = "main", .module = PROGRAM},
	[STUB] = {.name = "step", .module = PROGRAM}, /* as the kernel */
	[API] = {.name = "cuLaunchKernel", .module = RUNTIME, .is_launch = true},
	[PLACEHOLDER] = {.name = "<gpu kernel>", .module = MODEL_NONE, .gpu_kind = MSR_GPU_KERNEL},
	[NODE] = {.name = "<graph node of a.cu:1, f>",
		  .module = MODEL_NONE,
		  .gpu_kind = MSR_GPU_KERNEL},
	[KERNEL] = {.name = "step", .module = MODEL_NONE},
};

#define FUNCTION(parent_, which)                                                          \
	{                                                                                 \
		.parent = (parent_), .kind = MODEL_CONTEXT_FUNCTION, .function = (which), \
		.module = MODEL_NONE                                                      \
	}
#define LINE(parent_, which, of)                                                      \
	{                                                                             \
		.parent = (parent_), .kind = MODEL_CONTEXT_LINE, .function = (which), \
		.module = (of)                                                        \
	}

/* root > entry > main > line > step > line > cuLaunchKernel > line > <gpu kernel> > step, and >
 * <graph node> > step */
static struct model_context contexts[] = {
	{.parent = MODEL_NONE,
	 .kind = MODEL_CONTEXT_ROOT,
	 .function = MODEL_NONE,
	 .module = MODEL_NONE},
	{.parent = 0, .kind = MODEL_CONTEXT_ENTRY, .function = MODEL_NONE, .module = MODEL_NONE},
	FUNCTION(1, MAIN),
	LINE(2, MAIN, PROGRAM),
	FUNCTION(3, STUB),
	LINE(4, STUB, PROGRAM),
	FUNCTION(5, API),
	LINE(6, API, RUNTIME),
	FUNCTION(7, PLACEHOLDER),
	FUNCTION(8, KERNEL),
	FUNCTION(8, NODE),
	FUNCTION(10, KERNEL),
};
static const struct model model = {.modules = modules,
				   .n_modules = N_MODULES,
				   .functions = functions,
				   .n_functions = N_FUNCTIONS,
				   .contexts = contexts,
				   .n_contexts = 12};

static void machinery_is_passed(void **state)
{
	(void)state;
	struct view_launch l = view_launch_of(&model, 9);
	assert_int_equal(l.site, 3);
	assert_int_equal(l.node, MODEL_NONE);
	assert_false(l.is_on_guess);
	l = view_launch_of(&model, 11);
	assert_int_equal(l.site, 3);
	assert_int_equal(l.node, 10);
}

static void guessed_between(void **state)
{
	(void)state;
	contexts[4].marked = true;
	assert_true(view_launch_of(&model, 9).is_on_guess);
	contexts[4].marked = false;
	contexts[2].marked = true; /* of the site, or further out: not between */
	assert_false(view_launch_of(&model, 9).is_on_guess);
	contexts[2].marked = false;
}

/* Without a line: the instruction of a function that is no machinery; without that the entry. */
static void without_lines(void **state)
{
	(void)state;
	contexts[3].kind = MODEL_CONTEXT_INSTRUCTION;
	assert_int_equal(view_launch_of(&model, 9).site, 3);
	contexts[3].module = RUNTIME;
	assert_int_equal(view_launch_of(&model, 9).site, 1);
	contexts[3].kind = MODEL_CONTEXT_LINE;
	contexts[3].module = PROGRAM;
}

static void caller_is_api(void **state)
{
	(void)state;
	for (uint32_t context = 8; context < 12; context++) /* kernels, placeholder, graph node */
		assert_int_equal(view_launch_caller(&model, context), 6);
	contexts[8].parent = 1;
	assert_int_equal(view_launch_caller(&model, 9), MODEL_NONE);
	contexts[8].parent = 7;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machinery_is_passed),
		cmocka_unit_test(guessed_between),
		cmocka_unit_test(without_lines),
		cmocka_unit_test(caller_is_api),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
