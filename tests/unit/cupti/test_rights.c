/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/gpu/cupti/enter/nv_rights.c: who may sample GPUs, by what /proc says. */
#include "hpcrun-lite/gpu/cupti/enter/nv_rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FIRST "         0          0 4294967295\n"
#define ROOTLESS "         0       1000          1\n"
#define RESTRICTED "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nDmaRemapPeerMmio: 1\n"
#define OPEN "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n"
#define DRIVER_580                                                                            \
	"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  " \
	"(dvs-builder@U22-I3-AM02-24-3)\nGCC version:  gcc version 12.3.0\n"
#define DRIVER_535 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 2023\n"
#define ADMIN (UINT64_C(1) << 21)
#define PERFMON (UINT64_C(1) << 38)

static struct nv_rights r;

static enum nv_profiling profiling(const char *params, const char *version, unsigned uid,
				   uint64_t capabilities, const char *uid_map)
{
	snprintf(r.params, sizeof r.params, "%s", params);
	snprintf(r.version, sizeof r.version, "%s", version);
	snprintf(r.status, sizeof r.status,
		 "Name:\tx\nUid:\t%u\t%u\nCapInh:\t0\nCapEff:\t%016llx\n", uid, uid,
		 (unsigned long long)capabilities);
	snprintf(r.uid_map, sizeof r.uid_map, "%s", uid_map);
	return nv_rights_profiling(&r);
}

static void test_who_may(void **state)
{
	(void)state;
	/* ordinary users, by the driver's option */
	assert_int_equal(profiling(RESTRICTED, DRIVER_580, 1000, 0, FIRST),
			 NV_PROFILING_WANTS_OPTION);
	assert_int_equal(profiling(OPEN, DRIVER_580, 1000, 0, FIRST), NV_PROFILING_ALLOWED);
	/* root, and root of a container */
	assert_int_equal(profiling(RESTRICTED, DRIVER_580, 0, UINT64_MAX >> 23, FIRST),
			 NV_PROFILING_ALLOWED);
	assert_int_equal(profiling(RESTRICTED, DRIVER_580, 0, 0xa80425fb, FIRST),
			 NV_PROFILING_WANTS_CAPABILITY);
	/* single capabilities; CAP_PERFMON is enough from driver 565 on */
	assert_int_equal(profiling(RESTRICTED, DRIVER_535, 1000, ADMIN, FIRST),
			 NV_PROFILING_ALLOWED);
	assert_int_equal(profiling(RESTRICTED, DRIVER_580, 1000, PERFMON, FIRST),
			 NV_PROFILING_ALLOWED);
	assert_int_equal(profiling(RESTRICTED, DRIVER_535, 1000, PERFMON, FIRST),
			 NV_PROFILING_WANTS_OPTION);
	/* rights in a user namespace of one's own do not count */
	assert_int_equal(profiling(RESTRICTED, DRIVER_580, 0, UINT64_MAX >> 23, ROOTLESS),
			 NV_PROFILING_WANTS_OPTION);
	assert_int_equal(profiling(OPEN, DRIVER_580, 0, 0, ROOTLESS), NV_PROFILING_ALLOWED);
	/* not known */
	assert_int_equal(profiling("", "", 1000, 0, ""), NV_PROFILING_ALLOWED);
}

static void test_the_drivers_version(void **state)
{
	(void)state;
	char text[64];
	static const char *const versions[][2] = {
		{DRIVER_580, "580.95.05"},
		{DRIVER_535, "535.129.03"},
		{"", ""},
		{"NVRM version:", ""},
		{"NVRM version: none\nGCC version: gcc 12.3.0\n", ""}};
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		snprintf(r.version, sizeof r.version, "%s", versions[i][0]);
		nv_rights_driver(&r, text, sizeof text);
		assert_string_equal(text, versions[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_may),
		cmocka_unit_test(test_the_drivers_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
