#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print what is wrong with the tests that headers of the sources below TREE name.

A source file's header names its invariant and, in brackets, what fails without it: unit tests with
their cases, integration tests. Each header of the controller has to.
"""
import os
import re
import sys

FOLDERS = ("libmalleable", "policies", "spank")
TESTS = os.path.dirname(os.path.realpath(__file__))


def missing(named):
    """What of NAMED, the text in the brackets, there is not."""
    path, _, cases = named.partition(": ")
    if not cases:
        return [name for name in named.split(", ") if not os.path.exists(f"{TESTS}/../{name}")]
    if not os.path.exists(f"{TESTS}/../{path}"):
        return [path]
    with open(f"{TESTS}/../{path}", encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".c"):
        return [case for case in cases.split(", ") if f"static void {case}(void **" not in text]
    return [] if cases in text else [cases]


def main():
    """Look at each file."""
    for folder in FOLDERS:
        for where, _, names in sorted(os.walk(os.path.join(sys.argv[1], folder))):
            for path in (os.path.join(where, name) for name in sorted(names)):
                with open(path, encoding="utf-8", errors="replace") as file:
                    headers = re.findall(r"/\*(.*?)\*/", file.read(10000), re.DOTALL)[1:2]
                text = re.sub(r"[\s*]+", " ", headers[0]) if headers else ""
                said = re.findall(r"\((t/(?:unit/\w+\.c|t\d)[^()]*)\)", text)
                if "/controller/" in path and path.endswith(".h") and (
                        "Invariant:" not in text or not said):
                    print(f"{path} names no invariant and its test")
                for name in (name for one in said for part in one.split("; ")
                             for name in missing(part)):
                    print(f"{path}: there is no {name}")


main()
