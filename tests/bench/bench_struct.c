/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed of hpcstruct-lite against a bare walk of the same DWARF with libdwarf, in one run: every
 *DIE with its attributes, every row of every line table.
 *
 *	bench_struct [BINARY...]
 *
 * Without arguments the binaries are generated ones (tests/bench/gen_struct.sh) and this tool
 *itself; give others, as Debian's C library with its debug symbols, for real figures. Each figure
 *is the least of several runs: CPU time for ratios on one core, elapsed time for the gain of a
 *second one, which needs a machine with nothing else to do.
 */
#include "hpcstruct-lite/debug/debug_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 3 };

struct cost {
	double cpu_s, wall_s;
	long peak_kib;
};

static char tool_path[4096];
static const char *build_dir;
static uint64_t n_dies, n_attributes, n_rows;

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void walk_attributes(Dwarf_Debug dbg, Dwarf_Die die)
{
	Dwarf_Attribute *list;
	Dwarf_Signed n = 0;
	Dwarf_Half tag, what, form;
	dwarf_tag(die, &tag, NULL);
	n_dies++;
	if (dwarf_attrlist(die, &list, &n, NULL) != DW_DLV_OK)
		return;
	for (Dwarf_Signed i = 0; i < n; i++) {
		dwarf_whatattr(list[i], &what, NULL);
		dwarf_whatform(list[i], &form, NULL);
		dwarf_dealloc_attribute(list[i]);
	}
	n_attributes += (uint64_t)n;
	dwarf_dealloc(dbg, list, DW_DLA_LIST);
}

static void walk_dies(Dwarf_Debug dbg, Dwarf_Die die)
{
	Dwarf_Die child, next;
	walk_attributes(dbg, die);
	for (int r = dwarf_child(die, &child, NULL); r == DW_DLV_OK; child = next) {
		walk_dies(dbg, child);
		r = dwarf_siblingof_b(dbg, child, 1, &next, NULL);
		dwarf_dealloc_die(child);
		if (r != DW_DLV_OK)
			break;
	}
}

static void walk_lines(Dwarf_Die unit)
{
	Dwarf_Unsigned version, number, file;
	Dwarf_Small n_tables;
	Dwarf_Line_Context context;
	Dwarf_Line *lines;
	Dwarf_Signed n = 0;
	if (dwarf_srclines_b(unit, &version, &n_tables, &context, NULL) != DW_DLV_OK)
		return;
	if (dwarf_srclines_from_linecontext(context, &lines, &n, NULL) == DW_DLV_OK) {
		for (Dwarf_Signed i = 0; i < n; i++) {
			Dwarf_Addr addr;
			dwarf_lineaddr(lines[i], &addr, NULL);
			dwarf_lineno(lines[i], &number, NULL);
			dwarf_line_srcfileno(lines[i], &file, NULL);
		}
		n_rows += (uint64_t)n;
	}
	dwarf_srclines_dealloc_b(context);
}

/* The whole of a process of its own: prints its counts. */
static int walk_file(const char *path)
{
	static const char *const dirs[] = {"/usr/lib/debug", NULL};
	struct image *image, *separate = NULL;
	Dwarf_Debug dbg = NULL;
	if (image_open(path, &image) != STATUS_OK)
		return 1;
	if (!debug_has_units(image))
		image_find_debug(image, dirs, &separate);
	dwarf_set_de_alloc_flag(0);
	const char *file = separate ? separate->path : path;
#ifdef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
	if (dwarf_init_path(file, NULL, 0, DW_GROUPNUMBER_ANY, NULL, NULL, &dbg, NULL) != DW_DLV_OK)
		return 1;
#else
	if (dwarf_init_path(file, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL, &dbg, NULL,
			    0, NULL, NULL) != DW_DLV_OK)
		return 1;
#endif
	for (;;) {
		Dwarf_Unsigned length, type_offset, next;
		Dwarf_Off abbrevs;
		Dwarf_Half version, address_size, length_size, extension_size, type;
		Dwarf_Sig8 signature;
		Dwarf_Die unit;
		if (dwarf_next_cu_header_d(dbg, 1, &length, &version, &abbrevs, &address_size,
					   &length_size, &extension_size, &signature, &type_offset,
					   &next, &type, NULL) != DW_DLV_OK)
			break;
		if (dwarf_siblingof_b(dbg, NULL, 1, &unit, NULL) != DW_DLV_OK)
			continue;
		walk_lines(unit);
		walk_dies(dbg, unit);
		dwarf_dealloc_die(unit);
	}
	printf("  %llu DIEs, %llu attributes, %llu line rows\n", (unsigned long long)n_dies,
	       (unsigned long long)n_attributes, (unsigned long long)n_rows);
	fflush(stdout);
	return 0;
}

/* Runs one process: the tool with -j `n_jobs` on a binary or a directory, or the bare walk when
 * that is 0. */
static struct cost run_once(const char *path, int n_jobs, bool loops, bool quiet)
{
	struct stat st;
	bool is_directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	double start = seconds();
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		char jobs[16];
		snprintf(jobs, sizeof jobs, "-j%d", n_jobs);
		if (quiet && !freopen("/dev/null", "w", stdout))
			_exit(1);
		if (n_jobs == 0)
			_exit(walk_file(path));
		const char *last = loops ? "-q" : "--no-loops";
		if (is_directory)
			execl(tool_path, tool_path, jobs, "-f", "-q", "--no-cache", last, path,
			      (char *)NULL);
		execl(tool_path, tool_path, jobs, "-f", "-q", "--no-cache", last, "-o",
		      "bench_struct.tmp", path, (char *)NULL);
		_exit(127);
	}
	int status;
	struct rusage u;
	while (wait4(pid, &status, 0, &u) < 0 && errno == EINTR)
		continue;
	struct cost c = {(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
				 (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6,
			 seconds() - start, u.ru_maxrss};
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		printf("  failed, status %d\n", status);
	return c;
}

static struct cost run(const char *path, int n_jobs, bool loops)
{
	struct cost best = run_once(path, n_jobs, loops, false);
	for (int i = 1; i < RUNS; i++) {
		struct cost c = run_once(path, n_jobs, loops, true);
		best.cpu_s = c.cpu_s < best.cpu_s ? c.cpu_s : best.cpu_s;
		best.wall_s = c.wall_s < best.wall_s ? c.wall_s : best.wall_s;
		best.peak_kib = c.peak_kib > best.peak_kib ? c.peak_kib : best.peak_kib;
	}
	return best;
}

static void bench(const char *path)
{
	printf("%s\n", path);
	struct cost walk = run(path, 0, true), one = run(path, 1, true), two = run(path, 2, true),
		    plain = run(path, 1, false);
	printf("  bare walk with libdwarf   %7.3f s CPU   %7.1f MiB\n", walk.cpu_s,
	       (double)walk.peak_kib / 1024);
	printf("  hpcstruct-lite -j 1       %7.3f s CPU   %7.1f MiB   %.2f x the bare walk\n",
	       one.cpu_s, (double)one.peak_kib / 1024, one.cpu_s / walk.cpu_s);
	printf("  ... --no-loops            %7.3f s CPU   %7.1f MiB   %.2f x the bare walk\n",
	       plain.cpu_s, (double)plain.peak_kib / 1024, plain.cpu_s / walk.cpu_s);
	printf("  hpcstruct-lite -j 2       %7.3f s elapsed, -j 1 %.3f s: %.2f x faster\n",
	       two.wall_s, one.wall_s, one.wall_s / two.wall_s);
	unlink("bench_struct.tmp");
}

/* All binaries at a time, as from a run that had samples in each. */
static void bench_directory(int n, char **binaries)
{
	char command[16384];
	size_t used = (size_t)snprintf(
		command, sizeof command,
		"mkdir -p bench_struct.run && '%s/tests/struct/make_run' bench_struct.run/x.hpcrun",
		build_dir);
	for (int i = 0; i < n && used < sizeof command; i++)
		used += (size_t)snprintf(command + used, sizeof command - used, " '%s'",
					 binaries[i]);
	if (used >= sizeof command || system(command) != 0)
		return;
	struct cost one = run("bench_struct.run", 1, true), two = run("bench_struct.run", 2, true);
	printf("a directory with these %d binaries\n  hpcstruct-lite -j 2       %7.3f s elapsed, "
	       "-j 1 %.3f s: %.2f x faster\n",
	       n, two.wall_s, one.wall_s, one.wall_s / two.wall_s);
	if (system("rm -rf bench_struct.run") != 0)
		printf("  bench_struct.run is left\n");
}

/* The binaries to measure when none are given. */
static int generate(char **binaries)
{
	static char many[] = "bench_struct.gen/many.so", single[] = "bench_struct.gen/one.so";
	const char *source = getenv("top_srcdir");
	char command[4200];
	int n = 0;
	binaries[n++] = tool_path;
	snprintf(command, sizeof command,
		 "mkdir -p bench_struct.gen && sh '%s/tests/bench/gen_struct.sh' bench_struct.gen",
		 source ? source : ".");
	if (system(command) == 0) {
		binaries[n++] = many;
		binaries[n++] = single;
	}
	return n;
}

int main(int argc, char **argv)
{
	char *generated[3];
	const char *build = getenv("top_builddir");
	build_dir = build ? build : ".";
	snprintf(tool_path, sizeof tool_path, "%s/hpcstruct-lite/hpcstruct-lite", build_dir);
	int n = argc > 1 ? argc - 1 : generate(generated);
	char **binaries = argc > 1 ? argv + 1 : generated;
	for (int i = 0; i < n; i++)
		bench(binaries[i]);
	if (n > 1)
		bench_directory(n, binaries);
	return argc > 1 ? 0 : system("rm -rf bench_struct.gen") != 0;
}
