/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/children: what parents know of their children, put together from
 * several files. */
#include "common/format/ends.h"
#include "tests/unit/prof/prof_fixture.h"

#include <stdlib.h>
#include <string.h>

enum { PARENT = 100, CHILD = 200 };
#define EXITED(status) ((status) << 8)
#define MS UINT64_C(1000000)

static struct gen *begin(const char *directory, uint32_t pid, uint32_t parent, uint64_t start_ns)
{
	struct gen *g = gen_open(directory,
		&(struct gen_process){.host = "h",
			.pid = pid,
			.rank = -1,
			.start_mono_ns = start_ns,
			.start_real_ns = start_ns});
	gen_header(g)->parent_pid = parent;
	gen_info(g, "executable", "/bin/app");
	return g;
}

static void end(struct gen *g, enum msr_exit_kind kind, int code)
{
	free(gen_close(g, kind, code));
}

static const struct model_process *find_process(const struct model *m, uint32_t pid)
{
	uint32_t i = 0;
	while (i + 1 < m->n_processes && m->processes[i].pid != pid)
		i++;
	assert_int_equal(m->processes[i].pid, pid);
	return &m->processes[i];
}

static const char *end_of(const struct model *m, uint32_t pid)
{
	static char text[128];
	const struct model_process *p = find_process(m, pid);
	return ends_text(p->exit_kind, p->exit_code, text, sizeof text);
}

static const struct model_unmeasured *only_program(const struct model *m)
{
	assert_int_equal(m->n_unmeasured, 1);
	return &m->unmeasured[0];
}

/* A child that could not write its end; its process id was another's before and is another's
 * later. */
static void test_parent_knows_the_end(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, PARENT, 1, 10 * MS);
	gen_wait(g, CHILD, EXITED(7), 15 * MS, MS);
	gen_wait(g, CHILD, 11 | 0x80, 30 * MS, MS);
	gen_wait(g, CHILD, EXITED(8), 50 * MS, MS);
	end(g, MSR_EXIT_RETURN, 0);
	end(begin(directory, CHILD, PARENT, 20 * MS), MSR_EXIT_NONE, 0);
	end(begin(directory, 300, PARENT, 20 * MS), MSR_EXIT_NONE, 0);
	end(begin(directory, 400, 99, 20 * MS), MSR_EXIT_SIGNAL, 15);
	struct model *m = fixture_model(directory, 1);
	assert_string_equal(end_of(m, PARENT), "exit status 0");
	assert_string_equal(end_of(m, CHILD), "signal SIGSEGV");
	assert_string_equal(
		end_of(m, 300),
		"unknown status (killed, ended by its own system call, or still running)");
	assert_string_equal(end_of(m, 400), "signal SIGTERM");
	model_free(m);
	fixture_remove(directory);
}

/* A raw system call ends a process that cannot say so: its parent can. */
static void test_exit_without_libc(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, PARENT, 1, 10 * MS);
	gen_wait(g, CHILD, EXITED(0), 30 * MS, MS);
	end(g, MSR_EXIT_RETURN, 0);
	end(begin(directory, CHILD, PARENT, 20 * MS), MSR_EXIT_NONE, 0);
	struct model *m = fixture_model(directory, 1);
	assert_string_equal(end_of(m, CHILD), "exit status 0");
	model_free(m);
	fixture_remove(directory);
}

/* Another directory's process of that id is another process. */
static void test_other_directories(void **state)
{
	(void)state;
	char *one = fixture_directory(), *two = fixture_directory();
	struct gen *g = begin(one, PARENT, 1, 10 * MS);
	gen_wait(g, CHILD, EXITED(5), 30 * MS, MS);
	end(g, MSR_EXIT_RETURN, 0);
	end(begin(two, CHILD, PARENT, 20 * MS), MSR_EXIT_NONE, 0);
	struct load_job job = {0};
	char *directories[] = {one, two};
	assert_int_equal(load_job_open(directories, 2, 1, &job), STATUS_OK);
	struct model *m = fixture_model_of(&job, NULL, 1);
	assert_int_equal(find_process(m, CHILD)->exit_kind, MSR_EXIT_NONE);
	model_free(m);
	fixture_remove(one);
	fixture_remove(two);
}

/* Children of vfork stand in the parent's file, those of fork in their own. */
static void test_programs(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, PARENT, 1, 10 * MS);
	gen_unmeasured(g, 201, MSR_UNMEASURED_STATIC, "./st", 20 * MS, 0);
	gen_unmeasured(g, 202, MSR_UNMEASURED_SET_UID, "/bin/su", 20 * MS, 0);
	gen_unmeasured(g, 203, MSR_UNMEASURED_STATIC, "./st", 21 * MS, 0);
	gen_unmeasured(g, 204, MSR_UNMEASURED_VOID, "./no", 21 * MS, 0);
	gen_wait(g, 201, EXITED(0), 30 * MS, 500 * MS);
	gen_wait(g, CHILD, EXITED(0), 31 * MS, 300 * MS);
	gen_wait(g, 202, EXITED(1), 32 * MS, 4 * MS);
	end(g, MSR_EXIT_RETURN, 0);
	g = begin(directory, CHILD, PARENT, 20 * MS);
	gen_unmeasured(g, CHILD, MSR_UNMEASURED_STATIC, "./st", 25 * MS, 100 * MS);
	end(g, MSR_EXIT_EXEC, 0);
	struct model *m = fixture_model(directory, 1);
	assert_int_equal(m->n_unmeasured, 2);
	assert_string_equal(m->unmeasured[0].path, "./st");
	assert_string_equal(m->unmeasured[0].why, "static executable");
	assert_int_equal(m->unmeasured[0].n, 3);
	assert_int_equal(m->unmeasured[0].n_unknown, 1);
	assert_int_equal(m->unmeasured[0].cpu_ns, 700 * MS);
	assert_string_equal(m->unmeasured[1].why, "set-user-ID executable");
	assert_int_equal(m->unmeasured[1].n, 1);
	assert_int_equal(m->unmeasured[1].cpu_ns, 4 * MS);
	assert_string_equal(end_of(m, CHILD), "another program in its place");
	model_free(m);
	fixture_remove(directory);
}

/* system() waits inside libc: what the parent was charged beyond all known waits is that program's,
 * where it can be no other's. */
static void test_waits_inside_libc(void **state)
{
	(void)state;
	for (int measured_too = 0; measured_too < 2; measured_too++) {
		char *directory = fixture_directory();
		struct gen *g = begin(directory, PARENT, 1, 10 * MS);
		gen_wait(g, 0, 0, 90 * MS, 400 * MS);
		end(g, MSR_EXIT_RETURN, 0);
		g = begin(directory, CHILD, PARENT, 20 * MS);
		gen_unmeasured(g, CHILD, MSR_UNMEASURED_STATIC, "./st", 25 * MS, 3 * MS);
		end(g, MSR_EXIT_EXEC, 0);
		if (measured_too)
			end(begin(directory, 300, PARENT, 20 * MS), MSR_EXIT_RETURN, 0);
		struct model *m = fixture_model(directory, 1);
		assert_int_equal(only_program(m)->n, 1);
		assert_int_equal(only_program(m)->n_unknown, measured_too);
		assert_int_equal(only_program(m)->cpu_ns, measured_too ? 0 : 397 * MS);
		model_free(m);
		fixture_remove(directory);
	}
}

/* Children that a program started past libc: their number is not known, their CPU time is. */
static void test_starts_past_libc(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, PARENT, 1, 10 * MS);
	gen_wait(g, 0, 0, 90 * MS, 400 * MS);
	end(g, MSR_EXIT_RETURN, 0);
	struct model *m = fixture_model(directory, 1);
	assert_true(only_program(m)->is_starter);
	assert_string_equal(only_program(m)->path, "/bin/app");
	assert_int_equal(only_program(m)->cpu_ns, 400 * MS);
	model_free(m);
	fixture_remove(directory);
}

/* What cannot be is damage. */
static void test_damage(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = begin(directory, PARENT, 1, 10 * MS);
	gen_unmeasured(g, 201, 99, "./st", 20 * MS, 0);
	gen_wait(g, 201, EXITED(0), 30 * MS, UINT64_MAX);
	end(g, MSR_EXIT_RETURN, 0);
	struct model *m = fixture_model(directory, 1);
	assert_string_equal(only_program(m)->why, "unknown cause");
	assert_int_equal(only_program(m)->n_unknown, 1);
	assert_int_equal(m->ledger.bytes_damaged, sizeof(struct msr_child));
	model_free(m);
	fixture_remove(directory);
}

/* A process of rank `rank` of n in the job that PID spawned at `id`; 0: in none. */
static struct gen *begin_rank(const char *directory, uint32_t pid, int32_t rank, int32_t n,
			      uint64_t id, uint32_t by)
{
	struct gen *g = gen_open(directory, &(struct gen_process){.host = "h",
								  .pid = pid,
								  .rank = rank,
								  .start_mono_ns = id + pid * MS,
								  .start_real_ns = id + pid * MS});
	gen_header(g)->n_ranks = n;
	gen_header(g)->job_id = id;
	gen_header(g)->job_host_id = id ? gen_header(g)->host_id : 0;
	gen_header(g)->job_pid = id ? by : 0;
	gen_info(g, "executable", "/bin/app");
	return g;
}

/*
 * Rank 1 of two spawns four processes, of which rank 2 is missing, and two of a program that cannot
 * be measured. Rank 0 of these spawns one more. All count from 0, and no rank is there twice.
 */
static void test_spawned_jobs(void **state)
{
	enum { FIRST = 500, SECOND = 900 };
	static const int32_t ranks[][4] = {
		/* pid, rank, job, rank in the job */
		{100, 0, 0, 0}, {101, 1, 0, 1}, {200, 2, 1, 0}, {201, 3, 1, 1},
		{203, 5, 1, 3}, {300, 8, 2, 0},
	};
	(void)state;
	char *directory = fixture_directory();
	end(begin_rank(directory, 300, 0, 1, SECOND * MS, 200), MSR_EXIT_RETURN, 0);
	struct gen *g = begin_rank(directory, 200, 0, 6, FIRST * MS, 101);
	gen_spawn(g, SECOND * MS, 1, 0, "/bin/deeper");
	end(g, MSR_EXIT_RETURN, 0);
	end(begin_rank(directory, 203, 3, 6, FIRST * MS, 101), MSR_EXIT_RETURN, 0);
	end(begin_rank(directory, 201, 1, 6, FIRST * MS, 101), MSR_EXIT_RETURN, 0);
	g = begin_rank(directory, 101, 1, 2, 0, 0);
	gen_spawn(g, FIRST * MS, 4, 0, "/bin/worker");
	gen_spawn(g, FIRST * MS, 2, MSR_UNMEASURED_STATIC, "/bin/st");
	end(g, MSR_EXIT_RETURN, 0);
	end(begin_rank(directory, 100, 0, 2, 0, 0), MSR_EXIT_RETURN, 0);
	struct model *m = fixture_model(directory, 1);
	assert_int_equal(m->n_processes, 6);
	for (uint32_t i = 0; i < 6; i++) {
		const struct model_process *p = &m->processes[i];
		assert_int_equal(p->pid, ranks[i][0]);
		assert_int_equal(p->rank, ranks[i][1]);
		assert_int_equal(p->spawned_job, ranks[i][2]);
		assert_int_equal(p->job_rank, ranks[i][3]);
		assert_int_equal(p->n_notes, i == 2 || i == 5);
	}
	assert_string_equal(m->processes[2].notes[0],
			    "job 1 was spawned by rank 1 (pid 101): ranks 2 to 5 here are its "
			    "ranks 0 to 3");
	assert_string_equal(m->processes[5].notes[0],
			    "job 2 was spawned by rank 2 (pid 200): rank 8 here is its rank 0");
	assert_int_equal(m->n_unmeasured, 2);
	assert_string_equal(m->unmeasured[0].path, "/bin/st");
	assert_int_equal(m->unmeasured[0].n, 2);
	assert_string_equal(m->unmeasured[1].path, "/bin/worker");
	assert_string_equal(m->unmeasured[1].why, msr_unmeasured_name(MSR_UNMEASURED_SPAWNED));
	assert_int_equal(m->unmeasured[1].n, 1);
	model_free(m);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parent_knows_the_end),
		cmocka_unit_test(test_exit_without_libc),
		cmocka_unit_test(test_other_directories),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_waits_inside_libc),
		cmocka_unit_test(test_starts_past_libc),
		cmocka_unit_test(test_spawned_jobs),
		cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
