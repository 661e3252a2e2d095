/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of report.html, read back with zlib, and the tree that a page carries. */
#include "hpcprof-lite/sink/html/html_reduce.h"
#include "hpcprof-lite/sink/html/html_section.h"
#include "tests/unit/sink/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

/* The value of a base64 digit; -1 for any other character. */
static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Decodes in place. Returns the number of bytes. */
static size_t decode(char *text, size_t n)
{
	size_t n_out = 0;
	unsigned word = 0, bits = 0;
	for (size_t i = 0; i < n && text[i] != '='; i++) {
		assert_true(digit(text[i]) >= 0);
		word = word << 6 | (unsigned)digit(text[i]);
		if ((bits += 6) >= 8)
			text[n_out++] = (char)(word >> (bits -= 8));
	}
	return n_out;
}

/* Writes a page of one section with `n` bytes. The caller frees the text. */
static char *write_section(const uint8_t *bytes, size_t n, unsigned n_workers, size_t *n_text)
{
	char directory[] = "/tmp/test_sink_html.XXXXXX", path[64];
	struct outfile file;
	struct outstream out;
	struct html_packer packer = {.out = &out, .n_workers = n_workers};
	struct html_section section;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(outfile_create(&file, directory, "page"), STATUS_OK);
	assert_int_equal(outstream_open(&out, &file, 0, 256 << 10), STATUS_OK);
	html_section_begin(&section, &packer, "x");
	html_put(&section, bytes, n / 3);
	html_put(&section, bytes + n / 3, n - n / 3);
	assert_int_equal(html_section_end(&section), STATUS_OK);
	assert_int_equal(html_pack_end(&packer), STATUS_OK);
	assert_int_equal(outstream_close(&out), STATUS_OK);
	assert_int_equal(outfile_close(&file), STATUS_OK);
	snprintf(path, sizeof path, "%s/page", directory);
	FILE *f = fopen(path, "r");
	size_t room = n + n / 2 + 4096;
	char *text = malloc(room);
	assert_non_null(f);
	assert_non_null(text);
	*n_text = fread(text, 1, room, f);
	fclose(f);
	outdir_remove(directory);
	return text;
}

/* Reads a section back in place. */
static void check_bytes(char *text, size_t n_text, const uint8_t *bytes, size_t n)
{
	static const char head[] = "<script type=\"application/octet-stream\" data-section=\"x\">";
	static const char tail[] = "</script>\n";
	char *back = malloc(n + 1);
	assert_non_null(back);
	assert_memory_equal(text, head, sizeof head - 1);
	assert_memory_equal(text + n_text - (sizeof tail - 1), tail, sizeof tail - 1);
	char *data = text + sizeof head - 1;
	size_t n_packed = decode(data, n_text - (sizeof head - 1) - (sizeof tail - 1));
	z_stream z = {.next_in = (Bytef *)data,
		      .avail_in = (uInt)n_packed,
		      .next_out = (Bytef *)back,
		      .avail_out = (uInt)n + 1};
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END); /* checks the sum and the length */
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.total_out, n);
	assert_memory_equal(back, bytes, n);
	inflateEnd(&z);
	free(back);
}

/* The page has the bytes, and is the same for any number of workers. */
static void check_section(const uint8_t *bytes, size_t n)
{
	size_t n_text, n_other;
	char *text = write_section(bytes, n, 1, &n_text);
	for (unsigned n_workers = 2; n_workers < 5; n_workers += 2) {
		char *other = write_section(bytes, n, n_workers, &n_other);
		assert_int_equal(n_other, n_text);
		assert_memory_equal(other, text, n_text);
		free(other);
	}
	check_bytes(text, n_text, bytes, n);
	free(text);
}

static void sections_come_back(void **state)
{
	enum { PIECE = HTML_PIECE_BYTES, MOST = 9 * PIECE + 5 };
	static const size_t sizes[] = {
		0, 1, 2, 3, 4, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 1, 8 * PIECE, MOST};
	uint8_t *bytes = malloc(MOST);
	uint32_t random = 1;
	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < MOST; i++) /* cannot be compressed: fills the room for a piece */
		bytes[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		check_section(bytes, sizes[i]);
	memset(bytes, 0, MOST);
	check_section(bytes, MOST);
	free(bytes);
}

static void check_tree(const struct model *m, uint32_t max_contexts, uint64_t max_values)
{
	struct html_tree t;
	assert_true(html_tree_make(m, max_contexts, max_values, &t));
	assert_true(t.n <= max_contexts);
	assert_true(t.is_kept[0] && t.kept[0] == 0);
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		uint32_t parent = m->contexts[i].parent;
		if (t.is_kept[i]) {
			assert_int_equal(t.kept[i], n++);
			assert_true(i == 0 || t.is_kept[parent]);
		} else {
			assert_int_equal(t.kept[i], t.kept[parent]);
		}
	}
	assert_int_equal(n, t.n);
	html_tree_free(&t);
}

static void trees_keep_callers(void **state)
{
	struct model *m = fixture_make(&(struct fixture_options){.n_processes = 2,
								 .n_threads = 2,
								 .n_metrics = 2,
								 .n_extra = 100,
								 .n_gpu_ops = 20,
								 .traces = true});
	(void)state;
	for (uint32_t most = 1; most < m->n_contexts + 5; most += 3)
		check_tree(m, most, UINT64_MAX);
	struct html_tree all;
	assert_true(html_tree_make(m, UINT32_MAX, UINT64_MAX, &all));
	assert_int_equal(all.n, m->n_contexts);
	assert_true(all.least == 0);
	html_tree_free(&all);
	fixture_free(m);
}

/* The values of profiles at contexts that the tree keeps. */
static uint64_t count_kept(const struct model *m, const struct html_tree *t)
{
	uint64_t n = 0;
	for (uint32_t p = 0; p < m->n_profiles; p++)
		for (size_t i = 0; i < m->profiles[p].n_values; i++) {
			const struct model_value *v = &m->profiles[p].values[i];
			n += t->is_kept[v->context] && v->at[MODEL_POINT] != 0;
		}
	return n;
}

static void trees_keep_few_values(void **state)
{
	struct model *m = fixture_make(&(struct fixture_options){.n_processes = 2,
								 .n_threads = 2,
								 .n_metrics = 1,
								 .n_extra = 1000,
								 .n_samples = 20000,
								 .traces = true});
	struct html_tree all, few;
	(void)state;
	assert_true(html_tree_make(m, UINT32_MAX, UINT64_MAX, &all));
	const uint64_t n = count_kept(m, &all);
	assert_true(html_tree_make(m, UINT32_MAX, n, &few)); /* values of callers do not count */
	assert_int_equal(few.n, m->n_contexts);
	html_tree_free(&few);
	assert_true(html_tree_make(m, UINT32_MAX, n - 1, &few));
	assert_true(few.n < m->n_contexts);
	assert_in_range(count_kept(m, &few), 1, n - 1);
	html_tree_free(&few);
	html_tree_free(&all);
	fixture_free(m);
}

/* Whether each sample is taken, as '1' or '0'. Contexts: 1 works, 2 and 3 wait. */
static void samples_keep_waits_whole(void **state)
{
	struct model_metric metrics[] = {{.measures = MODEL_EVENT_CPUTIME},
					 {.measures = MODEL_EVENT_OFFCPU}};
	struct model_function functions[] = {{.wait = 0}, {.wait = 1}};
	struct model_context contexts[] = {
		{.function = MODEL_NONE}, {.function = 0}, {.function = 1}, {.function = 1}};
	const struct model m = {.metrics = metrics, .functions = functions, .contexts = contexts};
	static const struct {
		uint32_t context, metric;
		bool is_taken;
	} samples[] = {
		{1, 0, true},  {1, 0, false}, {2, 1, true},  {1, 0, false},
		{1, 0, true},  {2, 1, true},                 /* a wait with samples */
		{2, 1, false}, {1, 0, true},  {2, 1, false}, /* the next is left out */
		{2, 1, false}, {0, 0, false}, {1, 0, true},  /* no second record */
		/* nor has this; the next one decides for itself */
		{2, 1, false}, {3, 1, true},  {3, 1, true},
		{1, 1, false}, {2, 1, true},  {3, 1, false}, {2, 1, true},
	};
	struct html_thinning every = {.stride = 1}, second = {.stride = 2};
	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		const struct model_sample s = {.context = samples[i].context,
					       .metric = samples[i].metric};
		assert_true(html_takes_sample(&every, &m, &s));
		assert_int_equal(html_takes_sample(&second, &m, &s), samples[i].is_taken);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_come_back),
		cmocka_unit_test(trees_keep_callers),
		cmocka_unit_test(trees_keep_few_values),
		cmocka_unit_test(samples_keep_waits_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
