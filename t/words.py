#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""words.py [TREE]: identifiers of the product that use a word which doc/glossary.md replaces.

The table under "Replaced words" has one or more components of snake_case in its first column. An
identifier uses them if it has these components, whole and in that order. Prints one line for each
and file, and exits with 1 if there is any.
"""
import pathlib
import re
import sys

NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)


def replaced(page):
    section = page.split("\n## Replaced words\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z_]+) \| (.+) \|$", section, re.M)
    return {word: better for word, better in rows}


def main():
    tree = pathlib.Path(sys.argv[1] if sys.argv[1:] else ".")
    words = replaced((tree / "doc/glossary.md").read_text(encoding="utf-8"))
    if not words:
        sys.exit("words.py: doc/glossary.md replaces no words")
    found = False
    for folder in ("libmalleable", "policies", "spank"):
        for path in sorted((tree / folder).rglob("*.[ch]")):
            code = NOT_CODE.sub(" ", path.read_text(encoding="utf-8"))
            names = set(re.findall(r"[A-Za-z_]\w*", code)) | {path.stem}
            for name in sorted(names):
                for word, better in words.items():
                    if f"_{word}_" in f"_{name.lower()}_":
                        print(f"{path.relative_to(tree)}: {name}: {word} is now {better}")
                        found = True
    sys.exit(found)


main()
