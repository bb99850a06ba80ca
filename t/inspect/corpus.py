# SPDX-License-Identifier: LGPL-2.1-or-later
"""The corpus: its programs, the truth written in them, how to build them, and where regions are."""
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
SUFFIXES = (".c", ".cc", ".f90")
TRUTH = re.compile(r"omp\b.*?(?:/\*|!|//)\s*(free|open|bound)\b(?::\s*([^*]*?))?\s*(?:\*/.*)?$")
# The function that a region was made into, in the names of both compilers.
OUTLINED = re.compile(r"\._omp_fn\.\d+|omp_outlined(?!_debug)")
COMPILERS = {
    "gcc": {".c": "gcc", ".cc": "g++", ".f90": "gfortran"},
    "clang-19": {".c": "clang-19", ".cc": "clang++-19"},
    "gcc-14": {".c": "gcc-14", ".cc": "g++-14", ".f90": "gfortran-14"},
    "clang-14": {".c": "clang-14", ".cc": "clang++-14"},
}


class Failure(Exception):
    """What keeps a program from being built or run."""


class Truth:
    """What is known of one region."""

    def __init__(self, line, kind, reason):
        self.line = line
        self.kind = kind
        self.reason = reason or ""
        self.shown = "cannot be shown" not in self.reason


def truths(path):
    """The regions of a program by line."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            match = TRUTH.search(text.rstrip())
            if match:
                found[number] = Truth(number, match[1], match[2])
    return found


def programs(names=(), folder=PROGRAMS):
    """Paths of the programs, of the named ones where some are named."""
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))
             if name.endswith(SUFFIXES) and not name.startswith("external")]
    return [path for path in paths
            if not names or os.path.basename(path) in names
            or os.path.splitext(os.path.basename(path))[0] in names]


def compiler_of(name, path):
    """The compiler's command for this program, or None where there is none."""
    command = COMPILERS.get(name, {}).get(os.path.splitext(path)[1])
    return command if command and shutil.which(command) else None


def call(command, **more):
    """Runs a command; its output, or a Failure with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        raise Failure("%s: %s" % (" ".join(command), done.stderr.strip()[-2000:]))
    return done.stdout


def build_libraries(folder):
    """Puts teams.so, which is preloaded, and libexternal.so, which programs link, there."""
    for source, name in (("teams.c", "teams.so"), ("programs/external.c", "libexternal.so")):
        call(["gcc", "-O2", "-shared", "-fPIC", "-o", os.path.join(folder, name),
              os.path.join(HERE, source), "-ldl"])


def build(name, path, options, out, external=None):
    """Compiles a program with debug information."""
    command = [compiler_of(name, path), "-g", "-fopenmp", "-w", "-I", PROGRAMS, *options, "-o", out,
               path]
    with open(path, encoding="utf-8") as file:
        if '"external.h"' in file.read():
            command += [external, "-Wl,-rpath," + os.path.dirname(external)]
    if path.endswith(".f90"):
        command += ["-J", tempfile.gettempdir()]
    call([*command, "-lm", "-Wl,--as-needed", "-latomic"])
    return out


def lines_of(executable, addresses):
    """The source lines of addresses; of code that was inlined, the line that it was inlined at."""
    addresses = sorted(addresses)
    if not addresses:
        return {}
    text = call(["addr2line", "-a", "-i", "-e", executable, *("%x" % one for one in addresses)])
    lines = {}
    for row in text.splitlines():
        if row.startswith("0x"):
            current = int(row, 16)
        else:
            match = re.match(r".*:(\d+)", row)
            lines[current] = int(match[1]) if match else 0
    return lines


def outlined(executable):
    """The outlined functions, address to name."""
    found = {}
    for row in call(["nm", executable]).splitlines():
        fields = row.split()
        if len(fields) == 3 and OUTLINED.search(fields[2]):
            found[int(fields[0], 16)] = fields[2]
    return found


def regions(executable, known):
    """The truths of a program's regions by the address of their function.

    Such a function begins at the line of its pragma, or soon after it. Those of tasks are among
    them."""
    found = {}
    for address, line in lines_of(executable, outlined(executable)).items():
        line = max((one for one in known if one <= line), default=0)
        if line:
            found[address] = known[line]
    return found


def ran(executable, library):
    """Addresses of the functions of the regions that a program runs."""
    record = executable + ".record"
    if os.path.exists(record):
        os.remove(record)
    said = run(executable, library, TEAMS_RECORD=record)
    if not os.path.exists(record):
        raise Failure("runs no region: " + said)
    with open(record, encoding="ascii") as file:
        return [int(row, 16) for row in file]


def run(executable, library=None, timeout=10, **settings):
    """What a program prints, and its exit status; 'slow' where it does not end."""
    environment = dict(os.environ, OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive",
                       OMP_DYNAMIC="false", **settings)
    if library:
        environment["LD_PRELOAD"] = library
    try:
        done = subprocess.run([executable], env=environment, capture_output=True, check=False,
                              timeout=timeout, cwd=os.path.dirname(executable))
    except subprocess.TimeoutExpired:
        return "slow"
    return "%s exit %d" % (done.stdout.decode(errors="replace"), done.returncode)


def teams(executable, library, chosen, seed):
    """What a program prints while the regions with these functions have random teams."""
    return run(executable, library, 4, TEAMS_SEED=str(seed),
               TEAMS_REGIONS=",".join("%x" % address for address in chosen))
