! SPDX-License-Identifier: LGPL-2.1-or-later
! The thread's number and the team's size, in all the ways that Fortran asks.
program fthread
  use omp_lib
  implicit none
  integer, parameter :: n = 400
  real(8) :: a(n), parts(0:63)
  integer :: i, t, threads, chunk, low, high, sizes(0:63)
  parts = 0
  sizes = 0
  !$omp parallel do ! bound: identity
  do i = 1, n
     parts(omp_get_thread_num()) = parts(omp_get_thread_num()) + i
  end do
  !$omp parallel private(t, threads, chunk, low, high, i) ! open: partition
  t = omp_get_thread_num()
  threads = omp_get_num_threads()
  chunk = (n + threads - 1) / threads
  low = t * chunk + 1
  high = min(n, low + chunk - 1)
  do i = low, high
     a(i) = mod(i * 13, 61)
  end do
  !$omp end parallel
  !$omp parallel private(t, threads, chunk, low, high, i) ! bound: share
  t = omp_get_thread_num()
  threads = omp_get_num_threads()
  chunk = n / threads
  low = t * chunk + 1
  high = low + chunk - 1
  if (t == threads - 1) high = n
  sizes(t) = high - low
  do i = low, high
     a(i) = a(i) + merge(1, 0, i == low)
  end do
  !$omp end parallel
  !$omp parallel ! bound: number
  !$omp single
  sizes(63) = omp_get_num_threads()
  !$omp end single
  !$omp end parallel
  print *, int(sum(a)), int(a(1:n:37)), int(parts(0:8)), sizes
end program
