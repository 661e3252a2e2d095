/* SPDX-License-Identifier: BSD-3-Clause */
/* See findings_fixture.h. */
#include "tests/unit/prof/findings_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START (10 * SECOND)

/* Each function has 0x100 bytes; its line is its number in the module. */
static const struct {
	const char *path;
	bool has_lines;
	const char *functions[12];
} modules[] = {
	{"/bin/app", true,
	 {"main", "solve", "solve._omp_fn.0", "build", "readers", "pre"}},
	{"/lib/libc.so.6", false,
	 {"__GI___libc_read", "write", "__write_nocancel", "fsync", "internal", "recv",
	  "pthread_cond_wait", "pthread_cond_signal", "__GI___pthread_mutex_lock", "munmap"}},
	{"/lib/libgomp.so.1", false,
	 {"GOMP_barrier", "GOMP_task", "GOMP_loop_dynamic_next", "GOMP_critical_start",
	  "GOMP_ordered_start"}},
	{"/lib/ld-linux-x86-64.so.2", false, {"_dl_relocate_object"}},
	{"/lib/libcuda.so.1", false, {"cuModuleLoadData"}},
	{"/lib/libmpi.so.40", false, {"MPI_Send", "MPI_Allreduce"}},
	{"/src/tool.py", false, {"<module>", "<module> of b", "helper"}},
	{"/opt/libplain.so", false, {"plain"}},
	{"/usr/lib/libsystem.so", false, {"system_call"}},
	{"/usr/lib/libtorch_cpu.so", false, {"c10d::Work::wait"}},
	{"/opt/libbare.so.1", false, {NULL}},
};
enum { N_MODULES = sizeof modules / sizeof *modules };

static void write_structure(const char *directory, unsigned i)
{
	const uint8_t id[2] = {0xf1, (uint8_t)i};
	struct gen_structure *s = gen_structure_new(modules[i].path, id, sizeof id);
	const bool has_lines = modules[i].has_lines;
	const uint32_t file = has_lines ? gen_structure_file(s, "/src/app.c") : STRUCTURE_NONE;
	uint64_t at = 0x1000;
	for (uint32_t k = 0; k < 12 && modules[i].functions[k]; k++, at += 0x100) {
		const uint32_t line = has_lines ? k + 1 : 0,
			       d = gen_structure_definition(s, modules[i].functions[k], file, line),
			       f = gen_structure_function(s, d, at);
		gen_structure_interval(s, at, f, file, line);
	}
	gen_structure_interval(s, at, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	free(gen_structure_close(s, directory));
}

static void open_process(struct run *r, const char *processors)
{
	r->g = gen_open(r->directory,
			&(struct gen_process){.host = "n1",
					      .pid = 100 + (uint32_t)(r->rank > 0 ? r->rank : 0),
					      .rank = r->rank,
					      .n_ranks = r->rank < 0 ? -1 : 2,
					      .start_mono_ns = START,
					      .start_real_ns = START});
	for (unsigned i = 0; i < N_MODULES; i++) {
		const uint8_t id[2] = {0xf1, (uint8_t)i};
		gen_module(r->g, modules[i].path, id, sizeof id, i ? 0 : MSR_MODULE_MAIN);
	}
	gen_metric(r->g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	gen_metric(r->g, "OFFCPU", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
	gen_info(r->g, "processors", processors);
}

static void begin(struct run *r, const char *processors, int32_t rank)
{
	*r = (struct run){.directory = fixture_directory(), .elapsed = 10, .rank = rank};
	for (unsigned i = 0; i < N_MODULES; i++)
		if (modules[i].functions[0])
			write_structure(r->directory, i);
	open_process(r, processors);
}

void run_begin(struct run *r, const char *processors)
{
	begin(r, processors, -1);
}

void run_begin_ranks(struct run *r, const char *processors)
{
	begin(r, processors, 0);
}

void run_next(struct run *r, const char *processors)
{
	if (r->g)
		run_write(r);
	r->rank++;
	open_process(r, processors);
}

/* ---- what threads do ---- */

static uint64_t moment(double seconds)
{
	return START + (uint64_t)llround(seconds * 1e9);
}

uint32_t run_thread(struct run *r, double start, double end)
{
	const uint32_t t = gen_thread(r->g, "t");
	struct msr_thread *record = gen_thread_record(r->g, t);
	record->start_ns = moment(start);
	record->end_ns = moment(end);
	gen_entry(r->g, t, t ? MSR_ENTRY_THREAD : MSR_ENTRY_MAIN);
	return t;
}

msr_addr run_address(const char *function)
{
	for (unsigned i = 0; i < N_MODULES; i++)
		for (unsigned k = 0; k < 12 && modules[i].functions[k]; k++)
			if (strcmp(modules[i].functions[k], function) == 0)
				return msr_addr_make((uint16_t)(i + 1), 0x1008 + 0x100 * k, false);
	assert_string_equal(function, "?"); /* code without a name, in the last module */
	return msr_addr_make(N_MODULES, 0x1008, false);
}

uint32_t run_node(struct run *r, uint32_t thread, const char *path)
{
	uint32_t node = gen_entry(r->g, thread, thread ? MSR_ENTRY_THREAD : MSR_ENTRY_MAIN);
	char all[200], *rest = all;
	snprintf(all, sizeof all, "%s", path);
	for (char *name; (name = strsep(&rest, "/"));)
		node = gen_child(r->g, thread, node, run_address(name));
	return node;
}

static void add(struct run *r, uint32_t thread, uint32_t node, uint32_t metric, double seconds)
{
	const uint64_t ns = (uint64_t)llround(seconds * 1e9);
	gen_weight(r->g, thread, node, metric, ns / 1000000 + 1, ns);
}

void run_work(struct run *r, uint32_t thread, const char *path, double seconds)
{
	add(r, thread, run_node(r, thread, path), 0, seconds);
}

static void sample(struct run *r, uint32_t thread, uint32_t node, double from, double to)
{
	const uint64_t step = SECOND / 100;
	for (uint64_t at = moment(from) + step; at <= moment(to); at += step)
		gen_sample(r->g, thread, node, 0, at, step);
}

void run_work_at(struct run *r, uint32_t thread, const char *path, double from, double to)
{
	sample(r, thread, run_node(r, thread, path), from, to);
}

void run_wait(struct run *r, uint32_t thread, const char *path, enum msr_wait kind, double seconds)
{
	add(r, thread,
	    gen_child(r->g, thread, run_node(r, thread, path),
		      msr_addr_make(MSR_MODULE_NONE, MSR_WAIT + kind, false)),
	    1, seconds);
}

void run_idle(struct run *r, uint32_t thread, double seconds)
{
	add(r, thread, gen_entry(r->g, thread, MSR_ENTRY_OMP_IDLE), 0, seconds);
}

void run_idle_at(struct run *r, uint32_t thread, double from, double to)
{
	sample(r, thread, gen_entry(r->g, thread, MSR_ENTRY_OMP_IDLE), from, to);
}

/* ---- findings ---- */

void run_write(struct run *r)
{
	const uint64_t end = moment(r->elapsed);
	gen_sample(r->g, 0, run_node(r, 0, "main"), 0, end - 1000, 0);
	free(r->path);
	r->path = gen_close(r->g, r->is_killed ? MSR_EXIT_NONE : MSR_EXIT_RETURN, 0);
	r->g = NULL;
}

void run_model(struct run *r)
{
	if (r->g)
		run_write(r);
	r->m = fixture_model(r->directory, 1);
	fixture_check_model(r->m);
}

void run_find(struct run *r)
{
	assert_true(findings_make(r->m, &r->f));
	for (size_t i = 0; i < r->f.list.n; i++) {
		const struct finding *f = &r->f.list.at[i];
		double share = 0;
		assert_true(f->low >= 0 && f->low <= f->likely && f->likely <= f->high);
		assert_true(f->high <= r->f.elapsed && f->cost <= r->f.elapsed);
		assert_true(i == 0 || f->likely <= f[-1].likely || f[-1].likely == 0);
		for (unsigned k = 0; k < f->n_places; k++)
			share += f->places[k].share;
		assert_true(share < 1.000001);
		for (unsigned k = 0; k < f->n_facts; k++)
			assert_true(f->facts[k].unit != MODEL_SHARE ||
				    (f->facts[k].value >= 0 && f->facts[k].value <= 1));
	}
}

void run_finish(struct run *r)
{
	run_model(r);
	run_find(r);
}

void run_finish_part(struct run *r, const struct filter *part)
{
	run_model(r);
	assert_int_equal(filter_apply(&r->m, part, 1), STATUS_OK);
	run_find(r);
}

void run_end(struct run *r)
{
	findings_free(&r->f);
	model_free(r->m);
	free(r->path);
	fixture_remove(r->directory);
}

const struct finding *run_finding(const struct run *r, const char *key)
{
	for (size_t i = 0; i < r->f.list.n; i++)
		if (strcmp(r->f.list.at[i].key, key) == 0)
			return &r->f.list.at[i];
	return NULL;
}

const struct finding *run_has(const struct run *r, const char *key, double likely)
{
	const struct finding *f = run_finding(r, key);
	if (!f)
		fail_msg("%s: not found", key);
	else if (fabs(f->likely - likely) > 0.02)
		fail_msg("%s: likely %f instead of %f", key, f->likely, likely);
	return f;
}

void run_has_first(const struct run *r, const char *key, double likely)
{
	assert_true(r->f.list.n > 0);
	assert_string_equal(r->f.list.at[0].key, key);
	run_has(r, key, likely);
}

void run_has_not(const struct run *r, const char *key)
{
	const struct finding *f = run_finding(r, key);
	if (f)
		fail_msg("%s: likely %f, but it should not be found", key, f->likely);
}
