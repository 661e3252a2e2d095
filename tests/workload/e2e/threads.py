# SPDX-License-Identifier: BSD-3-Clause
"""What a script does: threads, a subprocess, a forked child, an exception. Same output in
every run; ends with status 3."""
import hashlib
import os
import subprocess
import sys
import threading

results = {}


def digest(number):
    data = bytes([number]) * (1 << 20)
    state = hashlib.sha256()
    for _ in range(60):
        state.update(data)
    results[number] = state.hexdigest()


def search(limit):
    return sum(1 for n in range(2, limit) if all(n % d for d in range(2, int(n ** 0.5) + 1)))


threads = [threading.Thread(target=digest, args=(i,), name="digest%d" % i) for i in range(3)]
for thread in threads:
    thread.start()
print("primes", search(60000))
for thread in threads:
    thread.join()
for number in sorted(results):
    print(number, results[number])
answer = subprocess.run(["sh", "-c", "echo from a child; exit 4"], stdout=subprocess.PIPE,
        check=False)
print(answer.stdout.decode().strip(), answer.returncode)
sys.stdout.flush()
child = os.fork()
if child == 0:
    print("forked", search(20000))
    sys.stdout.flush()
    os._exit(7)
print("status", os.WEXITSTATUS(os.waitpid(child, 0)[1]))
print("environment", sorted(k for k in os.environ if k.startswith(("HPCTOOLKIT", "LD_"))))
print("descriptors", sorted(int(d) for d in os.listdir("/proc/self/fd"))[:4])
try:
    {}["missing"]
except KeyError as error:
    print("caught", error, file=sys.stderr)
sys.exit(3)
