/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See deliver.h. The helper is a grandchild. Our child shares our memory and descriptors and reaps
 * the helper; we reap the child. So no process above us that waits for its children inherits the
 * helper. wait() in other threads of the program returns neither of the two, unless with __WALL.
 * Must not use libc: we may be in a handler.
 */
#include "hpcrun-lite/runtime/life/deliver.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/runtime/beside.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/say.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define START_WAIT_MS 1000

static trylock lock;

static struct {
	bool can_stay;      /* the child has ended, so another child may use its stack */
	bool waits_for_end; /* waits for our end, which closes the pipe */
	int end_of_us[2];
	_Atomic bool is_done;
	struct beside child;
	_Alignas(16) uint8_t stack[BESIDE_STACK_BYTES]; /* of the grandchild */
} helper;

/* Takes no new descriptor: the program may have none left, or may have closed these three. */
static bool make_standard_descriptors(void)
{
	int fd = 0;
	if (helper.waits_for_end) {
		if (helper.end_of_us[0] != 0)
			sys_call3(SYS_dup3, helper.end_of_us[0], 0, 0);
		sys_fcntl(fd++, F_SETFD, 0);
	}
	for (; fd < 3; fd++) {
		sys_close(fd);
		if (sys_open("/dev/null", O_RDWR, 0) != fd)
			return false;
	}
	return true;
}

/*
 * Becomes the helper, which keeps none of the program's files, nor its terminal or directory. The
 * helper copies when its standard input ends.
 */
static void be_helper(void)
{
	const char *const arguments[] = {
		process.config.tool, CONFIG_COLLECT, store_path(), store_local_path(),
		store_left_path()[0] ? store_left_path() : NULL, NULL};
	const char *const environment[] = {NULL};
	if (!make_standard_descriptors())
		beside_exit(127);
	beside_close_from(3);
	sys_call3(SYS_setsid, 0, 0, 0);
	sys_call3(SYS_chdir, (long)"/", 0, 0);
	sys_call3(SYS_execve, (long)process.config.tool, (long)arguments, (long)environment);
	beside_exit(127);
}

/* Must not outlive us, because it keeps our memory alive. */
static void be_child(void)
{
	int status = -1;
	sys_call3(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
	/* If the program ignored SIGCHLD, the kernel would reap the helper. */
	signal_table_default(SIGCHLD);
	const long pid = beside_spawn(be_helper, helper.stack, CLONE_VFORK | SIGCHLD, NULL);
	if (pid > 0 && !helper.waits_for_end)
		while (sys_call4(SYS_wait4, pid, (long)&status, __WALL, 0) == -EINTR)
			;
	helper.is_done = status == 0;
	beside_exit(0);
}

/* Returns false if the child still uses its stack. */
static bool run_helper(uint64_t limit_ms, enum delivery *d)
{
	helper.is_done = false;
	const enum beside_end end = beside_run(&helper.child, be_child, CLONE_FILES, limit_ms);
	*d = end == BESIDE_LATE || end == BESIDE_STAYS          ? DELIVERY_LATE
	     : end == BESIDE_ENDED && helper.is_done ? DELIVERY_DONE
						     : DELIVERY_FAILED;
	return end != BESIDE_STAYS;
}

static bool may_deliver(void)
{
	return store_local_path()[0] && store_maker_has_ended() && trylock_take(&lock);
}

enum delivery deliver(void)
{
	enum delivery d;
	if (!may_deliver())
		return DELIVERY_NONE;
	helper.waits_for_end = false;
	if (run_helper(DELIVER_WAIT_MS, &d))
		trylock_give(&lock);
	return d;
}

void deliver_after_end(void)
{
	enum delivery d;
	if (!may_deliver())
		return;
	if (sys_call3(SYS_pipe2, (long)helper.end_of_us, O_CLOEXEC, 0) != 0) {
		trylock_give(&lock);
		return;
	}
	/* The kernel closes the other end when the process ends or executes another program. */
	helper.waits_for_end = true;
	helper.can_stay = run_helper(START_WAIT_MS, &d);
	sys_close(helper.end_of_us[0]);
}

void deliver_stay(void)
{
	if (!helper.waits_for_end)
		return;
	helper.waits_for_end = false;
	sys_close(helper.end_of_us[1]);
	if (helper.can_stay)
		trylock_give(&lock);
}

bool deliver_and_say(void)
{
	char line[3 * PATH_MAX];
	struct text t = text_in(line, sizeof line);
	const enum delivery d = deliver();
	if (d != DELIVERY_LATE && d != DELIVERY_FAILED)
		return true;
	text_put(&t, "hpcrun-lite: ");
	text_put_foreign(&t, process.config.directory);
	text_put(&t, d == DELIVERY_LATE ? ": copying the measurement of process "
					: ": cannot copy the measurement of process ");
	text_put_u64(&t, (uint64_t)process.pid);
	text_put(&t, d == DELIVERY_LATE
			     ? " there takes longer than 10 s and goes on without the program; if "
			       "it is stopped, the data are in "
			     : " there; it is in ");
	text_put_foreign(&t, process.config.local);
	text_put(&t, " on ");
	text_put_foreign(&t, process.host);
	text_put(&t, "; fetch it there with hpcrun-lite --collect ");
	text_put_foreign(&t, process.config.directory);
	text_put_char(&t, '\n');
	say(&t);
	return d != DELIVERY_LATE;
}
