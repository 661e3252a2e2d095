/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See python_tls.h. The ways to load a variable are those of U. Drepper, "ELF Handling For
 * Thread-Local Storage": local exec, initial exec, and (local or general) dynamic.
 */
#include "hpcrun-lite/python/python_tls.h"

#include "common/safe/load.h"
#include "common/safe/sys.h"

#include <string.h>

static int32_t number(const uint8_t *at)
{
	int32_t n;
	memcpy(&n, at, sizeof n);
	return n;
}

static bool begins(const uint8_t *code, const uint8_t *end, const char *bytes, size_t n)
{
	return (size_t)(end - code) >= n && memcmp(code, bytes, n) == 0;
}
#define BEGINS(code, end, bytes) begins(code, end, bytes, sizeof bytes - 1)

/* The load from what __tls_get_addr() returned: mov disp(%rax),%rax. */
static bool decode_last_load(const uint8_t *code, const uint8_t *end, uint64_t *offset)
{
	for (; code < end; code++) {
		if (BEGINS(code, end, "\x48\x8b\x00"))
			return true;
		if (BEGINS(code, end - 1, "\x48\x8b\x40")) {
			*offset += (uint64_t)(int8_t)code[3];
			return true;
		}
		if (BEGINS(code, end - 4, "\x48\x8b\x80")) {
			*offset += (uint64_t)(int64_t)number(code + 3);
			return true;
		}
	}
	return false;
}

/* lea GOT(%rip),%rdi; call __tls_get_addr. The loader has put both numbers into the GOT. */
static bool decode_dynamic(const uint8_t *code, const uint8_t *end, uintptr_t got,
			   struct python_tls *tls)
{
	uint64_t pair[2];
	for (; code < end; code++) {
		const bool near = BEGINS(code, end - 4, "\xe8");
		if (!near && !BEGINS(code, end - 4, "\xff\x15"))
			continue;
		if (load_guarded(pair, got, sizeof pair) != sizeof pair || !pair[0])
			return false;
		*tls = (struct python_tls){pair[0], pair[1]};
		return decode_last_load(code + (near ? 5 : 6), end, &tls->offset);
	}
	return false;
}

bool python_tls_decode(const uint8_t *code, size_t n, uintptr_t at, struct python_tls *tls)
{
	const uint8_t *const end = code + n;
	for (const uint8_t *p = code; end - p >= 9; p++) {
		/* mov %fs:disp,%rax; variables are below the thread pointer, the canary is above */
		if (BEGINS(p, end, "\x64\x48\x8b\x04\x25") && number(p + 5) < 0) {
			*tls = (struct python_tls){0, (uint64_t)(int64_t)number(p + 5)};
			return true;
		}
		const uintptr_t got = at + (uintptr_t)(p + 7 - code) + (uintptr_t)number(p + 3);
		/* mov GOT(%rip),%rax; mov %fs:(%rax),%rax */
		if (BEGINS(p, end, "\x48\x8b\x05") && BEGINS(p + 7, end, "\x64\x48\x8b\x00")) {
			tls->module = 0;
			return load_guarded(&tls->offset, got, sizeof got) == sizeof got;
		}
		if (BEGINS(p, end, "\x48\x8d\x3d"))
			return decode_dynamic(p + 7, end, got, tls);
	}
	return false;
}

/*
 * The head of a thread in glibc: the thread pointer points to it, and one of its words to the
 * blocks of the loaded objects. The number of objects is before the first.
 */
struct block {
	uintptr_t at, to_free;
};

uintptr_t python_tls_place(const struct python_tls *tls)
{
	const uintptr_t *thread = machine_thread_pointer();
	if (!tls->module)
		return (uintptr_t)thread + tls->offset;
	const struct block *blocks = (const struct block *)thread[MACHINE_BLOCKS_WORD];
	const uintptr_t at = tls->module <= blocks[-1].at ? blocks[tls->module].at : 0;
	return at && at != UINTPTR_MAX ? at + tls->offset : 0;
}
