/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves only the launched or sampled kernels of big cubins, because a library's cubin can have
 * hundreds of kernels. The driver's image stays in memory while the module is loaded. When a kernel
 * is seen for the first time, we cut it out of the image and save it. CUPTI does not promise that
 * the image stays, so it must still have the hash that it had when it was loaded. If the hash
 * differs, the kernel's code counts as not kept, and later images are saved whole when they are
 * loaded. Each cut reads the whole image. So after some cuts an image is saved whole. Any thread;
 * not signal-safe. Test: tests/unit/cupti/test_cupti_cut.c, tests/cli/gpu/cupti_parts.sh.
 */
#include "common/safe/sys.h"
#include "hpcrun-lite/gpu/cupti/nv.h"
#include "hpcrun-lite/gpu/cupti/nv_cut.h"
#include "hpcrun-lite/gpu/hash128.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define IS_HELD (1u << 31)      /* marks a number of `images`; others are the host's ids */
#define LEAST_BYTES (64u << 10) /* smaller images are saved whole: a few kernels are as large */
#define PIECE_BYTES (128u << 10)
#define MOST_IMAGES (1u << 14)
#define MOST_CUTS 64u /* of one image; then it is saved whole */

struct held {
	const void *image;
	size_t bytes;
	uint64_t hash[2];
	uint32_t device;
	uint32_t n_cuts;
	uint32_t whole; /* the host's id of the whole image, 0: not saved */
};

static struct held images[MOST_IMAGES]; /* unused pages take no memory */
static uint32_t n_images;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both */
static struct nv_map by_content = {.lock = PTHREAD_MUTEX_INITIALIZER, .max = MOST_IMAGES};
static atomic_bool is_off; /* an image had changed or was gone */

/* Reads memory that may be gone. */
static bool read_guarded(void *to, const void *from, size_t bytes)
{
	const struct iovec mine = {to, bytes}, other = {(void *)(uintptr_t)from, bytes};
	return sys_call6(SYS_process_vm_readv, sys_getpid(), (long)&mine, 1, (long)&other, 1, 0) ==
	       (long)bytes;
}

static void *room_of(size_t bytes)
{
	long at = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return sys_is_error(at) ? NULL : (void *)at;
}

uint32_t nv_part_hold(const void *image, size_t bytes, uint32_t device, uint64_t hash[2])
{
	uint64_t probe;
	/* a recording and its replay must make the same calls, so both save whole images */
	if (bytes < LEAST_BYTES || nv.options.record_bytes > 0 || nv_library_stand_in ||
	    atomic_load_explicit(&is_off, memory_order_relaxed) ||
	    !read_guarded(&probe, image, sizeof probe) || !nv_cut_is_possible(image, bytes))
		return 0;
	hash128(image, bytes, 0, hash);
	uint64_t key = hash[0] ^ (device + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
	pthread_mutex_lock(&lock);
	uint32_t n = (uint32_t)nv_map_get(&by_content, key);
	if (!n && n_images + 1 < MOST_IMAGES && nv_map_put(&by_content, key, n_images + 1))
		n = ++n_images;
	if (n) /* also when loaded again: the former image may be gone */
		images[n] = (struct held){.image = image,
					  .bytes = bytes,
					  .hash = {hash[0], hash[1]},
					  .device = device,
					  .n_cuts = images[n].n_cuts,
					  .whole = images[n].whole};
	pthread_mutex_unlock(&lock);
	return n ? n | IS_HELD : 0;
}

static uint32_t save(const struct held *h, const void *bytes, size_t n_bytes)
{
	uint64_t hash[2] = {h->hash[0], h->hash[1]};
	return nv.host->code(nv.host,
			     &(struct gpu_code){.kind = MSR_GPU_CODE_ELF,
						.bytes = bytes,
						.n_bytes = n_bytes,
						.device = h->device,
						.is_lost = !bytes},
			     hash);
}

/* Returns true if the image is still in its place with the same bytes. */
static bool is_there(const struct held *h)
{
	uint64_t state[2] = {0, 0}, hash[2] = {0, 0};
	uint8_t *piece = room_of(PIECE_BYTES);
	bool is_good = piece != NULL;
	for (size_t at = 0, n = 0; at < h->bytes && is_good; at += n) {
		n = h->bytes - at < PIECE_BYTES ? h->bytes - at : PIECE_BYTES;
		is_good = read_guarded(piece, (const uint8_t *)h->image + at, n);
		if (is_good)
			hash128_add(state, piece, n);
		if (is_good && at + n == h->bytes)
			hash128_end(state, piece + n - n % 16, h->bytes, hash);
	}
	if (piece)
		sys_munmap(piece, PIECE_BYTES);
	return is_good && hash[0] == h->hash[0] && hash[1] == h->hash[1];
}

static bool read_image(void *arg, void *to, uint64_t offset, size_t n)
{
	const struct held *h = arg;
	return read_guarded(to, (const uint8_t *)h->image + offset, n);
}

/* `copy` has room for the image. */
static uint32_t save_kernel(struct held *h, void *copy, const char *name)
{
	size_t bytes = h->n_cuts <= MOST_CUTS &&
				       nv_cut_gather(copy, h->bytes, name, read_image, h)
			       ? nv_cut(copy, h->bytes, name, NULL, 0)
			       : 0;
	void *out = bytes ? room_of(bytes) : NULL;
	if (!out)
		return save(h, read_image(h, copy, 0, h->bytes) ? copy : NULL, h->bytes);
	uint32_t code = save(h, out, nv_cut(copy, h->bytes, name, out, bytes));
	sys_munmap(out, bytes);
	return code;
}

uint32_t nv_part_of(uint32_t code, const char *name)
{
	if (!(code & IS_HELD))
		return code;
	const uint32_t number = code & ~IS_HELD;
	pthread_mutex_lock(&lock);
	images[number].n_cuts++;
	struct held h = images[number];
	pthread_mutex_unlock(&lock);
	if (h.whole)
		return h.whole;
	bool is_good = is_there(&h);
	if (!is_good)
		atomic_store_explicit(&is_off, true, memory_order_relaxed);
	void *copy = is_good ? room_of(h.bytes) : NULL;
	code = copy ? save_kernel(&h, copy, name) : save(&h, NULL, h.bytes);
	if (copy)
		sys_munmap(copy, h.bytes);
	if (copy && h.n_cuts > MOST_CUTS) {
		pthread_mutex_lock(&lock);
		images[number].whole = code;
		pthread_mutex_unlock(&lock);
	}
	return code;
}
