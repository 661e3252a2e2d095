/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of common/safe/cgroup: made-up trees of both versions, below a root of the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* Writes a file below the root, with the directories above it. */
static void put(const char *path, const char *text)
{
	char full[512];
	snprintf(full, sizeof full, "%s/%s", root, path);
	for (char *c = full + strlen(root) + 1; (c = strchr(c, '/')); *c++ = '/') {
		*c = 0;
		mkdir(full, 0755);
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/test_cgroup.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof command, "rm -r %s", root);
	return system(command);
}

#define V2 "sys/fs/cgroup/"
#define V1 "sys/fs/cgroup/cpu,cpuacct/"

static void begin_v2(const char *cgroup)
{
	char line[128];
	snprintf(line, sizeof line, "0::%s\n", cgroup);
	put("proc/self/cgroup", line);
	put(V2 "cgroup.controllers", "cpu memory\n");
}

/* The tighter limit wins, wherever it is; the times of all levels add up. */
static void test_nested(void **state)
{
	struct cgroup c;
	(void)state;
	begin_v2("/a/b/c");
	put(V2 "a/cpu.max", "50000 100000\n");
	put(V2 "a/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 1500\n");
	put(V2 "a/b/cpu.max", "max 100000\n");
	put(V2 "a/b/cpu.stat", "usage_usec 9\nnr_throttled 0\nthrottled_usec 0\n");
	put(V2 "a/b/c/cpu.max", "400000 200000\n");
	put(V2 "a/b/c/cpu.stat", "usage_usec 9\nnr_throttled 1\nthrottled_usec 20\n");
	cgroup_find(root, &c);
	assert_int_equal(c.quota_ns, 500000000);
	assert_int_equal(cgroup_throttled_ns(&c), 1520000);
	const uint64_t outer = c.id;
	put(V2 "a/b/c/cpu.max", "20000 200000\n");
	cgroup_find(root, &c);
	assert_int_equal(c.quota_ns, 100000000);
	assert_int_not_equal(c.id, outer);
}

static void test_no_quota(void **state)
{
	struct cgroup c;
	(void)state;
	cgroup_find(root, &c); /* nothing is there */
	assert_int_equal(c.quota_ns, 0);
	assert_int_equal(cgroup_throttled_ns(&c), 0);
	begin_v2("/a");
	put(V2 "a/cpu.max", "max 100000\n");
	put(V2 "a/cpu.stat", "usage_usec 9\nthrottled_usec 7\n");
	cgroup_find(root, &c);
	assert_int_equal(c.quota_ns, 0);
	assert_int_equal(cgroup_throttled_ns(&c), 0);
	put(V2 "a/cpu.max", "99999999999999999999999 100000\n");
	cgroup_find(root, &c);
	assert_int_equal(c.quota_ns, 0);
	put(V2 "a/cpu.max", "5000 0\n");
	cgroup_find(root, &c);
	assert_int_equal(c.quota_ns, 0);
}

/* In a container the mount is the container's cgroup, and the path may be that of the host. */
static void test_container(void **state)
{
	static const char *const paths[] = {"/", "/docker/4711", "/../other", "/docker/4711/sub"};
	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct cgroup c;
		begin_v2(paths[i]);
		put(V2 "cpu.max", "150000 100000\n");
		put(V2 "cpu.stat", "usage_usec 9\nthrottled_usec 3\n");
		put(V2 "sub/cpu.max", "max 100000\n");
		put(V2 "sub/cpu.stat", "usage_usec 9\nthrottled_usec 0\n");
		cgroup_find(root, &c);
		assert_int_equal(c.quota_ns, 1500000000);
		assert_int_equal(cgroup_throttled_ns(&c), 3000);
		assert_int_equal(strstr(c.path, "/sub") != NULL, i == 3);
	}
}

/* Version 1, beside a version 2 that has no cpu controller. */
static void test_v1(void **state)
{
	struct cgroup c;
	(void)state;
	put("proc/self/cgroup", "5:cpuset:/x\n4:cpuacct,cpu:/a/b\n1:name=systemd:/cpu\n0::/u\n");
	put(V2 "unified/cgroup.controllers", "\n");
	put(V1 "cgroup.procs", "1\n");
	put(V1 "cpu.cfs_quota_us", "-1\n");
	put(V1 "cpu.cfs_period_us", "100000\n");
	put(V1 "a/cpu.cfs_quota_us", "25000\n");
	put(V1 "a/cpu.cfs_period_us", "50000\n");
	put(V1 "a/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 123456\n");
	put(V1 "a/b/cpu.cfs_quota_us", "-1\n");
	put(V1 "a/b/cpu.cfs_period_us", "100000\n");
	put(V1 "a/b/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
	cgroup_find(root, &c);
	assert_true(c.is_v1);
	assert_int_equal(c.quota_ns, 500000000);
	assert_int_equal(cgroup_throttled_ns(&c), 123456);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nested, begin, end),
		cmocka_unit_test_setup_teardown(test_no_quota, begin, end),
		cmocka_unit_test_setup_teardown(test_container, begin, end),
		cmocka_unit_test_setup_teardown(test_v1, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
