#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a page of malleable report, and prints what is asked for; exits with 1 where the page is
not well-formed or refers to anything outside.

Usage: t/page.py PAGE check | table CLASS | lanes CLASS
table: the cells of each table of that class, a row a line; lanes: the tooltips of that figure.
"""
import html.parser
import re
import sys
import xml.etree.ElementTree

ALONE = {"meta", "br"}
OUTSIDE = re.compile(r"https?:|//|url\(|@import|<(script|link|img|iframe|object|embed|base)\b"
                     r"|\b(src|href|srcset|action|on[a-z]+)\s*=", re.IGNORECASE)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tables, self.figures = [], {}, {}
        self.row = self.cell = self.figure = self.title = None

    def handle_starttag(self, tag, attributes):
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
        elif tag == "figure":
            self.figure = self.figures.setdefault(name, [])
        elif tag == "title" and self.figure is not None:
            self.title = ""

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
        elif tag == "figure":
            self.figure = None
        elif tag == "title" and self.title is not None:
            self.figure.append(self.title)
            self.title = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        elif self.title is not None:
            self.title += data


def main():
    path, what = sys.argv[1:3]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = Page()
    page.feed(text)
    page.close()
    if page.open:
        sys.exit(f"not closed: {page.open}")
    for picture in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        xml.etree.ElementTree.fromstring(picture)
    outside = OUTSIDE.search(text)
    if outside:
        sys.exit(f"it refers to something outside: {text[outside.start():outside.end() + 40]}")
    if what == "table":
        for row in page.tables[sys.argv[3]]:
            print(*row)
    elif what == "lanes":
        print(*page.figures[sys.argv[3]], sep="\n")


main()
