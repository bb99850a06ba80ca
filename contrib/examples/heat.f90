! SPDX-License-Identifier: LGPL-2.1-or-later
! heat.f90: a Fortran example: heat in a rod of many strands. Each rank has strands of its own, the first one three times as
! many, and after each step all ranks agree on the largest change. Run it as: srun -n 2 -c 4 --balance heat
program heat
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  implicit none
  integer, parameter :: points = 1000
  real(real64), parameter :: pi = acos(-1.0_real64), courant = 0.4_real64
  integer :: rank, error, level, iterations, strands, step, strand
  integer(int64) :: begin, now, rate
  real(real64), allocatable :: old(:, :), new(:, :), swap_in(:, :)
  real(real64) :: change, largest, factor, off, worst
  character(len=16) :: text

  call MPI_Init_thread(MPI_THREAD_FUNNELED, level, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  iterations = 400
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *, iostat=error) iterations
    if (error /= 0 .or. iterations < 1) then
      if (rank == 0) print '(a)', 'usage: heat [ITERATIONS]'
      call MPI_Finalize(error)
      stop 2
    end if
  end if
  strands = merge(1200, 400, rank == 0)
  allocate (old(0:points, strands), new(0:points, strands))
  !$omp parallel do
  do strand = 1, strands
    call start(old(:, strand))
    new(:, strand) = old(:, strand)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call system_clock(begin, rate)
  do step = 1, iterations
    change = 0
    !$omp parallel do schedule(dynamic, 8) reduction(max:change)
    do strand = 1, strands
      new(1:points - 1, strand) = old(1:points - 1, strand) + courant * &
        (old(0:points - 2, strand) - 2 * old(1:points - 1, strand) + old(2:points, strand))
      change = max(change, maxval(abs(new(:, strand) - old(:, strand))))
    end do
    call move_alloc(old, swap_in)
    call move_alloc(new, old)
    call move_alloc(swap_in, new)
    call MPI_Allreduce(change, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
  end do
  call system_clock(now)

  ! The sine keeps its shape: each step multiplies it by the same factor.
  factor = (1 - 4 * courant * sin(pi / (2 * points))**2)**iterations
  off = maxval(abs(old(:, 1) - factor * [(sin(pi * strand / points), strand=0, points)]))
  call MPI_Reduce(off, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a,f0.4,a,es16.10,a)', 'elapsed ', dble(now - begin) / dble(rate), ' s, result ', largest, &
    merge(', verified', ', WRONG   ', worst < 1e-10_real64)
  call MPI_Finalize(error)
  if (rank == 0 .and. worst >= 1e-10_real64) stop 1

contains

  pure subroutine start(strand)
    real(real64), intent(out) :: strand(0:)
    integer :: i

    do i = 0, points
      strand(i) = sin(pi * i / points)
    end do
  end subroutine start

end program heat
