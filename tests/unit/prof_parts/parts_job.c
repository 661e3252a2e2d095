/* SPDX-License-Identifier: BSD-3-Clause */
/* See parts_job.h. */
#include "tests/unit/prof_parts/parts_job.h"

#include "hpcprof-lite/sink/cctdb/cctdb_sink.h"
#include "hpcprof-lite/sink/html/html_sink.h"
#include "hpcprof-lite/sink/json/json_sink.h"
#include "hpcprof-lite/sink/sink_help.h"
#include "hpcprof-lite/view/view_gpu.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"profile.db",           "cct.db",       "trace.db",   "meta.db",
				    "metrics/default.yaml", "profile.json", "report.html"};
enum { N_FILES = sizeof files / sizeof *files };

char parts_scratch[] = "/tmp/test_parts-XXXXXX";

/* The first part writes the page, and the others help it. */
static enum status write_page(const struct model *m, struct sink_options o)
{
	const struct comm *c = m->share ? m->share->comm : NULL;
	const struct sink_help_ops *ops = sink_html.help;
	struct sink_help help;
	enum status s = STATUS_OK;
	sink_help_begin(&help, c);
	o.help = &help;
	if (c && c->part != 0) {
		ops->serve(m, &o);
	} else {
		sink_help_decide(&help, c && ops->begin(c));
		s = sink_html.write(m, &o);
		if (help.is_there)
			ops->end(c);
	}
	sink_help_end(&help);
	return s;
}

static enum status write_model(const struct model *m, const struct parts_job *j, bool is_first)
{
	const struct sink_options o = {
		.directory = j->database, .n_workers = 2, .no_sources = true};
	enum status s = sink_cctdb.write(m, &o);
	if (s == STATUS_OK && j->gathers)
		s = write_page(m, o);
	return s == STATUS_OK && is_first && j->gathers ? sink_json.write(m, &o) : s;
}

enum status parts_work(struct comm *c, const struct parts_job *j)
{
	struct load_job load = {.comm = c, .gathers = j->gathers};
	struct model *m = NULL;
	struct view_gpu gpu = {0};
	char *directories[] = {(char *)(uintptr_t)j->measurement};
	const struct attribute_options o = {
		.n_workers = 2, .comm = c, .gathers = j->gathers, .ranges = true};
	enum status s = load_job_open(directories, 1, 2, &load);
	if (s == STATUS_OK)
		s = attribute_run(&load, &o, &m);
	if (s == STATUS_OK && m->share && m->share->is_split && j->gathers && m->has_gpu) {
		s = view_gpu_share(m, &gpu) ? STATUS_OK : STATUS_NO_MEMORY;
		m->gpu_view = &gpu;
	}
	if (s == STATUS_OK)
		s = write_model(m, j, !c || c->part == 0);
	model_free(m);
	view_gpu_close(&gpu);
	load_job_close(&load);
	return s;
}

void parts_work_part(struct comm *c, void *arg)
{
	struct parts_job *j = arg;
	j->status[c->part] = parts_work(c, j);
}

struct parts_job parts_job_of(const char *name, int n, bool gathers)
{
	struct parts_job j = {.gathers = gathers};
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

void parts_check_measurement(const char *directory, bool gathers, const int *numbers)
{
	struct parts_job j = {.gathers = gathers};
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
