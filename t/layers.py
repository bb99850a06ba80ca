#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks who includes whom: each folder only what the table below allows, and no two modules each
other.

Usage: t/layers.py [DIRECTORY]    (default: the source tree); prints what is wrong, and exits with 1
then.
"""
import os
import re
import sys

# A folder may include headers of itself and of the folders named beside it. What is not in this
# table is not allowed.
BASE = {"libmalleable/base"}
CORE = BASE | {"libmalleable/core"}
INTERFACE = {"policies/interface"}
LAYERS = {
    "libmalleable/base": set(),
    "libmalleable/core": BASE,
    "libmalleable/agent": CORE,
    # The policies, pure functions: no clock, no file, no process.
    "policies/interface": {"libmalleable/base", "libmalleable/core"},
    "policies/mapping": INTERFACE,
    "policies/model": INTERFACE,
    "policies/decide": BASE | INTERFACE | {"policies/mapping", "policies/model"},
    "policies": INTERFACE | {"policies/mapping", "policies/model"},
    "libmalleable/loadable": CORE | INTERFACE,
    "libmalleable/trace": CORE | INTERFACE,
    # A rank knows no policy and no controller, only the segment.
    "libmalleable/rank/state": CORE,
    "libmalleable/rank/program": {"libmalleable/core"},
    "libmalleable/rank/cpus": CORE | {"libmalleable/rank/state"},
    "libmalleable/rank/pmix": CORE | {"libmalleable/rank/state"},
    "libmalleable/rank": CORE | {"libmalleable", "libmalleable/rank/state",
                                 "libmalleable/rank/program",
                                 "libmalleable/rank/cpus", "libmalleable/rank/pmix"},
    "libmalleable/rank/mpi": {"libmalleable/rank"},
    "libmalleable/controller/state": CORE | INTERFACE | {"libmalleable/trace", "policies/decide"},
    "libmalleable/controller/cpus": CORE | {"libmalleable/controller/state", "policies/model"},
    "libmalleable/controller/load": BASE | INTERFACE | {
        "libmalleable/controller/state", "libmalleable/controller/cpus", "libmalleable/trace",
        "policies/decide", "policies/model"},
    "libmalleable/controller/report": BASE | {
        "libmalleable/controller/state", "libmalleable/controller/cpus",
        "libmalleable/controller/load",
        "policies/mapping", "policies/model"},
    "libmalleable/controller": CORE | INTERFACE | {
        "libmalleable/controller/state", "libmalleable/controller/cpus",
        "libmalleable/controller/load",
        "libmalleable/controller/report", "libmalleable/loadable", "policies/decide"},
    "libmalleable/cmd": CORE | INTERFACE | {"libmalleable/loadable", "libmalleable/trace",
                                            "policies/decide",
                                            "policies/model"},
    # srun refuses a wrong policy before the job starts; the plugin never calls decide.
    "spank": CORE | INTERFACE | {"libmalleable/loadable", "policies/decide"},
}
# Headers of the system that a folder does without.
FORBIDDEN = {"policies": r"hwloc|sys/|unistd\.h|time\.h|pthread\.h|jansson"}
# Of core the policies know the texts of options alone.
NARROW = {"policies": {"libmalleable/core": {"libmalleable/core/settings.h",
                                            "libmalleable/core/spec.h"},
                       "libmalleable/base": {"libmalleable/base/error.h"}}}


def sources(root):
    """Every C file of ours with the headers that it includes, as (path, header, ours)."""
    for top in ("libmalleable", "policies", "spank"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), root)
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    for kind, header in re.findall(r'^\s*#\s*include\s+(["<])([^">]+)[">]',
                                                   file.read(), re.MULTILINE):
                        yield path, header, kind == '"'


def offences(root):
    """What is wrong, a line each."""
    graph, arrows = {}, set()
    for path, header, ours in sources(root):
        folder, top = os.path.dirname(path), path.split("/", maxsplit=1)[0]
        if folder not in LAYERS:
            yield f"{path}: {folder} is not in the table of layers"
            continue
        if not ours:
            if re.search(FORBIDDEN.get(top, "^$"), header):
                yield f"{path}: <{header}> is not for {top}"
            continue
        other = os.path.dirname(header)
        if not os.path.exists(os.path.join(root, header)):
            if header != "config.h":
                yield f"{path}: {header} is no path from the top of the tree"
            continue
        arrows.add((folder, other))
        if other != folder and other not in LAYERS[folder]:
            yield f"{path}: {header}: {folder} does not include {other}"
        narrow = NARROW.get(top, {}).get(other)
        if narrow and header not in narrow:
            yield f"{path}: {header}: of {other} {top} includes {', '.join(sorted(narrow))} alone"
        if header[:-2] != path[:-2]:
            graph.setdefault(path[:-2], set()).add(header[:-2])
    for folder, others in LAYERS.items():
        for other in sorted(others):
            if (folder, other) not in arrows:
                yield f"the table: {folder} may include {other}, and nothing of it does"
    for module in sorted(graph):
        for circle in circles(graph, module):
            yield "a circle: " + " -> ".join(circle)


def circles(graph, start):
    """A way from module START back to it through later ones, if there is one: each circle is found
    once."""
    ways, seen = [[start]], set()
    while ways:
        way = ways.pop()
        for after in sorted(graph.get(way[-1], ())):
            if after == start:
                return [way + [start]]
            if after > start and after not in seen:
                seen.add(after)
                ways.append(way + [after])
    return []


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..")
    found = list(offences(root))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
