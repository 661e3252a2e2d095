/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/gpu/cupti/counters: what counters=... asks for. */
#include "hpcrun-lite/gpu/cupti/nv_counter_list.h"
#include "hpcrun-lite/gpu/cupti/nv_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static struct nv_counter_list list_of(const char *words)
{
	struct nv_counter_list l;
	const char *wrong;
	size_t n;
	assert_true(nv_counter_list_read(words, strlen(words), &l, &wrong, &n));
	return l;
}

static void is_wrong(const char *words, const char *which)
{
	struct nv_counter_list l;
	const char *wrong = NULL;
	size_t n = 0;
	assert_false(nv_counter_list_read(words, strlen(words), &l, &wrong, &n));
	assert_int_equal(n, strlen(which));
	assert_memory_equal(wrong, which, n);
}

static void test_sets_and_names(void **state)
{
	(void)state;
	struct nv_counter_list l = list_of("dram");
	assert_int_equal(l.n, 2);
	assert_string_equal(l.at[0].name, "dram__bytes_read.sum");
	assert_int_equal(l.at[0].unit, MSR_UNIT_BYTES);
	assert_true(l.at[0].description[0]);
	l = list_of("sm__warps_launched.sum");
	assert_int_equal(l.n, 1);
	assert_string_equal(l.at[0].name, "sm__warps_launched.sum");
	assert_int_equal(l.at[0].unit, MSR_UNIT_COUNT);
	assert_string_equal(l.at[0].description, "");
	/* each once */
	assert_int_equal(list_of("roofline").n, 2 + 9 + 6);
	assert_int_equal(list_of("roofline+dram+flops+tensor+roofline").n, 2 + 9 + 6);
	assert_int_equal(list_of("dram__bytes_read.sum+dram").n, 2);
	assert_int_equal(list_of("roofline+l2").n, 2 + 9 + 6 + 2);
}

static void test_what_is_wrong(void **state)
{
	(void)state;
	is_wrong("drum", "drum");
	is_wrong("dram+", "");
	is_wrong("", "");
	is_wrong("dram+l3+flops", "l3");
	is_wrong("sm__cycles_elapsed.max", "sm__cycles_elapsed.max");
	is_wrong("sm__cycles_elapsed.sum.per_second", "sm__cycles_elapsed.sum.per_second");
	is_wrong(".sum", ".sum");
	is_wrong("a b.sum", "a b.sum");
	char many[NV_MAX_COUNTERS * 8 + 16] = "", longest[200];
	for (unsigned i = 0; i <= NV_MAX_COUNTERS; i++)
		snprintf(many + strlen(many), sizeof many - strlen(many), "%sc%02u.sum",
			 i ? "+" : "", i);
	is_wrong(many, "c32.sum");
	memset(longest, 'c', sizeof longest);
	memcpy(longest + NV_COUNTER_NAME_BYTES - 5, ".sum", 5);
	assert_int_equal(list_of(longest).n, 1);
	memcpy(longest + NV_COUNTER_NAME_BYTES - 4, ".sum", 5);
	longest[NV_COUNTER_NAME_BYTES - 5] = 'c';
	is_wrong(longest, longest);
}

static void test_options(void **state)
{
	(void)state;
	static const struct {
		const char *options, *why;
	} wrong[] = {
		{"counters=drum", "has no counters 'drum'; it has the sets " NV_COUNTER_SETS
				  ", and CUPTI's names that end in .sum"},
		{"counters=", "has no counters ''; it has the sets " NV_COUNTER_SETS
			      ", and CUPTI's names that end in .sum"},
		{"replay-kernels",
		 "replays kernels only to count: replay-kernels needs counters=..."},
		{"pc,counters=dram",
		 "cannot count in the same run: counters=... excludes pc and record"},
		{"counters=dram,record",
		 "cannot count in the same run: counters=... excludes pc and record"},
	};
	struct nv_options o;
	char why[256];
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_false(nv_options_read(wrong[i].options, &o, why, sizeof why));
		assert_string_equal(why, wrong[i].why);
		assert_int_equal(o.n_counter_bytes, 0);
	}
	assert_true(nv_options_read("counters=dram+l2,replay-kernels,energy", &o, why, sizeof why));
	assert_int_equal(o.n_counter_bytes, 7);
	assert_memory_equal(o.counters, "dram+l2", 7);
	assert_true(o.replays_kernels && o.energy);
	assert_true(nv_options_read("", &o, why, sizeof why));
	assert_true(!o.n_counter_bytes && !o.replays_kernels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets_and_names),
		cmocka_unit_test(test_what_is_wrong),
		cmocka_unit_test(test_options),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
