! SPDX-License-Identifier: LGPL-2.1-or-later
! Tasks and sections.
program ftasks
  implicit none
  integer, parameter :: n = 128
  integer :: i, made, result
  real(8) :: a(n), x, y
  made = 0
  a = 0
  !$omp parallel ! free
  !$omp single
  do i = 1, n
     !$omp task firstprivate(i)
     a(i) = mod(i * 3, 11)
     !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  !$omp parallel ! free
  !$omp single
  !$omp taskloop
  do i = 1, n
     a(i) = a(i) + i
  end do
  !$omp end single
  !$omp end parallel
  !$omp parallel ! free
  !$omp master
  call fib(10, result)
  !$omp end master
  !$omp end parallel
  !$omp parallel sections ! free
  !$omp section
  x = 3
  !$omp section
  y = 4
  !$omp end parallel sections
  !$omp parallel ! bound: count
  !$omp task
  !$omp atomic
  made = made + 1
  !$omp end task
  !$omp end parallel
  print *, int(sum(a)), result, int(x + y), made
contains
  recursive subroutine fib(k, r)
    integer, intent(in) :: k
    integer, intent(out) :: r
    integer :: p, q
    if (k < 2) then
       r = k
       return
    end if
    !$omp task shared(p)
    call fib(k - 1, p)
    !$omp end task
    !$omp task shared(q)
    call fib(k - 2, q)
    !$omp end task
    !$omp taskwait
    r = p + q
  end subroutine
end program
