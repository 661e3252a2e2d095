/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job with GPUs by several parts: each joins the operations of its files, rows of files do not
 * share a GPU, and the database is the same to the byte as that of one process.
 */
#include "common/base/log.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "tests/gen/gen_gpu.h"
#include "tests/unit/prof_parts/parts_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOSTS = 5, ON_HOST = 4, RANKS = HOSTS * ON_HOST, THREADS = 2, MS = 1000000 };

/* What differs between jobs. */
struct kind {
	bool own_gpus; /* each rank has a GPU; else all of a host share one */
	bool one_host;
	bool has_energy, has_odd_records;
};

/* An aggregate of no kind and a value of no counter are found when operations are joined. */
static void add_odd_records(struct gen *g)
{
	gen_gpu_aggregate(g, 0, &(struct msr_gpu_aggregate){.thread = UINT32_MAX, .kind = 15});
	gen_gpu_value(g, &(struct msr_gpu_value){.id = 1, .value = 7, .counter = 99});
}

/*
 * All processes of the last two hosts read the meter of their GPU, and that of their host. So one
 * part alone finds the metrics.
 */
static void add_energy(struct gen *g, const struct gen_gpu_job *gpu, uint32_t rank,
		       uint64_t start_ns)
{
	enum { N_READINGS = 24, STEP_NS = 250000 };
	for (uint64_t i = 0; i < 2 * N_READINGS && rank >= RANKS - 2 * ON_HOST; i++) {
		const uint64_t n = i / 2;
		gen_gpu_energy(g,
			       &(struct msr_gpu_energy){
				       .time_ns = start_ns + n * STEP_NS,
				       .unchanged_ns = start_ns + n * STEP_NS - n * 100,
				       .energy_uj = n * (n + 20) * (rank / ON_HOST),
				       .meter = gpu->counter,
				       .device = i % 2 ? gpu->device : 0,
				       .flags = n ? 0 : MSR_GPU_ENERGY_BEGINS});
	}
}

/* Paths, and with them the order in which contexts are found, differ between the ranks. */
static void make_thread(struct gen *g, struct gen_gpu_job *gpu, const struct kind *k, uint32_t rank,
			uint64_t start_ns, uint16_t app)
{
	uint32_t nodes[6];
	const uint32_t t = gen_thread(g, "app"), entry = gen_entry(g, t, MSR_ENTRY_MAIN);
	uint64_t random = rank * THREADS + t + 1;
	for (uint32_t i = 0; i < 6; i++)
		nodes[i] = gen_child(g, t, i && rank % 3 ? nodes[i - 1] : entry,
				     msr_addr_make(app, 0x1000 + (i * (rank + 1)) % 7 * 16, false));
	for (uint64_t i = 0; i < 40; i++)
		gen_sample(g, t, nodes[(i + rank) % 6], 0, start_ns + (i + 1) * MS, MS);
	gen_gpu_work(g, gpu,
		     &(struct gen_gpu_work){.thread = t,
					    .n_nodes = 6,
					    .nodes = nodes,
					    .n_ops = 60 + rank % 7,
					    .start_ns = start_ns,
					    .random = &random,
					    .losses = rank % 4 == 1,
					    .first = t == 0,
					    .gpu = (uint8_t)(k->own_gpus ? rank + 1 : 0)});
}

static void make_rank(const char *directory, const struct kind *k, uint32_t rank)
{
	char host[16];
	snprintf(host, sizeof host, "n%u", k->one_host ? 0 : rank / ON_HOST);
	const uint64_t start_ns = UINT64_C(50000000000) + rank;
	struct gen *g = gen_open(directory, &(struct gen_process){
						    .host = host,
						    .pid = 100 + rank,
						    .rank = (int32_t)rank,
						    .n_ranks = RANKS,
						    .start_mono_ns = start_ns,
						    .start_real_ns = UINT64_C(1700000000000000000) +
								     rank});
	const uint16_t app = gen_module(g, "/bin/app", NULL, 0, MSR_MODULE_MAIN);
	gen_metric(g, "CPUTIME", MSR_UNIT_NS, MS, MSR_SOURCE_TEST);
	struct gen_gpu_job gpu = {0};
	for (unsigned t = 0; t < THREADS; t++)
		make_thread(g, &gpu, k, rank, start_ns, app);
	if (k->has_odd_records && rank > RANKS - 3)
		add_odd_records(g);
	if (k->has_energy)
		add_energy(g, &gpu, rank, start_ns);
	free(gen_close(g, MSR_EXIT_RETURN, 0));
}

static char *make_job(const struct kind *k)
{
	char *directory = fixture_directory();
	for (uint32_t rank = 0; rank < RANKS; rank++)
		make_rank(directory, k, rank);
	return directory;
}

static void check_kind(const struct kind *k, const int *numbers)
{
	char *directory = make_job(k);
	parts_check_measurement(directory, numbers);
	fixture_remove(directory);
}

static void test_hosts(void **state)
{
	(void)state;
	check_kind(&(struct kind){0}, (const int[]){1, 2, 3, 8, 0});
}

static void test_own_gpus(void **state)
{
	(void)state;
	check_kind(&(struct kind){.own_gpus = true, .one_host = true}, (const int[]){4, 0});
}

/* Damage that is found late is in the outputs all the same. */
static void test_odd_records(void **state)
{
	(void)state;
	check_kind(&(struct kind){.has_odd_records = true}, (const int[]){3, 0});
}

static bool has_energy(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].role == MODEL_ROLE_ENERGY_SHARED)
			return true;
	return false;
}

static void test_energy(void **state)
{
	const struct kind k = {.has_energy = true};
	(void)state;
	char *directory = make_job(&k);
	struct model *m = fixture_model(directory, 1);
	assert_true(has_energy(m) && m->n_meters == 4);
	model_free(m);
	fixture_remove(directory);
	check_kind(&k, (const int[]){3, 5, 0});
}

/* ---- who reads what ---- */

struct reading {
	const char *directory;
	uint64_t first[9]; /* of rows; all 0: all parts read all files */
	bool is_as_expected[8];
};

static void read_rows(struct comm *c, void *arg)
{
	struct reading *r = arg;
	char *directories[] = {(char *)(uintptr_t)r->directory};
	struct load_job load = {.comm = c};
	const bool is_split = r->first[c->n_parts];
	bool ok = load_job_open(directories, 1, 1, &load) == STATUS_OK &&
		  load.is_split == is_split && load.files.n == RANKS;
	if (ok && is_split)
		ok = !memcmp(load.first_file, r->first,
			     ((size_t)c->n_parts + 1) * sizeof *r->first);
	for (size_t i = 0; ok && i < load.files.n; i++) {
		const struct load_file *f = &load.files.at[i];
		const bool has_ops = !is_split || load_is_own(&load, i);
		ok = f->gpu.is_present && f->gpu.devices.n == 2 && f->threads.n == THREADS &&
		     (has_ops ? f->gpu.ops.n && !f->is_outline : f->is_outline || f->reader);
	}
	r->is_as_expected[c->part] = ok;
	load_job_close(&load);
}

static void check_rows(const struct kind *k, int n, struct reading r)
{
	char *directory = make_job(k);
	r.directory = directory;
	assert_true(comm_threads_run(n, read_rows, &r));
	for (int part = 0; part < n; part++)
		assert_true(r.is_as_expected[part]);
	fixture_remove(directory);
}

/* A row has whole hosts if the processes of a host share a GPU, and with it its meter. */
static void test_rows(void **state)
{
	(void)state;
	check_rows(&(struct kind){0}, 3, (struct reading){.first = {0, 8, 12, RANKS}});
	check_rows(&(struct kind){.has_energy = true}, 3,
		   (struct reading){.first = {0, 8, 12, RANKS}});
	check_rows(&(struct kind){.own_gpus = true}, 4,
		   (struct reading){.first = {0, 6, 11, 16, RANKS}});
}

/* All parts read all files if rows of hosts are uneven. */
static void test_no_rows(void **state)
{
	(void)state;
	check_rows(&(struct kind){0}, 8, (struct reading){0});
	check_rows(&(struct kind){.one_host = true}, 2, (struct reading){0});
}

/* ---- damage ---- */

static void test_damage(void **state)
{
	(void)state;
	log_set_silent(true); /* each part warns */
	for (unsigned seed = 1; seed <= 6; seed++) {
		unsigned next = seed;
		char *directory = make_job(
			&(struct kind){.own_gpus = seed % 3 == 0, .has_energy = seed % 2});
		for (unsigned i = 0; i < (seed == 6 ? RANKS : 2); i++)
			parts_flip_bytes(directory, (int)((seed * 3 + i) % RANKS), &next);
		parts_check_measurement(directory, (const int[]){3, 0});
		fixture_remove(directory);
	}
	log_set_silent(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),       cmocka_unit_test(test_own_gpus),
		cmocka_unit_test(test_odd_records), cmocka_unit_test(test_energy),
		cmocka_unit_test(test_rows),        cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_damage),
	};
	if (!mkdtemp(parts_scratch))
		return 99;
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(parts_scratch);
	return n_failed;
}
