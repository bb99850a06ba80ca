! SPDX-License-Identifier: LGPL-2.1-or-later
! malleable.f90: the interface of malleable.h for Fortran 2003 and later, which says what the functions do. Compile it with the
! program's own compiler (modules are the compiler's own), and link with what pkg-config --libs malleable says.
module malleable
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_size_t, c_funptr, c_ptr
  implicit none
  private
  public :: malleable_phase, malleable_cpus, omp_balanced
  public :: malleable_cpus_owned, malleable_cpu_list, malleable_changes, malleable_await_change
  public :: malleable_on_change, malleable_on_change_remove, malleable_poll
  public :: malleable_waiting_begin, malleable_waiting_end, malleable_borrow, malleable_return
  public :: malleable_limit, malleable_disable, malleable_enable, malleable_state, malleable_version, malleable_error
  public :: malleable_region, malleable_region_begin, malleable_region_end, malleable_region_times, malleable_times
  integer(c_int), parameter, public :: malleable_rank = 1, malleable_lends = 2, malleable_moves = 4, malleable_observed = 8, &
    malleable_disabled = 16
  integer(c_int), parameter, public :: malleable_wait_blocks = 0, malleable_wait_polls = 1
  integer(c_int), parameter, public :: malleable_all = huge(0_c_int)
  integer(c_int), parameter, public :: malleable_e_invalid = -1, malleable_e_thread = -2, &
    malleable_e_refused = -3, malleable_e_full = -4, malleable_e_nesting = -5

  type, bind(c) :: malleable_times
    integer(c_size_t) :: size = 9 * 8
    integer(c_int64_t) :: runs = 0, elapsed = 0, work = 0, idle = 0, serial = 0, mpi = 0, offered = 0, parallel_regions = 0
  end type malleable_times

  interface
    subroutine malleable_phase() bind(c)
    end subroutine malleable_phase

    subroutine omp_balanced() bind(c)
    end subroutine omp_balanced

    function malleable_cpus() bind(c) result(cpus)
      import :: c_int
      integer(c_int) :: cpus
    end function malleable_cpus

    function malleable_cpus_owned() bind(c) result(cpus)
      import :: c_int
      integer(c_int) :: cpus
    end function malleable_cpus_owned

    function malleable_cpu_list(list, most) bind(c) result(cpus)
      import :: c_int
      integer(c_int), intent(out) :: list(*)
      integer(c_int), value :: most
      integer(c_int) :: cpus
    end function malleable_cpu_list

    function malleable_changes() bind(c) result(changes)
      import :: c_int
      integer(c_int) :: changes
    end function malleable_changes

    function malleable_await_change(seen, timeout_ms) bind(c) result(changed)
      import :: c_int
      integer(c_int), value :: seen, timeout_ms
      integer(c_int) :: changed
    end function malleable_await_change

    function malleable_waiting_begin(how) bind(c) result(cpus)
      import :: c_int
      integer(c_int), value :: how
      integer(c_int) :: cpus
    end function malleable_waiting_begin

    function malleable_waiting_end() bind(c) result(error)
      import :: c_int
      integer(c_int) :: error
    end function malleable_waiting_end

    function malleable_borrow(most) bind(c) result(cpus)
      import :: c_int
      integer(c_int), value :: most
      integer(c_int) :: cpus
    end function malleable_borrow

    function malleable_return(keep) bind(c) result(cpus)
      import :: c_int
      integer(c_int), value :: keep
      integer(c_int) :: cpus
    end function malleable_return

    function malleable_limit(most) bind(c) result(cpus)
      import :: c_int
      integer(c_int), value :: most
      integer(c_int) :: cpus
    end function malleable_limit

    function malleable_disable() bind(c) result(error)
      import :: c_int
      integer(c_int) :: error
    end function malleable_disable

    function malleable_enable() bind(c) result(error)
      import :: c_int
      integer(c_int) :: error
    end function malleable_enable

    function malleable_state() bind(c) result(bits)
      import :: c_int
      integer(c_int) :: bits
    end function malleable_state

    function malleable_version() bind(c) result(api)
      import :: c_int
      integer(c_int) :: api
    end function malleable_version

    ! A string of C.
    function malleable_error(error) bind(c) result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: error
      type(c_ptr) :: text
    end function malleable_error

    ! FUNCTION: c_funloc() of a subroutine with bind(c) and two arguments: an integer(c_int) by value, a type(c_ptr) by value.
    function malleable_on_change(function, argument) bind(c) result(error)
      import :: c_int, c_funptr, c_ptr
      type(c_funptr), value :: function
      type(c_ptr), value :: argument
      integer(c_int) :: error
    end function malleable_on_change

    function malleable_on_change_remove(function, argument) bind(c) result(error)
      import :: c_int, c_funptr, c_ptr
      type(c_funptr), value :: function
      type(c_ptr), value :: argument
      integer(c_int) :: error
    end function malleable_on_change_remove

    function malleable_poll() bind(c) result(cpus)
      import :: c_int
      integer(c_int) :: cpus
    end function malleable_poll

    ! NAME: with c_null_char at its end.
    function malleable_region(name) bind(c) result(region)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: region
    end function malleable_region

    function malleable_region_begin(region) bind(c) result(error)
      import :: c_int
      integer(c_int), value :: region
      integer(c_int) :: error
    end function malleable_region_begin

    function malleable_region_end(region) bind(c) result(error)
      import :: c_int
      integer(c_int), value :: region
      integer(c_int) :: error
    end function malleable_region_end

    function malleable_region_times(region, times) bind(c) result(error)
      import :: c_int, malleable_times
      integer(c_int), value :: region
      type(malleable_times), intent(inout) :: times
      integer(c_int) :: error
    end function malleable_region_times
  end interface
end module malleable
