/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See follow_part.h. Must not map the file, because its process may truncate it. Test:
 * tests/unit/run/test_follow.c.
 */
#include "hpcrun-lite/launch/copy/follow_part.h"

#include "common/safe/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct pass {
	struct follow_part *p;
	int local, target;
	bool is_final;
	uint64_t size;         /* number of bytes to copy */
	uint64_t target_bytes; /* the target's size; it is zero beyond */
	struct follow_chain now;
	struct local_part page;
};

/* Collects neighbouring blocks, to write them together. */
static struct {
	uint64_t at;
	size_t n;
	_Alignas(8) uint8_t bytes[16 * FOLLOW_BLOCK_BYTES];
} run;

/* ---- the target ---- */

static bool write_at(struct pass *s, const void *bytes, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t w = pwrite(s->target, (const uint8_t *)bytes + done, n - done,
				   (off_t)(at + done));
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return false;
		done += (size_t)w;
	}
	s->p->n_bytes += n;
	return true;
}

/* Keeps the text up to the end of its third line. */
static bool keep_text(struct follow_part *p, const char *page, size_t n)
{
	size_t end = 0;
	for (int lines = 0; lines < 3; lines++) {
		const char *at = memchr(page + end, '\n', n - end);
		if (!at)
			return false;
		end = (size_t)(at - page) + 1;
	}
	if (end + 64 > sizeof p->text) /* room for the time */
		return false;
	memset(p->text, 0, sizeof p->text);
	memcpy(p->text, page, end);
	return true;
}

bool follow_part_open(struct follow_part *p, int target)
{
	static union {
		char bytes[LOCAL_DATA_BYTES];
		struct local_part aligned;
	} page;
	const ssize_t n = pread(target, page.bytes, sizeof page.bytes, 0);
	follow_part_close(p);
	if (n < 0)
		return false;
	errno = ENAMETOOLONG;
	if (!keep_text(p, page.bytes, (size_t)n))
		return false;
	const struct local_part *part = local_data_part(page.bytes, (size_t)n);
	errno = ENOMEM;
	p->is_open = !part || follow_chain_read(&p->shown, target, part->header.allocated);
	return p->is_open;
}

void follow_part_close(struct follow_part *p)
{
	follow_chain_free(&p->shown);
	vec_free(&p->sums);
	p->is_open = false;
}

/* ---- the local file ---- */

/*
 * Must not truncate: if the node is full, the process may already be writing the rest of its file
 * into the target, beyond this size.
 */
static bool enlarge_target(struct pass *s)
{
	return s->target_bytes >= s->size || write_at(s, "", 1, s->size - 1);
}

static bool read_start(struct pass *s)
{
	struct stat in, out;
	s->page = (struct local_part){.magic = LOCAL_PART_MAGIC,
				      .copied_mono_ns = clock_ns(CLOCK_MONOTONIC),
				      .copied_real_ns = clock_ns(CLOCK_REALTIME)};
	struct msr_header *h = &s->page.header;
	if (pread(s->local, h, sizeof *h, 0) != (ssize_t)sizeof *h || fstat(s->local, &in) != 0 ||
	    fstat(s->target, &out) != 0)
		return false;
	/* The rest of a larger file is already in the target. */
	const bool is_whole = h->allocated <= (uint64_t)in.st_size;
	s->size = is_whole ? h->allocated : (uint64_t)in.st_size;
	s->target_bytes = (uint64_t)out.st_size;
	return (!is_whole || enlarge_target(s)) && follow_chain_read(&s->now, s->local, s->size);
}

static bool has_ended(const struct pass *s)
{
	uint64_t end_ns = 0;
	return !s->is_final && pread(s->local, &end_ns, sizeof end_ns,
				     offsetof(struct msr_header, end_mono_ns)) == sizeof end_ns &&
	       end_ns;
}

/*
 * Waits for the server. Releases the lock meanwhile, because the process must not wait for us when
 * it ends. So the ending process may copy the file, or --collect if the process is killed. Then we
 * must not write to the target any more.
 */
static enum follow_result sync_target(struct pass *s)
{
	char text[sizeof s->p->text];
	const size_t n = strlen(s->p->text);
	if (s->is_final)
		return fdatasync(s->target) == 0 ? FOLLOW_DONE : FOLLOW_FAILED;
	flock(s->local, LOCK_UN);
	const bool failed = fdatasync(s->target) != 0;
	if (flock(s->local, LOCK_EX | LOCK_NB) != 0 || has_ended(s) ||
	    pread(s->target, text, n, 0) != (ssize_t)n || memcmp(text, s->p->text, n) != 0)
		return FOLLOW_ENDED;
	return failed ? FOLLOW_FAILED : FOLLOW_DONE;
}

/* ---- everything but the headers that are shown ---- */

/* Records of these kinds do not change once they are written. */
static bool is_append_only(const struct msr_extent *e)
{
	return e->kind == MSR_TRACE || e->kind == MSR_GPU_OP;
}

/* Returns true if the target already has these bytes, so that the file need not be read there. */
static bool is_known(const struct pass *s, uint64_t at, size_t n)
{
	struct msr_extent e, shown;
	const size_t i = follow_chain_at(&s->now, at + 1);
	if (i == 0)
		return false;
	const struct follow_item *item = &s->now.items.at[i - 1],
				 *old = follow_chain_find(&s->p->shown, item->at);
	if (!old || old->n_bytes != sizeof e || item->n_bytes != sizeof e)
		return false;
	memcpy(&e, follow_chain_bytes(&s->now, item), sizeof e);
	memcpy(&shown, follow_chain_bytes(&s->p->shown, old), sizeof shown);
	return e.check == shown.check && is_append_only(&e) && at >= item->at + sizeof e &&
	       at + n <= item->at + sizeof e + shown.used;
}

/*
 * Puts the headers of a chain, or zeros in their place, into `to`: n bytes of the file from `at`
 * on.
 */
static void put_headers(const struct follow_chain *c, uint8_t *to, uint64_t at, size_t n,
			bool zeros)
{
	for (size_t i = follow_chain_at(c, at); i < c->items.n && c->items.at[i].at < at + n; i++) {
		const struct follow_item *item = &c->items.at[i];
		const size_t from = (size_t)(item->at - at),
			     room = item->n_bytes < n - from ? item->n_bytes : n - from;
		if (zeros)
			memset(to + from, 0, room);
		else
			memcpy(to + from, follow_chain_bytes(c, item), room);
	}
}

static bool has_new_header(const struct pass *s, uint64_t at, size_t n)
{
	const struct follow_chain *c = &s->now;
	for (size_t i = follow_chain_at(c, at); i < c->items.n && c->items.at[i].at < at + n; i++)
		if (!follow_chain_find(&s->p->shown, c->items.at[i].at))
			return true;
	return false;
}

/* Never 0. Zeros have the sum 1. */
static uint64_t sum_of_block(const uint8_t *block)
{
	const uint64_t *words = (const void *)block;
	uint64_t h[4] = {0}, any = 0;
	for (size_t i = 0; i < FOLLOW_BLOCK_BYTES / 8; i += 4)
		for (size_t k = 0; k < 4; k++) {
			any |= words[i + k];
			h[k] = (h[k] ^ words[i + k]) * UINT64_C(0x9e3779b97f4a7c15);
			h[k] ^= h[k] >> 29;
		}
	const uint64_t sum = h[0] ^ (h[1] << 1 | h[1] >> 63) ^ (h[2] << 2 | h[2] >> 62) ^
			     (h[3] << 3 | h[3] >> 61);
	return !any ? 1 : sum > 1 ? sum : 2;
}

static bool write_run(struct pass *s)
{
	const size_t n = run.n;
	run.n = 0;
	return n == 0 || write_at(s, run.bytes, n, run.at);
}

static bool read_block(const struct pass *s, uint8_t *to, uint64_t at, size_t n)
{
	ssize_t got;
	memset(to, 0, FOLLOW_BLOCK_BYTES);
	do
		got = pread(s->local, to, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got >= 0;
}

/* Adds the block to the run if the target needs it. Returns 1, 0 if it does not, or -1. */
static int take_block(struct pass *s, size_t number)
{
	const uint64_t start = (uint64_t)number * FOLLOW_BLOCK_BYTES,
		       at = start < MSR_HEADER_BYTES ? MSR_HEADER_BYTES : start,
		       end = s->size - start < FOLLOW_BLOCK_BYTES ? s->size
								  : start + FOLLOW_BLOCK_BYTES;
	const size_t n = end > at ? (size_t)(end - at) : 0;
	uint64_t *sum = &s->p->sums.at[number];
	uint8_t *to = run.bytes + run.n;
	if (n == 0 || (*sum && is_known(s, at, n)))
		return 0;
	if (!read_block(s, to, at, n))
		return -1;
	put_headers(&s->now, to, at, n, true);
	put_headers(&s->p->shown, to, at, n, true);
	const uint64_t now = sum_of_block(to);
	const bool is_there = *sum == now || (now == 1 && at >= s->target_bytes);
	*sum = now;
	if (is_there && !has_new_header(s, at, n))
		return 0;
	put_headers(&s->now, to, at, n, false);
	put_headers(&s->p->shown, to, at, n, false); /* shown headers overwrite new ones */
	run.at = run.n ? run.at : at;
	run.n += n;
	return 1;
}

static enum follow_result copy_blocks(struct pass *s, bool *wrote)
{
	const size_t n = (size_t)((s->size + FOLLOW_BLOCK_BYTES - 1) / FOLLOW_BLOCK_BYTES);
	errno = ENOMEM;
	if (s->p->sums.n < n && !vec_extend(&s->p->sums, n - s->p->sums.n))
		return FOLLOW_FAILED;
	run.n = 0;
	for (size_t i = 0; i < n; i++) {
		const int taken = take_block(s, i);
		const bool is_full = run.n + FOLLOW_BLOCK_BYTES > sizeof run.bytes;
		if (taken < 0 || ((!taken || is_full) && !write_run(s)))
			return FOLLOW_FAILED;
		*wrote |= taken > 0;
		if (has_ended(s))
			return FOLLOW_ENDED;
	}
	return write_run(s) ? FOLLOW_DONE : FOLLOW_FAILED;
}

/* ---- the headers that are shown ---- */

static bool show_headers(struct pass *s)
{
	for (size_t i = 0; i < s->p->shown.items.n; i++) {
		const struct follow_item *old = &s->p->shown.items.at[i],
					 *new = follow_chain_find(&s->now, old->at);
		if (!new || new->n_bytes != old->n_bytes)
			continue;
		const uint8_t *bytes = follow_chain_bytes(&s->now, new);
		if (memcmp(bytes, follow_chain_bytes(&s->p->shown, old), new->n_bytes) != 0 &&
		    !write_at(s, bytes, new->n_bytes, new->at))
			return false;
	}
	return true;
}

static bool show_page(struct pass *s)
{
	static char page[LOCAL_DATA_BYTES];
	const time_t t = (time_t)(s->page.copied_real_ns / 1000000000u);
	struct tm utc;
	memset(page, 0, sizeof page);
	size_t n = strlen(s->p->text);
	memcpy(page, s->p->text, n);
	gmtime_r(&t, &utc);
	strftime(page + n, LOCAL_PART_OFFSET - n, LOCAL_DATA_TIME "%Y-%m-%d %H:%M:%S UTC\n", &utc);
	memcpy(page + LOCAL_PART_OFFSET, &s->page, sizeof s->page);
	return write_at(s, page, sizeof page, 0);
}

static enum follow_result pass(struct pass *s)
{
	bool wrote = false;
	if (!read_start(s))
		return FOLLOW_FAILED;
	enum follow_result r = copy_blocks(s, &wrote);
	if (r != FOLLOW_DONE)
		return r;
	r = wrote ? sync_target(s) : FOLLOW_DONE;
	if (r != FOLLOW_DONE)
		return r;
	/* A header may refer to data in an extent whose own header does not include them yet. */
	return show_headers(s) && show_page(s) ? sync_target(s) : FOLLOW_FAILED;
}

enum follow_result follow_part_pass(struct follow_part *p, int local, int target, bool is_final)
{
	struct pass s = {.p = p, .local = local, .target = target, .is_final = is_final};
	const enum follow_result r = pass(&s);
	const int cause = errno;
	if (r == FOLLOW_DONE) {
		follow_chain_free(&p->shown);
		p->shown = s.now;
	} else {
		follow_chain_free(&s.now);
		follow_part_close(p);
	}
	errno = cause;
	return r;
}
