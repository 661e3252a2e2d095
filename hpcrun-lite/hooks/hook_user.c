/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that change the user or the root directory; hook_syscall.c handles them by number. A forked
 * child creates its measurement file only when it needs one (store/nursery.h). That may fail after
 * it has given up privileges, as workers of nginx and Apache do. So we create the file before.
 * Test: tests/cli/run/run_forks.sh.
 */
#include "hpcrun-lite/hooks/hook_user.h"

#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <sys/fsuid.h>
#include <unistd.h>

HOOK_NEXT(setuid);
HOOK_NEXT(seteuid);
HOOK_NEXT(setreuid);
HOOK_NEXT(setresuid);
HOOK_NEXT(setfsuid);
HOOK_NEXT(chroot);

HOOK int setuid(uid_t user)
{
	runtime_need_file();
	return NEXT(setuid)(user);
}

HOOK int seteuid(uid_t effective)
{
	runtime_need_file();
	return NEXT(seteuid)(effective);
}

HOOK int setreuid(uid_t real, uid_t effective)
{
	runtime_need_file();
	return NEXT(setreuid)(real, effective);
}

HOOK int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	runtime_need_file();
	return NEXT(setresuid)(real, effective, saved);
}

HOOK int setfsuid(uid_t user)
{
	runtime_need_file();
	return NEXT(setfsuid)(user);
}

HOOK int chroot(const char *path)
{
	runtime_need_file();
	return NEXT(chroot)(path);
}

void hook_user_start(void)
{
	struct hook_next *const all[] = {
		&next_setuid,    &next_seteuid,  &next_setreuid,
		&next_setresuid, &next_setfsuid, &next_chroot};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
