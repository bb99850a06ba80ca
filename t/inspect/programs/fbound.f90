! SPDX-License-Identifier: LGPL-2.1-or-later
! What binds a region of a Fortran program.
subroutine fill_scratch(i)
  implicit none
  integer, intent(in) :: i
  real(8) :: scratch(32)
  common /work/ scratch
  !$omp threadprivate(/work/)
  scratch = scratch + i
end subroutine

real(8) function use_scratch()
  implicit none
  real(8) :: scratch(32)
  common /work/ scratch
  !$omp threadprivate(/work/)
  use_scratch = sum(scratch(3:9))
end function

program fbound
  use omp_lib
  implicit none
  integer, parameter :: n = 200
  real(8) :: a(n), b(n), c(n), x
  real(8), external :: use_scratch
  integer, save :: kept = 0
  !$omp threadprivate(kept)
  integer :: i, t, parts(0:63), counted, guarded
  integer(omp_lock_kind) :: lock
  parts = 0
  counted = 0
  guarded = 0
  c = 0
  call omp_init_lock(lock)
  !$omp parallel do ! bound: identity, shown
  do i = 1, n
     a(i) = omp_get_thread_num()
  end do
  !$omp parallel ! bound: number, shown
  !$omp single
  parts(63) = omp_get_num_threads()
  !$omp end single
  !$omp end parallel
  !$omp parallel private(t) ! bound: identity, shown
  t = omp_get_thread_num()
  !$omp do
  do i = 1, n
     parts(t) = parts(t) + i
  end do
  !$omp end parallel
  !$omp parallel do schedule(static) ! bound: tls, shown
  do i = 1, n
     call fill_scratch(i)
     b(i) = use_scratch()
  end do
  !$omp parallel do schedule(static) ! bound: tls, shown
  do i = 1, n
     kept = kept + 1
     b(i) = b(i) + kept
  end do
  !$omp parallel do ! bound: critical
  do i = 1, n
     !$omp critical
     guarded = guarded + i
     !$omp end critical
  end do
  !$omp parallel do ! bound: lock
  do i = 1, n
     call omp_set_lock(lock)
     guarded = guarded + i
     call omp_unset_lock(lock)
  end do
  !$omp parallel do ordered ! bound: ordered
  do i = 1, n
     !$omp ordered
     c(i) = c(max(i - 1, 1)) + 1
     !$omp end ordered
  end do
  !$omp parallel ! bound: task
  !$omp single
  do i = 1, 4
     !$omp task firstprivate(i)
     c(i) = i
     !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  !$omp parallel sections ! bound: sections
  !$omp section
  c(5) = 1
  !$omp section
  c(6) = 2
  !$omp end parallel sections
  !$omp parallel do num_threads(2) ! bound: num_threads
  do i = 1, n
     c(i) = c(i) + 1
  end do
  !$omp parallel ! bound: count, shown
  !$omp atomic
  counted = counted + 1
  !$omp end parallel
  !$omp parallel ! bound: count, shown
  print *, "one more"
  !$omp end parallel
  ! Each thread has a stream of random numbers of its own.
  !$omp parallel do private(x) schedule(static, 1) ! bound: library
  do i = 1, n
     call random_number(x)
     c(i) = c(i) + merge(1, 0, x < 1)
  end do
  print *, int(sum(a)), int(sum(b)), int(sum(c)), parts, counted, guarded
end program
