#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a structure with llvm-symbolizer, and its loops with those of what llvm-objdump prints.

Usage: judge_llvm.py places PRINTED DEBUG-FILE [SAMPLES]
       judge_llvm.py loops PRINTED BINARY [SLICES BYTES]
PRINTED: what hpcstruct-lite --print says of the binary.

places: at SAMPLES addresses (20000), which are equally far apart in the code of functions with
debug information, compares the function, the inlined calls with their call sites, and the place.
loops: disassembles SLICES pieces (8) of BYTES (128 KiB), finds the natural loops of each function
that lies in one by dominators, and asks for a loop of the structure with the same instructions.
Code behind an indirect jump is reached through its table only. So in functions that have one which
does not leave them, a loop is compared only by whether it is in one of ours. PRINTED should be of a
structure without lines, in which no loops of one line are joined. Prints a line of figures, and
what differs with JUDGE_VERBOSE=n.
"""
import bisect
import collections
import os
import re
import subprocess
import sys

VERBOSE = int(os.environ.get("JUDGE_VERBOSE", "0"))
FUNCTION = re.compile(r"function (0x[0-9a-f]+) (.*?)(?: at (\S*:\d+|\?))? from (\S+)$")
INLINE = re.compile(r"( *)inline (0x[0-9a-f]+) (.*) at (\S*:\d+|\?) called at (\S*:\d+|\?)$")
LOOP = re.compile(r"( *)loop (0x[0-9a-f]+)( irreducible)? at (.*)$")
ITEM = re.compile(r"( *)(0x[0-9a-f]+)-(0x[0-9a-f]+) (.*)$")


class Function:
    def __init__(self, entry, name, origin):
        self.entry, self.name, self.origin = entry, name, origin
        self.ranges, self.names, self.items, self.loops = [], [], [], []


def names_of(text):
    """A function's names: "demangled (linkage)"; both."""
    found = re.fullmatch(r"(.*) \((_[^ ]*|[^ ()]*)\)", text)
    return [found.group(2), found.group(1)] if found else [text]


def place_of(text):
    if text == "?":
        return ("?", 0)
    path, line = text.rsplit(":", 1)
    # llvm-symbolizer puts a relative directory of compilation before itself
    return (re.sub(r"^([^/].*)/\1/", r"\1/", os.path.normpath(path)), int(line))


def read_functions(path):
    """Yields the functions of a printed structure: items are (start, end, chain, place), a chain of
    inlined calls (name, call site) and loops (index) from the outside in."""
    f, chain = None, []
    with open(path, encoding="utf-8", errors="replace") as lines:
        for text in lines:
            text = text.rstrip("\n")
            if text.startswith("function "):
                if f:
                    yield f
                m = FUNCTION.match(text)
                f, chain = Function(int(m.group(1), 16), m.group(2), m.group(4)), []
                f.names = names_of(f.name)
                continue
            if not f or not text.startswith("  "):
                if f:
                    yield f
                f = None
                continue
            words = text.lstrip(" ")
            depth = (len(text) - len(words)) // 2 - 1
            if words.startswith("code "):
                f.ranges = [tuple(int(x, 16) for x in r.split("-")) for r in words.split()[1:]]
            elif words.startswith("alias "):
                f.names.append(words[6:])
            elif words.startswith("inline "):
                m = INLINE.match(text)
                del chain[depth:]
                chain.append((m.group(3), m.group(5)))
            elif words.startswith("loop "):
                del chain[depth:]
                chain.append(len(f.loops))
                f.loops.append(int(words.split()[1], 16))
            elif words.startswith("0x"):
                m = ITEM.match(text)
                del chain[depth:]
                f.items.append((int(m.group(2), 16), int(m.group(3), 16), tuple(chain),
                                m.group(4)))
    if f:
        yield f


def percent(n, of):
    return f"{100 * n / of:.3f}%" if of else "-"


# ---- places ----

def sample(path, debug, n):
    """Addresses, equally far apart in the intervals of functions with debug information."""
    out = subprocess.run(["readelf", "-SW", debug], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True, text=True).stdout
    text = re.search(r" \.text +\S+ +\S+ +\S+ +([0-9a-f]+) ", out)
    step = max(int(text.group(1), 16) // n // 4 * 4, 4)
    left, ours = 0, {}
    for f in read_functions(path):
        if f.origin != "dwarf":
            continue
        for start, end, chain, place in f.items:
            while left < end - start:
                at = start + left
                ours[at - at % 4 if at - at % 4 >= start else start] = (f, chain, place)
                left += step
            left -= end - start
    return ours


def symbolize(debug, addresses):
    text = "".join(f"{a:#x}\n" for a in addresses)
    out = subprocess.run(["llvm-symbolizer", "--obj=" + debug, "--functions=linkage", "--inlines",
                          "--no-demangle"], input=text, stdout=subprocess.PIPE,
                         check=True, text=True, errors="replace").stdout
    for block in out.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if len(lines) >= 2:
            # without the version of a symbol, as in "fdopen@@GLIBC_2.17"
            yield [(lines[i].split("@")[0], place_of(lines[i + 1].rsplit(":", 1)[0]))
                   for i in range(0, len(lines) - 1, 2)]


def demangle(names):
    out = subprocess.run(["c++filt"], input="\n".join(names) + "\n", stdout=subprocess.PIPE,
                         check=True, text=True).stdout
    return dict(zip(names, out.split("\n")))


def bare(name):
    """A name without arguments, templates, scopes and suffixes of clones."""
    name = re.sub(r"\.(part|constprop|isra|cold|lto_priv|localalias)\b.*", "", name)
    name = name.replace("operator()", "operator@").replace("(anonymous namespace)", "@")
    depth, out = 0, ""
    for c in name.split("(")[0]:
        depth += (c == "<") - (c == ">")
        if depth == 0 and c != ">":
            out += c
    return out.split("::")[-1].split(" ")[-1]


def judge_places(path, debug, n):
    ours = sample(path, debug, n)
    addresses = sorted(ours)
    theirs = list(symbolize(debug, addresses))
    if len(theirs) != len(addresses):
        sys.exit(f"{len(addresses)} addresses, {len(theirs)} answers")
    plain = demangle(sorted({name for frames in theirs for name, _ in frames}))
    same = collections.Counter()
    shown = 0
    for at, frames in zip(addresses, theirs):
        f, chain, place = ours[at]
        inlined = [c for c in chain if not isinstance(c, int)]
        # "??": a name in dwz's shared file, which llvm-symbolizer does not read
        outermost = frames[-1][0]
        function = outermost in f.names + ["??"] or bare(plain[outermost]) == bare(f.names[-1])
        names = [bare(plain[name]) for name, _ in reversed(frames[:-1])]
        calls = [where for _, where in reversed(frames[1:])]
        same_chain = len(names) == len(inlined) and all(
            a in (bare(b[0]), "??") or a.startswith("~") or b[0] == "<unnamed>" or
            "lambda" in b[0] or "{" in b[0] for a, b in zip(names, inlined)) and all(
            a == place_of(b[1]) for a, b in zip(calls, inlined))
        same_place = frames[0][1] == place_of(place) or frames[0][1][1] == 0 == place_of(place)[1]
        same["function"] += function
        same["chain"] += same_chain
        same["place"] += same_place
        same["all"] += function and same_chain and same_place
        if not (function and same_chain and same_place) and shown < VERBOSE:
            shown += 1
            print(f"  {at:#x} {f.names} {inlined} {place}\n    {frames}")
    n = len(addresses)
    print(f"addresses {n} functions {percent(same['function'], n)} inlined "
          f"{percent(same['chain'], n)} lines {percent(same['place'], n)} all "
          f"{percent(same['all'], n)}")


# ---- loops ----

NO_RETURN = re.compile(
    r"<(abort|exit|_exit|_Exit|__stack_chk_fail|__assert_fail|__assert|_Unwind_Resume|__cxa_rethrow"
    r"|__cxa_throw|__cxa_bad_cast|__cxa_throw_bad_array_new_length|__cxa_pure_virtual|longjmp"
    r"|_ZSt9terminatev|_ZSt\d+__throw_\w+|__longjmp_chk|__chk_fail|siglongjmp|pthread_exit|quick_exit"
    r"|__fortify_fail|_gfortran_\w*(stop|error)\w*)(@plt)?>")
X86 = re.compile(r"(?:(?:rep|repne|repz|repnz|notrack|bnd|data16|cs)\s+)*(\S+)\s*(.*)")


class Machine:
    def __init__(self, is_arm):
        self.is_arm = is_arm

    def kind(self, mnemonic, operands):
        """What an instruction does: "", "cond", "jump", "indirect", "call", "end"."""
        m = mnemonic
        if self.is_arm:
            if m == "b":
                return "jump"
            if m.startswith("b.") or m in ("cbz", "cbnz", "tbz", "tbnz"):
                return "cond"
            if m in ("br", "braa", "brab", "braaz", "brabz"):
                return "indirect"
            if m.startswith("bl") and m in ("bl", "blr", "blraa", "blrab", "blraaz", "blrabz"):
                return "call"
            return "end" if m in ("ret", "retaa", "retab", "eret", "brk", "udf", "hlt") and \
                operands != "#0xf000" else ""
        if m.startswith("jmp"):
            return "indirect" if operands.startswith("*") else "jump"
        if m.startswith(("j", "loop", "xbegin")):
            return "cond"
        if m.startswith("call"):
            return "call"
        return "end" if m.startswith(("ret", "iret", "hlt", "ud")) else ""


def disassemble(binary, start, stop, machine):
    """{address: (next, kind, target, operands)}"""
    command = ["llvm-objdump", "-d", "--no-show-raw-insn", f"--start-address={start:#x}",
               f"--stop-address={stop:#x}", binary]
    if not machine.is_arm:
        command.insert(2, "--x86-asm-syntax=att")
    out = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace",
                           stderr=subprocess.DEVNULL)
    code, last = {}, None
    for line in out.stdout:
        left, colon, rest = line.partition(":")
        left = left.strip()
        if not colon or not re.fullmatch("[0-9a-f]+", left) or not rest.strip():
            continue
        at = int(left, 16)
        m = X86.match(rest.strip())
        mnemonic, operands = m.group(1), m.group(2)
        kind = machine.kind(mnemonic, operands)
        target = None
        if kind in ("cond", "jump", "call"):
            found = re.search(r"(?:^|, |\s)(?:0x)([0-9a-f]+)\b", operands)
            target = int(found.group(1), 16) if found else None
        if last is not None:
            code[last][0] = at
        code[at] = [at + (4 if machine.is_arm else 1), kind, target, operands]
        last = at
    out.wait()
    return code


def stubs_without_return(binary, machine):
    """Stubs of functions that never return: llvm-objdump has no names for those of AArch64."""
    out = subprocess.run([("aarch64-linux-gnu-" if machine.is_arm else "") + "objdump", "-d",
                          "-j.plt", "-j.plt.sec", "-j.plt.got", binary], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
    return {int(m.group(1), 16) for m in re.finditer("^([0-9a-f]+) (<.*>):$", out, re.M)
            if NO_RETURN.search(m.group(2))}


def cannot_return(code, f, dead):
    """Nothing leaves the function but calls and jumps to functions that do not return."""
    (start, end), = f.ranges
    at = last = start
    while at < end:
        if at not in code:
            return False
        nxt, kind, target, operands = code[at]
        if kind == "indirect" or (kind == "end" and not operands.startswith("#") and
                                  not operands.startswith("*")):
            return False
        if kind in ("cond", "jump") and not (start <= (target or 0) < end) and target not in dead:
            return False
        last, at = at, nxt
    return code[last][1] in ("call", "jump", "end")


class Graph:
    """Basic blocks of a function by number, from the direct jumps alone."""

    def __init__(self, code, f, dead):
        (start, end), = f.ranges
        self.ok, self.has_indirect = True, False
        leaders, instructions, at = {start}, [], start
        if f.entry in code:
            leaders.add(f.entry)
        while at < end:
            if at not in code:
                self.ok = False
                return
            nxt, kind, target, operands = code[at]
            if kind == "call" and not (target in dead or NO_RETURN.search(operands)):
                kind = ""
            instructions.append((at, nxt, kind, target))
            if kind:
                leaders.add(nxt)
                if kind in ("cond", "jump") and target is not None and start <= target < end:
                    leaders.add(target)
            self.has_indirect |= kind == "indirect"
            at = nxt
        self.starts = sorted(x for x in leaders if start <= x < end)
        number = {a: i for i, a in enumerate(self.starts)}
        n = len(self.starts)
        self.next = [[] for _ in range(n)]
        self.code = [[] for _ in range(n)]
        block = -1
        for at, nxt, kind, target in instructions:
            if at in number:
                block = number[at]
            self.code[block].append(at)
            if nxt in number or nxt >= end or kind:
                if kind in ("", "cond") and nxt in number:
                    self.next[block].append(number[nxt])
                if kind in ("cond", "jump") and target in number:
                    self.next[block].append(number[target])
        # a jump into the middle of an instruction
        self.ok = all(a in code for a in self.starts) and all(self.code)
        self.entry = number.get(f.entry, 0)

    def order(self, root, allowed):
        """Blocks in reverse postorder."""
        seen, out, stack = {root}, [], [(root, iter(self.next[root]))]
        while stack:
            b, it = stack[-1]
            for s in it:
                if s in allowed and s not in seen:
                    seen.add(s)
                    stack.append((s, iter(self.next[s])))
                    break
            else:
                stack.pop()
                out.append(b)
        return out[::-1]

    def natural_loops(self):
        """[(set of blocks)], and whether any cycle has several entries. Code that the entry does
        not reach is looked at for itself."""
        left, loops, irreducible = set(range(len(self.starts))), [], False
        before = [[] for _ in self.starts]
        for b, after in enumerate(self.next):
            for s in after:
                before[s].append(b)
        roots = [self.entry]
        while left:
            if not roots:
                free = [b for b in sorted(left) if not any(p in left for p in before[b])]
                roots = free or [min(left)]
                if not free:
                    irreducible = True # which entry it has is anyone's guess
            root = roots.pop(0)
            if root not in left:
                continue
            order = self.order(root, left)
            part = set(order)
            found, odd = self.loops_from(order, part, before)
            loops += found
            irreducible |= odd
            left -= part
        return loops, irreducible

    def loops_from(self, order, part, before):
        number = {b: i for i, b in enumerate(order)}
        idom = {order[0]: order[0]}
        changed = True
        while changed: # Cooper, Harvey, Kennedy
            changed = False
            for b in order[1:]:
                new = None
                for p in before[b]:
                    if p not in part or p not in idom:
                        continue
                    if new is None:
                        new = p
                        continue
                    a, c = p, new
                    while a != c:
                        while number[a] > number[c]:
                            a = idom[a]
                        while number[c] > number[a]:
                            c = idom[c]
                    new = a
                if idom.get(b) != new:
                    idom[b] = new
                    changed = True
        bodies, irreducible = {}, False
        for b in order:
            for h in self.next[b]:
                if h not in part or number[h] > number[b]:
                    continue
                d = b
                while number[d] > number[h]:
                    d = idom[d]
                if d != h:
                    irreducible = True
                    continue
                body = bodies.setdefault(h, {h})
                stack = [b]
                while stack:
                    x = stack.pop()
                    if x not in body:
                        body.add(x)
                        stack += [p for p in before[x] if p in part]
        return list(bodies.values()), irreducible


def our_loops(f):
    """The code of each loop, with that of the loops inside: sorted ranges."""
    ranges = [[] for _ in f.loops]
    for start, end, chain, _ in f.items:
        for c in chain:
            if isinstance(c, int):
                ranges[c].append((start, end))
    return [sorted(r) for r in ranges]


def contains(starts, ranges, at):
    i = bisect.bisect_right(starts, at) - 1
    return i >= 0 and at < ranges[i][1]


def judge_function(code, f, dead, n, verbose):
    g = Graph(code, f, dead)
    if not g.ok:
        n["unclear functions"] += 1
        return
    theirs, irreducible = g.natural_loops()
    ours = our_loops(f)
    addresses = sorted(a for c in g.code for a in c)
    sets = []
    for ranges in ours:
        starts = [s for s, _ in ranges]
        sets.append(frozenset(a for a in addresses[bisect.bisect_left(addresses, starts[0]):]
                              if a < ranges[-1][1] and contains(starts, ranges, a)))
    bodies = [frozenset(a for b in body for a in g.code[b]) for body in theirs]
    n["functions"] += 1
    n["with indirect jumps"] += g.has_indirect
    exact = not g.has_indirect and not irreducible
    n["exact functions"] += exact
    wrong = []
    for body in bodies:
        n["loops"] += 1
        inside = any(body <= s for s in sets)
        n["in ours"] += inside
        if exact:
            n["exact loops"] += 1
            n["equal"] += body in sets
        if not inside or (exact and body not in sets):
            wrong.append(("not ours", min(body), max(body)))
    if exact:
        for s in sets:
            n["ours"] += 1
            n["ours found"] += s in bodies
            if s not in bodies:
                wrong.append(("ours alone", min(s), max(s)))
    if wrong and n["shown"] < verbose:
        n["shown"] += 1
        print(f"  {f.entry:#x} {f.name} {f.ranges} indirect {g.has_indirect} irreducible "
              f"{irreducible}:", " ".join(f"{w} {a:#x}-{b:#x}" for w, a, b in wrong[:4]))


def judge_loops(path, binary, slices, n_bytes):
    with open(binary, "rb") as file:
        machine = Machine(file.read(20)[18] == 183)
    functions = [f for f in read_functions(path) if f.origin != "plt"]
    n = collections.Counter()
    if not functions:
        sys.exit("no functions")
    stubs = stubs_without_return(binary, machine)
    starts = sorted((f.ranges[0][0], i) for i, f in enumerate(functions) if f.ranges)
    for k in range(slices):
        first = starts[len(starts) * k // slices][0]
        limit = first + n_bytes
        if k + 1 < slices:
            limit = min(limit, starts[len(starts) * (k + 1) // slices][0])
        chosen = [f for f in functions if f.ranges and f.ranges[0][0] >= first and
                  f.ranges[-1][1] <= limit]
        code = disassemble(binary, first, limit, machine)
        alone = [f for f in chosen if len(f.ranges) == 1]
        n["in several parts"] += len(chosen) - len(alone)
        dead = set(stubs)
        for _ in range(8):
            more = {f.entry for f in alone if f.entry not in dead and cannot_return(code, f, dead)}
            if not more:
                break
            dead |= more
        for f in alone:
            judge_function(code, f, dead, n, VERBOSE)
    print(f"functions {n['functions']} ({n['exact functions']} exact, {n['with indirect jumps']} "
          f"with indirect jumps, {n['in several parts']} in parts, {n['unclear functions']} "
          f"unclear) loops {n['loops']} in-ours {percent(n['in ours'], n['loops'])} exact "
          f"{n['exact loops']} equal {percent(n['equal'], n['exact loops'])} ours {n['ours']} "
          f"found {percent(n['ours found'], n['ours'])}")


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("places", "loops"):
        sys.exit(__doc__)
    if sys.argv[1] == "places":
        judge_places(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 20000)
    else:
        judge_loops(sys.argv[2], sys.argv[3], *(int(x) for x in sys.argv[4:6] or (8, 1 << 17)))


main()
