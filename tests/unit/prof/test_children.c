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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parent_knows_the_end),
		cmocka_unit_test(test_exit_without_libc),
		cmocka_unit_test(test_other_directories),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_waits_inside_libc),
		cmocka_unit_test(test_starts_past_libc),
		cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
