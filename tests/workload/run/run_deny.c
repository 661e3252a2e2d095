/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command in which some system calls fail, by a seccomp filter, as in a container or on
 * another file system. Usage: run_deny NAME=ERRNO... -- COMMAND...   NAME: one of the table below,
 * or "ring": the mapping of a perf event's ring, two pages; ERRNO: a number. "linux=4.18" instead:
 * what this kernel does not know fails as it does there.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	int number;
} calls[] = {
	{"perf_event_open", SYS_perf_event_open},
	{"fallocate", SYS_fallocate},
	{"process_vm_readv", SYS_process_vm_readv},
	{"process_vm_writev", SYS_process_vm_writev},
	{"timer_create", SYS_timer_create},
	{"madvise", SYS_madvise},
	{"ftruncate", SYS_ftruncate},
};

/* What came after Linux 4.18 to older calls: values of an argument from `least` on. */
static const struct {
	int number, argument;
	unsigned mask, least;
	unsigned error;
} later[] = {
	{SYS_madvise, 2, ~0u, 20, EINVAL},     /* MADV_COLD */
	{SYS_futex, 1, 0x7f, 13, ENOSYS},      /* FUTEX_LOCK_PI2 */
	{SYS_waitid, 0, ~0u, 3, EINVAL},       /* P_PIDFD */
	{SYS_mremap, 3, ~0u, 4, EINVAL},       /* MREMAP_DONTUNMAP */
	{SYS_membarrier, 0, ~0u, 128, EINVAL}, /* MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ */
	{SYS_seccomp, 1, ~0u, 8, EINVAL},      /* SECCOMP_FILTER_FLAG_NEW_LISTENER */
};
#define LAST_OF_4_18 __NR_rseq /* glibc has no SYS_rseq before 2.29 */

/* Both leave the number of the call where it was. */
static unsigned short deny_later(struct sock_filter *code)
{
	unsigned short n = 0;
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_OF_4_18, 0, 1);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
		const struct sock_filter rule[] = {
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)later[i].number, 0, 5),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
				 (unsigned)offsetof(struct seccomp_data, args) +
					 8 * (unsigned)later[i].argument),
			BPF_STMT(BPF_ALU | BPF_AND | BPF_K, later[i].mask),
			BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, later[i].least, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | later[i].error),
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		};
		memcpy(&code[n], rule, sizeof rule);
		n = (unsigned short)(n + sizeof rule / sizeof *rule);
	}
	return n;
}

static unsigned short deny_ring(struct sock_filter *code, unsigned error)
{
	const struct sock_filter ring[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 8192, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_SHARED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	memcpy(code, ring, sizeof ring);
	return sizeof ring / sizeof *ring;
}

static int number_of(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strlen(calls[i].name) == n && strncmp(calls[i].name, text, n) == 0)
			return calls[i].number;
	return -1;
}

int main(int argc, char **argv)
{
	struct sock_filter code[128];
	unsigned short n = 0;
	int i = 1;
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (; i < argc && strcmp(argv[i], "--") != 0 && n < 50; i++) {
		size_t length = strcspn(argv[i], "=");
		if (length == 4 && strncmp(argv[i], "ring=", 5) == 0) {
			n = (unsigned short)(n + deny_ring(&code[n], (unsigned)atoi(argv[i] + 5)));
			continue;
		}
		if (strcmp(argv[i], "linux=4.18") == 0) {
			n = (unsigned short)(n + deny_later(&code[n]));
			continue;
		}
		int number = number_of(argv[i], length);
		if (number < 0 || argv[i][length] != '=')
			return 99;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)atoi(argv[i] + length + 1));
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = n, .filter = code};
	if (i + 1 >= argc || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("run_deny");
		return 98;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 97;
}
