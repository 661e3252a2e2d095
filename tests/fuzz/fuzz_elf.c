/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a binary, through the whole analysis. With libFuzzer (clang
 *-fsanitize=fuzzer,address -DFUZZ_ENGINE) in one process, where crashes of libdwarf show too; else
 *a program that replays files and mutants of their headers, symbols, code and debug sections as the
 *tool does it, in a process for each:
 *
 *	fuzz_elf [-n MUTANTS] FILE...
 *
 * It fails when a structure was made that its reader refuses, or when none was made although the
 *undamaged file has one and only debug sections were damaged.
 */
#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "common/format/structure.h"
#include "hpcstruct-lite/driver/analyse.h"
#include "hpcstruct-lite/driver/jobs.h"
#include "tests/fuzz/mutate.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const no_dirs[] = {NULL};

static void write_file(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		exit(1);
}

#ifdef FUZZ_ENGINE
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct analyse_progress progress;
	struct analyse_options options = {
		.debug_dirs = no_dirs, .n_workers = 1, .progress = &progress};
	struct analysis *a;
	char path[64];
	int fd = memfd_create("fuzz", 0), out = open("/dev/null", O_WRONLY);
	if (fd < 0 || out < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (analyse_open(open(path, O_RDONLY | O_CLOEXEC), path, &options, &a) == STATUS_OK) {
		if (analyse_read(a, NULL, 0) == STATUS_OK &&
		    analyse_write(a, NULL, out, "out") != STATUS_OK)
			abort();
		analyse_close(a);
	}
	close(fd);
	close(out);
	return 0;
}
#else

static unsigned long n_made, n_refused;

/* False: a structure that cannot be read came of it, or none where there must be one. */
static bool run(const char *dir, const uint8_t *bytes, size_t n, bool must_work)
{
	char binary[256], out[256];
	snprintf(binary, sizeof binary, "%s/mutant", dir);
	snprintf(out, sizeof out, "%s/mutant.hpcstruct", dir);
	write_file(binary, bytes, n);
	struct job job = {.binary = binary, .out = out};
	struct jobs_options options = {.debug_dirs = no_dirs, .n_at_once = 1, .force = true};
	if (jobs_run(&job, 1, &options) != STATUS_OK)
		return false;
	if (job.result != JOB_MADE) {
		n_refused++;
		return !must_work;
	}
	n_made++;
	struct mapfile f;
	struct structure *s;
	bool sound = mapfile_open(out, &f) == STATUS_OK &&
		     structure_open(out, f.bytes, f.n_bytes, &s) == STATUS_OK;
	if (sound) {
		structure_close(s);
		mapfile_close(&f);
	}
	return sound;
}

/* Damages one section, or the ELF header and the section headers. */
static bool mutate_elf(uint8_t *bytes, size_t n, uint64_t *state, bool *is_debug)
{
	Elf64_Ehdr h;
	memcpy(&h, bytes, sizeof h);
	*is_debug = false;
	if (mutate_random(state) % 8 == 0) {
		mutate_bytes(bytes, 16, sizeof h, state);
		return true;
	}
	if (mutate_random(state) % 8 == 0) {
		mutate_bytes(bytes, h.e_shoff, h.e_shoff + h.e_shnum * sizeof(Elf64_Shdr), state);
		return true;
	}
	const Elf64_Shdr *sections = (const void *)(bytes + h.e_shoff),
			 *s = &sections[mutate_random(state) % h.e_shnum];
	const char *name = (const char *)bytes + sections[h.e_shstrndx].sh_offset + s->sh_name;
	*is_debug = strncmp(name, ".debug_", 7) == 0;
	bool wanted = *is_debug || s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM ||
		      s->sh_type == SHT_RELA || s->sh_type == SHT_STRTAB ||
		      s->sh_type == SHT_NOTE || strcmp(name, ".eh_frame") == 0 ||
		      strcmp(name, ".text") == 0 || strcmp(name, ".rodata") == 0 ||
		      strncmp(name, ".plt", 4) == 0;
	if (!wanted || s->sh_type == SHT_NOBITS || s->sh_size == 0 || s->sh_offset + s->sh_size > n)
		return false;
	mutate_bytes(bytes, s->sh_offset, s->sh_offset + s->sh_size, state);
	return true;
}

int main(int argc, char **argv)
{
	unsigned long n_mutants = 0;
	int first = 1, failed = 0;
	char dir[] = "/tmp/hpctoolkit-lite-fuzz.XXXXXX", path[64];
	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		n_mutants = strtoul(argv[2], NULL, 10);
		first = 3;
	}
	if (!mkdtemp(dir) || !freopen("/dev/null", "w", stderr))
		return 1;
	for (int i = first; i < argc; i++) {
		size_t n;
		uint8_t *bytes = mutate_load(argv[i], &n), *mutant = malloc(n);
		uint64_t state = mutate_seed(n);
		bool is_sound_elf = n_mutants > 0;
		if (!mutant)
			return 1;
		if (!run(dir, bytes, n, is_sound_elf)) {
			printf("# %s: failed as it is\n", argv[i]);
			failed = 1;
		}
		for (unsigned long k = 0; k < n_mutants; k++) {
			bool is_debug;
			memcpy(mutant, bytes, n);
			if (!mutate_elf(mutant, n, &state, &is_debug) ||
			    run(dir, mutant, n, is_debug))
				continue;
			printf("# %s: mutant %lu failed\n", argv[i], k);
			failed = 1;
		}
		free(bytes);
		free(mutant);
	}
	snprintf(path, sizeof path, "%s/mutant", dir);
	unlink(path);
	snprintf(path, sizeof path, "%s/mutant.hpcstruct", dir);
	unlink(path);
	rmdir(dir);
	printf("# %lu structures made, %lu binaries refused\n", n_made, n_refused);
	return failed;
}
#endif
