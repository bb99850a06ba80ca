#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The walls of the architecture: who may include what. Files that a list lacks, the table of MPI
# calls against mpi.h. Licence lines. Lines of 100 columns at most.
. "$(dirname "$0")/lib.sh"
cd "$srcdir" || exit 1
plan 46

# includes DIRS PATTERN: files below DIRS (words) that include a header matching PATTERN.
# shellcheck disable=SC2086
includes() { grep -rlE "#include [<\"]($2)" $1 --include='*.[ch]'; }
none() { local found; found=$("$@"); [ -z "$found" ] || { echo "# $found"; false; }; }
unclean() {
	grep -lE '\bslurm_(error|info|verbose|debug)\(' "$srcdir"/spank/*.c |
		grep -v '/messages\.c$'
}
outside() { includes "spank libmalleable policies contrib t" "$1" | grep -vE "$2"; }

ok "<slurm/spank.h> is included by spank/plugin.h alone, slurm's own by version.h" \
	none outside 'slurm/' \
	'^(spank/((plugin|version)\.h|slurmctld_query\.c)|t/fuzz/comment\.c)$'
ok "lines from spank/ are cleaned: slurm_error and slurm_info are called by messages.c alone" none \
	unclean
ok "omp-tools.h is included by rank/ompt.c and the tests' tools alone" none outside 'omp-tools\.h' \
	'^(libmalleable/rank/ompt|t/bench/emptytool|t/unit/(rank_turns|test_ompt)|t/programs/record)\.c$'
ok "mpi.h is included by rank/mpi/, examples and tests alone" none outside 'mpi\.h' \
	'^(libmalleable/rank/mpi|contrib/examples|t)/'
ok "pmix.h is included by rank/pmix/pmix.c and its test alone" none outside 'pmix\.h' \
	'^(libmalleable/rank/pmix/pmix|t/unit/test_pmix)\.c$'
ok "folders include what t/layers.py says, and no two modules each other" none t/layers.py
# Each is planted alone: what is said of it, the file, what is added to its end.
planted() {
	local said file text tree=$work/tree missed=0
	while IFS='|' read -r said file text; do
		rm -rf "$tree" && mkdir "$tree" && cp -r libmalleable policies spank "$tree"
		mkdir -p "$tree/$(dirname "$file")"
		printf '%b\n' "$text" >>"$tree/$file"
		t/layers.py "$tree" >"$work/out" && missed=1
		grep -qF -- "$said" "$work/out" && continue
		echo "# $file with $text: not said: $said"
		missed=1
	done
	return $missed
}
watch=libmalleable/controller/state/watch.h load=libmalleable/controller/load
ok "t/layers.py finds includes against the layers, however they are written" planted <<EOF
rank does not include|libmalleable/rank/wait.c|#include "$watch"
rank includes libmalleable/prover/code: it is the prover's|libmalleable/rank/team.c|\
#include "libmalleable/prover/code/classify.h"
rank does not include|libmalleable/rank/wait.c|  #  include"$watch" // why
rank does not include|libmalleable/rank/wait.c|/* a */ #include /* b */ "$watch"
rank does not include|libmalleable/rank/wait.c|%:include "$watch"
rank does not include|libmalleable/rank/wait.c|#inc\\\\\\nlude "$watch"
policies does not include|policies/auto.c|#include "$watch"
is ours|libmalleable/rank/wait.c|#include <$watch>
is ours|libmalleable/rank/wait.c|#include <./$watch>
is no path|libmalleable/rank/wait.c|#include "../controller/state/watch.h"
is no path|libmalleable/rank/wait.c|#include "libmalleable/rank/../controller/state/watch.h"
is no path|libmalleable/controller/state/watch.c|#include "watch.h"
is no path|libmalleable/rank/wait.c|#include "config.h"
only headers|libmalleable/rank/wait.c|#define HEADER "$watch"\\n#include HEADER
only headers|libmalleable/rank/wait.c|#include_next "$watch"
only headers|libmalleable/rank/wait.c|#import "$watch"
only headers|libmalleable/rank/lend.c|#include "libmalleable/rank/lend.c"
not installed|policies/interface/policy.h|#include "policies/interface/attained.h"
not installed|libmalleable/malleable.h|#include "libmalleable/core/segment.h"
a circle: libmalleable/rank/phase -> |libmalleable/rank/phase.h|#include "libmalleable/rank/wait.h"
a circle: $load/plausibility -> |$load/plausibility.h|#include "$load/sampling.h"
EOF
ok "t/layers.py finds names that come by another header, or by none" planted <<'EOF'
mpi does not include it|libmalleable/rank/mpi/c.c|void *f = mal_segment_open;
mpi does not include it|libmalleable/rank/mpi/c.c|unsigned int nobody = MAL_NOBODY;
rank does not include it|libmalleable/rank/wait.c|void *f = mal_watch_start;
extern is for headers|libmalleable/rank/wait.c|void f(void) { extern int mal_x; mal_x = 0; }
it has a header|libmalleable/controller/step.c|void mal_watch_start(struct mal_controller *);
is defined in libmalleable/controller/state|libmalleable/rank/wait.h|int mal_watch_start(void);
EOF
ok "t/layers.py finds writes to what another module alone writes" planted <<'EOF'
cpus/owners alone|libmalleable/controller/cpus/idle.c|void f(mal_word *w) { mal_word_revoke(w); }
cpus/owners alone|libmalleable/controller/main.c|int f(struct x *x) { atomic_store(&x->target, 1); }
EOF
# constant HEADER STRUCT WRITE...: others than the module that writes it cannot.
constant() {
	local write header=$1 struct=$2
	for write in "${@:3}"; do
		! printf '#include "%s"\nvoid f(struct %s *c) { c->%s; }\n' "$header" "$struct" \
			"$write" | ${CC:-cc} -std=gnu11 -I. -I"$builddir" -fsyntax-only -xc - \
			2>"$work/err" && grep -q 'read-only\|const-qualified' "$work/err" || return
	done
}
controller=libmalleable/controller/state/controller.h
# controller_parts TREE: each part of the controller, and the module that stands beside it.
controller_parts() {
	sed -nE "s/^\tMAL_CONTROLLER_PARTS?\(\w+, (\w+)\);.*\/\* (.*\/)?(\w+)\.h.*/\1 \3/p" \
		"$1/$controller"
}
controller_elsewhere() {
	controller_parts "$1" | while read -r part module; do
		grep -rlw "${part}_own" "$1/libmalleable/controller" | grep -v "/$module\.[ch]$"
	done
}
mapfile -t writes < <(sed -nE 's/^\tMAL_CONTROLLER_PART\(\w+, (\w+)\);.*/\1 = c->\1/p
	s/^\tMAL_CONTROLLER_PARTS\(\w+, (\w+)\);.*/\1[0] = c->\1[0]/p' $controller)
ok "the controller's parts are constant elsewhere" all_of \
	"constant $controller mal_controller \"\${writes[@]}\"" "none controller_elsewhere ." \
	"[ \$(controller_parts . | wc -l) = ${#writes[@]} ]" "[ ${#writes[@]} -ge 16 ]"
state=libmalleable/rank/state/rank.h
# rank_parts TREE: each part of a rank, and the module that its comment names first.
rank_parts() {
	awk '/^\/\*/ {module = ""}
		!module && match($0, /[a-z_]+\.[ch]/) {module = substr($0, RSTART, RLENGTH - 2)}
		sub(/^struct mal_rank_/, "") {print $1, module}' "$1/$state"
}
elsewhere() {
	rank_parts "$1" | while read -r part module; do
		grep -rlw "${part}_own" "$1/libmalleable" | grep -v "/$module\.[ch]$"
	done
}
segment=libmalleable/core/segment.h
ok "what ranks ask for, and the hints of it, are constant but for request.c" all_of \
	"constant $segment mal_segment 'requests[0].since = 0' 'requests[0].word |= 1'" \
	"constant $segment mal_header borrowers++ free_cpus++"
mapfile -t writes < <(sed -nE 's/^\tMAL_PART\((.*)\);/\1 = c->\1/p' $state)
ok "a rank's parts are constant elsewhere" all_of "constant $state mal_rank \"\${writes[@]}\"" \
	"none elsewhere ." "[ \$(rank_parts . | wc -l) = ${#writes[@]} ]" "[ ${#writes[@]} -ge 22 ]"
rm -rf "$work/tree" && mkdir "$work/tree" && cp -r libmalleable "$work/tree"
echo 'void f(void) { mal.lend_own.lending = true; }' >>"$work/tree/libmalleable/rank/region.c"
echo 'static void f(void *to) { memset(&to->totals_own, 0, 1); }' \
	>>"$work/tree/libmalleable/controller/step.h"
ok "a module that writes another's part is found" [ \
	"$(elsewhere "$work/tree") $(controller_elsewhere "$work/tree")" = \
	"$work/tree/libmalleable/rank/region.c $work/tree/libmalleable/controller/step.h" ]
ok "t/layers.py finds policies that are not pure" planted <<'EOF'
<time.h> is not for policies|policies/model/model.c|#include <time.h>
<fcntl.h> is not for policies|policies/model/model.c|#include <fcntl.h>
<time.h> is not for policies|libmalleable/base/error.h|#include <time.h>
rundir.h is not for policies|libmalleable/core/spec.h|#include "libmalleable/core/rundir.h"
fopen() is not for policies|policies/lewi.c|void *f(void) { return fopen("x", "r"); }
calls: policies keep nothing|policies/lewi.c|static int calls;
calls: policies keep nothing|policies/lewi.c|int f(void) { static int calls = 0; return calls++; }
calls: policies keep nothing|policies/lewi.c|int calls = 0;
EOF
ok "each test that a source file's header names is there, and the controller's name one" none \
	t/named.py .
without_tests() {
	local tree=$work/tree
	rm -rf "$tree" && mkdir "$tree" && cp -r libmalleable "$tree"
	sed -i 's/leaves_rank_without/leaves_nobody/' "$tree/libmalleable/controller/planning.h"
	sed -i 's/t2010-/t2999-/' "$tree/libmalleable/rank/program/sanitizer.c"
	sed -i 's/Invariant:/So:/' "$tree/libmalleable/controller/ranks.h"
	t/named.py "$tree" | diff - <(
		echo "$tree/libmalleable/controller/planning.h: there is no leaves_nobody"
		echo "$tree/libmalleable/controller/ranks.h names no invariant and its test"
		echo "$tree/libmalleable/rank/program/sanitizer.c: there is no t/t2999-compatibility.t"
	)
}
ok "t/named.py finds a test that there is not, and a header that names none" without_tests
ok "each public function says what it does, in its header and in man 3, and a test calls it" none \
	t/public.py .
without_words() {
	local tree=$work/tree
	rm -rf "$tree" && mkdir -p "$tree/doc/man" "$tree/t" && cp -r libmalleable "$tree"
	cp doc/man/*.3.scd "$tree/doc/man" && cp -r t/unit t/programs "$tree/t"
	sed -i 's/^int malleable_poll(void);/&\nint malleable_new(int number);/
		s/^int malleable_cpus_owned(void);/\n&/' "$tree/libmalleable/malleable.h"
	t/public.py "$tree" | diff - <(
		echo "libmalleable/malleable.h: malleable_cpus_owned: no comment says what it does"
		echo "doc/man/malleable.3.scd: malleable_new: is not in SYNOPSIS"
		echo "doc/man/malleable.3.scd: malleable_new: nothing says what it does"
		echo "libmalleable/malleable.h: malleable_new: no test calls it"
	)
}
ok "t/public.py finds functions of which nothing is said" without_words
ok "t/layers.py finds files and folders that have no layer" planted <<'EOF'
spank/new is not in the table|spank/new/new.c|int x;
neither a C file nor a header|libmalleable/rank/lend.inc|int x;
EOF
ok "t/layers.py finds two files of one name" planted <<'EOF'
one name for two files: libmalleable/controller/step.h spank/step.h|spank/step.h|int x;
EOF
# shared: names that two fixtures of unit tests declare.
shared() {
	sed -nE 's/^[a-z].*[ *]([a-z_]+)\(.*/\1/p; s/^#define ([A-Z_]+).*/\1/p;
		s/^struct ([a-z_]+) \{/\1/p' "$1"/t/unit/*.h | sort | uniq -d
}
ok "no two fixtures share a name" none shared .
mkdir -p "$work/fixtures/t" && cp -r t/unit "$work/fixtures/t"
echo 'void node_close(struct node_controller *);' >"$work/fixtures/t/unit/new.h"
ok "a name that two fixtures share is found" [ "$(shared "$work/fixtures")" = node_close ]
# A file that no Makefile names is not built and not in the tarball; a policy that is not in the
# table is not known.
unlisted() {
	# Of some examples and unit tests it is the program that is named.
	sed 's/[[:space:]]/\n/g; s/:$//' Makefile.am {contrib/examples,doc,t}/Makefile.am.inc |
		sed -E '/^(contrib\/examples|t\/unit)\/[a-z_]*$/s/$/.c/' >"$work/listed"
	find libmalleable policies spank contrib doc t \
		\( -path t/stage -o -path t/fuzz -o -path t/inspect -o -path contrib/package \) \
		-prune \
		-o -type f -regex '.*\.\([ch]\|cc\|[fF]90\|t\|py\|sh\|md\|scd\|map\)' -print |
		sort | grep -vxFf "$work/listed" | sed 's/$/ is in no Makefile/'
}
ok "each file is named in Makefile.am or in a Makefile.am.inc" none unlisted
unregistered() {
	local file name
	for file in policies/*.c; do
		name=mal_policy_$(basename "$file" .c)
		grep -q "&$name\b" policies/interface/registry.c ||
			echo "$name is not in policies/interface/registry.c"
	done
}
ok "each policy is in the table of policies" none unregistered
mkdir "$work/lists"
(cd "$work/lists" && cp -r "$srcdir"/{libmalleable,policies,spank,contrib,doc,t,Makefile.am} . &&
	touch policies/new.c && { unlisted; unregistered; } >"$work/found")
ok "a file that no list has is found" [ "$(cat "$work/found")" = \
	"policies/new.c is in no Makefile
mal_policy_new is not in policies/interface/registry.c" ]

# unpinned TREE: members of structs that processes of two builds share whose offset is nowhere said.
unpinned() {
	local core=$1/libmalleable/core
	cat "$core"/{segment,outcome,handover}.h >"$work/pins"
	sed -nE 's/^\tX\(([a-z_]+),.*/mal_counters \1/p' "$core/counters.h" >"$work/members"
	awk '/^struct mal_[a-z_]+ \{$/ {name = $2}
		/^\};$/ {name = ""}
		name && name != "mal_segment" && !/^\t *[/*]/ && sub(/;.*/, "") {
			sub(/alignas\([A-Z_]*\) /, ""); gsub(/\[[^]]*\]/, "")
			sub(/^\t(const )?(_Atomic |struct )?[a-z_0-9]+ /, ""); print name, $0
		}' "$core"/{segment,outcome,handover}.h >>"$work/members"
	while read -r name members; do
		for member in ${members//,/ }; do
			grep -q "($name, $member, " "$work/pins" || echo "$name.$member"
		done
	done <"$work/members"
}
ok "the layout of what processes of two builds share is written down" all_of "none unpinned ." \
	"[ \$(wc -l <'$work/members') -gt 100 ]"
rm -rf "$work/tree" && mkdir "$work/tree" && cp -r libmalleable "$work/tree"
sed -i 's/^\tuint64_t magic;/&\n\tuint32_t a, b;/' "$work/tree/libmalleable/core/segment.h"
sed -i 's/^\tX(lends/\tX(naps, EVENT, "naps", "") \\\n&/' "$work/tree/libmalleable/core/counters.h"
ok "members whose place is not written down are found" [ "$(unpinned "$work/tree" | paste -sd,)" = \
	"mal_counters.naps,mal_header.a,mal_header.b" ]
uncompiled() {
	! ${CC:-cc} -I"$work/tree" -I"$builddir" -fsyntax-only \
		"$work/tree/libmalleable/core/segment.c" 2>"$work/err"
}
ok "another layout without another version does not compile" all_of uncompiled \
	"complains 'mal_counters has another layout.* increment MAL_SEGMENT_VERSION, then mend'"

# The table of MPI calls: who passes on too few arguments breaks programs, and nothing else tells.
calls_of() {
	"$1" -E -P "$work/mpi.c" 2>"$work/err" |
		t/calls.py "$2/blocking_calls.h" "$2/sized_calls.h"
}
echo '#include <mpi.h>' >"$work/mpi.c"
compilers=()
for compiler in "$(command -v mpicc.openmpi || command -v mpicc)" "$(command -v mpicc.mpich)"; do
	[ -z "$compiler" ] || compilers+=("$compiler")
done
tables=libmalleable/rank/mpi
differs() { for compiler in "${compilers[@]}"; do calls_of "$compiler" $tables; done; }
printf '%s\n' 'WAIT(Send, send, 5)' 'OVER(Bcast, bcast, 5, 3)' >"$work/sized_calls.h"
printf '%s\n' 'BEGIN(Ibarrier, barrier, 2, 0, 1)' 'TEXT(File_open, file_open, 5, 2)' \
	>"$work/blocking_calls.h"
if [ ${#compilers[@]} -gt 0 ]; then
	ok "the table of MPI calls fits mpi.h" none differs
	calls_of "${compilers[0]}" "$work" >"$work/out"
	ok "t/calls.py finds wrong numbers, positions and names" all_of \
		"says 'it has 6 arguments'" \
		"says 'position 3 is not the one'" "says 'its Fortran name is ibarrier'" \
		"says 'it has 1 texts'" "[ \$(wc -l <'$work/out') = 4 ]"
else
	skip "the table of MPI calls fits mpi.h" "no mpicc"
	skip "t/calls.py finds wrong numbers, positions and names" "no mpicc"
fi

# What doc/design.md names: files, by the end of their path, and functions.
unnamed() {
	find libmalleable policies spank t -type f >"$work/paths"
	grep -ohE '`[a-zA-Z0-9_/-]+\.(c|h|py|pml|t)`' "${1:-doc/design.md}" | tr -d '`' | sort -u |
		grep -v '/NAME' | while read -r name; do
		grep -qE "(^|/)${name//./\\.}\$" "$work/paths" || echo "no file $name"
	done
	grep -ohE '`(mal|balance)_[a-z_]+\(\)`' "${1:-doc/design.md}" | tr -d '`()' | sort -u |
		while read -r name; do
			grep -rqE "^[a-z].*\b$name\(" libmalleable policies spank ||
				echo "no function $name()"
		done
}
ok "files and functions that the design names are there" none unnamed
# shellcheck disable=SC2016 # as the page has them
printf '%s\n' '`core/no.c`, `core/segment.c`, `mal_no()` and `mal_map()`' >"$work/page.md"
ok "files and functions that are not there are found" \
	[ "$(unnamed "$work/page.md" | sort | paste -sd,)" = \
		"no file core/no.c,no function mal_no()" ]

# unnamed_variables PAGE: variables that the product sets in users' environments, and PAGE lacks.
unnamed_variables() {
	{
		grep -ohE '"MALLEABLE_[A-Z_]+"' libmalleable/core/env.h
		grep -ohE '\.agent = "[A-Za-z_]+"' libmalleable/core/launcher_table.c
		grep -ohE '(setenv\(|set\(env, )"[A-Z_]+"' libmalleable/core/setup.c \
			libmalleable/rank/program/gomp_variables.c
		grep -ohE '\{"[A-Za-z_]+", "[0-9]", false' libmalleable/rank/mpi/start.c
	} | grep -oE '"[A-Za-z_]+"' | tr -d '"' | sort -u >"$work/variables"
	while read -r name; do
		grep -qF "*$name*" "$1" || echo "$name"
	done <"$work/variables"
}
ok "balance(7) names each variable that is set" all_of \
	"none unnamed_variables doc/man/balance.7.scd" "[ \$(wc -l <'$work/variables') -gt 25 ]"
sed 's/[*]PRTE_MCA_odls[a-z_]*[*]//' doc/man/balance.7.scd >"$work/page.scd"
ok "a variable that balance(7) lacks is found" [ "$(unnamed_variables "$work/page.scd")" = \
	PRTE_MCA_odls_base_exec_agent ]

ok "each message of reports, ranks and the plugin has its row in troubleshooting.md" \
	none t/messages.py
rm -rf "$work/tree" && mkdir -p "$work/tree/doc" && cp -r libmalleable policies spank "$work/tree"
mkdir "$work/tree/contrib" && cp -r contrib/python "$work/tree/contrib"
# shellcheck disable=SC2016 # as the page has it
sed 's/`balanced as it is`/`balanced as it was`/' doc/troubleshooting.md \
	>"$work/tree/doc/troubleshooting.md"
messages_found() { t/messages.py "$work/tree" | sed 's/.*: //' | paste -sd,; }
ok "a message without row is found, and a row without a message" [ "$(messages_found)" = \
	"no row for 'balanced as it is',no message has 'balanced as it was'" ]

ok "no identifier uses a word that the glossary replaces" none t/words.py
# The table of another glossary, and code with and without its words.
mkdir -p "$work/words"/{doc,spank,policies,libmalleable}
printf '%s\n' '' '## Replaced words' '| old | new |' '| two_old | new |' \
	>"$work/words/doc/glossary.md"
printf '%s\n' '/* old */ int old_x, older, MAL_OLD; char *s = "old"; int a_two_old;' \
	>"$work/words/spank/x.c"
words_found() { t/words.py "$work/words" | sed 's/.*c: //; s/: .*//' | sort -u | paste -sd,; }
ok "t/words.py finds whole words in code alone" [ "$(words_found)" = MAL_OLD,a_two_old,old_x ]

licence() {
	local missing
	missing=$(find configure.ac Makefile.am spank libmalleable policies contrib t doc -type f \
		-regex '.*\.\([ch]\|t\|sh\|f90\|inc\|am\|scd\|ac\)' -print0 |
		xargs -0 grep -L 'SPDX-License-Identifier: LGPL-2.1-or-later')
	[ -z "$missing" ] || { echo "# $missing"; false; }
}
ok "every source file names its licence" licence

# Where the model says which functions it is of, these are in those files.
corresponds() {
	local file function found=0
	while read -r file function; do
		found=$((found + 1))
		grep -qE "(^|[ *])$function\(" libmalleable/*/"$file" \
			libmalleable/*/*/"$file" 2>/dev/null ||
			{ echo "# $file has no $function" && return 1; }
	done < <(grep -oE '[a-z_]+\.[ch]: [a-z_]+(, [a-z_]+)*' t/model/protocol.pml |
		awk '{file = $1; sub(":", "", file); for (i = 2; i <= NF; i++) {
			sub(",", "", $i); print file, $i}}')
	[ "$found" -ge 30 ] || { echo "# only $found functions" && return 1; }
}
ok "the functions that the model names are there" corresponds

# Lines of more than 100 columns, a tab counting 8. A string is left whole where it has the line to
# itself, with what opens it and a backslash; the others that may be wider are in t/wide-lines.
wide() {
	local file
	for file; do
		grep -qx "$file" t/wide-lines || expand -t 8 "$file" | awk -v file="$file" '
			length() <= 100 {next}
			/^ *(-[a-z]+ |[a-z_]+=|ok |echo |skip )?"([^"\\]|\\.)*"( \\)?$/ {next}
			/^ *(-[a-z]+ |[a-z_]+=|ok |echo |skip )?\047[^\047]*\047( \\)?$/ {next}
			{print "# " file ":" FNR ": " length() " columns"}'
	done
}
files() { find spank libmalleable policies contrib doc t -type f "$@" | sort; }
mapfile -t shell < <(files -name '*.sh' && scripts_of '(ba|busybox )?sh')
mapfile -t python < <(files -name '*.py' && scripts_of python3)
mapfile -t automake < <(ls Makefile.am configure.ac && files -name '*.inc')
ok "no line of shell has more than 100 columns" none wide "${shell[@]}"
ok "no line of Python has more than 100 columns" none wide "${python[@]}"
mapfile -t c < <(files -name '*.[ch]' && files -name '*.cc')
ok "no line of C has more than 100 columns" none wide "${c[@]}"
ok "no line of Automake has more than 100 columns" none wide "${automake[@]}"
# Tables are as wide as they are.
wide_text() {
	LC_ALL=C.UTF-8 grep -nP '^(?! *\|).{101,}' ./*.md {doc,doc/notes,t,t/inspect}/*.md \
		contrib/examples/*.md libmalleable/prover/*.md
}
ok "no line of Markdown but in tables has more than 100 columns" none wide_text
printf '\t%093d\n' 0 >"$work/wide"
ok "a line of 101 columns is found" [ "$(wide "$work/wide")" = "# $work/wide:1: 101 columns" ]
