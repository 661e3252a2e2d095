/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/code: Zydis against objdump on a function of this program, tools, and the
 * functions of a hand-made model.
 */
#include "common/format/structure.h"
#include "hpcprof-lite/code/code.h"
#include "hpcprof-lite/code/code_tool.h"
#include "hpcprof-lite/code/disassemble.h"
#include "tests/gen/gen_structure.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_BYTES = 512, MUCH_MS = 600000, LITTLE_MS = 300 };

/* Global, so that the compiler keeps it as it is. */
__attribute__((noinline)) double subject(const double *values, int n);
double subject(const double *values, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += values[i] > 1 ? values[i] / 3 : values[i] * 7;
	return sum;
}

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the program comes first */
}

struct code_of_subject {
	struct code_binary binary;
	struct code_hot hot;
	struct strtab strings;
	int64_t left_ms;
};

static void open_subject(struct code_of_subject *s)
{
	uint64_t base = 0;
	*s = (struct code_of_subject){.left_ms = MUCH_MS};
	dl_iterate_phdr(find_base, &base);
	assert_int_equal(mapfile_open("/proc/self/exe", &s->binary.map), STATUS_OK);
	s->binary.header = (const void *)s->binary.map.bytes;
	struct code_range *r = vec_push(&s->hot.ranges);
	r->start = (uint64_t)(uintptr_t)subject - base;
	r->end = r->start + MOST_BYTES;
}

static void close_subject(struct code_of_subject *s)
{
	vec_free(&s->hot.ranges);
	strtab_free(&s->strings);
	mapfile_close(&s->binary.map);
}

static struct disassembly begin(struct code_of_subject *s, const char *tool)
{
	return (struct disassembly){.binary = &s->binary,
				    .hot = &s->hot,
				    .copy = "/proc/self/exe",
				    .tool = tool,
				    .left_ms = &s->left_ms,
				    .strings = &s->strings};
}

static void two_disassemblers_agree(void **state)
{
	struct code_of_subject s;
	char objdump[PATH_MAX], exe[PATH_MAX];
	(void)state;
	open_subject(&s);
	if (!disassemble_zydis.can || !disassemble_zydis.can(&s.binary) ||
	    !code_tool_find("objdump", false, objdump)) {
		close_subject(&s);
		skip();
	}
	struct disassembly ours = begin(&s, NULL), theirs = begin(&s, objdump);
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	assert_true(n > 0);
	exe[n] = '\0';
	theirs.copy = exe;
	assert_true(disassemble_zydis.read(&ours));
	size_t end = 0;
	while (end < ours.lines.n && strcmp(strtab_get(&s.strings, ours.lines.at[end].text), "ret"))
		end++;
	assert_in_range(end, 8, ours.lines.n - 1);
	assert_true(disassemble_objdump.read(&theirs));
	for (size_t i = 0; i <= end; i++) {
		assert_int_equal(ours.lines.at[i].link_addr, theirs.lines.at[i].link_addr);
		assert_true(strtab_get(&s.strings, theirs.lines.at[i].text)[0]);
	}
	assert_memory_equal(strtab_get(&s.strings, theirs.lines.at[end].text), "ret", 3);
	vec_free(&ours.lines);
	vec_free(&theirs.lines);
	close_subject(&s);
}

static void tools_are_found_in_absolute_directories(void **state)
{
	char path[PATH_MAX], before[PATH_MAX];
	(void)state;
	snprintf(before, sizeof before, "%s", getenv("PATH"));
	assert_true(code_tool_find("sh", false, path));
	setenv("PATH", "bin:.::../../bin", 1);
	assert_false(code_tool_find("sh", false, path));
	setenv("PATH", before, 1);
	assert_false(code_tool_find("no-such-tool-of-ours", true, path));
}

static void tools_may_fail(void **state)
{
	static char sh[] = "sh", c[] = "-c", echo[] = "echo one; echo two",
		    no[] = "echo one; exit 3",
		    much[] = "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done";
	struct code_output out = {0};
	int64_t left_ms = MUCH_MS;
	char path[PATH_MAX];
	(void)state;
	assert_true(code_tool_find("sh", false, path));
	assert_true(code_tool_run(path, (char *[]){sh, c, echo, NULL}, &left_ms, &out));
	assert_string_equal(out.at, "one\ntwo\n");
	vec_free(&out);
	assert_false(code_tool_run(path, (char *[]){sh, c, no, NULL}, &left_ms, &out));
	vec_free(&out);
	assert_false(code_tool_run("/no/such/tool", (char *[]){sh, NULL}, &left_ms, &out));
	assert_false(code_tool_run(path, (char *[]){sh, c, much, NULL}, &left_ms, &out));
	assert_in_range(out.n, 1 << 20, 32 << 20);
	assert_in_range(left_ms, 1, MUCH_MS);
	vec_free(&out);
}

/* A process that was killed may still be there, until somebody waits for it. */
static bool goes_on(long pid)
{
	char path[64], state = 'X';
	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	FILE *f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	if (f)
		fclose(f);
	return state != 'X' && state != 'Z';
}

static bool ends(long pid)
{
	for (int i = 0; i < 3000 && goes_on(pid); i++)
		usleep(10000);
	return !goes_on(pid);
}

/* The first closes its output, the second does not; the third is a wrapper that is done. */
static void tools_are_killed_with_their_children(void **state)
{
	static char sh[] = "sh", c[] = "-c",
		    closed[] = "sleep 60 >/dev/null & echo $!; exec >&-; wait",
		    open[] = "sleep 60 & echo $!; wait",
		    wrapper[] = "sleep 60 >/dev/null & echo $!";
	char *const commands[] = {closed, open, wrapper};
	char path[PATH_MAX];
	(void)state;
	assert_true(code_tool_find("sh", false, path));
	for (size_t i = 0; i < 3; i++) {
		struct code_output out = {0};
		int64_t left_ms = i < 2 ? LITTLE_MS : MUCH_MS;
		const bool ok =
			code_tool_run(path, (char *[]){sh, c, commands[i], NULL}, &left_ms, &out);
		assert_int_equal(ok, i == 2);
		assert_int_equal(left_ms > 0, i == 2);
		if (out.n) /* else it was too slow to say whom it started */
			assert_true(ends(strtol(out.at, NULL, 10)));
		vec_free(&out);
	}
}

static void runs_of_a_tool_share_their_time(void **state)
{
	static char sh[] = "sh", c[] = "-c", nap[] = "sleep 0.05";
	struct code_output out = {0};
	int64_t left_ms = MUCH_MS;
	char path[PATH_MAX];
	(void)state;
	assert_true(code_tool_find("sh", false, path));
	assert_true(code_tool_run(path, (char *[]){sh, c, nap, NULL}, &left_ms, &out));
	assert_true(code_tool_run(path, (char *[]){sh, c, nap, NULL}, &left_ms, &out));
	assert_in_range(left_ms, 1, MUCH_MS - 100);
	vec_free(&out);
}

/* The text ends where memory ends: whoever reads on crashes. */
static void comments_of_nvdisasm_end_with_their_line(void **state)
{
	static const char text[] = "\t.section\t.text.k,\"ax\"\n/*0000*/ NOP ;\n/*\n0010*/ x\n";
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct code_of_subject s;
	(void)state;
	open_subject(&s);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0),
	     *at = pages + page - sizeof text;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	memcpy(at, text, sizeof text);
	struct disassembly d = begin(&s, NULL);
	disassemble_read_nvdisasm(&d, at, ".text.k", s.hot.ranges.at[0].start);
	assert_int_equal(d.lines.n, 1);
	assert_string_equal(strtab_get(&s.strings, d.lines.at[0].text), "NOP");
	vec_free(&d.lines);
	munmap(pages, 2 * page);
	close_subject(&s);
}

static void text_is_tidied(void **state)
{
	struct strtab strings = {0};
	struct disassembly d = {.strings = &strings};
	const char *text = "  add\t eax,   1  ", *at = "one\n\ntwo", *end = NULL;
	(void)state;
	disassemble_add(&d, 16, text, strlen(text));
	assert_string_equal(strtab_get(&strings, d.lines.at[0].text), "add eax, 1");
	assert_true(disassemble_next_line(&at, &end) && end - at == 3);
	assert_true(disassemble_next_line(&at, &end) && end == at);
	assert_true(disassemble_next_line(&at, &end) && end - at == 3);
	assert_false(disassemble_next_line(&at, &end));
	vec_free(&d.lines);
	strtab_free(&strings);
}

/*
 * Three static functions f. The first has a copy. The copy, the second and the third have samples;
 * the third is not in the model.
 */
static struct mapfile make_structure(struct structure **s)
{
	struct mapfile map;
	char directory[] = "/tmp/test_disassemble-XXXXXX", structs[64];
	assert_non_null(mkdtemp(directory));
	struct gen_structure *g = gen_structure_new("/bin/x", (const uint8_t *)"id", 2);
	static const char *const paths[] = {"/src/a.c", "/src/b.c", "/src/c.c"};
	uint32_t files[3], f[4];
	for (uint32_t i = 0; i < 3; i++) {
		files[i] = gen_structure_file(g, paths[i]);
		const uint32_t d = gen_structure_definition(g, "f", files[i], 2);
		f[i] = gen_structure_function(g, d, 0x1000 + 0x1000 * i);
		if (i == 0)
			f[3] = gen_structure_function(g, d, 0x4000);
	}
	for (uint32_t i = 0; i < 4; i++)
		gen_structure_interval(g, 0x1000 + 0x1000 * i, f[i], files[i % 3], 3);
	gen_structure_interval(g, 0x5000, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	char *path = gen_structure_close(g, directory);
	assert_int_equal(mapfile_open(path, &map), STATUS_OK);
	assert_int_equal(structure_open(path, map.bytes, map.n_bytes, s), STATUS_OK);
	unlink(path);
	snprintf(structs, sizeof structs, "%s/structs", directory);
	rmdir(structs);
	rmdir(directory);
	free(path);
	return map;
}

static void functions_of_one_name_are_told_apart(void **state)
{
	struct structure *s;
	struct mapfile map = make_structure(&s);
	struct model_module module = {.path = "/bin/x", .code = s};
	struct model_file files[] = {{"/src/a.c"}, {"/src/b.c"}};
	struct model_function functions[] = {
		{.name = "f", .file = 1, .line = 2, .link_addr = 0x2000},
		{.name = "f", .file = 0, .line = 2, .link_addr = 0x1000}};
	struct model_metric metric = {.kind = MODEL_METRIC_SAMPLED};
	struct model_total total = {.sum = {[MODEL_EXECUTION] = 6}};
	struct model_instruction instructions[] = {{.link_addr = 0x2004, .value = 3},
						   {.link_addr = 0x3004, .value = 1},
						   {.link_addr = 0x4004, .value = 2}};
	const struct model m = {.modules = &module,
				.n_modules = 1,
				.files = files,
				.n_files = 2,
				.functions = functions,
				.n_functions = 2,
				.metrics = &metric,
				.n_metrics = 1,
				.totals = &total,
				.n_totals = 1,
				.instructions = instructions,
				.n_instructions = 3};
	static const uint32_t wanted[] = {0, 1, MODEL_NONE};
	const struct code_options o = {.directory = "/no/such/directory"};
	struct code c = {0};
	(void)state;
	assert_true(code_make(&m, &o, &c));
	assert_int_equal(c.functions.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(c.functions.at[i].function, wanted[i]);
	code_free(&c);
	structure_close(s);
	mapfile_close(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_disassemblers_agree),
		cmocka_unit_test(tools_are_found_in_absolute_directories),
		cmocka_unit_test(tools_may_fail),
		cmocka_unit_test(tools_are_killed_with_their_children),
		cmocka_unit_test(runs_of_a_tool_share_their_time),
		cmocka_unit_test(comments_of_nvdisasm_end_with_their_line),
		cmocka_unit_test(text_is_tidied),
		cmocka_unit_test(functions_of_one_name_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
