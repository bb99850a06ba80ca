! SPDX-License-Identifier: LGPL-2.1-or-later
! Pointers, polymorphic objects, procedures in types, optional arguments.
module shapes
  implicit none
  type, abstract :: shape
  contains
    procedure(measure), deferred :: area
  end type
  abstract interface
     real(8) function measure(this, i)
       import shape
       class(shape), intent(in) :: this
       integer, intent(in) :: i
     end function
  end interface
  type, extends(shape) :: square
  contains
    procedure :: area => square_area
  end type
  type, extends(shape) :: strip
    real(8) :: width = 3
  contains
    procedure :: area => strip_area
  end type
contains
  real(8) function square_area(this, i)
    class(square), intent(in) :: this
    integer, intent(in) :: i
    square_area = i * i
  end function
  real(8) function strip_area(this, i)
    class(strip), intent(in) :: this
    integer, intent(in) :: i
    strip_area = i * this%width
  end function
  pure real(8) function scaled(x, factor)
    real(8), intent(in) :: x
    real(8), intent(in), optional :: factor
    scaled = x
    if (present(factor)) scaled = x * factor
  end function
end module

program fpointers
  use shapes
  implicit none
  integer, parameter :: n = 210
  real(8), target :: a(n), b(n)
  real(8), pointer :: p(:)
  class(shape), allocatable :: first, second
  integer :: i
  real(8) :: carried
  allocate(square :: first)
  allocate(strip :: second)
  !$omp parallel do ! free
  do i = 1, n
     a(i) = first%area(i) + second%area(i)
  end do
  p => b(n:1:-1)
  !$omp parallel do ! free
  do i = 1, n
     p(i) = scaled(a(i)) + scaled(a(i), 2d0)
  end do
  carried = 0
  !$omp parallel firstprivate(carried) ! bound: private
  !$omp do
  do i = 1, n
     carried = max(carried, a(n + 1 - i)) - 1
     b(i) = b(i) + carried
  end do
  !$omp end parallel
  print *, int(sum(a), 8), int(sum(b), 8), int(b(1:n:41), 8)
end program
