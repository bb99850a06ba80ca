#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""typed.py [--blocks] PAGE [SECTION]: what a page has its reader type, one command a line.

Behind each, one a line with a tab before it, is what the page shows of its output. Commands are:
- each line of a block "sh", or of an indented one; what its comment has in quotes is output;
- what is behind "$ " in a block "console"; the other lines are output;
- outside of blocks (not with --blocks), what is in backquotes and begins with such a program's
  name: three words or more, or what is a whole command with less.
A block "sh root" is for machines that may be changed: "root: " stands before its commands. Lines
"balance: " in a block "text" are output of any report: the command is "report". A block of any
other language has no command, and none is without a language.
"""
import re
import sys

PROGRAM = re.compile(r"(\w+=\S+ )*(srun|sbatch|mpirun|malleable(-\w+)?|man|apt|rpmbuild|useradd"
                     r"|(build/)?t/bench/\w+) ")
WHOLE = re.compile(r"malleable (status|top|policies)$|malleable-\w+ [A-Z]+$|export \w+=\S+$"
                   r"|contrib/(demo|check|matrix|debian|package/try)\b")


def blocks(text):
    """Pairs of a language and lines: None for what is outside, "sh" for indented lines."""
    language, lines = None, []
    for line in text.split("\n"):
        fence = re.match("```(.*)", line)
        indented = "sh" if line.startswith("    ") else None
        if fence or (language in (None, "sh-indented") and bool(indented) != bool(language)):
            yield (language or "").replace("-indented", ""), lines
            inside = language not in (None, "sh-indented")
            if fence and not inside and not fence.group(1):
                sys.exit(f"typed.py: a block has no language, before: {lines[-1:]}")
            language = None if fence and inside else fence.group(1) if fence else \
                "sh-indented" if indented else None
            lines = [] if fence else [line]
        else:
            lines.append(line)
    yield language or "", lines


def typed(lines, prefix):
    for line in lines:
        command, _, comment = line.strip().partition("  # ")
        if command:
            yield prefix + command.strip(), re.findall(r'"([^"]*)"', comment)


def console(lines):
    for part in re.split(r"^\$ ", "\n".join(lines), flags=re.M)[1:]:
        first, *shown = part.split("\n")
        yield first, [line for line in shown if line]


def spans(lines):
    for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", "\n".join(lines)):
        span = " ".join(span.split())
        if WHOLE.match(span) or (PROGRAM.match(span) and span.count(" ") > 1):
            yield span, []


def commands(text, blocks_alone):
    for language, lines in blocks(text):
        if language in ("sh", "sh root"):
            yield from typed(lines, "root: " if "root" in language else "")
        elif language == "console":
            yield from console(lines)
        elif language == "text":
            yield from (("report", [line]) for line in lines if line.startswith("balance: "))
        elif not language and not blocks_alone:
            yield from spans(lines)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--blocks"]
    with open(arguments[0], encoding="utf-8") as page:
        text = page.read()
    if arguments[1:]:
        text = re.search(rf"^## {arguments[1]}\n.*?(?=^## |\Z)", text, re.S | re.M).group()
    for command, shown in commands(text, "--blocks" in sys.argv):
        print("\n\t".join([command] + shown))


main()
