#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every variable that libgomp's manual names, and those of libomp alone, empty, odd and beyond all
# bounds: a program for libgomp has the settings that libgomp would have given it, on libomp, or on
# libgomp where libomp might make something else of them; and ends in no other way.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster
${CC:-gcc} -O1 -fopenmp -w -DPLAIN -o "$work/settings" "$srcdir/t/programs/settings.c" || exit 1

# VARIABLE: values between bars, with their blanks. A number of threads that no machine can have
# ends both, a dynamic one depends on the machine's load.
numbers='||0|1|3|-1|+2| 2 |2 3|abc|2x|0x2|2.5|,|2,|,2|2;1|"2"|010|2147483647|2147483648|'
numbers+='4294967296|9223372036854775807|99999999999999999999|'
truths='||true|false|TRUE|False|yes|no|1|0|on|off|t|T|.true.| true | false |'
sizes='||0|1|1B|16|100|512k|1M|1m|1 M| 1M |1MB|1T|1.5M|M|-1|abc|unlimited|10000000B|2000 k|'
sizes+='99999999999999999999|'
variables="
OMP_NUM_THREADS||0|1|3|-1|+2| 2 |2 3|abc|2x|0x2|2.5|,|2,|2,1|,2|2,,1|4, 3 , 2|2;1|010|64|
OMP_NUM_THREADS|99999999999999999999|
OMP_THREAD_LIMIT$numbers
OMP_MAX_ACTIVE_LEVELS$numbers
OMP_DEFAULT_DEVICE$numbers
OMP_MAX_TASK_PRIORITY$numbers
OMP_NUM_TEAMS$numbers
OMP_TEAMS_THREAD_LIMIT$numbers
OMP_DYNAMIC||false|yes|no|1|0|on|t|.true.|
OMP_NESTED$truths
OMP_CANCELLATION$truths
OMP_DISPLAY_ENV||false|0|abc|
OMP_DISPLAY_AFFINITY||false|0|no|
OMP_AFFINITY_FORMAT||%|%z|%{abc}|%999999999n|%s%s%s|
OMP_WAIT_POLICY||active|PASSIVE| passive |actively|0|
OMP_TARGET_OFFLOAD||default|DISABLED| disabled |abc|
OMP_ALLOCATOR||omp_large_cap_mem_alloc|omp_default_mem_space|1|8|-1|abc|
OMP_STACKSIZE$sizes
GOMP_STACKSIZE$sizes
OMP_SCHEDULE||static|STATIC|static,|static,4|static,0|static,abc|static 4|static,4,5|static_steal|
OMP_SCHEDULE|dynamic|dynamic,4|dynamic, 4|dynamic ,4|dynamic,0| guided , 4 |guided,7|auto|auto,|
OMP_SCHEDULE|monotonic:dynamic,3|nonmonotonic:dynamic|monotonic:static,2|monotonic:|runtime|abc|
OMP_SCHEDULE|static,2147483648|static,99999999999999999999|trapezoidal|
OMP_PROC_BIND||true|false|close|spread|master|primary|spread,close|true,close|close,|,close|abc|0|1|
OMP_PROC_BIND|false,close| close |close,,spread|close,close,close|
OMP_PLACES||threads|cores|sockets|ll_caches|numa_domains|THREADS|threads(1)|threads(0)|threads(-1)|
OMP_PLACES|threads(99999)|threads(|threads()|abc|{0}|{1},{0}|{0}:2|{0}:2:1|{0,1}|{0:2}|{0},|{0|{}|
OMP_PLACES|{0},!{0}|!{0}|{0:1000}|{99999}|{0},{99999}|0,1|{-1}|{0}:0|{1}:2:-1|
OMP_PLACES| { 0 } , { 1 } |{0:2,!1}|{0}:99999999999|{0,0}|{0},{0}|{2147483648}|
GOMP_CPU_AFFINITY||0|1|0 1|1 0|0-1|0-1:1|0-1:2|0,1|abc|0-|-1|1-0|0 99999|0-1:0|0-1:-1| 0  1 |0,,1|
GOMP_CPU_AFFINITY|0 1 0 1|{0}|0;1|0x1|4294967296|
GOMP_SPINCOUNT||0|infinity|100k|-1|abc|99999999999999999999|
GOMP_DEBUG||0|-1|abc|
OMP_TOOL||enabled|disabled|abc|
OMP_TOOL_VERBOSE_INIT||disabled|stdout|stderr|/dev/null/file|
OMP_TOOL_LIBRARIES||/dev/null/none|:::|
OMP_DEBUG||enabled|disabled|abc|
KMP_AFFINITY||verbose|compact|disabled|abc|
KMP_SETTINGS|1|
KMP_STACKSIZE|1|64k|abc|
KMP_ALL_THREADS|1|0|abc|
KMP_DEVICE_THREAD_LIMIT|1|
KMP_HW_SUBSET|1c|abc|
KMP_LIBRARY|serial|abc|
KMP_BLOCKTIME||abc|
KMP_SCHEDULE|static,greedy|abc|
KMP_DYNAMIC_MODE|load_balance|abc|
KMP_TOPOLOGY_METHOD|abc|
LIBOMP_NUM_HIDDEN_HELPER_THREADS|0|abc|
LIBOMP_USE_HIDDEN_HELPER_TASK|0|abc|
"
# Several that depend on each other.
together=(
	"OMP_NUM_THREADS=2 OMP_THREAD_LIMIT=1" "OMP_PLACES=cores OMP_PROC_BIND=false"
	"OMP_PLACES=abc OMP_PROC_BIND=true" "OMP_PLACES={0} GOMP_CPU_AFFINITY=1"
	"OMP_PLACES=abc GOMP_CPU_AFFINITY=1" "GOMP_CPU_AFFINITY=abc OMP_PROC_BIND=true"
	"GOMP_CPU_AFFINITY=1,0 OMP_PROC_BIND=false" "OMP_NESTED=true OMP_MAX_ACTIVE_LEVELS=1"
	"OMP_NESTED=true OMP_MAX_ACTIVE_LEVELS=abc" "OMP_NESTED=false OMP_NUM_THREADS=2,2"
	"OMP_STACKSIZE=1M GOMP_STACKSIZE=2M" "OMP_STACKSIZE=abc GOMP_STACKSIZE=2048"
	"KMP_STACKSIZE=1M OMP_STACKSIZE=2M" "KMP_AFFINITY=disabled OMP_PROC_BIND=close"
	"KMP_AFFINITY=disabled OMP_PLACES=cores" "OMP_NUM_THREADS= OMP_PLACES= OMP_PROC_BIND="
)
list() {
	local row values one
	while IFS= read -r row; do
		values=${row#*|}
		while [ -n "$values" ]; do
			printf '%s=%s\n' "${row%%|*}" "${values%%|*}"
			values=${values#*|}
		done
	done <<<"$variables"
	for one in "${together[@]}"; do printf '%s\n' "${one// /$'\t'}"; done
}
list | grep . | sort -u >"$work/list"

# Each in a process of its own: a line of standard output and error, and of the status.
cat >"$work/try" <<'TRY'
#!/bin/bash
while IFS= read -r line; do
	IFS=$'\t' read -ra set <<<"$line"
	said=$(timeout 240 env "${set[@]}" "$1" 2>&1)
	printf '[%s] status %s: %s\n' "${set[*]}" "$?" "${said//$'\n'/; }"
done <"$2"
TRY
chmod +x "$work/try"
limit=1200
run srun -n1 -c2 "$work/try" "$work/settings" "$work/list"
cp "$work/out" "$work/plain"
ok "all of them are tried without us" \
	[ "$(grep -c '^\[' "$work/plain")" = "$(wc -l <"$work/list")" ]
run srun -n1 -c2 --balance --balance-report="$work/report.json" "$work/try" "$work/settings" \
	"$work/list"
same_settings() {
	exits 0 && diff "$work/plain" "$work/out" >"$work/diff" && return
	sed 's/^/# /' "$work/diff"
	return 1
}
ok "each is taken as by libgomp" same_settings
ok "a program with all these settings runs on libomp" report_has '.per_rank[0].regions > 0'
# What a program starts has the user's words.
run env "OMP_SCHEDULE= guided , 4 " srun -n1 -c2 --balance --balance-report=off sh -c \
	"$work/settings && printenv OMP_SCHEDULE"
ok "no word of settings is changed for other programs" says '^ guided , 4 $'
done_testing
