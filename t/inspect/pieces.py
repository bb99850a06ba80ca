# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pieces of generated regions, each with its truth by construction."""
from bodies import MANY, WHO, Loop, indent


def shared_loop(program, dice):
    """A worksharing loop."""
    loop = Loop(program, dice)
    nowait = " nowait" if dice.random() < 0.3 and not loop.reductions and not any(
        "lastprivate" in one for one in loop.privates) else ""
    lines = ["#pragma omp for%s%s" % (loop.clauses(), nowait), *loop.lines()]
    if loop.before:
        lines = ["{", *indent([*loop.before, *lines]), "}"]
    return lines, loop.truth


def merged_sum(program, dice):
    """A sum of each thread, added to the one of all."""
    name, own = program.scalar("double"), program.name("m")
    begin, truth = "0", "free"
    if dice.random() < 0.2:
        begin, truth = "1", "bound: count"
    merge = dice.choice([["#pragma omp atomic", "%s += %s;" % (name, own)],
                         ["#pragma omp critical", "%s += %s;" % (name, own)],
                         ["if (%s != 0) {" % own, "#pragma omp atomic",
                          "\t%s += %s;" % (name, own), "}"]])
    return ["{", "\tdouble %s = %s;" % (own, begin), "#pragma omp for nowait",
            "\tfor (int i = 0; i < SIZE; i++)", "\t\t%s += x[i];" % own, *indent(merge),
            "}"], truth


def merged_least(program, dice):
    """The smallest of each thread, and of all."""
    name, own = program.scalar("double", "9999"), program.name("m")
    begin = dice.choice(["9999", "x[0]"])
    return ["{", "\tdouble %s = %s;" % (own, begin), "#pragma omp for nowait",
            "\tfor (int i = 0; i < SIZE; i++)", "\t\t%s = x[i] < %s ? x[i] : %s;" % (own, own, own),
            "#pragma omp critical", "\t%s = %s < %s ? %s : %s;" % (name, own, name, own, name),
            "}"], "free"


def merged_carried(program, dice):
    """What an order of iterations left in each thread, merged."""
    name, own = program.scalar("unsigned"), program.name("m")
    step = dice.choice(["%s = %s * 2 + (unsigned)i;", "%s = %s * 31 + (unsigned)y[i];",
                        "%s = %s / 3 + (unsigned)i * 5;"]) % (own, own)
    return ["{", "\tunsigned %s = 0;" % own, "#pragma omp for nowait",
            "\tfor (int i = 0; i < SIZE; i++)", "\t\t" + step, "#pragma omp atomic",
            "\t%s += %s;" % (name, own), "}"], "bound: private"


def merged_bins(program, _):
    """A histogram of each thread, added to that of all."""
    name, own = program.array("long", "MOST"), program.name("m")
    return ["{", "\tlong %s[MOST] = {0};" % own, "#pragma omp for nowait",
            "\tfor (int i = 0; i < SIZE; i++)", "\t\t%s[y[i]] += i;" % own,
            "#pragma omp critical", "\tfor (int k = 0; k < MOST; k++)",
            "\t\t%s[k] += %s[k];" % (name, own), "}"], "free"


def one_thread(program, dice):
    """What one thread does for all."""
    name = program.scalar("long")
    how = dice.choice(["single", "master", "masked", "single nowait"])
    return ["#pragma omp " + how, "%s += %d;" % (name, dice.randint(1, 9)),
            "#pragma omp barrier"], "free"


def first_thread(program, _):
    """The same by the number."""
    name = program.scalar("long")
    return ["if (%s == 0)" % WHO, "\t%s += 3;" % name], "free"


def other_thread(program, dice):
    """What a certain other thread does."""
    name = program.scalar("long")
    return ["if (%s == %d) {" % (WHO, dice.randint(1, 2)), "#pragma omp atomic",
            "\t%s += 3;" % name, "}"], "bound: identity"


def count(program, dice):
    """What each thread does."""
    name = program.scalar("long")
    return [dice.choice(["#pragma omp atomic", "#pragma omp critical"]),
            "%s += 2;" % name], "bound: count"


def numbered(program, _):
    """An element for each thread."""
    name = program.array("int", "MOST")
    return ["%s[%s] = 1;" % (name, WHO)], "bound: identity"


def leak(program, dice):
    """A private value that one thread has and the others do not."""
    name, own = program.array(), program.name("m")
    condition = dice.choice(["#pragma omp master", "if (%s == 0)" % WHO])
    return ["{", "\tdouble %s = 0;" % own, *indent([condition]),
            "\t\t%s = 5;" % own, "#pragma omp for", "\tfor (int i = 0; i < SIZE; i++)",
            "\t\t%s[i] = %s;" % (name, own), "}"], "bound: identity"


def passed_on(program, _):
    """A value that one thread gives to all."""
    name, own = program.array(), program.name("m")
    return ["{", "\tdouble %s;" % own, "#pragma omp single copyprivate(%s)" % own,
            "\t%s = x[n %% SIZE];" % own, "#pragma omp for",
            "\tfor (int i = 0; i < SIZE; i++)", "\t\t%s[i] = %s + y[i];" % (name, own),
            "}"], "free"


def sections(program, dice):
    """Sections."""
    names = [program.scalar("double") for _ in range(dice.randint(1, 5))]
    lines = ["#pragma omp sections", "{"]
    for name in names:
        lines += ["#pragma omp section", "\t%s = x[%d];" % (name, dice.randrange(99))]
    return [*lines, "}"], "free"


def tasks(program, _):
    """Tasks that one thread makes."""
    name, total = program.array(), program.scalar("long")
    return ["#pragma omp single", "for (int i = 0; i < SIZE; i += 9) {",
            "#pragma omp task firstprivate(i)", "\t{", "\t\t%s[i] = x[i];" % name,
            "#pragma omp atomic", "\t\t%s += y[i];" % total, "\t}", "}"], "free"


def own_tasks(program, _):
    """A task of each thread."""
    name = program.scalar("long")
    return ["#pragma omp task", "{", "#pragma omp atomic", "\t%s += 4;" % name, "}",
            "#pragma omp taskwait"], "bound: count"


def ordered(program, _):
    """Iterations in order."""
    name = program.scalar("unsigned")
    return ["#pragma omp for ordered", "for (int i = 0; i < 100; i++) {", "#pragma omp ordered",
            "\t%s = %s * 31 + (unsigned)y[i];" % (name, name), "}"], "free"


SHARES = {
    "formula": ["int q = SIZE_OF / many, r = SIZE_OF % many;", "if (me < r) {", "\tq++;",
                "\tr = 0;", "}", "int low = q * me + r, high = low + q;"],
    "wide": ["int low = (int)((long)SIZE_OF * me / many);",
             "int high = (int)((long)SIZE_OF * (me + 1) / many);"],
    "ceiling": ["int q = (SIZE_OF + many - 1) / many;",
                "int low = me * q < SIZE_OF ? me * q : SIZE_OF;",
                "int high = low + q < SIZE_OF ? low + q : SIZE_OF;"],
    "remainder": ["int q = SIZE_OF / many;", "int low = q * me;",
                  "int high = me == many - 1 ? SIZE_OF : low + q;"],
}
MISUSES = (
    (["#pragma omp atomic", "{sum} += low * (high - low + 3);"], "{out}[i] = x[i];"),
    ([], "{out}[i] = i == low ? 7 : x[i];"),
    ([], "{out}[i] = i == high - 1 ? 7 : x[i];"),
    ([], "{out}[i] = i - low;"),
    ([], "{out}[i] = x[i] + (high - low);"),
    (["{out}[me] = low + 1;"], "{other}[i] = x[i];"),
    (["if (low > 0)", "\t{out}[low - 1] = -1;"], "{other}[i] = x[i];"),
)


def by_hand(program, dice):
    """A share computed by hand, used for the loop alone or for more."""
    size = dice.choice(["SIZE", "(SIZE - 5)", "(400 + n % 9)"])
    lines = [line.replace("SIZE_OF", size) for line in SHARES[dice.choice(sorted(SHARES))]]
    begin = ["int me = %s, many = %s;" % (WHO, MANY), *lines]
    names = {"out": program.array(), "other": program.array(), "sum": program.scalar("long")}
    if dice.random() < 0.5:
        before, body, truth = [], "{out}[i] = x[i] * 2 + y[i];", "open: partition"
    else:
        before, body = dice.choice(MISUSES)
        truth = "bound: share"
    return ["{", *indent([*begin, *(line.format(**names) for line in before),
                          "for (int i = low; i < high; i++)", "\t" + body.format(**names)]),
            "}"], truth


def cyclic(program, dice):
    """Iterations dealt out by hand."""
    name = program.array()
    body, truth = dice.choice([("%s[i] = x[i] + 1;" % name, "open: partition"),
                               ("%s[i] = i / %s;" % (name, MANY), "bound: share")])
    return ["for (int i = %s; i < SIZE; i += %s)" % (WHO, MANY), "\t" + body], truth


def told_share(program, dice):
    """Iterations shared among as many as were told outside."""
    name = program.array()
    body = "%s[i] += x[i] + 2;" % name
    return dice.choice([
        ["for (int i = %s; i < SIZE; i += told)" % WHO, "\t" + body],
        ["for (int i = %s * (SIZE / told); i < (%s + 1) * (SIZE / told) && i < SIZE; i++)" % (
            WHO, WHO), "\t" + body]]), "bound: share"


def told_tiles(program, dice):
    """As many tiles as were told, shared by the language."""
    name = program.array()
    many = dice.choice(["told", "3 * told", "told + 1"])
    return ["#pragma omp for%s" % dice.choice(["", " schedule(dynamic)", " schedule(static, 1)"]),
            "for (int tile = 0; tile < %s; tile++)" % many,
            "\tfor (int i = tile * SIZE / (%s); i < (tile + 1) * SIZE / (%s); i++)" % (many, many),
            "\t\t%s[i] = x[i] - y[i];" % name], "free"


def told_branch(program, _):
    """An atomic only where several threads were told."""
    name = program.scalar("long")
    return ["#pragma omp for", "for (int i = 0; i < SIZE; i++) {", "\tif (told > 1) {",
            "#pragma omp atomic", "\t\t%s += y[i];" % name, "\t} else {",
            "\t\t%s += y[i];" % name, "\t}", "}"], "free"


def steps(program, dice):
    """Time steps over two arrays inside the region."""
    one, two = program.array(), program.array()
    return ["for (int step = 0; step < %d; step++) {" % dice.randint(2, 4), "#pragma omp for",
            "\tfor (int i = 1; i < SIZE - 1; i++)",
            "\t\t%s[i] = %s[i - 1] + %s[i + 1] + x[i];" % (two, one, one), "#pragma omp for",
            "\tfor (int i = 1; i < SIZE - 1; i++)",
            "\t\t%s[i] = (double)((long)%s[i] & 4095);" % (one, two), "}"], "free"


def flushed(program, dice):
    """A private sum that is emptied into the shared one now and then; the times may be counted."""
    name, times, own = program.scalar("double"), program.scalar("long"), program.name("m")
    counted = dice.random() < 0.4
    return ["{", "\tdouble %s = 0;" % own, "#pragma omp for nowait",
            "\tfor (int i = 0; i < SIZE; i++) {", "\t\t%s += x[i];" % own,
            "\t\tif (i %% %d == 0) {" % dice.choice([3, 10, 64]), "#pragma omp critical",
            "\t\t\t%s += %s;" % (name, own), "\t\t\t%s = 0;" % own, "\t\t}", "\t}",
            "#pragma omp critical", "\t{", "\t\t%s += %s;" % (name, own),
            *(["\t\t%s++;" % times] if counted else []), "\t}",
            "}"], "bound: count" if counted else "open: buffer"


def local_heap(program, dice):
    """Memory of each thread for the time of the region, clean in each iteration or not."""
    name, own = program.array(), program.name("p")
    clean = dice.random() < 0.6
    return ["{", "\tdouble *%s = (double *)calloc(8, sizeof(*%s));" % (own, own),
            "#pragma omp for", "\tfor (int i = 0; i < SIZE; i++) {",
            *(["\t\tmemset(%s, 0, 8 * sizeof(*%s));" % (own, own)] if clean else []),
            "\t\t%s[y[i] & 7] += 1;" % own,
            "\t\t%s[i] = %s[y[i] & 7] + %s[2];" % (name, own, own), "\t}", "\tfree(%s);" % own,
            "}"], "free" if clean else "bound: private"


FREE_PIECES = (merged_sum, merged_least, merged_bins, one_thread, first_thread, passed_on, sections,
               tasks, ordered, told_tiles, told_branch, steps)
OTHER_PIECES = (merged_carried, other_thread, count, numbered, leak, own_tasks, by_hand, by_hand,
                by_hand, cyclic, told_share, flushed, local_heap, local_heap)


def any_piece(program, dice):
    """One piece of a region, as (lines, truth)."""
    kind = dice.random()
    if kind < 0.55:
        return shared_loop(program, dice)
    return dice.choice(FREE_PIECES if kind < 0.85 else OTHER_PIECES)(program, dice)
