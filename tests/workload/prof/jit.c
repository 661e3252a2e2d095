/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that makes code while it runs, says so in a perf map or a jitdump, and replaces code at
 * its address. What it prints is the truth: the CPU time in each of its functions.
 *
 *	jit [-m DIR] [-d DIR] [-s] [-t SECONDS] [-f] [-k] [-n NUMBER]
 *
 * -m: perf map in DIR; -d: jitdump in DIR; -s: addresses of its lines are shifted by 64, as V8 and
 * LLVM do; -t: CPU time of each function; -f: the jitdump is written to the end before the program
 * ends, which else happens after exit handlers, as in some programs; -k: it kills itself at the
 * end; -n: so many mappings, which the kernel lists before those that were made earlier.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static FILE *map, *dump;
static uint64_t shift;

static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t mono_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; 2: dec %rsi; jnz 2b; pop %rbp; ret: its second
 * loop is on a line of its own.
 */
static const unsigned char body[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x48,
	0xff, 0xce, 0x75, 0xfb, 0x5d, 0xc3};
enum { FIRST_LOOP = 4, SECOND_LOOP = 9 };

static void put(const void *bytes, size_t n)
{
	if (fwrite(bytes, 1, n, dump) != n)
		exit(1);
}

static void put_u32(uint32_t v)
{
	put(&v, sizeof v);
}

static void put_u64(uint64_t v)
{
	put(&v, sizeof v);
}

static void put_prefix(uint32_t kind, size_t n)
{
	put_u32(kind);
	put_u32((uint32_t)(16 + n));
	put_u64(mono_ns());
}

static void put_line(uint64_t addr, uint32_t line, const char *file)
{
	put_u64(addr + shift);
	put_u32(line);
	put_u32(0);
	put(file, strlen(file) + 1);
}

static void say(const char *name, const unsigned char *at, uint64_t number, uint32_t line)
{
	static const char file[] = "/nowhere/generated.src";
	if (map) {
		fprintf(map, "%lx %zx %s\n", (unsigned long)(uintptr_t)at, sizeof body, name);
		fflush(map);
	}
	if (!dump)
		return;
	if (line) {
		put_prefix(2, 16 + 2 * 16 + sizeof file + 16 + 2 * 2);
		put_u64((uintptr_t)at);
		put_u64(3);
		put_line((uintptr_t)at, line, file);
		put_line((uintptr_t)at + FIRST_LOOP, line + 1, "\xff");
		put_line((uintptr_t)at + SECOND_LOOP, line + 2, "\xff");
	}
	put_prefix(0, 40 + strlen(name) + 1 + sizeof body);
	put_u32((uint32_t)getpid());
	put_u32((uint32_t)getpid());
	put_u64((uintptr_t)at);
	put_u64((uintptr_t)at);
	put_u64(sizeof body);
	put_u64(number);
	put(name, strlen(name) + 1);
	put(body, sizeof body);
}

static void open_dump(const char *directory)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/jit-%d.dump", directory, (int)getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	/* the mark that profilers look for */
	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED
		|| !(dump = fdopen(fd, "wb")))
		exit(1);
	put_u32(0x4A695444);
	put_u32(1);
	put_u32(40);
	put_u32(EM_X86_64);
	put_u32(0);
	put_u32((uint32_t)getpid());
	put_u64(mono_ns());
	put_u64(0);
}

static void open_map(const char *directory)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/perf-%d.map", directory, (int)getpid());
	map = fopen(path, "w");
	if (!map)
		exit(1);
}

/* Of one page each, with rights that differ from its neighbours'. */
static void make_mappings(unsigned n)
{
	char *at = mmap(NULL, n * (size_t)4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; at != MAP_FAILED && i < n; i += 2)
		mprotect(at + i * (size_t)4096, 4096, PROT_NONE);
}

typedef void code_fn(uint64_t first, uint64_t second);

static void run(const char *name, unsigned char *at, double seconds, bool second)
{
	code_fn *f;
	memcpy(&f, &at, sizeof f);
	double start = cpu();
	while (cpu() < start + seconds)
		f(second ? 1 : 100000, second ? 100000 : 1);
	printf("truth %s %.6f\n", name, cpu() - start);
}

int main(int argc, char **argv)
{
	double seconds = 0.2;
	bool finish = false, die = false;
	for (int c; (c = getopt(argc, argv, "m:d:st:fkn:")) != -1;) {
		if (c == 'm')
			open_map(optarg);
		else if (c == 'd')
			open_dump(optarg);
		else if (c == 's')
			shift = 64;
		else if (c == 't')
			seconds = atof(optarg);
		else if (c == 'f')
			finish = true;
		else if (c == 'k')
			die = true;
		else if (c == 'n')
			make_mappings((unsigned)atoi(optarg));
	}
	unsigned char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return 1;
	memcpy(at, body, sizeof body);
	memcpy(at + 4096, body, sizeof body);
	say("alpha", at, 0, 0);
	say("stays", at + 4096, 1, 10);
	run("alpha", at, seconds, false);
	run("stays", at + 4096, seconds, false);
	say("beta", at, 2, 0);
	run("beta", at, seconds, false);
	run("stays", at + 4096, seconds, true);
	fflush(stdout);
	if (dump && (finish || die))
		fflush(dump);
	if (die)
		kill(getpid(), SIGKILL);
	return 0;
}
