# SPDX-License-Identifier: BSD-3-Clause
"""Spawns two interpreters, as programs with mpi4py do, and prints what they see of themselves."""
import sys

from mpi4py import MPI

parent = MPI.Comm.Get_parent()
if parent == MPI.COMM_NULL:
    children = MPI.COMM_SELF.Spawn(sys.executable, args=[sys.argv[0], "a b"], maxprocs=2)
    for line in children.gather(None, root=MPI.ROOT):
        print(line)
    children.Disconnect()
else:
    world = MPI.COMM_WORLD
    sys.argv[0] = sys.argv[0].rsplit("/", 1)[-1]
    parent.gather((world.rank, world.size, world.Get_attr(MPI.APPNUM), sys.argv), root=0)
    parent.Disconnect()
