! SPDX-License-Identifier: LGPL-2.1-or-later
! Common blocks: shared by all, and one for each thread.
subroutine fill_scratch(i)
  implicit none
  integer, intent(in) :: i
  integer :: k
  real(8) :: scratch(32)
  common /work/ scratch
  !$omp threadprivate(/work/)
  do k = 1, 32
     scratch(k) = i * k
  end do
end subroutine

real(8) function use_scratch()
  implicit none
  real(8) :: scratch(32)
  common /work/ scratch
  !$omp threadprivate(/work/)
  use_scratch = sum(scratch(3:9))
end function

program fcommon
  implicit none
  integer, parameter :: n = 300
  real(8) :: a(n), b(n), factor, running
  real(8), external :: use_scratch
  integer :: i, calls
  common /parameters/ factor
  common /kept/ running, calls
  !$omp threadprivate(/kept/)
  factor = 3
  running = 0
  calls = 0
  !$omp parallel do ! free
  do i = 1, n
     a(i) = i * factor
  end do
  !$omp parallel do ! open: scratch
  do i = 1, n
     call fill_scratch(i)
     a(i) = a(i) + use_scratch()
  end do
  !$omp parallel copyin(/kept/) ! bound: tls
  !$omp do
  do i = 1, n
     running = running + a(i)
     b(i) = running
  end do
  !$omp end parallel
  !$omp parallel do ! bound: tls
  do i = 1, n
     calls = calls + 1
     b(i) = b(i) + calls
  end do
  print *, int(sum(a)), int(sum(b))
end program
