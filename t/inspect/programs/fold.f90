! SPDX-License-Identifier: LGPL-2.1-or-later
! As old programs are: implicit external questions, equivalence, data by labelled common.
program fold
  implicit none
  integer, parameter :: n = 320
  integer omp_get_thread_num, omp_get_num_threads, omp_get_max_threads
  external omp_get_thread_num, omp_get_num_threads, omp_get_max_threads
  real(8) :: x(n), y(n), both(2 * n), part(0:63)
  equivalence (both(1), x(1)), (both(n + 1), y(1))
  integer :: i, me, many, first, last, told
  common /grid/ told
  told = omp_get_max_threads()
  part = 0
  both = 0
  !$omp parallel do ! free
  do i = 1, n
     x(i) = mod(i * 17, 71)
     y(i) = told
  end do
  !$omp parallel private(me, many, first, last, i) ! open: partition
  me = omp_get_thread_num()
  many = omp_get_num_threads()
  first = me * n / many + 1
  last = (me + 1) * n / many
  do i = first, last
     y(i) = y(i) + x(i)
  end do
  !$omp end parallel
  !$omp parallel private(me, many, first, last, i) ! bound: share
  me = omp_get_thread_num()
  many = omp_get_num_threads()
  first = me * n / many + 1
  last = (me + 1) * n / many
  call line(x, first, last)
  !$omp end parallel
  !$omp parallel do private(me) ! bound: identity
  do i = 1, n
     me = omp_get_thread_num()
     part(me) = part(me) + x(i)
  end do
  print *, int(sum(x)), int(sum(y)), int(part(0:7))
end program

subroutine line(x, first, last)
  implicit none
  integer, intent(in) :: first, last
  real(8), intent(inout) :: x(*)
  integer :: i
  do i = first + 1, last
     x(i) = mod(x(i) + x(i - 1), 512d0)
  end do
end subroutine
