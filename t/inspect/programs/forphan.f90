! SPDX-License-Identifier: LGPL-2.1-or-later
! Worksharing in subroutines that are called from regions, nested regions, if clauses.
module pieces
  implicit none
  integer, parameter :: n = 180
  real(8) :: u(n), v(n)
contains
  subroutine smooth()
    integer :: i
    !$omp do
    do i = 2, n - 1
       v(i) = u(i - 1) + u(i + 1)
    end do
    !$omp do
    do i = 2, n - 1
       u(i) = mod(v(i), 997d0)
    end do
  end subroutine
  subroutine by_thread(x)
    use omp_lib
    real(8), intent(out) :: x
    x = omp_get_thread_num()
  end subroutine
end module

program forphan
  use pieces
  use omp_lib
  implicit none
  integer :: i, j, k
  real(8) :: a(20, 20), x
  u = [(mod(i * 11, 53), i = 1, n)]
  v = 0
  !$omp parallel private(k) ! free
  do k = 1, 5
     call smooth()
  end do
  !$omp end parallel
  !$omp parallel do private(j) if (n > 50) ! free
  do i = 1, 20
     do j = 1, i
        a(j, i) = i * j
        a(i, j) = i + j
     end do
  end do
  !$omp parallel do private(x) ! bound: identity
  do i = 1, n
     call by_thread(x)
     v(i) = v(i) + x
  end do
  print *, int(sum(u)), int(sum(v)), int(sum(a))
end program
