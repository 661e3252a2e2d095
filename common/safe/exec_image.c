/* SPDX-License-Identifier: BSD-3-Clause */
/* Examination of a program file; see exec_image.h. Must not allocate or touch errno. Test:
 * tests/unit/run/test_launch.c. */
#include "common/safe/exec_image.h"

#include "common/safe/sys.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define MAX_INTERPRETERS 5 /* the kernel follows this many "#!" */
#define NOSUID 2           /* ST_NOSUID in f_flags */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void copy_name(char *to, const char *from)
{
	size_t n = strnlen(from, EXEC_NAME_MAX - 1);
	memcpy(to, from, n);
	to[n] = 0;
}

/* ---- secure execution ---- */

static bool is_capable(int fd)
{
	/* struct vfs_cap_data: magic with the effective bit, then (permitted, inheritable) for each
	 * 32 capabilities */
	uint32_t data[6] = {0};
	long n = sys_call4(SYS_fgetxattr, fd, (long)"security.capability", (long)data, sizeof data);
	return n > 0 && (data[0] & 1 || data[1] || data[3]);
}

/* Like the kernel's cap_bprm_creds_from_file: the program gains rights only if they differ from
 * ours. */
static enum exec_kind check_rights(int fd, const struct stat *st)
{
	struct statfs fs;
	if (sys_call6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1)
		return EXEC_GOOD;
	if (fd >= 0 && sys_call3(SYS_fstatfs, fd, (long)&fs, 0) == 0 && fs.f_flags & NOSUID)
		return EXEC_GOOD;
	uid_t user = (uid_t)sys_call3(SYS_getuid, 0, 0, 0);
	if (st->st_mode & S_ISUID && st->st_uid != user)
		return EXEC_SET_UID;
	if (st->st_mode & S_ISGID && st->st_mode & S_IXGRP &&
	    st->st_gid != (gid_t)sys_call3(SYS_getgid, 0, 0, 0))
		return EXEC_SET_GID;
	return fd >= 0 && user != 0 && is_capable(fd) ? EXEC_CAPABLE : EXEC_GOOD;
}

/* ---- ELF ---- */

static enum exec_kind check_linker(int fd, const Elf64_Phdr *segment, char *linker)
{
	uint64_t n = segment->p_filesz;
	if (n == 0 || n >= EXEC_NAME_MAX || sys_pread(fd, linker, n, segment->p_offset) != (long)n)
		return EXEC_DAMAGED;
	linker[n] = 0;
	return strcmp(base_name(linker), MACHINE_LINKER) ? EXEC_OTHER_LIBC : EXEC_GOOD;
}

/* The user may run the dynamic linker itself: "ld-linux-x86-64.so.2 ./program". */
static bool is_linker(const char *path)
{
	const char *name = base_name(path);
	return !strcmp(name, MACHINE_LINKER) || !strcmp(name, "ld.so") ||
	       !strncmp(name, "ld-2.", 5);
}

static bool read_segment(int fd, const Elf64_Ehdr *header, unsigned i, Elf64_Phdr *segment)
{
	return sys_pread(fd, segment, sizeof *segment,
			 header->e_phoff + (uint64_t)i * header->e_phentsize) == sizeof *segment;
}

/* Returns the offset in the file of an address in the image; 0 if it is not in the file. */
static uint64_t file_offset(int fd, const Elf64_Ehdr *header, uint64_t address)
{
	Elf64_Phdr s;
	for (unsigned i = 0; i < header->e_phnum && read_segment(fd, header, i, &s); i++)
		if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
			return s.p_offset + (address - s.p_vaddr);
	return 0;
}

#define DYNAMIC_MAX 512 /* entries looked at */
#define NEEDED_MAX 64

/* The parts of the dynamic section that we need. */
struct dynamic {
	uint64_t string_table; /* an address; 0: none */
	unsigned n_needed;
	uint32_t needed[NEEDED_MAX]; /* offsets in the string table */
};

static void read_dynamic(int fd, const Elf64_Phdr *segment, struct dynamic *d)
{
	Elf64_Dyn some[16];
	d->string_table = d->n_needed = 0;
	for (unsigned i = 0; i < DYNAMIC_MAX && i < segment->p_filesz / sizeof *some; i++) {
		if (i % 16 == 0) {
			memset(some, 0, sizeof some); /* a short read ends at DT_NULL */
			if (sys_pread(fd, some, sizeof some,
				      segment->p_offset + i * sizeof *some) <= 0)
				return;
		}
		const Elf64_Dyn *e = &some[i % 16];
		if (e->d_tag == DT_NULL)
			return;
		if (e->d_tag == DT_STRTAB)
			d->string_table = e->d_un.d_ptr;
		else if (e->d_tag == DT_NEEDED && d->n_needed < NEEDED_MAX)
			d->needed[d->n_needed++] = (uint32_t)e->d_un.d_val;
	}
}

static bool needs_sanitizer(int fd, const Elf64_Ehdr *header, const Elf64_Phdr *segment)
{
	static const char *const names[] = {"libasan.so", "libclang_rt.asan"};
	struct dynamic d;
	read_dynamic(fd, segment, &d);
	uint64_t strings = file_offset(fd, header, d.string_table);
	for (unsigned i = 0; strings && i < d.n_needed; i++) {
		char text[20] = "";
		if (sys_pread(fd, text, sizeof text - 1, strings + d.needed[i]) <= 0)
			return false;
		for (size_t k = 0; k < sizeof names / sizeof *names; k++)
			if (!strncmp(text, names[k], strlen(names[k])))
				return true;
	}
	return false;
}

static enum exec_kind check_elf(int fd, const Elf64_Ehdr *header, struct exec_image *image)
{
	Elf64_Phdr linker = {0}, dynamic = {0};
	image->machine = header->e_machine; /* at the same offset in both classes */
	if (header->e_machine != MACHINE_ELF)
		return EXEC_OTHER_MACHINE;
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return EXEC_OTHER_ABI;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		if (!read_segment(fd, header, i, &segment))
			return EXEC_DAMAGED;
		if (segment.p_type == PT_INTERP)
			linker = segment;
		else if (segment.p_type == PT_DYNAMIC)
			dynamic = segment;
	}
	if (linker.p_type) {
		enum exec_kind kind = check_linker(fd, &linker, image->detail);
		return kind == EXEC_GOOD && dynamic.p_type && needs_sanitizer(fd, header, &dynamic)
			       ? EXEC_SANITIZED
			       : kind;
	}
	return is_linker(image->file) ? EXEC_GOOD : EXEC_STATIC;
}

/* ---- scripts ---- */

/* Takes the interpreter out of "#! interpreter argument"; false if there is none. */
static bool interpreter_of(char *line, char *out)
{
	line[strcspn(line, "\n")] = 0;
	const char *start = line + 2 + strspn(line + 2, " \t");
	size_t n = strcspn(start, " \t");
	if (n == 0 || n >= EXEC_NAME_MAX)
		return false;
	memcpy(out, start, n);
	out[n] = 0;
	return true;
}

/* Examines one file. True: `next` is the interpreter, which must be examined next. */
static bool examine_open(int fd, const struct stat *st, struct exec_image *image, char *next)
{
	union {
		char text[EXEC_NAME_MAX];
		Elf64_Ehdr elf;
	} head;
	memset(&head, 0, sizeof head);
	long n = sys_pread(fd, &head, sizeof head - 1, 0);
	if (n >= EI_NIDENT && !memcmp(head.text, ELFMAG, SELFMAG)) {
		image->kind = check_rights(fd, st);
		if (image->kind == EXEC_GOOD)
			image->kind = n < (long)sizeof(Elf32_Ehdr)
					      ? EXEC_DAMAGED
					      : check_elf(fd, &head.elf, image);
		return false;
	}
	if (n >= 2 && head.text[0] == '#' && head.text[1] == '!') {
		if (interpreter_of(head.text, next))
			return true;
		image->kind = EXEC_DAMAGED;
		return false;
	}
	if (image->is_interpreter) {
		image->kind = EXEC_DAMAGED;
		return false;
	}
	image->by_shell = true;
	copy_name(next, "/bin/sh");
	return true;
}

static bool examine_file(const char *path, struct exec_image *image, char *next)
{
	struct stat st;
	copy_name(image->file, path);
	image->kind = EXEC_ERROR;
	image->error = -sys_stat(path, &st);
	if (image->error)
		return false;
	image->error = S_ISDIR(st.st_mode) || !S_ISREG(st.st_mode)
			       ? EACCES
			       : -sys_access(path, 1 /* X_OK */);
	if (image->error)
		return false;
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
	if (fd < 0) {
		image->kind = check_rights(-1, &st);
		if (image->kind == EXEC_GOOD)
			image->kind = EXEC_UNREADABLE;
		return false;
	}
	image->kind = EXEC_GOOD;
	bool more = examine_open(fd, &st, image, next);
	sys_close(fd);
	return more;
}

void exec_image_examine(const char *path, struct exec_image *image)
{
	char next[EXEC_NAME_MAX];
	memset(image, 0, sizeof *image);
	for (int depth = 0; examine_file(path, image, next); depth++) {
		path = next;
		image->is_interpreter = true;
		if (depth == MAX_INTERPRETERS) {
			image->kind = EXEC_DAMAGED;
			return;
		}
	}
}
