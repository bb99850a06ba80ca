! SPDX-License-Identifier: LGPL-2.1-or-later
! Saved locals, values carried on, first and last private, early exits.
program fsaved
  implicit none
  integer, parameter :: n = 260
  real(8) :: a(n) = 0, b(n), carried, last
  integer :: i, k, calls
  calls = 0
  !$omp parallel do private(k) ! free
  do i = 1, n
     do k = 1, 50
        if (mod(i * k, 13) == 5) exit
     end do
     if (k > 20) cycle
     a(i) = k
  end do
  do i = 1, n
     if (a(i) < 1 .or. a(i) > 50) a(i) = 0
  end do
  carried = 2
  !$omp parallel do firstprivate(carried) ! bound: private
  do i = 1, n
     carried = carried * 0.5d0 + i
     b(i) = aint(carried)
  end do
  last = 0
  !$omp parallel do lastprivate(last) ! free
  do i = 1, n
     last = i * 2
  end do
  !$omp parallel do ! free
  do i = 1, n
     call count_calls()
  end do
  !$omp parallel ! bound: count
  call count_calls()
  !$omp end parallel
  print *, int(sum(a)), int(sum(b)), int(last), calls
contains
  subroutine count_calls()
    !$omp atomic
    calls = calls + 1
  end subroutine
end program
