#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Wrong usage of every program: one line that names the program and its help, and the status.
. "$(dirname "$0")/lib.sh"

malleable=$stage/bin/malleable
lib=$stage/lib/malleable
commands=(run status top set admin replay inspect policies)
programs=(malleabled malleable-join malleable-policy malleable-slurm malleable-store)

# refused STATUS TEXT COMMAND...: one line, which has TEXT, and nothing on standard output.
failed() { echo "# ${*:2}: $1"; sed 's/^/#   /' "$work/err"; return 1; }
refused() {
	local wanted=$1 text=$2
	shift 2
	run "$@"
	[ "$status" = "$wanted" ] || failed "exit status $status, not $wanted" "$@" || return
	[ "$(wc -l <"$work/err")" = 1 ] || failed "not one line" "$@" || return
	[ ! -s "$work/out" ] || failed "something on standard output" "$@" || return
	grep -q -- "^$text" "$work/err" || failed "no '$text'" "$@"
}
# usage NAME TEXT COMMAND...: it is refused as wrong usage of NAME.
usage() { refused 2 "$1: $2.*, see $1 --help\$" "${@:3}"; }

each() {
	local command result=0
	for command in "${commands[@]}"; do
		"$1" "$command" || result=1
	done
	return $result
}
unknown() { usage "malleable $1" "unknown option --nonsense" "$malleable" "$1" --nonsense=1; }
letter() { usage "malleable $1" "unknown option -x" "$malleable" "$1" -x; }
help_takes() { usage "malleable $1" "option --help takes no value" "$malleable" "$1" --help=me; }
helps() {
	local option
	for option in --help -h; do
		run "$malleable" "$1" $option
		all_of "exits 0" "says '^Usage: malleable $1'" "[ ! -s $work/err ]" || return
	done
	cp "$work/out" "$work/help"
	run "$malleable" help "$1"
	all_of "exits 0" "cmp -s $work/out $work/help"
}
tells_version() {
	local option
	for option in --version -V; do
		run "$malleable" "$1" $option
		all_of "exits 0" "says '^malleable $1 [0-9.]+$'" || return
	done
}
ok "each command refuses an unknown option" each unknown
ok "an unknown letter" each letter
ok "a value where none is allowed" each help_takes
ok "each command helps, and so does malleable help" each helps
ok "each command tells its version" each tells_version

ok "malleable -V tells the version" \
	all_of "run $malleable -V" "exits 0" "says '^malleable [0-9.]+$'"
ok "malleable help lists the commands" all_of "run $malleable help" "exits 0" "says ' status '"
ok "malleable help of no command" refused 2 "malleable: unknown command 'x', see malleable --help" \
	"$malleable" help x
ok "malleable help of two" refused 2 "malleable help: give one command" "$malleable" help run top
ok "an unknown command" refused 2 "malleable: unknown command 'x', see" "$malleable" x
ok "an unknown option" refused 2 "malleable: unknown option '--x', see" "$malleable" --x
ok "a factor for deadlines that is none" refused 2 \
	"malleable: MALLEABLE_PATIENCE=0: must be a number from 1 to 1000, see malleable(1)" \
	env MALLEABLE_PATIENCE=0 "$malleable" status

needs_value() {
	local each
	for each in "run --home" "set --cpus" "admin --file" "replay --cores" \
		"policies --libdir"; do
		usage "malleable ${each% *}" "option ${each#* } needs a value" \
			"$malleable" "${each% *}" "${each#* }" || return
	done
}
ok "an option without its value" needs_value
many() {
	local each
	for each in "status a b" "top a b" "set a b --free" "admin off on" "replay a b" \
		"policies a"; do
		# shellcheck disable=SC2086 # words are wanted
		usage "malleable ${each%% *}" "" "$malleable" $each || return
	done
}
ok "an argument too many" many
few() {
	local each
	for each in run set admin replay $(! built prover || echo inspect) "set x"; do
		# shellcheck disable=SC2086 # words are wanted
		usage "malleable ${each%% *}" "" "$malleable" $each || return
	done
}
ok "an argument too few" few
ok_with prover "inspect: no file" usage "malleable inspect" "" "$malleable" inspect
no_number() {
	local each
	for each in "top --watch=x" "replay --cores=x f" "replay --cores=0 f" \
		"replay --cores=1x f" "status --watch=0" "run --balance=auto,max_threads=x true"; do
		# shellcheck disable=SC2086 # words are wanted
		usage "malleable ${each%% *}" "" "$malleable" $each || return
	done
}
ok "what is no number" no_number
ok "an abbreviation of two options" usage "malleable replay" "option --p is ambiguous" \
	"$malleable" replay --p x

cd "$work" || exit 1
: >empty
mkdir dir
echo '{"a' >truncated
head -c 100 "$malleable" >part
# wrong_file COMMAND...: each file that is none of its.
wrong_file() {
	local file
	for file in empty dir truncated part nofile; do
		refused 1 "malleable $1: .*$file: ..*" "$malleable" "$@" "$file" || return
	done
}
ok "replay: a file that is no trace" wrong_file replay
ok_with prover "inspect: a file that is no program" wrong_file inspect
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$work"
	echo x >secret && chmod 600 secret
	users_read
	unread() {
		local each
		for each in replay $(! built prover || echo inspect); do
			# shellcheck disable=SC2086 # words are wanted
			refused 1 "malleable ${each%% *}: .*secret: Permission denied" \
				setpriv --reuid=65534 --regid=65534 --clear-groups \
				"$stage/bin/malleable" $each secret || return
		done
	}
	ok "a file that we may not read" unread
else
	skip "a file that we may not read" "not root"
fi
# The tools for analysts: what argparse tells is one line too, and names the tool.
tool() {
	local name
	for name in report convert acct; do "$1" "malleable-$name" || return; done
}
tool_usage() { usage "$1" "$2" "$tools/$1" "${@:3}"; }
tool_refuses() {
	tool_usage "$1" "" && tool_usage "$1" "" --nonsense && tool_usage "$1" "" --hel
}
tool_helps() {
	run "$tools/$1" --help
	all_of "exits 0" "says '^usage: $1 '" "[ ! -s $work/err ]" || return
	run "$tools/$1" -V
	all_of "exits 0" "says '^$1 $version$'"
}
tool_files() {
	local file
	for file in empty truncated part; do
		refused 1 "$1: $file: ..*" "$tools/$1" "${@:2}" "$file" || return
	done
	for file in dir nofile; do
		refused 1 "$1: cannot read $file: ." "$tools/$1" "${@:2}" "$file" || return
	done
}
no_directory() { refused 1 "malleable-acct: cannot read $1: ." "$tools/malleable-acct" "$1"; }
version=$("$malleable" --version | cut -d ' ' -f 2)
if [ -x "$tools/malleable-report" ]; then
	ok "the tools for analysts refuse what they do not know" tool tool_refuses
	ok "they help, and tell their version" tool tool_helps
	ok "report: a file that is no trace" tool_files malleable-report
	ok "convert: a file that is no trace" tool_files malleable-convert --to=csv
	ok "acct: a file that is no directory" all_of "no_directory empty" "no_directory nofile"
	ok "a page that cannot be written" all_of \
		"cp $srcdir/t/recorded.trace trace" \
		"refused 1 'malleable-report: cannot write the page to' \
			$tools/malleable-report -o /dev/null/x trace"
else
	skip "the tools for analysts" "needs contrib/prepare's Python"
fi
elsewhere() {
	refused 1 "malleable $1: malleable-$1 does this, and cannot be run: pip install /" \
		env PATH=/dev/null "$malleable" "$1" x
}
ok "malleable names them where they are not" all_of "elsewhere report" "elsewhere convert" \
	"elsewhere acct"
run env PATH=/dev/null "$malleable" help
ok "malleable tells how tools for analysts are installed, not that they are there" \
	all_of "exits 0" \
	"says 'analysts .report, convert, acct, try.: pip install /'" \
	"! says '^  (report|convert|acct|try) '"
mkdir -p home/bin && printf '#!/bin/sh\nenv\n' >home/bin/malleable-acct
chmod 755 home/bin/malleable-acct
isolated() {
	run env PATH="$PWD/home/bin:$PATH" HOME="$1" PYTHONPATH=theirs PYTHONHOME=theirs \
		PYTHONWARNINGS=theirs "$malleable" acct x
	all_of "exits 0" "! says '^PYTHON.*theirs'" "says '^PYTHONSAFEPATH=1$'"
}
ok "one that is there is listed" all_of \
	"run env PATH='$PWD/home/bin' '$malleable' help" "says '^  acct '" "! says '^  report '"
ok "Python gets nothing of the environment's, nor of the home of who runs it" all_of \
	"isolated /dev/null/none" "says '^PYTHONNOUSERSITE=1$'" \
	"isolated /" "says '^PYTHONNOUSERSITE=1$'" \
	"isolated '$PWD/ho'" "says '^PYTHONNOUSERSITE=1$'"
ok "Python is started where the tool itself is there" \
	all_of "isolated '$PWD/home'" "! says '^PYTHONNO'"

internal_help() {
	local program option
	for program in "${programs[@]}"; do
		for option in --help -h; do
			run "$lib/$program" $option
			all_of "exits 0" "says '^Usage: $program '" || return
		done
		for option in --version -V; do
			run "$lib/$program" $option
			all_of "exits 0" "says '^$program [0-9.]+$'" || return
		done
	done
}
ok "the programs that Slurm starts help and tell their version" internal_help
internal_wrong() {
	local program
	for program in "${programs[@]}"; do
		usage "$program" "" "$lib/$program" --nonsense || return
		usage "$program" "" "$lib/$program" || return
	done
	usage malleabled "--life-fd x: must be a number" "$lib/malleabled" --life-fd x &&
		usage malleable-slurm "give JOB" "$lib/malleable-slurm" 1x &&
		usage malleable-store "give USER GROUP FILE" "$lib/malleable-store" 0 x /f
}
ok "the programs that Slurm starts refuse what they do not know" internal_wrong

scripts() {
	local name wanted
	for name in analyze apart check cluster coverage debian demo prepare vm slurm-epilog; do
		wanted=2
		# Its other statuses are those of commands in the machine.
		[ $name != vm ] || wanted=125
		refused $wanted "$name: .*, see .*--help\$" "$srcdir/contrib/$name" --nonsense ||
			return
		for option in --help -h; do
			run "$srcdir/contrib/$name" $option
			all_of "exits 0" "says ^Usage" || return
		done
	done
}
ok "scripts help and refuse what they do not know" scripts

mutants() { "$srcdir/contrib/mutants" --list "$@" policies; }
parts() { mutants --count 3 && mutants --skip 3 --count 2; }
in_parts() { [ "$(parts)" = "$(mutants --count 5)" ]; }
ok "contrib/mutants draws in parts what it draws at once" in_parts
places() { "$srcdir/contrib/mutants" --table --list >/dev/null; }
ok "each place of t/mutants.tsv is where that has it" places

# A Slurm that does not answer, and none.
mkdir bin
printf '#!/bin/sh\necho "srun: error: a" >&2\necho "srun: fatal: b" >&2\nexit 1\n' >bin/srun
chmod 755 bin/srun
ok "malleable status of a job, where Slurm does not answer" \
	refused 1 "malleable status: job 99: fatal: b" \
	env PATH="$work/bin:$PATH" "$malleable" status 99
ok "malleable status of a job, where there is no srun" \
	refused 1 "malleable status: no balanced step 99 .* on this node" \
	env PATH=/dev/null "$malleable" status 99
ok "malleable status --watch of a step ends with it" \
	refused 1 "malleable status: no balanced step me.0 " "$malleable" status --watch=1 me.0
said_twice() { [ "$(cat "$work/out" "$work/err" | grep -c 'no balanced step')" -ge 2 ]; }
watches() {
	begin "$malleable" status --watch=1
	wait_until said_twice
	local result=$?
	kill "$step"
	wait "$step" 2>/dev/null
	return $result
}
if ls /run/malleable/sockets/* >/dev/null 2>&1; then
	skip "malleable status --watch of the node does not end with a step" "steps run here"
else
	ok "malleable status --watch of the node does not end with a step" watches
fi

# The example of doc/trace.md is what its command prints.
example=$(sed -n '/^\$ build.t.bench.generate/,/^```/p' "$srcdir/doc/trace.md" | sed '$d')
read -r -a made <<<"$(head -n1 <<<"$example")"
run "$builddir/t/bench/generate" "${made[@]:2}"
run "$malleable" replay --topology="pack:2 numa:1 l3:8 core:3 pu:1" trace
ok "the guide's replay is what is printed" all_of "exits 0" \
	"diff <(sed 1,2d <<<\"\$example\") $work/out"
done_testing
