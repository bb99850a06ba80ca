! SPDX-License-Identifier: LGPL-2.1-or-later
! Loops of all kinds, whole arrays, workshare.
program floops
  implicit none
  integer, parameter :: n = 701
  real(8) :: a(n), b(n), c(n)
  integer :: i
  !$omp parallel do ! free
  do i = 1, n
     a(i) = mod(i * 37, 101)
  end do
  !$omp parallel do schedule(static, 3) ! free
  do i = n, 1, -1
     b(i) = a(i) * 2
  end do
  !$omp parallel workshare ! free
  c = a + b
  where (c > 100) c = c - 100
  !$omp end parallel workshare
  !$omp parallel do schedule(dynamic, 4) ! free
  do i = 2, n - 1
     b(i) = c(i - 1) + c(i + 1)
  end do
  !$omp parallel do simd ! free
  do i = 1, n, 3
     a(i) = a(i) + b(i)
  end do
  print *, int(sum(a)), int(sum(b)), int(sum(c))
end program
