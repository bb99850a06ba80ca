#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# malleable-report: a page that is well-formed, needs nothing beside itself, and has the figures of
# malleable replay; looked at in a real browser where there is one.
. "$(dirname "$0")/lib.sh"
need_tools

malleable=$stage/bin/malleable
PATH=$stage/bin:$tools:$PATH
report() { run malleable-report "$@"; }
page() { python3 "$srcdir/t/page.py" "$@"; }
generate=$builddir/t/bench/generate
"$generate" --ranks=4 --cpus=3 --windows=60 drift "$work/drift"
"$malleable" replay "$work/drift" >"$work/replayed"
report "$work/drift"
ok "a page is made beside the trace" all_of "exits 0" "says 'drift.html: open it in a browser'" \
	"[ -s '$work/drift.html' ]"
ok "it is well-formed and needs nothing from elsewhere" page "$work/drift.html" check
sed '/^.*<h1>/s|<h1>|<h1><img src=x>|' "$work/drift.html" >"$work/wrong.html"
ok "a reference to elsewhere is found" all_of "! page '$work/wrong.html' check 2>'$work/err'" \
	"complains 'outside|closes nothing'"
sed -n '/^policy/,$p' "$work/replayed" | sed 's/predicted s/predicted-s/; s/to off/to-off/' |
	awk '{$1 = $1} 1' >"$work/wanted"
page "$work/drift.html" table policies |
	sed 's/predicted s/predicted-s/; s/to off/to-off/' >"$work/got"
ok "each policy's figures are those of malleable replay" all_of "[ \$(wc -l <'$work/got') = 5 ]" \
	"diff '$work/wanted' '$work/got'"
work_of() {
	jq -s --argjson rank "$1" '[.[] | select(.type == "window").ranks[] |
		select(.rank == $rank).work_s] | add * 1000 | round' "$work/drift"
}
ranks_agree() {
	local rank shown
	for rank in 0 1 2 3; do
		shown=$(page "$work/drift.html" table ranks |
			awk -v r=$rank '$1 == r {print $4 * 1000}')
		[ "$shown" = "$(work_of $rank)" ] || return 1
	done
}
ok "the work of each rank is that of the trace" ranks_agree

# A trace made by hand: CPUs move from one rank to the other after a second, with a gap behind it.
window='{type: "window", at_s: $at, elapsed_s: 1, owner: $owner,
	ranks: [range(2) as $r | ($owner | map(select(. == $r)) | length) as $cpus | {rank: $r,
		elapsed_s: 1, work_s: ($cpus * 0.5), serial_s: 0, mpi_s: 0.5, barrier_s: 0,
		region_s: 0.1, cpus: $cpus, most: 0, team: 1, phases: 1}]}'
window() { jq -nc --argjson at "$1" --argjson owner "$2" "$window"; }
{
	jq -nc '{type: "step", version: 1, step: "<b>7.0", node: "a&b", policy: "auto\u0007\"",
		ranks: 2, cpus: [0, 1, 2, 3], l3: [0, 0, 0, 0], numa: [0, 0, 0, 0],
		package: [0, 0, 0, 0]}'
	window 1 '[0, 0, 0, 1]'
	window 3 '[0, 1, 1, 1]'
} >"$work/moved"
report -o "$work/moved.html" "$work/moved"
page "$work/moved.html" lanes cpus >"$work/lanes"
ok "each rank's CPUs are where they were, when they were" all_of "exits 0" \
	"diff '$work/lanes' - <<-END
	rank 0: 3, 0.00 s to 1.00 s
	rank 0: 1, 2.00 s to 3.00 s
	rank 1: 1, 0.00 s to 1.00 s
	rank 1: 3, 2.00 s to 3.00 s
	END"
page "$work/moved.html" lanes owners >"$work/lanes"
ok "each CPU's ranks are in the page" all_of "[ \$(wc -l <'$work/lanes') = 8 ]" \
	"grep -qx 'CPU 1: 0, 0.00 s to 1.00 s' '$work/lanes'" \
	"grep -qx 'CPU 1: 1, 2.00 s to 3.00 s' '$work/lanes'"
page "$work/moved.html" lanes work >"$work/lanes"
ok "each rank's work is in the page" grep -qx 'rank 1: 1.5, 2.00 s to 3.00 s' "$work/lanes"
ok "the efficiencies are in it" grep -q '<b class="communication">50.0 %</b>' "$work/moved.html"
ok "names in a page are text" all_of "page '$work/moved.html' check" \
	"grep -qF 'Step &lt;b&gt;7.0 on a&amp;b' '$work/moved.html'" \
	"grep -qF 'auto?&quot;' '$work/moved.html'"
report -o - "$work/drift" "$work/moved"
ok "several traces are compared" all_of "exits 0" \
	"[ \$(page '$work/out' table runs | wc -l) = 3 ]" "says 'Runs compared'"
"$generate" --ranks=130 --cpus=1 --windows=200 random "$work/large"
report --policy=off -o "$work/large.html" "$work/large"
size=$(stat -c %s "$work/large.html")
ok "a page of many ranks is bounded (130 ranks, 200 windows: $((size >> 10)) KiB)" \
	all_of "exits 0" "[ $size -lt 5000000 ]" "page '$work/large.html' check"

cd "$work" || exit 1
{
	head -n1 moved
	echo '{"type": "window", "elapsed_s": 5e-324, "owner": [0, 0, 0, 1], "ranks": []}'
} >instant
report -o - instant
ok "what cannot be divided is no number" all_of "exits 0" "! says '[>-]nan|[>-]inf'" \
	"[ \"\$(page '$work/out' table policies | sed -n 2p | xargs)\" = 'off 0.000 - - 0' ]"
mkdir theirs && cp drift theirs/drift
if [ "$(id -u)" = 0 ]; then
	chown 65534 theirs
	report --policy=off theirs/drift
	ok "root writes no page into a directory of others, unless told to" all_of "exits 1" \
		"complains 'name the page with -o: theirs/drift is in a directory of others'" \
		"[ ! -e theirs/drift.html ]"
else
	skip "root writes no page into a directory of others, unless told to" "needs root"
fi

cp drift recording && mv drift.html shown.html && cp drift drift.html
for names in "-o drift drift" "-o ./drift moved drift" "drift drift.html"; do
	# shellcheck disable=SC2086 # words are wanted
	refuses report 2 "cannot write the page to .*: it is the input; name another file" $names
done
ok "no page is written over a trace" all_of "cmp drift recording" "cmp drift.html recording"
echo '<!DOCTYPE html><html lang="en"></html>' >theirs.html
report --policy=off -o again.html drift
ok "a page is written" exits 0
report --policy=off -o again.html drift
ok "over a page of its own" exits 0
report --policy=off -o theirs.html drift
ok "no page of others is written over" all_of "exits 1" "grep -q '^.*></html>\$' theirs.html" \
	"complains 'theirs.html: malleable did not write the file there; name another'"
refuses report 2 "the following arguments are required: TRACE"
refuses report 2 "give 1 to 64 traces" $(seq 65)
refuses report 2 "unknown policy .nonsense.: .*see malleable-report --help$" --policy=nonsense drift
refuses report 1 "cannot read .*: No such file" "$work/absent"
refuses report 1 "cannot write the page to /dev/null/x" -o /dev/null/x.html "$work/drift"

mkdir alone && ln -s "$tools/malleable-report" alone/
run env PATH="$work/alone:/usr/bin:/bin" malleable-report -o - drift
ok "without malleable, all but its replay is there" all_of "exits 0" \
	"says 'no command <code>mall'" \
	"says 'class=.verdict.>[0-9.]+ s were recorded. Load balance [0-9.]+ %, parallel'" \
	"[ \"\$(page '$work/out' table ranks | wc -l)\" = 5 ]" "page '$work/out' check"
run env PATH="$work/alone:/usr/bin:/bin" malleable-report -o - --policy=off drift
ok "which is said where policies are named" all_of "exits 1" "complains 'no command malleable'"
run env PATH="$stage/bin:/usr/bin:/bin" malleable report drift
ok "malleable report names what does it now" all_of "exits 1" "[ ! -s '$work/out' ]" \
	"complains '^malleable report: malleable-report .*: pip install /.*/share/malleable/python$'"
run env PATH="$tools:/usr/bin:/bin" "$stage/bin/malleable" report -o - drift
ok "its replay is its own where PATH has none" all_of "exits 0" \
	"[ \"\$(page '$work/out' table policies | wc -l)\" = 5 ]"
run malleable report -o - drift
ok "malleable report runs what does it now where it is" all_of "exits 0" "page '$work/out' check"

# picture PAGE OPTION...: in the browser, to $work/picture.png; its log to $work/log.
picture() {
	rm -f "$work/picture.png"
	timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
		--user-data-dir="$work/chromium" --window-size=1100,1400 --enable-logging=stderr \
		--virtual-time-budget=30000 "${@:2}" --screenshot="$work/picture.png" \
		"file://$1" >"$work/log" 2>&1
	[ -s "$work/picture.png" ]
}
# corner: the colour of the picture's first pixel.
corner() {
	python3 - "$work/picture.png" <<-'END'
		import struct, sys, zlib
		data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
		while at < len(data):
		    length, = struct.unpack(">I", data[at:at + 4])
		    if data[at + 4:at + 8] == b"IDAT":
		        packed += data[at + 8:at + 8 + length]
		    at += length + 12
		print(*zlib.decompress(packed)[1:4])
	END
}
quiet() { ! grep -q CONSOLE "$work/log" || { grep CONSOLE "$work/log" | sed 's/^/# /'; false; }; }
# drawn: three pictures of cells, and lines; no button that sends them anywhere.
drawn() {
	timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu \
		--virtual-time-budget=30000 --user-data-dir="$work/chromium" \
		--dump-dom "file://$1" 2>/dev/null |
		sed 's,<script.*</script>,,' >"$work/dom"
	all_of "[ \$(grep -o 'class=\"hm\"' '$work/dom' | wc -l) = 3 ]" \
		"grep -q 'class=\"js-line\"' '$work/dom'" \
		"[ \$(grep -o 'data-title=' '$work/dom' | wc -l) = 6 ]" \
		"! grep -qi 'cloud\|share' <(grep -o 'data-title=[^>]*' '$work/dom')"
}
# with_script PAGE SCRIPT: its text, with another script, which may do all.
with_script() {
	sed -e '/Content-Security/,/">$/d' -e "s|</body>|<script>$2</script></body>|" "$1"
}
# width PAGE: what a window of 400 pixels has to show of it. A window of the browser's has 500 at
# least; a frame has not, and tells it.
width() {
	local tell='document.documentElement.scrollWidth'
	tell="setTimeout(() => parent.postMessage($tell, '*'), 9000)"
	with_script "$1" "$tell" >"$work/framed.html"
	cat >"$work/frame.html" <<-'END'
		<!DOCTYPE html><title>none</title><iframe src="framed.html" width="400"></iframe>
		<script>onmessage = told => document.title = told.data</script>
	END
	timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu \
		--virtual-time-budget=30000 --user-data-dir="$work/chromium" \
		--dump-dom "file://$work/frame.html" 2>/dev/null |
		sed -n 's/.*<title>\([^<]*\).*/\1/p'
}
# What tells how busy each CPU was, too.
with_busy() { jq -c 'if .owner then .busy = [.owner | keys[] | . * 331 % 1001] else . end' "$1"; }
with_busy moved >used
malleable-convert --to=svg used >used.log
# opens PAGE: its last picture is drawn less than 5 s after the browser began to read it.
opens() {
	local drawn='document.querySelector(".js-line")' pid ms
	drawn="setInterval(() => {if ($drawn) console.log('drawn', performance.now())}, 50)"
	with_script "$1" "$drawn" >"$work/opened.html"
	timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu --remote-debugging-port=0 \
		--user-data-dir="$work/chromium" --enable-logging=stderr \
		"file://$work/opened.html" >"$work/log" 2>&1 &
	pid=$!
	wait_until grep -q '"drawn [0-9]' "$work/log"
	kill $pid
	wait $pid
	ms=$(sed -n 's/.*"drawn \([0-9]*\).*/\1/p;T;q' "$work/log")
	echo "# $ms ms"
	[ "$ms" -lt 5000 ]
}
if command -v chromium >/dev/null; then
	ok "a browser shows it without a complaint" all_of "picture '$work/shown.html'" quiet \
		"[ \"\$(corner)\" = '255 255 255' ]"
	ok "its pictures are drawn" drawn "$work/shown.html"
	report --policy=off -o several.html "$work/drift" "$work/moved" "$work/drift"
	ok "a narrow window shows all without scrolling sideways" \
		[ "$(width "$work/several.html")" -le 400 ]
	ok "dark where the user has it dark" all_of \
		"picture '$work/shown.html' --blink-settings=preferredColorScheme=0" quiet \
		"[ \"\$(corner)\" = '22 22 22' ]"
	ok "a picture alone is light or dark, too" all_of "picture '$work/used.svg'" \
		"[ \"\$(corner)\" = '255 255 255' ]" \
		"picture '$work/used.svg' --blink-settings=preferredColorScheme=0" \
		"[ \"\$(corner)\" = '22 22 22' ]"
	if full; then
		"$generate" --ranks=64 --cpus=4 --windows=2000 drift many
		with_busy many >many.used
		report --policy=off -o many.html many.used
		ok "a page of 256 CPUs and 2,000 windows opens in less than 5 s" \
			opens "$work/many.html"
	fi
else
	skip "a browser shows it without a complaint" "no chromium"
	skip "its pictures are drawn" "no chromium"
	skip "a narrow window shows all without scrolling sideways" "no chromium"
	skip "dark where the user has it dark" "no chromium"
	skip "a picture alone is light or dark, too" "no chromium"
fi
done_testing
