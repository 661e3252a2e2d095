/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells hooks about the process and its file; see runtime.h. Tests: tests/cli/run/run_*.sh,
 * tests/cli/sacred/sacred_fd.sh.
 */
#include "hpcrun-lite/runtime/process.h"

#include "hpcrun-lite/store/store.h"

struct process process;

bool runtime_is_owner(void)
{
	return process_is_owner();
}

const char *runtime_host(void)
{
	return process.host;
}

const struct config *runtime_config(void)
{
	return process.measuring ? &process.config : NULL;
}

bool runtime_owns_fd(int fd)
{
	return fd >= 0 && process_is_alive() && fd == store_fd();
}

int runtime_next_fd(int from)
{
	int fd = process_is_alive() ? store_fd() : -1;
	return fd >= from ? fd : -1;
}

bool runtime_move_fd(int fd)
{
	return !runtime_owns_fd(fd) || store_move_fd();
}

bool runtime_is_inside(void)
{
	return thread_self && atomic_load_explicit(&thread_self->in_handler, memory_order_relaxed);
}

void runtime_need_file(void)
{
	if (process_is_alive())
		store_own();
}

void runtime_count_loss(enum msr_loss cause)
{
	if (process_is_alive())
		store_count_loss(cause);
}
