#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The report as JSON: what doc/report.schema.json says, its keys as the manual has them, and
# efficiencies whose product is the whole.
. "$(dirname "$0")/lib.sh"
need mpi clang
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# validate FILE: what the schema says of it, on standard error; nothing if it is as it must be.
validate() {
	python3 - "$srcdir/doc/report.schema.json" "$1" <<-'END' 2>"$work/err"
		import json, sys
		import jsonschema
		schema, report = (json.load(open(path)) for path in sys.argv[1:])
		jsonschema.Draft7Validator.check_schema(schema)
		jsonschema.validate(report, schema)
	END
}

# Rank 1 has no work.
begin "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance=observe \
	--balance-report="$work/report.json" -- mpirun -n 2 "$load" --work=15,0 --iterations=2 \
	--until="$work/stop"
has_six() {
	"$stage/bin/malleable" status --here --json 2>/dev/null | jq -e '.[0].windows > 5' \
		>"$work/said" 2>&1
}
wait_until has_six
ended
ok "the report has a tree of efficiencies" all_of "exits 0" \
	"complains 'parallel efficiency [0-9.]+ %.* = MPI .* x OpenMP '" \
	"complains '  MPI = load balance .* x communication '" \
	"complains '  OpenMP = serial parts .* x regions '"
near='def near(a; b): (a - b) | fabs < 1e-6;'
ok "each is the product of what is below it" all_of \
	"report_has '$near .efficiency | near(.parallel; .mpi.parallel * .openmp.parallel)'" \
	"report_has '$near .efficiency.mpi | near(.parallel; .load_balance * .communication)'" \
	"report_has '$near .efficiency.openmp | near(.parallel; .serial * .regions)'"
if full; then
	ok "ranks that wait for each other are a bad load balance, and regions are not" report_has \
		'.efficiency.mpi.load_balance < 0.9 and .efficiency.openmp.parallel > 0.9'
fi
ok "the report says what ran, when, and what came of it" all_of \
	"report_has '(.command[-1] | startswith(\"--until=\")) and (.command[0] | endswith(\"load\"))'" \
	"report_has '(now - (.timestamp | fromdate)) | fabs < 600'" \
	"report_has '.uid == $(id -u) and .job == null'" \
	"grep -qF \"balance: \$(report .verdict)\" '$work/err'"
ok "the report has the same under TALP's keys, times in ns" all_of \
	"report_has '$near near(.Application.Global.parallelEfficiency; .efficiency.parallel)'" \
	"report_has '.Application.Global.elapsedTime | . > 0 and . <= 1e9 * $(report .elapsed_s)'" \
	"report_has '.Application.Global | .ompSerializationEfficiency == .ompCoverageEfficiency'" \
	"report_has '.Application.Global | .numOmpParallels > 0 and .numMpiCalls == null'" \
	"report_has '.Application.Global | .usefulTime > 0 and .usefulTime < .elapsedTime * .numCpus'" \
	"report_has '.dlbVersion == \"3.8\" and .resources.numMpiRanks == 2'"

# On four cores of their own: rank 1 has one thread on two CPUs, which works as long as both of rank
# 0's.
one_idle() {
	run "$builddir/t/node/node" --cores=4 --per-rank=2 -- "$stage/bin/malleable" run \
		--libdir "$stage/lib/malleable" --balance=observe \
		--balance-trace="$work/idle.trace" --balance-report="$work/idle.json" -- \
		"${mpirun[@]}" -n 2 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] ||
			export OMP_NUM_THREADS=1; exec "$@"' sh \
		"$load" --work=20,10 --regions=4 --iterations=20
}
of_idle() { jq -e "$1" "$work/idle.json" >/dev/null; }
one_idle
ok "the CPU of a thread that does not exist is told" all_of "exits 0" \
	"of_idle '[.per_cpu[].busy_s] | length == 4 and min < 0.3 * max'" \
	"of_idle '.cpu_balance as \$is | [.per_cpu[].busy_s] | add / 4 / max - \$is | fabs < 1e-6'" \
	"complains 'busy CPUs .mean/max.: [0-9.]* %; CPU [23] was busy for [0-9]*[.]'"
# On a busy machine the time between regions is longer.
if full; then
	ok "one idle thread of four is a CPU balance of 75 %" of_idle \
		'.cpu_balance - 0.75 | fabs < 0.02'
fi
ok "all CPUs together were busy for as long as the ranks worked, within 1 %" \
	of_idle '([.per_cpu[].busy_s] | add) / (.Application.Global.usefulTime / 1e9) - 1 |
		fabs < 0.01'

jq -c 'del(.busy, .borrowed)' "$work/idle.trace" >"$work/owners.trace"
size() { stat -c %s "$1"; }
ok "its trace has each window's part of that, and is at most twice as large for it" all_of \
	"jq -s -e '[.[] | select(.type == \"window\") | .busy | length == 4 and min < 20 and
		max > 500] | length > 2 and (map(select(.)) | length) * 2 > length' \
		'$work/idle.trace' >'$work/said'" \
	"[ $(size "$work/idle.trace") -le $((2 * $(size "$work/owners.trace"))) ]"

# Where the rank's memory is: each rank looks, on a machine of any nodes.
run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance=observe,pages=yes \
	--balance-report="$work/pages.json" --balance-trace="$work/pages.trace" -- \
	"${mpirun[@]}" -n 2 "$load" --iterations=10
ok "pages=yes tells where memory is" all_of "exits 0" \
	"complains '^balance: memory: (all of it is on|it is on the|rank [01] has|the system does)'" \
	"jq -e '.per_rank | all(.memory == null or (.memory | map(.pages_part) | add) > 0.99)' \
		'$work/pages.json' >'$work/said'" \
	"jq -e '.per_rank | all(.memory == null)' '$work/pages.json' >'$work/said' ||
		grep -q '\"pages\":\[[01],' '$work/pages.trace'" \
	"of_idle '.per_rank | all(.memory == null)'"

# Too short for a window: one region, one collective call.
: >"$work/now"
run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance=observe \
	--balance-report="$work/short.json" -- "${mpirun[@]}" -n 2 "$programs/outside" serial \
	"$work/now"
of_short() { jq -e "$1" "$work/short.json" >/dev/null; }
ok "efficiencies are of the whole of a run that no window measured, too" all_of "exits 0" \
	"complains 'parallel efficiency [0-9.]+ %'" \
	"of_short '.measured | .windows > 0 or .hybrid_efficiency == null'" \
	"of_short '.efficiency.parallel > 0 and .Application.Global.usefulTime > 0'"
of_named='def named(name): .regions[] | select(.name == name);'
ok "named regions are in the report, one that lasted to the end, too" all_of \
	"of_short '$of_named named(\"outside\") | .runs == 1 and .ranks == 2 and .elapsed_s > 0.01'" \
	"of_short '$of_named named(\"all\").elapsed_s > named(\"outside\").elapsed_s'" \
	"of_short '$of_named named(\"all\").efficiency.parallel > 0'" \
	"of_short '.Application.all.elapsedTime > 0 and .regions[0].name == \"all\"'" \
	"complains 'region outside: 1 run, [0-9.]+ of [0-9.]+ s: parallel efficiency '"

# outside BALANCE HOW [PROGRAM]: most of the time rank 0 is outside MPI and regions.
outside() {
	begin "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance="$1" \
		--balance-report="$work/outside.json" --balance-trace="$work/outside.trace" -- \
		"${mpirun[@]}" -n 2 \
		"${3:-$programs/outside}" "$2" "$work/stop"
	wait_until has_six
	ended
}
of_outside() { jq -e "$1" "$work/outside.json" >/dev/null; }
waits() {
	all_of "exits 0" "says '^right$'" \
		"complains 'waits outside MPI [0-9.]+ %, in rank 0 [0-9.]+ %: for GPUs, files'" \
		"of_outside '.per_rank[0] | .outside_s > 0 and .outside_s <= .serial_s + 0.001'" \
		"of_outside '.measured.outside_part > 0'" \
		"of_outside '$of_named named(\"outside\") | .outside_part > 0'"
}
outside observe pipe
ok "a rank that waits for another process waits outside MPI, also if it is only observed" waits
in_trace() {
	jq -s -e '[.[] | select(.type == "window").ranks[].regions] | any(.outside[0] > 0.01) and
		any(.all[1] > 0)' "$work/outside.trace" >/dev/null
}
ok "what ranks did in named regions is in the trace" in_trace
outside auto serial
ok "a rank that computes alone does not wait outside MPI" all_of "exits 0" "says '^right$'" \
	"! complains 'waits outside MPI'"
device=$work/device
opencl() {
	OMPI_CC=$clang MPICH_CC=$clang mpicc -fopenmp -O1 -DOPENCL -I"$srcdir" -o "$device" \
		"$srcdir/t/programs/outside.c" -l:libOpenCL.so.1 2>"$work/cc"
}
# Also of a library that has versions.
binds() {
	LD_PRELOAD=$stage/lib/malleable/libmalleable.so:$stage/lib/malleable/libmalleable_mpi.so \
		LD_BIND_NOW=1 LD_DEBUG=bindings "$device" 2>&1 |
		grep -q 'device .* to .*/libmalleable_mpi.so .*clFinish.*OPENCL_1.0'
}
if opencl; then
	ok "calls that wait for a device are seen" binds
else
	skip "calls that wait for a device are seen" "no OpenCL"
fi
if [ -x "$device" ] && "$device"; then
	outside auto device "$device"
	ok "one that waits for a device by OpenCL does" waits
else
	skip "one that waits for a device by OpenCL does" "no OpenCL with a CPU"
fi
talp() {
	python3 -c 'import pathlib, sys
from talp_pages.io.dataframe_handling import load_talp_json_df
from talp_pages.common import TALP_METRIC_TO_NAME_MAP as metrics
frame = load_talp_json_df(pathlib.Path(sys.argv[1]))
print([frame[key][0] for key in metrics if key.startswith(("mpi", "omp"))])' "$1" 2>"$work/err"
}
if python3 -c 'import talp_pages' 2>/dev/null; then
	jq 'del(.Application.Global.mpiLoadBalanceOut)' "$work/report.json" >"$work/wrong.json"
	ok "TALP-Pages reads it" all_of "talp '$work/report.json' >/dev/null" \
		"talp '$work/short.json' >/dev/null" "! talp '$work/wrong.json'"
else
	skip "TALP-Pages reads it" "no talp-pages of PyPI"
fi
jq -r '[paths | map(select(type == "string")) | last // empty] | unique[]' "$work/report.json" |
	grep -vxE 'auto|lewi|sabo' >"$work/keys"
"$srcdir/doc/man/expand" "$srcdir/libmalleable/core/counters.h" \
	"$srcdir/doc/man/malleable-report.5.scd" >"$work/page"
undescribed() {
	local key
	while read -r key; do
		grep -q "_${key}_" "$work/page" ||
			echo "# malleable-report(5) lacks $key"
	done <"$work/keys" | grep .
}
ok "the manual has each of its $(wc -l <"$work/keys") keys" \
	all_of "[ \$(wc -l <'$work/keys') -gt 60 ]" "! undescribed"
if python3 -c 'import jsonschema' 2>/dev/null; then
	ok "it is as the schema says" all_of "validate '$work/report.json'" \
		"validate '$work/short.json'"
	jq 'del(.efficiency.mpi.load_balance)' "$work/report.json" >"$work/wrong1"
	jq '.per_rank[1].mode = "other"' "$work/report.json" >"$work/wrong2"
	ok "the schema finds a key that is gone, and a wrong word" \
		all_of "! validate '$work/wrong1'" "complains load_balance" \
		"! validate '$work/wrong2'" "complains other"
else
	skip "it is as the schema says" "no python3-jsonschema"
	skip "the schema finds a key that is gone, and a wrong word" "no python3-jsonschema"
fi
done_testing
