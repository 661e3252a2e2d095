#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Opens report.html in Chromium, as a user would.
#
#     browse_report.py facts REPORT          what the page says, in the form of facts.py
#     browse_report.py use REPORT            clicks, searches, zooms, selects; one line a check:
#                                            "ok NAME" or "not ok NAME: WHY"
#     browse_report.py waiting REPORT        the same, of the view "Waiting" alone
#     browse_report.py nccl REPORT           the same, of kernels of NCCL
#     browse_report.py nvtx REPORT           the same, of ranges of NVTX
#     browse_report.py advice REPORT         the same, of advice about a kernel
#     browse_report.py blames REPORT         the same, of what lines of GPU kernels wait for
#     browse_report.py kernels REPORT        the same, of the table of GPU kernels
#     browse_report.py code REPORT           the same, of source lines and instructions
#     browse_report.py shots REPORT PREFIX [light|dark]     a picture of every view
#     browse_report.py title REPORT          its title, images in it, its first view in one line
#     browse_report.py speed REPORT          times of the first view and of frames, in ms
#
# Several commands, each with its report, may follow each other in one browser. COMMAND=FILE prints
# into a file.

import contextlib
import json
import os
import sys
import time

from selenium import webdriver
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from facts import plain

WAIT_S = 120


def open_browser(theme="light"):
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1400,940", "--disable-extensions", "--no-first-run",
                     "--force-device-scale-factor=1"):
        options.add_argument(argument)
    if theme == "dark":
        options.add_argument("--force-dark-mode")
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")
    return webdriver.Chrome(service=Service(driver), options=options)


def open_report(browser, path):
    browser.get("file://" + os.path.abspath(path))
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if browser.execute_script("return document.documentElement.dataset.ready === '1'"):
            return
        time.sleep(0.05)
    state = browser.execute_script("return document.getElementById('loading')?.textContent")
    raise SystemExit(f"the report did not become ready: {state}")


class Page:
    def __init__(self, browser):
        self.browser = browser

    def js(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def click(self, selector):
        self.browser.find_element(By.CSS_SELECTOR, selector).click()
        time.sleep(0.15)

    def press(self, key):
        self.browser.find_element(By.TAG_NAME, "body").send_keys(key)
        time.sleep(0.15)

    def views(self):
        return self.js("return Object.keys(app.views)")

    def show(self, view):
        self.click(f"#tab-{view}")

    def whole(self):
        return self.js("return app.profile.whole(app.metric)")

    def select(self, change):
        self.js("app.select(arguments[0])", change)

    def place(self, selector):
        """Where an element begins on the screen."""
        return self.js("""const r = document.querySelector(arguments[0]).getBoundingClientRect();
            return [r.left, r.top, r.width];""", selector)

    def drag(self, x, y, to_x=None):
        """Presses at a place of the screen, moves to another one of the same height, releases."""
        actions = ActionBuilder(self.browser)
        actions.pointer_action.move_to_location(int(x), int(y)).pointer_down()
        if to_x is not None:
            actions.pointer_action.move_to_location(int((x + to_x) / 2), int(y)) \
                .move_to_location(int(to_x), int(y))
        actions.pointer_action.pointer_up()
        actions.perform()
        time.sleep(0.25)

    def errors(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]


FACTS = """
const p = app.profile, out = [["contexts", p.n], ["profiles", p.profiles.length]];
p.metrics.forEach((m, i) => {
  const whole = p.whole(i);
  // As the other outputs name sums of launch characteristics.
  const label = m.kind === METRIC_GPU_MEAN ? m.label.replace(/( \\(B\\))?$/, "_ACUMU$1") : m.label;
  out.push(["total", label, whole]);
  const sums = new Map(), self = p.self(i);
  for (let c = 1; c < p.n; c++)
    if (self[c] && p.fn[c] >= 0) sums.set(p.fn[c], (sums.get(p.fn[c]) ?? 0) + self[c]);
  for (const [f, sum] of sums) out.push(["function", label, p.functionName(f), sum]);
});
p.profiles.forEach((x, i) => out.push(["samples", i, x.samples ? x.samples.n : x.ops.n]));
return out;
"""


def print_facts(page):
    for fact in page.js(FACTS):
        print("\t".join(f"{x:.12g}" if isinstance(x, float) else plain(str(x)) for x in fact))


class Checks:
    def check(self, name, holds, why=""):
        print(f"ok {name}" if holds else f"not ok {name}: {why}", flush=True)


def is_painted(page, selector):
    return page.js("""
        const c = document.querySelector(arguments[0]), g = c.getContext('2d');
        const d = g.getImageData(0, 0, c.width, Math.min(c.height, 400)).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 64) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return seen.size > 3;""", selector)


def use_views(page, checks):
    for number, view in enumerate(page.views(), 1):
        page.press(str(number))
        text = page.js("return document.querySelector(`#view-${arguments[0]}`).innerText", view)
        is_shown = page.js(
            "return document.querySelector(`#view-${arguments[0]}`).offsetHeight", view) > 40
        checks.check(f"view {view}, key {number}, shows something",
                     is_shown and len(text) > 10, text[:80])
        if view in ("flame", "timeline"):
            checks.check(f"view {view} is painted", is_painted(page, f"#view-{view} canvas"))


BOX_NAMES = """const v = app.views.flame.view;
    return v.boxes.map(b => v.nameOf(b.node));"""


def use_flame(page, checks):
    page.show("flame")
    names = page.js(BOX_NAMES)
    checks.check("flame graph: main is there", "main" in names, names[:10])
    box = page.js("""
        const v = app.views.flame.view, b = v.boxes.find(b => b.depth === 3) ?? v.boxes.at(-1);
        return {x: b.x + Math.min(b.w / 2, 20), y: b.depth * 19 + 9, name: v.nameOf(b.node)};""")
    canvas = page.browser.find_element(By.CSS_SELECTOR, "#view-flame canvas")
    left, top, _ = page.place("#view-flame canvas")
    page.drag(left + box["x"], top + box["y"])
    crumbs = page.js("return document.querySelector('#view-flame .crumbs').innerText")
    checks.check("flame graph: a click zooms", box["name"] in crumbs, f"{box} {crumbs}")
    canvas.send_keys(Keys.ESCAPE)
    canvas.send_keys(Keys.ARROW_DOWN)
    said = page.js("return document.getElementById('live').textContent")
    checks.check("flame graph: keys move and a screen reader hears it", len(said) > 3, said)
    search = page.browser.find_element(By.ID, "search")
    search.send_keys("main")
    time.sleep(0.2)
    share = page.js("return document.querySelector('#view-flame .share').textContent")
    checks.check("flame graph: search says the share", share.startswith("match:"), share)
    search.clear()
    search.send_keys("no such function")
    share = page.js("return document.querySelector('#view-flame .share').textContent")
    checks.check("flame graph: search finds nothing", share == "no frame matches", share)
    page.js("app.setSearch('')")
    whole = page.js("return app.views.flame.view.root.value")
    page.js("document.querySelectorAll('#view-flame .segments button')[1].click()")
    bottom = page.js("""const v = app.views.flame.view;
        return v.childrenOf(v.root).reduce((s, k) => s + k.value, 0);""")
    checks.check("flame graph: bottom-up has the same sum", abs(bottom - whole) < 1e-6 * whole,
                 f"{bottom} {whole}")
    if page.js("return app.profile.isComparison"):
        sides = page.js("""const v = app.views.flame.view, p = app.profile, m = app.metric;
            const sum = side => v.childrenOf(v.root).reduce((s, k) => s + v.sidesOf(k)[side], 0);
            return [sum('now'), p.whole(m), sum('before'), p.whole(p.before(m))];""")
        checks.check("flame graph: bottom-up has both sides", abs(sides[0] - sides[1]) < 1e-6 and
                     abs(sides[2] - sides[3]) < 1e-6, sides)
    page.js("document.querySelectorAll('#view-flame .segments button')[0].click()")
    page.js("const v = app.views.flame.view;"
            "v.hide(v.boxes.find(b => v.nameOf(b.node) === 'main').node)")
    names = page.js(BOX_NAMES)
    total = page.js("return app.views.flame.view.root.value")
    checks.check("flame graph: hidden frames are gone, their values stay",
                 "main" not in names and abs(total - whole) < 1e-9 * whole, names[:8])
    page.js("app.state.set({'flame.names': ''})")


def use_timeline(page, checks):
    if "timeline" not in page.views():
        return
    page.show("timeline")
    canvas = page.browser.find_element(By.CSS_SELECTOR, "#view-timeline canvas")
    whole = page.whole()
    left, top, width = page.place("#view-timeline canvas")
    middle = left + 210 + (width - 210) / 2
    page.drag(middle - width / 5, top + 34, middle + width / 5)
    part = page.whole()
    chips = page.js("return document.getElementById('selection').innerText")
    checks.check("time lines: a drag selects a range", part < whole and " to " in chips,
                 f"{part} of {whole}: {chips}")
    page.show("overview")
    text = page.js("return document.querySelector('#view-overview').innerText")
    shown = page.js("return app.profile.format(app.metric, arguments[0])", part)
    checks.check("time lines: the selection is in the overview", shown in text or not part, shown)
    span = page.js("return app.profile.meta.span")
    page.select({"time": [0, span / 2]})
    first = page.whole()
    page.select({"time": [span / 2, span * 2]})
    second = page.whole()
    checks.check("time lines: two halves make the whole",
                 abs(first + second - whole) < 1e-6 * whole, f"{first} + {second} = {whole}")
    page.select({"time": None})
    sums = page.js("""
        const p = app.profile; let sum = 0;
        for (const x of p.profiles) {
          app.select({profiles: new Set([x.id])});
          sum += p.whole(app.metric);
        }
        app.select({profiles: null}); return sum;""")
    checks.check("time lines: rows make the whole", abs(sums - whole) < 1e-6 * whole,
                 f"{sums} = {whole}")
    queue = page.js("""
        const p = app.profile, q = p.profiles.filter(x => x.ops?.n);
        const m = p.metricByRole(ROLE.gpuTime);
        if (!q.length || m < 0) return null;
        const all = p.whole(m);
        app.select({profiles: new Set(q.map(x => x.id))});
        const sum = p.whole(m); app.select({profiles: null}); return [sum, all];""")
    if queue and queue[0] < 0.99 * queue[1]:
        page.js("app.setMetric(app.profile.metricByRole(ROLE.gpuTime))")
        page.select({"time": [0, span]})
        said = page.js("return document.getElementById('selection').innerText")
        checks.check("time lines: what has no time is named", "no time line" in said, said)
        page.select({"time": None})
        page.js("app.setMetric(app.profile.mainMetric())")
    if queue:
        # less if operations were summed up during the run
        checks.check("time lines: the rows of all queues have the time of GPUs",
                     0 < queue[0] < 1.001 * queue[1], queue)
    page.show("timeline")
    before = page.js("const v = app.views.timeline.view; return v.to - v.from")
    canvas.send_keys("+")
    after = page.js("const v = app.views.timeline.view; return v.to - v.from")
    checks.check("time lines: + zooms", after < before, f"{before} {after}")
    canvas.send_keys("0")


def use_tables(page, checks):
    page.show("tree")
    rows = page.js("return app.views.tree.view.table.flat.length")
    page.js("const t = app.views.tree.view.table; t.current = 0; t.toggle(t.flat[0])")
    fewer = page.js("return app.views.tree.view.table.flat.length")
    checks.check("tree: a row closes", fewer < rows, f"{rows} {fewer}")
    page.show("tables")
    first = page.js("return document.querySelector('#view-tables .tbody .tr').innerText")
    page.js("document.querySelectorAll('#view-tables .head button')[1].click()")
    checks.check("functions: a click on a head sorts", page.js(
        "return document.querySelectorAll('#view-tables .head button')[1].ariaSort")
                 == "descending", first)


def use_idle(page, checks):
    if page.js("return !app.profile.meta.devices.some(d => d.watched > 0)"):
        return
    page.show("kernels")
    checks.check("kernels: the parts of each device are its time", page.js("""
        return app.profile.meta.devices.filter(d => d.watched > 0)
          .every(d => d.parts.reduce((sum, part) => sum + part.ns, 0) === d.watched);"""))
    rows = page.js("""return [...document.querySelectorAll('#view-kernels .idle tr')]
        .map(r => [...r.cells].map(d => d.innerText))""")
    first = rows[0].index("idle before the first operation") if rows else -1
    want = page.js("""return app.profile.meta.devices.filter(d => d.watched > 0)
        .map(d => percent(d.parts[2].ns, d.watched));""")
    checks.check("kernels: why each device was idle", first > 0 and
                 [r[first] for r in rows[1:]] == want, str([rows, want])[:200])


def use_kernels(page, checks):
    """All kernels in one table: sorted, chosen and selected by the keyboard."""
    if "kernels" not in page.views():
        return
    page.show("kernels")
    table = "const t = app.views.kernels.view.table; "
    whole = page.js("return app.profile.whole(app.profile.metricByRole(ROLE.kernelTime))")
    listed = page.js(table + "return t.flat.map(k => [k.fn, k.time, k.launches])")
    checks.check("kernels: the rows have all their time",
                 abs(sum(k[1] for k in listed) - whole) <= 1e-6 * whole, [listed, whole])
    launches = page.js(table + "return t.columns.findIndex(c => c.title === 'launches')")
    head = f"#view-kernels .head button:nth-child({launches + 1})"
    page.click(head)
    order = page.js(table + "return t.flat.map(k => k.launches)")
    checks.check("kernels: sorted by launches, and the focus stays",
                 order == sorted((k[2] for k in listed), reverse=True) and
                 page.js("return document.activeElement.textContent").startswith("launches") and
                 f"kernels.sort={launches}" in page.js("return location.hash"), order)
    page.js(table + "t.box.focus()")
    page.browser.switch_to.active_element.send_keys(Keys.END + Keys.ENTER)
    last = page.js(table + "return t.flat.at(-1).fn")
    checks.check("kernels: Enter opens the card of a row", page.js("""
        return app.state.number("kernels.of") === arguments[0] && document.querySelector(
          '.kernel-card h3 bdi').textContent === app.profile.functionName(arguments[0]);""", last))
    page.browser.switch_to.active_element.send_keys("m")
    page.browser.switch_to.active_element.send_keys(Keys.ENTER)
    frame, inside = page.js("""const p = app.profile, m = p.metricByRole(ROLE.kernelTime);
        return [p.selection.frame, p.whole(m)];""")
    time_of = {k[0]: k[1] for k in listed}
    checks.check("kernels: M and Enter select it", frame == {"fn": last} and
                 abs(inside - time_of[last]) <= 1e-6 * whole, [frame, inside])
    page.js("app.state.reset()")
    if page.js("return app.profile.isGpuRun"):
        columns = page.js("return app.columns.map(m => app.profile.metrics[m].label)")
        checks.check("a GPU run opens on GPU time, with CPU time beside it",
                     columns[:2] == ["GPUOP (sec)", "CPUTIME (sec)"], columns)
        hidden = page.js("return [app.presets.has(RUNTIME_FRAMES), app.groups.has(RUNTIME_FRAMES)]")
        checks.check("... without the driver's frames", hidden == [True, True], hidden)


def use_code(page, checks):
    """Of a report with source lines and instructions of one function."""
    page.show("source")
    shown = "const v = app.views.source.view, f = v.panel.shown; "
    hottest = page.js(shown + """const {counts} = v.panel.counts(f), i = counts.indexOf(
        Math.max(...counts)); return [i, counts[i], f.line[i], f.n, f.address[i]];""")
    row = f".instructions [data-i='{hottest[0]}']"
    cells = page.js("return [...document.querySelector(arguments[0]).cells].map(c => c.innerText)",
                    row)
    checks.check("source: an instruction has its samples",
                 cells[1] == f"{hottest[1]:,}" and cells[2].endswith("%") and cells[-2], cells)
    checks.check("source: all instructions are rows", page.js(
        "return document.querySelectorAll('.instructions [data-i]').length") == hottest[3])
    page.click(row)
    state = page.js("""return [app.state.get('source.at').split(':')[1], app.state.get('source.pc'),
        document.querySelector('.source > .code .pointed')?.dataset.line]""")
    checks.check("source: a click on an instruction shows its line",
                 state == [str(hottest[2]), hex(hottest[4]), str(hottest[2])], state)
    values = page.js("""const p = app.profile, m = app.metric, line = arguments[0];
        let self = 0; for (let c = 0; c < p.n; c++) if (p.kind[c] === CONTEXT_LINE &&
          p.line[c] === line && p.file[c] === app.views.source.view.file) self += p.self(m)[c];
        return [p.format(m, self), percent(self, p.whole(m)),
          [...document.querySelector('.source > .code .pointed').cells].map(c => c.innerText)];""",
                     hottest[2])
    checks.check("source: the line has its value and share", values[2][1:3] == values[:2], values)
    line = page.js(shown + """return f.line.find((l, i) => f.file[i] === v.file &&
        l !== arguments[0] && v.code.querySelector(`[data-line="${l}"]`))""", hottest[2])
    page.click(f".source > .code [data-line='{line}'] .text")
    marked = page.js(shown + """return [f.line.filter(l => l === arguments[0]).length,
        [...document.querySelectorAll('.instructions .of-line')].map(r => f.line[r.dataset.i])]""",
                     line)
    checks.check("source: a click on a line marks its instructions",
                 marked[1] == [line] * marked[0] and marked[0] > 0, marked)
    page.js("document.querySelector('.instructions .code').focus()")
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN + Keys.ENTER)
    chosen = page.js("return [app.state.get('source.pc'), document.activeElement.ariaLabel]")
    page.browser.back()
    time.sleep(0.15)
    checks.check("source: arrows and Enter choose an instruction, and Back undoes", chosen[0] and
                 chosen[1] == "Instructions" and not page.js("return app.state.get('source.pc')"),
                 chosen)
    found = page.js("""const p = app.profile, fn = p.code.functions[0].fn;
        app.showSource(p.kind.findIndex((k, c) => k === CONTEXT_FUNCTION && p.fn[c] === fn));
        return [fn, app.views.source.view.panel.shown.fn, app.state.get("source.code")];""")
    checks.check("source: the source of a function comes with its instructions",
                 found[0] == found[1] and found[0] >= 0 and found[2] == "0", found)
    errors = page.errors()
    checks.check("source: the console stays empty", not errors, json.dumps(errors)[:400])


WAITING_CARDS = """return [...document.querySelectorAll('#view-waiting .card')].map(c => ({
    title: c.querySelector('h2').innerText, text: c.innerText,
    rows: [...c.querySelectorAll('tbody tr:not(.sub)')].map(r => r.innerText)}));"""


def use_waiting(page, checks):
    if "waiting" not in page.views():
        return
    page.show("waiting")
    cards = {c["title"]: c for c in page.js(WAITING_CARDS)}
    meta = page.js("return app.profile.meta")

    def card(title):
        found = [c for t, c in cards.items() if t.startswith(title)]
        return found[0] if found else {"rows": [], "text": ""}

    def rows(title, want):
        got = len(card(title)["rows"])
        checks.check(f"waiting: {title}: {want} rows", got == want, f"{got}: {list(cards)}")

    if "uses" in meta:
        whole = sum(meta["uses"]["us"])
        rows("Where the time of", sum(us >= 0.0005 * whole for us in meta["uses"]["us"]))
        shares = [float(r.split("%")[0]) for r in card("Where the time of")["rows"]]
        checks.check("waiting: the shares add up", abs(sum(shares) - 100) < 1, shares)
        used = [p for p, x in zip(meta["processes"], meta["uses"]["processes"]) if sum(x["us"])]
        ranks = {p["rank"] for p in used if p["rank"] >= 0}
        if ranks and len(meta["uses"]["processes"]) > 1:
            rows("By rank", len(ranks) + sum(p["rank"] < 0 for p in used))
    if "pop" in meta:
        phases = meta["pop"]["phases"]
        rows("Parallel efficiency", len(phases))
        for phase, row in zip(phases, card("Parallel efficiency")["rows"]):
            name = page.js("return app.profile.str(arguments[0])", phase["name"])
            keys = [k for k in phase if k not in ("name", "context", "elapsed")]
            checks.check(f"waiting: efficiencies of {name}", name in row and all(
                f"{phase[k] / 10:.1f} %" in row for k in keys), row)
    if "regions" in meta:
        rows("Parallel regions", min(len(meta["regions"]["rows"]), 30))
        for region, row in zip(meta["regions"]["rows"], card("Parallel regions")["rows"]):
            name = page.js("return app.profile.str(arguments[0])", region["name"])
            checks.check(f"waiting: {name}",
                         name in row and f"{region['efficiency'] / 10:.1f} %" in row, row)
        checks.check("waiting: regions that are left out are counted",
                     ("Left out" in card("Parallel regions")["text"])
                     == (meta["regions"]["small"] > 0 or not meta["regions"]["teams"]))
    if "mpi" in meta:
        mpi = meta["mpi"]
        rows("MPI: calls by waiting time", min(len(mpi["places"]), 16))
        if len(mpi["processes"]) > 1:
            rows("MPI: by rank", min(len(mpi["processes"]), 32))
        rows("MPI: by size", sum(x["class"] > 0 for x in mpi["sizes"]))
        rows("MPI: communicators", min(len(mpi["comms"]), 16))
        if mpi["open"]:
            rows("MPI: calls that did not end", min(len(mpi["open"]), 16))
        checks.check("waiting: who sends to whom", page.js(
            "return document.querySelectorAll('#view-waiting .matrix .state').length")
                     == len(mpi["pairs"]))


def use_threads(page, checks):
    """The mean and the most are those of the report, also of processes with helper threads."""
    page.show("threads")
    text = page.js("return document.querySelector('#view-threads p').innerText")
    want = page.js("""const p = app.profile, m = p.metrics[app.metric];
        return [m.mean, m.most].map(x => p.format(app.metric, x / m.scale))""")
    checks.check("threads: mean and most", f"mean {want[0]}, most {want[1]}." in text, text)
    # a function has its mean by the same rule; here for everything
    wrong = page.js("""const p = app.profile, v = app.views.threads.view;
        return p.metrics.filter(m => {
          const list = countedThreads(p, m.id, v.values(m.id), x => x.profile),
            most = Math.max(...list.map(x => x.value)),
            sum = list.reduce((a, x) => a + x.value, 0),
            mean = meanOfThreads(p, m.id, sum, list.length, most);
          return Math.abs(mean * m.scale - m.mean) > 1e-6 * m.mean + list.length;
        }).map(m => m.label)""")
    checks.check("threads: the same mean of all metrics", not wrong, wrong)


def use_nccl(page, checks):
    """Of two ranks as in tests/gen/gen_nccl.h, with eight steps."""
    page.show("overview")
    cards = page.js("""return [...document.querySelectorAll('.card')]
        .filter(c => c.querySelector('h2')?.innerText.startsWith('NCCL'))
        .map(c => [...c.querySelectorAll('tr')].map(r =>
            [...r.querySelectorAll('td')].map(d => d.innerText)))""")
    checks.check("nccl: two tables", len(cards) == 2, cards)
    times, last = (cards + [[], []])[:2]
    checks.check("nccl: times of a rank", [r[:8] for r in times if r] == [
        ["rank 0", "47.5 %", "38.0 ms", "32.0 ms", "31.8 ms", "12.2 ms", "6.00 ms", "2"],
        ["rank 1", "42.5 %", "34.0 ms", "32.0 ms", "31.8 ms", "12.2 ms", "2.00 ms", "6"],
    ], times)
    checks.check("nccl: an operation and its place", len(last) == 4 and
                 last[1] == ["8.00 ms", "8", "AllReduce at train.c:20"], last)
    checks.check("nccl: who came last", len(last) == 4 and last[2][:2] == ["6.00 ms", "75.0 %"] and
                 last[2][2].startswith("rank 1 last, 1.00 ms behind"), last)
    errors = page.errors()
    checks.check("nccl: the console stays empty", not errors, json.dumps(errors)[:400])


def use_advice(page, checks):
    """Of the recording "pipe": an arithmetic unit is busy."""
    page.show("overview")
    text = page.js("return document.querySelector('.advice details').innerText")
    checks.check("advice: the row", text.startswith("a busy arithmetic unit in multiply") and
                 "times as fast" in text, text)
    page.click(".advice summary")
    facts = page.js("""return [...document.querySelectorAll('.advice details[open] dl > div')]
        .map(d => d.innerText.split('\\n'))""")
    checks.check("advice: its evidence and line", [f[0] for f in facts] ==
                 ["do", "if", "why", "where"] and "arithmetic unit: " in facts[2][1] and
                 "truth_kernels.cu:" in facts[3][1], facts)
    errors = page.errors()
    checks.check("advice: the console stays empty", not errors, json.dumps(errors)[:400])


BARRIER = "waits for other warps at a barrier of the block (SYNC)"


def use_blames(page, checks):
    """Of the recording "barrier": 31 warps wait for one that runs a loop."""
    page.show("kernels")
    rows = page.js("""return [...document.querySelectorAll('section.blames tbody tr')]
        .map(r => [...r.querySelectorAll('td')].map(d => d.innerText))""")
    top = rows[0] if rows else []
    checks.check("blames: the pair of lines", len(top) == 4 and top[1] == BARRIER and
                 top[2].startswith("truth_kernels.cu:") and
                 top[3].startswith("warps that come from truth_kernels.cu:"), rows)
    waiting, cause = (top[i].split("truth_kernels.cu:")[1].split()[0] for i in (2, 3))
    page.click("section.blames tbody button")
    row = f"tr[data-line='{waiting}']"
    page.click(f"{row} .line-number button")
    text = page.js("return document.querySelector('tr.waits').innerText")
    checks.check("blames: what a line waits for", "This line waits for" in text and
                 f"{BARRIER}: warps that come from truth_kernels.cu:{cause}" in text, text)
    page.click(f"{row} .line-number button")
    checks.check("blames: and it is hidden again",
                 page.js("return document.querySelectorAll('tr.waits').length") == 0)
    page.click(f"tr[data-line='{cause}'] .line-number button")
    text = page.js("return document.querySelector('tr.waits').innerText")
    checks.check("blames: who waits for a line",
                 f"{BARRIER}: truth_kernels.cu:{waiting}" in text.split("wait for it")[-1], text)
    errors = page.errors()
    checks.check("blames: the console stays empty", not errors, json.dumps(errors)[:400])


def use_nvtx(page, checks):
    """Of tests/workload/nvtx/nvtx_program phases."""
    page.show("overview")
    card = page.js("""return [...document.querySelectorAll('.card')]
        .filter(c => c.querySelector('h2')?.innerText.startsWith('Ranges of NVTX'))
        .map(c => [...c.querySelectorAll('tr')].map(r => r.innerText.split('\\t')))[0]""") or [[]]
    rows = {r[-1]: dict(zip(card[0], r)) for r in card[1:]}
    checks.check("nvtx: the row of step", rows.get("step", {}).get("count") == "3" and
                 rows["step"]["payload"] == "6.5", card)
    checks.check("nvtx: the row of part", rows.get("part", {}).get("count") == "15,000", card)
    page.show("timeline")
    view = "const v = app.views.timeline.view;"
    names = page.js(view + "return v.rows.map(id => v.rowName(id))")
    checks.check("nvtx: two rows below the main thread", [n.split(":")[0] for n in names][1:3] ==
                 ["NVTX", "NVTX 2"] and len(names) == 4, names)
    found = page.js(view + """const t = v.track(v.rows[1]), label = i =>
        app.profile.str(app.profile.meta.nvtx.ranges[t.range[i]].label);
        const steps = [...t.range.keys()].filter(i => label(i) === "step");
        return steps.map(i => v.under({id: v.rows[1], x: 1000, time: t.end[i] - 50000}).range)""")
    checks.check("nvtx: what is under the mouse", found == ["step"] * 3, found)
    left, top, width = page.place("#view-timeline canvas")
    page.drag(left + 60, top + 26 + 22 + 11)
    chosen = page.js("return [...app.profile.selection.profiles ?? []]")
    checks.check("nvtx: a row selects its thread", chosen == [0], chosen)
    colour = page.js("return document.querySelector('#view-timeline canvas').getContext('2d')"
                     ".getImageData(arguments[0], 26 + 22 + 11, 1, 1).data[3]", width / 2)
    checks.check("nvtx: the ranges are painted", colour > 0, colour)
    errors = page.errors()
    checks.check("nvtx: the console stays empty", not errors, json.dumps(errors)[:400])


def use_page(page, checks):
    use_views(page, checks)
    use_idle(page, checks)
    use_kernels(page, checks)
    use_waiting(page, checks)
    use_flame(page, checks)
    use_timeline(page, checks)
    use_tables(page, checks)
    before = page.js("return getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    after = page.js("return getComputedStyle(document.body).backgroundColor")
    checks.check("the theme changes", before != after, f"{before} {after}")
    foreign = page.js("return document.querySelectorAll('img, iframe, object, embed, link').length")
    checks.check("no name became an element", foreign == 0, foreign)
    errors = page.errors()
    checks.check("the console stays empty", not errors, json.dumps(errors)[:400])


def take_shots(page, prefix):
    for view in page.views():
        page.show(view)
        time.sleep(0.2)
        page.browser.save_screenshot(f"{prefix}-{view}.png")


def measure_speed(page):
    first = page.js("return performance.getEntriesByName('first-view')[0].startTime")
    ready = page.js("return performance.getEntriesByName('complete')[0].startTime")
    print(f"first-view\t{first:.0f}\ncomplete\t{ready:.0f}")
    page.show("timeline")
    page.browser.set_script_timeout(60)
    frames = page.browser.execute_async_script("""
        const done = arguments[0], v = app.views.timeline.view, times = [];
        const step = i => {
          const t = performance.now();
          if (i < 40) v.from = (v.to - (v.to - v.from) * 0.8); else v.setRange(0, v.span);
          v.paintNow();
          times.push(performance.now() - t);
          if (i < 60) requestAnimationFrame(() => step(i + 1)); else done(times);
        };
        step(0);""")
    frames.sort()
    print(f"frame-median\t{frames[len(frames) // 2]:.1f}\nframe-worst\t{frames[-1]:.1f}")


def run(browser, command, report, more):
    open_report(browser, report)
    page = Page(browser)
    if command == "facts":
        print_facts(page)
    elif command == "use":
        use_page(page, Checks())
    elif command == "waiting":
        checks = Checks()
        use_waiting(page, checks)
        use_threads(page, checks)
    elif command == "nccl":
        use_nccl(page, Checks())
    elif command == "advice":
        use_advice(page, Checks())
    elif command == "code":
        use_code(page, Checks())
    elif command == "kernels":
        use_idle(page, Checks())
        use_kernels(page, Checks())
    elif command == "blames":
        use_blames(page, Checks())
    elif command == "nvtx":
        use_nvtx(page, Checks())
    elif command == "shots":
        take_shots(page, more[0])
    elif command == "title":
        print(browser.title, page.js("return document.querySelectorAll('img').length"),
              page.js("return document.querySelector('#view-overview').textContent"), sep="\n")
    elif command == "speed":
        measure_speed(page)
    else:
        raise SystemExit(f"unknown command {command}")


def main():
    arguments = sys.argv[1:]
    is_shots = arguments[0] == "shots"
    browser = open_browser(arguments[3] if is_shots and len(arguments) > 3 else "light")
    try:
        while arguments:
            command, _, to = arguments[0].partition("=")
            with contextlib.ExitStack() as stack:
                if to:
                    out = stack.enter_context(open(to, "w", encoding="utf-8"))
                    stack.enter_context(contextlib.redirect_stdout(out))
                run(browser, command, arguments[1], arguments[2:])
            arguments = [] if is_shots else arguments[2:]
    finally:
        browser.quit()


main()
