# SPDX-License-Identifier: BSD-3-Clause
#
# Compares tests/python/decode_lines with co_lines() of this interpreter, unit for unit, for all
# functions of many modules: lines.py DECODER. Prints "same FUNCTIONS UNITS" or what differs.

import importlib.util
import subprocess
import sys
import types

MODULES = """argparse ast asyncio.base_events asyncio.tasks bdb calendar cgitb codecs collections configparser contextlib copy csv ctypes dataclasses datetime decimal difflib doctest email.message
enum fractions functools gettext glob heapq html.parser http.client imaplib inspect ipaddress json.decoder linecache locale logging mailbox multiprocessing.pool nntplib ntpath numbers
optparse os pathlib pdb pickle pickletools platform posixpath pprint pydoc queue random re sched selectors shelve shlex shutil smtplib socket sqlite3 ssl statistics string subprocess
tarfile tempfile textwrap threading tokenize trace traceback turtle types typing unittest.case unittest.mock urllib.request uuid warnings weakref xml.dom.minidom zipfile""".split()

ODD = """
def spread(a,
           b=(1,
              2),
           *c):
    try:
        return [
            x
            for x in
            a
            if x
        ], {k: k for
            k in b}
    except (ValueError,
            TypeError) as e:
        raise \\
            RuntimeError(
                e) from e
    finally:
        with open(a) as f, \\
                open(b) as g:
            lambda: (f,
                     g)
""" + "\n" * 300 + "def far(): pass\nclass A:\n" + "\n" * 200 + "  def m(self): return (1,\n" + "\n" * 400 + "  self)\n"


def codes_of(code, found):
    found.append(code)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            codes_of(c, found)


def all_codes():
    found = []
    codes_of(compile(ODD, "<odd>", "exec"), found)
    for name in MODULES:
        try:
            path = importlib.util.find_spec(name).origin
            with open(path, encoding="utf-8") as f:
                codes_of(compile(f.read(), path, "exec", dont_inherit=True), found)
        except (ImportError, AttributeError, OSError, TypeError, SyntaxError):
            pass  # not in this version
    return found


def said(code):
    units = [0] * (len(code.co_code) // 2)
    for begin, end, line in code.co_lines():
        units[begin // 2:end // 2] = [line or 0] * (end // 2 - begin // 2)
    return units


kind = 1 if sys.version_info < (3, 11) else 2
codes = all_codes()
text = "".join("%d %d %d %s\n" % (kind, c.co_firstlineno, len(c.co_code) // 2,
        c.co_linetable.hex()) for c in codes)
decoded = subprocess.run([sys.argv[1]], input=text, stdout=subprocess.PIPE, text=True,
        check=True).stdout.splitlines()
assert len(decoded) == len(codes)
n_units = different = 0
for code, line in zip(codes, decoded):
    found, truth = [int(n) for n in line.split()], said(code)
    n_units += len(truth)
    if found != truth:
        different += 1
        print("%s:%d %s differs" % (code.co_filename, code.co_firstlineno, code.co_name))
if not different:
    print("same %s %s" % ("many" if len(codes) > 2000 else len(codes),
            "many" if n_units > 100000 else n_units))
