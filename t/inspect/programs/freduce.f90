! SPDX-License-Identifier: LGPL-2.1-or-later
! Reductions: of scalars, of arrays, by operators of the program's own.
program freduce
  implicit none
  type pair
     real(8) :: low = 1d9
     integer :: at = 100000
  end type
  !$omp declare reduction(lowest : pair : omp_out = lower(omp_out, omp_in)) &
  !$omp initializer(omp_priv = pair())
  integer, parameter :: n = 500
  real(8) :: a(n), total, most
  integer :: i, bins(8), ones
  complex(8) :: z
  logical :: all_small
  type(pair) :: least
  !$omp parallel do ! free
  do i = 1, n
     a(i) = mod(i * 41, 97) - 5
  end do
  total = 0
  most = -1d9
  !$omp parallel do reduction(+:total) reduction(max:most) ! free
  do i = 1, n
     total = total + a(i)
     most = max(most, a(i))
  end do
  bins = 0
  z = 0
  !$omp parallel do reduction(+:bins, z) ! free
  do i = 1, n
     bins(mod(i, 8) + 1) = bins(mod(i, 8) + 1) + i
     z = z + cmplx(i, -i, 8)
  end do
  all_small = .true.
  !$omp parallel do reduction(.and.:all_small) ! free
  do i = 1, n
     all_small = all_small .and. a(i) < 96
  end do
  !$omp parallel do reduction(lowest:least) ! free
  do i = 1, n
     least = lower(least, pair(a(i), i))
  end do
  ones = 0
  !$omp parallel reduction(+:ones) ! bound: count
  ones = ones + 1
  !$omp end parallel
  print *, int(total), int(most), bins, int(real(z)), all_small, int(least%low), least%at, ones
contains
  pure function lower(x, y) result(r)
    type(pair), intent(in) :: x, y
    type(pair) :: r
    r = x
    if (y%low < x%low .or. (y%low == x%low .and. y%at < x%at)) r = y
  end function
end program
