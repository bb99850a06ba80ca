! SPDX-License-Identifier: LGPL-2.1-or-later
! Variables and procedures of modules, contained procedures, pointers to procedures.
module state
  implicit none
  integer, parameter :: n = 350
  real(8) :: field(n), other(n)
  real(8), allocatable :: table(:)
  real(8), save :: kept = 0
  !$omp threadprivate(kept)
  abstract interface
     pure real(8) function kernel(i)
       integer, intent(in) :: i
     end function
  end interface
contains
  pure real(8) function wave(i)
    integer, intent(in) :: i
    wave = mod(i * 7, 31)
  end function
  pure real(8) function ramp(i)
    integer, intent(in) :: i
    ramp = i
  end function
  subroutine apply(f)
    procedure(kernel) :: f
    integer :: i
    !$omp parallel do ! free
    do i = 1, n
       field(i) = field(i) + f(i)
    end do
  end subroutine
  subroutine accumulate()
    integer :: i
    !$omp parallel do ! bound: tls
    do i = 1, n
       kept = kept + field(i)
       other(i) = kept
    end do
  end subroutine
end module

program fmodule
  use state
  implicit none
  integer :: i
  field = 0
  allocate(table(0:9))
  !$omp parallel do ! free
  do i = 0, 9
     table(i) = i * i
  end do
  call apply(wave)
  call apply(ramp)
  !$omp parallel do ! free
  do i = 1, n
     call inner(i)
  end do
  call accumulate()
  print *, int(sum(field)), int(sum(other)), int(sum(table))
contains
  subroutine inner(k)
    integer, intent(in) :: k
    field(k) = field(k) + table(mod(k, 10))
  end subroutine
end program
