/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: makes one allocation of the process fail, the one with the number in FAIL_ALLOC (from
 * 0). A child of fork goes on counting. Once it has failed, the file that FAIL_ALLOC_MARK names
 * exists. Test: tests/cli/struct_memory.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t n_bytes);
void *__libc_calloc(size_t n, size_t n_bytes);
void *__libc_realloc(void *p, size_t n_bytes);

static atomic_long until_failure = -1; /* allocations that still succeed; below 0: all do */
static const char *mark;

/* Before main: the loader's own allocations always succeed. */
__attribute__((constructor)) static void start(void)
{
	const char *number = getenv("FAIL_ALLOC");
	mark = getenv("FAIL_ALLOC_MARK");
	if (number && mark)
		atomic_store(&until_failure, strtol(number, NULL, 10));
}

static bool fails(void)
{
	if (atomic_load(&until_failure) < 0 || atomic_fetch_sub(&until_failure, 1) != 0)
		return false;
	close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	errno = ENOMEM;
	return true;
}

void *malloc(size_t n_bytes)
{
	return fails() ? NULL : __libc_malloc(n_bytes);
}

void *calloc(size_t n, size_t n_bytes)
{
	return fails() ? NULL : __libc_calloc(n, n_bytes);
}

void *realloc(void *p, size_t n_bytes)
{
	return fails() ? NULL : __libc_realloc(p, n_bytes);
}
