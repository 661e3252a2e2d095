/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of glibc (2.34 and later) that are on every stack and have no symbol, because
 * distributions strip .symtab. We recognise each one by its callers and by its code, and only if
 * exactly one function fits. Test: tests/cli/struct/struct_libc.sh.
 */
#include "hpcstruct-lite/image/image.h"

#include <elf.h>
#include <string.h>

enum { MAX_TARGETS = 64 };

/* Code and its link address. */
struct part {
	const uint8_t *bytes;
	uint64_t start, n_bytes;
};

struct libc {
	const struct image *image;
	const struct image_ranges *frames;
	struct image_functions *out;
	uint64_t clone3; /* 0: not found */
	bool ok;
};

struct wanted {
	const char *name;
	struct image_range range;
};

static bool takes(void *arg, const struct image_symbol *s)
{
	struct wanted *w = arg;
	if (s->name_bytes == strlen(w->name) && memcmp(s->name, w->name, s->name_bytes) == 0)
		w->range = (struct image_range){s->link_addr, s->link_addr + s->n_bytes};
	return false;
}

/* Returns the range of a function that the library exports; empty if there is none. */
static struct image_range exported(const struct libc *l, const char *name)
{
	struct wanted w = {.name = name};
	struct image_symbols none = {0};
	const struct image_symbol_filter filter = {takes, &w, true, true};
	if (image_read_symbols(l->image, &filter, &none) != STATUS_OK)
		w.range = (struct image_range){0};
	vec_free(&none);
	return w.range;
}

static bool find_part(const struct libc *l, struct image_range r, struct part *out)
{
	for (size_t i = 0; i < l->image->sections.n; i++) {
		const struct image_section *s = &l->image->sections.at[i];
		if (!(s->flags & SHF_EXECINSTR) || !s->bytes || r.end <= r.start ||
		    r.start < s->link_addr || r.end - s->link_addr > s->n_bytes)
			continue;
		*out = (struct part){s->bytes + (r.start - s->link_addr), r.start, r.end - r.start};
		return true;
	}
	return false;
}

static const struct image_range *frame_at(const struct libc *l, uint64_t start)
{
	for (size_t i = 0; i < l->frames->n; i++)
		if (l->frames->at[i].start == start)
			return &l->frames->at[i];
	return NULL;
}

/* The use that an instruction makes of a distance to code: call and jmp; lea ..., %rsi. */
enum use { CALLS, PASSES_SECOND };

/*
 * Finds the functions that the code of a range calls directly, or whose address it passes on.
 * Examines every byte and does not decode instructions. So a target counts only if it is the start
 * of a range of .eh_frame.
 */
static size_t find_targets(const struct libc *l, struct image_range r, enum use use,
			   struct image_range target[MAX_TARGETS])
{
	struct part p;
	size_t n = 0;
	if (!find_part(l, r, &p))
		return 0;
	for (uint64_t i = 0; i + 7 <= p.n_bytes && n < MAX_TARGETS; i++) {
		const uint8_t *b = p.bytes + i;
		const uint64_t at = use == CALLS ? 1 : 3;
		int32_t distance;
		if (use == CALLS ? (b[0] & 0xfe) != 0xe8
				 : b[0] != 0x48 || b[1] != 0x8d || b[2] != 0x35)
			continue;
		memcpy(&distance, b + at, sizeof distance);
		const uint64_t to = p.start + i + at + 4 + (uint64_t)(int64_t)distance;
		const struct image_range *f = frame_at(l, to);
		bool is_known = !f || (to >= r.start && to < r.end);
		for (size_t k = 0; k < n; k++)
			is_known |= target[k].start == to;
		if (!is_known)
			target[n++] = *f;
	}
	return n;
}

static bool calls(const struct libc *l, struct image_range r, uint64_t function)
{
	struct image_range target[MAX_TARGETS];
	const size_t n = function ? find_targets(l, r, CALLS, target) : 0;
	for (size_t i = 0; i < n; i++)
		if (target[i].start == function)
			return true;
	return false;
}

static bool has_bytes(const struct libc *l, struct image_range r, const char *bytes, size_t n)
{
	struct part p;
	return find_part(l, r, &p) && memmem(p.bytes, p.n_bytes, bytes, n);
}

static void add(struct libc *l, const char *name, struct image_range range)
{
	struct image_function *f = vec_push(l->out);
	l->ok = l->ok && f;
	if (f)
		*f = (struct image_function){name, range};
}

/* Finds the function that calls main, and then exit() with main's result. */
static void find_caller_of_main(struct libc *l)
{
	const uint64_t exit_at = exported(l, "exit").start;
	struct image_range target[MAX_TARGETS], found = {0};
	const size_t n = find_targets(l, exported(l, "__libc_start_main"), CALLS, target);
	unsigned n_found = 0;
	for (size_t i = 0; i < n; i++)
		if (calls(l, target[i], exit_at)) {
			found = target[i];
			n_found++;
		}
	if (n_found == 1)
		add(l, "__libc_start_call_main", found);
}

/*
 * Returns the only range that contains these bytes, or has them around its end; empty if there are
 * none or several.
 */
static struct image_range only_with(const struct libc *l, const char *bytes, size_t n)
{
	enum { SYSCALL_BYTES = 2 };
	struct image_range found = {0};
	for (size_t i = 0; i < l->frames->n; i++) {
		const struct image_range r = l->frames->at[i];
		if (!has_bytes(l, (struct image_range){r.start, r.end + SYSCALL_BYTES}, bytes, n))
			continue;
		if (found.start)
			return (struct image_range){0};
		found = r;
	}
	return found;
}

/*
 * Finds the return from a signal handler, "mov $15, %rax; syscall". Debuggers recognise it by these
 * bytes.
 */
static void find_return_from_handler(struct libc *l)
{
	static const char code[] = "\x48\xc7\xc0\x0f\0\0\0\x0f\x05";
	const struct image_range r = only_with(l, code, sizeof code - 1);
	if (r.start)
		add(l, "__restore_rt", r);
}

/*
 * Finds clone3. It contains "mov $435, %eax; syscall" in its first range or at the end of it. The
 * thread starts in the next range, and the range after that handles errors.
 */
static void find_clone3(struct libc *l)
{
	static const char code[] = "\xb8\xb3\x01\0\0\x0f\x05";
	enum { APART_MOST = 16 };
	const struct image_range whole = only_with(l, code, sizeof code - 1);
	for (size_t i = 0; i < l->frames->n && whole.start; i++) {
		const struct image_range *r = &l->frames->at[i];
		if (r->start - whole.end < APART_MOST && has_bytes(l, *r, "\xff\xd2", 2)) {
			const struct image_range *rest = frame_at(l, r->end);
			l->clone3 = whole.start;
			add(l, "clone3",
			    (struct image_range){whole.start, rest ? rest->end : r->end});
			return;
		}
	}
}

/* Returns true if the function makes a thread, with at most `depth` functions in between. */
static bool reaches_clone3(const struct libc *l, struct image_range r, unsigned depth)
{
	struct image_range target[MAX_TARGETS];
	const size_t n = find_targets(l, r, CALLS, target);
	for (size_t i = 0; i < n; i++)
		if (target[i].start == l->clone3 ||
		    (depth > 0 && reaches_clone3(l, target[i], depth - 1)))
			return true;
	return false;
}

/*
 * Finds the function in which threads start. Its address is the second argument of the call that
 * makes a thread, in pthread_create or in a function that it calls.
 */
static void find_start_of_thread(struct libc *l)
{
	struct image_range maker[MAX_TARGETS + 1], target[MAX_TARGETS], found = {0};
	maker[0] = exported(l, "pthread_create");
	const size_t n = find_targets(l, maker[0], CALLS, maker + 1) + 1;
	for (size_t i = 0; i < n && l->clone3; i++) {
		if (find_targets(l, maker[i], PASSES_SECOND, target) != 1 ||
		    !reaches_clone3(l, maker[i], 2))
			continue;
		if (found.start && found.start != target[0].start)
			return;
		found = target[0];
	}
	if (found.start)
		add(l, "start_thread", found);
}

/*
 * Since glibc 2.41, all calls that can be cancelled are made in one place, two functions further
 * in.
 */
static void find_cancelled_calls(struct libc *l)
{
	struct image_range outer[MAX_TARGETS], other[MAX_TARGETS], inner[MAX_TARGETS],
		target[MAX_TARGETS];
	if (find_targets(l, exported(l, "recv"), CALLS, outer) != 1 ||
	    find_targets(l, exported(l, "accept"), CALLS, other) != 1 ||
	    outer[0].start != other[0].start || find_targets(l, outer[0], CALLS, inner) != 1)
		return;
	const size_t n = find_targets(l, inner[0], CALLS, target);
	for (size_t i = 0; i < n; i++)
		if (has_bytes(l, target[i], "\x0f\x05\xc3", 3)) { /* syscall; ret */
			add(l, "__syscall_cancel", outer[0]);
			add(l, "__internal_syscall_cancel", inner[0]);
			add(l, "__syscall_cancel_arch", target[i]);
			return;
		}
}

enum status image_find_libc(const struct image *image, struct image_functions *out)
{
	struct image_ranges frames = {0};
	struct libc l = {.image = image, .frames = &frames, .out = out, .ok = true};
	if (image->machine != EM_X86_64 || !exported(&l, "__libc_start_main").start)
		return STATUS_OK;
	enum status status = image_read_frames(image, &frames);
	if (status == STATUS_OK) {
		find_caller_of_main(&l);
		find_return_from_handler(&l);
		find_clone3(&l);
		find_start_of_thread(&l);
		find_cancelled_calls(&l);
		status = l.ok ? STATUS_OK : STATUS_NO_MEMORY;
	}
	vec_free(&frames);
	return status;
}
