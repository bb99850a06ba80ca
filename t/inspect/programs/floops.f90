! SPDX-License-Identifier: LGPL-2.1-or-later
! Loops, whole arrays, reductions, calls: what Fortran programs are made of.
module fields
  implicit none
  real(8) :: shared_scale = 2
contains
  subroutine smooth(x, y)
    real(8), intent(in) :: x(:)
    real(8), intent(out) :: y(:)
    integer :: i
    !$omp do
    do i = 2, size(x) - 1
       y(i) = x(i - 1) + x(i) * shared_scale + x(i + 1)
    end do
  end subroutine
  ! Ghost cells, WIDTH on each side, mirror their neighbours.
  subroutine mirror(cells, length, width)
    integer, intent(in) :: length, width
    real(8), intent(inout) :: cells(1 - width:length + width, 1 - width:length + width)
    integer :: row, i
    !$omp parallel do private(i) ! hot
    do row = 1 - width, length + width
       !$omp simd
       do i = 1, width
          cells(row, 1 - i) = cells(row, i)
          cells(row, length + i) = cells(row, length + 1 - i)
       end do
    end do
  end subroutine
  subroutine add(x, one, two, three, four, five)
    real(8), intent(in) :: x(:)
    real(8), intent(inout) :: one, two, three, four, five
    integer :: i
    !$omp parallel do reduction(+:one, two, three, four, five) ! hot
    do i = 1, size(x)
       one = one + x(i)
       two = two + x(i) * 2
       three = three + x(i) * 3
       four = four + x(i) * x(i)
       five = five + 1
    end do
  end subroutine
  pure real(8) function scaled(x, factor)
    real(8), intent(in) :: x
    real(8), intent(in), optional :: factor
    scaled = x
    if (present(factor)) scaled = x * factor
  end function
end module

program floops
  use fields
  implicit none
  integer, parameter :: n = 400, m = 30
  real(8) :: a(n), b(n), c(m, m), row(m), ghosts(-1:m + 2, -1:m + 2), sums(5), total, most
  integer :: i, j, bins(8), last
  logical :: small
  a = 0
  b = 0
  !$omp parallel do ! hot
  do i = 1, n
     a(i) = mod(i * 13, 61)
  end do
  !$omp parallel do schedule(dynamic, 4) ! hot
  do i = n, 1, -1
     b(i) = a(i) * 2 + scaled(a(i)) + scaled(a(i), 3d0)
  end do
  !$omp parallel do collapse(2) ! hot: not by gcc
  do j = 1, m
     do i = 1, m
        c(i, j) = i * j
     end do
  end do
  !$omp parallel workshare ! free
  a = a + b
  b = a * 2
  !$omp end parallel workshare
  total = 0
  most = -1
  small = .true.
  !$omp parallel do reduction(+:total) reduction(max:most) reduction(.and.:small) ! hot
  do i = 1, n
     total = total + a(i)
     most = max(most, a(i))
     small = small .and. a(i) < 1000
  end do
  bins = 0
  !$omp parallel do reduction(+:bins) lastprivate(last) ! free
  do i = 1, n
     bins(mod(i, 8) + 1) = bins(mod(i, 8) + 1) + i
     last = i
  end do
  !$omp parallel do private(row) ! hot
  do j = 1, m
     row = c(:, j) + j
     c(:, j) = row(m:1:-1)
  end do
  !$omp parallel ! hot: not by gcc
  call smooth(a, b)
  !$omp single
  shared_scale = 3
  !$omp end single
  call smooth(b, a)
  !$omp end parallel
  !$omp parallel do ! hot
  do i = 1, n
     if (a(i) > 1d9) stop 3
     if (a(i) < -1d9) error stop "too small"
     b(i) = mod(a(i), 1024d0)
  end do
  !$omp parallel do ! hot
  do i = 1, n
     !$omp atomic
     bins(mod(i, 8) + 1) = bins(mod(i, 8) + 1) + 1
  end do
  ghosts = 1
  ghosts(1:m, 1:m) = c
  call mirror(ghosts, m, n / 200)
  sums = 0
  call add(b, sums(1), sums(2), sums(3), sums(4), sums(5))
  print *, int(sum(ghosts), 8), int(sums, 8)
  print *, int(sum(a), 8), int(sum(b), 8), int(sum(c), 8), int(total), int(most), bins, last, small
end program
