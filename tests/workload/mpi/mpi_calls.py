# SPDX-License-Identifier: BSD-3-Clause
# Known calls from Python: mpi4py loads MPI without making its names global.
from mpi4py import MPI

comm = MPI.COMM_WORLD
buffer = bytearray(1000)


def exchange():
    comm.Barrier()
    comm.Bcast([buffer, MPI.BYTE], root=0)


for _ in range(30):
    exchange()
if comm.rank == 0:
    print("done", comm.size)
