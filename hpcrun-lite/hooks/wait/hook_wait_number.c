/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out which system call a signal interrupted if the code before it does not show that; see
 * hook_wait_number.h. Looks at what the hook of syscall() noted, then at the argument of libc's
 * function for cancellable calls. doc/transparency.md explains the latter. Must not wait or lock.
 * Tests: tests/cli/sacred/sacred_wait.sh, tests/cli/sacred/sacred_cancel.sh.
 */
#include "hpcrun-lite/hooks/wait/hook_wait_number.h"

#include "common/safe/load.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"
#include "hpcrun-lite/runtime/signal_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* ---- syscall() ---- */

__thread struct wait_noted wait_noted;
static struct hook_next libc_syscall = {"syscall", NULL};

/* libc's function moves the number into place and makes the call, all in a few instructions. */
bool wait_has_noted(const ucontext_t *context, long *value)
{
	enum { CODE_BYTES = 64 };
	/* relaxed: set at the start */
	const uintptr_t code =
		(uintptr_t)atomic_load_explicit(&libc_syscall.function, memory_order_relaxed);
	*value = wait_noted.value;
	return code && machine_pc(context) - code < CODE_BYTES &&
	       wait_noted.sp == machine_sp(context);
}

/* ---- libc's function for calls that can be cancelled ---- */

/*
 * Since glibc 2.41, one function makes all these calls; its seventh argument is the number. The ABI
 * puts it on the stack, right above the return address, which is in another function of libc. We
 * find that return address with three calls that fail at once: each leaves it below our stack
 * pointer, with the call's number above it. 0: libc works differently.
 */
static uintptr_t returns_to;

typedef long call_fn(long, long, long, long);

static struct probe {
	struct hook_next next;
	long number;
} probes[] = {
	{{"close", NULL}, SYS_close}, {{"pread", NULL}, SYS_pread64}, {{"writev", NULL}, SYS_writev}
};
enum { N_PROBES = sizeof probes / sizeof *probes, LEFT_WORDS = 128 };

/* After the call, sets left[i] to the word at i + 1 words below this frame. */
static __attribute__((noinline)) void make_call(call_fn *call, uint64_t left[LEFT_WORDS])
{
	call(-1, 0, 0, 0);
	const volatile uint64_t *frame = __builtin_frame_address(0);
	for (ptrdiff_t i = 0; i < LEFT_WORDS; i++)
		left[i] = frame[-1 - i];
}

static bool is_left(const uint64_t left[LEFT_WORDS], uint64_t address, uint64_t above)
{
	for (unsigned i = 1; i < LEFT_WORDS; i++)
		if (left[i] == address && left[i - 1] == above)
			return true;
	return false;
}

static uintptr_t find_common(uint64_t left[N_PROBES][LEFT_WORDS])
{
	for (unsigned i = 1; i < LEFT_WORDS; i++) {
		unsigned n = 0;
		while (n < N_PROBES && is_left(left[n], left[0][i], (uint64_t)probes[n].number))
			n++;
		if (n == N_PROBES && left[0][i] > UINT32_MAX)
			return left[0][i];
	}
	return 0;
}

static void find_place(void)
{
	uint64_t left[N_PROBES][LEFT_WORDS];
	for (unsigned i = 0; i < N_PROBES; i++)
		if (!hook_next_find(&probes[i].next))
			return;
	const int saved = errno;
	const uint64_t before = signal_table_mask(SIG_BLOCK, ~UINT64_C(0));
	for (unsigned i = 0; i < N_PROBES; i++)
		make_call((call_fn *)hook_next(&probes[i].next), left[i]);
	signal_table_mask(SIG_SETMASK, before);
	errno = saved;
	returns_to = find_common(left);
}

static long number_on_stack(const ucontext_t *context)
{
	uint64_t sp, number;
	if (!returns_to || !runtime_find_return(context, returns_to, &sp) ||
	    load_guarded(&number, sp, sizeof number) != sizeof number)
		return UNKNOWN_CALL;
	return (int)number >= 0 ? (int)number : UNKNOWN_CALL;
}

/* ---- cancellation ---- */

/* libc describes its own structure for debuggers (nptl_db): bits, elements, offset in bytes. */
static struct hook_next field = {"_thread_db_pthread_cancelhandling", NULL},
			all_bytes = {"_thread_db_sizeof_pthread", NULL};
static uint32_t state_at, thread_bytes; /* offset of the field; of the structure. 0: not known */

/*
 * Bits of that field, the same in all versions. CANCELLED: the thread was asked to end. NOT_NOW: it
 * has disabled cancellation, or is already ending.
 */
enum { CANCELLED = 0x8, NOT_NOW = 0x1 | 0x10 | 0x20 };

/* Before glibc 2.41, the signal that cancels a thread never returns into a wait. */
static bool is_since_2_41(const char *version)
{
	const char *minor = version + 2;
	return minor[0] > '4' || (minor[0] == '4' && minor[1] >= '1' && minor[1] <= '9');
}

static void find_state(void)
{
	static struct hook_next version = {"gnu_get_libc_version", NULL};
	const char *(*const libc)(void) = (const char *(*)(void))hook_next_find(&version);
	const uint32_t *describes = hook_next_find(&field), *n_bytes = hook_next_find(&all_bytes);
	if (!libc || !is_since_2_41(libc()) || !describes || describes[0] != 32 ||
	    describes[1] != 1 || !n_bytes)
		return;
	state_at = describes[2];
	thread_bytes = *n_bytes;
}

bool wait_is_cancelled(const ucontext_t *context)
{
	const char *thread = machine_libc_thread(thread_bytes);
	uint32_t state;
	long noted;
	if (!state_at || wait_has_noted(context, &noted))
		return false;
	memcpy(&state, thread + state_at, sizeof state);
	return (state & (CANCELLED | NOT_NOW)) == CANCELLED;
}

long wait_number_outside(const ucontext_t *context, long hooked)
{
	long noted;
	if (wait_has_noted(context, &noted) && noted >= 0)
		return noted;
	return hooked ? hooked : number_on_stack(context);
}

void wait_number_start(void)
{
	hook_next_find(&libc_syscall);
	find_place();
	find_state();
}
