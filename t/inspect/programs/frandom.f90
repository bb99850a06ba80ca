! SPDX-License-Identifier: LGPL-2.1-or-later
! random_number: threads draw from streams of their own.
program frandom
  implicit none
  integer, parameter :: n = 80
  real(8) :: a(n), x
  integer :: i, size, seed
  integer, allocatable :: seeds(:)
  call random_seed(size=size)
  allocate(seeds(size))
  seeds = 7
  call random_seed(put=seeds)
  !$omp parallel do private(x) ! bound: tls
  do i = 1, n
     call random_number(x)
     a(i) = aint(x * 1000)
  end do
  !$omp parallel do private(seed) ! free
  do i = 1, n
     seed = i
     seed = mod(seed * 16807, 65521)
     a(i) = a(i) + mod(seed * 171, 30269)
  end do
  print *, int(a)
end program
