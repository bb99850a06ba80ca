# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs that t/bench/packages runs: where each comes from, its input, and its result.

ROOT is where Debian's packages are unpacked, HERE the directory of t/bench/packages.
"""
import dataclasses
import re
import sys

PYTHON = sys.executable
BLAS = "libopenblas0-openmp"  # with all of them: apt-get takes one that is installed for it


@dataclasses.dataclass
class Program:
    """One row of the table."""

    name: str
    packages: str
    command: str
    result: str  # which part of the output
    files: dict = dataclasses.field(default_factory=dict)
    prepare: tuple = ()  # commands that make the rest of the input, once
    env: dict = dataclasses.field(default_factory=dict)
    log: str = ""  # a file of output, beside what is printed
    digits: int = 6  # parallel sums may differ behind these
    threads: str = ""  # OMP_NUM_THREADS, where its users set it
    wheels: bool = False  # its packages are PyPI's, not Debian's

    @property
    def slug(self):
        return re.sub(r"\W+", "-", self.name.lower()).strip("-")


def waters(count, line):
    """COUNT^3 water molecules on a grid 3.1 angstrom wide."""
    atoms = (("O", 0, 0, 0), ("H", 0.76, 0.59, 0), ("H", -0.76, 0.59, 0))
    return "\n".join(line.format(name=name, x=3.1 * i + x, y=3.1 * j + y, z=3.1 * k + z)
                     for i in range(count) for j in range(count) for k in range(count)
                     for name, x, y, z in atoms)


def library(name, flags):
    """The test's own phases on a library of Debian."""
    return ("mpicxx -O2 -fopenmp -DNAME -o phases HERE/../programs/packages.cc -IROOT/usr/include "
            "-IROOT/usr/include/trilinos -LROOT/usr/lib/x86_64-linux-gnu "
            "-LROOT/usr/lib/x86_64-linux-gnu/openblas-openmp ".replace("NAME", name) + flags,)


# A script's own phases: rank 0 has four times the work.
PHASES = """import os
from mpi4py import MPI
world = MPI.COMM_WORLD
parts = []
"""
GATHER = """    world.Barrier()
gathered = world.gather(parts)
if world.rank == 0:
    print("result", gathered)
"""

LAMMPS = """units lj
processors 2 1 1
atom_style atomic
lattice fcc 0.8442
region box block 0 24 0 16 0 16
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
balance 1.0 x 0.75
run 300
"""

GROMACS = {
    "t.top": '#include "oplsaa.ff/forcefield.itp"\n#include "oplsaa.ff/spc.itp"\n[ system ]\n'
             'water\n[ molecules ]\n',
    "m.mdp": "integrator=md\nnsteps=400\ndt=0.002\nnstenergy=50\nnstlog=50\nnstcalcenergy=50\n"
             "coulombtype=PME\nrcoulomb=0.9\nrvdw=0.9\ntcoupl=no\ngen-vel=yes\ngen-seed=7\n"
             "gen-temp=300\n"}

CP2K = """&GLOBAL
  PROJECT w
  RUN_TYPE ENERGY
&END
&FORCE_EVAL
  METHOD QS
  &DFT
    BASIS_SET_FILE_NAME GTH_BASIS_SETS
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 200
    &END
    &SCF
      MAX_SCF 10
    &END
    &XC
      &XC_FUNCTIONAL PADE
      &END
    &END
  &END
  &SUBSYS
    &CELL
      ABC 6.2 6.2 6.2
    &END
    &COORD
""" + waters(2, "{name} {x} {y} {z}") + """
    &END
    &KIND H
      BASIS_SET DZVP-GTH
      POTENTIAL GTH-PADE-q1
    &END
    &KIND O
      BASIS_SET DZVP-GTH
      POTENTIAL GTH-PADE-q6
    &END
  &END
&END
"""

ESPRESSO = """&control
 calculation='scf', prefix='s', outdir='tmp', pseudo_dir='ROOT/usr/share/espresso/pseudo'
/
&system
 ibrav=1, celldm(1)=10.2, nat=8, ntyp=1, ecutwfc=40
/
&electrons
 conv_thr=1e-9
/
ATOMIC_SPECIES
Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS crystal
""" + "".join(f"Si {x + a} {y + a} {z + a}\n" for a in (0, 0.25)
              for x, y, z in ((0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5))
              ) + """K_POINTS automatic
3 3 3 1 1 1
"""

NWCHEM = """start w
geometry noautoz noautosym
""" + waters(2, "{name} {x} {y} {z}") + """
end
basis
 * library 6-31g
end
scf
 direct
end
task scf energy
"""

OPENFOAM = {name: f"FoamFile {{ version 2.0; format ascii; class {kind}; object "
                  f"{name.split('/')[1]}; }}\n{text}\n" for name, kind, text in (
    ("system/blockMeshDict", "dictionary", """scale 0.1;
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1));
blocks (hex (0 1 2 3 4 5 6 7) (160 160 1) simpleGrading (1 1 1));
boundary (lid { type wall; faces ((3 7 6 2)); }
 walls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
 sides { type empty; faces ((0 3 2 1) (4 5 6 7)); });"""),
    ("system/controlDict", "dictionary", """application icoFoam; startFrom startTime; startTime 0;
stopAt endTime; endTime 0.01; deltaT 0.0005; writeControl timeStep; writeInterval 1000;"""),
    ("system/fvSchemes", "dictionary", """ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; } divSchemes { default Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; } snGradSchemes { default orthogonal; }"""),
    ("system/fvSolution", "dictionary", """solvers {
 p { solver PCG; preconditioner DIC; tolerance 1e-06; relTol 0.05; } pFinal { $p; relTol 0; }
 U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-05; relTol 0; } }
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }"""),
    ("system/decomposeParDict", "dictionary", """numberOfSubdomains 2;
method simple; coeffs { n (2 1 1); }"""),
    ("constant/transportProperties", "dictionary", "nu 0.01;"),
    ("0/p", "volScalarField", """dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;
boundaryField { "lid|walls" { type zeroGradient; } sides { type empty; } }"""),
    ("0/U", "volVectorField", """dimensions [0 1 -1 0 0 0 0]; internalField uniform (0 0 0);
boundaryField { lid { type fixedValue; value uniform (1 0 0); } walls { type noSlip; }
 sides { type empty; } }"""))}

ABINIT = {"si.gth": """Goedecker-Teter-Hutter
14 4 960508
2 1 1 1 2001 0.
0.4400000 -7.3361029 0. 0. 0.
0.4224326 5.9069282 3.2581958
0.4842784 2.7270135
""", "t.abi": """pp_dirpath "."
pseudos "si.gth"
ecut 30 acell 3*10.26 natom 2 ntypat 1 znucl 14 typat 1 1 nband 8
rprim 0 .5 .5 .5 0 .5 .5 .5 0 xred 0 0 0 .25 .25 .25
ngkpt 8 8 8 nshiftk 1 shiftk 0 0 0 nstep 20 toldfe 1d-9
prtwf 0 prtden 0 prteig 0 prtgsr 0 prtebands 0
"""}

GPAW = """from ase import Atoms
from gpaw import GPAW, PW
atoms = Atoms("Al4", scaled_positions=[(0, 0, 0), (0, .5, .5), (.5, 0, .5), (.5, .5, 0)],
              cell=[4.05] * 3, pbc=True)
atoms.calc = GPAW(mode=PW(300), kpts=(4, 4, 4), xc="LDA", txt=None, symmetry="off")
energy = atoms.get_potential_energy()
if atoms.calc.wfs.world.rank == 0:
    print("result", float(energy))
"""

TORCH = """import os
import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel
rank = int(os.environ["SLURM_PROCID"])
port = 20000 + (7 * int(os.environ["SLURM_JOB_ID"]) + int(os.environ["SLURM_STEP_ID"])) % 9000
torch.distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
torch.manual_seed(7)
model = DistributedDataParallel(torch.nn.Sequential(
    torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)))
step = torch.optim.SGD(model.parameters(), lr=1e-3)
for batch in range(12):
    data = torch.randn(3000 if rank == 0 else 750, 512)
    loss = ((model(data) - data) ** 2).mean()
    step.zero_grad()
    loss.backward()
    step.step()
total = sum(float(values.double().sum()) for values in model.parameters())
if rank == 0:
    print("result", total)
"""

NUMBA = PHASES + """import numba
import numpy
numba.config.THREADING_LAYER = "omp"
@numba.njit(parallel=True)
def sines(data):
    for i in numba.prange(len(data)):
        for _ in range(20):
            data[i] = numpy.sin(data[i]) + 0.5
for phase in range(15):
    data = numpy.arange(800000 if world.rank == 0 else 200000) / 1e5
    sines(data)
    parts.append(float(data.sum()))
""" + GATHER

THREADS = PHASES + """import concurrent.futures
import numpy
def work(seed):
    square = numpy.random.default_rng(seed).normal(size=(400, 400))
    for _ in range(6):
        square = square @ square
        square /= abs(square).max()
    return float(square.trace())
for phase in range(12):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        parts.append(list(pool.map(work, range(16 if world.rank == 0 else 4))))
""" + GATHER

PROCESSES = THREADS.replace("import concurrent.futures", "import multiprocessing").replace(
    "concurrent.futures.ThreadPoolExecutor(2)", 'multiprocessing.get_context("fork").Pool(2)')

LIGHTGBM = PHASES + """import lightgbm
import numpy
points = numpy.random.default_rng(7).normal(size=(40000 if world.rank == 0 else 10000, 24))
for phase in range(5):
    trees = lightgbm.train({"verbose": -1, "deterministic": True, "force_col_wise": True,
                            "seed": phase}, lightgbm.Dataset(points[:, 1:], points[:, 0]), 20)
    parts.append(float(trees.predict(points[:100, 1:]).sum()))
""" + GATHER

PYSCF = PHASES + """import pyscf.dft
import pyscf.gto
for phase in range(3):
    water = "; ".join(f"O {3 * i} 0 0; H {3 * i} {0.76 + phase / 50} 0.59; H {3 * i} -0.76 0.59"
                      for i in range(2 if world.rank == 0 else 1))
    field = pyscf.dft.RKS(pyscf.gto.M(atom=water, basis="6-31g", verbose=0), xc="pbe")
    parts.append(float(field.kernel()))
""" + GATHER

# As in hpccinf.txt that comes with it, without the comments.
HPCC = ("HPL . out 8 1 2000 1 80 0 1 1 2 16.0 1 2 1 4 1 2 1 1 1 1 1 1 2 64 0 0 1 8 "
        .replace(" ", "\n"))

def alignment(count, length):
    """Made-up DNA: a tree's worth of mutations of one sequence."""
    state, kept = 7, []
    for row in range(count):
        now = list(kept[row // 2]) if kept else ["A"] * length
        for at in range(length):
            state = (1103515245 * state + 12345) % 2**31
            if not kept or state >> 16 & 7 == 0:
                now[at] = "ACGT"[state >> 20 & 3]
        kept.append("".join(now))
    return f"{count} {length}\n" + "".join(f"t{i} {text}\n" for i, text in enumerate(kept))


RESULT = r"result .*"
PROGRAMS = [
    Program("OpenBLAS (openmp)", BLAS, "./phases", RESULT,
            prepare=library("OPENBLAS", "-l:libopenblas.so.0"), threads="2"),
    Program("FFTW (omp)", "libfftw3-dev libfftw3-double3", "./phases", RESULT,
            prepare=library("FFTW", "-lfftw3_omp -lfftw3"), threads="2"),
    Program("Kokkos (OpenMP)", "libtrilinos-kokkos-dev", "./phases", RESULT,
            prepare=library("KOKKOS", "-std=c++17 -ltrilinos_kokkoscore"), threads="2"),
    Program("LAMMPS", "lammps", "ROOT/usr/bin/lmp -in in.lammps -log none",
            r"^ +\d+(?: +-?[\d.]+){5,} *$", {"in.lammps": LAMMPS}, threads="1"),
    Program("GROMACS", "gromacs",
            # It adds the endings: /dev/null would become /dev/null.gro.
            "ROOT/usr/bin/gmx_mpi -quiet -nobackup mdrun -s t.tpr -reprod -notunepme -dlb no "
            "-pin off -deffnm end -g md.log", r"Total Energy[^\n]*\n[^\n]*", GROMACS,
            ("ROOT/usr/bin/gmx solvate -cs spc216 -box 4 4 4 -p t.top -o w.gro",
             "ROOT/usr/bin/gmx grompp -f m.mdp -c w.gro -p t.top -o t.tpr -maxwarn 5"),
            {"GMXLIB": "ROOT/usr/share/gromacs/top", "GMXDATA": "ROOT/usr/share/gromacs"},
            log="md.log", threads="2"),
    Program("CP2K", "cp2k cp2k-data", "ROOT/usr/bin/cp2k.psmp -i w.inp", r"ENERGY\|.*",
            {"w.inp": CP2K}, env={"CP2K_DATA_DIR": "ROOT/usr/share/cp2k"}, threads="2"),
    Program("Quantum ESPRESSO", "quantum-espresso quantum-espresso-data",
            "ROOT/usr/bin/pw.x -in s.in", r"^!.*", {"s.in": ESPRESSO}, threads="1"),
    Program("NWChem", "nwchem-openmpi", "ROOT/usr/bin/nwchem.openmpi w.nw",
            r"Total SCF energy.*", {"w.nw": NWCHEM},
            env={"NWCHEM_BASIS_LIBRARY": "ROOT/usr/share/nwchem/libraries/"}, threads="1"),
    Program("OpenFOAM", "openfoam", "ROOT/usr/bin/icoFoam -parallel",
            r"Courant Number.*|continuity errors.*", OPENFOAM,
            ("ROOT/usr/bin/blockMesh", "ROOT/usr/bin/decomposePar -force"),
            {"WM_PROJECT_DIR": "ROOT/usr/share/openfoam"}, digits=4),
    Program("ABINIT", "abinit", "ROOT/usr/bin/abinit t.abi", r"^ *etotal.*", ABINIT,
            log="t.abo", threads="1"),
    Program("GPAW", "gpaw gpaw-data", "/usr/bin/python3 p.py", RESULT, {"p.py": GPAW},
            env={"GPAW_SETUP_PATH": "ROOT/usr/share/gpaw-setups"}, threads="1"),
    Program("PyTorch DDP (gloo)", "python3-torch", "/usr/bin/python3 p.py", RESULT,
            {"p.py": TORCH}),
    Program("numba (omp)", "numba mpi4py", f"{PYTHON} p.py", RESULT, {"p.py": NUMBA},
            env={"NUMBA_NUM_THREADS": "2"}, wheels=True, threads="2"),
    Program("Python threads, NumPy", "numpy mpi4py", f"{PYTHON} p.py", RESULT,
            {"p.py": THREADS}, wheels=True),
    Program("multiprocessing, NumPy", "numpy mpi4py", f"{PYTHON} p.py", RESULT,
            {"p.py": PROCESSES}, wheels=True),
    Program("scikit-learn", "scikit-learn mpi4py", f"{PYTHON} HERE/../programs/packages.py",
            RESULT, wheels=True, threads="2"),
    Program("LightGBM", "lightgbm mpi4py", f"{PYTHON} p.py", RESULT, {"p.py": LIGHTGBM},
            wheels=True, threads="2"),
    Program("PySCF", "pyscf mpi4py", f"{PYTHON} p.py", RESULT, {"p.py": PYSCF}, wheels=True,
            threads="2"),
    Program("HPCC", "hpcc", "ROOT/usr/bin/hpcc",
            r"^(?:HPL_N|Success|CommWorldProcs)=.*|^\|\|Ax-b\|\|.*", {"hpccinf.txt": HPCC},
            log="hpccoutf.txt", threads="1"),
    Program("IQ-TREE", "iqtree", "ROOT/usr/bin/iqtree2-mpi -s a.phy -m GTR+G -seed 7 -redo -nt 1",
            r"BEST SCORE FOUND.*", {"a.phy": alignment(16, 1500)}),
]
