! SPDX-License-Identifier: LGPL-2.1-or-later
! Critical sections, atomics, locks, ordered, single with copyprivate.
program fcritical
  use omp_lib
  implicit none
  integer, parameter :: n = 200
  integer :: i, k, hits, threads_in, bins(0:6), mixed, mine
  integer(omp_lock_kind) :: lock
  real(8) :: a(n), best
  integer :: place
  hits = 0
  threads_in = 0
  bins = 0
  mixed = 1
  best = -1
  place = 0
  call omp_init_lock(lock)
  !$omp parallel do ! free
  do i = 1, n
     a(i) = mod(i * 29, 83)
     !$omp atomic
     bins(mod(i, 7)) = bins(mod(i, 7)) + 1
  end do
  !$omp parallel do ! free
  do i = 1, n
     !$omp critical (largest)
     if (a(i) > best .or. (a(i) == best .and. i < place)) then
        best = a(i)
        place = i
     end if
     !$omp end critical (largest)
  end do
  !$omp parallel do ordered ! free
  do i = 1, n
     !$omp ordered
     mixed = mod(mixed * 5 + i, 65521)
     !$omp end ordered
  end do
  !$omp parallel private(k) ! free
  !$omp single
  k = mixed
  !$omp end single copyprivate(k)
  !$omp do
  do i = 1, n
     a(i) = a(i) + k
  end do
  !$omp end parallel
  !$omp parallel do ! free
  do i = 1, n
     call omp_set_lock(lock)
     hits = hits + 1
     call omp_unset_lock(lock)
  end do
  !$omp parallel private(mine) ! bound: count
  !$omp atomic capture
  threads_in = threads_in + 1
  mine = threads_in
  !$omp end atomic
  if (mine > n) hits = -1
  !$omp end parallel
  print *, int(sum(a)), bins, int(best), place, mixed, hits, threads_in
end program
