/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aarch64; see wait_machine.h. A system call changes no register but x0, so no register is free for
 * a mark: the thread remembers the place instead. A mark is void once the thread has been seen
 * elsewhere in that function, or outside of it.
 */
#include "hpcrun-lite/hooks/wait/wait_machine.h"

#include "common/safe/load.h"

long wait_number_in_code(const ucontext_t *context, uintptr_t pc)
{
	enum { SVC_0 = 0xd4000001 };
	uint32_t code;
	return machine_may_have_called(context) &&
			       load_guarded(&code, pc - sizeof code, sizeof code) == sizeof code &&
			       code == SVC_0
		       ? machine_number_again(context)
		       : NO_CALL;
}

struct place {
	volatile uintptr_t pc, sp;
};
static _Thread_local struct {
	struct place place, same;
	volatile enum wait_mark mark;
} marked;

static bool is_at(const struct place *p, const ucontext_t *context)
{
	return p->sp == machine_sp(context) && p->pc == machine_pc(context);
}

enum wait_mark wait_mark_of(const ucontext_t *context)
{
	if (is_at(&marked.place, context))
		return marked.mark;
	if (machine_sp(context) >= marked.place.sp)
		marked.place.sp = 0;
	return WAIT_NOT_MARKED;
}

void wait_set_mark(ucontext_t *context, enum wait_mark mark)
{
	marked.mark = mark;
	marked.place.pc = machine_pc(context);
	marked.place.sp = machine_sp(context);
}

void wait_set_same(ucontext_t *context)
{
	marked.same.pc = machine_pc(context);
	marked.same.sp = machine_sp(context);
}

bool wait_take_same(ucontext_t *context)
{
	const bool is_same = is_at(&marked.same, context);
	marked.same.sp = 0;
	return is_same;
}
