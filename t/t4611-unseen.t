#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tasks where our libraries cannot be loaded, as in a container: another mount namespace or root
# without them, or with an older C library. What runs there runs as without us, and a line tells.
. "$(dirname "$0")/lib.sh"
need_cluster
unshare --mount true 2>/dev/null || skip_all "no mount namespaces"
start_cluster
lib=$stage/lib/malleable
short=("$load" "--work=20,10" --iterations=2)

# script NAME LINE...: a shell script.
script() { printf '%s\n' '#!/bin/bash' "${@:2}" >"$work/$1" && chmod 755 "$work/$1"; }
# said N LINE: on N lines, and no other line is ours, or of the loader.
said() {
	[ "$(grep -c "$2" "$work/err") $(grep -Ec 'balance:|ld\.so' "$work/err")" = "$1 $1" ] ||
		{ echo "# not $1 lines"; false; }
}
line='balance: no rank connected, nothing was balanced: a program ran where our libraries cannot be'
library=$(ldconfig -p | sed -n 's/.*libz\.so\.1 .*=> //p' | head -n1)
# shellcheck disable=SC2016 # the script expands it
inside=('for i in $(seq 20); do /bin/true; done'
	'env | grep -E "^(MALLEABLE_|KMP_|LD_PRELOAD)"' "exec ${short[*]}")
script inside "${inside[@]}"
script hidden "mount -t tmpfs none $lib" "exec $work/inside"
run srun -n2 -c1 --balance unshare --mount "$work/hidden"
ok "hidden libraries: the program runs, as do scripts, and one line is printed" \
	all_of "exits 0" "says ^elapsed" "said 1 '$line'" "! says '^(MALLEABLE|KMP|LD)_' >/dev/null"
run srun -n2 -c1 --balance --export="ALL,LD_PRELOAD=$library" unshare --mount "$work/hidden"
ok "the user's own LD_PRELOAD is kept" \
	all_of "exits 0" "[ \$(grep -cx 'LD_PRELOAD=$library' $work/out) = 2 ]" "said 1 '$line'"

# The process that hides the libraries has them loaded, and starts others in each way.
cat >"$work/ways.py" <<'PY'
import ctypes, os, subprocess, sys
show = ["printenv", "LD_PRELOAD", "MALLEABLE_CPUS"]
libc = ctypes.CDLL(None)
ways = {
    "execvp": lambda: os.execvp(show[0], show),
    "execve": lambda: os.execve("/usr/bin/printenv", show, dict(os.environ)),
    "execl": lambda: libc.execl(b"/usr/bin/printenv", b"printenv", b"LD_PRELOAD", None),
    "fexecve": lambda: os.execve(os.open("/usr/bin/printenv", os.O_RDONLY), show, os.environ),
    "posix_spawn": lambda: os.waitpid(os.posix_spawnp(show[0], show, os.environ), 0),
    "vfork": lambda: subprocess.run(show, close_fds=False),
    "system": lambda: libc.system(b"printenv LD_PRELOAD"),
    "popen": lambda: libc.pclose(ctypes.c_void_p(libc.popen(b"printenv LD_PRELOAD", b"w"))),
}
libc.popen.restype = ctypes.c_void_p
os.system("mount -t tmpfs none " + sys.argv[1])
for name, way in ways.items():
    print("way", name, flush=True)
    pid = os.fork()
    if pid == 0:
        way()
        os._exit(0)
    os.waitpid(pid, 0)
print("still", os.environ["MALLEABLE_CPUS"])
PY
run srun -n1 --balance unshare --mount python3 "$work/ways.py" "$lib"
ok "hidden libraries: one line is printed, whatever starts the program" \
	all_of "exits 0" "said 1 '$line'" \
	"[ \$(grep -c ^way $work/out) = 8 ]" "[ \$(grep -vc ^way $work/out) = 1 ]" "says ^still"

# A crash reporter's handler has little stack.
"${CC:-gcc}" -O1 -w -o "$work/handler" "$srcdir/t/programs/handler.c" || exit 1
run srun -n1 --balance --balance-report=off "$work/handler"
ok "a handler on a small stack starts a program" \
	all_of "exits 0" "says '^started from a handler'"
run srun -n1 --balance --balance-report=off unshare --mount "$work/handler" \
	"mount -t tmpfs none $lib"
ok "a program is started where the libraries are hidden" \
	all_of "exits 0" "says '^started from a handler'"

script first "unshare --mount $work/other" "exec ${short[*]}"
script other "mount -t tmpfs none $lib" "exec true"
run srun -n2 --balance --balance-report="$work/report.json" "$work/first"
ok "a tool that runs so keeps no rank from coming" \
	all_of "exits 0" "report_has '.ranks == 2'" "silent_about 'cannot be loaded|ld\.so'"
mkdir "$work/root"
script bound "mount --rbind / $work/root" "exec chroot $work/root ${short[*]}"
run srun -n2 --balance --balance-report="$work/report.json" unshare --mount "$work/bound"
ok "in another root with the libraries ranks come" \
	all_of "exits 0" "report_has '.ranks == 2'" "silent_about 'cannot be loaded|ld\.so'"

# As in an image of Debian 11. The loader's name is all that tells.
loader=/lib64/ld-linux-x86-64.so.2
if [ -e "$loader" ]; then
	mkdir "$work/lib64"
	cp "$loader" "$work/lib64/ld-2.31.so"
	ln -s ld-2.31.so "$work/lib64/ld-linux-x86-64.so.2"
	script older "mount --bind $work/lib64 /lib64" "exec $work/inside"
	run srun -n2 -c1 --balance unshare --mount "$work/older"
	ok "an older C library: the same" all_of "exits 0" "says ^elapsed" "said 1 '$line'"
else
	skip "an older C library: the same" "not on this machine"
fi

# As pyxis: a plugin enters the container, and what plugstack.conf lists behind it is in there.
cat >"$work/enter.c" <<ENTER
#include <sched.h>
#include <slurm/spank.h>
#include <sys/mount.h>
SPANK_PLUGIN(enter, 1)
int slurm_spank_task_init(spank_t spank, int count, char **arguments)
{
	(void)spank, (void)count, (void)arguments;
	return unshare(CLONE_NEWNS) || mount("none", "/", 0, MS_REC | MS_PRIVATE, 0) ||
	       mount("none", "$lib", "tmpfs", 0, 0);
}
ENTER
read -ra flags < <(sed -n 's/^SLURM_CPPFLAGS = //p' "$builddir/Makefile")
"${CC:-gcc}" -D_GNU_SOURCE -shared -fPIC "${flags[@]}" -o "$work/enter.so" "$work/enter.c" || exit 1
sed -i "1i required $work/enter.so" "$BALANCE_CLUSTER/plugstack.conf"
run srun -n2 -c1 --balance "$work/inside"
ok "a plugin that enters a container: one line" all_of "exits 0" "says ^elapsed" \
	"said 1 'balance: cannot load $lib/libmalleable.so in the job: No such'"
ok "nothing is left" nothing_left
done_testing
