! SPDX-License-Identifier: BSD-3-Clause
! Known calls from Fortran: 20 rounds. The three programs differ in how they get at MPI.
program mpi_fortran
	use mpi
	implicit none
	integer :: ierr, rank, n, i, next, last
	integer :: x(64), y(64)
	integer :: d
	integer :: q
	call MPI_Init(ierr)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
	call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
	next = mod(rank + 1, n)
	last = mod(rank + n - 1, n)
	x = rank
	call MPI_Comm_dup(MPI_COMM_WORLD, d, ierr)
	do i = 1, 20
		call rounds()
	end do
	call MPI_Comm_free(d, ierr)
	if (rank == 0) print '(a,i0)', 'sum ', sum(y)
	call MPI_Finalize(ierr)
contains
	subroutine rounds()
		call MPI_Irecv(y, 64, MPI_INTEGER, last, 1, d, q, ierr)
		call MPI_Send(x, 64, MPI_INTEGER, next, 1, d, ierr)
		call MPI_Wait(q, MPI_STATUS_IGNORE, ierr)
		call MPI_Bcast(x, 8, MPI_DOUBLE_PRECISION, 0, d, ierr)
		call MPI_Allreduce(MPI_IN_PLACE, y, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
	end subroutine
end program
