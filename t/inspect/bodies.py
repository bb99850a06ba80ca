# SPDX-License-Identifier: LGPL-2.1-or-later
"""What iterations of generated programs do, each with its truth by construction."""
SIZES = (1, 2, 3, 5, 60, 97, 128, 250, 333)
WHO = "omp_get_thread_num()"
MANY = "omp_get_num_threads()"


def indent(lines):
    """The lines one level deeper; pragmas stay at the left."""
    return [line if line.startswith("#") else "\t" + line for line in lines]


class Program:
    """A program's variables and functions."""

    def __init__(self, dice, language):
        self.dice = dice
        self.language = language
        self.size = dice.choice(SIZES)
        self.globals = []
        self.adds = []
        self.functions = {}
        self.next = 0

    def name(self, prefix):
        """A new name."""
        self.next += 1
        return "%s%d" % (prefix, self.next)

    def array(self, kind="double", size="SIZE"):
        """A new global array; its name."""
        name = self.name("a")
        self.globals.append("static %s %s[%s];" % (kind, name, size))
        self.adds.append("corpus_add(%s, sizeof(%s));" % (name, name))
        return name

    def scalar(self, kind="long", value="0"):
        """A new global variable; its name."""
        name = self.name("v")
        self.globals.append("static %s %s = %s;" % (kind, name, value))
        self.adds.append("corpus_number((double)%s);" % name)
        return name

    def tls(self, kind="double", size=""):
        """A new variable of each thread; its name."""
        name = self.name("t")
        if self.dice.random() < 0.5:
            self.globals.append("static __thread %s %s%s;" % (kind, name, size))
        else:
            self.globals.append("static %s %s%s;\n#pragma omp threadprivate(%s)" % (
                kind, name, size, name))
        return name

    def function(self, key):
        """The name of a function of this kind, made at its first use."""
        if key not in self.functions:
            self.functions[key] = self.make_function(key)
        return self.functions[key][0]

    def make_function(self, key):
        """A function of this kind, as (name, lines)."""
        name = self.name("f")
        head = self.dice.choice(["static ", "NOINLINE static ", "NOINLINE static "])
        body = {
            "plain": ["double r = (double)((long)(x * 3 + i) & 1023);",
                      "return i % 5 ? r : r + 1;"],
            "loop": ["double r = x;", "for (int k = 0; k < i % 7; k++)", "\tr += k;",
                     "return r;"],
            "deep": ["return i %% 3 ? x : %s(x + 1, i / 2);" % name],
            "who": ["return x + %s + (i & 1);" % WHO],
            "deepwho": ["return i > 3 ? %s(x, i / 2) : x + %s;" % (name, WHO)],
            "many": ["return x + %s * (i & 3);" % MANY],
        }[key]
        if key in ("deep", "deepwho"):
            body = ["if (i == 0)", "\treturn x + 3%s;" % ("" if key == "deep" else " * " + WHO),
                    *body]
            head = "NOINLINE static "
        return name, ["%sdouble %s(double x, int i)" % (head, name), "{", *indent(body), "}", ""]

    def heads(self):
        """What stands above the regions."""
        lines = ["enum { SIZE = 512, MOST = 64 };", "static double x[SIZE];",
                 "static int y[SIZE], told;", *self.globals, ""]
        for _, function in self.functions.values():
            lines += function
        return lines

    def sums(self):
        """What adds everything up."""
        return self.adds


class Loop:
    """A worksharing loop: its shape, its clauses, and what each iteration does."""

    def __init__(self, program, dice, alone=False, carried=None):
        self.program = program
        self.dice = dice
        self.alone = alone
        self.reductions = []
        self.privates = []
        self.before = []
        self.carried = carried
        self.wide = dice.random() < 0.75
        self.kind = dice.choice(["int", "int", "long", "unsigned", "unsigned long"])
        self.truth = "free"
        self.body = self.make_body()
        self.schedule = dice.choice(["", "", "", " schedule(static)", " schedule(static, 1)",
                                     " schedule(static, 5)", " schedule(static, n / 3 + 1)",
                                     " schedule(dynamic)", " schedule(dynamic, 4)",
                                     " schedule(guided)", " schedule(runtime)",
                                     " schedule(auto)"])
        if "dynamic" in self.schedule and any("lastprivate" in one for one in self.privates):
            # LLVM's runtime, 19 at least, mostly loses the last value then.
            self.schedule = " schedule(guided)"
        if self.truth != "free":
            # Who does what must be the same in each plain run.
            self.schedule = dice.choice(["", "", " schedule(static)", " schedule(static, 3)"])

    def make_body(self):
        """Statements of one iteration."""
        lines = []
        for _ in range(self.dice.randint(1, 3)):
            make = self.dice.choice(FREE_BODIES)
            if self.dice.random() < 0.1:
                make = self.dice.choice(BOUND_BODIES)
            elif self.dice.random() < 0.03:
                make = self.dice.choice(OPEN_BODIES)
            made, truth = make(self)
            lines += made
            if truth != "free":
                self.wide = True
                if not self.truth.startswith("bound"):
                    self.truth = truth
        return lines

    def clauses(self):
        """Clauses of the loop's pragma."""
        return self.schedule + "".join(self.reductions) + "".join(self.privates)

    def head(self):
        """The loop's own line; i runs within 0 and SIZE."""
        bound = "n"
        if self.wide:
            bound = self.dice.choice(["SIZE", "SIZE - 1", "300 + n"])
            if bound == "300 + n" and self.program.size > 200:
                bound = "SIZE"
        step = self.dice.choice([1, 1, 1, 2, 3, 7])
        if self.kind in ("int", "long") and self.dice.random() < 0.25:
            change = "i--" if step == 1 else "i -= %d" % step
            return "for (%s i = %s - 1; i >= 0; %s) {" % (self.kind, bound, change)
        change = "i++" if step == 1 else "i += %d" % step
        if "unsigned" in self.kind:
            bound = "(%s)(%s)" % (self.kind, bound)
        return "for (%s i = %s; i < %s; %s) {" % (self.kind, self.dice.choice("001"), bound, change)

    def lines(self):
        """The loop without its pragma."""
        return [self.head(), *indent(self.body), "}"]

    def expression(self):
        """A whole number that depends on i alone."""
        kind = self.dice.randrange(8)
        call = "%s(x[i], (int)i)" % self.program.function(
            self.dice.choice(["plain", "loop", "deep"])) if kind < 3 else ""
        return call or self.dice.choice([
            "x[i]", "x[i] * scale", "(double)i", "(double)y[i] + x[SIZE - 1 - i]",
            "x[i] + (i > 0 ? x[i - 1] : 0)", "x[(i + 1) % SIZE] - x[i]", "(i % 3 ? x[i] : scale)"])


# What an iteration may do that no one can tell a thread by.

def store(loop):
    """An array by iteration."""
    return ["%s[i] = %s;" % (loop.program.array(), loop.expression())], "free"


def add(loop):
    """The same, with what was there."""
    name = loop.program.array()
    return ["%s[i] += %s;" % (name, loop.expression())], "free"


def vector(loop):
    """Integers or floats."""
    name = loop.program.array(loop.dice.choice(["int", "float", "short", "unsigned char"]))
    return ["%s[i] = (%s)(y[i] * 2 & 127);" % (name, loop.dice.choice(["int", "short"]))], "free"


def histogram(loop):
    """Atomics into bins."""
    name = loop.program.array("long", "MOST")
    return ["#pragma omp atomic", "%s[y[i] & 63] += (long)i;" % name], "free"


def critical(loop):
    """A sum and the largest under a lock."""
    name, most = loop.program.scalar("double"), loop.program.scalar("double", "-9999")
    return ["#pragma omp critical", "{", "\t%s += x[i];" % name,
            "\t%s = x[i] > %s ? x[i] : %s;" % (most, most, most), "}"], "free"


def reduce(loop):
    """A reduction of the loop."""
    name = loop.program.scalar(loop.dice.choice(["double", "long", "unsigned"]))
    operator = loop.dice.choice(["+", "max", "|", "^"])
    if operator in "|^":
        name = loop.program.scalar("unsigned")
    loop.reductions.append(" reduction(%s : %s)" % (operator, name))
    if operator == "max":
        return ["if (y[i] + 7 > %s)" % name, "\t%s = (long)y[i] + 7;" % name], "free"
    return ["%s %s= (unsigned)y[i];" % (name, operator)], "free"


def last(loop):
    """The last iteration's value."""
    name = loop.program.scalar("double")
    loop.privates.append(" lastprivate(%s)" % name)
    # A loop without an iteration leaves any value there.
    loop.wide = True
    return ["%s = x[i] + 2;" % name], "free"


def scratch(loop):
    """A local array, written and read."""
    name, own = loop.program.array(), loop.program.name("s")
    return ["double %s[8];" % own, "for (int k = 0; k < 8; k++)",
            "\t%s[k] = x[(i + k) %% SIZE];" % own,
            "%s[i] = %s[y[i] & 7] + %s[3];" % (name, own, own)], "free"


def heap(loop):
    """Memory of one iteration."""
    name, own = loop.program.array(), loop.program.name("p")
    return ["double *%s = (double *)malloc(4 * sizeof(*%s));" % (own, own),
            "%s[1] = x[i];" % own, "%s[i] = %s[1] + 1;" % (name, own), "free(%s);" % own], "free"


def switch(loop):
    """A branch by table."""
    name = loop.program.array()
    cases = ["case %d: %s[i] = %s; break;" % (k, name, loop.expression()) for k in range(6)]
    return ["switch (y[i] % 7) {", *cases, "default: %s[i] = 9;" % name, "}"], "free"


def search(loop):
    """An inner loop that ends early."""
    name, own = loop.program.array("int"), loop.program.name("k")
    return ["int %s = 0;" % own, "while (%s < 20 && y[(i + %s) %% SIZE] > 9)" % (own, own),
            "\t%s++;" % own, "%s[i] = %s;" % (name, own)], "free"


def bytes_of(loop):
    """memset and memcmp."""
    name = loop.program.array("double", "SIZE")
    return ["memset(&%s[i], y[i] & 3, sizeof(%s[i]));" % (name, name),
            "if (memcmp(&x[i], &x[0], 8) == 0)", "\t%s[i] = 5;" % name], "free"


def level(loop):
    """Questions with one answer for any team."""
    name = loop.program.array()
    return ["%s[i] = omp_get_level() + omp_get_max_threads() + omp_get_dynamic();" % name], "free"


def lambda_call(loop):
    """A lambda, in C++."""
    if loop.program.language != "cc":
        return store(loop)
    name, own = loop.program.array(), loop.program.name("l")
    return ["auto %s = [&](double v) { return v + x[i] + scale; };" % own,
            "%s[i] = %s(2);" % (name, own)], "free"


def thrown(loop):
    """An exception that is caught where it is thrown, in C++."""
    if loop.program.language != "cc":
        return add(loop)
    name = loop.program.array()
    return ["try {", "\tif (y[i] % 4 == 0)", "\t\tthrow (int)y[i];", "\t%s[i] = 1;" % name,
            "} catch (int v) {", "\t%s[i] = v + 3;" % name, "}"], "free"


# What an iteration may do that tells a thread.

def by_thread(loop):
    """An element for each thread."""
    name = loop.program.array("double", "MOST")
    return ["%s[%s] += 1 + y[i];" % (name, WHO)], "bound: identity"


def who(loop):
    """A function, maybe a deep one, that asks."""
    name = loop.program.array()
    function = loop.program.function(loop.dice.choice(["who", "deepwho", "many"]))
    return ["%s[i] = %s(x[i], (int)(i %% 64) | 8);" % (name, function)], "bound: identity"


def carried_tls(loop):
    """A sum that goes on in thread-local storage."""
    name, own = loop.program.array(), loop.program.tls()
    return ["%s += 1 + y[i];" % own, "%s[i] = %s;" % (name, own)], "bound: tls"


def carried_private(loop):
    """A sum that goes on in a private variable."""
    name, own = loop.program.array(), loop.program.name("c")
    if loop.alone:
        loop.privates.append(" firstprivate(scale)")
        own = "scale"
    else:
        loop.before.append("double %s = 3;" % own)
    if any("firstprivate(scale)" in one for one in loop.privates[:-1]):
        loop.privates.pop()
    return ["%s += 1 + y[i];" % own, "%s[i] = %s;" % (name, own)], "bound: private"


def branch(loop):
    """A branch by the thread's number."""
    name = loop.program.array()
    return ["%s[i] = %s %s ? 1 : 2;" % (name, WHO, loop.dice.choice(
        ["== 0", "> 0", "& 1"]))], "bound: identity"


def inside(loop):
    """A question that a team of one answers otherwise."""
    name = loop.program.array()
    return ["%s[i] = omp_in_parallel() + 1;" % name], "bound: number"


def team(loop):
    """The team's size."""
    name = loop.program.array()
    return ["%s[i] = x[i] + %s;" % (name, MANY)], "bound: number"


# What looks like the one and is the other.

def tls_scratch(loop):
    """Scratch in thread-local storage: written before it is read, of no use to others."""
    name, own = loop.program.array(), loop.program.tls("double", "[4]")
    return ["for (int k = 0; k < 4; k++)", "\t%s[k] = x[i] + k;" % own,
            "%s[i] = %s[y[i] & 3] + %s[1];" % (name, own, own)], "open: scratch"


def unused(loop):
    """A number that changes nothing."""
    name = loop.program.array()
    return ["%s[i] = (%s >= 0) + 1;" % (name, WHO)], "open: unused"


FREE_BODIES = (store, store, store, add, add, vector, histogram, critical, reduce, reduce, last,
               scratch, heap, switch, search, bytes_of, level, lambda_call, thrown)
BOUND_BODIES = (by_thread, who, carried_tls, carried_private, branch, inside, team)
OPEN_BODIES = (tls_scratch, unused)
