/* SPDX-License-Identifier: BSD-3-Clause */
/* What a comparison matches, suggests and counts. */
#include "hpcprof-lite/compare/compare_report.h"
#include "tests/unit/compare/compare_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double ms = 1e-3;

/* A program whose parts a test changes before it adds the values. */
struct program {
	const char *executable, *library, *solver;
	enum model_relation relation; /* of the solver to its caller */
	uint32_t moved;               /* lines by which its source moved */
	uint64_t n_solver;            /* samples */
};

static const struct program plain = {
	"/a/app-1.0", "/lib/libx.so.1.2", "solve", MODEL_CALL, 0, 10000,
};

static void make(struct fixture *f, const struct program *p)
{
	fixture_begin(f, p->executable);
	uint32_t library = fixture_module(f, p->library), source = fixture_file(f, "/src/a.c"),
		 header = fixture_file(f, "/src/h.h"),
		 main_ = fixture_function(f, "main", 0, source, 1),
		 solver = fixture_function(f, p->solver, library, source, 20 + p->moved);
	fixture_metric(f, "CPUTIME (sec)", "CPUTIME", MODEL_SECONDS, MODEL_METRIC_SAMPLED,
		       MODEL_ROLE_NONE);
	uint32_t in_main = fixture_call(f, 1, main_, MODEL_CALL),
		 call = fixture_line(f, in_main, source, 5),
		 in_solver = fixture_call(f, call, solver, p->relation),
		 line = fixture_line(f, in_solver, source, 25 + p->moved),
		 other = fixture_line(f, in_solver, header, 7);
	fixture_value(f, call, 0, 100, 100 * ms);
	fixture_value(f, line, 0, p->n_solver, (double)p->n_solver * ms);
	fixture_value(f, other, 0, 500, 500 * ms);
}

static void add(struct compare *c, enum compare_side side, const struct program *p)
{
	static struct fixture f;
	make(&f, p);
	assert_true(compare_add(c, side, "run", &f.m));
}

static void report(const struct compare *c, struct compare_report *r)
{
	static const struct compare_options o = {.assumed = 0};
	assert_int_equal(compare_report_open(c, &o, r), STATUS_OK);
}

static size_t count_real(const struct compare_report *r)
{
	size_t n = 0;
	for (int by = 0; by < COMPARE_N_BY; by++)
		n += r->rows[by].n_real;
	return n;
}

static void is_row(const struct compare_report *r, enum compare_by by, size_t row,
		   const char *wanted)
{
	char name[256];
	assert_true(row < r->rows[by].n);
	compare_row_name(r->c, by, r->rows[by].at[row].id, 0, name, sizeof name);
	assert_string_equal(name, wanted);
}

/* Compares two programs and returns the number of real differences. */
static size_t differences(const struct program *base, const struct program *new)
{
	struct compare c;
	struct compare_report r;
	assert_true(compare_open(&c));
	add(&c, COMPARE_BASE, base);
	add(&c, COMPARE_NEW, new);
	report(&c, &r);
	size_t n = count_real(&r);
	assert_int_equal(r.rows[COMPARE_BY_LINE].n, n ? r.rows[COMPARE_BY_LINE].n : 3);
	compare_report_close(&r);
	compare_close(&c);
	return n;
}

static void test_rebuilt(void **state)
{
	struct program p = plain;
	(void)state;
	assert_int_equal(differences(&plain, &p), 0);
	p.executable = "/b/app-2";
	p.library = "/opt/lib/libx.so.3";
	p.solver = "solve.constprop.0";
	p.moved = 40;
	assert_int_equal(differences(&plain, &p), 0);
}

static void test_inlined(void **state)
{
	struct program p = plain;
	(void)state;
	p.relation = MODEL_INLINED;
	assert_int_equal(differences(&plain, &p), 0);
}

static void test_longer_loop(void **state)
{
	struct program p = plain;
	struct compare c;
	struct compare_report r;
	(void)state;
	p.n_solver = 11000;
	assert_true(compare_open(&c));
	add(&c, COMPARE_BASE, &plain);
	add(&c, COMPARE_NEW, &p);
	report(&c, &r);
	for (int by = 0; by <= COMPARE_BY_PATH; by++)
		assert_int_equal(r.rows[by].n_real, 1);
	is_row(&r, COMPARE_BY_FUNCTION, 0, "solve");
	is_row(&r, COMPARE_BY_LINE, 0, "a.c:25");
	is_row(&r, COMPARE_BY_PATH, 0, "main > solve");
	const struct compare_estimate *e = &r.rows[COMPARE_BY_LINE].at[0].self;
	assert_true(fabs(e->base - 10) < 1e-9 && fabs(e->new - 11) < 1e-9);
	assert_true(fabs(compare_deviation(e) - sqrt(21000) * ms) < 1e-9);
	compare_report_close(&r);
	compare_close(&c);
}

/* A library with two functions without names, one second in each; the second calls the first. */
static void add_unnamed(struct compare *c, enum compare_side side, const char *build, int moved)
{
	static struct fixture f;
	char names[2][32];
	fixture_begin(&f, "/a");
	uint32_t library = fixture_module(&f, "/lib/libx.so.1"), at = 1;
	f.modules[library].build_id = (const uint8_t *)build;
	f.modules[library].build_id_bytes = (uint32_t)strlen(build);
	fixture_metric(&f, "CPUTIME (sec)", "CPUTIME", MODEL_SECONDS, MODEL_METRIC_SAMPLED,
		       MODEL_ROLE_NONE);
	for (int i = 0; i < 2; i++) {
		snprintf(names[i], sizeof names[i], "<unknown at 0x%d>", 1000 * (i + 1) + moved);
		at = fixture_call(&f, at,
				  fixture_function(&f, names[i], library, MODEL_NONE, 0),
				  MODEL_CALL);
		fixture_value(&f, at, 0, 1000 + 1000 * (side == COMPARE_NEW), 1);
	}
	assert_true(compare_add(c, side, "run", &f.m));
}

/* An address is a function in the same build of a library. In another, all of them are one. */
static void test_unnamed(void **state)
{
	struct compare c;
	struct compare_report r;
	(void)state;
	for (int same = 0; same < 2; same++) {
		assert_true(compare_open(&c));
		add_unnamed(&c, COMPARE_BASE, "one", 0);
		add_unnamed(&c, COMPARE_NEW, same ? "one" : "two", same ? 0 : 8);
		assert_true(compare_settle(&c));
		report(&c, &r);
		const struct compare_rows *rows = &r.rows[COMPARE_BY_FUNCTION];
		assert_int_equal(rows->n, same ? 2 : 1);
		is_row(&r, COMPARE_BY_FUNCTION, 0,
		       same ? "<unknown at 0x1000> [libx.so]" : "<unnamed functions> [libx.so]");
		assert_true(rows->at[0].self.base == (same ? 1 : 2) &&
			    rows->at[0].total.new == 2);
		assert_int_equal(r.renames.n, 0);
		compare_report_close(&r);
		compare_close(&c);
	}
}

/* A function without even an address, and one that has one, both with the same line. */
static void add_unnamed_lines(struct compare *c, enum compare_side side, const char *build)
{
	static struct fixture f;
	static const char *const names[] = {"<unknown function>", "<unknown at 0x1000>"};
	fixture_begin(&f, "/a");
	uint32_t library = fixture_module(&f, "/lib/libx.so.1"), file = fixture_file(&f, "/x.h");
	f.modules[library].build_id = (const uint8_t *)build;
	f.modules[library].build_id_bytes = 3;
	fixture_metric(&f, "CPUTIME (sec)", "CPUTIME", MODEL_SECONDS, MODEL_METRIC_SAMPLED,
		       MODEL_ROLE_NONE);
	for (int i = 0; i < 2; i++) {
		uint32_t at = fixture_call(
			&f, 1, fixture_function(&f, names[i], library, MODEL_NONE, 0), MODEL_CALL);
		fixture_value(&f, fixture_line(&f, at, file, 7), 0, 1000, 1);
	}
	assert_true(compare_add(c, side, "run", &f.m));
}

static void test_unnamed_lines(void **state)
{
	struct compare c;
	struct compare_report r;
	(void)state;
	assert_true(compare_open(&c));
	add_unnamed_lines(&c, COMPARE_BASE, "one");
	add_unnamed_lines(&c, COMPARE_NEW, "two");
	assert_true(compare_settle(&c));
	report(&c, &r);
	const struct compare_rows *rows = &r.rows[COMPARE_BY_LINE];
	assert_int_equal(rows->n, 1);
	is_row(&r, COMPARE_BY_LINE, 0, "x.h:7");
	assert_true(rows->at[0].self.base == 2 && rows->at[0].self.new == 2);
	compare_report_close(&r);
	compare_close(&c);
}

static void test_renamed(void **state)
{
	struct program p = plain;
	struct compare c;
	struct compare_report r;
	(void)state;
	p.solver = "solve_fast";
	p.n_solver = 9500;
	assert_true(compare_open(&c));
	add(&c, COMPARE_BASE, &plain);
	add(&c, COMPARE_NEW, &p);
	report(&c, &r);
	assert_int_equal(r.rows[COMPARE_BY_FUNCTION].n_real, 2);
	assert_int_equal(r.renames.n, 1);
	assert_string_equal(compare_string(&c, c.functions.at[r.renames.at[0].from].name), "solve");
	assert_string_equal(compare_string(&c, c.functions.at[r.renames.at[0].to].name),
			    "solve_fast");
	compare_report_close(&r);
	compare_close(&c);

	p.n_solver = 4000; /* too different */
	assert_true(compare_open(&c));
	add(&c, COMPARE_BASE, &plain);
	add(&c, COMPARE_NEW, &p);
	report(&c, &r);
	assert_int_equal(r.renames.n, 0);
	compare_report_close(&r);
	compare_close(&c);

	p.n_solver = 10000;
	assert_true(compare_open(&c));
	assert_true(compare_rename(&c, "solve", "solve_fast"));
	add(&c, COMPARE_BASE, &plain);
	add(&c, COMPARE_NEW, &p);
	report(&c, &r);
	assert_int_equal(count_real(&r), 0);
	assert_int_equal(r.renames.n, 0);
	compare_report_close(&r);
	compare_close(&c);
}

/* Functions of two samples, each on one side, are no renamed function. */
static void test_rare_function(void **state)
{
	static struct fixture f;
	struct compare c;
	struct compare_report r;
	(void)state;
	assert_true(compare_open(&c));
	for (int side = 0; side < COMPARE_N_SIDES; side++) {
		fixture_begin(&f, "/a");
		fixture_metric(&f, "CPUTIME (sec)", "CPUTIME", MODEL_SECONDS, MODEL_METRIC_SAMPLED,
			       MODEL_ROLE_NONE);
		uint32_t g = fixture_function(&f, side ? "g" : "f", 0, MODEL_NONE, 0);
		fixture_value(&f, fixture_call(&f, 1, g, MODEL_CALL), 0, 2, 2 * ms);
		assert_true(compare_add(&c, side, "run", &f.m));
	}
	report(&c, &r);
	assert_int_equal(r.rows[COMPARE_BY_FUNCTION].n, 2);
	assert_int_equal(r.renames.n, 0);
	compare_report_close(&r);
	compare_close(&c);
}

/* The total of a recursive function counts its time once. */
static void test_recursion(void **state)
{
	static struct fixture f;
	struct compare c;
	struct compare_report r;
	(void)state;
	assert_true(compare_open(&c));
	for (int side = 0; side < COMPARE_N_SIDES; side++) {
		fixture_begin(&f, "/a");
		uint32_t g = fixture_function(&f, "g", 0, MODEL_NONE, 0), at = 1;
		fixture_metric(&f, "CPUTIME (sec)", "CPUTIME", MODEL_SECONDS, MODEL_METRIC_SAMPLED,
			       MODEL_ROLE_NONE);
		for (int i = 0; i < 5; i++) {
			at = fixture_call(&f, at, g, MODEL_CALL);
			fixture_value(&f, at, 0, 100, 1);
		}
		assert_true(compare_add(&c, side, "run", &f.m));
	}
	report(&c, &r);
	assert_int_equal(r.rows[COMPARE_BY_FUNCTION].n, 1);
	assert_true(fabs(r.rows[COMPARE_BY_FUNCTION].at[0].total.base - 5) < 1e-9);
	assert_true(fabs(r.rows[COMPARE_BY_FUNCTION].at[0].self.base - 5) < 1e-9);
	compare_report_close(&r);

	struct compare_condition condition;
	struct compare_check check;
	assert_int_equal(compare_condition_parse("CPUTIME in g > 4 s", &condition), STATUS_OK);
	assert_int_equal(compare_check(&c, &condition, 1, 0, &check), STATUS_OK);
	assert_true(fabs(check.estimate.new - 5) < 1e-9);
	compare_close(&c);
}

/* Two functions of a name: nobody knows which of them a third module has now. */
static void test_doubt(void **state)
{
	static const char *const modules[] = {"/lib/a.so", "/lib/b.so", "/lib/c.so"};
	static struct fixture f;
	struct compare c;
	struct compare_report r;
	(void)state;
	assert_true(compare_open(&c));
	for (int side = 0; side < COMPARE_N_SIDES; side++) {
		fixture_begin(&f, "/app");
		fixture_metric(&f, "CPUTIME (sec)", "CPUTIME", MODEL_SECONDS, MODEL_METRIC_SAMPLED,
			       MODEL_ROLE_NONE);
		for (int i = side ? 2 : 0; i < (side ? 3 : 2); i++) {
			uint32_t module = fixture_module(&f, modules[i]),
				 g = fixture_function(&f, "init", module, MODEL_NONE, 0);
			fixture_value(&f, fixture_call(&f, 1, g, MODEL_CALL), 0, 1000, 1);
		}
		assert_true(compare_add(&c, side, "run", &f.m));
	}
	report(&c, &r);
	assert_int_equal(r.rows[COMPARE_BY_FUNCTION].n, 3);
	assert_int_equal(r.rows[COMPARE_BY_FUNCTION].n_real, 3);
	compare_report_close(&r);
	compare_close(&c);
}

/* A function that differs from run to run, in a program that does not. */
static void test_jumpy_function(void **state)
{
	static const uint64_t samples[COMPARE_N_SIDES][3] = {{8000, 10000, 12000},
							     {11000, 13000, 15000}};
	static struct fixture f;
	struct compare c;
	struct compare_report r;
	(void)state;
	assert_true(compare_open(&c));
	for (int side = 0; side < COMPARE_N_SIDES; side++)
		for (int run = 0; run < 3; run++) {
			fixture_begin(&f, "/app");
			fixture_metric(&f, "CPUTIME (sec)", "CPUTIME", MODEL_SECONDS,
				       MODEL_METRIC_SAMPLED, MODEL_ROLE_NONE);
			uint32_t steady = fixture_function(&f, "steady", 0, MODEL_NONE, 0),
				 jumpy = fixture_function(&f, "jumpy", 0, MODEL_NONE, 0);
			uint64_t n = samples[side][run];
			fixture_value(&f, fixture_call(&f, 1, steady, MODEL_CALL), 0, 10000000,
				      10000);
			fixture_value(&f, fixture_call(&f, 1, jumpy, MODEL_CALL), 0, n,
				      (double)n * ms);
			assert_true(compare_add(&c, side, "run", &f.m));
		}
	report(&c, &r);
	assert_true(r.values.is_excess_measured && r.values.excess < 1e-6);
	assert_int_equal(r.rows[COMPARE_BY_FUNCTION].n_real, 0);
	const struct compare_estimate *e = &r.rows[COMPARE_BY_FUNCTION].at[0].self;
	assert_true(fabs(e->new - e->base - 3) < 1e-9);
	/* sqrt((4 + 4) / 3): the spread of each side is 2 s */
	assert_true(fabs(compare_deviation(e) - 1.63299) < 1e-4);
	compare_report_close(&r);
	compare_close(&c);
}

static void test_ranks(void **state)
{
	static struct fixture f;
	struct compare c;
	struct compare_report r;
	(void)state;
	assert_true(compare_open(&c));
	for (int side = 0; side < COMPARE_N_SIDES; side++) {
		make(&f, &plain);
		fixture_rank(&f, 5.3);
		fixture_rank(&f, side == COMPARE_BASE ? 5.3 : 7.3);
		assert_true(compare_add(&c, side, "run", &f.m));
	}
	report(&c, &r);
	assert_int_equal(r.rows[COMPARE_BY_RANK].n, 2);
	assert_int_equal(r.rows[COMPARE_BY_RANK].n_real, 1);
	is_row(&r, COMPARE_BY_RANK, 0, "rank 1");
	compare_report_close(&r);
	compare_close(&c);
}

/* Counts of kernels are exact: one launch more is a difference. */
static void test_kernels(void **state)
{
	static struct fixture f;
	struct compare c;
	struct compare_report r;
	(void)state;
	assert_true(compare_open(&c));
	for (unsigned side = 0; side < COMPARE_N_SIDES; side++) {
		make(&f, &plain);
		uint32_t gpu = fixture_module(&f, side ? "/x/1234.gpubin" : "/x/abcd.gpubin"),
			 placeholder =
				 fixture_function(&f, "<gpu kernel>", MODEL_NONE, MODEL_NONE, 0),
			 kernel = fixture_function(&f, "axpy", gpu, MODEL_NONE, 0);
		f.modules[gpu].is_gpu = true;
		f.functions[placeholder].gpu_kind = MSR_GPU_KERNEL;
		uint32_t time = fixture_metric(&f, "GKER (sec)", "", MODEL_SECONDS,
					       MODEL_METRIC_GPU_TIME, MODEL_ROLE_KERNEL_TIME),
			 count = fixture_metric(&f, "GKER:COUNT", "", MODEL_COUNT,
						MODEL_METRIC_GPU_COUNT, MODEL_ROLE_KERNELS),
			 at = fixture_call(&f, fixture_call(&f, 2, placeholder, MODEL_CALL), kernel,
					   MODEL_CALL);
		fixture_value(&f, at, time, 1000 * (side + 1), side + 1.0);
		fixture_value(&f, at, count, 1000 * (side + 1), 1000.0 * (side + 1));
		assert_true(compare_add(&c, side, "run", &f.m));
	}
	report(&c, &r);
	assert_int_equal(r.rows[COMPARE_BY_KERNEL].n, 1);
	assert_int_equal(r.rows[COMPARE_BY_KERNEL].n_real, 1);
	is_row(&r, COMPARE_BY_KERNEL, 0, "axpy");
	assert_int_equal(r.launches_of.n, 1);
	assert_true(r.launches_of.at[0].self.new == 2 * r.launches_of.at[0].self.base);
	assert_true(compare_deviation(&r.launches_of.at[0].self) == 0);
	compare_report_close(&r);
	compare_close(&c);
}

/* A condition on MPI holds if both runs measured MPI, and is refused otherwise. */
static void test_mpi(void **state)
{
	static struct fixture f;
	static const char *const conditions[] = {"MPI (sec) > +50%", "MPI:CALLS > +50%"};
	(void)state;
	for (unsigned lacks = 0; lacks < 2; lacks++) {
		struct compare c;
		struct compare_report r;
		assert_true(compare_open(&c));
		for (unsigned side = 0; side < COMPARE_N_SIDES; side++) {
			make(&f, &plain);
			uint32_t time = fixture_metric(&f, "MPI (sec)", "MPI", MODEL_SECONDS,
						       MODEL_METRIC_MPI_TIME, MODEL_ROLE_MPI_TIME),
				 calls = fixture_metric(&f, "MPI:CALLS", "MPI", MODEL_COUNT,
							MODEL_METRIC_MPI_COUNT,
							MODEL_ROLE_MPI_CALLS),
				 function = fixture_function(&f, "MPI_Send", 0, MODEL_NONE, 0),
				 at = fixture_call(&f, 2, function, MODEL_CALL);
			fixture_value(&f, at, time, 10000 * (side + 1), side + 1.0);
			fixture_value(&f, at, calls, 10000 * (side + 1), 10000.0 * (side + 1));
			f.m.n_metrics -= lacks && !side ? 2 : 0;
			f.m.n_totals -= lacks && !side ? 2 : 0;
			assert_true(compare_add(&c, side, "run", &f.m));
		}
		for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
			struct compare_condition condition;
			struct compare_check check;
			assert_int_equal(compare_condition_parse(conditions[i], &condition),
					 STATUS_OK);
			enum status s = compare_check(&c, &condition, 1, 0, &check);
			assert_int_equal(s == STATUS_OK, !lacks);
			if (!lacks)
				assert_int_equal(check.verdict, COMPARE_FAILS);
			if (!lacks && i)
				assert_true(compare_deviation(&check.estimate) == 0);
		}
		report(&c, &r);
		assert_int_equal(r.wholes.n, 3); /* CPUTIME and both of MPI */
		compare_report_close(&r);
		compare_close(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rebuilt),       cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_longer_loop),   cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_unnamed),
		cmocka_unit_test(test_unnamed_lines),
		cmocka_unit_test(test_rare_function), cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_ranks),         cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_mpi),
		cmocka_unit_test(test_doubt),         cmocka_unit_test(test_jumpy_function),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
