#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a page of malleable-report, and prints what is asked for; exits with 1 where the page is
not well-formed, refers to anything outside, or has scripts other than those that it allows.

Usage: t/page.py PAGE check | table CLASS | lanes NAME
table: the cells of each table of that class, a row a line; lanes: the cells of that picture.
"""
import base64
import gzip
import hashlib
import html.parser
import json
import re
import sys

ALONE = {"meta", "br"}
SCRIPTS = ["figures", "library", ""]
OUTSIDE = re.compile(r"https?:|//|url\(|@import|<(link|img|iframe|object|embed|base)\b"
                     r"|\b(src|href|srcset|action|on[a-z]+)\s*=", re.IGNORECASE)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tables, self.scripts, self.policy = [], {}, [], ""
        self.row = self.cell = None

    def handle_starttag(self, tag, attributes):
        if dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes)["content"]
        if tag in ALONE:
            return
        self.open.append(tag)
        name = dict(attributes).get("class", "")
        if tag == "table":
            self.table = self.tables.setdefault(name, [])
        elif tag == "tr":
            self.row = []
        elif tag in ("td", "th"):
            self.cell = ""
        elif tag == "script":
            self.scripts.append([dict(attributes).get("id", ""), ""])

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            sys.exit(f"line {self.getpos()[0]}: </{tag}> closes nothing")
        if tag == "tr":
            self.table.append(self.row)
        elif tag in ("td", "th"):
            self.row.append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        elif self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data


def hash_of(script):
    return "'sha256-" + base64.b64encode(hashlib.sha256(script).digest()).decode() + "'"


def check_scripts(page):
    if [name for name, _ in page.scripts] != SCRIPTS:
        sys.exit(f"scripts: {[name for name, _ in page.scripts]}")
    library, script = (text for _, text in page.scripts[1:])
    library = gzip.decompress(base64.b64decode(library))
    wanted = ("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src "
              f"{hash_of(script.encode())} {hash_of(library)}")
    if page.policy != wanted:
        sys.exit(f"it allows {page.policy}, not {wanted}")


def cells(pictures, name):
    for picture in pictures:
        for part in picture["data"]:
            if part["name"] != name:
                continue
            for row, values in zip(part["y"], part["z"]):
                for begin, end, value in zip(part["x"], part["x"][1:], values):
                    if value is not None:
                        yield f"{row}: {value:g}, {begin:.2f} s to {end:.2f} s"


def main():
    path, what = sys.argv[1:3]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = Page()
    page.feed(text)
    page.close()
    if page.open:
        sys.exit(f"not closed: {page.open}")
    check_scripts(page)
    text = re.sub(r"(<script[^>]*>).*?</script>", r"\1", text, flags=re.DOTALL)
    text = text.replace(page.policy, "")
    outside = OUTSIDE.search(text)
    if outside:
        sys.exit(f"it refers to something outside: {text[outside.start():outside.end() + 40]}")
    if what == "table":
        for row in page.tables[sys.argv[3]]:
            print(*row)
    elif what == "lanes":
        print(*cells(json.loads(page.scripts[0][1]), sys.argv[3]), sep="\n")


main()
