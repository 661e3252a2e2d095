/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds and examines the program; see program.h. Reads headers only and runs nothing. Test:
 * tests/cli/launch/launch_cli.sh.
 */
#include "hpcrun-lite/launch/program.h"

#include "common/safe/exec_image.h"
#include "common/safe/sys.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum program_verdict say(struct program *p, enum program_verdict v, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static enum program_verdict say(struct program *p, enum program_verdict v, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(p->reason, sizeof p->reason, format, args);
	va_end(args);
	return v;
}

static const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_386: return "32-bit x86";
	case EM_X86_64: return "64-bit x86";
	case EM_ARM: return "32-bit ARM";
	case EM_AARCH64: return "64-bit ARM";
	case EM_PPC64: return "64-bit POWER";
	case EM_RISCV: return "RISC-V";
	case EM_S390: return "S/390";
	default: return "another processor";
	}
}

static enum program_verdict check_file(struct program *p)
{
	struct exec_image image;
	struct stat st;
	exec_image_examine(p->path, &image);
	p->by_shell = image.by_shell;
	const char *file = image.is_interpreter ? image.file : p->path;
	const char *whose = image.is_interpreter ? "the interpreter " : "";
	switch (image.kind) {
	case EXEC_GOOD:
	case EXEC_UNREADABLE:
		return PROGRAM_GOOD;
	case EXEC_ERROR:
		if (image.error == ENOENT || image.error == ENOTDIR)
			return say(p,
				   image.is_interpreter ? PROGRAM_NOT_EXECUTABLE : PROGRAM_MISSING,
				   "%s%s: %s", whose, file, strerror(image.error));
		if (stat(file, &st) == 0 && S_ISDIR(st.st_mode))
			return say(p, PROGRAM_NOT_EXECUTABLE, "%s%s is a directory", whose, file);
		return say(p, PROGRAM_NOT_EXECUTABLE, "%s%s: %s", whose, file,
			   strerror(image.error));
	case EXEC_DAMAGED:
		return say(p, PROGRAM_NOT_EXECUTABLE,
			   "%s%s is not a program that the system can run", whose, file);
	case EXEC_STATIC:
		return say(
			p, PROGRAM_REFUSED,
			"%s%s is linked statically: no measurement library can be loaded into it. "
			"Link it without -static",
			whose, file);
	case EXEC_SET_UID:
		return say(p, PROGRAM_REFUSED,
			   "%s%s is set-user-ID: the system keeps measurement libraries out of it. "
			   "Run it as its owner, or measure a copy without the set-user-ID bit",
			   whose, file);
	case EXEC_SET_GID:
		return say(
			p, PROGRAM_REFUSED,
			"%s%s is set-group-ID: the system keeps measurement libraries out of it. "
			"Run it with its group, or measure a copy without the set-group-ID bit",
			whose, file);
	case EXEC_CAPABLE:
		return say(p, PROGRAM_REFUSED,
			   "%s%s has file capabilities: the system keeps measurement libraries out "
			   "of it. "
			   "Measure a copy without them (see getcap, setcap -r)",
			   whose, file);
	case EXEC_OTHER_MACHINE:
		return say(p, PROGRAM_REFUSED,
			   "%s%s is a program for %s; only " MACHINE_NAME
			   " programs can be measured",
			   whose, file, machine_name(image.machine));
	case EXEC_OTHER_ABI:
		return say(p, PROGRAM_REFUSED,
			   "%s%s is a program of the " MACHINE_OTHER_ABI " ABI; only " MACHINE_NAME
			   " programs can be measured",
			   whose, file);
	case EXEC_OTHER_LIBC:
		return say(p, PROGRAM_REFUSED,
			   "%s%s is linked to another C library (its dynamic linker is %s); only "
			   "programs of the "
			   "GNU C library can be measured",
			   whose, file, image.detail);
	case EXEC_SANITIZED:
		return say(p, PROGRAM_REFUSED,
			   "%s%s is linked to AddressSanitizer's shared run time, which does not "
			   "allow a library to be loaded before it. "
			   "Link it with -static-libasan",
			   whose, file);
	}
	return PROGRAM_GOOD;
}

/* ---- PATH ---- */

/*
 * Like execvp: finds the first entry that is an executable file. Remembers whether it found one
 * that is not executable.
 */
static enum program_verdict search(const char *command, const char *search_path, struct program *p)
{
	bool denied = false;
	size_t length = strlen(command);
	for (const char *at = search_path;; at++) {
		size_t n = strcspn(at, ":");
		if (n + length + 2 <= sizeof p->path) {
			memcpy(p->path, at, n);
			snprintf(p->path + n, sizeof p->path - n, "%s%s", n ? "/" : "./", command);
			struct stat st;
			if (stat(p->path, &st) == 0) {
				if (S_ISREG(st.st_mode) && access(p->path, X_OK) == 0)
					return PROGRAM_GOOD;
				denied = true;
			}
		}
		at += n;
		if (!*at)
			break;
	}
	if (denied)
		return say(p, PROGRAM_NOT_EXECUTABLE, "%s: found in PATH, but not executable",
			   command);
	return say(p, PROGRAM_MISSING, "%s: command not found in PATH", command);
}

enum program_verdict program_find(const char *command, const char *search_path, struct program *p)
{
	char standard[256] = "/bin:/usr/bin";
	*p = (struct program){0};
	if (!*command)
		return say(p, PROGRAM_MISSING, "the command is empty");
	if (strchr(command, '/')) {
		if (strlen(command) >= sizeof p->path)
			return say(p, PROGRAM_MISSING, "%.100s...: %s", command,
				   strerror(ENAMETOOLONG));
		memcpy(p->path, command, strlen(command) + 1);
	} else {
		if (!search_path)
			confstr(_CS_PATH, standard, sizeof standard);
		enum program_verdict v = search(command, search_path ? search_path : standard, p);
		if (v != PROGRAM_GOOD)
			return v;
	}
	return check_file(p);
}
