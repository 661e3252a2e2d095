! SPDX-License-Identifier: BSD-3-Clause
! A parallel region of Fortran: the work of a subroutine that a worksharing loop calls. Usage:
! omp_fortran [ROUNDS]. Used by tests/cli/openmp/omp_fortran.sh.
program omp_fortran
  use omp_lib
  implicit none
  integer :: round, rounds, i
  character(len=16) :: argument
  real(8) :: total

  rounds = 50
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) rounds
  end if
  total = 0
  do round = 1, rounds
    !$omp parallel do reduction(+:total) num_threads(2) schedule(dynamic)
    do i = 1, 8
      total = total + fortran_work(i)
    end do
  end do
  print '(a, f0.3)', 'total ', total / rounds

contains

  real(8) function fortran_work(i)
    integer, intent(in) :: i
    integer :: k

    fortran_work = 0
    do k = 1, 100000
      fortran_work = fortran_work + 1.0d0 / (real(k, 8) * real(k + i, 8))
    end do
  end function fortran_work

end program omp_fortran
