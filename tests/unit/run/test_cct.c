/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/cct: every inserted path is found again by following parents in the file,
 * however much of it was said to be the same; values and times come back as given; limits are
 * losses that leave the tree usable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/cct/cct.h"
#include "hpcrun-lite/cct/table.h"
#include "hpcrun-lite/store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 64, THREAD = 3 };

static char directory[] = "/tmp/hpctoolkit-lite-cct.XXXXXX";
static struct cct *tree;
static void *memory;

static void start(uint64_t max_bytes, uint32_t max_nodes)
{
	const char *cause = "";
	const struct store_options options = {.directory = directory,
					      .host = "h",
					      .rank = -1,
					      .n_ranks = -1,
					      .pid = 1,
					      .max_bytes = max_bytes};
	const struct cct_options o = {
		.thread = THREAD, .max_depth = DEPTH, .max_nodes = max_nodes};
	if (!store_open(&options, &cause))
		fail_msg("%s", cause);
	memory = aligned_alloc(64, cct_bytes(DEPTH));
	memset(memory, 0, cct_bytes(DEPTH));
	tree = cct_init(memory, &o);
}

static int setup(void **state)
{
	(void)state;
	start(0, 1 << 20);
	return 0;
}

static int teardown(void **state)
{
	char path[4352];
	(void)state;
	cct_forget(tree);
	free(memory);
	snprintf(path, sizeof path, "%s", store_path());
	store_forget();
	unlink(path);
	return 0;
}

/* ---- the tree as it is in the file ---- */

struct image {
	uint8_t *bytes;
	uint64_t n_bytes;
	uint32_t n_nodes, n_cells, n_trace;
	struct msr_node nodes[400000];
	struct msr_cell cells[100000];
	struct {
		uint64_t ns;
		uint32_t node, metric;
	} trace[400000];
};
static struct image image;

static void read_trace(const struct msr_view *v)
{
	const uint64_t *r = (const void *)v->content;
	uint64_t now = v->extent->first;
	for (uint64_t i = 0; i < v->n_bytes / sizeof *r; i++) {
		if ((r[i] >> 28 & 15) == MSR_TRACE_TAG_ESCAPE) {
			assert_int_equal(r[i] & MSR_TRACE_NODE_MAX, MSR_TRACE_ABSOLUTE);
			now = r[++i];
			continue;
		}
		now += r[i] >> 32;
		image.trace[image.n_trace].ns = now;
		image.trace[image.n_trace].metric = r[i] >> 28 & 15;
		image.trace[image.n_trace++].node = r[i] & MSR_TRACE_NODE_MAX;
	}
}

static void read_extent(const struct msr_view *v)
{
	if (v->extent->kind == MSR_NODE) {
		memcpy(image.nodes + v->extent->first, v->content, v->n_bytes);
		image.n_nodes += (uint32_t)(v->n_bytes / sizeof *image.nodes);
	} else if (v->extent->kind == MSR_CELL) {
		memcpy(image.cells + v->extent->first, v->content, v->n_bytes);
		image.n_cells += (uint32_t)(v->n_bytes / sizeof *image.cells);
	}
}

static void read_image(void)
{
	struct stat st;
	struct msr_view v;
	uint64_t pos, skipped;
	enum msr_scan s;
	int fd = open(store_path(), O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	memset(&image, 0, sizeof image);
	image.n_bytes = (uint64_t)st.st_size;
	image.bytes = aligned_alloc(64, (image.n_bytes + 63) & ~UINT64_C(63));
	assert_int_equal(read(fd, image.bytes, image.n_bytes), image.n_bytes);
	close(fd);
	for (pos = MSR_HEADER_BYTES; (s = msr_next_extent(image.bytes, image.n_bytes, &pos, &v,
							  &skipped)) != MSR_SCAN_END;) {
		assert_int_equal(s, MSR_SCAN_EXTENT);
		if (v.extent->kind != MSR_FREE)
			assert_int_equal(v.extent->thread, THREAD);
		read_extent(&v);
	}
	for (uint32_t sequence = 0, seen = 1; seen; sequence++) {
		seen = 0;
		for (pos = MSR_HEADER_BYTES; msr_next_extent(image.bytes, image.n_bytes, &pos, &v,
							     &skipped) == MSR_SCAN_EXTENT;)
			if (v.extent->kind == MSR_TRACE && v.extent->sequence == sequence) {
				read_trace(&v);
				seen = 1;
			}
	}
	free(image.bytes);
}

static void assert_path(uint32_t node, const uint64_t *addr, uint32_t n, uint64_t entry)
{
	for (uint32_t i = 0; i < n; i++) {
		assert_in_range(node, 2, image.n_nodes - 1);
		assert_int_equal(image.nodes[node].addr, addr[i]);
		assert_true(image.nodes[node].parent < node);
		node = image.nodes[node].parent;
	}
	assert_int_equal(image.nodes[node].addr, entry);
	assert_int_equal(image.nodes[node].parent, 0);
}

static uint64_t address(unsigned x)
{
	return msr_addr_make((uint16_t)(1 + x % 3), 0x1000 + x * 16, x % 7 == 0);
}

static bool insert(const uint64_t *addr, uint32_t n, uint32_t same, uint32_t *node,
		   enum msr_loss *cause)
{
	const struct cct_path path = {.addr = addr,
				      .n = n,
				      .n_same = same,
				      .end = MSR_END_ROOT,
				      .entry = MSR_ENTRY_MAIN};
	return cct_insert(tree, &path, node, cause);
}

/* ---- tests ---- */

static void random_paths(void **state)
{
	enum { PATHS = 8000 };
	static uint64_t addr[PATHS][DEPTH];
	static uint32_t length[PATHS], node[PATHS];
	enum msr_loss cause;
	(void)state;
	srand(1);
	for (int i = 0; i < PATHS; i++) {
		/* Paths share the outer part of the one before, as stacks do. Leaf first. */
		uint32_t keep = i ? (uint32_t)rand() % (length[i - 1] + 1) : 0;
		length[i] = keep + (uint32_t)rand() % (DEPTH - keep + 1);
		for (uint32_t j = 0; j < length[i]; j++)
			addr[i][length[i] - 1 - j] = j < keep ? addr[i - 1][length[i - 1] - 1 - j]
							      : address((unsigned)rand() % 20);
		uint32_t same = keep ? (uint32_t)rand() % (keep + 1) : 0;
		if (i % 1000 == 999)
			cct_trim(tree); /* an exec that failed */
		assert_true(insert(addr[i], length[i], same, &node[i], &cause));
	}
	assert_in_range(cct_n_nodes(tree), 100000, 400000);
	read_image();
	assert_int_equal(image.n_nodes, cct_n_nodes(tree));
	for (int i = 0; i < PATHS; i++) {
		uint32_t again;
		assert_path(node[i], addr[i], length[i], MSR_ENTRY_MAIN);
		assert_true(insert(addr[i], length[i], 0, &again, &cause));
		assert_int_equal(again, node[i]);
	}
}

static void entry_points(void **state)
{
	uint64_t addr[2] = {address(1), address(2)};
	const struct cct_path other = {.addr = addr, .n = 2, .entry = MSR_ENTRY_THREAD},
			      idle = {.addr = addr, .n = 2, .entry = MSR_ENTRY_OMP_IDLE};
	uint32_t node[MSR_N_PATH_ENDS + 1];
	enum msr_loss cause;
	(void)state;
	for (uint32_t e = 0; e < MSR_N_PATH_ENDS; e++) {
		const struct cct_path path = {
			.addr = addr, .n = 2, .end = (enum msr_path_end)e, .entry = MSR_ENTRY_MAIN};
		assert_true(cct_insert(tree, &path, &node[e], &cause));
	}
	assert_true(insert(addr, 0, 0, &node[MSR_N_PATH_ENDS],
			   &cause)); /* no frame: the entry itself */
	read_image();
	assert_path(node[0], addr, 2, MSR_ENTRY_MAIN);
	for (uint32_t e = 1; e < MSR_N_PATH_ENDS; e++)
		assert_path(node[e], addr, 2, MSR_ENTRY_PARTIAL + e);
	assert_path(node[MSR_N_PATH_ENDS], addr, 0, MSR_ENTRY_MAIN);
	assert_true(cct_insert(tree, &other, &node[0], &cause));
	assert_true(cct_insert(tree, &idle, &node[1], &cause));
	read_image();
	assert_path(node[0], addr, 2, MSR_ENTRY_THREAD);
	assert_path(node[1], addr, 2, MSR_ENTRY_OMP_IDLE);
}

static void synthetic_frames_stay(void **state)
{
	uint64_t addr[] = {address(1), MSR_WAIT + MSR_WAIT_OMP_END, address(2)};
	const struct cct_path path = {
		.addr = addr, .n = 3, .has_synthetic = true, .entry = MSR_ENTRY_MAIN};
	uint32_t node;
	enum msr_loss cause;
	(void)state;
	assert_true(cct_insert(tree, &path, &node, &cause));
	read_image();
	assert_path(node, addr, 3, MSR_ENTRY_MAIN);
}

static void no_module_is_unknown(void **state)
{
	uint64_t addr[1] = {0x7f0012345678 & MSR_ADDR_MASK};
	uint32_t node;
	enum msr_loss cause;
	(void)state;
	assert_true(insert(addr, 1, 0, &node, &cause));
	read_image();
	addr[0] = msr_addr_make(MSR_MODULE_UNKNOWN, addr[0], false);
	assert_path(node, addr, 1, MSR_ENTRY_MAIN);
}

static void cells(void **state)
{
	enum { NODES = 500 };
	uint32_t node[NODES];
	enum msr_loss cause;
	(void)state;
	for (unsigned i = 0; i < NODES; i++) {
		uint64_t addr[1] = {address(i * 3)};
		assert_true(insert(addr, 1, 0, &node[i], &cause));
	}
	for (unsigned round = 0; round < 10; round++)
		for (unsigned i = 0; i < NODES; i++)
			for (unsigned m = 0; m < 3; m++)
				if (m == 0 || i % m == 0)
					assert_true(
						cct_add(tree, node[i], m, 1, 100 * m + i, &cause));
	read_image();
	for (unsigned i = 0; i < NODES; i++) {
		unsigned seen = 0;
		for (uint32_t c = atomic_load(&image.nodes[node[i]].first_cell); c;
		     c = image.cells[c - 1].next) {
			const struct msr_cell *cell = &image.cells[c - 1];
			assert_int_equal(cell->node, node[i]);
			assert_int_equal(atomic_load(&cell->count), 10);
			assert_int_equal(atomic_load(&cell->sum), 10 * (100 * cell->metric + i));
			assert_false(seen & 1u << cell->metric);
			seen |= 1u << cell->metric;
		}
		assert_int_equal(seen, i % 2 == 0 ? 7 : 3);
	}
}

static void time_line(void **state)
{
	enum { RECORDS = 100000 };
	static uint64_t ns[RECORDS];
	uint64_t now = 5000000000000, addr[1] = {address(1)};
	uint32_t node;
	enum msr_loss cause;
	(void)state;
	assert_true(insert(addr, 1, 0, &node, &cause));
	srand(2);
	for (int i = 0; i < RECORDS; i++) {
		/* now and then a pause that does not fit 32 bits, also right at the end of an
		 * extent */
		now += rand() % 50 == 0 ? (uint64_t)rand() * 1000
		       : i % 1000 == 0  ? UINT32_MAX
					: (uint64_t)rand() % 2000000;
		ns[i] = now;
		assert_true(cct_trace(tree, node, (uint32_t)i % MSR_MAX_METRICS, now, &cause));
	}
	read_image();
	assert_int_equal(image.n_trace, RECORDS);
	for (int i = 0; i < RECORDS; i++) {
		assert_int_equal(image.trace[i].ns, ns[i]);
		assert_int_equal(image.trace[i].metric, i % MSR_MAX_METRICS);
		assert_int_equal(image.trace[i].node, node);
	}
}

static void node_limit(void **state)
{
	uint64_t addr[10];
	uint32_t node;
	enum msr_loss cause = MSR_N_LOSSES;
	teardown(state);
	start(0, 5); /* entry and four frames */
	for (unsigned i = 0; i < 10; i++)
		addr[i] = address(i);
	assert_false(insert(addr, 10, 0, &node, &cause));
	assert_int_equal(cause, MSR_LOSS_NODE_LIMIT);
	assert_int_equal(cct_n_nodes(tree), 6);
	/* What is there still works, and the outer frames that were found may be relied on. */
	assert_true(insert(addr + 6, 4, 4, &node, &cause));
	assert_true(cct_add(tree, node, 0, 1, 1, &cause));
	read_image();
	assert_path(node, addr + 6, 4, MSR_ENTRY_MAIN);
	assert_false(insert(addr, 10, 9, &node, &cause));
}

static void no_space(void **state)
{
	enum msr_loss cause = MSR_N_LOSSES;
	uint32_t node = 0, made = 0;
	teardown(state);
	start(1 << 20, 1 << 20);
	for (unsigned i = 0; i < 100000; i++, made++) {
		uint64_t addr[2] = {address(i), address(i / 100)};
		if (!insert(addr, 2, 0, &node, &cause))
			break;
	}
	assert_int_equal(cause, MSR_LOSS_FILE_LIMIT);
	assert_in_range(made, 20000, 65536);
	uint64_t addr[2] = {address(5), address(0)};
	assert_true(insert(addr, 2, 0, &node, &cause));
	read_image();
	assert_path(node, addr, 2, MSR_ENTRY_MAIN);
}

static void too_deep_is_cut(void **state)
{
	uint64_t addr[DEPTH + 10];
	uint32_t node;
	enum msr_loss cause;
	(void)state;
	for (unsigned i = 0; i < DEPTH + 10; i++)
		addr[i] = address(i);
	assert_true(insert(addr, DEPTH + 10, 0, &node, &cause));
	read_image();
	assert_path(node, addr + 10, DEPTH, MSR_ENTRY_MAIN);
}

/* In the file, an extent is its header and content, up to the next multiple of the alignment. */
static uint64_t extent_bytes(uint64_t content)
{
	uint64_t n = sizeof(struct msr_extent) + content;
	return (n + MSR_EXTENT_ALIGN - 1) / MSR_EXTENT_ALIGN * MSR_EXTENT_ALIGN;
}

static void finish_gives_back(void **state)
{
	enum { ROUNDS = 2000 };
	struct stat st;
	enum msr_loss cause;
	(void)state;
	for (int round = 0; round < ROUNDS;
	     round++) { /* short threads, one after the other, in the same memory */
		const struct cct_options o = {
			.thread = THREAD, .max_depth = DEPTH, .max_nodes = 1000};
		uint64_t addr[3] = {address(1), address(2), address(3)};
		uint32_t node;
		assert_true(insert(addr, 3, 0, &node, &cause));
		assert_true(cct_add(tree, node, 0, 1, 1, &cause));
		assert_true(cct_trace(tree, node, 0, 1000, &cause));
		cct_finish(tree);
		tree = cct_init(memory, &o);
	}
	store_finish(true);
	assert_int_equal(stat(store_path(), &st), 0);
	/* Of each thread an extent of 5 nodes, one of a cell and one of a record remain, with room
	 * that is too small to be used again. */
	const uint64_t kept = extent_bytes(5 * sizeof(struct msr_node)) +
			      extent_bytes(sizeof(struct msr_cell)) +
			      extent_bytes(sizeof(uint64_t));
	assert_in_range(st.st_size, ROUNDS * kept, ROUNDS * kept * 3 / 2);
}

/* What is left of the first 128 KiB has no room for a record of 96 bytes behind its header. */
static void a_record_fits_into_each_extent(void **state)
{
	enum { RECORD = 96, PIECE = 128, FIRST_CHUNK = 128 << 10 };
	struct store_request request = {.kind = MSR_CELL, .thread = 0, .n_bytes = 1024};
	static struct table_extent many[TABLE_MAX_EXTENTS];
	struct table t;
	enum msr_loss cause;
	(void)state;
	struct msr_extent *e = store_extent(&request, &cause);
	assert_non_null(e);
	const ptrdiff_t end = (uint8_t *)e - (uint8_t *)store_header() + 1024;
	request.n_bytes = (uint32_t)(FIRST_CHUNK - end - PIECE);
	assert_non_null(store_extent(&request, &cause));
	request.n_bytes = 1024;
	assert_non_null(store_extent(&request, &cause));
	table_init(&t, MSR_CELL, RECORD, 0, many);
	assert_non_null(table_reserve(&t, &cause));
	assert_true(t.few[0].extent->length >= sizeof *e + RECORD);
	assert_true(t.end >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(entry_points, setup, teardown),
		cmocka_unit_test_setup_teardown(synthetic_frames_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(no_module_is_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(cells, setup, teardown),
		cmocka_unit_test_setup_teardown(time_line, setup, teardown),
		cmocka_unit_test_setup_teardown(node_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(no_space, setup, teardown),
		cmocka_unit_test_setup_teardown(a_record_fits_into_each_extent, setup, teardown),
		cmocka_unit_test_setup_teardown(too_deep_is_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(finish_gives_back, setup, teardown),
	};
	if (!mkdtemp(directory))
		return 99;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
