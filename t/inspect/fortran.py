# SPDX-License-Identifier: LGPL-2.1-or-later
"""Generated programs in Fortran: the same kinds of pieces as in C, fewer of them."""

WHO = "omp_get_thread_num()"
MANY = "omp_get_num_threads()"


class Program:
    """Variables of the program, and what prints them."""

    def __init__(self):
        self.declarations = []
        self.begins = []
        self.prints = []
        self.next = 0

    def name(self, prefix):
        """A new name."""
        self.next += 1
        return "%s%d" % (prefix, self.next)

    def array(self, size="0:n"):
        """A new array of reals; its name."""
        name = self.name("a")
        self.declarations.append("real(8), save :: %s(%s)" % (name, size))
        self.begins.append("%s = 0" % name)
        self.prints.append("int(sum(%s * [(mod(k, 97) + 1, k = 1, size(%s))]), 8)" % (name, name))
        return name

    def scalar(self, begin="0"):
        """A new real; its name."""
        name = self.name("v")
        self.declarations.append("real(8), save :: %s" % name)
        self.begins.append("%s = %s" % (name, begin))
        self.prints.append("int(%s, 8)" % name)
        return name

    def private(self, what="real(8) :: %s"):
        """A new local, to be made private."""
        name = self.name("p")
        self.declarations.append(what % name)
        return name

    def tls(self):
        """A new variable of each thread."""
        name = self.name("t")
        self.declarations += ["real(8), save :: %s = 0" % name, "!$omp threadprivate(%s)" % name]
        return name


# Statements of one iteration: (lines, clauses, truth).

def store(program, dice):
    """An array by iteration."""
    value = dice.choice(["x(i) + y(i)", "x(i - 1) + x(i + 1)", "plain(x(i), i)", "i * 2",
                         "merge(x(i), 3d0, mod(i, 3) == 0)", "sum(x(i - 1:i + 1))",
                         "deep(x(i), i)"])
    return ["%s(i) = %s" % (program.array(), value)], "", "free"


def bins(program, _):
    """Atomics into bins."""
    name = program.array("0:63")
    return ["!$omp atomic", "%s(mod(i, 64)) = %s(mod(i, 64)) + x(i)" % (name, name)], "", "free"


def reduce(program, dice):
    """A reduction."""
    operator = dice.choice(["+", "max", "min"])
    name = program.scalar({"+": "0", "max": "-9999", "min": "9999"}[operator])
    how = "%s + x(i)" if operator == "+" else operator + "(%s, x(i))"
    return ["%s = %s" % (name, how % name)], " reduction(%s:%s)" % (operator, name), "free"


def critical(program, _):
    """A sum under a lock."""
    name = program.scalar()
    return ["!$omp critical", "%s = %s + y(i)" % (name, name), "!$omp end critical"], "", "free"


def scratch(program, _):
    """A private array, written and read."""
    name, own = program.array(), program.private("real(8) :: %s(4)")
    return ["%s = x(i) + [1, 2, 3, 4]" % own, "%s(i) = %s(2) * %s(4)" % (name, own, own)], (
        " private(%s)" % own), "free"


def last(program, _):
    """The last iteration's value."""
    name = program.scalar()
    return ["%s = x(i) + 5" % name], " lastprivate(%s)" % name, "free"


def by_thread(program, _):
    """An element for each thread."""
    name = program.array("0:63")
    return ["%s(%s) = %s(%s) + 1 + y(i)" % (name, WHO, name, WHO)], "", "bound: identity"


def carried(program, _):
    """A sum that goes on in a private variable."""
    name, own = program.array(), program.private()
    program.begins.append("%s = 2" % own)
    return ["%s = %s + 1 + y(i)" % (own, own), "%s(i) = %s" % (name, own)], (
        " firstprivate(%s)" % own), "bound: private"


def kept(program, _):
    """A sum that goes on in threadprivate memory."""
    name, own = program.array(), program.tls()
    return ["%s = %s + 1 + y(i)" % (own, own), "%s(i) = %s" % (name, own)], "", "bound: tls"


def asked(program, dice):
    """What the team or the thread is, used as a value."""
    name = program.array()
    value = dice.choice([WHO, MANY, "asker(i)", "merge(1, 2, omp_in_parallel())"])
    return ["%s(i) = x(i) + %s" % (name, value)], "", "bound: identity"


FREE_BODIES = (store, store, store, bins, reduce, critical, scratch, last)
BOUND_BODIES = (by_thread, carried, kept, asked)


def loop(program, dice):
    """A loop, as (clauses, lines, truth)."""
    clauses, body, truth = "", [], "free"
    for _ in range(dice.randint(1, 3)):
        made, more, its = dice.choice(BOUND_BODIES if dice.random() < 0.12 else FREE_BODIES)(
            program, dice)
        body += made
        clauses += more
        truth = its if truth == "free" else truth
    clauses += dice.choice(["", "", " schedule(static)", " schedule(static, 3)"] + (
        [" schedule(guided)", " schedule(static, 1)"] if truth == "free" else []))
    head = dice.choice(["do i = 1, n - 1", "do i = n - 1, 1, -1", "do i = 1, n - 1, 2",
                        "do i = 2, n - 2, 3"])
    return clauses, [head, *body, "end do"], truth


# Pieces that each thread runs: (lines, private variables, truth).

def shared_loop(program, dice):
    """A worksharing loop; what it has private must be so in the region."""
    clauses, lines, truth = loop(program, dice)
    return ["!$omp do" + clauses, *lines, "!$omp end do"], [], truth


def merged(program, dice):
    """A sum of each thread, from 0 or from more, or one that depends on the order."""
    name, own = program.scalar(), program.private()
    begin, step, truth = dice.choice([
        ("0", "%s + x(i)", "free"), ("0", "%s + y(i)", "free"), ("1", "%s + x(i)", "bound: count"),
        ("0", "mod(%s * 3 + i, 1009d0)", "bound: private")])
    return ["%s = %s" % (own, begin), "!$omp do", "do i = 1, n",
            "%s = %s" % (own, step % own), "end do", "!$omp end do nowait", "!$omp atomic",
            "%s = %s + %s" % (name, name, own)], [own], truth


def one_thread(program, dice):
    """What one thread does."""
    name, how = program.scalar(), dice.choice(["single", "master"])
    return ["!$omp " + how, "%s = %s + 3" % (name, name), "!$omp end " + how,
            "!$omp barrier"], [], "free"


def count(program, _):
    """What each thread does."""
    name = program.scalar()
    return ["!$omp atomic", "%s = %s + 1" % (name, name)], [], "bound: count"


def whole(program, _):
    """Whole arrays."""
    name = program.array()
    return ["!$omp workshare", "%s(0:n) = x(0:n) * 2 + 1" % name,
            "where (%s > 100) %s = %s - 100" % (name, name, name),
            "!$omp end workshare"], [], "free"


def by_hand(program, dice):
    """A share computed by hand, used for the loop alone or for more."""
    name = program.array()
    low, high = program.private("integer :: %s"), program.private("integer :: %s")
    value, truth = dice.choice([("x(i) * 2", "open: partition"), ("y(i) - 1", "open: partition"),
                                ("i - %s" % low, "bound: share"),
                                ("merge(1, 2, i == %s)" % high, "bound: share")])
    return ["%s = %s * n / %s + 1" % (low, WHO, MANY), "%s = (%s + 1) * n / %s" % (high, WHO, MANY),
            "do i = %s, %s" % (low, high), "%s(i) = %s" % (name, value), "end do"], [
                low, high], truth


PIECES = (shared_loop, shared_loop, shared_loop, merged, merged, one_thread, whole, count, by_hand)


def region(program, dice, truth_of):
    """One region."""
    if dice.random() < 0.5:
        clauses, lines, truth = loop(program, dice)
        return ["!$omp parallel do%s ! %s" % (clauses, truth), *lines]
    lines, private, truths = [], ["i"], []
    for _ in range(dice.randint(1, 4)):
        made, own, truth = dice.choice(PIECES)(program, dice)
        lines += made
        private += own
        truths.append(truth)
    return ["!$omp parallel private(%s) ! %s" % (", ".join(private), truth_of(truths)), *lines,
            "!$omp end parallel"]


FUNCTIONS = """contains
  pure real(8) function plain(x, i)
    real(8), intent(in) :: x
    integer, intent(in) :: i
    plain = mod(x * 3 + i, 1024d0)
  end function
  recursive pure real(8) function deep(x, i) result(r)
    real(8), intent(in) :: x
    integer, intent(in) :: i
    r = x
    if (i > 5) r = deep(x + 1, i / 3)
  end function
  real(8) function asker(i)
    integer, intent(in) :: i
    asker = mod(i, 3) + omp_get_thread_num()
  end function
end program
"""


def generate(seed, dice, truth_of):
    """The text of one program."""
    program = Program()
    body = []
    for _ in range(dice.randint(1, 5)):
        body += region(program, dice, truth_of)
    head = ["! SPDX-License-Identifier: LGPL-2.1-or-later",
            "! Generated by t/inspect/generate --seed %d --language f90." % seed,
            "program generated", "  use omp_lib", "  implicit none",
            "  integer, parameter :: n = %d" % dice.choice([17, 60, 251, 400]),
            "  real(8) :: x(0:n), y(0:n)", "  integer :: i, k"]
    begin = ["do i = 0, n", "x(i) = mod(i * 37, 101) - 9", "y(i) = mod(i * 11, 29)", "end do"]
    rows = program.declarations + program.begins + begin + body
    rows += ["print *, %s" % item for item in program.prints]
    return "\n".join(head + ["  " + row for row in rows]) + "\n" + FUNCTIONS
