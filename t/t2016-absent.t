#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A step whose ranks never came is not balanced: one line says so, where a user asked for it.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster

short=("$load" "--work=20,10" --iterations=2)
line='balance: no rank connected, nothing was balanced: LD_PRELOAD was overwritten, or '
# said N: on N lines, and no other line is ours.
said() {
	[ "$(grep -c "$line" "$work/err") $(grep -c balance: "$work/err")" = "$1 $1" ] ||
		{ echo "# not $1 lines"; false; }
}
# script NAME LINE...: a shell script.
script() { printf '%s\n' '#!/bin/sh' "${@:2}" >"$work/$1" && chmod 755 "$work/$1"; }

library=$(ldconfig -p | sed -n 's/.*libz\.so\.1 .*=> //p' | head -n1)
# shellcheck disable=SC2016 # the script expands it
script wrapper "export LD_PRELOAD=$library" 'exec "$@"'
script prolog "echo export LD_PRELOAD=$library"
run srun -n2 --balance "$work/wrapper" "${short[@]}"
ok "a wrapper overwrites LD_PRELOAD: one line" all_of "exits 0" "says ^elapsed" "said 1"
run srun -n2 --balance --task-prolog="$work/prolog" "${short[@]}"
ok "a task prolog overwrites LD_PRELOAD: one line" all_of "exits 0" "says ^elapsed" "said 1"
run srun -n2 --balance=lewi env -i true
ok "the environment is cleared: one line" all_of "exits 0" "said 1"
run env SLURM_BALANCE=lewi srun -n2 "$work/wrapper" true
ok "asked for by the environment" all_of "exits 0" "said 1"
# LD_PRELOAD is as it was: the programs had nothing for us.
none() {
	[ "$(grep -o "balance: .*" "$work/err")" = \
		"balance: nothing to balance: no task used MPI or OpenMP" ]
}
run srun -n2 --balance --balance-report="$work/none.json" true
ok "a program without MPI and OpenMP says so, with a file for the report too" \
	all_of "exits 0" none "[ ! -e $work/none.json ]"
run srun -n2 --balance hostname
ok "hostname says that there was nothing to balance" all_of "exits 0" none
run srun -n2 --balance python3 -c 'import os; os.system("exec hostname")'
ok "Python says that there was nothing to balance, also with another program in it" \
	all_of "exits 0" none
run srun -n2 --balance bash -c 'nowhere 2>/dev/null; hostname; hostname | cat; exec hostname'
ok "a script says that there was nothing to balance" all_of "exits 0" none
run srun -n2 --balance python3 -c 'import subprocess; subprocess.run(["true"], env={})'
ok "a program that starts one without us does not say that there was nothing" \
	all_of "exits 0" "said 1"

mpi=$(ldd "$load" | sed -n 's/.*=> \(.*libmpi\(ch\)\?\.so[^ ]*\) .*/\1/p' | head -n1)
cat >"$work/by-dlsym.py" <<'PY'
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
mpi.MPI_Finalize()
PY
run srun -n2 --balance python3 "$work/by-dlsym.py" "$mpi"
ok "a program that finds MPI by dlsym, as Julia's" all_of "exits 0" "said 1"
run srun -n2 --balance "$programs/omponly"
ok "with OpenMP ranks come, and one line says that no MPI calls intercepted" all_of "exits 0" \
	"[ \$(grep -c 'no MPI calls intercepted' $work/err) = 1 ]" \
	"silent_about 'no rank connected'"

run srun -n2 --balance false
ok "where the program fails it is not said that there was nothing" all_of "exits 1" "said 0"
run srun -n2 --balance "$work/nowhere"
ok "where the program does not start it is not said that there was nothing" all_of fails "said 0"
run srun -n2 --balance --balance-report=off true
ok "--balance-report=off says nothing" all_of "exits 0" "said 0"
run srun -n2 --balance=off true
ok "--balance=off says nothing" all_of "exits 0" "said 0"
echo "$(cat "$BALANCE_CLUSTER/plugstack.conf") default=auto" >"$BALANCE_CLUSTER/plugstack.conf"
run srun -n2 true
ok "who did not ask for balancing is not told that there was nothing" all_of "exits 0" "said 0"
# A job of one CPU: srun -n2 -c1 --overcommit alone waits for ever, from Slurm 24.11 on.
run salloc -Q -n1 srun -n2 --cpu-bind=none --overcommit --balance "${short[@]}"
ok "where ranks have said why they do not come nothing more is said" all_of "exits 0" \
	"complains '2 ranks share 1 CPU: .* runs unbalanced'" "silent_about 'no rank connected'"

# Libraries that this node has not: hidden by a mount that only these processes see.
file_of() { readlink -f "$(ldconfig -p | sed -n "s/.*$1 .*=> //p" | head -n1)"; }
cat >"$work/without" <<'SCRIPT'
#!/bin/bash
# without FILE COMMAND...
exec unshare -m bash -c 'mount --bind /dev/null "$0" && exec "$@"' "$@"
SCRIPT
chmod 755 "$work/without"
node=$(hostname -s)
libomp=$(file_of libomp.so.5)
none="libomp.so.5 cannot be loaded on $node: .*; install LLVM's libomp"
once() { [ "$(grep -c "^balance: $1" "$work/err")" = 1 ]; }
run srun -n2 -c1 --balance --balance-report="$work/report.json" "$work/without" "$libomp" \
	"$programs/patterns-gcc" plain 20
ok "a node without libomp: a line of the report tells of it" all_of "exits 0" "once \"$none\"" \
	"report_has '.absent == [\"libomp.so.5\"]'" "silent_about 'other processes or files'"
run srun -n2 -c1 --balance --balance-report=brief "$work/without" "$libomp" \
	"$programs/patterns-gcc" plain 20
ok "of the short one too" all_of "exits 0" "once \"$none\""
run srun -n2 -c1 --balance --balance-report="$work/report.json" "$programs/patterns-gcc" plain 20
ok "with libomp there is none" all_of "exits 0" "silent_about 'cannot be loaded'" \
	"report_has '.absent == []'"
${CC:-gcc} -O1 -fopenmp -w -DSCHEDULE -o "$work/gomp" "$srcdir/t/programs/gomp.c" || exit 1
run srun -n1 -c2 --balance "$work/without" "$libomp" "$work/gomp"
ok "one without MPI is no rank then: the line tells why" all_of "exits 0" "once \"$none\"" \
	"once 'no rank connected'"
run "$work/without" "$libomp" "$stage/bin/malleable" admin check
ok "malleable admin check tells it, and what to install" all_of "exits 1" \
	"complains 'libomp.so.5: cannot be loaded on this node: .*; install LLVM'" \
	"[ \$(wc -l <'$work/err') = 1 ]"
if built prover; then
	zydis=$(file_of 'libZydis\.so[.0-9]*')
	none="libZydis.so cannot be loaded on $node: .*; install Zydis"
	run env XDG_CACHE_HOME="$work/empty" srun -n2 -c1 --balance "$work/without" "$zydis" \
		"${short[@]}"
	ok "a node without Zydis likewise" all_of "exits 0" "once \"$none\""
else
	skip "a node without Zydis likewise" "configured without prover"
fi
if built seccomp; then
	run "$work/without" "$(file_of libseccomp.so.2)" "$stage/bin/malleable" admin check
	ok "malleable admin check names what malleabled is not loaded without" all_of "exits 1" \
		"complains '/malleabled: cannot be loaded on this node: .*libseccomp'"
else
	skip "malleable admin check names what malleabled is not loaded without" \
		"configured without seccomp"
fi

malleable() { run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" "$@"; }
malleable -- env -i true
ok "malleable run says it too" all_of "exits 0" "said 1"
malleable -- hostname
ok "malleable run says that there was nothing to balance" all_of "exits 0" none
malleable -- false
ok "malleable run says nothing of a command that fails" all_of "exits 1" "said 0"
ok "nothing is left" nothing_left
done_testing
