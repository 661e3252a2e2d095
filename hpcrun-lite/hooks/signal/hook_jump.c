/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setjmp and longjmp. A jump restores the signal mask that was saved with its target. libc does
 * that with its own system call, which does not know which of our signals the program has blocked.
 * So we save these, too, at the end of the buffer's space for the mask: libc and the kernel use
 * only the first 8 or 16 of its 128 bytes. A buffer without a mask may be shorter. Signal-safe.
 * Test: tests/cli/sacred/sacred_winch.sh.
 */
#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/runtime/next.h"

#include <setjmp.h>

#define MAGIC UINT64_C(0x7d3a5be19c60f482)

#define NORETURN __attribute__((noreturn))
typedef NORETURN void (*jump_fn)(struct __jmp_buf_tag *buffer, int value);

static struct hook_next next_sigsetjmp = {"__sigsetjmp", NULL}, next_longjmp = {"longjmp", NULL},
			next_longjmp_inner = {"_longjmp", NULL},
			next_siglongjmp = {"siglongjmp", NULL},
			next_longjmp_chk = {"__longjmp_chk", NULL};

struct noted {
	uint64_t magic, hidden;
};
_Static_assert(sizeof((struct __jmp_buf_tag *)0)->__saved_mask == 128, "glibc's on 64 bits");

static struct noted *noted_in(struct __jmp_buf_tag *buffer)
{
	char *end = (char *)(&buffer->__saved_mask + 1);
	return (struct noted *)(void *)(end - sizeof(struct noted));
}

/* Returns libc's function. Called by the code below. */
void *hook_jump_save(struct __jmp_buf_tag *buffer, int saves_mask);
__attribute__((used)) void *hook_jump_save(struct __jmp_buf_tag *buffer, int saves_mask)
{
	if (saves_mask)
		*noted_in(buffer) = (struct noted){MAGIC, hook_signal_hidden_bits()};
	return hook_next(&next_sigsetjmp);
}

/* setjmp returns twice, into the caller's frame, so none of our frames may be in between. */
MACHINE_HOOK_SETJMP(hook_jump_save);

/* Restores the mask first, as libc does: a signal that this unblocks is handled before the jump. */
static NORETURN void jump(struct hook_next *next, struct __jmp_buf_tag *buffer, int value)
{
	const struct noted *n = noted_in(buffer);
	if (buffer->__mask_was_saved && n->magic == MAGIC && runtime_config())
		hook_signal_set_hidden(n->hidden);
	((jump_fn)(uintptr_t)hook_next(next))(buffer, value);
}

NORETURN void hook_longjmp(struct __jmp_buf_tag *, int) __asm__("longjmp");
NORETURN void hook_longjmp_inner(struct __jmp_buf_tag *, int) __asm__("_longjmp");
NORETURN void hook_siglongjmp(struct __jmp_buf_tag *, int) __asm__("siglongjmp");
NORETURN void hook_longjmp_chk(struct __jmp_buf_tag *, int) __asm__("__longjmp_chk");

HOOK void hook_longjmp(struct __jmp_buf_tag *buffer, int value)
{
	jump(&next_longjmp, buffer, value);
}

HOOK void hook_longjmp_inner(struct __jmp_buf_tag *buffer, int value)
{
	jump(&next_longjmp_inner, buffer, value);
}

HOOK void hook_siglongjmp(struct __jmp_buf_tag *buffer, int value)
{
	jump(&next_siglongjmp, buffer, value);
}

HOOK void hook_longjmp_chk(struct __jmp_buf_tag *buffer, int value)
{
	jump(&next_longjmp_chk, buffer, value);
}

void hook_jump_start(void)
{
	struct hook_next *const all[] = {&next_sigsetjmp, &next_longjmp, &next_longjmp_inner,
					 &next_siglongjmp, &next_longjmp_chk};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
