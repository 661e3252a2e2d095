/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of a file while its process runs: the target can be read whatever part of a pass has
 * reached it. The test sees each write and each fdatasync, and makes all targets that a server, or
 * the end of the copying process, can leave.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "hpcrun-lite/launch/copy/follow_part.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILE_BYTES = 6 * 65536, MOST_WRITES = 256, PAGE = 4096 };

/* ---- what the copying process does ---- */

static struct written {
	unsigned epoch; /* number of fdatasyncs before */
	uint64_t at;
	size_t n;
	uint8_t *bytes;
} writes[MOST_WRITES];
static size_t n_writes;
static unsigned epoch;
static int local, target;
static bool spills; /* the process does, when the size of the target has been read */
static unsigned final_at;   /* the fdatasync during which a final copy is made; 0: none */
static size_t n_before;     /* writes until then */
static bool is_locked;      /* the final copy had to wait */

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	struct written *w = &writes[n_writes++];
	assert_true(n_writes < MOST_WRITES);
	*w = (struct written){epoch, (uint64_t)at, n, malloc(n)};
	assert_non_null(w->bytes);
	memcpy(w->bytes, bytes, n);
	return syscall(SYS_pwrite64, fd, bytes, n, at);
}

/* As the end of the process does, or --collect, for which the header has no end. */
static void copy_meanwhile(void)
{
	static const struct msr_header header = {.magic = MSR_MAGIC};
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", local);
	const int other = open(path, O_RDONLY);
	is_locked = flock(other, LOCK_EX | LOCK_NB) != 0;
	assert_int_equal(syscall(SYS_pwrite64, target, &header, sizeof header, 0), sizeof header);
	n_before = n_writes;
	close(other);
}

int fdatasync(int fd)
{
	(void)fd;
	if (++epoch == final_at)
		copy_meanwhile();
	return 0;
}

int fstat(int fd, struct stat *st)
{
	const int result = (int)syscall(SYS_fstat, fd, st);
	if (spills && fd == target)
		assert_int_equal(syscall(SYS_pwrite64, fd, "spilled", 8, FILE_BYTES), 8);
	return result;
}

#if !__GLIBC_PREREQ(2, 33)
int __fxstat(int version, int fd, struct stat *st)
{
	(void)version;
	return fstat(fd, st);
}
#endif

static void forget_writes(void)
{
	while (n_writes)
		free(writes[--n_writes].bytes);
	epoch = 0;
}

/* ---- a file that grows ---- */

static uint8_t content(uint64_t at, unsigned kind, uint64_t i)
{
	return (uint8_t)((at / 64 * 31 + kind * 17 + i * 7) | 1);
}

static void put_extent(uint8_t *file, uint64_t at, unsigned kind, uint64_t length, uint64_t used)
{
	struct msr_extent *e = (void *)(file + at);
	*e = (struct msr_extent){.magic = MSR_EXTENT_MAGIC, .kind = (uint16_t)kind,
				 .length = length, .used = used};
	e->check = msr_extent_check(e);
	for (uint64_t i = 0; i < used && kind != MSR_PROCESS; i++)
		file[at + sizeof *e + i] = content(at, kind, i);
}

static void put_header(uint8_t *file, uint64_t at, uint64_t allocated)
{
	struct msr_header *h = (void *)(file + at);
	*h = (struct msr_header){.magic = MSR_MAGIC, .version_major = MSR_VERSION_MAJOR, .pid = 7,
				 .allocated = allocated};
}

enum { TREE = PAGE, LONG = 2 * PAGE, TAIL = LONG + 70080, FREE = 163840, SLAB = 176128 - 64,
       SLAB_PAGE = SLAB + 64, END = SLAB + 16384, NEW = END, NEW_END = NEW + 100032 };

static void before(uint8_t *file)
{
	put_header(file, 0, END);
	put_extent(file, TREE, MSR_NODE, PAGE, 100);
	put_extent(file, LONG, MSR_TRACE, FREE - LONG, 70000);
	put_extent(file, FREE, MSR_FREE, SLAB - FREE, 0);
	put_extent(file, SLAB, MSR_PROCESS, 16384, 0);
}

/* Extents grow, shrink and are made of free space, in the file and in a child of fork. */
static void after(uint8_t *file)
{
	put_header(file, 0, NEW_END);
	put_extent(file, TREE, MSR_NODE, PAGE, 3000);
	put_extent(file, TAIL, MSR_CELL, 4096, 2000);
	put_extent(file, TAIL + 4096, MSR_FREE, FREE - TAIL - 4096, 0);
	put_extent(file, LONG, MSR_TRACE, TAIL - LONG, 70016);
	put_extent(file, FREE, MSR_NODE, 1024, 960);
	put_extent(file, FREE + 1024, MSR_FREE, SLAB - FREE - 1024, 0);
	put_extent(file, SLAB, MSR_PROCESS, 16384, MSR_PROCESS_BYTES);
	put_header(file, SLAB_PAGE, PAGE + 1024);
	put_extent(file, SLAB_PAGE + PAGE, MSR_CELL, 1024, 512);
	put_extent(file, NEW, MSR_TRACE, NEW_END - NEW, 99000);
}

/* ---- the files on disk ---- */

static uint8_t *file, *image;

static void save(int fd, const uint8_t *bytes, size_t n)
{
	assert_int_equal(syscall(SYS_pwrite64, fd, bytes, n, 0), n);
}

static void start(void **state)
{
	static const char note[] = LOCAL_DATA_HEAD "host here\nfile /node/x.hpcrun\n";
	FILE *a = tmpfile(), *b = tmpfile();
	(void)state;
	assert_true(a && b);
	local = fileno(a);
	target = fileno(b);
	file = aligned_alloc(PAGE, FILE_BYTES);
	image = aligned_alloc(PAGE, FILE_BYTES);
	assert_true(file && image);
	memset(file, 0, FILE_BYTES);
	before(file);
	save(local, file, FILE_BYTES);
	save(target, (const uint8_t *)note, sizeof note - 1);
	forget_writes();
}

static void finish(void)
{
	forget_writes();
	free(file);
	free(image);
	close(local);
	close(target);
}

/*
 * What is shown in the image is sound, as the loader of hpcprof-lite walks it: up to what the
 * header has, here and in children of fork. Returns how many extents that are.
 */
static unsigned check(uint64_t start_at, uint64_t end)
{
	struct msr_view v;
	uint64_t position = MSR_HEADER_BYTES, skipped;
	unsigned n = 0;
	enum msr_scan s;
	while ((s = msr_next_extent(image + start_at, end, &position, &v, &skipped)) !=
	       MSR_SCAN_END) {
		assert_int_equal(s, MSR_SCAN_EXTENT);
		assert_false(v.clamped);
		const uint64_t at = (uint64_t)((const uint8_t *)v.extent - image);
		n++;
		for (uint64_t i = 0; i < v.n_bytes && v.extent->kind != MSR_PROCESS; i++)
			assert_int_equal(v.content[i], content(at, v.extent->kind, i));
		if (msr_is_process(&v))
			n += check(at + sizeof *v.extent,
				   local_part_end((const void *)v.content, v.n_bytes));
	}
	return n;
}

static unsigned check_image(void)
{
	const struct local_part *p = local_data_part(image, FILE_BYTES);
	assert_non_null(p);
	return check(0, local_part_end(&p->header, FILE_BYTES));
}

static void read_image(void)
{
	memset(image, 0, FILE_BYTES);
	assert_true(pread(target, image, FILE_BYTES, 0) > PAGE);
}

/* All of what is older than the last fdatasync, and some pages of what is not. */
static void apply_some(const struct written *w, unsigned last)
{
	for (size_t from = 0; from < w->n; from += PAGE)
		if (w->epoch < last || (w->epoch == last && rand() % 2))
			memcpy(image + w->at + from, w->bytes + from,
			       w->n - from < PAGE ? w->n - from : PAGE);
}

/* ---- tests ---- */

static void some_writes_arrive(void **state)
{
	enum { TRIES = 400 };
	static uint8_t shown[FILE_BYTES];
	struct follow_part p = {0};
	start(state);
	assert_true(follow_part_open(&p, target));
	assert_int_equal(follow_part_pass(&p, local, target, false), FOLLOW_DONE);
	read_image();
	assert_int_equal(check_image(), 4);
	memcpy(shown, image, sizeof shown);
	forget_writes();
	after(file);
	save(local, file, FILE_BYTES);
	/* The process that copies may be another one, which finds the target as it is. */
	follow_part_close(&p);
	assert_true(follow_part_open(&p, target));
	assert_int_equal(follow_part_pass(&p, local, target, false), FOLLOW_DONE);
	assert_int_equal(epoch, 2);
	srand(1);
	for (unsigned try = 0; try < TRIES; try++) {
		memcpy(image, shown, sizeof shown);
		for (size_t i = 0; i < n_writes; i++)
			apply_some(&writes[i], try % 2);
		check_image();
	}
	read_image();
	assert_int_equal(check_image(), 9);
	follow_part_close(&p);
	finish();
}

static void only_changes_are_written(void **state)
{
	struct follow_part p = {0};
	start(state);
	after(file);
	memset(file + NEW + 2000, 0, FILE_BYTES - NEW - 2000);
	((struct msr_extent *)(file + NEW))->used = 1000;
	save(local, file, FILE_BYTES);
	assert_true(follow_part_open(&p, target));
	assert_int_equal(follow_part_pass(&p, local, target, false), FOLLOW_DONE);
	after(file);
	save(local, file, FILE_BYTES);
	assert_int_equal(follow_part_pass(&p, local, target, false), FOLLOW_DONE);
	read_image();
	assert_memory_equal(image + PAGE, file + PAGE, NEW_END - PAGE);
	const uint64_t all = p.n_bytes;
	assert_in_range(all, NEW_END - FOLLOW_BLOCK_BYTES, NEW_END + 2 * FOLLOW_BLOCK_BYTES);
	assert_int_equal(follow_part_pass(&p, local, target, false), FOLLOW_DONE);
	assert_int_equal(p.n_bytes - all, PAGE); /* the time */
	file[TREE + 64 + 50]++;
	save(local, file, FILE_BYTES);
	assert_int_equal(follow_part_pass(&p, local, target, false), FOLLOW_DONE);
	assert_int_equal(p.n_bytes - all, 2 * PAGE + FOLLOW_BLOCK_BYTES - PAGE);
	read_image();
	assert_memory_equal(image + PAGE, file + PAGE, NEW_END - PAGE);
	follow_part_close(&p);
	finish();
}

static void an_end_stops_it(void **state)
{
	struct follow_part p = {0};
	start(state);
	((struct msr_header *)file)->end_mono_ns = 1;
	save(local, file, FILE_BYTES);
	assert_true(follow_part_open(&p, target));
	assert_int_equal(follow_part_pass(&p, local, target, false), FOLLOW_ENDED);
	read_image();
	assert_null(local_data_part(image, FILE_BYTES));
	assert_true(follow_part_open(&p, target));
	assert_int_equal(follow_part_pass(&p, local, target, true), FOLLOW_DONE);
	read_image();
	assert_int_equal(check_image(), 4);
	follow_part_close(&p);
	finish();
}

/* The end of the process does not wait for the server, and nothing is written over its copy. */
static void a_final_copy_may_come_between(void **state)
{
	for (final_at = 1; final_at <= 2; final_at++) {
		struct follow_part p = {0};
		start(state);
		assert_int_equal(flock(local, LOCK_EX), 0);
		assert_true(follow_part_open(&p, target));
		assert_int_equal(follow_part_pass(&p, local, target, false), FOLLOW_ENDED);
		assert_int_equal(epoch, final_at);
		assert_false(is_locked);
		assert_int_equal(n_writes, n_before);
		assert_false(p.is_open);
		finish();
	}
	final_at = 0;
}

/* When the node is full, the process writes to the target, behind what is copied. */
static void what_is_spilled_stays(void **state)
{
	struct follow_part p = {0};
	char there[8] = "";
	start(state);
	assert_true(follow_part_open(&p, target));
	spills = true;
	assert_int_equal(follow_part_pass(&p, local, target, false), FOLLOW_DONE);
	spills = false;
	assert_true(pread(target, there, sizeof there, FILE_BYTES) == sizeof there);
	assert_string_equal(there, "spilled");
	read_image();
	assert_int_equal(check_image(), 4);
	follow_part_close(&p);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_writes_arrive),
		cmocka_unit_test(only_changes_are_written),
		cmocka_unit_test(an_end_stops_it),
		cmocka_unit_test(what_is_spilled_stays),
		cmocka_unit_test(a_final_copy_may_come_between),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
