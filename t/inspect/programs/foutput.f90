! SPDX-License-Identifier: LGPL-2.1-or-later
! Output, characters and internal files.
program foutput
  implicit none
  integer, parameter :: n = 40
  character(len=16) :: lines(n)
  integer :: i, unit, read_back, count, status
  !$omp parallel do ! free
  do i = 1, n
     write (lines(i), '(i6,a)') i * 7, ' x'
  end do
  open (newunit=unit, status='scratch', action='readwrite')
  !$omp parallel ! free
  !$omp single
  write (unit, '(i8)') n
  !$omp end single
  !$omp do ordered
  do i = 1, n
     !$omp ordered
     write (unit, '(i8)') i
     !$omp end ordered
  end do
  !$omp end parallel
  !$omp parallel ! bound: count
  !$omp critical
  write (unit, '(i8)') 1
  !$omp end critical
  !$omp end parallel
  !$omp parallel ! free
  !$omp master
  print *, 'one thread'
  !$omp end master
  !$omp end parallel
  rewind (unit)
  count = 0
  do
     read (unit, *, iostat=status) read_back
     if (status /= 0) exit
     count = count + read_back
  end do
  print *, count, lines(1), lines(n)
end program
