# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ways to run a program under the peer DLB: what each adds to its arguments and environment."""
import os
import subprocess
import sys
import time

LEWI = ["--lewi", "--ompt", "--lewi-ompt=borrow", "--lewi-mpi-calls=all",
        "--lewi-affinity=nearby-first"]
# name: (more arguments, more environment). "no-drom" takes --drom away.
WAYS = {
    "lewi": ([], {}),
    "yield": ([], {"OMPI_MCA_mpi_yield_when_idle": "1"}),
    "bound": ([], {"OMP_PROC_BIND": "true", "OMP_PLACES": "threads"}),
    "no-drom": ([], {}),
    # Its thread calls MPI, which has to allow several. It decides once a second, not more often.
    # The summary is of no use here, and some runs of 3.7.0-63 hung in it.
    "mngo": (["--mngo", "--mngo-mode=helper-thread", "--mngo-helper-thread-interval=1",
              "--talp-summary=none"], {"OMPI_MPI_THREAD_LEVEL": "3"}),
}


def known(prefix, ways):
    """WAYS that the installation in PREFIX can run."""
    for part in "+".join(ways).split("+"):
        if part not in WAYS:
            sys.exit(f"balance: no way '{part}' to run DLB, known are {', '.join(WAYS)}")
    options = subprocess.run([f"{prefix}/bin/dlb", "--help"], stdout=subprocess.PIPE, text=True,
                             stderr=subprocess.STDOUT, check=True).stdout
    found = [way for way in ways if "mngo" not in way or "--mngo" in options]
    for way in sorted(set(ways) - set(found)):
        print(f"balance: {version(prefix)} has no MNGO: '{way}' is left out", file=sys.stderr)
    return found


def version(prefix):
    """Which build it is, by its own words."""
    return subprocess.run([f"{prefix}/bin/dlb", "--version"], capture_output=True, text=True,
                          check=True).stdout.splitlines()[0]


def under(options, way, program):
    """The command line of one rank."""
    parts = way.split("+")
    # With a key of its own a run sees nothing of one that was killed.
    arguments = LEWI + [f"--shm-key={time.monotonic_ns()}"]
    arguments += [] if "no-drom" in parts else ["--drom"]
    environment = {"OMP_NUM_THREADS": options.threads or options.cpus,
                   "OMP_WAIT_POLICY": "passive"}
    for part in parts:
        arguments += WAYS[part][0]
        environment.update(WAYS[part][1])
    environment["DLB_ARGS"] = " ".join(arguments)
    libraries = [f"{options.dlb}/lib/libdlb_mpi.so"]
    if "mngo" in parts:
        libraries.insert(0, os.path.abspath(f"{options.build}/t/bench/multiple.so"))
    if options.rig == "node":
        libraries.append(os.path.abspath(f"{options.build}/t/node/shim.so"))
    return ["env", *(f"{name}={value}" for name, value in environment.items()),
            f"{options.dlb}/bin/dlb_run", "env", f"LD_PRELOAD={':'.join(libraries)}", *program]
