/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawns processes of another program, or of itself, and works with them. What the spawned ones
 * see of themselves is printed by the parent, in the order of their ranks, so that two runs can be
 * compared. Usage: mpi_spawn N [PROGRAM...]; N processes of each PROGRAM, "deep": of itself, which
 * spawn another one. Without PROGRAM: of itself. PROGRAM "child" and "deep" are the spawned ones.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1024, MOST = 8 };

__attribute__((noinline)) static double spin(long n)
{
	volatile double x = 0;
	for (long i = 0; i < n; i++)
		x += (double)i;
	return x;
}

__attribute__((noinline)) static double child_work(void)
{
	return spin(40000000);
}

__attribute__((noinline)) static double parent_work(void)
{
	return spin(40000000);
}

static void read_command(char *to, size_t room)
{
	FILE *f = fopen("/proc/self/cmdline", "r");
	size_t n = f ? fread(to, 1, room - 1, f) : 0;
	for (size_t i = 0; i < n; i++)
		to[i] = to[i] ? to[i] : '|';
	to[n] = 0;
	if (f)
		fclose(f);
}

static void describe(char *line, int argc, char **argv)
{
	char command[LINE / 2];
	int rank, size, there, *number, n_ours = 0;
	extern char **environ;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &there);
	read_command(command, sizeof command);
	for (char **e = environ; *e; e++)
		n_ours += strstr(*e, "hpcrun-lite") || !strncmp(*e, "HPCTOOLKIT_LITE=", 16);
	snprintf(line, LINE, "%d of %d, program %d, %d arguments, %s, %s, variable %s, %d of ours",
		 rank, size, there ? *number : -1, argc, argv[0], command,
		 getenv("SPAWN_TEST") ? getenv("SPAWN_TEST") : "none", n_ours);
}

static void spawn(int n, int n_programs, char **programs, const char *self)
{
	int n_each[MOST], errors[MOST * MOST];
	char *command[MOST], **arguments[MOST], *own[MOST][4], line[LINE];
	MPI_Info info[MOST];
	MPI_Comm children;
	for (int i = 0; i < n_programs; i++) {
		const char *name = programs[i];
		const int is_self = !strcmp(name, "child") || !strcmp(name, "deep");
		command[i] = (char *)(is_self ? self : name);
		own[i][0] = (char *)(is_self ? name : "x");
		own[i][1] = "a b";
		own[i][2] = NULL;
		arguments[i] = own[i];
		n_each[i] = n;
		MPI_Info_create(&info[i]);
		MPI_Info_set(info[i], "env", "SPAWN_TEST=yes");
	}
	int result = n_programs == 1
			     ? MPI_Comm_spawn(command[0], arguments[0], n, info[0], 0,
					      MPI_COMM_SELF, &children, errors)
			     : MPI_Comm_spawn_multiple(n_programs, command, arguments, n_each, info,
						       0, MPI_COMM_SELF, &children, errors);
	printf("spawned: %d\n", result);
	for (int i = 0; i < n * n_programs; i++) {
		MPI_Recv(line, LINE, MPI_CHAR, i, 1, children, MPI_STATUS_IGNORE);
		printf("%s\n", line);
	}
	MPI_Comm_disconnect(&children);
	for (int i = 0; i < n_programs; i++)
		MPI_Info_free(&info[i]);
	fflush(stdout);
}

static void be_child(MPI_Comm parent, int argc, char **argv)
{
	char line[LINE];
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 5; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	child_work();
	if (!strcmp(argv[1], "deep") && rank == 0)
		spawn(1, 1, (char *[]){"child"}, argv[0]);
	describe(line, argc, argv);
	MPI_Send(line, LINE, MPI_CHAR, 0, 1, parent);
	MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
	MPI_Comm parent;
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (parent != MPI_COMM_NULL) {
		be_child(parent, argc, argv);
	} else {
		parent_work();
		for (int i = 0; i < 3; i++)
			MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0 && argc > 2)
			spawn(atoi(argv[1]), argc - 2, argv + 2, argv[0]);
		else if (rank == 0)
			spawn(atoi(argv[1]), 1, (char *[]){"child"}, argv[0]);
	}
	MPI_Finalize();
	return 0;
}
