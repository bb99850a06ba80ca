/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* html.c: a page of HTML that needs nothing beside itself. */
#include "libmalleable/cmd/html.h"

/*
 * The scale is cividis (Nunez, Anderton, Renslow: Optimizing colormaps with consideration for color
 * vision deficiency, PLOS ONE 2018), lines have colours of Okabe and Ito, and differ in their
 * dashes too.
 */
static const char style[] =
	":root{color-scheme:light dark;--paper:#fff;--ink:#1a1a1a;--faint:#767676;--rule:#d0d0d0;"
	"--line0:#0072b2;--line1:#d55e00;--line2:#007a5a}\n"
	"@media(prefers-color-scheme:dark){:root{--paper:#161616;--ink:#e8e8e8;--faint:#a0a0a0;"
	"--rule:#444;--line0:#56b4e9;--line1:#e69f00;--line2:#00c08b}}\n"
	"body{font:15px/1.45 system-ui,sans-serif;background:var(--paper);color:var(--ink);"
	"max-width:64rem;margin:2rem auto;padding:0 1rem}\n"
	"h1{font-size:1.5rem}h2{font-size:1.25rem;margin-top:2.5rem}h3{font-size:1rem}\n"
	"table{border-collapse:collapse;margin:.5rem 0}\n"
	"th,td{padding:.15rem .8rem .15rem 0;text-align:right;border-bottom:1px solid var(--rule);"
	"font-variant-numeric:tabular-nums}\n"
	"th:first-child,td:first-child{text-align:left}\n"
	"p.note,figcaption{color:var(--faint);max-width:46rem;margin:.3rem 0}\n"
	"figure{margin:1rem 0;break-inside:avoid}svg{width:100%;height:auto;display:block}\n"
	"svg text{font-size:11px;fill:var(--ink)}svg .in{fill:#fff;text-anchor:middle}\n"
	"svg .dark{fill:#111}svg .axis{stroke:var(--faint);fill:none}\n"
	"svg .l0,svg .l1,svg .l2{fill:none;stroke-width:1.6}\n"
	"svg .l0{stroke:var(--line0)}svg .l1{stroke:var(--line1);stroke-dasharray:7 3}\n"
	"svg .l2{stroke:var(--line2);stroke-dasharray:2 3}\n"
	".c0{fill:#00224e}.c1{fill:#123570}.c2{fill:#3b496c}.c3{fill:#575d6d}.c4{fill:#707173}\n"
	".c5{fill:#8a8678}.c6{fill:#a59c74}.c7{fill:#c3b369}.c8{fill:#e1cc55}.c9{fill:#fee838}\n"
	"ul.tree{list-style:none;padding-left:1.4rem;margin:.2rem 0}\n"
	"ul.tree b{display:inline-block;min-width:4.5rem;font-variant-numeric:tabular-nums}\n"
	"@media print{:root{--paper:#fff;--ink:#000;--faint:#444;--rule:#bbb}"
	"body{max-width:none;margin:0}svg,rect{print-color-adjust:exact;"
	"-webkit-print-color-adjust:exact}h2{break-before:page}h2:first-of-type{break-before:auto}}"
	"\n";

void mal_html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc((unsigned char)*text < ' ' ? '?' : *text, out); break;
		}
	}
}

void mal_html_begin(FILE *out, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	      out);
	mal_html_text(out, title);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
	mal_html_text(out, title);
	fputs("</h1>\n", out);
}

void mal_html_end(FILE *out)
{
	fputs("</body>\n</html>\n", out);
}
