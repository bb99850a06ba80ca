! SPDX-License-Identifier: LGPL-2.1-or-later
! Loops of Fortran that are right in one thread alone: SAVE, COMMON, EQUIVALENCE, modules.
module held
  implicit none
  integer, parameter :: m = 64
  double precision :: scratch(m), latest
  double precision, allocatable :: given(:)
contains
  double precision function value_of(i)
    integer, intent(in) :: i
    value_of = mod(i * 37, 101)
  end function
  subroutine spend(n)
    integer, intent(in) :: n
    integer, volatile :: k
    do k = 1, n
    end do
  end subroutine
  double precision function by_save(seed)
    integer, intent(in) :: seed
    double precision, save :: work(m)
    integer :: i
    do i = 1, m
       work(i) = value_of(seed + i)
    end do
    call spend(2000)
    by_save = sum(work)
  end function
  double precision function by_common(seed)
    integer, intent(in) :: seed
    double precision :: work(m)
    common /blocks/ work
    integer :: i
    do i = 1, m
       work(i) = value_of(seed + i)
    end do
    call spend(2000)
    by_common = sum(work)
  end function
  double precision function by_equivalence(seed)
    integer, intent(in) :: seed
    double precision, save :: work(m), part(m / 2)
    equivalence (work(m / 2 + 1), part(1))
    integer :: i
    do i = 1, m / 2
       work(i) = value_of(seed + i)
       part(i) = value_of(seed - i)
    end do
    call spend(2000)
    by_equivalence = sum(work)
  end function
  double precision function by_module(seed)
    integer, intent(in) :: seed
    integer :: i
    do i = 1, m
       scratch(i) = value_of(seed + i)
    end do
    call spend(2000)
    by_module = sum(scratch)
  end function
  double precision function by_argument(work, seed)
    double precision, intent(inout) :: work(:)
    integer, intent(in) :: seed
    integer :: i
    do i = 1, size(work)
       work(i) = value_of(seed + i)
    end do
    call spend(2000)
    by_argument = sum(work)
  end function
end module

program falone
  use held
  implicit none
  integer, parameter :: n = 200
  double precision :: a(n), b(n), work(m), t
  integer :: i, k
  character(len=64) :: text

  text = 'x'
  allocate (given(m))
  !$omp parallel do schedule(dynamic) ! alone: a saved array, shown
  do i = 1, n
     a(i) = by_save(i)
  end do
  print *, int(sum(a))
  !$omp parallel do schedule(dynamic) ! alone: a common block, shown
  do i = 1, n
     a(i) = by_common(i)
  end do
  print *, int(sum(a))
  !$omp parallel do schedule(dynamic) ! alone: an equivalence, shown
  do i = 1, n
     a(i) = by_equivalence(i)
  end do
  print *, int(sum(a))
  !$omp parallel do schedule(dynamic) ! alone: an array of a module, shown
  do i = 1, n
     a(i) = by_module(i)
  end do
  print *, int(sum(a))
  !$omp parallel do schedule(dynamic) ! alone: an allocated array of a module, shown
  do i = 1, n
     a(i) = by_argument(given, i)
  end do
  print *, int(sum(a))
  !$omp parallel do schedule(dynamic) ! alone: an array that should be private, shown
  do i = 1, n
     do k = 1, m
        work(k) = value_of(i + k)
     end do
     call spend(2000)
     a(i) = sum(work)
  end do
  print *, int(sum(a))
  !$omp parallel do schedule(dynamic) ! alone: a scalar of a module, shown
  do i = 1, n
     latest = 0
     do k = 1, m
        call spend(20)
        latest = latest + value_of(i + k)
     end do
     a(i) = latest
  end do
  print *, int(sum(a))
  !$omp parallel do schedule(dynamic) ! alone: random numbers
  do i = 1, n
     call random_number(t)
     a(i) = t
  end do
  print *, count(a < 1)
  !$omp parallel do schedule(dynamic) ! alone: lines in order
  do i = 1, n
     print *, i
  end do
  !$omp parallel do schedule(dynamic) ! alone: text of all
  do i = 1, n
     write (text, *) i
     a(i) = len_trim(text)
  end do
  !$omp parallel do private(work) ! hot
  do i = 1, n
     do k = 1, m
        work(k) = value_of(i + k)
     end do
     b(i) = by_argument(work, i)
  end do
  print *, int(sum(b))
end program
