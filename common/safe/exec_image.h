/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Examines a program file as execve(2) would, following the interpreters of scripts, and finds out
 * whether a preloaded library would be loaded into it. It would not if the program is static, uses
 * another C library, is for another architecture, or runs with more rights than its caller.
 *
 * Makes its own system calls to read the headers and the list of needed libraries. Signal-safe, no
 * allocation, errno is unchanged. Test: tests/unit/run/test_launch.c.
 */
#ifndef COMMON_SAFE_EXEC_IMAGE_H
#define COMMON_SAFE_EXEC_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

enum exec_kind {
	EXEC_GOOD,
	EXEC_UNREADABLE,   /* may be executed but not read; treated as good */
	EXEC_ERROR,        /* cannot be executed; `error` is the cause: ENOENT, EACCES, ... */
	/* an ELF file that the kernel would refuse, or too long a chain of interpreters */
	EXEC_DAMAGED,
	EXEC_STATIC,       /* no dynamic linker */
	/* the dynamic linker ignores LD_PRELOAD, because the kernel asks for secure execution */
	EXEC_SET_UID,
	EXEC_SET_GID,
	EXEC_CAPABLE,
	EXEC_OTHER_MACHINE,/* `machine` is its ELF machine number */
	EXEC_OTHER_ABI,    /* x32 */
	EXEC_OTHER_LIBC,   /* `detail` is its dynamic linker */
	/* uses AddressSanitizer's shared run time, which refuses any library loaded before it */
	EXEC_SANITIZED
};

#define EXEC_NAME_MAX 256 /* the kernel reads this much of a "#!" line */

struct exec_image {
	enum exec_kind kind;
	int error;        /* for EXEC_ERROR: an errno value */
	unsigned machine; /* for EXEC_OTHER_MACHINE */
	bool by_shell;    /* neither ELF nor "#!": execvp runs it with /bin/sh, execve refuses it */
	/* `kind` is about the interpreter `file`, not about the program itself */
	bool is_interpreter;
	char file[EXEC_NAME_MAX];
	char detail[EXEC_NAME_MAX];
};

void exec_image_examine(const char *path, struct exec_image *image);

#endif
