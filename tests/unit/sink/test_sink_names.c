/* SPDX-License-Identifier: BSD-3-Clause */
/* names: UTF-8 in, UTF-8 out; nothing is empty that readers need. */
#include "hpcprof-lite/view/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void keeps_utf8_and_replaces_the_rest(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"", ""},
		{"main", "main"},
		{"gr\xc3\xb6\xc3\x9f"
		 "e",
		 "gr\xc3\xb6\xc3\x9f"
		 "e"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"a\xff"
		 "b",
		 "a\xef\xbf\xbd"
		 "b"},                                    /* no first byte of anything */
		{"\xc3", "\xef\xbf\xbd"},                 /* ends inside a character */
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong */
		{"\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80",
		 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* half of a surrogate pair */
		{"\xf4\x90\x80\x80",
		 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* beyond U+10FFFF */
	};
	struct strtab t = {0};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint32_t id = names_add(&t, cases[i].in);
		assert_int_not_equal(id, STRTAB_FAILED);
		assert_string_equal(strtab_get(&t, id), cases[i].out);
		assert_int_equal(names_add(&t, cases[i].in), id);
	}
	assert_int_equal(names_add(&t, NULL), names_add(&t, ""));
	strtab_free(&t);
}

static void everything_has_a_name(void **state)
{
	const struct model_function functions[] = {{.name = "f"}, {.name = ""}, {.name = NULL}};
	const struct model_module modules[] = {{.path = "/bin/true"}};
	const struct model m = {
		.functions = functions, .n_functions = 3, .modules = modules, .n_modules = 1};
	(void)state;
	assert_string_equal(names_function(&m, 0), "f");
	assert_string_equal(names_function(&m, 1), "<unknown function>");
	assert_string_equal(names_function(&m, 2), "<unknown function>");
	assert_string_equal(names_function(&m, MODEL_NONE), "<unknown function>");
	assert_string_equal(names_module(&m, 0), "/bin/true");
	assert_string_equal(names_module(&m, MODEL_NONE), "<unknown module>");
	for (unsigned end = 0; end < MSR_N_PATH_ENDS + 3; end++) {
		const struct model_context c = {.kind = MODEL_CONTEXT_ENTRY,
						.entry = MODEL_ENTRY_PARTIAL,
						.end = (uint8_t)end};
		assert_memory_equal(names_entry(&c), "partial call paths",
				    strlen("partial call paths"));
	}
	assert_string_equal(names_entry(&(struct model_context){.entry = MODEL_ENTRY_MAIN}),
			    "main thread");
	assert_string_equal(names_entry(&(struct model_context){.entry = MODEL_ENTRY_THREAD}),
			    "application thread");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_utf8_and_replaces_the_rest),
		cmocka_unit_test(everything_has_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
