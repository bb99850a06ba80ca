! SPDX-License-Identifier: LGPL-2.1-or-later
! Other kinds: integers of 8 bytes, reals of 4 and 16 bytes, logical arrays.
program fkinds
  implicit none
  integer, parameter :: n = 150
  integer(8) :: big, i8
  real(4) :: f(n)
  real(16) :: q, parts(n)
  logical :: even(n)
  integer :: i, count_even
  big = 0
  q = 0
  !$omp parallel do reduction(+:big) ! free
  do i8 = n, 1, -2
     big = big + i8 * 5000000000_8
  end do
  !$omp parallel do ! free
  do i = 1, n
     f(i) = real(i) / 4
     even(i) = mod(i, 2) == 0
     parts(i) = i * 3
  end do
  !$omp parallel do reduction(+:q) ! free
  do i = 1, n
     q = q + parts(i)
  end do
  count_even = 0
  !$omp parallel do reduction(+:count_even) schedule(runtime) ! free
  do i = 1, n
     if (even(i)) count_even = count_even + 1
  end do
  !$omp parallel ! bound: count
  !$omp atomic
  big = big + 1
  !$omp end parallel
  print *, big, int(q), int(sum(f)), count_even
end program
