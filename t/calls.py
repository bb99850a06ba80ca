#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the tables of MPI calls with an mpi.h: numbers of arguments, and what is at a position.

Usage: COMPILER -E mpi.h | t/calls.py TABLE SIZED; prints what is wrong, and exits with 1 then.
Calls in SIZED have a form with large counts, those in TABLE have none. Calls that this mpi.h does
not have are left out.
"""
import re
import sys

# What is at the positions that each kind names.
COMM, REQUEST, FLAG, COUNT = r"MPI_Comm\b(?! *\*)", r"MPI_Request\b.*[*\[]", r"int *\*", r"int\b"
KINDS = {
    "WAIT": [],
    "OVER": [COMM],
    "TEXT": None,
    "TEST": [FLAG],
    "WAIT_ONE": [REQUEST],
    "WAIT_MANY": [COUNT, REQUEST],
    "TEST_ONE": [REQUEST, FLAG],
    "TEST_MANY": [COUNT, REQUEST, FLAG],
    "FREE": [REQUEST],
    "START_ONE": [REQUEST],
    "START_MANY": [COUNT, REQUEST],
    "BEGIN": [COMM, REQUEST],
    "INIT": [COMM, REQUEST],
}


def prototypes(text):
    """The parameters of each function, by its name."""
    text = re.sub(r"__attribute__ *\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    found = {}
    for name, parameters in re.findall(r"\bMPI_(\w+)\s*\(([^()]*)\)\s*;", text):
        words = [" ".join(word.split()) for word in parameters.split(",")]
        found[name] = [] if words == ["void"] else words
    return found


def offences(row, parameters, sized, has_large):
    """What is wrong with ROW of the table of SIZED calls or the other one, a text each."""
    kind, name, fortran, *numbers = row
    count, positions = int(numbers[0]), [int(number) for number in numbers[1:]]
    if fortran != name.lower():
        yield f"its Fortran name is {name.lower()}"
    if count != len(parameters):
        yield f"it has {len(parameters)} arguments"
        return
    if sized != has_large:
        yield f"there is {'an' if has_large else 'no'} MPI_{name}_c"
    texts = sum(re.search(r"\bchar\b", parameter) is not None for parameter in parameters)
    if texts != (positions[0] if kind == "TEXT" else 0):
        yield f"it has {texts} texts"
    for position, wanted in zip(positions, KINDS[kind] or []):
        if position >= count or not re.match("(const )?" + wanted, parameters[position]):
            yield f"position {position} is not the one: {', '.join(parameters)}"


def main():
    known = prototypes(sys.stdin.read())
    large = any(name.endswith("_c") for name in known)
    wrong = 0 if "Send" in known else print("no mpi.h") or 1
    rows = []
    for sized, path in enumerate(sys.argv[1:3]):
        with open(path, encoding="utf-8") as table:
            rows += [(sized == 1, *row) for row in
                     re.findall(r"^([A-Z_]+)\(([^)]*)\)", table.read(), re.MULTILINE)]
    for sized, kind, arguments in rows:
        row = [kind] + arguments.replace(" ", "").split(",")
        name = row[1]
        if name not in known:
            continue
        has_large = name + "_c" in known if large else sized
        for text in offences(row, known[name], sized, has_large):
            print(f"{kind}({arguments}): {text}")
            wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
