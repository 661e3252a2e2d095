/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Judge of the structures of cubins: the innermost line of each instruction as CUPTI's own call
 *gives it (cuptiGetSassToSourceCorrelation, which needs no GPU), in the form of cubin_chains
 *without call sites:
 *
 *	judge_cupti LIBCUPTI CUBIN
 *
 * The library is loaded by its path and the one structure of its interface declared here, so that
 *this builds without CUDA. Exit status 77: the library is not there.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INSTRUCTION_BYTES = 16, MAX_SECTIONS = 4096 };

/* CUpti_GetSassToSourceCorrelationParams of cupti_pcsampling.h. */
struct correlation {
	size_t size;
	const void *cubin;
	const char *function;
	size_t cubin_bytes;
	uint32_t line;
	uint64_t offset;
	char *file, *dir;
};

struct section {
	const char *name;
	uint64_t n_bytes;
};

static int compare_names(const void *a, const void *b)
{
	const struct section *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static void *load(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *bytes = size > 0 ? malloc((size_t)size) : NULL;
	if (!bytes || pread(fd, bytes, (size_t)size, 0) != size)
		exit(2);
	close(fd);
	*n = (size_t)size;
	return bytes;
}

static void print_section(int (*correlate)(struct correlation *), const void *cubin, size_t n_bytes,
			  const struct section *s)
{
	char last[1300] = "", now[1300];
	printf("%s\n", s->name);
	for (uint64_t at = 0; at < s->n_bytes; at += INSTRUCTION_BYTES) {
		struct correlation c = {.size = sizeof c,
					.cubin = cubin,
					.function = s->name + strlen(".text."),
					.cubin_bytes = n_bytes,
					.offset = at};
		if (correlate(&c) == 0 && c.file && c.line > 0) {
			const char *slash = strrchr(c.file, '/');
			snprintf(now, sizeof now, "%s:%u", slash ? slash + 1 : c.file, c.line);
		} else {
			snprintf(now, sizeof now, "?");
		}
		free(c.file);
		free(c.dir);
		if (strcmp(now, last) != 0)
			printf("0x%llx %s\n", (unsigned long long)at, now);
		memcpy(last, now, sizeof last);
	}
}

int main(int argc, char **argv)
{
	static struct section sections[MAX_SECTIONS];
	size_t n_bytes, names, n = 0;
	if (argc != 3)
		return 2;
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	int (*correlate)(struct correlation *) = NULL;
	if (library)
		*(void **)&correlate = dlsym(library, "cuptiGetSassToSourceCorrelation");
	if (!correlate)
		return 77;
	void *cubin = load(argv[2], &n_bytes);
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory(cubin, n_bytes);
	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return 2;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) && n < MAX_SECTIONS;) {
		GElf_Shdr h;
		const char *name = gelf_getshdr(scn, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;
		if (name && (h.sh_flags & SHF_EXECINSTR) && strncmp(name, ".text.", 6) == 0)
			sections[n++] = (struct section){name, h.sh_size};
	}
	qsort(sections, n, sizeof *sections, compare_names);
	for (size_t i = 0; i < n; i++)
		print_section(correlate, cubin, n_bytes, &sections[i]);
	elf_end(elf);
	free(cubin);
	return 0;
}
