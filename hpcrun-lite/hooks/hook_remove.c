/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that remove or rename a file. If a library was loaded from the file, it would be gone when
 * the report is made: JNI libraries, R, torch inductor and bundles remove what they have unpacked.
 * So we first copy it into the measurement. We do the same for libraries in memory (memfd_create)
 * when their descriptor is closed. Test: tests/cli/run/run_gone.sh.
 */
#include "hpcrun-lite/hooks/hook_remove.h"

#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

HOOK_NEXT(unlink);
HOOK_NEXT(unlinkat);
HOOK_NEXT(remove);
HOOK_NEXT(rename);
HOOK_NEXT(renameat);
HOOK_NEXT(renameat2);
HOOK_NEXT(memfd_create);

enum { WORD_BITS = 64, WORDS = 16 };

/*
 * Descriptors of files in memory, by number. Relaxed: the thread that closes a descriptor already
 * knows about it.
 */
static _Atomic uint64_t nameless[WORDS];

static void name_goes(int directory, const char *path)
{
	const int saved = errno;
	runtime_name_goes(directory, path);
	errno = saved;
}

HOOK int unlink(const char *path)
{
	name_goes(AT_FDCWD, path);
	return NEXT(unlink)(path);
}

HOOK int unlinkat(int directory, const char *path, int flags)
{
	if (!(flags & AT_REMOVEDIR))
		name_goes(directory, path);
	return NEXT(unlinkat)(directory, path, flags);
}

HOOK int remove(const char *path)
{
	name_goes(AT_FDCWD, path);
	return NEXT(remove)(path);
}

/* The file with the new name is removed, and the file with the old name gets another name. */
HOOK int rename(const char *old, const char *new)
{
	name_goes(AT_FDCWD, old);
	name_goes(AT_FDCWD, new);
	return NEXT(rename)(old, new);
}

HOOK int renameat(int old_directory, const char *old, int new_directory, const char *new)
{
	name_goes(old_directory, old);
	name_goes(new_directory, new);
	return NEXT(renameat)(old_directory, old, new_directory, new);
}

HOOK int renameat2(int old_directory, const char *old, int new_directory, const char *new,
		   unsigned flags)
{
	name_goes(old_directory, old);
	name_goes(new_directory, new);
	return NEXT(renameat2)(old_directory, old, new_directory, new, flags);
}

HOOK int memfd_create(const char *name, unsigned flags)
{
	const int fd = NEXT(memfd_create)(name, flags);
	if (fd >= 0 && fd < WORD_BITS * WORDS)
		atomic_fetch_or_explicit(&nameless[fd / WORD_BITS],
					 UINT64_C(1) << fd % WORD_BITS, memory_order_relaxed);
	return fd;
}

void hook_remove_descriptor(int fd)
{
	if (fd < 0 || fd >= WORD_BITS * WORDS)
		return;
	const uint64_t bit = UINT64_C(1) << fd % WORD_BITS;
	_Atomic uint64_t *word = &nameless[fd / WORD_BITS];
	if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
		return;
	const int saved = errno;
	atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed);
	runtime_descriptor_goes(fd);
	errno = saved;
}

void hook_remove_start(void)
{
	struct hook_next *const all[] = {&next_unlink,   &next_unlinkat,  &next_remove,
					 &next_rename,   &next_renameat,  &next_renameat2,
					 &next_memfd_create};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
