# SPDX-License-Identifier: LGPL-2.1-or-later
"""The corpus: its programs, the truth written in them, how to build and run them."""
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
LIBRARIES = os.path.join(PROGRAMS, "libraries")
TRUTH = re.compile(r"omp\b.*?(?:/\*|!)\s*(free|hot|sums|exact|open|alone|bound)\b"
                   r"(?::\s*([^*]*?))?\s*(?:\*/.*)?$")
LINKS = re.compile(r"Libraries: ([a-z ]+)\.")
# The function that a region was made into, in the names of both compilers.
OUTLINED = re.compile(r"\._omp_fn\.\d+|omp_outlined(?!_debug)")
CLANG = os.environ.get("OMPCC") or "clang-" + subprocess.check_output(
    [os.path.join(HERE, "../../contrib/llvm")], text=True).strip()
COMPILERS = {
    "gcc": {".c": "gcc", ".cc": "g++", ".f90": "gfortran"},
    "clang": {".c": CLANG, ".cc": re.sub(r"clang(?=-\d+$|$)", "clang++", CLANG)},
}

# Ways to compile for the machine at hand, as users do.
MACHINE_WAYS = {level + name: options + machine
                for name, machine in (("", []), ("v3", ["-march=x86-64-v3"]),
                                      ("v4", ["-march=x86-64-v4"]))
                for level, options in (("O2", ["-O2"]), ("O3", ["-O3"]),
                                       ("O3u", ["-O3", "-funroll-loops"]))}
# Versions of which each hot region must be found.
FOLLOWED = {"gcc": ("12",), "clang": ("14", "19", "21")}


class Failure(Exception):
    """What keeps a program from being built or run."""


class Truth:
    """What is known of one region."""

    def __init__(self, line, kind, reason):
        self.line = line
        self.hot = kind == "hot"
        self.kind = "free" if kind in ("hot", "sums", "exact") else kind
        self.sums = {"sums": True, "exact": False}.get(kind)
        self.reason = reason or ""
        self.shown = self.reason.endswith(", shown")


def text_of(path):
    """The text of a file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def truths(path):
    """The regions of a program by line."""
    found = {}
    for number, text in enumerate(text_of(path).splitlines(), 1):
        match = TRUTH.search(text.rstrip())
        if match:
            found[number] = Truth(number, match[1], match[2])
    return found


def programs(names=()):
    """Paths of the programs, of the named ones where some are named; libraries last."""
    paths = [os.path.join(folder, name) for folder in (PROGRAMS, LIBRARIES)
             for name in sorted(os.listdir(folder)) if name.endswith((".c", ".cc", ".f90"))]
    return [path for path in paths if truths(path)
            and (not names or os.path.basename(path) in names)]


def is_library(path):
    """Whether this has no main: it is inspected, but run as part of others only."""
    return os.path.dirname(path) == LIBRARIES


def compiler_of(name, path):
    """The compiler's command for this program, or None where there is none."""
    command = COMPILERS[name].get(os.path.splitext(path)[1])
    return command if command and shutil.which(command) else None


def call(command):
    """Runs a command; its output, or a Failure with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure("%s: %s" % (" ".join(command), done.stderr.strip()[-2000:]))
    return done.stdout


def is_followed(name):
    """Whether each hot region must be found in this compiler's code."""
    command = COMPILERS[name][".c"]
    return bool(shutil.which(command)) and \
        call([command, "-dumpversion"]).split(".")[0].strip() in FOLLOWED[name]


def build_libraries(folder):
    """Puts teams.so, which is preloaded, and the libraries that programs link, there."""
    shared = ["gcc", "-O2", "-shared", "-fPIC", "-L", folder, "-Wl,-rpath," + folder]
    call([*shared, "-o", os.path.join(folder, "teams.so"), os.path.join(HERE, "teams.c")])
    for name in sorted(os.listdir(LIBRARIES)):
        more = ["-lgpu"] if name == "wrapper.c" else []
        call([*shared, "-fopenmp", "-o", os.path.join(folder, "lib%s.so" % name[:-2]),
              os.path.join(LIBRARIES, name), *more])


def build(name, path, options, out, libraries):
    """Compiles a program with debug information, or a library with regions."""
    links = LINKS.search(text_of(path))
    command = [compiler_of(name, path), "-g", "-fopenmp", "-w", "-I", PROGRAMS, *options,
               "-o", out, path, *(["-shared", "-fPIC"] if is_library(path) else []),
               "-L", libraries, "-Wl,-rpath," + libraries,
               *("-l" + one for one in (links[1].split() if links else ())),
               "-lm", "-Wl,--as-needed", "-latomic"]
    if path.endswith(".f90"):
        command += ["-J", os.path.dirname(out)]
    call(command)
    return out


def lines_of(executable, addresses):
    """The source lines of addresses; of code that was inlined, the line that it was inlined at."""
    lines = {}
    text = call(["addr2line", "-a", "-i", "-e", executable, *("%x" % one for one in addresses)])
    for row in text.splitlines():
        if row.startswith("0x"):
            current = int(row, 16)
        else:
            match = re.match(r".*:(\d+)", row)
            lines[current] = int(match[1]) if match else 0
    return lines


def regions(executable, known):
    """The truths of a program's regions by the address of their function.

    Such a function begins at the line of its pragma, or soon after it. Those of tasks are among
    them."""
    functions = [int(row.split()[0], 16) for row in call(["nm", executable]).splitlines()
                 if len(row.split()) == 3 and OUTLINED.search(row.split()[2])]
    found = {}
    for address, line in (lines_of(executable, functions) if functions else {}).items():
        line = max((one for one in known if one <= line), default=0)
        if line:
            found[address] = known[line]
    return found


def run(executable, told, timeout=60, **settings):
    """What a program told so many prints, and its exit status; 'slow' where it does not end."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(told), OMP_WAIT_POLICY="passive",
                       OMP_DYNAMIC="false", ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0",
                       **settings)
    try:
        done = subprocess.run([executable], env=environment, capture_output=True, check=False,
                              timeout=timeout, cwd=os.path.dirname(executable))
    except subprocess.TimeoutExpired:
        return "slow"
    said = done.stderr.decode(errors="replace").strip()
    return "%s exit %d%s" % (done.stdout.decode(errors="replace"), done.returncode,
                             " " + said[:300] if done.returncode else "")


def teams(executable, told, libraries, chosen, seed, timeout=60):
    """What it prints while the regions with these functions have random teams."""
    return run(executable, told, timeout, LD_PRELOAD=os.path.join(libraries, "teams.so"),
               TEAMS_SEED=str(seed), TEAMS_REGIONS=",".join("%x" % one for one in chosen))


def ran(executable, libraries):
    """Addresses of the functions of the regions that a program runs."""
    record = executable + ".record"
    said = run(executable, 2, LD_PRELOAD=os.path.join(libraries, "teams.so"), TEAMS_RECORD=record)
    if not os.path.exists(record):
        raise Failure("runs no region: " + said)
    return {int(row, 16) for row in text_of(record).split()}
