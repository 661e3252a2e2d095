/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree without the internals of PyTorch (torch_fold.h), and the table of operators. */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/view/view_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum module { NONE, APP, BINDING, TORCH, OTHER, N_MODULES };

/* Each module has functions of 0x100 bytes; code without a name follows the last one. */
static const struct {
	const char *path;
	const char *functions[8];
} modules[N_MODULES] = {
	[APP] = {"/usr/bin/python3.11", {"call"}},
	[BINDING] = {"/x/torch/lib/libtorch_python.so",
		     {"torch::autograd::THPVariable_add(_object*)",
		      "torch::PythonArgParser::raw_parse(_object*)",
		      "THPEngine_run_backward(_object*)"}},
	[TORCH] = {"/x/torch/lib/libtorch_cpu.so",
		   {"at::_ops::add_Tensor::call(at::Tensor const&)",
		    "at::_ops::add_Tensor::redispatch(c10::DispatchKeySet)",
		    "at::native::add(at::Tensor const&)", "at::_ops::mul_Tensor::call()",
		    "torch::autograd::Engine::evaluate_function(int)",
		    "torch::autograd::generated::AddBackward0::apply(int)"}},
	[OTHER] = {"/x/libother.so",
		   {"at::_ops::add_Tensor::call(at::Tensor const&)",
		    "pybind11::cpp_function::initialize<f>(f)::_FUN(function_call&)",
		    "c10::impl::wrap_kernel_functor_unboxed_<g>::call()",
		    "torch::autograd::CppNode<Mine>::apply()"}},
};

struct run {
	char *directory;
	struct gen *g;
	uint32_t cpu, thread, entry;
	uint64_t time_ns;
	struct model *m;
};

static void write_structure(const char *directory, unsigned i)
{
	const uint8_t id[2] = {0xa0, (uint8_t)i};
	struct gen_structure *s = gen_structure_new(modules[i].path, id, sizeof id);
	uint64_t at = 0x1000;
	for (unsigned k = 0; k < 8 && modules[i].functions[k]; k++, at += 0x100) {
		uint32_t d = gen_structure_definition(s, modules[i].functions[k], STRUCTURE_NONE,
						      0),
			 f = gen_structure_function(s, d, at);
		gen_structure_interval(s, at, f, STRUCTURE_NONE, 0);
	}
	gen_structure_interval(s, at, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

static void begin(struct run *r)
{
	*r = (struct run){.directory = fixture_directory(), .time_ns = 1000};
	r->g = gen_open(r->directory, &(struct gen_process){.pid = 1, .rank = -1});
	for (unsigned i = 1; i < N_MODULES; i++) {
		const uint8_t id[2] = {0xa0, (uint8_t)i};
		assert_int_equal(gen_module(r->g, modules[i].path, id, sizeof id,
					    i == APP ? MSR_MODULE_MAIN : 0),
				 i);
		write_structure(r->directory, i);
	}
	r->cpu = gen_metric(r->g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	r->thread = gen_thread(r->g, "t");
	r->entry = gen_entry(r->g, r->thread, MSR_ENTRY_MAIN);
}

/* A frame in a function, by the part of its name behind the last "::"; NULL: no name. */
static uint32_t frame(struct run *r, uint32_t above, enum module module, const char *function)
{
	uint64_t at = 0x1000;
	unsigned k = 0;
	for (; k < 8 && modules[module].functions[k]; k++, at += 0x100)
		if (function && strstr(modules[module].functions[k], function))
			break;
	assert_true(!function || (k < 8 && modules[module].functions[k]));
	return gen_child(r->g, r->thread, above, msr_addr_make(module, at + 8, false));
}

static void sample(struct run *r, uint32_t node)
{
	r->time_ns += 1000000;
	gen_sample(r->g, r->thread, node, r->cpu, r->time_ns, 1000000000);
}

static void finish(struct run *r, bool internals)
{
	struct load_job job = {0};
	free(gen_close(r->g, MSR_EXIT_RETURN, 0));
	assert_int_equal(load_job_open(&r->directory, 1, 1, &job), STATUS_OK);
	fixture_internals = internals;
	r->m = fixture_model_of(&job, r->directory, 1);
	fixture_internals = false;
	fixture_check_model(r->m);
}

static void clean(struct run *r)
{
	model_free(r->m);
	fixture_remove(r->directory);
}

/* "call;aten::add_Tensor" of the context that has `own` seconds of its own; "" if none has. */
static void path_of(const struct run *r, double own, char *path, size_t n)
{
	uint32_t chain[32], length = 0, c = 1;
	path[0] = 0;
	for (; c < r->m->n_contexts; c++) {
		const struct model_total *t = model_find_total(r->m, c, 0);
		if (t && t->sum[MODEL_POINT] == own)
			break;
	}
	for (; c < r->m->n_contexts && c; c = r->m->contexts[c].parent)
		if (r->m->contexts[c].kind == MODEL_CONTEXT_FUNCTION)
			chain[length++] = c;
	while (length--) {
		const char *name = r->m->functions[r->m->contexts[chain[length]].function].name;
		size_t used = strlen(path);
		snprintf(path + used, n - used, "%s%.*s", used ? ";" : "",
			 (int)strcspn(name, "("), name);
	}
}

struct step {
	enum module module;
	const char *function;
};

#define AT(m, f) {.module = m, .function = f}
#define PATH(...) ((const struct step[]){__VA_ARGS__}), \
	sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step)

/* One sample at the end of `path` is shown at `expected`. */
static void assert_path(const char *expected, bool internals, const struct step *path, size_t n)
{
	struct run r;
	char found[1024];
	begin(&r);
	uint32_t at = r.entry;
	for (size_t i = 0; i < n; i++)
		at = frame(&r, at, path[i].module, path[i].function);
	sample(&r, at);
	finish(&r, internals);
	path_of(&r, 1, found, sizeof found);
	assert_string_equal(found, expected);
	clean(&r);
}

static void an_operator_is_one_row(void **state)
{
	(void)state;
	assert_path("call;aten::add_Tensor;at::native::add", false,
		    PATH(AT(APP, "call"), AT(BINDING, "THPVariable_add"), AT(TORCH, "call("),
			 AT(TORCH, "redispatch"), AT(TORCH, "native::add")));
	/* time in the dispatcher is the operator's */
	assert_path("call;aten::add_Tensor", false,
		    PATH(AT(APP, "call"), AT(BINDING, "THPVariable_add"), AT(TORCH, "call("),
			 AT(TORCH, "redispatch")));
	/* an operator calls another */
	assert_path("call;aten::add_Tensor;at::native::add;aten::mul_Tensor", false,
		    PATH(AT(APP, "call"), AT(TORCH, "call("), AT(TORCH, "native::add"),
			 AT(TORCH, "mul_Tensor::call")));
	/* time in a binding is its caller's; what else it calls stays */
	assert_path("call", false, PATH(AT(APP, "call"), AT(BINDING, "THPVariable_add")));
	assert_path("call;torch::PythonArgParser::raw_parse", false,
		    PATH(AT(APP, "call"), AT(BINDING, "THPVariable_add"),
			 AT(BINDING, "raw_parse")));
	/* operators that are used in another library */
	assert_path("call;aten::add_Tensor;at::_ops::add_Tensor::call", false,
		    PATH(AT(APP, "call"), AT(OTHER, "call(at")));
}

/* The compiler inlines an extension's functions into templates of pybind11 and PyTorch. */
static void templates_in_an_extension_stay(void **state)
{
	(void)state;
	assert_path("call;pybind11::cpp_function::initialize<f>", false,
		    PATH(AT(APP, "call"), AT(OTHER, "initialize<")));
	assert_path("call;aten::add_Tensor;c10::impl::wrap_kernel_functor_unboxed_<g>::call", false,
		    PATH(AT(APP, "call"), AT(TORCH, "call("), AT(TORCH, "redispatch"),
			 AT(OTHER, "wrap_kernel")));
	assert_path("call;autograd engine;CppNode<Mine>;torch::autograd::CppNode<Mine>::apply",
		    false,
		    PATH(AT(APP, "call"), AT(TORCH, "Engine::evaluate"), AT(OTHER, "CppNode")));
}

static void static_functions_of_stripped_libraries(void **state)
{
	(void)state;
	assert_path("call;aten::add_Tensor;at::native::add", false,
		    PATH(AT(APP, "call"), AT(BINDING, NULL), AT(BINDING, NULL), AT(TORCH, "call("),
			 AT(TORCH, NULL), AT(TORCH, "redispatch"), AT(TORCH, NULL),
			 AT(TORCH, "native::add")));
	/* behind the last known frame they may be the work */
	assert_path("call;aten::add_Tensor;<unknown function> [libtorch_cpu.so]", false,
		    PATH(AT(APP, "call"), AT(TORCH, "call("), AT(TORCH, NULL)));
	/* in a kernel they are, too */
	assert_path("call;aten::add_Tensor;at::native::add;<unknown function> [libtorch_cpu.so];"
		    "aten::mul_Tensor",
		    false,
		    PATH(AT(APP, "call"), AT(TORCH, "call("), AT(TORCH, "native::add"),
			 AT(TORCH, NULL), AT(TORCH, "mul_Tensor::call")));
	/* those of other libraries stay */
	assert_path("call;aten::add_Tensor;<unknown function> [libother.so];at::native::add", false,
		    PATH(AT(APP, "call"), AT(TORCH, "call("), AT(OTHER, NULL),
			 AT(TORCH, "native::add")));
}

static void the_engine_is_one_row(void **state)
{
	(void)state;
	assert_path("call;autograd engine;AddBackward0;aten::mul_Tensor", false,
		    PATH(AT(APP, "call"), AT(BINDING, "THPEngine"), AT(TORCH, "Engine::evaluate"),
			 AT(TORCH, NULL), AT(TORCH, "AddBackward0"),
			 AT(TORCH, "mul_Tensor::call")));
	/* a node that runs the engine again */
	assert_path("call;autograd engine;AddBackward0;autograd engine", false,
		    PATH(AT(APP, "call"), AT(TORCH, "Engine::evaluate"),
			 AT(TORCH, "AddBackward0"), AT(TORCH, "Engine::evaluate")));
}

static void internals_keep_all_frames(void **state)
{
	(void)state;
	assert_path("call;torch::autograd::THPVariable_add;at::_ops::add_Tensor::call;"
		    "at::_ops::add_Tensor::redispatch",
		    true,
		    PATH(AT(APP, "call"), AT(BINDING, "THPVariable_add"), AT(TORCH, "call("),
			 AT(TORCH, "redispatch")));
}

static void guessed_frames_stay_apart(void **state)
{
	struct run r;
	char found[1024];
	(void)state;
	begin(&r);
	uint32_t call = frame(&r, r.entry, APP, "call");
	sample(&r, gen_child(r.g, r.thread, call, msr_addr_make(TORCH, 0x1008, true)));
	finish(&r, false);
	path_of(&r, 1, found, sizeof found);
	assert_string_equal(found, "call;aten::add_Tensor" MODEL_GUESSED_SUFFIX);
	clean(&r);
}

static const struct view_row *find_row(const struct run *r, const struct view_rows *rows,
				       const char *name)
{
	for (size_t i = 0; i < rows->n; i++) {
		const uint32_t function = r->m->contexts[rows->at[i].context].function;
		if (strcmp(r->m->functions[function].name, name) == 0)
			return &rows->at[i];
	}
	fail_msg("no row of %s", name);
	abort();
}

/* One second each: in no operator, in add, in its kernel, in mul, in add again, inside of mul. */
static void the_table_of_operators(void **state)
{
	struct run r;
	struct view_values t;
	struct view_rows rows;
	(void)state;
	begin(&r);
	uint32_t call = frame(&r, r.entry, APP, "call"), add = frame(&r, call, TORCH, "call("),
		 kernel = frame(&r, add, TORCH, "native::add"),
		 mul = frame(&r, kernel, TORCH, "mul_Tensor::call"),
		 inner = frame(&r, mul, TORCH, "call(");
	sample(&r, call);
	sample(&r, add);
	sample(&r, kernel);
	sample(&r, mul);
	sample(&r, inner);
	finish(&r, false);
	assert_true(view_values_open(r.m, 0, &t));
	assert_true(view_rows_make(r.m, &t, VIEW_BY_OPERATOR, &rows));
	assert_int_equal(rows.n, 2);
	const struct view_row *of_add = find_row(&r, &rows, "aten::add_Tensor"),
			      *of_mul = find_row(&r, &rows, "aten::mul_Tensor");
	assert_true(of_add->self == 3 && of_add->total == 4);
	assert_int_equal(of_add->n_samples, 3);
	assert_true(of_mul->self == 1 && of_mul->total == 2);
	view_rows_free(&rows);
	view_values_close(&t);
	clean(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operator_is_one_row),
		cmocka_unit_test(templates_in_an_extension_stay),
		cmocka_unit_test(static_functions_of_stripped_libraries),
		cmocka_unit_test(the_engine_is_one_row),
		cmocka_unit_test(internals_keep_all_frames),
		cmocka_unit_test(guessed_frames_stay_apart),
		cmocka_unit_test(the_table_of_operators),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
