#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Looks every 10 ms at the CPUs of all threads of programs, by name: watch.py SECONDS NAME...
Prints one line a look.

A look takes a moment, in which CPUs may change hands: those count that a program had when it began
and when it ended.
"""
import os
import sys
import time


# A process that is older no longer becomes another program.
YOUNG_S = 3


def look_around(known):
    """Bring KNOWN up to date: by process, its name and when it was seen first."""
    now = time.monotonic()
    entries = {int(entry) for entry in os.listdir("/proc") if entry.isdigit()}
    for pid in set(known) - entries:
        del known[pid]
    for pid in entries:
        first = known[pid][1] if pid in known else now
        if pid in known and now - first > YOUNG_S:
            continue
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                known[pid] = file.read().rstrip(), first
        except OSError:
            pass


def cpus_of(pid):
    cpus = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            try:
                cpus |= os.sched_getaffinity(int(thread))
            except ProcessLookupError:
                pass
    except (FileNotFoundError, ProcessLookupError):
        pass
    return cpus


def cpus_of_all(names, known):
    return [set().union(*(cpus_of(pid) for pid in known if known[pid][0] == name))
            for name in names]


def main():
    names, end = sys.argv[2:], time.monotonic() + float(sys.argv[1])
    known = {}
    while time.monotonic() < end:
        began = time.monotonic()
        look_around(known)
        both = [a & b for a, b in zip(cpus_of_all(names, known), cpus_of_all(names, known))]
        print(f"{time.monotonic():.3f}",
              *(",".join(map(str, sorted(cpus))) or "-" for cpus in both), flush=True)
        # On a slow machine looking must not take all of the time.
        time.sleep(max(0.01, 2 * (time.monotonic() - began)))


if __name__ == "__main__":
    main()
