/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/gpu/cupti/energy: when a meter is read, and the host's meters in files. */
#include "hpcrun-lite/gpu/cupti/energy/nv_meter.h"
#include "hpcrun-lite/gpu/cupti/energy/nv_rapl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

/* ---- when a meter is read ---- */

struct reading {
	unsigned n, n_changes, n_missed;
	uint64_t late_ns; /* the largest, of changes from the tenth on */
	uint64_t last_uj;
};

/* Reads a meter that changes every `step_ns`, first at `first_ns`, as nv_energy.c does. */
static struct reading read_for(struct nv_meter *m, uint64_t first_ns, uint64_t step_ns,
			       uint64_t from_ns, uint64_t until_ns)
{
	struct reading r = {0};
	struct msr_gpu_energy change;
	for (uint64_t now = from_ns; now < until_ns; now = nv_meter_next(m)) {
		uint64_t n = now < first_ns ? 0 : 1 + (now - first_ns) / step_ns;
		assert_true(r.n++ < 1000000);
		if (!nv_meter_read(m, 1000 * n, now, &change))
			continue;
		r.n_missed += change.energy_uj > r.last_uj + 1000 && r.n_changes;
		r.last_uj = change.energy_uj;
		assert_int_equal(change.time_ns, now);
		assert_true(change.unchanged_ns < now);
		assert_int_equal(change.flags, r.n_changes ? 0 : MSR_GPU_ENERGY_BEGINS);
		if (++r.n_changes > 10 && now - change.unchanged_ns > r.late_ns)
			r.late_ns = now - change.unchanged_ns;
	}
	return r;
}

static void test_readings_follow_the_step(void **state)
{
	(void)state;
	for (uint64_t step_ns = 30 * MS; step_ns < 300 * MS; step_ns += 7 * MS + 12345) {
		struct nv_meter m = {0};
		struct reading r = read_for(&m, 3 * MS, step_ns, 1, 100 * step_ns);
		assert_true(r.n_changes >= 95);
		assert_int_equal(r.n_missed, 0);
		/* A reading too late is made good at once, and happens to few. */
		assert_true(r.n < 5 * r.n_changes + 60);
		assert_true(m.step_ns > step_ns - 8 * MS && m.step_ns < step_ns + 8 * MS);
	}
}

/* The first change is seen at once and the second one late, so the step seems longer than it is. */
static void test_a_step_that_seems_too_long(void **state)
{
	(void)state;
	for (uint64_t step_ns = 42 * MS; step_ns < 200 * MS; step_ns += 20 * MS) {
		struct nv_meter m = {0};
		struct reading r = read_for(&m, 19 * MS, step_ns, 1, 100 * step_ns);
		assert_true(r.n_missed <= 1);
		assert_true(m.step_ns > step_ns - 8 * MS && m.step_ns < step_ns + 8 * MS);
	}
}

static void test_a_change_is_seen_soon(void **state)
{
	(void)state;
	struct nv_meter m = {0};
	struct reading r = read_for(&m, 3 * MS, 100 * MS, 1, 10000 * MS);
	assert_true(r.late_ns < 21 * MS);
	assert_true(r.n < 4 * r.n_changes);
}

static void test_a_fast_meter_is_not_read_faster(void **state)
{
	(void)state;
	struct nv_meter m = {0};
	struct reading r = read_for(&m, 0, MS, 1, 2000 * MS);
	assert_true(r.n <= 2000 / 15);
	assert_true(r.n_changes > 50);
}

static void test_a_meter_that_stops_is_read_seldom(void **state)
{
	(void)state;
	struct nv_meter m = {0};
	struct msr_gpu_energy change;
	uint64_t now = 1;
	for (unsigned i = 0; i < 20; i++, now += 50 * MS)
		nv_meter_read(&m, i * 1000, now, &change);
	struct reading r = {0};
	for (uint64_t until = now + 2000 * MS; now < until; now = nv_meter_next(&m), r.n++)
		assert_false(nv_meter_read(&m, 19000, now, &change));
	assert_true(r.n < 2000 / 20 + 25);
}

static void test_a_series_begins(void **state)
{
	(void)state;
	struct nv_meter m = {.id = 4, .device = 2};
	struct msr_gpu_energy change;
	assert_int_equal(nv_meter_next(&m), 0);
	assert_false(nv_meter_read(&m, 500, 10, &change));
	assert_true(nv_meter_read(&m, 700, 20, &change));
	assert_int_equal(change.flags, MSR_GPU_ENERGY_BEGINS);
	assert_int_equal(change.meter, 4);
	assert_int_equal(change.device, 2);
	assert_true(nv_meter_read(&m, 900, 30, &change));
	assert_int_equal(change.flags, 0);
	/* the driver was loaded again */
	assert_false(nv_meter_read(&m, 100, 40, &change));
	assert_true(nv_meter_read(&m, 200, 50, &change));
	assert_int_equal(change.flags, MSR_GPU_ENERGY_BEGINS);
	/* measurement was off */
	m.is_read = false;
	assert_false(nv_meter_read(&m, 300, 60, &change));
	assert_true(nv_meter_read(&m, 400, 70, &change));
	assert_int_equal(change.flags, MSR_GPU_ENERGY_BEGINS);
}

/* ---- the host's meters ---- */

static char directory[] = "/tmp/test_energy.XXXXXX";

static void put(const char *zone, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", directory, zone);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/%s/%s", directory, zone, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_zone(const char *zone, const char *name, const char *energy)
{
	put(zone, "name", name);
	put(zone, "energy_uj", energy);
	put(zone, "max_energy_range_uj", "1000000\n");
}

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory + sizeof directory - 7, "XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command);
}

static void open_all(struct nv_rapl *r)
{
	char path[64];
	snprintf(path, sizeof path, "%s/", directory);
	nv_rapl_open(r, path);
}

static void test_packages_and_memory(void **state)
{
	(void)state;
	struct nv_rapl r;
	uint64_t uj;
	put_zone("intel-rapl:0", "package-0\n", "123456\n");
	put_zone("intel-rapl:0:0", "core\n", "1\n");
	put_zone("intel-rapl:0:1", "dram\n", "77\n");
	put_zone("intel-rapl:1", "package-1\n", "999000\n");
	put_zone("intel-rapl:2", "psys\n", "5\n");
	open_all(&r);
	assert_int_equal(r.n, 3);
	assert_false(r.is_denied);
	assert_string_equal(r.meter[0].name, "RAPL package-0");
	assert_string_equal(r.meter[1].name, "RAPL dram-0");
	assert_string_equal(r.meter[2].name, "RAPL package-1");
	assert_true(nv_rapl_read(&r.meter[0], &uj));
	assert_int_equal(uj, 123456);
	assert_true(nv_rapl_read(&r.meter[1], &uj));
	assert_int_equal(uj, 77);
}

static void test_a_meter_starts_again(void **state)
{
	(void)state;
	struct nv_rapl r;
	uint64_t uj;
	put_zone("intel-rapl:0", "package-0\n", "999000\n");
	open_all(&r);
	put("intel-rapl:0", "energy_uj", "500\n");
	assert_true(nv_rapl_read(&r.meter[0], &uj));
	assert_int_equal(uj, 1000500);
	put("intel-rapl:0", "energy_uj", "600\n");
	assert_true(nv_rapl_read(&r.meter[0], &uj));
	assert_int_equal(uj, 1000600);
	put("intel-rapl:0", "energy_uj", "what\n");
	assert_false(nv_rapl_read(&r.meter[0], &uj));
}

static void test_nothing_there(void **state)
{
	(void)state;
	struct nv_rapl r;
	open_all(&r);
	assert_int_equal(r.n, 0);
	assert_false(r.is_denied);
	put("intel-rapl:0", "name", "package-0\n");
	open_all(&r);
	assert_int_equal(r.n, 0);
	assert_false(r.is_denied);
}

static void test_not_for_this_user(void **state)
{
	(void)state;
	struct nv_rapl r;
	char path[128];
	put_zone("intel-rapl:0", "package-0\n", "123456\n");
	snprintf(path, sizeof path, "%s/intel-rapl:0/energy_uj", directory);
	chmod(path, 0400);
	chmod(directory, 0755);
	if (getuid() == 0 && seteuid(65534) != 0)
		skip();
	if (geteuid() != 65534)
		chmod(path, 0);
	open_all(&r);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(r.n, 0);
	assert_true(r.is_denied);
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readings_follow_the_step),
		cmocka_unit_test(test_a_step_that_seems_too_long),
		cmocka_unit_test(test_a_change_is_seen_soon),
		cmocka_unit_test(test_a_fast_meter_is_not_read_faster),
		cmocka_unit_test(test_a_meter_that_stops_is_read_seldom),
		cmocka_unit_test(test_a_series_begins),
		WITH_DIRECTORY(test_packages_and_memory),
		WITH_DIRECTORY(test_a_meter_starts_again),
		WITH_DIRECTORY(test_nothing_there),
		WITH_DIRECTORY(test_not_for_this_user),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
