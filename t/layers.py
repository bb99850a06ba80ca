#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks who includes whom: each folder only what the table below allows, and no two modules each
other. What is not said by an include counts too: names of a header that another one includes, and
declarations away from the module that defines.

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
    "libmalleable": set(),
    "libmalleable/base": set(),
    "libmalleable/core": BASE,
    # The policies, pure functions: no clock, no file, no process.
    "policies/interface": {"libmalleable/base", "libmalleable/core"},
    "policies/mapping": INTERFACE,
    "policies/model": INTERFACE,
    "policies/decide": BASE | INTERFACE | {"policies/mapping", "policies/model"},
    "policies": INTERFACE | {"policies/mapping", "policies/model"},
    "libmalleable/loadable": CORE | INTERFACE,
    "libmalleable/prover/code": BASE,
    # Names of other libraries, on the public interface alone.
    "libmalleable/compat": {"libmalleable"},
    "libmalleable/stub": {"libmalleable"},
    "libmalleable/trace": CORE | INTERFACE,
    # A rank knows no policy and no controller, only the segment.
    "libmalleable/rank/state": CORE,
    "libmalleable/rank/program": CORE,
    "libmalleable/rank/cpus": CORE | {"libmalleable/rank/state"},
    "libmalleable/rank/pmix": CORE | {"libmalleable/rank/state"},
    "libmalleable/rank": CORE | {"libmalleable", "libmalleable/rank/state",
                                 "libmalleable/rank/program",
                                 "libmalleable/rank/cpus", "libmalleable/rank/pmix",
                                 "libmalleable/prover"},
    "libmalleable/rank/mpi": {"libmalleable/base", "libmalleable/rank"},
    # What a rank calls of it; and what answers that there.
    "libmalleable/prover": set(),
    "libmalleable/prover/rank": CORE | {"libmalleable/prover", "libmalleable/prover/code",
                                        "libmalleable/rank/cpus", "libmalleable/rank/program",
                                        "libmalleable/rank/state"},
    "libmalleable/controller/state": CORE | INTERFACE | {"policies/decide", "policies/model"},
    "libmalleable/controller/cpus": CORE | {"libmalleable/controller/state", "libmalleable/trace",
                                            "policies/model"},
    "libmalleable/controller/load": CORE | INTERFACE | {
        "libmalleable/controller/state", "libmalleable/controller/cpus", "libmalleable/trace",
        "policies/decide", "policies/model"},
    "libmalleable/controller/report": CORE | INTERFACE | {
        "libmalleable/controller/state", "libmalleable/controller/cpus",
        "libmalleable/controller/load",
        "policies/decide", "policies/model"},
    "libmalleable/controller": CORE | INTERFACE | {
        "libmalleable/controller/state", "libmalleable/controller/cpus",
        "libmalleable/controller/load",
        "libmalleable/controller/report", "libmalleable/loadable", "policies/decide"},
    "libmalleable/control": CORE | {"libmalleable"},
    "libmalleable/cmd": CORE | INTERFACE | {"libmalleable", "libmalleable/control",
                                            "libmalleable/loadable", "libmalleable/trace",
                                            "policies/decide"},
    "libmalleable/prover/cmd": BASE | {"libmalleable/cmd", "libmalleable/prover/code"},
    # srun refuses a wrong policy before the job starts; the plugin never calls decide.
    "spank": CORE | INTERFACE | {"libmalleable/loadable"},
}
# What configure can leave out, each with its folders: nothing else includes them.
PARTS = {
    "prover": {"libmalleable/prover/code", "libmalleable/prover/rank", "libmalleable/prover/cmd"},
}
# Policies are pure: these headers of the system, and these functions, are all that they need of it.
PURE_HEADERS = {"assert.h", "limits.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h",
                "stdlib.h", "string.h"}
PURE_CALLS = {"UINT64_C", "assert", "calloc", "exp", "fabs", "fmax", "fmin", "fmod", "free",
              "isnan", "log", "malloc", "memcmp", "memcpy", "memmove", "memset", "realloc",
              "snprintf", "sqrt", "strcmp", "strcspn", "strlen", "strncmp", "strtod"}
# Policies that a site brings are added before the first is asked.
GLOBALS = {"policies/interface/registry.c": {"more", "more_count"}}
# Of core the policies know the texts of options alone.
NARROW = {"libmalleable/core": {"libmalleable/core/settings.h", "libmalleable/core/spec.h"},
          "libmalleable/base": {"libmalleable/base/error.h"}}
# Headers that are installed: they include nothing that is not.
PUBLIC = {"libmalleable/malleable.h", "libmalleable/malleable_control.h",
          "policies/interface/limits.h", "policies/interface/policy.h",
          "policies/mapping/mapping.h", "policies/model/apportion.h", "policies/model/forecast.h",
          "policies/model/scaling.h"}
# Headers that name what files of other folders define: interfaces, and the table of policies.
ELSEWHERE = {"libmalleable/malleable.h", "libmalleable/malleable_control.h",
             "libmalleable/prover/prove.h",
             "policies/interface/builtin.h"}
# The CPUs' words, which in the controller one module alone writes.
CONTROLLER = "libmalleable/controller/"
OWNERS = CONTROLLER + "cpus/owners"
WORDS = re.compile(r"\bmal_word_(?!read\b|unpack\b)\w+\(|\bmal_free_check\(|"
                   r"\batomic_(?!load)\w+\([^;]*?(?:->|\.)target\b")
OTHER_FILES = (".f90", ".map", ".pc.in", "README.md")

KEYWORDS = {"_Alignof", "_Static_assert", "__attribute__", "defined", "for", "if", "int", "return",
            "sizeof", "switch", "void", "while"}
# At the left margin: a function that is declared (";") or defined ("{").
FUNCTION = re.compile(r"^(?!static|typedef|return|else|extern \"C\")[a-z_][\w \t\n*]*?"
                      r"(?:\(\([^;{}]*?\)\)[\w \t\n*]*?)?\b(\w+)\("
                      r"(?!\()([^;{}()]*(?:\([^()]*\)[^;{}()]*)*)\)"
                      r"(?:\s*__attribute__\s*\(\([^;{}]*\)\))*\s*(;|\{)", re.MULTILINE)
VARIABLE = re.compile(r"^extern [^;(]*?(\w+)(?:\[\w*\])?\s*(?:__attribute__[^;]*)?;", re.MULTILINE)
INLINE = re.compile(r"^static inline [^;{(]*?(\w+)\(", re.MULTILINE)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
DIRECTIVE = re.compile(r"^\s*(?:#|%:)\s*(include\w*|import|embed)\b\s*(.*)$", re.MULTILINE)
# What keeps its value: static, or at the left margin; but not constants.
LASTING = re.compile(r"(?:\bstatic\b|\b_Thread_local\b|"
                     r"^(?!typedef|extern|return|(?:struct|enum) \w+;)(?=[a-z]))"
                     r"(?![^;={]*\b(?:const|inline)\b)[^;={(]*?(\w+)(?:\[[^\]]*\])*\s*[;=]",
                     re.MULTILINE)


def without_comments(text):
    """TEXT with lines put together, comments and characters blanked."""
    def blank(match):
        return match[0] if match[0][0] == '"' else "0" if match[0][0] == "'" else " "
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', blank,
                  text.replace("\\\n", ""), flags=re.DOTALL)


class Tree:
    """Our C files below ROOT: their text, what they include, the names that they declare."""

    def __init__(self, root):
        self.root = root
        self.texts, self.others = {}, []
        for top in ("libmalleable", "policies", "spank"):
            for folder, folders, names in os.walk(os.path.join(root, top)):
                self.others += [os.path.relpath(os.path.join(folder, name), root)
                                for name in folders if os.path.islink(os.path.join(folder, name))]
                for name in sorted(names):
                    self.read(os.path.relpath(os.path.join(folder, name), root))
        self.words = {path: set(re.findall(r"(?<!struct )(?<!enum )\b[A-Za-z_]\w+\b",
                                           re.sub(r'"(?:[^"\\\n]|\\.)*"', "", text)))
                      for path, text in self.texts.items()}
        self.functions = {path: [(match[1], match[3] == "{") for match in FUNCTION.finditer(text)]
                          for path, text in self.texts.items()}
        # By name: the headers that say it, the C files that define it.
        self.said, self.defined = {}, {}
        for path, text in self.texts.items():
            if path.endswith(".c"):
                for name, body in self.functions[path]:
                    if body:
                        self.defined.setdefault(name, set()).add(path)
                continue
            for name in [name for name, _ in self.functions[path]] + [
                    name for kind in (VARIABLE, INLINE, MACRO) for name in kind.findall(text)]:
                self.said.setdefault(name, set()).add(path)

    def read(self, path):
        if path.endswith((".c", ".h")) and not os.path.islink(os.path.join(self.root, path)):
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                self.texts[path] = without_comments(file.read())
        elif not path.endswith(OTHER_FILES):
            self.others.append(path)

    def includes(self, path):
        """What PATH includes, as (header, ours); header None: in no way that is allowed."""
        for kind, what in DIRECTIVE.findall(self.texts[path]):
            match = re.fullmatch(r'(?:"([^"]+\.h)"|<([^>]+)>)\s*', what)
            if kind != "include" or not match:
                yield None, f"#{kind} {what}"
            else:
                yield match[1] or match[2], match[1] is not None

    def reached(self, path):
        """All headers that PATH gets, those through others too: the system's and ours."""
        system, ours, left = set(), set(), [path]
        while left:
            for header, is_ours in self.includes(left.pop()):
                if not is_ours:
                    system.add(header)
                elif header in self.texts and header not in ours:
                    ours.add(header)
                    left.append(header)
        return system, ours


def allowed(folder, other):
    return other == folder or other in LAYERS.get(folder, ())


def wrong_include(tree, path, header, ours):
    """What is wrong with this include of PATH's, a line each."""
    folder = os.path.dirname(path)
    if header is None:
        yield f"{path}: {ours}: only headers are included, and by name"
        return
    if not ours:
        if re.search(r"(^|/)(libmalleable|policies|spank)/", header):
            yield f"{path}: <{header}> is ours: it stands in quotes"
        return
    other = os.path.dirname(header)
    if header not in tree.texts:
        yield f"{path}: {header} is no path from the top of the tree"
        return
    if path in PUBLIC and header not in PUBLIC:
        yield f"{path}: {header} is not installed, and it is"
    if not allowed(folder, other):
        yield f"{path}: {header}: {folder} does not include {other}"


def wrong_includes(tree):
    graph, arrows = {}, set()
    for path in tree.texts:
        folder = os.path.dirname(path)
        for header, ours in tree.includes(path):
            yield from wrong_include(tree, path, header, ours)
            if header in tree.texts and ours:
                arrows.add((folder, os.path.dirname(header)))
                if header[:-2] != path[:-2]:
                    graph.setdefault(path[:-2], set()).add(header[:-2])
    for folder, others in LAYERS.items():
        for other in sorted(others):
            if (folder, other) not in arrows:
                yield f"the table: {folder} may include {other}, and nothing of it does"
    for part, folders in PARTS.items():
        for folder, other in sorted(arrows):
            if folder not in folders and other in folders:
                yield f"{folder} includes {other}: it is the {part}'s, which may be left out"
    for what, ways in (("a circle", graph), ("the table: a circle", LAYERS)):
        for start in sorted(ways):
            for circle in circles(ways, start):
                yield f"{what}: " + " -> ".join(circle)


def wrong_names(tree):
    """Names that are used past the arrows, and declared away from who defines them."""
    for path, words in tree.words.items():
        folder = os.path.dirname(path)
        for name in sorted(words & tree.said.keys()):
            if not any(allowed(folder, os.path.dirname(header)) for header in tree.said[name]):
                yield f"{path}: {name} is {min(tree.said[name])}'s: {folder} does not include it"
        if path.endswith(".c"):
            if "extern" in words:
                yield f"{path}: extern is for headers"
        for name, body in tree.functions[path]:
            homes = tree.defined.get(name, {path})
            if path.endswith(".h"):
                homes = {os.path.dirname(home) for home in homes}
                if path not in ELSEWHERE and name in tree.defined and folder not in homes:
                    yield f"{path}: {name} is defined in {min(homes)}"
            elif not body and path not in homes:
                yield f"{path}: {name} is {min(homes)}'s: it has a header"


def wrong_writers(tree):
    """Modules of the controller that write the CPUs' words."""
    for path, text in tree.texts.items():
        found = WORDS.search(text)
        if found and path.startswith(CONTROLLER) and os.path.splitext(path)[0] != OWNERS:
            yield f"{path}: {found[0]}: {OWNERS} alone writes that"


def wrong_policies(tree):
    """What reaches past the policies' arguments."""
    ours = {name for text in tree.texts.values()
            for name in re.findall(r"^(?:static )?[a-z][\w \t\n*]*?\b(\w+)\(", text, re.MULTILINE)}
    ours |= tree.said.keys()
    for path, text in tree.texts.items():
        if not path.startswith("policies/"):
            continue
        system, headers = tree.reached(path)
        for header in sorted(header for header in system - PURE_HEADERS if header):
            yield f"{path}: <{header}> is not for policies"
        for header in sorted(headers):
            if header not in NARROW.get(os.path.dirname(header), {header}):
                yield f"{path}: {header} is not for policies"
        text = re.sub(r'"(?:[^"\\\n]|\\.)*"', "", text)
        called = set(re.findall(r"(?<![\w.>])([a-zA-Z_]\w*)\s*\(", text)) - set(MACRO.findall(text))
        for name in sorted(called - ours - KEYWORDS - PURE_CALLS):
            yield f"{path}: {name}() is not for policies"
        for name in LASTING.findall(text):
            if name not in GLOBALS.get(path, ()):
                yield f"{path}: {name}: policies keep nothing between calls but their state"


def wrong_files(tree):
    """Two files of one name, but a program's main and what is there without a part (no_prover)."""
    homes = {}
    for path in sorted(tree.texts):
        stem, kind = os.path.splitext(os.path.basename(path))
        if stem != "main" and not stem.startswith("no_"):
            homes.setdefault((stem, kind), []).append(path)
    for paths in homes.values():
        if len(paths) > 1:
            yield "one name for two files: " + " ".join(paths)


def offences(root):
    """What is wrong, a line each."""
    tree = Tree(root)
    for path in tree.others:
        yield f"{path}: neither a C file nor a header"
    for path in tree.texts:
        if os.path.dirname(path) not in LAYERS:
            yield f"{path}: {os.path.dirname(path)} is not in the table of layers"
    yield from wrong_files(tree)
    yield from wrong_includes(tree)
    yield from wrong_names(tree)
    yield from wrong_writers(tree)
    yield from wrong_policies(tree)


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
