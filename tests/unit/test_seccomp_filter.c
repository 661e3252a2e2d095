/* SPDX-License-Identifier: BSD-3-Clause */
/* What filters do to calls, told by their code: as libseccomp writes them, by argument, and code that is not sound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/hooks/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ARCH BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch))
#define ARGUMENT(i) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[i]))
#define IF(op, k, yes, no) BPF_JUMP(BPF_JMP | (op) | BPF_K, k, yes, no)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

static struct seccomp_state states[16];

#define SPARES(code, call) seccomp_filter_spares(code, sizeof(code) / sizeof *(code), call, states)

static void by_number(void **state)
{
	const struct sock_filter code[] = {
		ARCH, IF(BPF_JEQ, AUDIT_ARCH_X86_64, 0, 5), NUMBER,
		IF(BPF_JGE, 0x40000000, 3, 0), IF(BPF_JGT, SYS_mmap, 1, 0), IF(BPF_JEQ, SYS_read, 2, 0),
		IF(BPF_JEQ, SYS_madvise, 2, 0), RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_ERRNO | 1),
	};
	(void)state;
	assert_true(SPARES(code, SYS_read));
	assert_true(SPARES(code, SYS_madvise));
	assert_false(SPARES(code, SYS_write));
	assert_false(SPARES(code, SYS_getpid));
}

static void by_action(void **state)
{
	static const struct { unsigned action; int spares; } of[] = {
		{SECCOMP_RET_ALLOW, 1}, {SECCOMP_RET_LOG, 1}, {SECCOMP_RET_ERRNO | 38, 1}, {SECCOMP_RET_KILL_THREAD, 0}, {SECCOMP_RET_KILL_PROCESS, 0},
		{SECCOMP_RET_TRAP, 0}, {SECCOMP_RET_TRACE, 0}, {0x7fc00000 /* to another process */, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		const struct sock_filter code[] = {RETURN(of[i].action)};
		assert_int_equal(SPARES(code, SYS_read), of[i].spares);
	}
}

/* Writable and executable memory is not allowed: mmap may be killed, whatever else is not. */
static void by_argument(void **state)
{
	const struct sock_filter code[] = {
		NUMBER, IF(BPF_JEQ, SYS_mmap, 0, 4), ARGUMENT(2), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 4),
		IF(BPF_JEQ, 4, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW),
	};
	const struct sock_filter by_index[] = {
		NUMBER, BPF_STMT(BPF_LDX | BPF_IMM, 7), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW),
	};
	(void)state;
	assert_false(SPARES(code, SYS_mmap));
	assert_true(SPARES(code, SYS_munmap));
	assert_false(SPARES(by_index, SYS_read));
}

/* The number with bits taken off is known; two numbers that meet are not. */
static void known_values(void **state)
{
	const struct sock_filter masked[] = {
		NUMBER, BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 1), IF(BPF_JEQ, 1, 0, 1), RETURN(SECCOMP_RET_TRAP), RETURN(SECCOMP_RET_ALLOW),
	};
	const struct sock_filter meeting[] = {
		ARGUMENT(0), IF(BPF_JSET, 1, 0, 2), BPF_STMT(BPF_LD | BPF_IMM, 5), BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), BPF_STMT(BPF_LD | BPF_IMM, 6),
		IF(BPF_JEQ, 5, 1, 0), RETURN(SECCOMP_RET_TRAP), RETURN(SECCOMP_RET_ALLOW),
	};
	(void)state;
	assert_true(SPARES(masked, 2));
	assert_false(SPARES(masked, 3));
	assert_false(SPARES(meeting, SYS_read));
}

static void unsound(void **state)
{
	const struct sock_filter no_end[] = {NUMBER};
	const struct sock_filter far[] = {IF(BPF_JEQ, 0, 200, 200), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter very_far[] = {BPF_JUMP(BPF_JMP | BPF_JA, 0xffffffff, 0, 0), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter no_jump[] = {BPF_JUMP(BPF_JMP | 0xf0, 0, 0, 0), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter by_value[] = {NUMBER, BPF_STMT(BPF_RET | BPF_A, 0)};
	(void)state;
	assert_false(SPARES(no_end, SYS_read));
	assert_false(SPARES(far, SYS_read));
	assert_false(SPARES(very_far, SYS_read));
	assert_false(SPARES(no_jump, SYS_read));
	assert_false(SPARES(by_value, SYS_read));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_number), cmocka_unit_test(by_action), cmocka_unit_test(by_argument), cmocka_unit_test(known_values), cmocka_unit_test(unsound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
