/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job by several parts, with threads as parts: the files that they write together are the same to
 * the byte as those of one process.
 */
#include "common/base/log.h"
#include "common/format/local_data.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/load/structures.h"
#include "hpcprof-lite/parts/share_records.h"
#include "tests/gen/gen_mpi.h"
#include "tests/gen/gen_nvtx.h"
#include "tests/unit/prof_parts/parts_job.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* numbers: of parts, to the first 0. */
static void check_all(const char *name, const int *numbers)
{
	struct parts_job alone = parts_job_of(name, 0);
	assert_int_equal(parts_work(NULL, &alone), STATUS_OK);
	for (; *numbers; numbers++)
		parts_check(&alone, *numbers);
	parts_remove(&alone);
}

static void test_job(void **state)
{
	(void)state;
	check_all("prof/job", (const int[]){1, 2, 3, 5, 8, 64, 0});
}

static void test_gpu(void **state)
{
	(void)state;
	check_all("prof/gpu", (const int[]){2, 5, 64, 0});
}

static void test_killed(void **state)
{
	(void)state;
	check_all("prof/killed", (const int[]){3, 8, 0});
	check_all("prof/gpu-killed", (const int[]){3, 8, 0});
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
	char *directory = fixture_directory();
	gen_job(directory, &job);
	job.n_processes = 1; /* the first of all files, as it has no rank */
	job.ranks = false;
	job.waits = true;
	gen_job(directory, &job);
	parts_check_measurement(directory, (const int[]){2, 4, 0});
	fixture_remove(directory);
}

/* ---- damage: counted by the part that reads the values, known to all ---- */

static void test_damage(void **state)
{
	(void)state;
	log_set_silent(true); /* each part warns */
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct parts_job j = {0};
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
		parts_flip_bytes(directory, (int)(seed % 5), &next);
		parts_flip_bytes(directory, (int)(seed + 2) % 5, &next);
		snprintf(j.database, sizeof j.database, "%s/0", parts_scratch);
		assert_int_equal(mkdir(j.database, 0777), 0);
		assert_int_equal(parts_work(NULL, &j), STATUS_OK);
		parts_check(&j, 2);
		parts_check(&j, 4);
		parts_remove(&j);
		fixture_remove(directory);
	}
	log_set_silent(false);
}

/* ---- records that name call paths ---- */

enum { CALLERS = 5, CALLS = 40, MS = 1000000 };

/* Rank `rank` on a host of its own, whose clock began at another time, in calls and ranges. */
static void make_caller(const char *directory, uint32_t rank)
{
	char host[16];
	snprintf(host, sizeof host, "n%u", rank);
	const uint64_t start_ns = UINT64_C(900000000) * (rank + 1);
	const struct gen_process who = {.host = host,
					.pid = 100 + rank,
					.rank = (int32_t)rank,
					.n_ranks = CALLERS,
					.start_mono_ns = start_ns,
					.start_real_ns = UINT64_C(1700000000000000000) + rank};
	struct gen *g = gen_open(directory, &who);
	const uint16_t app = gen_module(g, "/bin/app", NULL, 0, MSR_MODULE_MAIN);
	gen_metric(g, "CPUTIME", MSR_UNIT_NS, MS, MSR_SOURCE_TEST);
	const uint32_t t = gen_thread(g, "app"), entry = gen_entry(g, t, MSR_ENTRY_MAIN);
	/* numbers of nodes and ranges differ between the ranks */
	for (uint32_t i = 0; i < rank; i++)
		gen_child(g, t, entry, msr_addr_make(app, 0x9000 + i * 16, false));
	const uint32_t push = gen_child(g, t, entry, msr_addr_make(app, 0x1000, false)),
		       in = gen_child(g, t, gen_nvtx_inside(g, t, entry, rank % 2),
				      msr_addr_make(app, 0x2000, false));
	uint32_t nodes[2] = {in, gen_child(g, t, entry, msr_addr_make(app, 0x3000, false))};
	for (uint64_t i = 0; i < 8; i++)
		gen_sample(g, t, nodes[i % 2], 0, start_ns + (i + 1) * MS, MS);
	gen_phase(g, &(struct msr_phase){.enter_ns = start_ns + MS,
					 .leave_ns = start_ns + (5 + rank) * MS,
					 .node = nodes[rank % 2]});
	char *path = gen_close(g, MSR_EXIT_RETURN, 0);
	struct msr_nvtx_range ranges[2];
	for (uint32_t i = 0; i < 2; i++)
		ranges[i] = (struct msr_nvtx_range){.node = push,
						    .name = 1,
						    .kind = MSR_NVTX_PUSHED,
						    .n_begun = 1,
						    .n = 1,
						    .n_events = i == rank % 2,
						    .ns = 4 * MS,
						    .least_ns = 4 * MS,
						    .most_ns = 4 * MS};
	gen_nvtx_name(path, (struct msr_nvtx_name){.kind = MSR_NVTX_NAME_RANGE, .id = 1},
		      rank % 2 ? "odd" : "even");
	gen_nvtx_ranges(path, t, ranges, 2);
	gen_nvtx_events(path, t,
			&(struct msr_nvtx_event){.enter_ns = start_ns + MS,
						 .leave_ns = start_ns + 5 * MS,
						 .range = rank % 2},
			1);
	const struct msr_mpi_comm world = {.id = 1,
					   .size = CALLERS,
					   .rank = rank,
					   .flags = MSR_MPI_COMM_WORLD,
					   .identity = 7};
	struct msr_mpi_call calls[2] = {0};
	struct msr_mpi_collective each[CALLS] = {0};
	for (uint32_t i = 0; i < CALLS; i++) {
		/* one rank after the other comes last */
		const uint64_t late_ns = (i + rank) % CALLERS * 1000, ns = 6000 - late_ns;
		each[i] = (struct msr_mpi_collective){
			.enter_ns = start_ns + (uint64_t)i * 100000 + late_ns,
			.leave_ns = start_ns + (uint64_t)i * 100000 + 6000,
			.number = i,
			.node = nodes[i % 2],
			.comm = 1,
			.call = i % 2 ? MPI_CALL_Allreduce : MPI_CALL_Barrier};
		calls[i % 2].n_calls++;
		calls[i % 2].ns += ns;
		calls[i % 2].least_ns = 1000;
	}
	for (uint32_t i = 0; i < 2; i++) {
		calls[i].node = nodes[i];
		calls[i].comm = 1;
		calls[i].call = i ? MPI_CALL_Allreduce : MPI_CALL_Barrier;
	}
	const struct msr_mpi_open open = {.enter_ns = start_ns + 1,
					  .node = nodes[0],
					  .comm = 1,
					  .peer = 0,
					  .call = MPI_CALL_Recv};
	gen_mpi_add(path, MSR_MPI_COMM, 0, &world, 1);
	gen_mpi_add(path, MSR_MPI_CALL, 0, calls, 2);
	gen_mpi_add(path, MSR_MPI_COLLECTIVE, 0, each, CALLS);
	gen_mpi_add(path, MSR_MPI_OPEN, 0, &open, 1);
	free(path);
}

static char *make_callers(struct parts_job *j)
{
	char *directory = fixture_directory();
	for (uint32_t rank = 0; rank < CALLERS; rank++)
		make_caller(directory, rank);
	snprintf(j->measurement, sizeof j->measurement, "%s", directory);
	return directory;
}

static void test_records(void **state)
{
	(void)state;
	struct parts_job j = {0};
	char *directory = make_callers(&j);
	parts_check_measurement(directory, (const int[]){2, 3, 8, 0});
	fixture_remove(directory);
}

/* Each part has the records of its files alone. The waits in calls are known all the same. */
static void check_callers(struct comm *c, void *arg)
{
	struct parts_job *j = arg;
	char *directories[] = {j->measurement};
	struct load_job load = {.comm = c};
	struct model *m = NULL;
	const struct attribute_options o = {.n_workers = 1, .comm = c};
	bool ok = load_job_open(directories, 1, 1, &load) == STATUS_OK && load.is_split &&
		  load.files.n == CALLERS;
	for (size_t i = 0; ok && i < load.files.n; i++)
		ok = (load.files.at[i].mpi.calls.n != 0) == load_is_own(&load, i);
	ok = ok && attribute_run(&load, &o, &m) == STATUS_OK;
	for (uint64_t i = 0; ok && i < m->mpi->n_calls; i++)
		ok = m->mpi->calls[i].is_open ||
		     (m->mpi->calls[i].wait_is_known && m->mpi->calls[i].wait_ns > 39000 &&
		      m->mpi->calls[i].wait_ns < 41000); /* the clocks are known so well */
	ok = ok && m->mpi->n_calls == 3 && m->mpi->clock_error_ns < 10000;
	j->status[c->part] = ok ? STATUS_OK : STATUS_BAD_INPUT;
	model_free(m);
	load_job_close(&load);
}

static void test_callers(void **state)
{
	(void)state;
	struct parts_job j = {0};
	char *directory = make_callers(&j);
	assert_true(comm_threads_run(CALLERS, check_callers, &j));
	for (int part = 0; part < CALLERS; part++)
		assert_int_equal(j.status[part], STATUS_OK);
	fixture_remove(directory);
}

/* Damage anywhere in such files: in one of them, and in all. */
static void test_damaged_records(void **state)
{
	(void)state;
	log_set_silent(true);
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct parts_job j = {0};
		unsigned next = seed;
		char *directory = make_callers(&j);
		for (unsigned i = 0; i < (seed > 10 ? CALLERS : 1); i++)
			parts_flip_bytes(directory, (int)((seed + i) % CALLERS), &next);
		snprintf(j.database, sizeof j.database, "%s/0", parts_scratch);
		assert_int_equal(mkdir(j.database, 0777), 0);
		assert_int_equal(parts_work(NULL, &j), STATUS_OK);
		parts_check(&j, 3);
		parts_remove(&j);
		fixture_remove(directory);
	}
	log_set_silent(false);
}

/* Part p has the records p * 100 + i, for i < p * p, which go to part i % n. */
static int part_of_record(const void *arg, const void *record)
{
	return (int)(*(const uint32_t *)record % 100) % *(const int *)arg;
}

static void exchange_records(struct comm *c, void *arg)
{
	struct parts_job *j = arg;
	struct share_records r = {.n = (uint64_t)(c->part * c->part),
				  .bytes = sizeof(uint32_t),
				  .part_of = part_of_record,
				  .arg = &c->n_parts};
	uint32_t *at = r.at = malloc(r.n * r.bytes + 1);
	for (uint32_t i = 0; i < r.n; i++)
		at[i] = (uint32_t)c->part * 100 + i;
	bool ok = share_records(c, at, &r);
	const uint32_t *got = r.at;
	uint64_t n = 0;
	for (uint32_t p = 0; ok && p < (uint32_t)c->n_parts; p++)
		for (uint32_t i = 0; ok && i < p * p; i++)
			if ((int)i % c->n_parts == c->part)
				ok = n < r.n && got[n++] == p * 100 + i;
	j->status[c->part] = ok && n == r.n ? STATUS_OK : STATUS_BAD_INPUT;
	free(r.at);
}

static void test_exchange(void **state)
{
	(void)state;
	for (int n = 1; n <= 9; n++) {
		struct parts_job j = {0};
		assert_true(comm_threads_run(n, exchange_records, &j));
		for (int part = 0; part < n; part++)
			assert_int_equal(j.status[part], STATUS_OK);
	}
}

/* ---- failures ---- */

/* The third of three parts cannot write: all fail, and no file stays. */
static void fail_third(struct comm *c, void *arg)
{
	struct parts_job *j = arg;
	struct parts_job mine = *j;
	if (c->part == 2)
		snprintf(mine.database, sizeof mine.database, "%s/nowhere", parts_scratch);
	j->status[c->part] = parts_work(c, &mine);
}

static void test_failure(void **state)
{
	(void)state;
	struct parts_job j = parts_job_of("prof/job", 3);
	assert_true(comm_threads_run(3, fail_third, &j));
	for (int part = 0; part < 3; part++)
		assert_int_equal(j.status[part], STATUS_IO);
	assert_int_equal(rmdir(j.database), 0);
}

/* ---- what the parts read ---- */

static const struct gen_job small = {.n_processes = 5,
				     .n_threads = 3,
				     .n_nodes = 60,
				     .n_samples = 300,
				     .n_metrics = 2,
				     .n_functions = 40,
				     .ranks = true};

/* The order of names is not that of the files: then all parts read all. */
static void test_names(void **state)
{
	(void)state;
	struct parts_job j = {0};
	char *directory = fixture_directory(), from[512], to[512];
	gen_job(directory, &small);
	snprintf(from, sizeof from, "%s/0-node0-1000" MSR_SUFFIX, directory);
	snprintf(to, sizeof to, "%s/9-node0-1000" MSR_SUFFIX, directory);
	assert_int_equal(rename(from, to), 0);
	snprintf(j.measurement, sizeof j.measurement, "%s", directory);
	snprintf(j.database, sizeof j.database, "%s/0", parts_scratch);
	assert_int_equal(mkdir(j.database, 0777), 0);
	assert_int_equal(parts_work(NULL, &j), STATUS_OK);
	parts_check(&j, 2);
	parts_check(&j, 5);
	parts_remove(&j);
	fixture_remove(directory);
}

/* One file cannot be read, as all parts find. */
static void test_foreign_file(void **state)
{
	(void)state;
	struct parts_job j = {0};
	char *directory = fixture_directory();
	gen_job(directory, &small);
	snprintf(j.measurement, sizeof j.measurement, "%s/7-node0-1" MSR_SUFFIX, directory);
	FILE *f = fopen(j.measurement, "w");
	assert_non_null(f);
	fputs("not a measurement at all", f);
	fclose(f);
	snprintf(j.measurement, sizeof j.measurement, "%s", directory);
	log_set_silent(true);
	assert_true(comm_threads_run(3, parts_work_part, &j));
	log_set_silent(false);
	for (int part = 0; part < 3; part++)
		assert_int_equal(j.status[part], STATUS_BAD_INPUT);
	fixture_remove(directory);
}

/*
 * A file on a file server whose process has ended. It was copied from another node but for its
 * first page, which still says where the data are.
 */
static void unfinish_copy(const char *path)
{
	union {
		char text[MSR_HEADER_BYTES];
		struct msr_header header;
	} page = {{0}};
	const int fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &page, sizeof page, 0), sizeof page);
	assert_true(page.header.end_mono_ns);
	const struct local_part part = {.magic = LOCAL_PART_MAGIC,
					.copied_mono_ns = page.header.end_mono_ns,
					.copied_real_ns = page.header.start_real_ns,
					.header = page.header};
	memset(&page, 0, sizeof page);
	snprintf(page.text, sizeof page, "%s%snowhere\n%s/nowhere\n", LOCAL_DATA_HEAD,
		 LOCAL_DATA_HOST, LOCAL_DATA_FILE);
	memcpy(page.text + LOCAL_PART_OFFSET, &part, sizeof part);
	assert_int_equal(pwrite(fd, &page, sizeof page, 0), sizeof page);
	close(fd);
}

static void test_copied(void **state)
{
	(void)state;
	char *directory = fixture_directory(), path[512];
	gen_job(directory, &small);
	snprintf(path, sizeof path, "%s/0-node0-1000" MSR_SUFFIX, directory);
	unfinish_copy(path);
	log_set_silent(true); /* each part warns */
	parts_check_measurement(directory, (const int[]){3, 5, 0});
	log_set_silent(false);
	fixture_remove(directory);
}

/* Each part reads its files, and no others. */
static void check_outlines(struct comm *c, void *arg)
{
	struct parts_job *j = arg;
	char *directories[] = {j->measurement};
	struct load_job load = {.comm = c};
	bool ok = load_job_open(directories, 1, 1, &load) == STATUS_OK && load.is_split &&
		  load.files.n == 5;
	for (size_t i = 0; ok && i < load.files.n; i++) {
		const struct load_file *f = &load.files.at[i];
		ok = f->is_outline == !load_is_own(&load, i) && f->threads.n == 3 &&
		     f->threads.at[1].n_trace_records == 300 && f->map.n_bytes > 10000;
	}
	j->status[c->part] = ok ? STATUS_OK : STATUS_BAD_INPUT;
	load_job_close(&load);
}

static void test_outlines(void **state)
{
	(void)state;
	struct parts_job j = {0};
	char *directory = fixture_directory();
	gen_job(directory, &small);
	snprintf(j.measurement, sizeof j.measurement, "%s", directory);
	assert_true(comm_threads_run(5, check_outlines, &j));
	for (int part = 0; part < 5; part++)
		assert_int_equal(j.status[part], STATUS_OK);
	fixture_remove(directory);
}

/* Only one part finds structures, so its contexts are others. */
static void find_some(void *arg, const struct merge_modules *all, const bool *needed,
		      const struct attribute_frame *frames, size_t n_frames,
		      const struct structure **structures, enum model_structure *states)
{
	struct load_structure *list = arg;
	(void)needed, (void)frames, (void)n_frames, (void)states;
	for (size_t i = 0; i < GEN_N_MODULES && i < all->list.n; i++)
		list[i] = (struct load_structure){.module = all->list.at[i].record,
						  .path = all->list.at[i].path};
	char *directory = getenv("TEST_STRUCTURES");
	const struct load_structures_options o = {.directories = &directory, .n_directories = 1};
	load_structures_open(&o, list, GEN_N_MODULES);
	for (size_t i = 0; i < GEN_N_MODULES; i++)
		structures[i] = list[i].structure;
}

static void read_other(struct comm *c, void *arg)
{
	struct parts_job *j = arg;
	struct load_job load = {.comm = c};
	struct load_structure list[GEN_N_MODULES] = {0};
	struct model *m = NULL;
	char *directories[] = {j->measurement};
	const struct attribute_options o = {.n_workers = 1,
					    .comm = c,
					    .find_structures = c->part == 1 ? find_some : NULL,
					    .arg = list};
	/* assertions belong to the main thread */
	if (load_job_open(directories, 1, 1, &load) == STATUS_OK &&
	    attribute_run(&load, &o, &m) == STATUS_DIFFERS)
		j->status[c->part] = c->failed;
	load_structures_close(list, GEN_N_MODULES);
	load_job_close(&load);
}

static void test_other(void **state)
{
	(void)state;
	struct parts_job j = {.status = {STATUS_USAGE, STATUS_USAGE, STATUS_USAGE}};
	char *directory = fixture_directory();
	gen_job(directory, &small);
	gen_program_structures(directory, small.n_functions);
	setenv("TEST_STRUCTURES", directory, 1);
	snprintf(j.measurement, sizeof j.measurement, "%s", directory);
	assert_true(comm_threads_run(3, read_other, &j));
	for (int part = 0; part < 3; part++)
		assert_int_equal(j.status[part], STATUS_DIFFERS);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job),        cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_killed),     cmocka_unit_test(test_failure),
		cmocka_unit_test(test_activities), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_other),      cmocka_unit_test(test_names),
		cmocka_unit_test(test_outlines),   cmocka_unit_test(test_foreign_file),
		cmocka_unit_test(test_records),    cmocka_unit_test(test_callers),
		cmocka_unit_test(test_exchange),   cmocka_unit_test(test_damaged_records),
		cmocka_unit_test(test_copied),
	};
	if (!mkdtemp(parts_scratch))
		return 99;
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(parts_scratch);
	return n_failed;
}
