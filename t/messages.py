#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""messages.py [TREE]: messages without a row in doc/troubleshooting.md, and rows without a message.

Messages are the texts with two words in a row in what reports, ranks and the plugin print
(SOURCES). A quotation of that page is of a message if it is part of it, or has its longest part
between conversions; numbers and words for what differs (OPEN) are as conversions. A message that
tells what to try needs none. A quotation in the first column of a table of messages is stale if no
text of the product has any of it, unless the row names who prints it: (from NAME). Prints a line
for each, and exits with 1 if there is any.
"""
import pathlib
import re
import sys

SOURCES = """
libmalleable/controller/report/*.c libmalleable/core/others.h libmalleable/core/absent.c
libmalleable/core/file_claim.c libmalleable/core/launch.c libmalleable/core/segment.c
libmalleable/base/output.c libmalleable/cmd/join.c libmalleable/cmd/launcher_group.c
libmalleable/cmd/rendezvous.c libmalleable/rank/*.c libmalleable/rank/*/*.c spank/balanced_step.c
spank/entries.c spank/job_cpus.c spank/launchers.c spank/sharers.c spank/site_reports.c
spank/slurmctld_client.c spank/task.c
""".split()
CODE = "libmalleable policies spank contrib/python".split()
TABLES = re.compile(r"^\| (line|the report|message)( \(.*\))? \|")
OPEN = re.compile(r"\b([A-Z]|PATH|FILE|NAME|NODE|REGION|WHY|CPUS|LIBDIR|DIRECTORY|SOCKET|KEY"
                  r"|\d[\d.]*)\b|\.\.\.")
CONVERSION = re.compile(r"%[-+ 0#]*[\d*]*(\.[\d*]+)?(hh|h|ll|l|z)?[diouxXeEfgGcsp]|\{[^{}]*\}")
# Assembly, a script, a usage.
NO_MESSAGE = re.compile(r"\\t|^\.|^jmp|IFS|^PROGRAM")


def opened(text):
    return OPEN.sub("#", text).strip("# :;,()")


def strings(path):
    """The texts of C or Python, those one after the other joined, conversions as #."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.S)
    for group in re.finditer(r'"(\\.|[^"\\\n])*"(\s*f?"(\\.|[^"\\\n])*")*', text):
        joined = re.sub(r'(?<!\\)"\s*f?"', "", group[0])[1:-1]
        joined = joined.replace(r"\n", " ").replace(r"\"", '"').replace("%%", "\0")
        yield opened(CONVERSION.sub("#", joined).replace("\0", "%"))


def quotations(page):
    """Each in the page, and if it is in the first column of a table of messages, that column."""
    table = False
    for line in re.sub(r"(?<!\|)\n(?![|\n])", " ", page).split("\n"):
        table = bool(TABLES.match(line)) or (table and line.startswith("|"))
        first = re.split(r"(?<!\\) \| ", line)[0] if table else ""
        for match in re.finditer(r"``(.+?)``|`([^`]+)`", line):
            yield opened(match[1] or match[2]), first if match.end() <= len(first) else ""


def is_of(quote, text):
    longest = max((part.strip(" ,:;()") for part in text.split("#")), key=len)
    return any(len(part) > 7 and " " in part and part in whole
               for part, whole in ((longest, quote), (quote, text)))


def main():
    tree = pathlib.Path(sys.argv[1] if sys.argv[1:] else ".")
    page = (tree / "doc/troubleshooting.md").read_text(encoding="utf-8")
    quoted = list(quotations(page))
    found = []
    for path in sorted(path for pattern in SOURCES for path in tree.glob(pattern)):
        found += [f"{path.relative_to(tree)}: no row for '{text}'" for text in strings(path)
                  if re.search("[a-z]{2} [a-z]", text) and not NO_MESSAGE.search(text)
                  and "try " not in text and not any(is_of(quote, text) for quote, _ in quoted)]
    texts = [text for folder in CODE for path in (tree / folder).rglob("*")
             if path.suffix in (".c", ".h", ".py") for text in strings(path) if " " in text]
    found += [f"doc/troubleshooting.md: no message has '{quote}'" for quote, first in quoted
              if first and " " in quote and "(from " not in first
              and not any(is_of(quote, text) for text in texts)]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))


main()
