/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a cubin, through the whole analysis, in this process: for cubins
 *without .debug_info, which libdwarf does not see. What comes of it must be a structure that its
 *reader accepts. As LLVMFuzzerTestOneInput for libFuzzer (clang -fsanitize=fuzzer,address,undefined
 *-DFUZZ_ENGINE); else a program that replays files, the same with each byte flipped (-f) and
 *mutants of them:
 *
 *	fuzz_cubin [-f] [-n MUTANTS] FILE...
 */
#include "common/base/log.h"
#include "common/format/structure.h"
#include "hpcstruct-lite/driver/analyse.h"
#include "tests/fuzz/mutate.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *const no_dirs[] = {NULL};
static unsigned long n_made, n_refused;

static void check_structure(int fd)
{
	struct stat st;
	struct structure *s;
	if (fstat(fd, &st) != 0)
		abort();
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED ||
	    structure_open("made", bytes, (size_t)st.st_size, &s) != STATUS_OK)
		abort();
	structure_close(s);
	munmap(bytes, (size_t)st.st_size);
	n_made++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct analyse_progress progress;
	struct analyse_options options = {
		.debug_dirs = no_dirs, .n_workers = 1, .progress = &progress};
	struct analysis *a;
	char path[64];
	int in = memfd_create("in", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
	if (in < 0 || out < 0 || write(in, data, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", in);
	if (analyse_open(open(path, O_RDONLY | O_CLOEXEC), path, &options, &a) == STATUS_OK) {
		if (analyse_read(a, NULL, 0) == STATUS_OK &&
		    analyse_write(a, NULL, out, "out") == STATUS_OK)
			check_structure(out);
		else
			abort();
		analyse_close(a);
	} else {
		n_refused++;
	}
	close(in);
	close(out);
	return 0;
}

#ifndef FUZZ_ENGINE
/* Damages the header, section headers, or one section that is no code. */
static void mutate_cubin(uint8_t *bytes, size_t n, uint64_t *state)
{
	Elf64_Ehdr h;
	Elf64_Shdr s;
	memcpy(&h, bytes, sizeof h);
	uint64_t what = mutate_random(state) % 16;
	if (what == 0) {
		mutate_bytes(bytes, 16, sizeof h, state);
	} else if (what < 4) {
		mutate_bytes(bytes, h.e_shoff, h.e_shoff + h.e_shnum * sizeof s, state);
	} else {
		do
			memcpy(&s, bytes + h.e_shoff + mutate_random(state) % h.e_shnum * sizeof s,
			       sizeof s);
		while (s.sh_type == SHT_NOBITS || s.sh_size == 0 || s.sh_offset > n ||
		       s.sh_size > n - s.sh_offset || (s.sh_flags & SHF_EXECINSTR));
		mutate_bytes(bytes, s.sh_offset, s.sh_offset + s.sh_size, state);
	}
}

static size_t change(uint8_t *mutant, size_t n, unsigned long k, uint64_t *state)
{
	mutate_cubin(mutant, n, state);
	return mutate_length(n, k, state);
}

static void flip_all(const char *path)
{
	size_t n;
	uint8_t *bytes = mutate_load(path, &n);
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= 0xff;
		LLVMFuzzerTestOneInput(bytes, n);
		bytes[i] ^= 0xff;
	}
	free(bytes);
}

int main(int argc, char **argv)
{
	int n_files, flip = argc > 1 && strcmp(argv[1], "-f") == 0;
	argc -= flip;
	argv += flip;
	mutate_files(&(struct mutate_target){.one = LLVMFuzzerTestOneInput,
					     .change = change,
					     .speaks = true},
		     argc, argv, &n_files);
	for (int i = argc - n_files; flip && i < argc; i++)
		flip_all(argv[i]);
	printf("# %d files: %lu structures made, %lu refused\n", n_files, n_made, n_refused);
	return 0;
}
#endif
