/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scratch memory of a thread; see hook_scratch.h. Each thread has one mapping, made by system
 * calls. If the same thread is already using it (a signal handler starts a program while the thread
 * does), the caller gets a mapping of its own. If another thread id is using it, that was a child
 * of vfork which has since become another program. Test: tests/cli/sacred/sacred_exec.sh.
 */
#include "hpcrun-lite/hooks/hook_scratch.h"

#include "common/safe/sys.h"

#include <stdbool.h>
#include <sys/mman.h>

struct header { /* at the start of every mapping */
	size_t n_bytes;
	bool kept;
} __attribute__((aligned(16)));

static _Thread_local struct header *mine;
static _Thread_local int user_tid; /* the thread that uses it; 0: none */

static struct header *map(size_t n_bytes, bool kept)
{
	const size_t n = machine_page_ceiling(n_bytes + sizeof(struct header));
	long at = sys_mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(at))
		return NULL;
	struct header *h = (struct header *)at;
	*h = (struct header){n, kept};
	return h;
}

void *hook_scratch_take(size_t n_bytes)
{
	int tid = sys_gettid();
	if (user_tid == tid) {
		struct header *h = map(n_bytes, false);
		return h ? h + 1 : NULL;
	}
	user_tid = tid;
	if (mine && mine->n_bytes - sizeof *mine < n_bytes) {
		sys_munmap(mine, mine->n_bytes);
		mine = NULL;
	}
	if (!mine)
		mine = map(n_bytes, true);
	if (!mine)
		user_tid = 0;
	return mine ? mine + 1 : NULL;
}

void hook_scratch_release(void *memory)
{
	struct header *h = memory;
	if (!h)
		return;
	h--;
	if (h->kept)
		user_tid = 0;
	else
		sys_munmap(h, h->n_bytes);
}

void hook_scratch_thread_end(void)
{
	if (mine)
		sys_munmap(mine, mine->n_bytes);
	mine = NULL;
	user_tid = 0;
}
