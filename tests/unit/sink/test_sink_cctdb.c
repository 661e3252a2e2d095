/* SPDX-License-Identifier: BSD-3-Clause */
/* The CCT database: records byte by byte against the tables of FORMATS.md, identifiers, source
 * paths, and that a failure takes all back. What the whole holds is checked by
 * tests/judge/read_cctdb.py from tests/cli/sink/sink_cctdb.sh. */
#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/source_find.h"
#include "hpcprof-lite/sink/cctdb/cctdb_sink.h"
#include "hpcprof-lite/sink/cctdb/cctdb_format.h"
#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/outfile.h"
#include "tests/unit/sink/model_fixture.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void header(void **state)
{
	struct cctdb_section in[CCTDB_MAX_SECTIONS], out[CCTDB_MAX_SECTIONS];
	uint8_t bytes[0x90];
	(void)state;
	for (uint64_t i = 0; i < CCTDB_MAX_SECTIONS; i++)
		in[i] = (struct cctdb_section){0x1000 + i, 0x2000 + 8 * i};
	assert_int_equal(cctdb_header_bytes(CCTDB_META), 0x90);
	assert_int_equal(cctdb_header_bytes(CCTDB_PROFILE), 0x30);
	assert_int_equal(cctdb_header_bytes(CCTDB_CCT), 0x20);
	assert_int_equal(cctdb_header_bytes(CCTDB_TRACE), 0x20);
	cctdb_put_header(bytes, CCTDB_META, in);
	assert_memory_equal(bytes, "HPCTOOLKITmeta\x04\x00\x00\x10\0\0\0\0\0\0\x00\x20", 26);
	assert_true(cctdb_get_header(bytes, sizeof bytes, CCTDB_META, out));
	assert_memory_equal(in, out, sizeof in);
	assert_false(cctdb_get_header(bytes, sizeof bytes, CCTDB_PROFILE, out));
	assert_false(cctdb_get_header(bytes, sizeof bytes - 1, CCTDB_META, out));
	bytes[14] = 5;
	assert_false(cctdb_get_header(bytes, sizeof bytes, CCTDB_META, out));
	cctdb_put_footer(bytes, CCTDB_CCT);
	assert_memory_equal(bytes, "__ctx.db", 8);
	assert_true(cctdb_get_footer(bytes, CCTDB_CCT));
	assert_false(cctdb_get_footer(bytes, CCTDB_TRACE));
}

static void context(void **state)
{
	const struct cctdb_context in = {.children_bytes = 0x28,
					 .children = 0x1122334455667788,
					 .context = 7,
					 .relation = CCTDB_RELATION_LEXICAL,
					 .lexical = CCTDB_LEXICAL_LOOP,
					 .propagation = 1,
					 .file = 0x100,
					 .line = 42,
					 .module = 0x200,
					 .offset = 0x300};
	static const uint8_t expected[] = {
		0x28, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
		7,    0, 0, 0, 6, 0, 1, 4, 1,    0,    0,    0,    0,    0,    0,    0,
		0,    1, 0, 0, 0, 0, 0, 0, 42,   0,    0,    0,    0,    0,    0,    0,
		0,    2, 0, 0, 0, 0, 0, 0, 0,    3,    0,    0,    0,    0,    0,    0};
	uint8_t bytes[0x60];
	struct cctdb_context out;
	(void)state;
	memset(bytes, 0xee, sizeof bytes);
	assert_int_equal(cctdb_context_bytes(&in), sizeof expected);
	assert_int_equal(cctdb_put_context(bytes, &in), sizeof expected);
	assert_memory_equal(bytes, expected, sizeof expected);
	assert_int_equal(bytes[sizeof expected], 0xee);
	assert_int_equal(cctdb_get_context(bytes, &out), sizeof expected);
	assert_memory_equal(&in, &out, sizeof in);
	const struct cctdb_context function = {
		.context = 1, .relation = CCTDB_RELATION_CALL, .function = 0x40};
	assert_int_equal(cctdb_put_context(bytes, &function), 0x28);
	assert_int_equal(bytes[0x14], 1);
	assert_int_equal(bytes[0x17], 1);
	assert_int_equal(cctdb_get_context(bytes, &out), 0x28);
	assert_int_equal(out.function, 0x40);
	assert_int_equal(out.file, 0);
}

static void packed_records(void **state)
{
	uint8_t bytes[64];
	uint16_t metric;
	uint32_t id;
	uint64_t start;
	double value;
	(void)state;
	memset(bytes, 0xee, sizeof bytes);
	cctdb_put_profile_value(bytes, 0x1234, 1.0);
	assert_memory_equal(bytes, "\x34\x12\0\0\0\0\0\0\xf0\x3f\xee",
			    CCTDB_PROFILE_VALUE_BYTES + 1);
	cctdb_get_profile_value(bytes, &metric, &value);
	assert_int_equal(metric, 0x1234);
	assert_true(value == 1.0);
	cctdb_put_profile_index(bytes, 5, 6);
	assert_memory_equal(bytes, "\5\0\0\0\6\0\0\0\0\0\0\0\xee", CCTDB_PROFILE_INDEX_BYTES + 1);
	cctdb_get_profile_index(bytes, &id, &start);
	assert_true(id == 5 && start == 6);
	cctdb_put_cct_value(bytes, 5, 1.0);
	assert_memory_equal(bytes, "\5\0\0\0\0\0\0\0\0\0\xf0\x3f\xee", CCTDB_CCT_VALUE_BYTES + 1);
	cctdb_get_cct_value(bytes, &id, &value);
	assert_true(id == 5 && value == 1.0);
	memset(bytes, 0xee, sizeof bytes);
	cctdb_put_cct_index(bytes, 5, 6);
	assert_memory_equal(bytes, "\5\0\6\0\0\0\0\0\0\0\xee", CCTDB_CCT_INDEX_BYTES + 1);
	cctdb_get_cct_index(bytes, &metric, &start);
	assert_true(metric == 5 && start == 6);
	cctdb_put_sample(bytes, 0x0102030405060708, 9);
	assert_memory_equal(bytes, "\10\7\6\5\4\3\2\1\11\0\0\0\xee", CCTDB_SAMPLE_BYTES + 1);
	cctdb_get_sample(bytes, &start, &id);
	assert_true(start == 0x0102030405060708 && id == 9);
}

static void blocks_and_tuples(void **state)
{
	const struct cctdb_block in = {10, 0x100, 3, 0x200};
	struct cctdb_block out;
	uint8_t bytes[64];
	(void)state;
	memset(bytes, 0xee, sizeof bytes);
	cctdb_put_profile(bytes, &in, 0x88, true);
	cctdb_get_block(bytes, &out);
	assert_true(out.n_values == 10 && out.values == 0x100 && out.n_indices == 3 &&
		    out.indices == 0x200);
	assert_memory_equal(bytes + 0x20, "\x88\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\xee", 17);
	memset(bytes, 0xee, sizeof bytes);
	const struct cctdb_id ids[] = {{CCTDB_ID_NODE, true, 1, 0xabcd},
				       {CCTDB_ID_THREAD, false, 2, 0}};
	cctdb_put_id_tuple(bytes, ids, 2);
	assert_memory_equal(bytes,
			    "\2\0\0\0\0\0\0\0\1\0\1\0\1\0\0\0\xcd\xab\0\0\0\0\0\0\3\0\0\0\2\0\0\0\2"
			    "\0\0\0\0\0\0\0\xee",
			    41);
}

static void ids_of_values_are_distinct(void **state)
{
	bool seen[3 * CCTDB_IDS_PER_METRIC] = {false};
	(void)state;
	for (uint32_t m = 0; m < 3; m++)
		for (unsigned p = 0; p < CCTDB_N_PARTIALS; p++)
			for (unsigned s = CCTDB_FIRST_SCOPE; s < MODEL_N_SCOPES; s++) {
				uint16_t id = cctdb_statistic_id(m, (enum cctdb_partial)p, s);
				assert_in_range(id, 0, 3 * CCTDB_IDS_PER_METRIC - 1);
				assert_false(seen[id]);
				seen[id] = true;
			}
	assert_int_equal(cctdb_value_id(2, MODEL_EXECUTION),
			 cctdb_statistic_id(2, CCTDB_SUM, MODEL_EXECUTION));
	assert_int_equal(cctdb_statistic_id(CCTDB_MAX_METRICS - 1, CCTDB_MAX, MODEL_EXECUTION),
			 CCTDB_MAX_METRICS * CCTDB_IDS_PER_METRIC - 1);
}

static struct model_total total_of(uint32_t context, double function, double execution, bool own)
{
	struct model_total t = {.context = context, .n_profiles = 1};
	const double values[MODEL_N_SCOPES] = {own ? function : 0, function, function, execution};
	for (unsigned s = 0; s < MODEL_N_SCOPES; s++) {
		t.n_values[s] = values[s] != 0;
		t.sum[s] = t.min[s] = t.max[s] = values[s];
		t.sum_of_squares[s] = values[s] * values[s];
	}
	return t;
}

/* main calls f at an instruction. It was sampled at another one, and f at a line. */
static void the_plan_leaves_out_what_says_nothing(void **state)
{
	const struct model_context contexts[] = {
		{.parent = MODEL_NONE, .subtree_n = 8, .kind = MODEL_CONTEXT_ROOT},
		{.parent = 0, .subtree_n = 7, .kind = MODEL_CONTEXT_ENTRY},
		{.parent = 1,
		 .subtree_n = 6,
		 .kind = MODEL_CONTEXT_FUNCTION,
		 .relation = MODEL_CALL},
		{.parent = 2, .subtree_n = 3, .kind = MODEL_CONTEXT_INSTRUCTION},
		{.parent = 3,
		 .subtree_n = 2,
		 .kind = MODEL_CONTEXT_FUNCTION,
		 .relation = MODEL_CALL},
		{.parent = 4, .subtree_n = 1, .kind = MODEL_CONTEXT_LINE},
		{.parent = 2, .subtree_n = 1, .kind = MODEL_CONTEXT_INSTRUCTION},
		{.parent = 2,
		 .subtree_n = 1,
		 .kind = MODEL_CONTEXT_FUNCTION,
		 .relation = MODEL_CALL},
	};
	const struct model_total totals[] = {total_of(0, 0, 3, false), total_of(1, 0, 3, false),
					     total_of(2, 1, 3, false), total_of(3, 0, 2, false),
					     total_of(4, 2, 2, false), total_of(5, 2, 2, true),
					     total_of(6, 1, 1, true)};
	const uint32_t none = MODEL_NONE, ids[] = {0, 1, 2, none, 3, 4, 5, 6},
		       blocks[] = {1, 1, 2, none, 5, 5, 6, 7};
	const struct model m = {
		.contexts = contexts, .n_contexts = 8, .totals = totals, .n_totals = 7};
	struct cctdb_plan p;
	(void)state;
	assert_true(cctdb_plan_make(&p, &m));
	assert_int_equal(p.n_contexts, 7);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(p.id_of[i], ids[i]);
		assert_int_equal(p.block_of[i], blocks[i]);
	}
	assert_int_equal(cctdb_plan_id(&p, 3), 2);
	assert_int_equal(cctdb_plan_first_child(&p, 2), 4);
	assert_int_equal(cctdb_plan_next_child(&p, 2, 4), 6);
	assert_int_equal(cctdb_plan_next_child(&p, 2, 6), 7);
	assert_int_equal(cctdb_plan_next_child(&p, 2, 7), 8);
	cctdb_plan_free(&p);
}

static void source_paths_stay_below_src(void **state)
{
	static const struct {
		const char *path, *expected;
	} cases[] = {
		{"/a/b.c", "src/a/b.c"},
		{"/a//b/./c.c", "src/a/b/c.c"},
		{"/a/b/../c.c", "src/a/c.c"},
		{"/../../etc/passwd", "src/etc/passwd"},
		{"/a/..", NULL},
		{"/", NULL},
		{"//", NULL},
		{"/./", NULL},
		{"/a/../.", NULL},
		{"", NULL},
		{".", NULL},
		{"a/b.c", NULL},
		{"[libc.so.6]", NULL},
		{"/..a/...", "src/..a/..."},
		{"/a/../../../b", "src/b"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *found;
		assert_true(source_relative(cases[i].path, &found));
		if (cases[i].expected)
			assert_string_equal(found, cases[i].expected);
		else
			assert_null(found);
		free(found);
	}
}

static void identities_are_distinct(void **state)
{
	(void)state;
	for (int ranks = 0; ranks < 2; ranks++) {
		struct model *m = fixture_make(&(struct fixture_options){.n_processes = 3,
									 .n_threads = 2,
									 .n_metrics = 1,
									 .n_samples = 5,
									 .ranks = ranks});
		struct model_process *processes = (struct model_process *)m->processes;
		if (ranks) /* a shell and what it ran share rank 1 and the node */
			processes[1].rank = processes[2].rank = 1,
			processes[1].host_id = processes[2].host_id;
		struct cctdb_identity *ids = cctdb_identities(m);
		assert_non_null(ids);
		for (uint32_t i = 0; i < m->n_profiles; i++)
			for (uint32_t j = 0; j < i; j++)
				assert_false(ids[i].node == ids[j].node &&
					     ids[i].rank == ids[j].rank &&
					     ids[i].thread == ids[j].thread);
		assert_int_equal(ids[5].rank, ranks ? 1 : 2);
		assert_int_equal(ids[5].thread, ranks ? 3 : 1);
		assert_int_equal(ids[5].node, 1);
		free(ids);
		fixture_free(m);
	}
	struct model *m = fixture_make(&(struct fixture_options){
		.n_processes = 1, .n_threads = 2, .n_metrics = 1, .n_samples = 5});
	struct cctdb_identity *ids = cctdb_identities(m);
	assert_int_equal(ids[1].rank, -1);
	free(ids);
	fixture_free(m);
}

static bool equal(const struct cctdb_identity *a, const struct cctdb_identity *b)
{
	return a->node == b->node && a->rank == b->rank && a->is_queue == b->is_queue &&
	       (a->is_queue ? a->device == b->device && a->context == b->context &&
				      a->stream == b->stream
			    : a->thread == b->thread);
}

static void queues_are_distinct_streams(void **state)
{
	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		struct model *m = fixture_make(&(struct fixture_options){.n_processes = 3,
									 .n_threads = 2,
									 .n_metrics = 1,
									 .n_samples = 5,
									 .n_gpu_ops = 5,
									 .ranks = variant & 1});
		struct model_process *processes = (struct model_process *)m->processes;
		struct model_gpu_queue *queues = (struct model_gpu_queue *)m->gpu_queues;
		if (variant == 1) /* three processes of one rank */
			for (unsigned i = 0; i < 3; i++) {
				processes[i].rank = 1;
				processes[i].host_id = 7;
			}
		if (variant == 2) /* damaged: two queues of one number */
			queues[1].ordinal = 0;
		struct cctdb_identity *ids = cctdb_identities(m);
		assert_non_null(ids);
		for (uint32_t i = 0; i < m->n_profiles; i++) {
			assert_int_equal(ids[i].is_queue,
					 m->profiles[i].kind == MODEL_PROFILE_QUEUE);
			for (uint32_t j = 0; j < i; j++)
				assert_false(equal(&ids[i], &ids[j]));
		}
		assert_int_equal(ids[2].stream, 0); /* of 2 threads and 3 lanes */
		assert_int_equal(ids[3].stream, 1);
		assert_int_equal(ids[4].stream, 2);
		assert_int_equal(ids[7].context, variant == 1 ? 1 : 0);
		assert_int_equal(ids[5].thread, variant == 1 ? 2 : 0);
		free(ids);
		fixture_free(m);
	}
}

static void means_are_written_as_sums(void **state)
{
	static const struct {
		const char *name, *expected;
		enum model_metric_kind kind;
		enum model_unit unit;
	} cases[] = {
		{"GKER:BLKS", "GKER:BLKS_ACUMU", MODEL_METRIC_GPU_MEAN, MODEL_COUNT},
		{"GKER:STMEM (B)", "GKER:STMEM_ACUMU (B)", MODEL_METRIC_GPU_MEAN, MODEL_BYTES},
		{"GKER:COUNT", "GKER:COUNT", MODEL_METRIC_GPU_COUNT, MODEL_COUNT},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *name = names_metric(&(struct model_metric){.kind = (uint8_t)cases[i].kind,
								 .unit = (uint8_t)cases[i].unit,
								 .name = cases[i].name});
		assert_string_equal(name, cases[i].expected);
		free(name);
	}
}

static unsigned count_entries(const char *path)
{
	unsigned n = 0;
	DIR *d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

/* Every limit on the size of a file up to success: each failure leaves the directory empty. */
static void failures_leave_nothing(void **state)
{
	char dir[] = "/tmp/test_sink_cctdb.XXXXXX";
	struct model *m = fixture_make(&(struct fixture_options){.n_processes = 1,
								 .n_threads = 2,
								 .n_metrics = 1,
								 .n_samples = 800,
								 .traces = true,
								 .source = "/proc/self/exe"});
	struct rlimit old, limit;
	unsigned n_failures = 0;
	(void)state;
	assert_non_null(mkdtemp(dir));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (rlim_t size = 0;; size += 1500) {
		limit = (struct rlimit){size, old.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		uint64_t before = log_n_errors();
		enum status status = sink_cctdb.write(
			m, &(struct sink_options){.directory = dir, .n_workers = 2});
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		if (status == STATUS_OK)
			break;
		n_failures++;
		assert_int_equal(status, STATUS_IO);
		assert_true(log_n_errors() > before);
		assert_int_equal(count_entries(dir), 0);
		assert_true(size < 100 << 20);
		if (size > 60000)
			size += 1 << 20; /* only the copy of the source is so large */
	}
	assert_true(n_failures > 5);
	assert_int_equal(count_entries(dir), 6);
	assert_int_equal(sink_cctdb.write(m, &(struct sink_options){.directory = dir}),
			 STATUS_IO); /* exists: refused, and left as it was */
	assert_int_equal(count_entries(dir), 6);
	fixture_free(m);
	outdir_remove(dir);
}

/* ---- copies of source files ---- */

enum { SOURCES = 8, LARGE = 300000 };

/* A model of a program whose lines are in these files, and a place for its database. */
struct sources {
	char top[32], *database, *paths[SOURCES];
	struct model_file files[SOURCES];
	struct model_context contexts[SOURCES];
	struct model_metric metric;
	struct model_total totals[SOURCES];
	struct model m;
};

static void write_file(const char *path, size_t n_bytes)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < n_bytes; i++)
		fputc('x', f);
	assert_int_equal(fclose(f), 0);
}

static void make_directory(const char *path)
{
	assert_int_equal(mkdir(path, 0777), 0);
}

static void begin_sources(struct sources *s)
{
	*s = (struct sources){.top = "/tmp/test_sink_cctdb.XXXXXX"};
	assert_non_null(mkdtemp(s->top));
	s->database = outfile_path(s->top, "db");
	make_directory(s->database);
	s->m.files = s->files;
	s->m.contexts = s->contexts;
	s->m.metrics = &s->metric;
	s->m.n_metrics = 1;
	s->m.totals = s->totals;
}

static void add_source(struct sources *s, const char *name)
{
	const uint32_t i = s->m.n_files++;
	s->files[i].path = s->paths[i] = outfile_path(s->top, name);
	s->contexts[i] = (struct model_context){.kind = MODEL_CONTEXT_LINE, .file = i};
	s->totals[i] = total_of(i, 0, i ? 1 : 100, false); /* context 0 is the whole */
	s->m.n_contexts = s->m.n_files;
	s->m.n_totals = s->m.n_files;
}

static void end_sources(struct sources *s)
{
	for (uint32_t i = 0; i < s->m.n_files; i++)
		free(s->paths[i]);
	free(s->database);
	outdir_remove(s->top);
}

/* The cause why copies cannot be written is said once, however many workers meet it. */
static void a_cause_is_said_once(void **state)
{
	struct sources s;
	struct cctdb_sources copied;
	struct rlimit old;
	(void)state;
	begin_sources(&s);
	for (char name[] = "0.c"; name[0] < '0' + SOURCES; name[0]++) {
		add_source(&s, name);
		write_file(s.paths[s.m.n_files - 1], LARGE);
	}
	const struct sink_options o = {.directory = s.database, .n_workers = SOURCES};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (unsigned i = 0; i < 30; i++) {
		const uint64_t before = log_n_errors();
		const struct rlimit limit = {LARGE - 1, old.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		const enum status status = cctdb_copy_sources(&s.m, &o, &copied);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_int_equal(status, STATUS_IO);
		assert_int_equal(log_n_errors(), before + 1);
		assert_int_equal(count_entries(s.database), 0);
	}
	assert_int_equal(cctdb_copy_sources(&s.m, &o, &copied), STATUS_OK);
	for (uint32_t i = 0; i < SOURCES; i++)
		assert_non_null(copied.relative[i]);
	cctdb_sources_free(&copied);
	end_sources(&s);
}

static void a_file_that_hardly_matters_is_not_copied(void **state)
{
	struct sources s;
	struct cctdb_sources copied;
	(void)state;
	begin_sources(&s);
	for (char name[] = "0.c"; name[0] < '3'; name[0]++) {
		add_source(&s, name);
		write_file(s.paths[s.m.n_files - 1], 1);
	}
	s.totals[2].sum[MODEL_EXECUTION] = 0.49;
	assert_int_equal(
		cctdb_copy_sources(&s.m, &(struct sink_options){.directory = s.database}, &copied),
		STATUS_OK);
	assert_non_null(copied.relative[1]);
	assert_null(copied.relative[2]);
	cctdb_sources_free(&copied);
	end_sources(&s);
}

/*
 * A directory of the original program is a file now. Its sources are in an archive. They are copied
 * in any order, with any number of workers.
 */
static void a_file_gives_way_to_a_directory(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct sources s;
		struct cctdb_sources copied;
		char archived[160], *archive;
		const char *below = i & 2 ? "a/c/b.c" : "a/b.c";
		begin_sources(&s);
		add_source(&s, i & 1 ? below : "a");
		add_source(&s, i & 1 ? "a" : below);
		add_source(&s, "ab.c");
		write_file(s.paths[i & 1], 1);
		write_file(s.paths[2], 1);
		archive = outfile_path(s.top, "archive");
		snprintf(archived, sizeof archived, "mkdir -p %s/src%s/a/c", archive, s.top);
		assert_int_equal(system(archived), 0);
		snprintf(archived, sizeof archived, "%s/src%s", archive, s.paths[!(i & 1)]);
		write_file(archived, 2);
		const struct sink_options o = {.directory = s.database,
					       .n_workers = 1 + i / 2,
					       .source_dirs = &archive,
					       .n_source_dirs = 1};
		assert_int_equal(cctdb_copy_sources(&s.m, &o, &copied), STATUS_OK);
		assert_null(copied.relative[i & 1]);
		assert_non_null(copied.relative[!(i & 1)]);
		assert_non_null(copied.relative[2]);
		cctdb_sources_free(&copied);
		free(archive);
		end_sources(&s);
	}
}

static void the_files_hold_what_their_headers_say(void **state)
{
	static const char *const names[CCTDB_N_FILES] = {"meta.db", "profile.db", "cct.db",
							 "trace.db"};
	char dir[] = "/tmp/test_sink_cctdb.XXXXXX";
	struct model *m = fixture_make(&(struct fixture_options){.n_processes = 2,
								 .n_threads = 2,
								 .n_metrics = 2,
								 .n_samples = 50,
								 .traces = true,
								 .recursion = 300,
								 .loops = true});
	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(
		sink_cctdb.write(m, &(struct sink_options){.directory = dir, .n_workers = 3}),
		STATUS_OK);
	for (unsigned i = 0; i < CCTDB_N_FILES; i++) {
		struct cctdb_section sections[CCTDB_MAX_SECTIONS];
		struct mapfile f;
		char *path = outfile_path(dir, names[i]);
		assert_int_equal(mapfile_open(path, &f), STATUS_OK);
		assert_true(cctdb_get_header(f.bytes, f.n_bytes, (enum cctdb_file)i, sections));
		assert_true(cctdb_get_footer(f.bytes + f.n_bytes - CCTDB_FOOTER_BYTES,
					     (enum cctdb_file)i));
		for (size_t s = 0; s < cctdb_header_bytes((enum cctdb_file)i) / 16 - 1; s++) {
			assert_int_equal(sections[s].pointer % 8, 0);
			assert_in_range(sections[s].pointer + sections[s].bytes, 1,
					f.n_bytes - CCTDB_FOOTER_BYTES);
		}
		mapfile_close(&f);
		free(path);
	}
	fixture_free(m);
	outdir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header),
		cmocka_unit_test(context),
		cmocka_unit_test(packed_records),
		cmocka_unit_test(blocks_and_tuples),
		cmocka_unit_test(ids_of_values_are_distinct),
		cmocka_unit_test(the_plan_leaves_out_what_says_nothing),
		cmocka_unit_test(source_paths_stay_below_src),
		cmocka_unit_test(a_cause_is_said_once),
		cmocka_unit_test(a_file_gives_way_to_a_directory),
		cmocka_unit_test(a_file_that_hardly_matters_is_not_copied),
		cmocka_unit_test(identities_are_distinct),
		cmocka_unit_test(queues_are_distinct_streams),
		cmocka_unit_test(means_are_written_as_sums),
		cmocka_unit_test(the_files_hold_what_their_headers_say),
		cmocka_unit_test(failures_leave_nothing),
	};
	log_set_program("test_sink_cctdb");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
