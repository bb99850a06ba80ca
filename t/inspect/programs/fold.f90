! SPDX-License-Identifier: LGPL-2.1-or-later
! As old programs are: external questions, equivalence, common, a procedure by its address.
program fold
  implicit none
  integer, parameter :: n = 320
  integer omp_get_thread_num, omp_get_num_threads, omp_get_max_threads
  external omp_get_thread_num, omp_get_num_threads, omp_get_max_threads, own, foreign
  real(8) :: x(n), y(n), both(2 * n), z(n)
  equivalence (both(1), x(1)), (both(n + 1), y(1))
  integer :: i, t, threads, chunk, rest, low, told, lows(0:63)
  common /grid/ told
  told = omp_get_max_threads()
  lows = 0
  both = 0
  z = 0
  !$omp parallel do ! hot
  do i = 1, n
     x(i) = mod(i * 17, 71)
     y(i) = told
  end do
  !$omp parallel private(t, threads, chunk, rest, low, i) ! free
  t = omp_get_thread_num()
  threads = omp_get_num_threads()
  chunk = n / threads
  rest = mod(n, threads)
  if (t < rest) then
     chunk = chunk + 1
     rest = 0
  end if
  low = chunk * t + rest
  do i = low + 1, low + chunk
     y(i) = y(i) + x(i)
  end do
  !$omp end parallel
  !$omp parallel private(t, threads, low, i) ! bound: share, shown
  t = omp_get_thread_num()
  threads = omp_get_num_threads()
  low = t * n / threads
  lows(t) = low
  do i = low + 1, (t + 1) * n / threads
     y(i) = y(i) + merge(2d0, 1d0, i == low + 1)
  end do
  !$omp end parallel
  call loop(own, z, n)
  call loop(foreign, z, n)
  print *, int(sum(x)), int(sum(y)), int(sum(z)), lows
end program

subroutine loop(what, z, n)
  implicit none
  external what
  integer, intent(in) :: n
  real(8), intent(inout) :: z(n)
  integer :: i
  !$omp parallel do ! bound: indirect, shown
  do i = 1, n
     call what(z(i), i)
  end do
end subroutine

subroutine own(x, i)
  implicit none
  real(8), intent(inout) :: x
  integer, intent(in) :: i
  x = x + i
end subroutine

subroutine foreign(x, i)
  implicit none
  integer omp_get_thread_num
  external omp_get_thread_num
  real(8), intent(inout) :: x
  integer, intent(in) :: i
  x = x + i * omp_get_thread_num()
end subroutine
