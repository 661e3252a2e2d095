/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that fail, and how they say so; MPI must say the same with and without us. Usage:
 * mpi_errors [abort]. Prints the class of each error.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void say(const char *what, int code)
{
	int class = -1;
	MPI_Error_class(code, &class);
	printf("%s %s\n", what,
	       code == MPI_SUCCESS          ? "success"
	       : class == MPI_ERR_RANK      ? "rank"
	       : class == MPI_ERR_TYPE      ? "type"
	       : class == MPI_ERR_COUNT     ? "count"
	       : class == MPI_ERR_TRUNCATE  ? "truncate"
	       : class == MPI_ERR_COMM      ? "comm"
	       : class == MPI_ERR_ROOT      ? "root"
					    : "other");
}

int main(int argc, char **argv)
{
	int x[8] = {0}, y[8] = {0};
	MPI_Comm own;
	MPI_Request q;
	MPI_Init(&argc, &argv);
	/* only this communicator returns errors; those of others would end the program */
	MPI_Comm_dup(MPI_COMM_SELF, &own);
	MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
	say("no such rank", MPI_Send(x, 1, MPI_INT, 99, 0, own));
	say("no such type", MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, own));
	say("no such count", MPI_Send(x, -1, MPI_INT, 0, 0, own));
	say("no such root", MPI_Bcast(x, 1, MPI_INT, 7, own));
	MPI_Irecv(y, 1, MPI_INT, 0, 0, own, &q);
	say("send", MPI_Send(x, 4, MPI_INT, 0, 0, own));
	say("too long", MPI_Wait(&q, MPI_STATUS_IGNORE));
	say("no such type", MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, 1, MPI_INT, 0, own));
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 7);
	MPI_Comm_free(&own);
	MPI_Finalize();
	return 0;
}
