! SPDX-License-Identifier: LGPL-2.1-or-later
! malleable.f90: the interface of malleable.h for Fortran 2003 and later, which says what the functions do. Compile it with the
! program's own compiler (modules are the compiler's own), and link with what pkg-config --libs malleable says.
module malleable
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private
  public :: malleable_phase, malleable_cpus, omp_balanced

  interface
    subroutine malleable_phase() bind(c)
    end subroutine malleable_phase

    subroutine omp_balanced() bind(c)
    end subroutine omp_balanced

    function malleable_cpus() bind(c) result(cpus)
      import :: c_int
      integer(c_int) :: cpus
    end function malleable_cpus
  end interface
end module malleable
