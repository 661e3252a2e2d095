/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decompresses debug sections: SHF_COMPRESSED with zlib or zstd (gABI), and the older ".zdebug_"
 * form of zlib. The unpacked size is bounded: debug information shrinks to a third or a fifth, not
 * to a thousandth. Test: tests/cli/struct/struct_files.sh.
 */
#include "config.h"

#include "hpcstruct-lite/image/image.h"

#include "common/base/log.h"
#include "common/base/pool.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define MAX_RATIO 64                      /* ten times the ratio that string tables reach */
#define ALWAYS_BYTES (UINT64_C(1) << 20)  /* a small section may be anything */
#define MAX_IMAGE_BYTES (UINT64_C(1) << 35) /* of all sections of a file */
#define COMPRESSED_ZSTD 2

struct unpacking {
	const struct image *image;
	VEC(struct image_section *) sections;
	VEC(uint8_t *) results;
	_Atomic uint64_t n_bytes; /* unpacked so far */
	atomic_bool no_memory;
};

/*
 * Finds where the compressed bytes start, and their unpacked size. Returns false if the header is
 * damaged or of an unknown kind.
 */
static bool read_header(const struct image_section *s, size_t *header_bytes, uint64_t *n_bytes,
			uint32_t *method)
{
	if (s->packed == IMAGE_PACKED_GNU) {
		if (s->n_bytes < 12 || memcmp(s->bytes, "ZLIB", 4) != 0)
			return false;
		*n_bytes = 0;
		for (int i = 4; i < 12; i++)
			*n_bytes = *n_bytes << 8 | s->bytes[i];
		*header_bytes = 12;
		*method = ELFCOMPRESS_ZLIB;
		return true;
	}
	Elf64_Chdr h;
	if (s->n_bytes < sizeof h)
		return false;
	memcpy(&h, s->bytes, sizeof h);
	*header_bytes = sizeof h;
	*n_bytes = h.ch_size;
	*method = h.ch_type;
	return true;
}

static uint8_t *unpack_zlib(const struct image_section *s, size_t header_bytes, uint64_t n_bytes)
{
	uint64_t n_packed = s->n_bytes - header_bytes;
	uint8_t *out = malloc(n_bytes);
	uLongf n_out = n_bytes;
	if (out && (uncompress(out, &n_out, s->bytes + header_bytes, n_packed) != Z_OK ||
		    n_out != n_bytes)) {
		free(out);
		return NULL;
	}
	return out;
}

static uint8_t *unpack_zstd(const struct image_section *s, size_t header_bytes, uint64_t n_bytes)
{
#ifdef HAVE_ZSTD
	uint8_t *out = malloc(n_bytes);
	const size_t n = out ? ZSTD_decompress(out, n_bytes, s->bytes + header_bytes,
					       s->n_bytes - header_bytes)
			     : 0;
	if (out && n == n_bytes) /* error codes are larger than any size */
		return out;
	free(out);
#else
	(void)s, (void)header_bytes, (void)n_bytes;
#endif
	return NULL;
}

static const char *name_of(uint32_t method)
{
#ifdef HAVE_ZSTD
	const char *zstd = "zstd";
#else
	const char *zstd = "zstd, which this program was built without";
#endif
	return method == ELFCOMPRESS_ZLIB ? "zlib" : method == COMPRESSED_ZSTD ? zstd : "unknown";
}

static bool is_plausible(struct unpacking *u, const struct image_section *s, uint64_t n_bytes)
{
	if (n_bytes == 0)
		return false;
	bool fits = n_bytes <= MAX_IMAGE_BYTES &&
		    (n_bytes <= ALWAYS_BYTES || n_bytes / MAX_RATIO <= s->n_bytes) &&
		    atomic_fetch_add(&u->n_bytes, n_bytes) <= MAX_IMAGE_BYTES - n_bytes;
	if (!fits)
		log_warn(u->image->path,
			 "section %s at file offset 0x%llx claims that its %llu bytes unpack to "
			 "%llu, which no debug information does",
			 s->name, (unsigned long long)s->file_offset,
			 (unsigned long long)s->n_bytes, (unsigned long long)n_bytes);
	return fits;
}

static void unpack_one(void *arg, size_t i, unsigned worker)
{
	struct unpacking *u = arg;
	struct image_section *s = u->sections.at[i];
	size_t header_bytes;
	uint64_t n_bytes = 0;
	uint32_t method = 0;
	(void)worker;
	uint8_t *out = NULL;
	bool said = false;
	errno = 0;
	if (read_header(s, &header_bytes, &n_bytes, &method) &&
	    !(said = !is_plausible(u, s, n_bytes)))
		out = method == ELFCOMPRESS_ZLIB  ? unpack_zlib(s, header_bytes, n_bytes)
		      : method == COMPRESSED_ZSTD ? unpack_zstd(s, header_bytes, n_bytes)
						  : NULL;
	if (!out && errno == ENOMEM)
		atomic_store(&u->no_memory, true);
	else if (!out && !said)
		log_warn(u->image->path,
			 "section %s at file offset 0x%llx cannot be decompressed (method %u: "
			 "%s)",
			 s->name, (unsigned long long)s->file_offset, method, name_of(method));
	u->results.at[i] = out;
	s->bytes = out;
	s->n_bytes = out ? n_bytes : 0;
	s->packed = IMAGE_PLAIN;
}

static bool is_named(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

bool image_unpack(struct image *image, const char *const *names, unsigned n_workers)
{
	struct unpacking u = {.image = image};
	bool ok = true;
	for (size_t i = 0; i < image->sections.n && ok; i++) {
		struct image_section *s = &image->sections.at[i];
		if (s->packed == IMAGE_PLAIN || !s->bytes || !is_named(s->name, names))
			continue;
		struct image_section **slot = vec_push(&u.sections);
		ok = slot != NULL;
		if (slot)
			*slot = s;
	}
	ok = ok && (u.sections.n == 0 ||
		    (vec_extend(&u.results, u.sections.n) &&
		     vec_reserve(&image->unpacked, image->unpacked.n + u.sections.n)));
	if (ok && u.sections.n > 0) {
		pool_run(u.sections.n, n_workers, unpack_one, &u);
		for (size_t i = 0; i < u.results.n; i++)
			*vec_push(&image->unpacked) = u.results.at[i];
	}
	vec_free(&u.sections);
	vec_free(&u.results);
	return ok && !atomic_load(&u.no_memory);
}
