/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/nvtx/known_xla: names of XLA's ranges of 2021 to 2026. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/attribute/known/known_xla.h"

static void names(void **state)
{
	static const struct {
		const char *from, *to; /* to NULL: not of XLA */
	} cases[] = {
		{"Thunk:#hlo_op=fusion.3#", "fusion.3"},
		{"Thunk:#hlo_op=fusion.3,hlo_module=jit_step#", "fusion.3"},
		{"Thunk:#hlo_op=dot,unique_hlo_op_id=17#", "dot"},
		{"Thunk:#name=mul,hlo_op=fusion.3,unique_hlo_op_id=17#", "fusion.3 (mul)"},
		{"Thunk:#name=f/transpose[permutation=(1,0)],hlo_op=copy.1,unique_hlo_op_id=4#",
		 "copy.1 (f/transpose[permutation=(1,0)])"},
		{"Thunk:#name=,hlo_op=copy.1#", "copy.1"},
		{"XlaModule:#hlo_module=jit_step#", "module jit_step"},
		{"XlaModule:#hlo_module=jit_step,program_id=3#", "module jit_step"},
		{"XlaModule:#prefix=jit(step)/jit(main),hlo_module=jit_step,program_id=3#",
		 "module jit_step"},
		{"XlaModule:#program_id=3#", NULL},
		{"XlaCompile:#module=jit_step#", "XlaCompile (jit_step)"},
		{"XlaEmitLlvmIr:#module=jit_step,program_id=3#", "XlaEmitLlvmIr (jit_step)"},
		{"XlaPass:#name=fusion,module=jit_step,program_id=3#", "XlaPass fusion (jit_step)"},
		{"XlaPass:#name=fusion", "XlaPass fusion"}, /* as cut in the run */
		{"XlaPass:#", NULL},
		{"XlaPass", NULL},
		{"Thunk:#name=hlo_op#", NULL},
		{"Thunk:", NULL},
		{"thunk", NULL},
		{"", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char to[64] = "";
		assert_int_equal(known_xla_name(cases[i].from, to, sizeof to),
				 cases[i].to != NULL);
		if (cases[i].to)
			assert_string_equal(to, cases[i].to);
	}
	char small[6];
	assert_true(known_xla_name("Thunk:#hlo_op=fusion.3#", small, sizeof small));
	assert_string_equal(small, "fusio");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
