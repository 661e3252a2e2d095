/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the launcher's parts: events, jobs, programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/exec_image.h"
#include "hpcrun-lite/launch/directory/job.h"
#include "hpcrun-lite/launch/event.h"
#include "hpcrun-lite/launch/perf_rights.h"
#include "hpcrun-lite/launch/program.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOOD(text) assert_int_equal(event_parse((text), &e), STATUS_OK)
#define BAD(text) assert_int_equal(event_parse((text), &e), STATUS_USAGE)

static void events_of_time(void **state)
{
	(void)state;
	struct config_event e;
	GOOD("CPUTIME");
	assert_int_equal(e.kind, CONFIG_CPUTIME);
	assert_int_equal(e.period, 1000000);
	assert_int_equal(e.unit, MSR_UNIT_NS);
	assert_true(e.as_rate);
	GOOD("REALTIME@5000");
	assert_int_equal(e.kind, CONFIG_REALTIME);
	assert_int_equal(e.period, 5000000);
	assert_false(e.as_rate);
	GOOD("CPUTIME@f3");
	assert_int_equal(e.period, 333333333);
	GOOD("CPUTIME@f100000");
	assert_int_equal(e.period, 10000);
	BAD("CPUTIME@");
	BAD("CPUTIME@f");
	BAD("CPUTIME@9");
	BAD("CPUTIME@-100");
	BAD("CPUTIME@1e3");
	BAD("CPUTIME@100 ");
	BAD("CPUTIME@99999999999999999999");
	BAD("CPUTIME@f0");
	BAD("");
}

static void events_of_the_kernel(void **state)
{
	(void)state;
	struct config_event e;
	GOOD("perf::PAGE-FAULTS@7");
	assert_int_equal(e.kind, CONFIG_PERF);
	assert_int_equal(e.perf_type, PERF_TYPE_SOFTWARE);
	assert_int_equal(e.perf_config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(e.period, 7);
	assert_int_equal(e.unit, MSR_UNIT_COUNT);
	GOOD("PERF::faults");
	assert_string_equal(e.name, "perf::PAGE-FAULTS");
	assert_int_equal(e.period, 100);
	GOOD("perf::TASK-CLOCK");
	assert_int_equal(e.unit, MSR_UNIT_NS);
	GOOD("perf::L1-DCACHE-LOAD-MISSES");
	assert_int_equal(e.perf_type, PERF_TYPE_HW_CACHE);
	assert_int_equal(e.perf_config, PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
						PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	assert_non_null(event_perf_of(&e));
	GOOD("MEMORY");
	assert_int_equal(e.kind, CONFIG_MEMORY);
	assert_int_equal(e.unit, MSR_UNIT_BYTES);
	assert_int_equal(e.period, 524288);
	GOOD("MEMORY@1");
	assert_int_equal(e.period, 1);
	BAD("MEMORY@0");
	BAD("MEMORY@f10");
	BAD("perf::PAGE-FAULTS@f10");
	BAD("perf::PAGE-FAULTS@0");
}

static void events_of_papi(void **state)
{
	(void)state;
	struct config_event e;
	char longest[80];
	GOOD("PAPI_TOT_CYC@123456");
	assert_int_equal(e.kind, CONFIG_PAPI);
	assert_string_equal(e.name, "PAPI_TOT_CYC");
	assert_int_equal(e.period, 123456);
	assert_null(event_perf_of(&e));
	GOOD("skx::UOPS_RETIRED:ALL:u=1");
	assert_string_equal(e.name, "skx::UOPS_RETIRED:ALL:u=1");
	GOOD("perf::NOT-OURS");
	assert_int_equal(e.kind, CONFIG_PAPI);
	memset(longest, 'x', sizeof longest);
	longest[63] = 0;
	GOOD(longest);
	longest[63] = 'x';
	longest[64] = 0;
	BAD(longest);
	BAD("TWO WORDS");
}

/* Every perf:: event of the table finds itself by both names. */
static void table_is_consistent(void **state)
{
	(void)state;
	size_t n;
	const struct event_perf *t = event_perf_table(&n);
	char text[80];
	for (size_t i = 0; i < n; i++) {
		struct config_event e;
		snprintf(text, sizeof text, "perf::%s", t[i].name);
		GOOD(text);
		assert_ptr_equal(event_perf_of(&e), &t[i]);
		assert_true(e.period > 0);
		snprintf(text, sizeof text, "perf::%s",
			 t[i].other_name ? t[i].other_name : t[i].name);
		GOOD(text);
		assert_ptr_equal(event_perf_of(&e), &t[i]);
	}
}

#define ENVIRONMENT(...) ((char *const *)(const char *const[]){__VA_ARGS__, NULL})

static void jobs(void **state)
{
	(void)state;
	static struct job a, b;
	job_find(ENVIRONMENT("A=1"), &a);
	assert_int_equal(a.scope, JOB_ALONE);
	assert_int_equal(a.rank, -1);
	assert_string_equal(a.name, "");
	job_find(ENVIRONMENT("A=1"), &b);
	assert_string_not_equal(a.identity, b.identity);

	job_find(ENVIRONMENT("SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_NTASKS=8"),
		 &a); /* the batch script */
	assert_int_equal(a.scope, JOB_ALONE);
	assert_string_equal(a.name, "5");
	job_find(ENVIRONMENT("SLURM_JOB_ID=5", "SLURM_STEP_ID=2", "SLURM_PROCID=0",
			     "SLURM_STEP_NUM_TASKS=2"),
		 &a);
	job_find(ENVIRONMENT("SLURM_JOB_ID=5", "SLURM_STEP_ID=2", "SLURM_PROCID=1",
			     "SLURM_STEP_NUM_TASKS=2"),
		 &b);
	assert_int_equal(a.scope, JOB_SHARED);
	assert_int_equal(b.rank, 1);
	assert_int_equal(b.n_ranks, 2);
	assert_string_equal(a.identity, b.identity);
	assert_string_equal(a.name, "5.2");
	job_find(ENVIRONMENT("SLURM_JOB_ID=5", "SLURM_STEP_ID=3", "SLURM_PROCID=1",
			     "SLURM_STEP_NUM_TASKS=2"),
		 &b);
	assert_string_not_equal(a.identity, b.identity);
}

/* mpirun inside a Slurm job: the daemons' step differs from node to node, the ranks' run does
 * not. */
static void launcher_inside_a_batch_job(void **state)
{
	(void)state;
	static struct job a, b;
	job_find(ENVIRONMENT("SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=1",
			     "OMPI_COMM_WORLD_RANK=4", "OMPI_COMM_WORLD_SIZE=8",
			     "PMIX_NAMESPACE=777", "PMIX_RANK=4"),
		 &a);
	job_find(ENVIRONMENT("SLURM_JOB_ID=5", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=8",
			     "PMIX_NAMESPACE=777", "PMIX_RANK=0"),
		 &b);
	assert_int_equal(a.rank, 4);
	assert_int_equal(a.scope, JOB_SHARED);
	assert_string_equal(a.identity, b.identity);
	assert_string_equal(a.name, "5");
	/* MVAPICH2: daemons on the way to a rank's node give it a host and a port of their own. */
	job_find(ENVIRONMENT("MV2_COMM_WORLD_RANK=0", "MV2_COMM_WORLD_SIZE=2",
			     "MPISPAWN_MPIRUN_ID=7", "MPISPAWN_MPIRUN_HOST=login",
			     "MPISPAWN_MPIRUN_PORT=4001"),
		 &a);
	job_find(ENVIRONMENT("MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=2",
			     "MPISPAWN_MPIRUN_ID=7", "MPISPAWN_MPIRUN_HOST=node3",
			     "MPISPAWN_MPIRUN_PORT=4002"),
		 &b);
	assert_string_equal(a.identity, b.identity);
	assert_int_equal(a.scope, JOB_CLAIMED); /* process ids return */
	job_find(ENVIRONMENT("MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=2",
			     "MPISPAWN_MPIRUN_ID=8"),
		 &b);
	assert_string_not_equal(a.identity, b.identity);
	job_find(ENVIRONMENT("PBS_JOBID=9.host", "PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1"),
		 &a);
	assert_int_equal(a.scope, JOB_CLAIMED);
	assert_string_equal(a.name, "9.host");
	job_find(ENVIRONMENT("FLUX_JOB_ID=\xc6\x92"
			     "12/x",
			     "FLUX_TASK_RANK=0", "FLUX_JOB_SIZE=1"),
		 &a);
	assert_string_equal(a.name, "__12_x");
	job_find(ENVIRONMENT("PMI_RANK=x", "PMI_SIZE=2"), &a);
	assert_int_equal(a.rank, -1);
}

static void write_file(const char *path, const void *bytes, size_t n, mode_t mode)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
	chmod(path, mode);
}

/* No header, cut or changed anywhere, makes the examination fail in any way but by its verdict. */
static void images_that_are_damaged(void **state)
{
	(void)state;
	static unsigned char image[4096];
	struct exec_image got;
	char path[] = "/tmp/test_launch.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	FILE *f = fopen("/proc/self/exe", "r");
	assert_int_equal(fread(image, 1, sizeof image, f), sizeof image);
	fclose(f);
	write_file(path, image, sizeof image, 0755);
	exec_image_examine(path, &got);
	assert_int_equal(got.kind, EXEC_GOOD);
	srand(1);
	for (int i = 0; i < 2000; i++) {
		unsigned char changed[sizeof image];
		memcpy(changed, image, sizeof image);
		for (int k = 0; k < 4; k++)
			changed[16 + (size_t)rand() % 700] = (unsigned char)rand();
		write_file(path, changed, i % 4 ? sizeof changed : (size_t)rand() % sizeof changed,
			   0755);
		exec_image_examine(path, &got);
		assert_in_range(got.kind, EXEC_GOOD, EXEC_SANITIZED);
	}
	write_file(path, "", 0, 0755);
	exec_image_examine(path, &got);
	assert_true(got.by_shell);
	write_file(path, "#!   /bin/sh -e\n", 16, 0755);
	exec_image_examine(path, &got);
	assert_int_equal(got.kind, EXEC_GOOD);
	assert_true(got.is_interpreter && !got.by_shell);
	write_file(path, "#!\n", 3, 0755);
	exec_image_examine(path, &got);
	assert_int_equal(got.kind, EXEC_DAMAGED);
	unlink(path);
	exec_image_examine(path, &got);
	assert_int_equal(got.kind, EXEC_ERROR);
}

static void programs_in_path(void **state)
{
	(void)state;
	static struct program p;
	assert_int_equal(program_find("sh", "/none:/bin", &p), PROGRAM_GOOD);
	assert_string_equal(p.path, "/bin/sh");
	assert_int_equal(program_find("sh", NULL, &p), PROGRAM_GOOD);
	assert_int_equal(program_find("sh", "", &p),
			 PROGRAM_MISSING); /* only the current directory */
	assert_int_equal(program_find("passwd", "/etc", &p), PROGRAM_NOT_EXECUTABLE);
	assert_int_equal(program_find("", "/bin", &p), PROGRAM_MISSING);
	assert_int_equal(program_find("/", "/bin", &p), PROGRAM_NOT_EXECUTABLE);
}

/* The cause and the one setting that helps; each fits into a line of -L. */
static void rights(void **state)
{
	(void)state;
	const struct perf_machine debian = {.paranoid = 3, .last_capability = 40},
				  filtered = {.paranoid = 2,
					      .last_capability = 40,
					      .is_filtered = true};
	struct perf_machine m = debian;
	struct perf_refusal r;
	perf_refused(&m, EACCES, 2, &r);
	assert_string_equal(r.why, "kernel.perf_event_paranoid is 3 (needed: 2)");
	assert_string_equal(r.cure, "as root: sysctl kernel.perf_event_paranoid=2");
	m.container = PERF_DOCKER; /* without a filter */
	perf_refused(&m, EACCES, 1, &r);
	assert_string_equal(r.cure, "as root of the host: sysctl kernel.perf_event_paranoid=1");
	m.is_filtered = true;
	perf_refused(&m, EACCES, 1, &r);
	assert_non_null(strstr(r.cure, "--cap-add PERFMON"));

	static const struct {
		enum perf_container container;
		const char *cure;
	} cures[] = {{PERF_NO_CONTAINER, "system call perf_event_open"},
		     {PERF_DOCKER, "--cap-add PERFMON (SYS_ADMIN before Docker 23)"},
		     {PERF_PODMAN, "--cap-add PERFMON --cap-add SYS_ADMIN"},
		     {PERF_KUBERNETES, "add: [PERFMON]"}};
	for (size_t i = 0; i < sizeof cures / sizeof *cures; i++) {
		m = filtered;
		m.container = cures[i].container;
		const int errors[] = {EPERM, ENOSYS};
		for (size_t k = 0; k < 2; k++) {
			perf_refused(&m, errors[k], 2, &r);
			assert_string_equal(r.why, "a seccomp filter refuses perf_event_open");
			assert_non_null(strstr(r.cure, cures[i].cure));
			assert_true(strlen(r.cure) <= 74);
		}
	}
	m.last_capability = 37; /* before Linux 5.8 */
	perf_refused(&m, EPERM, 2, &r);
	assert_string_equal(r.cure, "start the container with --cap-add SYS_ADMIN");

	m = (struct perf_machine){.paranoid = 1, .last_capability = 40};
	perf_refused(&m, EACCES, 1, &r);
	assert_string_equal(r.why, "a security module refuses perf_event_open");
	perf_refused(&m, ENOSYS, 1, &r);
	assert_string_equal(r.why, "this kernel has no perf events");
	assert_string_equal(r.cure, "");
	m.paranoid = PERF_RIGHTS_NONE;
	perf_refused(&m, EPERM, 1, &r);
	assert_string_equal(r.why, "this kernel has no perf events");
}

static void counters(void **state)
{
	(void)state;
	struct perf_machine m = {.is_virtual = true};
	struct perf_refusal r;
	perf_no_counter(&m, &r);
	assert_string_equal(r.why, "this virtual machine has no hardware counters");
	assert_non_null(strstr(r.cure, "virtual PMU"));
	assert_true(strlen(r.cure) <= 74);
	m.is_virtual = false;
	perf_no_counter(&m, &r);
	assert_string_equal(r.why, "the kernel finds no hardware counters");
	m.has_units = true;
	perf_no_counter(&m, &r);
	assert_string_equal(r.cure, "");

	static const char status[] = "Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t3\n";
	assert_int_equal(perf_rights_field(status, "Seccomp"), 2);
	assert_int_equal(perf_rights_field(status, "Name"), 0);
	assert_int_equal(perf_rights_field(status, "Seccomp_"), -1);
	assert_int_equal(perf_rights_field("", "Seccomp"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_time),
		cmocka_unit_test(events_of_the_kernel),
		cmocka_unit_test(events_of_papi),
		cmocka_unit_test(table_is_consistent),
		cmocka_unit_test(jobs),
		cmocka_unit_test(launcher_inside_a_batch_job),
		cmocka_unit_test(images_that_are_damaged),
		cmocka_unit_test(programs_in_path),
		cmocka_unit_test(rights),
		cmocka_unit_test(counters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
