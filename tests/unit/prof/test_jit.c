/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/load/jit/, with what node, Java and LLVM wrote (tests/golden/jit), and of
 * hpcprof-lite/attribute/merge/jit_split.c, which tells samples apart by time.
 */
#include "hpcprof-lite/attribute/merge/jit_names.h"
#include "hpcprof-lite/load/jit/load_jit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- reading ---- */

static uint8_t *read_golden(const char *name, size_t *n)
{
	char path[4096];
	const char *top = getenv("top_srcdir");
	snprintf(path, sizeof path, "%s/tests/golden/jit/%s", top ? top : ".", name);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	uint8_t *bytes = malloc(1 << 20);
	*n = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

static void read_dump(struct jit_names *names, const char *file)
{
	size_t n;
	uint8_t *bytes = read_golden(file, &n);
	assert_true(jit_read_dump(names, bytes, n));
	jit_sort(names);
	free(bytes);
}

static void read_map(struct jit_names *names, const char *file)
{
	size_t n;
	uint8_t *bytes = read_golden(file, &n);
	assert_true(jit_read_map(names, bytes, n));
	jit_sort(names);
	free(bytes);
}

struct found {
	const struct jit_names *names;
	char text[512];
	const struct jit_code *last;
	unsigned n;
};

static bool note(void *arg, const struct jit_code *code)
{
	struct found *f = arg;
	size_t n = strlen(f->text);
	snprintf(f->text + n, sizeof f->text - n, "%s%s", n ? "|" : "",
		strtab_get(&f->names->strings, code->name));
	f->last = code;
	return ++f->n < 100;
}

static struct found find(const struct jit_names *names, const jit_list *list, uint64_t addr)
{
	struct found f = {.names = names};
	jit_find(list, addr, note, &f);
	return f;
}

static void test_java_map(void **state)
{
	(void)state;
	struct jit_names names = {0};
	read_map(&names, "java-17.map");
	assert_int_equal(names.map.n, 6);
	assert_string_equal(find(&names, &names.map, 0x7f29acec7640).text, "long J.fib(int)");
	assert_string_equal(find(&names, &names.map, 0x7f29acec776f).text, "long J.fib(int)");
	assert_string_equal(find(&names, &names.map, 0x7f29acec7770).text, "");
	assert_string_equal(find(&names, &names.map, 0x7f29ac940b80 + 0x17ddf).text, "Interpreter");
	jit_names_free(&names);
}

static void test_node_map(void **state)
{
	(void)state;
	struct jit_names names = {0};
	read_map(&names, "node-20.map");
	assert_int_equal(names.map.n, 22);
	assert_string_equal(find(&names, &names.map, 0x7fb94c005b80).text,
		"JS:*fib /tmp/example/fib.js:1:13");
	jit_names_free(&names);
}

/* Nothing but whole lines with three fields counts. */
static void test_odd_map(void **state)
{
	(void)state;
	static const char text[] = "1000 10 one\r\n"
				   "0x2000 0x10   two words \n"
				   "3000 0 empty\n"
				   "nothing\n"
				   "\n"
				   "4000 10\n"
				   "4000 10 \n"
				   "g000 10 x\n"
				   "5000 ffffffffffffffff over\n"
				   "11112222333344445 1 long\n"
				   "1008 10 three\n"
				   "6000 10 cut off";
	struct jit_names names = {0};
	assert_true(jit_read_map(&names, (const uint8_t *)text, sizeof text - 1));
	jit_sort(&names);
	assert_int_equal(names.map.n, 3);
	assert_string_equal(find(&names, &names.map, 0x1000).text, "one");
	assert_string_equal(find(&names, &names.map, 0x100f).text, "one|three");
	assert_string_equal(find(&names, &names.map, 0x1010).text, "three");
	assert_string_equal(find(&names, &names.map, 0x2008).text, "two words ");
	jit_names_free(&names);
}

/* Against a search through all, with many ranges in and over each other. */
static void test_search(void **state)
{
	(void)state;
	struct jit_names names = {0};
	uint64_t seed = 1;
	for (unsigned i = 0; i < 300; i++) {
		struct jit_code *c = vec_push(&names.map);
		seed = hash_u64(seed + i);
		c->start = seed % 1000;
		c->end = c->start + 1 + hash_u64(seed) % (i % 10 == 0 ? 500 : 20);
		c->name = strtab_add_z(&names.strings, "x");
	}
	jit_sort(&names);
	for (uint64_t addr = 0; addr < 1600; addr++) {
		unsigned n = 0;
		for (size_t i = 0; i < names.map.n; i++)
			n += names.map.at[i].start <= addr && addr < names.map.at[i].end;
		assert_int_equal(find(&names, &names.map, addr).n, n);
	}
	jit_names_free(&names);
}

static void check_line(const struct jit_names *names, uint64_t addr, const char *file,
	uint32_t line)
{
	uint32_t f = JIT_NO_FILE, l = 0;
	struct found at = find(names, &names->dump, addr);
	assert_int_equal(at.n, 1);
	assert_int_equal(jit_line_at(names, at.last, addr, &f, &l), line != 0);
	assert_int_equal(l, line);
	if (line)
		assert_string_equal(strtab_get(&names->strings, f), file);
}

static void test_llvm_dump(void **state)
{
	(void)state;
	struct jit_names names = {0};
	read_dump(&names, "llvm-14.dump");
	assert_int_equal(names.dump.n, 2);
	assert_true(names.entries_are_shifted);
	const struct jit_code *spin = &names.dump.at[0], *inner = &names.dump.at[1];
	assert_string_equal(strtab_get(&names.strings, inner->name), "inner");
	assert_true(inner->time_ns > 0);
	check_line(&names, inner->start, "/tmp/example/f.c", 4);
	check_line(&names, inner->start + 60, "/tmp/example/f.c", 6);
	check_line(&names, spin->start, "/tmp/example/f.c", 8);
	check_line(&names, spin->start + 5, "/tmp/example/f.c", 10);
	check_line(&names, spin->start + 10, NULL, 0); /* LLVM says line 0 */
	jit_names_free(&names);
}

static void test_node_dump(void **state)
{
	(void)state;
	struct jit_names names = {0};
	read_dump(&names, "node-20.dump");
	assert_int_equal(names.dump.n, 7);
	assert_string_equal(find(&names, &names.dump, 0x7fb94c005b80).text,
		"JS:*fib /tmp/example/fib.js:1:13");
	for (size_t i = 0; i < names.dump.n; i++) /* garbage, or bytecodes */
		assert_int_equal(names.dump.at[i].n_lines, 0);
	jit_names_free(&names);
}

/* ---- jitdumps that are made up ---- */

struct made {
	uint8_t bytes[4096];
	size_t n;
};

static void put(struct made *m, const void *bytes, size_t n)
{
	assert_true(m->n + n <= sizeof m->bytes);
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
}

static void put32(struct made *m, uint32_t v)
{
	put(m, &v, sizeof v);
}

static void put64(struct made *m, uint64_t v)
{
	put(m, &v, sizeof v);
}

static void begin(struct made *m, uint64_t flags)
{
	*m = (struct made){.n = 0};
	put32(m, 0x4A695444);
	put32(m, 1);
	put32(m, 40);
	put32(m, 62);
	put32(m, 0);
	put32(m, 1);
	put64(m, 0);
	put64(m, flags);
}

static void put_load(struct made *m, uint64_t time, const char *name, uint64_t start,
	uint64_t n_bytes, uint64_t index)
{
	put32(m, 0);
	put32(m, (uint32_t)(16 + 40 + strlen(name) + 1));
	put64(m, time);
	put64(m, 1);
	put64(m, start);
	put64(m, start);
	put64(m, n_bytes);
	put64(m, index);
	put(m, name, strlen(name) + 1);
}

static void put_move(struct made *m, uint64_t time, uint64_t from, uint64_t to, uint64_t n_bytes,
	uint64_t index)
{
	put32(m, 1);
	put32(m, 16 + 48);
	put64(m, time);
	put64(m, 1);
	put64(m, to);
	put64(m, from);
	put64(m, to);
	put64(m, n_bytes);
	put64(m, index);
}

static void put_lines(struct made *m, uint64_t code, uint64_t first, const char *first_file,
	uint64_t second)
{
	put32(m, 2);
	put32(m, (uint32_t)(16 + 16 + 32 + strlen(first_file) + 1 + 2));
	put64(m, 5);
	put64(m, code);
	put64(m, 2);
	put64(m, first);
	put64(m, 10);
	put(m, first_file, strlen(first_file) + 1);
	put64(m, second);
	put64(m, 11);
	put(m, "\xff", 2);
}

static void test_made_dump(void **state)
{
	(void)state;
	struct jit_names names = {0};
	struct made m;
	begin(&m, 0);
	put_lines(&m, 0x1000, 0x1000, "file:///a.js", 0x1008);
	put_load(&m, 5, "f", 0x1000, 0x10, 7);
	put_move(&m, 9, 0x1000, 0x2000, 0x10, 7);
	put_move(&m, 9, 0x1234, 0x3000, 0x10, 7);   /* of what is not there */
	put_lines(&m, 0x4000, 0x4000, "b.js", 0x3fff); /* falling */
	put_load(&m, 5, "g", 0x4000, 0x10, 8);
	put_lines(&m, 0x5000, 0x5000, "b.js", 0x5100); /* beyond the code */
	put_load(&m, 5, "h", 0x5000, 0x10, 9);
	put_lines(&m, 0x6000, 0x6000, "b\x01.js", 0x6008);
	put_load(&m, 5, "i", 0x6000, 0x10, 10);
	put_load(&m, 5, "huge", 0x7000, UINT64_MAX, 11);
	put_lines(&m, 0x8000, 0x8000, "c.js", 0x8008);
	put_load(&m, 5, "other", 0x8800, 0x10, 12);
	assert_true(jit_read_dump(&names, m.bytes, m.n - 3)); /* the last record is cut off */
	jit_sort(&names);
	assert_int_equal(names.dump.n, 5);
	assert_false(names.entries_are_shifted);
	check_line(&names, 0x1007, "/a.js", 10);
	check_line(&names, 0x1008, "/a.js", 11);
	assert_string_equal(find(&names, &names.dump, 0x200f).text, "f");
	assert_int_equal(find(&names, &names.dump, 0x2000).last->time_ns, 9);
	for (uint64_t addr = 0x2000; addr <= 0x6000; addr += 0x1000)
		if (addr != 0x3000)
			check_line(&names, addr, NULL, 0);
	assert_int_equal(find(&names, &names.dump, 0x3000).n, 0);
	jit_names_free(&names);
}

static void test_processor_times(void **state)
{
	(void)state;
	struct jit_names names = {0};
	struct made m;
	begin(&m, 1); /* of the processor's counter: they cannot be compared with ours */
	put_load(&m, 5, "f", 0x1000, 0x10, 7);
	assert_true(jit_read_dump(&names, m.bytes, m.n));
	assert_int_equal(names.dump.at[0].time_ns, 0);
	jit_names_free(&names);
	names = (struct jit_names){0};
	m.bytes[4] = 2; /* another version */
	assert_true(jit_read_dump(&names, m.bytes, m.n));
	assert_int_equal(names.dump.n, 0);
	jit_names_free(&names);
}

/* ---- samples told apart by time ---- */

enum { JIT = 3, ENTRY = 1, CALLER, MIXED, CHILD, PLAIN, N_NODES };

struct run {
	struct load_file file;
	struct load_thread thread;
	struct jit_addresses addresses;
	struct msr_node nodes[N_NODES];
	struct msr_cell cells[4];
	uint64_t trace[16];
	struct msr_metric metric;
};

/*
 * entry > caller > mixed (f until 100, then g) > child, in a module; and entry > plain (JIT code of
 * one function). mixed and child have samples on both sides of 100.
 */
static void make_run(struct run *r)
{
	*r = (struct run){.file.header.start_mono_ns = 0};
	const uint64_t unknown = MSR_MODULE_UNKNOWN;
	r->nodes[ENTRY] = (struct msr_node){.addr = msr_addr_make(MSR_MODULE_NONE, MSR_ENTRY_MAIN,
		false), .parent = 0};
	r->nodes[CALLER] =
		(struct msr_node){.addr = msr_addr_make(1, 0x10, false), .parent = ENTRY};
	r->nodes[MIXED] = (struct msr_node){.addr = msr_addr_make((uint16_t)unknown, 0x1000, true),
		.parent = CALLER};
	r->nodes[CHILD] = (struct msr_node){.addr = msr_addr_make(1, 0x20, false), .parent = MIXED};
	r->nodes[PLAIN] = (struct msr_node){.addr = msr_addr_make((uint16_t)unknown, 0x2000, false),
		.parent = ENTRY};
	r->cells[0] = (struct msr_cell){.node = MIXED, .count = 4, .sum = 41};
	r->cells[1] = (struct msr_cell){.node = CHILD, .count = 3, .sum = 30};
	r->cells[2] = (struct msr_cell){.node = PLAIN, .count = 1, .sum = 9};
	r->cells[3] = (struct msr_cell){.node = CALLER, .count = 1, .sum = 8};
	r->file.metrics[0] = &r->metric;
	r->thread.n_nodes = N_NODES;
	r->thread.node_to = calloc(N_NODES, sizeof *r->thread.node_to);
	*vec_push(&r->thread.nodes) = (struct load_part){.content = (uint8_t *)r->nodes,
		.n_bytes = sizeof r->nodes};
	*vec_push(&r->thread.cells) = (struct load_part){.content = (uint8_t *)r->cells,
		.n_bytes = sizeof r->cells};
	r->addresses.module = JIT;
	map_put(&r->addresses.ids, 0x1000, 0, 0);
	map_put(&r->addresses.ids, 0x2000, 0, 1);
	*vec_push(&r->addresses.list) = (struct jit_address){.place = 2, .n_choices = 2};
	*vec_push(&r->addresses.list) = (struct jit_address){.place = 3};
	*vec_push(&r->addresses.choices) = (struct jit_choice){50, 0};
	*vec_push(&r->addresses.choices) = (struct jit_choice){100, 1};
}

/* Time differences and nodes; a difference of 0 with node 0 ends. */
static void set_trace(struct run *r, const uint32_t (*samples)[2], size_t n)
{
	for (size_t i = 0; i < n; i++)
		r->trace[i] = (uint64_t)samples[i][0] << 32 | samples[i][1];
	*vec_push(&r->thread.trace) = (struct load_part){.content = (uint8_t *)r->trace,
		.n_bytes = n * sizeof r->trace[0]};
}

static void free_run(struct run *r)
{
	for (size_t i = 0; i < r->file.owned.n; i++)
		free(r->file.owned.at[i]);
	vec_free(&r->file.owned);
	vec_free(&r->thread.nodes);
	vec_free(&r->thread.cells);
	vec_free(&r->thread.trace);
	free(r->thread.node_to);
	map_free(&r->addresses.ids);
	vec_free(&r->addresses.list);
	vec_free(&r->addresses.choices);
}

static const struct msr_node *nodes_of(const struct run *r)
{
	return (const void *)r->thread.nodes.at[0].content;
}

/*
 * Count and sum of the cells whose path has the place in it (or is that node), and which are of the
 * node `leaf` by address.
 */
static void sum_cells(const struct run *r, uint64_t place, msr_addr leaf, uint64_t *n,
	uint64_t *sum)
{
	const struct msr_node *nodes = nodes_of(r);
	const struct msr_cell *cells = (const void *)r->thread.cells.at[0].content;
	*n = *sum = 0;
	for (size_t i = 0; i < r->thread.cells.at[0].n_bytes / sizeof *cells; i++) {
		uint32_t at = cells[i].node;
		if (leaf && nodes[at].addr != leaf)
			continue;
		while (at && nodes[at].addr != msr_addr_make(JIT, place, true))
			at = nodes[at].parent;
		if (at || place == UINT64_MAX) {
			*n += cells[i].count;
			*sum += cells[i].sum;
		}
	}
}

static void test_split(void **state)
{
	(void)state;
	static const uint32_t samples[][2] = {{40, MIXED}, {20, CHILD}, {10, MIXED}, {20, PLAIN},
		{11, MIXED}, {1, CHILD}, {1, CHILD}, {1, MIXED}, {1, CALLER}};
	struct run r;
	uint64_t n, sum;
	make_run(&r);
	set_trace(&r, samples, sizeof samples / sizeof samples[0]);
	assert_true(jit_rename_nodes(&r.file, &r.thread, &r.addresses));
	assert_int_equal(r.thread.n_nodes, N_NODES + 4);
	assert_int_equal(nodes_of(&r)[PLAIN].addr, msr_addr_make(JIT, 3, false));
	/* before the first time known, too: at 40 */
	sum_cells(&r, 0, msr_addr_make(JIT, 0, true), &n, &sum);
	assert_int_equal(n, 2);
	assert_int_equal(sum, 20); /* half of 41 */
	sum_cells(&r, 1, msr_addr_make(JIT, 1, true), &n, &sum);
	assert_int_equal(n, 2);
	assert_int_equal(sum, 21);
	sum_cells(&r, 0, msr_addr_make(1, 0x20, false), &n, &sum);
	assert_int_equal(n, 1);
	assert_int_equal(sum, 10);
	sum_cells(&r, 1, msr_addr_make(1, 0x20, false), &n, &sum);
	assert_int_equal(n, 2);
	assert_int_equal(sum, 20);
	sum_cells(&r, 2, 0, &n, &sum); /* nothing is left in doubt */
	assert_int_equal(n, 0);
	assert_int_equal(r.thread.node_to[MIXED], LOAD_DAMAGED);
	assert_int_equal(r.thread.node_to[CHILD], LOAD_DAMAGED);
	assert_int_equal(r.thread.node_to[CALLER], 0);
	sum_cells(&r, UINT64_MAX, 0, &n, &sum);
	assert_int_equal(n, 9);
	assert_int_equal(sum, 88);
	const uint64_t *trace = (const void *)r.thread.trace.at[0].content;
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		uint32_t node = (uint32_t)trace[i] & MSR_TRACE_NODE_MAX;
		assert_int_equal(trace[i] >> 32, samples[i][0]);
		assert_int_equal(node < N_NODES, samples[i][1] == PLAIN || samples[i][1] == CALLER);
		assert_true(node < r.thread.n_nodes && nodes_of(&r)[node].parent < node);
	}
	/* the file is as it was */
	assert_memory_equal(&r.trace[0], &(uint64_t){(uint64_t)40 << 32 | MIXED}, 8);
	free_run(&r);
}

/* Without a time line, or with records that were lost, nothing is claimed of the rest. */
static void test_split_in_part(void **state)
{
	(void)state;
	static const uint32_t samples[][2] = {{60, MIXED}, {50, MIXED}};
	struct run r;
	uint64_t n, sum;
	make_run(&r);
	set_trace(&r, samples, 2);
	assert_true(jit_rename_nodes(&r.file, &r.thread, &r.addresses));
	sum_cells(&r, 0, 0, &n, &sum);
	assert_int_equal(n, 1);
	sum_cells(&r, 1, 0, &n, &sum);
	assert_int_equal(n, 1);
	sum_cells(&r, 2, 0, &n, &sum); /* f or g: 2 of mixed, 3 of child */
	assert_int_equal(n, 5);
	assert_int_equal(r.thread.node_to[MIXED], 0);
	assert_int_equal(r.thread.node_to[CHILD], 0);
	sum_cells(&r, UINT64_MAX, 0, &n, &sum);
	assert_int_equal(n, 9);
	assert_int_equal(sum, 88);
	free_run(&r);

	make_run(&r);
	r.file.gpu.is_present = true;
	assert_true(jit_rename_nodes(&r.file, &r.thread, &r.addresses));
	assert_int_equal(r.thread.node_to[MIXED], 0);
	sum_cells(&r, 2, 0, &n, &sum);
	assert_int_equal(n, 7);
	assert_int_equal(sum, 71);
	free_run(&r);
}

/* More trace records than samples, as damage may have it. */
static void test_split_too_many(void **state)
{
	(void)state;
	static const uint32_t samples[][2] = {{60, CHILD}, {1, CHILD}, {1, CHILD}, {50, CHILD},
		{1, CHILD}, {1, CHILD}};
	struct run r;
	uint64_t n, sum;
	make_run(&r);
	set_trace(&r, samples, 6);
	assert_true(jit_rename_nodes(&r.file, &r.thread, &r.addresses));
	sum_cells(&r, UINT64_MAX, 0, &n, &sum);
	assert_int_equal(n, 9);
	assert_int_equal(sum, 88);
	free_run(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_java_map), cmocka_unit_test(test_node_map),
			cmocka_unit_test(test_odd_map), cmocka_unit_test(test_search),
		cmocka_unit_test(test_llvm_dump), cmocka_unit_test(test_node_dump),
			cmocka_unit_test(test_made_dump), cmocka_unit_test(test_processor_times),
		cmocka_unit_test(test_split), cmocka_unit_test(test_split_in_part),
			cmocka_unit_test(test_split_too_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
