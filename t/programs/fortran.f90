! SPDX-License-Identifier: LGPL-2.1-or-later
! fortran.f90: waits in MPI_BARRIER, called through the Fortran binding.
program fortran
  implicit none
  include 'mpif.h'
  integer :: rank, error, i
  double precision :: begin
  call MPI_INIT(error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
  do i = 1, 50
    begin = MPI_WTIME()
    if (rank == 0) then
      do while (MPI_WTIME() - begin < 0.01d0)
      end do
    end if
    call MPI_BARRIER(MPI_COMM_WORLD, error)
  end do
  if (rank == 0) print *, 'done'
  call MPI_FINALIZE(error)
end program fortran
