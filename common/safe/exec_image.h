/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at a program file as execve(2) would, through the interpreters of scripts, and tells whether a preloaded library gets into
 * it: not when it is linked statically or to another C library, is for another architecture, or gives its caller more rights. Reads
 * headers and the list of needed libraries by system calls of its own; signal-safe, no memory, no errno. Test: tests/unit/test_exec_image.c.
 */
#ifndef COMMON_SAFE_EXEC_IMAGE_H
#define COMMON_SAFE_EXEC_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

enum exec_kind {
	EXEC_GOOD,
	EXEC_UNREADABLE,   /* may be run but not read: taken as good */
	EXEC_ERROR,        /* `error` says why it cannot be run: ENOENT, EACCES, ... */
	EXEC_DAMAGED,      /* ELF that the kernel would refuse, or a chain of interpreters too long */
	EXEC_STATIC,       /* no dynamic linker */
	EXEC_SET_UID,      /* the kernel asks for secure execution: the dynamic linker ignores LD_PRELOAD */
	EXEC_SET_GID,
	EXEC_CAPABLE,
	EXEC_OTHER_MACHINE,/* `machine` is its ELF machine number */
	EXEC_OTHER_ABI,    /* x32 */
	EXEC_OTHER_LIBC,   /* `detail` is its dynamic linker */
	EXEC_SANITIZED     /* linked to AddressSanitizer's shared run time, which ends a program that has any library in front of it */
};

#define EXEC_NAME_MAX 256 /* the kernel reads as much of a "#!" line */

struct exec_image {
	enum exec_kind kind;
	int error;          /* EXEC_ERROR */
	unsigned machine;   /* EXEC_OTHER_MACHINE */
	bool by_shell;      /* neither ELF nor "#!": execvp runs it by /bin/sh, execve refuses it */
	bool is_interpreter;/* the verdict is about the interpreter `file`, not about the program itself */
	char file[EXEC_NAME_MAX];
	char detail[EXEC_NAME_MAX];
};

void exec_image_examine(const char *path, struct exec_image *image);

#endif
