/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job by several parts, with threads as parts: the files that they write together, and the model
 * of the first, are the same to the byte as those of one process.
 */
#include "common/base/log.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/parts/comm_threads.h"
#include "hpcprof-lite/sink/cctdb/cctdb_sink.h"
#include "hpcprof-lite/sink/json/json_sink.h"
#include "tests/unit/prof/prof_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"profile.db",           "cct.db",      "trace.db", "meta.db",
				    "metrics/default.yaml", "profile.json"};
enum { N_FILES = sizeof files / sizeof *files };

static char scratch[] = "/tmp/test_parts-XXXXXX";

/* One part of the work, or all of it if c is NULL. */
struct job {
	char measurement[512];
	char database[512];
	bool gathers;
	enum status status[64];
};

static enum status write_model(const struct model *m, const struct job *j, bool is_first)
{
	const struct sink_options o = {
		.directory = j->database, .n_workers = 2, .no_sources = true};
	enum status s = sink_cctdb.write(m, &o);
	return s == STATUS_OK && is_first && j->gathers ? sink_json.write(m, &o) : s;
}

static enum status work(struct comm *c, const struct job *j)
{
	struct load_job load = {.leaves_values = c};
	struct model *m = NULL;
	char *directories[] = {(char *)(uintptr_t)j->measurement};
	const struct attribute_options o = {.n_workers = 2, .comm = c, .gathers = j->gathers};
	enum status s = load_job_open(directories, 1, 2, &load);
	if (c)
		s = comm_agree(c, s);
	if (s == STATUS_OK && c)
		s = load_job_share(&load, c, j->gathers, 2);
	if (s == STATUS_OK)
		s = attribute_run(&load, &o, &m);
	if (s == STATUS_OK)
		s = write_model(m, j, !c || c->part == 0);
	model_free(m);
	load_job_close(&load);
	return s;
}

static void work_part(struct comm *c, void *arg)
{
	struct job *j = arg;
	j->status[c->part] = work(c, j);
}

static struct job job_of(const char *name, int n, bool gathers)
{
	struct job j = {.gathers = gathers};
	const char *top = getenv("top_srcdir");
	snprintf(j.measurement, sizeof j.measurement, "%s/tests/golden/%s", top ? top : ".", name);
	snprintf(j.database, sizeof j.database, "%s/%d", scratch, n);
	assert_int_equal(mkdir(j.database, 0777), 0);
	return j;
}

/* The caller frees it. NULL: there is no such file. */
static char *read_file(const struct job *j, const char *name, size_t *n)
{
	char path[1024], *bytes = NULL;
	snprintf(path, sizeof path, "%s/%s", j->database, name);
	FILE *f = fopen(path, "rb");
	FILE *to = f ? open_memstream(&bytes, n) : NULL;
	for (int c; to && (c = fgetc(f)) != EOF;)
		fputc(c, to);
	if (to)
		fclose(to);
	if (f)
		fclose(f);
	return bytes;
}

static void compare(const struct job *a, const struct job *b, const char *name)
{
	size_t n_a = 0, n_b = 0;
	char *bytes_a = read_file(a, name, &n_a), *bytes_b = read_file(b, name, &n_b);
	assert_true((bytes_a == NULL) == (bytes_b == NULL));
	assert_int_equal(n_a, n_b);
	if (bytes_a)
		assert_memory_equal(bytes_a, bytes_b, n_a);
	free(bytes_a);
	free(bytes_b);
}

static void remove_files(const struct job *j)
{
	char path[1024];
	for (size_t i = 0; i < N_FILES; i++) {
		snprintf(path, sizeof path, "%s/%s", j->database, files[i]);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/metrics", j->database);
	rmdir(path);
	snprintf(path, sizeof path, "%s/src", j->database);
	rmdir(path);
	assert_int_equal(rmdir(j->database), 0);
}

/* The outputs of n parts are those of one process. */
static void check_parts(const struct job *alone, int n)
{
	struct job j = *alone;
	snprintf(j.database, sizeof j.database, "%s/%d", scratch, n);
	assert_int_equal(mkdir(j.database, 0777), 0);
	assert_true(comm_threads_run(n, work_part, &j));
	for (int part = 0; part < n; part++)
		assert_int_equal(j.status[part], STATUS_OK);
	for (size_t k = 0; k < N_FILES; k++)
		compare(alone, &j, files[k]);
	remove_files(&j);
}

static void check_all(const char *name, bool gathers)
{
	static const int numbers[] = {1, 2, 3, 5, 8, 64};
	struct job alone = job_of(name, 0, gathers);
	assert_int_equal(work(NULL, &alone), STATUS_OK);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		check_parts(&alone, numbers[i]);
	remove_files(&alone);
}

static void test_job(void **state)
{
	(void)state;
	check_all("prof/job", false);
	check_all("prof/job", true);
}

static void test_gpu(void **state)
{
	(void)state;
	check_all("prof/gpu", false);
	check_all("prof/gpu", true);
}

static void test_killed(void **state)
{
	(void)state;
	check_all("prof/killed", true);
	check_all("prof/gpu-killed", true);
}

/* ---- activities: those of one part's files are metrics of all ---- */

static void test_activities(void **state)
{
	(void)state;
	struct gen_job job = {.n_processes = 4,
			      .n_threads = 2,
			      .n_nodes = 60,
			      .n_samples = 300,
			      .n_metrics = 1,
			      .seed = 3,
			      .ranks = true};
	struct job j = {.gathers = true};
	char *directory = fixture_directory();
	gen_job(directory, &job);
	job.n_processes = 1; /* the first of all files, as it has no rank */
	job.ranks = false;
	job.waits = true;
	gen_job(directory, &job);
	snprintf(j.measurement, sizeof j.measurement, "%s", directory);
	snprintf(j.database, sizeof j.database, "%s/0", scratch);
	assert_int_equal(mkdir(j.database, 0777), 0);
	assert_int_equal(work(NULL, &j), STATUS_OK);
	check_parts(&j, 2);
	check_parts(&j, 4);
	remove_files(&j);
	fixture_remove(directory);
}

/* ---- damage: counted by the part that reads the values, known to all ---- */

static int is_measurement(const struct dirent *e)
{
	return strstr(e->d_name, MSR_SUFFIX) != NULL;
}

static void flip_bytes(const char *directory, int process, unsigned *seed)
{
	char path[1024];
	struct stat st;
	struct dirent **names;
	const int n = scandir(directory, &names, is_measurement, alphasort);
	assert_true(process < n);
	snprintf(path, sizeof path, "%s/%s", directory, names[process]->d_name);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	const int fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	for (int i = 0; i < 40; i++) {
		const off_t at = MSR_HEADER_BYTES + rand_r(seed) % (st.st_size - MSR_HEADER_BYTES);
		const uint8_t byte = (uint8_t)rand_r(seed);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}

static void test_damage(void **state)
{
	(void)state;
	log_set_silent(true); /* each part warns */
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct job j = {.gathers = seed % 2 == 0};
		unsigned next = seed;
		char *directory = fixture_directory();
		snprintf(j.measurement, sizeof j.measurement, "%s", directory);
		gen_job(directory, &(struct gen_job){.n_processes = 5,
						     .n_threads = 3,
						     .n_nodes = 60,
						     .n_samples = 300,
						     .n_metrics = 2,
						     .seed = seed,
						     .ranks = true});
		flip_bytes(directory, (int)(seed % 5), &next);
		flip_bytes(directory, (int)(seed + 2) % 5, &next);
		snprintf(j.database, sizeof j.database, "%s/0", scratch);
		assert_int_equal(mkdir(j.database, 0777), 0);
		assert_int_equal(work(NULL, &j), STATUS_OK);
		check_parts(&j, 2);
		check_parts(&j, 4);
		remove_files(&j);
		fixture_remove(directory);
	}
	log_set_silent(false);
}

/* ---- failures ---- */

/* The third of three parts cannot write: all fail, and no file stays. */
static void fail_third(struct comm *c, void *arg)
{
	struct job *j = arg;
	struct job mine = *j;
	if (c->part == 2)
		snprintf(mine.database, sizeof mine.database, "%s/nowhere", scratch);
	j->status[c->part] = work(c, &mine);
}

static void test_failure(void **state)
{
	(void)state;
	struct job j = job_of("prof/job", 3, false);
	assert_true(comm_threads_run(3, fail_third, &j));
	for (int part = 0; part < 3; part++)
		assert_int_equal(j.status[part], STATUS_IO);
	assert_int_equal(rmdir(j.database), 0);
}

/* One part has another file: the first does all the work, and the others have nothing to do. */
static void read_other(struct comm *c, void *arg)
{
	struct job *j = arg;
	struct job mine = *j;
	if (c->part == 1)
		mine = *(const struct job *)(j + 1);
	struct load_job load = {.leaves_values = true};
	struct model *m = NULL;
	char *directories[] = {mine.measurement};
	const struct attribute_options o = {.n_workers = 1, .comm = c};
	enum status s = load_job_open(directories, 1, 1, &load);
	if (comm_agree(c, s) == STATUS_OK)
		s = load_job_share(&load, c, false, 1);
	assert_null(load.first_file);
	if (s == STATUS_OK)
		s = attribute_run(&load, &o, &m);
	if (s == STATUS_OK && (m->share || (c->part == 0) != (m->n_totals != 0)))
		s = STATUS_BAD_INPUT;
	model_free(m);
	load_job_close(&load);
	j->status[c->part] = s;
}

static void test_other(void **state)
{
	(void)state;
	struct job jobs[] = {job_of("prof/job", 3, false), job_of("prof/gpu", 4, false)};
	assert_true(comm_threads_run(3, read_other, jobs));
	for (int part = 0; part < 3; part++)
		assert_int_equal(jobs[0].status[part], STATUS_OK);
	remove_files(&jobs[0]);
	remove_files(&jobs[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job),        cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_killed),     cmocka_unit_test(test_failure),
		cmocka_unit_test(test_activities), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_other),
	};
	if (!mkdtemp(scratch))
		return 99;
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(scratch);
	return n_failed;
}
