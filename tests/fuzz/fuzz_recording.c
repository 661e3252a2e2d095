/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a recording of a GPU back end, loaded with all its parts looked at. As
 * LLVMFuzzerTestOneInput for libFuzzer (clang -fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE).
 * Else a program that takes a measurement directory with one recording, and plays mutants and
 * beginnings of it with the whole player, each in a process of its own:
 *
 *     fuzz_recording [-n MUTANTS] DIR SCRATCH
 *
 * Fails when a mutant crashes or hangs the player. make check runs it in
 * tests/cli/gpu/replay_damage.sh.
 */
#include "common/base/log.h"
#include "hpcrun-lite/replay/tape.h"
#include "tests/fuzz/mutate.h"
#include "tests/replay/alter.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void look(const struct tape *t)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->n_events; i++) {
		const struct tape_event *e = &t->event[i];
		const struct recording_memory *m = NULL;
		if (tape_is_enter(e, RECORDING_DRIVER))
			while (recording_next_memory((const void *)e->head, &m))
				sum += m->n_bytes;
		const struct recording_pc_data *d =
			e->head->type == RECORDING_CALL ? recording_pc_data((const void *)e->head)
							: NULL;
		const struct recording_pc *p = d ? (const void *)(d + 1) : NULL;
		for (uint32_t k = 0; d && k < d->n_pcs; k++, p = recording_next_pc(p))
			sum += p->n_reasons ? recording_reasons(p)[p->n_reasons - 1].samples : 0;
		sum += tape_text_at(t, e->head->order, e->head->order) != NULL;
		sum += tape_answer(t, RECORDING_GET_CONTEXT_ID, e->head->order, 0,
				   e->head->order) != NULL;
	}
	if (sum == UINT64_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct tape t;
	void *bytes; /* exactly as long as the input: reads beyond it show under the sanitizers */
	if (posix_memalign(&bytes, 64, n ? n : 1) != 0)
		return 0;
	memcpy(bytes, data, n);
	if (tape_load_bytes("fuzz", bytes, n, &t) == STATUS_OK) {
		look(&t);
		tape_free(&t);
	}
	free(bytes);
	return 0;
}

#ifndef FUZZ_ENGINE

#define LIMIT_S 30

static char recording[2 * PATH_MAX], copy[PATH_MAX], output[PATH_MAX], said[PATH_MAX];

static void save(const char *path, const uint8_t *bytes, size_t n)
{
	FILE *out = fopen(path, "wb");
	if (!out || fwrite(bytes, 1, n, out) != n || fclose(out) != 0)
		exit(1);
}

/* A command of the shell with up to two paths behind it. */
static void run(const char *command, const char *a, const char *b)
{
	char line[3 * PATH_MAX];
	snprintf(line, sizeof line, "%s '%s' '%s'", command, a, b);
	if (system(line) != 0)
		exit(1);
}

/* The player's own process is a child of the command's, which says so when it crashed. */
static bool has_crashed(void)
{
	char line[1024];
	bool has = false;
	FILE *in = fopen(said, "r");
	while (in && !has && fgets(line, sizeof line, in))
		has = strstr(line, "crashed") || strstr(line, "Sanitizer") ||
		      strstr(line, "runtime error");
	if (in)
		fclose(in);
	return has;
}

static bool play(bool shuffle)
{
	char words[][24] = {"replay", "-q", "-o", "--shuffle-streams", "7"};
	char *argv[] = {words[0], words[1], copy, words[2], output, shuffle ? words[3] : NULL,
			words[4], NULL};
	int how = 0;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		dup2(fd, STDERR_FILENO);
		dup2(fd, STDOUT_FILENO);
		alarm(LIMIT_S);
		setpgid(0, 0);
		_exit(alter_main(shuffle ? 7 : 5, argv));
	}
	waitpid(child, &how, 0);
	kill(-child, SIGKILL); /* what hangs below it */
	run("rm -rf", output, output);
	return WIFEXITED(how) && WEXITSTATUS(how) <= 1 && !has_crashed();
}

/* Of the file what is in use, and some more. */
static size_t used_bytes(const uint8_t *bytes, size_t n)
{
	uint64_t allocated =
		n < RECORDING_HEADER_BYTES
			? 0
			: atomic_load_explicit(
				  &((const struct recording_header *)(const void *)bytes)
					   ->allocated,
				  memory_order_relaxed);
	return allocated && allocated < n ? (size_t)allocated : n;
}

static bool try_one(const uint8_t *bytes, size_t n, unsigned long number, const char *what)
{
	LLVMFuzzerTestOneInput(bytes, n);
	save(recording, bytes, n);
	if (play(number % 4 == 3))
		return true;
	fprintf(stderr, "%s %lu crashed or hung the player; it is in %s\n", what, number,
		recording);
	return false;
}

static bool try_all(const uint8_t *bytes, size_t n, unsigned long n_mutants)
{
	uint8_t *mutant = malloc(n);
	uint64_t state = UINT64_C(0x1234567);
	size_t used = used_bytes(bytes, n);
	bool good = mutant != NULL;
	for (unsigned long i = 0; good && i < n_mutants; i++) {
		memcpy(mutant, bytes, n);
		mutate_bytes(mutant, i % 16 ? RECORDING_HEADER_BYTES : 0, i % 16 ? used : 512,
			     &state);
		good = try_one(mutant, n, i, "mutant");
	}
	for (unsigned long i = 0; good && i < n_mutants / 8; i++)
		good = try_one(bytes, (size_t)(mutate_random(&state) % used), i, "beginning");
	free(mutant);
	return good;
}

static bool find_recording(const char *directory)
{
	DIR *d = opendir(directory);
	bool found = false;
	for (struct dirent *e; d && !found && (e = readdir(d));) {
		size_t n = strlen(e->d_name);
		found = n > strlen(RECORDING_SUFFIX) &&
			!strcmp(e->d_name + n - strlen(RECORDING_SUFFIX), RECORDING_SUFFIX);
		if (found)
			snprintf(recording, sizeof recording, "%s/%s", directory, e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

int main(int argc, char **argv)
{
	unsigned long n_mutants = 0;
	int first = 1;
	size_t n;
	if (argc > 3 && !strcmp(argv[1], "-n")) {
		n_mutants = strtoul(argv[2], NULL, 10);
		first = 3;
	}
	if (argc - first != 2)
		return 2;
	log_set_quiet(true);
	snprintf(copy, sizeof copy, "%s/copy", argv[first + 1]);
	snprintf(output, sizeof output, "%s/output", argv[first + 1]);
	snprintf(said, sizeof said, "%s/said", argv[first + 1]);
	run("mkdir -p", argv[first + 1], argv[first + 1]);
	run("rm -rf", copy, copy);
	run("cp -R", argv[first], copy);
	if (!find_recording(copy))
		return 1;
	uint8_t *bytes = mutate_load(recording, &n);
	bool good = try_all(bytes, n, n_mutants);
	free(bytes);
	return !good;
}

#endif
