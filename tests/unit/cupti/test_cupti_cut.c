/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that are cut out of cubins, from golden cubins; and images that are kept in memory until
 * a kernel of them is seen. With arguments CUBIN DIRECTORY it writes the kernels to files there.
 */
#include "tests/unit/cupti/fake_cupti_trace.h"

#include "hpcrun-lite/gpu/cupti/nv_cut.h"
#include "hpcrun-lite/gpu/cupti/nv_image.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

static uint8_t cubin[1 << 17], part[1 << 15], again[1 << 15];

static size_t read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return 0;
	memset(cubin, 0, sizeof cubin);
	size_t n = fread(cubin, 1, sizeof cubin, f);
	fclose(f);
	return n;
}

static size_t read_golden(const char *name)
{
	char path[PATH_MAX];
	const char *srcdir = getenv("srcdir");
	snprintf(path, sizeof path, "%s/tests/golden/cubin/%s", srcdir ? srcdir : ".", name);
	size_t n = read_file(path);
	assert_true(n > 0);
	return n;
}

/* The code of the only kernel in the image. */
static const uint8_t *code_of(const void *image, size_t bytes, const char *kernel, uint64_t *n)
{
	struct nv_image i;
	Elf64_Sym s;
	Elf64_Shdr section = {0};
	assert_true(nv_image_open(&i, image, bytes));
	for (uint32_t k = 1; nv_image_symbol(&i, k, &s); k++)
		if (nv_image_is_kernel(&s) &&
		    strcmp(nv_image_text(&i, &i.strings, s.st_name), kernel) == 0) {
			assert_true(nv_image_section(&i, s.st_shndx, &section));
			*n = section.sh_size;
			return i.at + section.sh_offset;
		}
	fail();
	return NULL;
}

static const char *const cuttable[] = {"operations.sm_75.plain.cubin", "inline.sm_90.plain.cubin",
				       "operations.sm_90.plain.cubin", "shared.sm_90.plain.cubin"};

struct cutting {
	size_t bytes;
	unsigned n;
};

static void cut_one(void *arg, const char *kernel)
{
	struct cutting *c = arg;
	uint64_t n_whole, n_part;
	size_t n = nv_cut(cubin, c->bytes, kernel, part, sizeof part);
	assert_in_range(n, 1, sizeof part);
	assert_int_equal(nv_cut(cubin, c->bytes, kernel, NULL, 0), n);
	const uint8_t *whole = code_of(cubin, c->bytes, kernel, &n_whole),
		      *own = code_of(part, n, kernel, &n_part);
	assert_int_equal(n_part, n_whole);
	assert_memory_equal(own, whole, n_whole);
	/* there is nothing more to be left out */
	assert_false(nv_cut_is_possible(part, n));
	assert_int_equal(nv_cut(part, n, kernel, again, sizeof again), n);
	assert_memory_equal(again, part, n);
	c->n++;
}

static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cuttable / sizeof *cuttable; i++) {
		struct cutting c = {.bytes = read_golden(cuttable[i])};
		assert_true(nv_cut_is_possible(cubin, c.bytes));
		nv_code_names(cubin, c.bytes, cut_one, &c);
		assert_true(c.n > 1);
		assert_int_equal(nv_cut(cubin, c.bytes, "no such kernel", part, sizeof part), 0);
	}
}

static void test_whole(void **state)
{
	(void)state;
	static const char *const names[] = {
		"inline.sm_90.lineinfo.cubin", /* has lines */
		"rdc_linked.sm_90.rdc.cubin"   /* kernels share device functions */
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = read_golden(names[i]);
		assert_false(nv_cut_is_possible(cubin, n));
	}
}

/* Any answer but a fault, also where the image ends at the end of a page. */
static void test_damage(void **state)
{
	(void)state;
	struct nv_image i;
	size_t n = read_golden("shared.sm_90.plain.cubin"), room = (n + 4095) & ~(size_t)4095;
	assert_true(nv_image_open(&i, cubin, n));
	uint8_t *pages =
		mmap(NULL, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + room, 4096, PROT_NONE), 0);
	uint8_t *image = pages + room - n;
	memcpy(image, cubin, n);
	for (size_t at = 0; at < n; at++)
		for (unsigned v = 1; v < 256; v += 127) {
			image[at] ^= (uint8_t)v;
			nv_cut_is_possible(image, n);
			nv_cut(image, n, "_Z1aPf", part, sizeof part);
			nv_cut(image, n, "_Z1bPf", part, sizeof part);
			image[at] ^= (uint8_t)v;
		}
	for (size_t less = 0; less < n; less += 7) {
		uint8_t *end = pages + room - less;
		memcpy(end, cubin, less);
		nv_cut_is_possible(end, less);
		nv_cut(end, less, "_Z1aPf", part, sizeof part);
	}
	munmap(pages, room + 4096);
}

/* A section without bytes may have any offset and size. */
static void test_notes_without_bytes(void **state)
{
	(void)state;
	struct nv_image i;
	Elf64_Shdr s;
	unsigned n_found = 0;
	size_t bytes = read_golden("shared.sm_90.plain.cubin");
	assert_true(nv_image_open(&i, cubin, bytes));
	for (unsigned n = 1; n < i.head.e_shnum; n++) {
		assert_true(nv_image_section(&i, n, &s));
		if (strcmp(nv_image_text(&i, &i.section_names, s.sh_name), ".nv.info") != 0)
			continue;
		s.sh_type = SHT_NOBITS;
		s.sh_offset = UINT64_C(1) << 60;
		memcpy(cubin + i.head.e_shoff + n * sizeof s, &s, sizeof s);
		n_found++;
	}
	assert_int_equal(n_found, 1);
	assert_true(nv_cut(cubin, bytes, "_Z1aPf", part, sizeof part) > 0);
}

static void test_hold(void **state)
{
	(void)state;
	uint64_t hash[2] = {0, 0}, n_part;
	static const char kernel[] = "_Z5warpsPiPj";
	size_t n = read_golden("operations.sm_90.plain.cubin");
	assert_int_equal(nv_part_hold(cubin, n, 1, hash), 0); /* small */
	n = sizeof cubin;
	uint32_t held = nv_part_hold(cubin, n, 1, hash);
	assert_true(held != 0 && hash[0] != 0);
	assert_int_equal(nv_part_hold(cubin, n, 1, hash), held); /* loaded again */
	uint32_t twin = nv_part_hold(cubin, n, 2, hash);
	assert_int_not_equal(twin, held);
	assert_int_equal(seen.n_codes, 0); /* nothing is saved yet */
	assert_int_equal(nv_part_of(77, kernel), 77);
	assert_int_equal(nv_part_of(held, kernel), 1);
	assert_int_equal(seen.code.n_bytes, nv_cut(cubin, n, kernel, part, sizeof part));
	assert_memory_equal(seen.code_bytes, part, seen.code.n_bytes);
	assert_non_null(code_of(seen.code_bytes, seen.code.n_bytes, kernel, &n_part));
	assert_int_equal(seen.code.device, 1);
	assert_int_equal(nv_part_of(twin, kernel), 2);
	assert_int_equal(seen.code.device, 2);
	assert_int_equal(nv_part_of(held, "$inner"), 3); /* no kernel: all of it is saved */
	assert_int_equal(seen.code.n_bytes, n);
	assert_false(seen.code.is_lost);
	for (uint32_t id = 4; id <= 65; id++)
		assert_int_equal(nv_part_of(held, kernel), id);
	assert_true(seen.code.n_bytes < n);
	assert_int_equal(nv_part_of(held, kernel), 66); /* after 64 cuts it is saved whole */
	assert_int_equal(seen.code.n_bytes, n);
	assert_int_equal(nv_part_of(held, kernel), 66); /* once */
	assert_int_equal(nv_part_hold(cubin, n, 1, hash), held);
	assert_int_equal(nv_part_of(held, kernel), 66);
	cubin[n - 1] ^= 1; /* not what was loaded */
	assert_int_equal(nv_part_of(twin, kernel), 67);
	assert_true(seen.code.is_lost);
	assert_null(seen.code.bytes);
	assert_int_equal(nv_part_hold(cubin, n, 1, hash), 0); /* from now on all is saved whole */
}

/* ---- files for another test ---- */

struct files {
	size_t bytes;
	const char *directory;
	unsigned n;
	bool is_bad;
};

static void write_part(void *arg, const char *kernel)
{
	struct files *f = arg;
	char path[PATH_MAX];
	size_t n = nv_cut(cubin, f->bytes, kernel, part, sizeof part);
	snprintf(path, sizeof path, "%s/%u.cubin", f->directory, f->n++);
	FILE *out = fopen(path, "wb");
	f->is_bad = f->is_bad || !out || n == 0 || fwrite(part, 1, n, out) != n;
	f->is_bad = (out && fclose(out) != 0) || f->is_bad;
}

static int write_parts(const char *file, const char *directory)
{
	struct files f = {.bytes = read_file(file), .directory = directory};
	nv_code_names(cubin, f.bytes, write_part, &f);
	return f.is_bad || f.n == 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_notes_without_bytes),
		cmocka_unit_test_setup(test_hold, start),
	};
	return argc == 3 ? write_parts(argv[1], argv[2])
			 : cmocka_run_group_tests(tests, NULL, NULL);
}
