#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print what the public functions of the tree TREE lack: in their header a comment above them that
says what they do, in man 3 their line in SYNOPSIS and what they do, and a test that calls them.

That such a test fails without the function is seen by contrib/mutants --kind function.
"""
import glob
import re
import sys

PAGES = {"libmalleable/malleable.h": "doc/man/malleable.3.scd",
         "libmalleable/malleable_control.h": "doc/man/malleable_control.3.scd"}
# Where MALLEABLE_DLOPEN begins there are only forms of what is declared above.
END = re.compile(r"^#ifdef MALLEABLE_DLOPEN$", re.MULTILINE)
FUNCTION = re.compile(r"^(?!typedef)[a-z][\w *]*?\b((?:malleable|omp)_\w+)\(", re.MULTILINE)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    """Look at each function of both headers."""
    tests = "".join(read(path) for pattern in ("t/unit/*.c", "t/programs/*.c", "t/*.t")
                    for path in glob.glob(f"{glob.escape(sys.argv[1])}/{pattern}"))
    for header, page in PAGES.items():
        synopsis, _, described = read(f"{sys.argv[1]}/{page}").partition("# DESCRIPTION")
        for paragraph in END.split(read(f"{sys.argv[1]}/{header}"))[0].split("\n\n"):
            for name in FUNCTION.findall(paragraph):
                if not paragraph.lstrip("\n").startswith("/*"):
                    print(f"{header}: {name}: no comment says what it does")
                if f"{name}(" not in synopsis:
                    print(f"{page}: {name}: is not in SYNOPSIS")
                if f"*{name}*()" not in described:
                    print(f"{page}: {name}: nothing says what it does")
                if not re.search(rf"\b{name}\(", tests):
                    print(f"{header}: {name}: no test calls it")


main()
