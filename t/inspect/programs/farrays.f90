! SPDX-License-Identifier: LGPL-2.1-or-later
! Private arrays, allocated ones, slices, matrix products, derived types.
program farrays
  implicit none
  integer, parameter :: n = 60
  type cell
     real(8) :: mass
     integer :: neighbours(4)
  end type
  type(cell) :: cells(n)
  real(8) :: a(n, n), b(n, n), c(n, n), row(n), total
  real(8), allocatable :: local(:)
  integer :: i, j
  !$omp parallel do collapse(2) ! free
  do j = 1, n
     do i = 1, n
        a(i, j) = mod(i + 3 * j, 17)
        b(i, j) = mod(i * j, 7)
     end do
  end do
  !$omp parallel do private(row) ! free
  do j = 1, n
     row = b(:, j)
     c(:, j) = matmul(a, row)
  end do
  !$omp parallel private(local) ! free
  allocate(local(n))
  !$omp do
  do j = 1, n
     local = c(:, j)
     c(:, j) = local(n:1:-1)
  end do
  deallocate(local)
  !$omp end parallel
  !$omp parallel do ! free
  do i = 1, n
     cells(i)%mass = sum(c(i, :))
     cells(i)%neighbours = [i - 1, i + 1, 2, 3]
  end do
  total = 0
  row = 0
  !$omp parallel firstprivate(row) ! bound: private
  !$omp do reduction(+:total)
  do i = 1, n
     row(1) = row(1) + cells(i)%mass
     total = total + row(1)
  end do
  !$omp end parallel
  print *, int(sum(c), 8), int(total, 8), sum(cells%neighbours(2))
end program
