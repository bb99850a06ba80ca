#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# malleable inspect: regions of which the truth is known, as compilers build them (t/inspect).
. "$(dirname "$0")/lib.sh"
need clang fortran prover libdw
malleable=$abs_top_builddir/malleable
corpus=$srcdir/t/inspect
# measured ARGUMENT...: no bound region is called free, each hot one is (of followed compilers).
measured() {
	limit=3600 run "$corpus/run" --inspect "$malleable inspect --json" "$@"
	sed 's/^/# /' "$work/out"
	exits 0
}

if full; then
	ok "the corpus is right" measured --truth --runs 5 --asan --options O2
	ok "at each level, stripped too, with teams of any size" measured --runs 3 --asan
else
	for compiler in gcc clang; do
		ok "$compiler -O2: each bound region is found, each hot one, each right alone" \
			measured --compilers "$compiler" --options O2 \
			alone.c alone.cc carried.c clauses.c constructs.c count.c indirect.c \
			libraries.c locks.c loops.c misuse.c mpi.c questions.c reductions.c \
			rounded.c rounding.c tasks.c tls.c waits.c
	done
	ok "gfortran -O2: each bound region is found, each hot one" \
		measured --compilers gcc --options O2 falone.f90 floops.f90 fbound.f90
	ok "what is stored under masks, compared, copied or left of vectors is seen" \
		measured --options O2,avx512 paces.c rests.c strings.c uneven.c wide.c
	ok "unrolled loops are one turn again where all turns are alike" \
		measured --compilers gcc --options O2,O3u turns.c unrolled.c
	ok "what gcc -Os sets at once is seen, and a wait whose end is far from its beginning" \
		measured --compilers gcc --options Os misuse.c waits.c
fi
cat >"$work/fused.c" <<'C'
/* What is fused to one instruction in vectors is not in the rest of the loop. */
enum { N = 203 };
double a[3 * N], b[N], c[N], o[3 * N];
int main(void) {
#pragma omp parallel for
	for (int i = 0; i < N; i++) {
		double x = a[3 * i] * b[i] + c[i], y = a[3 * i + 1] * b[i] + c[i];
		double z = a[3 * i + 2] * b[i] - c[i];
		o[3 * i] = x * y - z * z;
		o[3 * i + 1] = y * z - x * x;
		o[3 * i + 2] = z * x - y * y;
	}
	return o[1] > 1;
}
C
gcc -O3 -march=x86-64-v3 -fopenmp -o "$work/fused" "$work/fused.c" || exit 1
run "$malleable" inspect "$work/fused"
ok "a loop of fused vectors and a rest may round otherwise" says 'free, sums: vectors and the rest'
gcc -O3 -fopenmp -o "$work/fused" "$work/fused.c" || exit 1
run "$malleable" inspect "$work/fused"
ok "a loop of vectors and a rest is rounded alike where nothing is fused" says ': free$'
cat >"$work/unrolled.c" <<'C'
enum { N = 1000 };
double a[N], b[N], total;
__attribute__((noinline)) void copy(int n, double *to, double *from)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		to[i] = from[i] * 2;
}
__attribute__((noinline)) void sum(int n, double *from)
{
	double all = 0;
#pragma omp parallel for reduction(+ : all)
	for (int i = 0; i < n; i++)
		all += from[i] * from[i];
	total = all;
}
int main(int count, char **words) { copy(N / count, a, b); sum(N / count, a); return total > 1; }
C
for more in "" -march=x86-64-v3; do
	# shellcheck disable=SC2086 # no word, or one
	gcc -O3 -funroll-loops $more -fopenmp -w -o "$work/unrolled" "$work/unrolled.c" || exit 1
	run "$malleable" inspect "$work/unrolled"
	ok "gcc -funroll-loops${more:+ $more} leaves loops free" says ': 2 regions, 2 free'
done
gcc -O2 -fopenmp -w -s -o "$work/stripped" "$corpus/programs/tasks.c" || exit 1
run "$malleable" inspect --json "$work/stripped"
ok "a stripped program is read by its unwind information" \
	jq -e '.[0].regions | length >= 6' "$work/out"
gcc -O2 -fopenmp -w -static -o "$work/static" "$corpus/programs/tasks.c" || exit 1
run "$malleable" inspect "$work/static"
ok "a static one is bound" all_of "exits 0" "says 'all regions bound: statically linked'"
cat >"$work/names.cc" <<'CC'
#include <vector>
namespace ns { template<class T> int count(const std::vector<T> &) {
	int n = 0;
#pragma omp parallel
#pragma omp atomic
	n++;
	return n;
} }
int main() { return ns::count(std::vector<double>(7)); }
CC
g++ -O1 -fopenmp -w -o "$work/names" "$work/names.cc" || exit 1
run "$malleable" inspect "$work/names"
ok "C++ names are readable" all_of "exits 0" "says ' ns::count._omp_fn.0: bound: .*, at [+]0x'"
run "$malleable" inspect --json "$work/names"
ok "in JSON they are those of the file" all_of "exits 0" \
	"jq -e '.[0].regions[0].name | startswith(\"_ZN2ns5count\")' $work/out"
cat >"$work/line.c" <<'C'
#include <omp.h>
int per_thread[256];
int main(void) {
#pragma omp parallel
	{
		per_thread[omp_get_thread_num()] = 1;
	}
	return per_thread[0] - 1;
}
C
for compiler in gcc "$clang"; do
	$compiler -g -O1 -fopenmp -o "$work/line" "$work/line.c" || exit 1
	run "$malleable" inspect "$work/line"
	ok "$compiler: a bound region is named with its source line" all_of "exits 0" \
		"says ': bound: .*, at [+]0x[0-9a-f]* \(line.c:[4-7]\)$'"
	run "$malleable" inspect --json "$work/line"
	ok "$compiler: and so in JSON" \
		jq -e '.[0].regions[0].line | test("^line.c:[4-7]$")' "$work/out"
done
cat >"$work/late.c" <<'C'
/* A second passes from each question for the time to the next. */
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
	static time_t seconds = 1000;

	*now = (struct timespec){.tv_sec = ++seconds};
	return 0;
}
C
gcc -shared -fPIC -w -o "$work/late.so" "$work/late.c" || exit 1
run env LD_PRELOAD="$work/late.so" "$stage/bin/malleable" inspect "$work/line"
ok "lines that take too long are left out" all_of "exits 0" \
	"says ': bound: .*, at [+]0x[0-9a-f]*$'"
run env LD_PRELOAD="$work/late.so" "$stage/bin/malleable" inspect --json "$work/line"
ok "lines that take too long are left out of JSON" \
	all_of "exits 0" "jq -e '.[0].regions[0].line == null' $work/out"
# What libdw would do at the word of a program: wait for a pipe, fill the memory.
gcc -g -gdwarf-5 -O1 -fopenmp -S -o "$work/line.s" "$work/line.c" &&
	sed -i -E '/uleb128 0x1b$/{n;s/0x1f$/0x1d/}' "$work/line.s" &&
	printf '.section .gnu_debugaltlink\n.string "%s"\n.zero 20\n' "$work/pipe" \
		>>"$work/line.s" &&
	gcc -fopenmp -o "$work/elsewhere" "$work/line.s" && mkfifo -m 666 "$work/pipe" || exit 1
limit=30 run "$malleable" inspect "$work/elsewhere"
ok "no file is opened that a program names" all_of "exits 0" "says ': bound: '"
truncate -s 257M "$work/zeros"
gcc -g -O1 -fopenmp -o "$work/line" "$work/line.c" &&
	objcopy --add-section ".debug_zeros=$work/zeros" "$work/line" "$work/packed" &&
	objcopy --compress-debug-sections=zlib "$work/packed" || exit 1
run "$malleable" inspect "$work/packed"
ok "no source line is told where packed sections get too large" all_of "exits 0" \
	"says ': bound: .*, at [+]0x[0-9a-f]*$'"
rm "$work/zeros"
run "$malleable" inspect "$corpus/README.md"
ok "what is no program is an error" all_of "exits 1" "complains 'not an ELF file'"
cat >"$work/shrink.c" <<'C'
/* The file gets shorter as soon as somebody who can read it has asked how long it is. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <stdlib.h>
#include <unistd.h>
int fstat(int fd, struct stat *status)
{
	int result = (int)syscall(SYS_fstat, fd, status);

	if (result == 0 && S_ISREG(status->st_mode) && !(fcntl(fd, F_GETFL) & O_PATH) &&
	    ftruncate(9, 4096) < 0)
		abort();
	return result;
}
C
gcc -shared -fPIC -w -o "$work/shrink.so" "$work/shrink.c" || exit 1
run env LD_PRELOAD="$work/shrink.so" "$stage/bin/malleable" inspect "$work/stripped" \
	9<>"$work/stripped"
ok "a file that gets shorter while it is read is an error" all_of "exits 1" \
	"complains 'stripped: the file shrank while it was read'"
mkfifo "$work/closed" || exit 1
exec 8<>"$work/closed"
exec 9>"$work/closed" 8>&-
run sh -c "\"$malleable\" inspect \"$work/static\" >&9"
exec 9>&-
ok "it ends by SIGPIPE where nobody reads on" \
	all_of "exits $((128 + $(kill -l PIPE)))" "[ ! -s '$work/err' ]"
run "$malleable" inspect
ok "no file is one of usage" all_of "exits 2" "complains 'see malleable inspect --help'"
done_testing
