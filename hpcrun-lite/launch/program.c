/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding and examining the program; see program.h. Reads headers only, nothing is run. Test: tests/cli/launch_program.sh.
 */
#include "hpcrun-lite/launch/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAX_INTERPRETERS 5 /* the kernel follows as many "#!" */
#define DYNAMIC_LINKER "ld-linux-x86-64.so.2"

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

static bool read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* ---- secure execution -------------------------------------------------------------------------------------- */

static bool is_capable(const char *path)
{
	/* struct vfs_cap_data: magic with the effective bit, then (permitted, inheritable) for each 32 capabilities */
	uint32_t data[6] = {0};
	ssize_t n = getxattr(path, "security.capability", data, sizeof data);
	return n > 0 && (data[0] & 1 || data[1] || data[3]);
}

/* The dynamic linker ignores preloaded libraries where the kernel says that a program gets rights its caller has not. */
static enum program_verdict check_rights(struct program *p, const char *path, const struct stat *st)
{
	struct statvfs fs;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOSUID))
		return PROGRAM_GOOD;
	if (st->st_mode & S_ISUID && st->st_uid != getuid())
		return say(p, PROGRAM_REFUSED, "%s is set-user-ID: the system keeps measurement libraries out of it. "
		           "Run it as its owner, or measure a copy without the set-user-ID bit", path);
	if (st->st_mode & S_ISGID && st->st_mode & S_IXGRP && st->st_gid != getgid())
		return say(p, PROGRAM_REFUSED, "%s is set-group-ID: the system keeps measurement libraries out of it. "
		           "Run it with its group, or measure a copy without the set-group-ID bit", path);
	if (getuid() != 0 && is_capable(path))
		return say(p, PROGRAM_REFUSED, "%s has file capabilities: the system keeps measurement libraries out of it. "
		           "Measure a copy without them (see getcap, setcap -r)", path);
	return PROGRAM_GOOD;
}

/* ---- ELF ------------------------------------------------------------------------------------------------------- */

static const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_386: return "32-bit x86";
	case EM_ARM: return "32-bit ARM";
	case EM_AARCH64: return "64-bit ARM";
	case EM_PPC64: return "64-bit POWER";
	case EM_RISCV: return "RISC-V";
	case EM_S390: return "S/390";
	default: return "another processor";
	}
}

/* The dynamic linker itself may be run: "ld-linux-x86-64.so.2 ./program". */
static bool is_dynamic_linker(const char *path)
{
	char real[PATH_MAX];
	const char *name = realpath(path, real) ? strrchr(real, '/') + 1 : "";
	return !strcmp(name, DYNAMIC_LINKER) || !strncmp(name, "ld-2.", 5);
}

static enum program_verdict check_interpreter(struct program *p, const char *path, int fd, const Elf64_Phdr *segment)
{
	char linker[PATH_MAX];
	if (segment->p_filesz == 0 || segment->p_filesz >= sizeof linker || !read_at(fd, linker, segment->p_filesz, segment->p_offset))
		return say(p, PROGRAM_NOT_EXECUTABLE, "%s is a damaged program", path);
	linker[segment->p_filesz] = 0;
	const char *slash = strrchr(linker, '/');
	if (strcmp(slash ? slash + 1 : linker, DYNAMIC_LINKER))
		return say(p, PROGRAM_REFUSED, "%s is linked to another C library (its dynamic linker is %s); only programs of the "
		           "GNU C library can be measured", path, linker);
	return PROGRAM_GOOD;
}

static enum program_verdict check_elf(struct program *p, const char *path, int fd)
{
	Elf64_Ehdr header;
	if (!read_at(fd, &header, sizeof header, 0) && !read_at(fd, &header, sizeof(Elf32_Ehdr), 0))
		return say(p, PROGRAM_NOT_EXECUTABLE, "%s is a damaged program", path);
	/* e_machine has the same place in both classes */
	if (header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS32)
		return say(p, PROGRAM_REFUSED, "%s is a program of the x32 ABI; only 64-bit x86 programs can be measured", path);
	if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64)
		return say(p, PROGRAM_REFUSED, "%s is a program for %s; only 64-bit x86 programs can be measured", path,
		           machine_name(header.e_machine));
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		if (!read_at(fd, &segment, sizeof segment, header.e_phoff + (uint64_t)i * header.e_phentsize))
			return say(p, PROGRAM_NOT_EXECUTABLE, "%s is a damaged program", path);
		if (segment.p_type == PT_INTERP)
			return check_interpreter(p, path, fd, &segment);
	}
	if (is_dynamic_linker(path))
		return PROGRAM_GOOD;
	return say(p, PROGRAM_REFUSED, "%s is linked statically: no measurement library can be loaded into it. "
	           "Link it without -static", path);
}

/* ---- scripts ------------------------------------------------------------------------------------------------------ */

/* Takes the interpreter out of "#! interpreter argument"; false when there is none. */
static bool interpreter_of(char *line, char *out, size_t bytes)
{
	line[strcspn(line, "\n")] = 0;
	char *start = line + 2 + strspn(line + 2, " \t");
	size_t n = strcspn(start, " \t");
	if (n == 0 || n >= bytes)
		return false;
	memcpy(out, start, n);
	out[n] = 0;
	return true;
}

static enum program_verdict check_file(struct program *p, const char *path, int depth)
{
	struct stat st;
	char head[256] = {0}, interpreter[sizeof head];
	const char *whose = depth ? "the interpreter " : "";
	if (stat(path, &st) != 0)
		return say(p, PROGRAM_MISSING, "%s%s: %s", whose, path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return say(p, PROGRAM_NOT_EXECUTABLE, "%s%s is %s", whose, path, S_ISDIR(st.st_mode) ? "a directory" : "not a file");
	if (access(path, X_OK) != 0)
		return say(p, PROGRAM_NOT_EXECUTABLE, "%s%s: %s", whose, path, strerror(errno));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return check_rights(p, path, &st);
	ssize_t n = pread(fd, head, sizeof head - 1, 0);
	enum program_verdict v = PROGRAM_GOOD;
	if (n >= EI_NIDENT && !memcmp(head, ELFMAG, SELFMAG)) {
		v = check_rights(p, path, &st);
		if (v == PROGRAM_GOOD)
			v = check_elf(p, path, fd);
	} else if (n >= 2 && head[0] == '#' && head[1] == '!') {
		if (depth == MAX_INTERPRETERS || !interpreter_of(head, interpreter, sizeof interpreter))
			v = say(p, PROGRAM_NOT_EXECUTABLE, "%s: its interpreter cannot be followed", path);
		else
			v = check_file(p, interpreter, depth + 1);
	} else if (depth == 0) {
		p->by_shell = true;
		v = check_file(p, "/bin/sh", 1);
	} else {
		v = say(p, PROGRAM_NOT_EXECUTABLE, "the interpreter %s is no program", path);
	}
	close(fd);
	return v;
}

/* ---- PATH ------------------------------------------------------------------------------------------------------------ */

/* As execvp: the first entry that is an executable file; one that may not be executed is remembered. */
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
		return say(p, PROGRAM_NOT_EXECUTABLE, "%s: found in PATH, but not executable", command);
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
			return say(p, PROGRAM_MISSING, "%.100s...: %s", command, strerror(ENAMETOOLONG));
		memcpy(p->path, command, strlen(command) + 1);
	} else {
		if (!search_path)
			confstr(_CS_PATH, standard, sizeof standard);
		enum program_verdict v = search(command, search_path ? search_path : standard, p);
		if (v != PROGRAM_GOOD)
			return v;
	}
	return check_file(p, p->path, 0);
}
