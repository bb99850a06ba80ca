! SPDX-License-Identifier: LGPL-2.1-or-later
! sums.f90: reductions in Fortran, of parts by number and by turn; rank 0 sums three times as many.
! Prints all bits of the first sums, and how many of the later ones differ.
program sums
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  implicit none
  integer :: rank, error, i, round, terms, differ
  real(real64) :: parts, turns, first_parts, first_turns
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  terms = merge(150000, 50000, rank == 0)
  differ = 0
  do round = 1, 100
    parts = 0
    turns = 0
    !$omp parallel do reduction(+:parts)
    do i = 1, terms
      parts = parts + 1 / (1 + real(i, real64))
    end do
    !$omp parallel do schedule(dynamic, 100) reduction(+:turns)
    do i = 1, terms
      turns = turns + 1 / (1 + real(i, real64))
    end do
    if (round == 1) then
      first_parts = parts
      first_turns = turns
    end if
    if (transfer(parts, 1_int64) /= transfer(first_parts, 1_int64)) differ = differ + 1
    if (transfer(turns, 1_int64) /= transfer(first_turns, 1_int64)) differ = differ + 1
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  print '(a,i0,a,z16.16,a,z16.16,a,i0,a)', 'rank ', rank, ' ', transfer(first_parts, 1_int64), ' ', &
    transfer(first_turns, 1_int64), ', ', differ, ' differ'
  call MPI_Finalize(error)
end program sums
