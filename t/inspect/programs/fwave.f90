! SPDX-License-Identifier: LGPL-2.1-or-later
! A wave equation in one region: time steps, halves of the field, a sum each step.
program fwave
  implicit none
  integer, parameter :: n = 90, steps = 12
  real(8) :: old(0:n + 1), now(0:n + 1), new(0:n + 1), energy, energies(steps)
  integer :: i, t
  now = 0
  old = 0
  new = 0
  now(n / 2) = 64
  old(n / 2) = 32
  !$omp parallel private(t) ! free
  do t = 1, steps
     !$omp do
     do i = 1, n
        new(i) = now(i - 1) + now(i + 1) - old(i)
     end do
     !$omp single
     energy = 0
     !$omp end single
     !$omp do reduction(+:energy)
     do i = 1, n
        energy = energy + abs(new(i))
     end do
     !$omp do
     do i = 1, n
        old(i) = now(i)
        now(i) = new(i)
     end do
     !$omp master
     energies(t) = energy
     !$omp end master
     !$omp barrier
  end do
  !$omp end parallel
  !$omp parallel ! free
  !$omp do schedule(guided)
  do i = 1, n
     old(i) = old(i) + now(i)
  end do
  !$omp end do nowait
  !$omp do
  do i = 1, n
     new(i) = i
  end do
  !$omp end parallel
  print *, int(energies), int(sum(old)), int(sum(new))
end program
