/* SPDX-License-Identifier: BSD-3-Clause */
/* See parts_job.h. */
#include "tests/unit/prof_parts/parts_job.h"

#include "hpcprof-lite/sink/cctdb/cctdb_sink.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"profile.db", "cct.db", "trace.db", "meta.db",
				    "metrics/default.yaml"};
enum { N_FILES = sizeof files / sizeof *files };

char parts_scratch[] = "/tmp/test_parts-XXXXXX";

enum status parts_work(struct comm *c, const struct parts_job *j)
{
	struct load_job load = {.comm = c};
	struct model *m = NULL;
	char *directories[] = {(char *)(uintptr_t)j->measurement};
	const struct attribute_options o = {.n_workers = 2, .comm = c, .ranges = true};
	const struct sink_options to = {
		.directory = j->database, .n_workers = 2, .no_sources = true};
	enum status s = load_job_open(directories, 1, 2, &load);
	if (s == STATUS_OK)
		s = attribute_run(&load, &o, &m);
	if (s == STATUS_OK)
		s = sink_cctdb.write(m, &to);
	model_free(m);
	load_job_close(&load);
	return s;
}

void parts_work_part(struct comm *c, void *arg)
{
	struct parts_job *j = arg;
	j->status[c->part] = parts_work(c, j);
}

struct parts_job parts_job_of(const char *name, int n)
{
	struct parts_job j = {0};
	const char *top = getenv("top_srcdir");
	snprintf(j.measurement, sizeof j.measurement, "%s/tests/golden/%s", top ? top : ".", name);
	snprintf(j.database, sizeof j.database, "%s/%d", parts_scratch, n);
	assert_int_equal(mkdir(j.database, 0777), 0);
	return j;
}

/* The caller frees it. NULL: there is no such file. */
static char *read_file(const struct parts_job *j, const char *name, size_t *n)
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

static void compare(const struct parts_job *a, const struct parts_job *b, const char *name)
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

void parts_remove(const struct parts_job *j)
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

void parts_check(const struct parts_job *alone, int n)
{
	struct parts_job j = *alone;
	snprintf(j.database, sizeof j.database, "%s/%d", parts_scratch, n);
	assert_int_equal(mkdir(j.database, 0777), 0);
	assert_true(comm_threads_run(n, parts_work_part, &j));
	for (int part = 0; part < n; part++)
		assert_int_equal(j.status[part], STATUS_OK);
	for (size_t k = 0; k < N_FILES; k++)
		compare(alone, &j, files[k]);
	parts_remove(&j);
}

void parts_check_measurement(const char *directory, const int *numbers)
{
	struct parts_job j = {0};
	snprintf(j.measurement, sizeof j.measurement, "%s", directory);
	snprintf(j.database, sizeof j.database, "%s/0", parts_scratch);
	assert_int_equal(mkdir(j.database, 0777), 0);
	assert_int_equal(parts_work(NULL, &j), STATUS_OK);
	for (; *numbers; numbers++)
		parts_check(&j, *numbers);
	parts_remove(&j);
}

static int is_measurement(const struct dirent *e)
{
	return strstr(e->d_name, MSR_SUFFIX) != NULL;
}

void parts_flip_bytes(const char *directory, int process, unsigned *seed)
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
