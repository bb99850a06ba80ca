! SPDX-License-Identifier: LGPL-2.1-or-later
! bindings.F90: MPI and OpenMP from Fortran. BINDING: 1 mpif.h, 2 use mpi, 3 use mpi_f08. MARKS: use malleable, too.
! With an argument there is little work.
program bindings
#if BINDING == 2
  use mpi
#elif BINDING == 3
  use mpi_f08
#endif
  use omp_lib
#ifdef MARKS
  use malleable
  use iso_c_binding, only: c_null_char
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer, parameter :: phases = 20, items = 64
  integer :: rank, ranks, error, phase, i, j, steps
  integer(8) :: total, all
  integer(8) :: begin, now, rate
  integer(8) :: value
#ifdef MARKS
  type(malleable_times) :: times
  integer :: part
#endif

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  steps = merge(600000, 200000, rank == 0)
  if (command_argument_count() > 0) steps = steps / 50
  total = 0
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call system_clock(begin, rate)
#ifdef MARKS
  part = malleable_region("sums" // c_null_char)
#endif
  do phase = 1, phases
#ifdef MARKS
    error = malleable_region_begin(part)
#endif
    !$omp parallel do schedule(dynamic) private(value, j) reduction(+:total)
    do i = 1, items
      value = i
      do j = 1, steps
        value = ieor(ishft(value, 7), ishft(value, -9)) + i
      end do
      total = total + iand(value, 65535_8)
    end do
    !$omp end parallel do
    call MPI_Allreduce(total, all, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, error)
#ifdef MARKS
    error = malleable_region_end(part)
    call malleable_phase()
#endif
  end do
#ifdef MARKS
  if (malleable_region_times(part, times) < 0 .or. mod(times%runs, int(phases, 8)) /= 0) error stop
  if (malleable_limit(0) < 0 .or. malleable_disable() < 0 .or. malleable_enable() < 0) error stop
#endif
  call system_clock(now)
  if (rank == 0) then
    print '(a,f0.3,a,i0)', 'elapsed ', dble(now - begin) / dble(rate), ' s, result ', all
#ifdef MARKS
    print '(a,l1)', 'balanced ', malleable_cpus() > 0 .and. times%runs > 0 .and. times%work > 0
#endif
  end if
  call MPI_Finalize(error)
end program bindings
