# SPDX-License-Identifier: LGPL-2.1-or-later
"""How Spack builds it, from the tarball of `make dist` in the directory where spack is called."""
import os

from spack.package import *


class Malleable(AutotoolsPackage):
    """Core balancing for Slurm job steps: a SPANK plugin, a library, policies and tools."""

    url = f"file://{os.getcwd()}/malleable-0.9.0.tar.xz"
    manual_download = True

    license("LGPL-2.1-or-later")
    version("0.9.0")

    variant("pmix", default=True, description="One report over all nodes")
    variant("prover", default=True, description="Which parallel regions may have any team")
    variant("seccomp", default=True, description="A filter of system calls for the controller")
    variant("libdw", default=True, description="Source lines in malleable inspect")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("slurm@22.05:")
    depends_on("hwloc@2:")
    depends_on("jansson@2.10:")
    # Its header to build; it takes the place of libgomp in programs that run.
    depends_on("llvm-openmp")
    depends_on("pmix@4:", when="+pmix")
    # There it is a static library, of which libmalleable_prove.so has a part.
    depends_on("zydis@4: cflags=-fPIC", when="+prover")
    depends_on("libseccomp@2.5:", when="+seccomp")
    depends_on("elfutils", when="+libdw")

    def configure_args(self):
        spec = self.spec
        return [
            "--without-all",
            "--with-scdoc",  # the tarball has the man pages
            f"--with-slurm={spec['slurm'].prefix}",
            f"--with-omp-tools={spec['llvm-openmp'].prefix.include}",
            *self.with_or_without("pmix"),
            *self.with_or_without("prover"),
            *self.with_or_without("seccomp"),
            *self.with_or_without("libdw"),
        ]
