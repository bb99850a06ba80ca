#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What is installed: symbols, programs, their help, and what they do with wrong arguments.
. "$(dirname "$0")/lib.sh"
plan 20

symbols() { nm -D --defined-only "$1" | awk '{print $3}'; }
only() { ! symbols "$1" | grep -Ev "$2"; }
lib=$stage/lib/malleable

ok "balance.so exports what SPANK wants and no more" only "$stage/lib/slurm/balance.so" \
	'^(plugin_|spank_plugin_version|slurm_spank_)'
# Names of OpenMP and MPI have one @, which hides them from who looks for a name (base/shown.h).
openmp='(omp_[gsp][a-z_]+|kmp_[gs]et_blocktime_?|__kmpc_fork_call(_if)?|GOMP_parallel(_loop_[a-z_]+|_reductions|_sections)?)'
versions='VERSION|G?OMP_[0-9.]+'
devices='MALLEABLE|OPENCL_1.0|libcudart.so.1[0-9.]+|hip_[0-9.]+'
ok "libmalleable.so exports the interface and what it interposes" only "$lib/libmalleable.so" \
	"^((malleable_[a-z_]+|omp_balanced_?)@@MALLEABLE_[1-4]\$|$openmp@($versions)\$|ompt_start_tool\$|shm_open\$|sched_(yield|[gs]etaffinity)\$|pthread_(create|getattr_np|kill|[gs]etaffinity_np)\$|thrd_create\$|(timer_create|mq_notify|(aio_(read|write|fsync)|lio_listio)(64)?|getaddrinfo_a)\$|f?exec|wordexp\$|popen\$|raise\$|posix_spawnp?\$|system\$|_longjmp\$|__longjmp_chk\$|(sig)?longjmp\$|mal_(mpi|device)_[a-z_]+(@@MALLEABLE)?\$|MALLEABLE(_[1-4])?\$|($versions)\$)"
# What programs link against.
interface() { sed -nE 's/^((malleable|omp_balanced)[a-z_]*)@@MALLEABLE_[1-4]$/\1/p' | sort; }
declared=$(sed -nE '/^typedef/d; s/^[a-z].*\b(malleable_[a-z_]+|omp_balanced)\(.*/\1/p' \
	"$srcdir/libmalleable/malleable.h" |
	cat - <(printf '%s\n' malleable_phase_ omp_balanced_) | sort)
ok "it has each function of malleable.h" \
	[ "$(symbols "$lib/libmalleable.so" | interface)" = "$declared" ]
ok "libmalleable.so.1 has these alone" all_of \
	"[ \"\$(symbols '$stage/lib/libmalleable.so.1' | interface)\" = '$declared' ]" \
	"only '$stage/lib/libmalleable.so.1' '@@MALLEABLE_[1-4]\$|^MALLEABLE_[1-4]\$'"
ok "libmalleable_mpi.so exports what it interposes" only "$lib/libmalleable_mpi.so" \
	"^((MPI_[A-Za-z_]+|mpi_[a-z0-9_]+|ucp_worker_progress)@MALLEABLE|(cl|cu|hip)[A-Za-z_]+@($devices)|$devices)\$"
ok_with prover "libmalleable_prove.so exports what ranks call" only "$lib/libmalleable_prove.so" \
	'^mal_inspect$'
no_mpi() {
	! ldd "$lib/libmalleable_mpi.so" "$lib/libmalleable.so" | grep -Eq 'libmpi|libomp|libgomp'
}
ok "neither library drags in an MPI or OpenMP library" no_mpi
# needs FILE VERSION: no symbol of a newer glibc. What raises it shuts out containers of older ones
# (doc/containers.md).
needs() {
	local newest
	newest=$(objdump -T "$1" | grep -o '(GLIBC_[0-9.]*)' | tr -d '()' | cut -d_ -f2 |
		sort -V | tail -n1)
	[ -n "$newest" ] && printf '%s\n' "$newest" "$2" | sort -VC ||
		{ echo "# glibc ${newest:-unknown}" && false; }
}
for library in libmalleable.so libmalleable_mpi.so; do
	ok "$library loads with glibc 2.34" needs "$lib/$library" 2.34
done
ok_with prover "libmalleable_prove.so too" needs "$lib/libmalleable_prove.so" 2.34
preload() { LD_PRELOAD=$lib/libmalleable.so:$lib/libmalleable_mpi.so LD_BIND_NOW=1 /bin/true; }
ok "a program without MPI and OpenMP starts with both preloaded" preload

for program in "$stage/bin/malleable" "$lib/malleabled"; do
	run "$program" --help
	ok "$(basename "$program") --help" all_of "exits 0" "says Usage"
	run "$program" --nonsense
	ok "$(basename "$program") refuses an unknown option with status 2" exits 2
done
run "$stage/bin/malleable" policies
ok "malleable policies lists them with their parameters" \
	all_of "exits 0" "says '^auto:'" "says '^lewi:'" "says 'gain='"
run "$stage/bin/malleable" run
ok "malleable run without a command says so" all_of "exits 2" "complains 'give a command'"
run "$lib/malleabled" --segment-fd 0 --life-fd 0 --cpus 0
ok "malleabled refuses what is no segment" all_of "exits 1" "complains 'not a sealed segment'"

# options_of COMMAND: those in its part of malleable(1).
options_of() {
	awk -v heading="# OPTIONS OF ${1^^}" '$0 == heading {on = 1; next} /^# / {on = 0} on' \
		"$srcdir/doc/man/malleable.1.scd" | grep -oE '[*]--[a-z-]+[*]' | tr -d '*' | sort -u
}
unhelpful() {
	local command option
	for command in run status set replay; do
		for option in $(options_of "$command"); do
			"$stage/bin/malleable" "$command" --help | grep -q -- "$option\b" ||
				echo "malleable $command --help lacks $option"
		done
	done
	for command in report convert acct; do
		[ -x "$tools/malleable-$command" ] || continue
		for option in $(grep -oE '[*]--[a-z-]+[*]' \
			"$srcdir/doc/man/malleable-$command.1.scd" | tr -d '*' | sort -u); do
			"$tools/malleable-$command" --help | grep -q -- "$option\b" ||
				echo "malleable-$command --help lacks $option"
		done
	done
}
none() { local found; found=$("$@"); [ -z "$found" ] || { echo "# $found"; false; }; }
ok "the help of each command has the options of its man page" none unhelpful
bare_pages() {
	local page heading
	for page in "$srcdir"/doc/man/*.scd; do
		for heading in SYNOPSIS DESCRIPTION EXAMPLES FILES "EXIT STATUS" "SEE ALSO"; do
			grep -qx "# $heading" "$page" || echo "$page has no $heading"
		done
	done
}
ok "each man page has examples, files and exit status" none bare_pages
