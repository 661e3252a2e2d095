/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records the children of the process; see children.h. Must not reap a child that the program would
 * not reap. Test: tests/cli/run/run_children.sh.
 */
#include "hpcrun-lite/runtime/children.h"

#include "common/safe/clock.h"
#include "common/safe/forked.h"
#include "common/safe/patience.h"
#include "common/safe/quiet.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/beside.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"

#include <limits.h>
#include <string.h>
#include <sys/wait.h>

#define CHILDREN_MAX 100000u   /* records of children per process: 3 MB */
#define SMALL_NS 1000000u      /* less CPU time is not worth a record of its own */

static struct {
	_Atomic uint64_t given_ns; /* the part of RUSAGE_CHILDREN that has records */
	uint64_t before_ns;        /* beside_cpu_ns() of the parent, in a forked child */
	_Atomic uint32_t n;
} children WRITTEN_BY_FORKED;

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

static uint64_t cpu_of(const struct rusage *use)
{
	return ns_of(&use->ru_utime) + ns_of(&use->ru_stime);
}

/* Returns the CPU time of the process (RUSAGE_SELF) or of the children it waited for. */
static uint64_t cpu_used(int whose)
{
	struct rusage use;
	return sys_is_error(sys_call3(SYS_getrusage, whose, (long)&use, 0)) ? 0 : cpu_of(&use);
}

static void start(uint64_t given_ns)
{
	children.before_ns = beside_cpu_ns();
	atomic_store_explicit(&children.given_ns, given_ns, memory_order_relaxed);
	atomic_store_explicit(&children.n, 0, memory_order_relaxed);
}

void children_start(void)
{
	/* After exec, the sum includes children of the previous program. */
	start(cpu_used(RUSAGE_CHILDREN));
}

void children_forked(void)
{
	start(0);
}

/* Blocks signals until end(): a handler of the program could otherwise wait for this thread. */
static void *begin(enum msr_kind kind, size_t n_bytes, uint64_t *mask)
{
	struct patience patience = {0};
	enum msr_loss cause;
	void *record;
	*mask = quiet_begin();
	while (!(record = records_begin(kind, n_bytes, &cause)) && cause == MSR_LOSS_BUSY &&
	       patience_wait(&patience))
		continue;
	if (!record)
		quiet_end(*mask);
	return record;
}

static void end(enum msr_kind kind, size_t n_bytes, uint64_t mask)
{
	records_end(kind, n_bytes);
	quiet_end(mask);
}

static bool write_child(int pid, int status, uint64_t cpu_ns)
{
	uint64_t mask;
	struct msr_child *c = begin(MSR_CHILD, sizeof *c, &mask);
	if (!c)
		return false;
	*c = (struct msr_child){.pid = (uint32_t)pid,
		.status = status,
		.end_ns = clock_mono_ns(),
		.cpu_ns = cpu_ns};
	end(MSR_CHILD, sizeof *c, mask);
	return true;
}

void runtime_child_ended(int pid, int status, const struct rusage *use)
{
	if (!process_is_owner() || (!WIFEXITED(status) && !WIFSIGNALED(status))
	    || atomic_fetch_add_explicit(&children.n, 1, memory_order_relaxed) >= CHILDREN_MAX)
		return;
	uint64_t cpu_ns = cpu_of(use);
	const bool bus = file_fault_open();
	if (write_child(pid, status, cpu_ns))
		atomic_fetch_add_explicit(&children.given_ns, cpu_ns, memory_order_relaxed);
	file_fault_close(bus);
}

struct msr_unmeasured *runtime_child_unmeasured(
	int pid, enum msr_unmeasured_reason reason, const char *path, bool replaces)
{
	/* In a child of vfork this writes to the parent's file. */
	if (!process_is_alive() || reason == MSR_UNMEASURED_VOID)
		return NULL;
	size_t path_bytes = strnlen(path, PATH_MAX - 1) + 1;
	size_t n = (sizeof(struct msr_unmeasured) + path_bytes + 7) & ~(size_t)7;
	const bool bus = file_fault_open();
	uint64_t mask;
	struct msr_unmeasured *u = begin(MSR_UNMEASURED, n, &mask);
	if (u) {
		u->bytes = (uint32_t)n;
		u->pid = (uint32_t)pid;
		atomic_store_explicit(&u->reason, reason, memory_order_relaxed);
		u->path_bytes = (uint32_t)path_bytes;
		u->start_ns = clock_mono_ns();
		u->cpu_before_ns =
			replaces ? cpu_used(RUSAGE_SELF) + cpu_used(RUSAGE_CHILDREN) : 0;
		memcpy(u + 1, path, path_bytes - 1);
		end(MSR_UNMEASURED, n, mask);
	}
	file_fault_close(bus);
	return u;
}

void runtime_child_not_started(struct msr_unmeasured *record)
{
	if (record) /* the mapping exists even if the file was given up */
		atomic_store_explicit(&record->reason, MSR_UNMEASURED_VOID, memory_order_relaxed);
}

void runtime_spawned(const struct runtime_spawn *s)
{
	if (!process_is_alive())
		return;
	const size_t path_bytes = strnlen(s->path, PATH_MAX - 1) + 1;
	const size_t n = (sizeof(struct msr_spawn) + path_bytes + 7) & ~(size_t)7;
	const bool bus = file_fault_open();
	uint64_t mask;
	struct msr_spawn *to = begin(MSR_SPAWN, n, &mask);
	if (to) {
		to->bytes = (uint32_t)n;
		to->path_bytes = (uint32_t)path_bytes;
		to->id = s->id;
		to->n_processes = s->n_processes;
		to->reason = s->reason;
		memcpy(to + 1, s->path, path_bytes - 1);
		end(MSR_SPAWN, n, mask);
	}
	file_fault_close(bus);
}

void children_finish(void)
{
	const uint64_t all_ns = cpu_used(RUSAGE_CHILDREN),
		       ours_ns = beside_cpu_ns() - children.before_ns,
		       used_ns = all_ns > ours_ns ? all_ns - ours_ns : 0,
		       given_ns = atomic_load_explicit(&children.given_ns, memory_order_relaxed);
	if (used_ns > given_ns + SMALL_NS && write_child(0, 0, used_ns - given_ns))
		atomic_store_explicit(&children.given_ns, used_ns, memory_order_relaxed);
}
