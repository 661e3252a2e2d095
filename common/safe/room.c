/* SPDX-License-Identifier: BSD-3-Clause */
/* A share of the address space; see room.h. Must not allocate. Test: tests/cli/run/run_space.sh. */
#include "common/safe/room.h"

#include "common/safe/forked.h"
#include "common/safe/sys.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>

static WRITTEN_BY_FORKED _Atomic uint64_t taken;

/* Returns the bytes of address space in use: the first number of statm, in pages. 0: unknown. */
static uint64_t in_use(void)
{
	char text[32];
	uint64_t pages = 0;
	int fd = sys_open("/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	long n = sys_read(fd, text, sizeof text);
	sys_close(fd);
	for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		pages = pages * 10 + (uint64_t)(text[i] - '0');
	return pages * machine_page_bytes();
}

/* Relaxed throughout: threads that ask at the same time may together exceed the share a little. */
bool room_take(size_t n)
{
	struct rlimit limit;
	if (sys_call4(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY) {
		const uint64_t ours = atomic_load_explicit(&taken, memory_order_relaxed),
			       all = in_use(), theirs = all > ours ? all - ours : 0;
		if (limit.rlim_cur < theirs || ours + n > (limit.rlim_cur - theirs) / ROOM_SHARE)
			return false;
	}
	atomic_fetch_add_explicit(&taken, n, memory_order_relaxed);
	return true;
}

void room_give(size_t n)
{
	atomic_fetch_sub_explicit(&taken, n, memory_order_relaxed);
}
