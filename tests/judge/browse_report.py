#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Opens report.html in Chromium, as a user would.
#
#     browse_report.py facts REPORT          what the page says, in the form of facts.py
#     browse_report.py use REPORT            clicks, searches, zooms, selects; one line a check:
#                                            "ok NAME" or "not ok NAME: WHY"
#     browse_report.py flame REPORT          the same, of the flame graph alone
#     browse_report.py empty REPORT          the same, of a run with no sample or one
#     browse_report.py compare REPORT        the same, of a comparison; beside it are texts of the
#                                            same runs that end with .txt (by self) and -total.txt
#     browse_report.py waiting REPORT        the same, of the view "Waiting" alone
#     browse_report.py nccl REPORT           the same, of kernels of NCCL
#     browse_report.py nvtx REPORT           the same, of ranges of NVTX
#     browse_report.py keys REPORT           presses each key of the list of keys
#     browse_report.py power REPORT          the same, of a meter of energy
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
import re
import sys
import time

from selenium import webdriver
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from browse_agree import (use_cause, use_denominator, use_files, use_idle_link, use_placed,
                          use_scope, use_symbols, use_terms)
from browse_keys import use_keys
from browse_look import use_colours, use_columns, use_sorting, use_wheel, use_window
from browse_times import (use_gpu_waits, use_intervals, use_marks, use_moment, use_power,
                          use_processors, use_range, use_rows, use_shares, use_stack)
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
    wait_until_ready(browser)


def wait_until_ready(browser):
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
  const sums = new Map(), self = p.uncut(i); // of kernels, not of their lines, as in the text
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


def boxes_of(page):
    return page.js(BOX_NAMES)


def point_at(page, name, depth=None):
    """A place on the screen inside a box of the flame graph."""
    return page.js("""
        const v = app.views.flame.view, [name, depth] = arguments,
          b = v.boxes.find(b => (name === null || v.nameOf(b.node) === name) && !b.above &&
            (depth === null || b.depth === depth) && b.w > 4);
        const r = v.canvas.getBoundingClientRect();
        if (b) v.painter.scrollTo(b);
        return b && {x: r.left + b.x + Math.min(b.w / 2, 20),
          y: r.top + v.painter.yOf(b) + v.painter.row / 2,
          name: v.nameOf(b.node), value: b.node.value};""", name, depth)


def choose(page, text):
    """Clicks an entry of the open menu."""
    for entry in page.browser.find_elements(By.CSS_SELECTOR, ".menu button"):
        if entry.text.startswith(text):
            entry.click()
            time.sleep(0.15)
            return True
    return False


def use_flame(page, checks):
    page.show("flame")
    names = boxes_of(page)
    checks.check("flame graph: main is there", "main" in names, names[:10])
    box = page.js("""
        const v = app.views.flame.view, b = v.boxes.find(b => b.depth === 3) ?? v.boxes.at(-1);
        return b.depth;""")
    box = point_at(page, None, box)
    canvas = page.browser.find_element(By.CSS_SELECTOR, "#view-flame canvas")
    page.drag(box["x"], box["y"])
    crumbs = page.js("return document.querySelector('#view-flame .crumbs').textContent")
    zoomed = page.js("const v = app.views.flame.view; return v.nameOf(v.zoomed)")
    checks.check("flame graph: a click zooms", box["name"] == zoomed and len(crumbs) > 3,
                 f"{box} {zoomed} {crumbs}")
    page.js("app.state.set({'flame.zoom': ''})")
    canvas.send_keys(Keys.ARROW_DOWN)
    said = page.js("return document.getElementById('live').textContent")
    checks.check("flame graph: keys move and a screen reader hears it", len(said) > 3, said)
    use_flame_search(page, checks)
    use_flame_layout(page, checks)
    use_flame_directions(page, checks)
    use_flame_menu(page, checks)


def use_flame_search(page, checks):
    search = page.browser.find_element(By.ID, "search")
    search.send_keys("main")
    time.sleep(0.2)
    share = page.js("return document.querySelector('#view-flame .share').textContent")
    checks.check("flame graph: search says the share", share.startswith("match:"), share)
    search.clear()
    search.send_keys("no such function")
    share = page.js("return document.querySelector('#view-flame .share').textContent")
    checks.check("flame graph: search finds nothing", share == "no frame matches", share)
    search.clear()
    # The smallest frame is not wide enough to see, unless the search zooms.
    name = page.js("""const v = app.views.flame.view, t = v.values.total;
        let least = 1;
        for (let f = 1; f < v.tree.n; f++) if (t[f] > 0 && t[f] < t[least]) least = f;
        return v.tree.name(least);""")
    page.js("app.setSearch(`^${escapeRegExp(arguments[0])}$`)", name)
    n = page.js("return app.search.matches.length")
    for _ in range(n):
        search.send_keys(Keys.ENTER)
    time.sleep(0.2)
    found = page.js("""const v = app.views.flame.view,
          b = v.boxes.find(b => b.node === v.focus && !b.above);
        return b && [v.nameOf(b.node), b.w, v.isMatch(b.node)];""")
    checks.check("flame graph: the search goes to a match and makes it visible",
                 n > 0 and found and found[0] == name and found[1] >= 3 and found[2],
                 f"{name} {n} {found}")
    page.js("app.setSearch(''); app.state.set({'flame.zoom': ''})")


def use_flame_layout(page, checks):
    sizes = page.js("""const v = app.views.flame.view, {painter} = v;
        return {row: painter.row, rows: painter.rows.length, shown: v.scroller.clientHeight,
          page: document.documentElement.scrollHeight, window: innerHeight};""")
    checks.check("flame graph: it fills the window, or its rows are as high as they get",
                 18 <= sizes["row"] <= 56 and sizes["page"] <= sizes["window"] and
                 (sizes["row"] == 56 or
                  (sizes["row"] + 1) * sizes["rows"] > sizes["window"] - 260), sizes)
    box = point_at(page, None, 1)
    actions = ActionBuilder(page.browser)
    actions.pointer_action.move_to_location(int(box["x"]), int(box["y"]))
    actions.perform()
    tip = "return document.getElementById('tip').hidden ? '' : " \
        "document.getElementById('tip').textContent"
    shown = page.js(tip)
    page.js("app.views.flame.view.scroller.dispatchEvent(new Event('scroll'))")
    checks.check("flame graph: a tooltip names the frame, until something scrolls",
                 box["name"] in shown and page.js(tip) == "", shown)
    forms = page.js("""const names = ["A::B::f(int)", "A::B::g", "A::C<int>::h(A::D*)", "main"],
          p = {functions: {n: 4}, functionName: i => names[i]};
        return [commonNamespaces(p), names.map(n => shortLabel(p, n)),
          formsOf("Pair::compute(int, int)")];""")
    checks.check("flame graph: labels lose common namespaces, then outer names",
                 forms == [["A::"], ["B::f(int)", "B::g", "C<int>::h(D*)", "main"],
                           ["Pair::compute(int, int)", "Pair::compute", "compute"]], forms)


def use_flame_directions(page, checks):
    whole = page.js("return app.views.flame.view.root.value")
    page.click("#view-flame .segments [data-value=up]")
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
    page.click("#view-flame .segments [data-value=both]")
    centre = page.js("""const v = app.views.flame.view, b = v.boxes.find(b => b.isCentre);
        return [v.nameOf(b.node), v.boxes.filter(x => x.depth < b.depth).length];""")
    checks.check("flame graph: callers are above the function", centre[1] > 0, centre)
    # Recursion counts once in both.
    wrong = page.js("""
        const v = app.views.flame.view, p = app.profile, m = app.metric, wrong = [];
        const metrics = p.isComparison ? [m, p.before(m)] : [m];
        for (const g of groupContexts(p, GROUPINGS.Functions, metrics)) {
          const fn = p.fn[g.context], total = p.isComparison
            ? (g.total.get(m) + g.total.get(p.before(m))) / 2 : g.total.get(m);
          if (fn < 0 || p.classNames[p.classes[g.context]] === "device") continue;
          app.go("flame", {"flame.of": fn});
          const up = v.nodes.callers, sum = v.childrenOf(up).reduce((s, k) => s + k.value, 0);
          if (Math.abs(v.root.value - total) > 1e-9 * total || sum > up.value * (1 + 1e-9) ||
              Math.abs(up.value - total) > 1e-9 * total)
            wrong.push([p.functionName(fn), total, v.root.value, up.value, sum]);
        }
        return wrong;""")
    checks.check("flame graph: callers and callees have the totals of the table", not wrong,
                 wrong[:3])
    page.click("#view-flame .segments [data-value=down]")


def use_empty(page, checks):
    """A run with no sample or one: every view says so, or shows it."""
    for view in page.views():
        page.show(view)
        text = page.js("return document.querySelector(`#view-${arguments[0]}`).innerText", view)
        checks.check(f"few samples: view {view} shows something", len(text) > 10, text)
    page.show("flame")
    whole = page.whole()
    starts = page.js("const p = app.profile;"
                     "return p.functions.name.some(n => p.str(n) === '_start')")
    if starts:
        folded = boxes_of(page)
        page.click("#view-flame .chip")
        names = boxes_of(page)
        checks.check("few samples: the start of the process is folded, until its chip is clicked",
                     "_start" in names and "_start" not in folded and "main" in folded,
                     f"{folded} {names}")
    text = page.js("return document.getElementById('view-flame').innerText")
    checks.check("few samples: the flame graph has it, or says that there is none",
                 page.js("return app.views.flame.view.boxes.length > 2") if whole else
                 "this run has no" in text, text)
    errors = page.errors()
    checks.check("few samples: the console stays empty", not errors, json.dumps(errors)[:400])


def use_flame_menu(page, checks):
    whole = page.js("return app.views.flame.view.root.value")
    canvas = page.browser.find_element(By.CSS_SELECTOR, "#view-flame canvas")
    # A frame that is called from several lines, so that it is several contexts; else a deep one.
    box = page.js("""const v = app.views.flame.view, p = app.profile, n = {};
        const total = p.total(app.metric);
        for (let c = 1; c < p.n; c++)
          if (p.kind[c] === CONTEXT_FUNCTION && total[c])
            n[v.tree.of[c]] = (n[v.tree.of[c]] ?? 0) + 1;
        const [box] = v.boxes.filter(b => v.isFunction(b.node) && v.nameOf(b.node) !== "main")
          .sort((a, b) => n[b.node.frame] - n[a.node.frame] || b.depth - a.depth);
        v.painter.scrollTo(box);
        v.focus = box.node;
        return [v.nameOf(v.focus), v.focus.value, n[v.focus.frame]];""")
    canvas.send_keys("m")
    done = choose(page, "Select only this frame")
    now = page.js("const p = app.profile, v = app.views.flame.view; return [v.root.value,"
                  "document.getElementById('selection').innerText]")
    checks.check("flame graph: key M selects one frame, which narrows everything",
                 done and abs(now[0] - box[1]) < 1e-9 * box[1] and "×" in now[1], f"{box} {now}")
    page.js("app.select({frame: null})")
    main = point_at(page, "main")
    actions = ActionBuilder(page.browser)
    actions.pointer_action.move_to_location(int(main["x"]), int(main["y"])).context_click()
    actions.perform()
    time.sleep(0.2)
    done = choose(page, "Callers and callees")
    of = page.js("const v = app.views.flame.view; return [v.kind, v.nameOf(v.root)]")
    checks.check("flame graph: the menu shows callers and callees", done and of == ["both", "main"],
                 of)
    page.click("#view-flame .segments [data-value=down]")
    page.js("const v = app.views.flame.view;"
            "v.input.hide(v.boxes.find(b => v.nameOf(b.node) === 'main').node)")
    names = boxes_of(page)
    total = page.js("return app.views.flame.view.root.value")
    checks.check("flame graph: hidden frames are gone, their values stay",
                 "main" not in names and abs(total - whole) < 1e-9 * whole, names[:8])
    page.js("app.state.set({'flame.names': ''})")


# ---- comparisons ----

SCALES = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "": 1}


def rounded(text, scale):
    digits = len(text.partition(".")[2])
    return float(text.replace(",", "")) * scale, 0.51 * 10 ** -digits * scale


def read_comparison(path):
    """Tables of hpcprof-lite compare: {title: [[change, sd, base, new, name, is noise]]}. Each
    number is (value, half of its last digit)."""
    number = r"([-+]?[\d.,]+) ?(s|ms|us|ns|)"
    row = re.compile(rf" *{number} +{number} +(?:[-+][\d.]+%)? +\S+ +{number} +{number}   (.*)")
    tables, noise = {}, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line[0] not in " -\n":
                table, noise = tables.setdefault(line.strip(), []), False
            noise = noise or line.startswith("---- noise")
            m = row.match(line)
            if m:
                x = [rounded(m[i], SCALES[m[i + 1]]) for i in (1, 3, 5, 7)]
                name = re.split("  +", m[9].strip())[0]
                table.append([*x, name.replace(" (noise)", ""), noise or "(noise)" in name])
    return tables


def use_comparison(page, checks, path):
    """The page of a comparison says what the text of its options says (PATH, by own values)."""
    def differ(want, have):
        return want[4:] != have[4:] or any(
            abs(a - b) > error for (a, error), b in zip(want[:4], have[:4]))
    limits = []
    for kind, title in (("", "their own"), ("1", "their total")):
        text = path if not kind else path.replace(".txt", "-total.txt")
        tables = read_comparison(text)
        have = page.js("""const p = app.profile, j = judgeFunctions(p, app.metric, !!arguments[0]);
            return j.rows.map(r => [r.now - r.before, r.sd, r.before, r.now, p.name(r.context),
              r.isNoise]);""", kind)
        want = next(rows for name, rows in tables.items()
                    if name.startswith(f"Functions by change of {title}"))
        wrong = [(a, b) for a, b in zip(want, have) if differ(a, b)]
        checks.check(f"comparison: functions by {title} values, as in the text",
                     len(want) == len(have) > 1 and not wrong, f"{wrong} {want} {have}")
        page.js("app.state.set({'overview.total': arguments[0]})", kind)
        with open(text, encoding="utf-8") as file:
            limits.append(re.search(r"within ([\d.]+) sd", file.read())[1])
        words = page.js("return document.querySelector('#view-overview').innerText")
        checks.check(f"comparison: the limit of {title} values is that of their own, and is said",
                     limits[0] == limits[-1] and f"is within {limits[0]} sd" in words and
                     f"within {limits[0]} sd{'' if kind else ', '}" in words, [limits, words])
        shown = page.js("return [...document.querySelectorAll('#view-overview tr[data-fn]')].map("
                        "r => [r.querySelector('bdi').textContent, r.className === 'noise'])")
        checks.check(f"comparison: the overview shows {title} values, noise in grey",
                     shown == [x[4:] for x in want], f"{shown} {want}")
    have = page.js("""return new ComparisonView(app, null).sums().map(i => {
          const e = estimateWhole(app.profile, i), view = new ComparisonView(app, null);
          return [e.now - e.before, e.sd, e.before, e.now, app.profile.metrics[i].label,
            isNoise(e, view.wholeLimit()) && e.now !== e.before]; })""")
    want = tables["The whole program"]
    checks.check("comparison: the whole of each metric, as in the text", len(want) == len(have) and
                 not any(differ(a, b) for a, b in zip(want, have)), f"{want} {have}")
    runs = page.js("return app.profile.runs.map(r => [r.side, samplesOf(r, app.metric)])")
    text = page.js("return document.querySelector('[aria-label=Runs]').innerText")
    checks.check("comparison: both sides have samples, times and commands",
                 {0, 1} == {r[0] for r in runs} and all(f"{r[1]:,}" in text for r in runs) and
                 "app" in text and "µs" in text, text)
    for view in ("tables", "tree"):
        page.show(view)
        shown = page.js("""const p = app.profile, {table} = app.views[app.current].view,
              k = table.columns.findIndex(c => c.id === `total${app.metric}+`),
              rows = document.querySelectorAll(`#view-${app.current} .tbody .tr`);
            return [...rows].map(tr => {
              const row = table.flat[tr.ariaRowIndex - 1], cell = tr.children[k];
              return [p.name(row.context ?? row.id), cell.classList.contains("quiet"),
                cell.innerText.split("± ")[1]];
            }).filter(r => r[2])""")
        judged = page.js("""const p = app.profile, m = app.metric;
            return Object.fromEntries(judgeFunctions(p, m, true).rows.map(r =>
              [p.name(r.context), [r.isNoise, p.format(m, r.sd)]]));""")
        wrong = [r for r in shown if r[0] in judged and judged[r[0]] != r[1:]]
        checks.check(f"comparison: noise is grey in {view}, with its sd", not wrong and
                     {True, False} == {r[1] for r in shown}, f"{wrong} {shown} {judged}")
    page.show("flame")
    for side in ("before", "now"):
        page.click(f"#view-flame .segments [data-value={side}]")
        sums = page.js("""const v = app.views.flame.view, p = app.profile, m = app.metric;
            return [v.root.value, p.whole(arguments[0] === "now" ? m : p.before(m))];""", side)
        checks.check(f"comparison: the flame graph has the widths of {side}",
                     abs(sums[0] - sums[1]) < 1e-9 * sums[1], sums)
    judged = page.js("""const v = app.views.flame.view;
        return v.boxes.map(b => [v.nameOf(b.node), v.judge(b.node).isNoise,
          new FrameColours(v).of(b.node) === changeColour(1, 1, true)]);""")
    checks.check("comparison: noise is grey in the flame graph, the rest is not",
                 all(noise == grey for _, noise, grey in judged) and
                 len({noise for _, noise, _ in judged}) == 2, judged)
    errors = page.errors()
    checks.check("comparison: the console stays empty", not errors, json.dumps(errors)[:400])


def use_timeline(page, checks):
    if "timeline" not in page.views():
        return
    page.show("timeline")
    whole = page.whole()
    left, top, width = page.place("#view-timeline canvas")
    middle = left + 210 + (width - 210) / 2
    page.drag(middle - width / 5, top + 40, middle + width / 5)
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
    use_intervals(page, checks)
    use_rows(page, checks)
    use_processors(page, checks)
    use_moment(page, checks)
    use_marks(page, checks)
    use_gpu_waits(page, checks)
    use_stack(page, checks)
    use_range(page, checks)


def use_tables(page, checks):
    page.show("tree")
    rows = page.js("return app.views.tree.view.table.flat.length")
    page.js("const t = app.views.tree.view.table; t.current = 0; t.toggle(t.flat[0])")
    fewer = page.js("return app.views.tree.view.table.flat.length")
    checks.check("tree: a row closes", fewer < rows, f"{rows} {fewer}")
    page.show("tables")
    first = page.js("return document.querySelector('#view-tables .tbody .tr').innerText")
    page.js("document.querySelectorAll('#view-tables .head button')[1].focus()")
    page.js("document.activeElement.click()")
    checks.check("functions: the head keeps the focus", page.js(
        "return document.activeElement.getAttribute('aria-sort')") == "descending")
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
    looks = page.js("""const {parts} = app.profile.meta.devices[0], box = el("p");
        document.body.append(box);
        const looks = parts.map((part, i) => {
          const swatch = el("i", {class: `swatch ${idleState(part, i)}`});
          box.append(swatch);
          const {backgroundColor, backgroundImage} = getComputedStyle(swatch);
          return backgroundColor + backgroundImage;
        });
        box.remove();
        return looks;""")
    checks.check("kernels: no two causes look alike", len(set(looks)) == len(looks) == 8, looks)


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
                 "kernels.sort=2" in page.js("return location.hash"), order)
    size = page.browser.get_window_size()
    page.browser.set_window_size(900, size["height"])
    time.sleep(0.1)
    hidden = page.js(table + "return t.box.scrollHeight - t.box.clientHeight")
    page.browser.set_window_size(size["width"], size["height"])
    checks.check("kernels: a bar to scroll sideways covers no row", len(listed) > 10 or hidden <= 0,
                 hidden)
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
    rooms = page.js("""const v = app.views.source.view, all = v.files,
            list = document.querySelector("#view-source .file-list");
        const rooms = [1, 2].map(n => {
          v.collect = () => new Map([[0, new Map()], [1, new Map()], ...all].slice(-n));
          v.draw();
          return list.offsetWidth;
        });
        delete v.collect;
        v.draw();
        return rooms;""")
    checks.check("source: one file needs no list of files", rooms[0] == 0 < rooms[1], rooms)
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
        none = [r for r in card("Where the time of")["rows"] if "fewer threads" in r]
        checks.check("waiting: time without threads is of no rank",
                     all(r.rstrip().endswith("fewer threads") for r in none), none)
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
        large = [x for x in mpi["places"]
                 if max(x["us"], x["waited"]) >= mpi["whole"]["us"] / 1000]
        shown = min(len(large), 16)
        rows("MPI: calls by waiting time", shown + min(len(mpi["places"]) - shown, 200))
        if len(mpi["processes"]) > 1:
            rows("MPI: by rank", min(len(mpi["processes"]), 32))
        rows("MPI: by size", sum(x["class"] > 0 for x in mpi["sizes"]))
        rows("MPI: communicators", min(len(mpi["comms"]), 16))
        if mpi["open"]:
            rows("MPI: calls that did not end", min(len(mpi["open"]), 16))
        checks.check("waiting: who sends to whom", page.js(
            "return document.querySelectorAll('#view-waiting .matrix .state').length")
                     == len(mpi["pairs"]))


def use_findings(page, checks):
    """The button of a finding opens its set: the metric has the time that the finding names."""
    keys = page.js("""return (app.profile.meta.findings ?? [])
        .filter(row => !NAMES_FINDINGS.includes(row.key)).map(row => row.key)""")
    got = page.js("""const names = ["main", "<ready, no processor>"],
          profile = {metrics: [], functions: {n: 2}, functionName: f => names[f]},
          fake = {profile, views: {timeline: true, kernels: true}},
          of = key => findingKeys(fake, {key, places: [], function: -1, process: -1});
        return [of("no-processor"), of("launches")].map(keys => [keys.view, keys.f])""")
    checks.check("findings: of no processor, and of a GPU",
                 got == [["timeline", "n1"], ["kernels", ""]], got)
    for i, key in enumerate(keys[:5]):
        page.show("overview")
        page.js("document.querySelectorAll('.finding .show')[arguments[0]].click()", i)
        time.sleep(0.2)
        shown, whole, waited, context = page.js("""const p = app.profile,
              row = p.meta.findings.find(row => row.key === arguments[0]),
              fact = row.facts.find(f => p.str(f.what) === "threads waited");
            return [app.current, p.whole(app.metric), fact?.value ?? null,
              row.places[0]?.context ?? 0]""", key)
        checks.check(f"finding {key}: opens a view", shown != "overview", shown)
        if waited is not None:
            checks.check(f"finding {key}: the metric has its time",
                         abs(whole - waited) <= 1e-3 * waited, f"{whole} {waited}")
        if shown == "tree" and context:
            path, current = page.js("""const t = app.views.tree.view.table;
                return [app.profile.path(arguments[0]), t.flat[t.current].id]""", context)
            checks.check(f"finding {key}: its path is open to the current row",
                         current in path[len(path) // 2:], f"{current} {path}")
        page.browser.back()
        page.js("app.state.reset()")


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
    wrong = page.js("""const p = app.profile, {threads} = p.meta,
          m = p.metrics.find(m => m.time).id;
        p.meta.threads = 2;
        const got = leastOfThreads(p, m, Float64Array.of(0, 266, 0, 288));
        p.meta.threads = threads;
        return got;""")
    checks.check("threads: the least of as many as the mean is of", wrong == 266, wrong)


def use_launchers(page, checks):
    """Of a GPU's time: the threads that launch, and no balance of those that do not."""
    page.show("threads")
    n = page.js("""const p = app.profile, m = p.metricByRole(ROLE.gpuTime);
        app.setMetric(m);
        return p.profiles.filter(x => x.kind === PROFILE_THREAD &&
          x.rows.metric.some((metric, i) => metric === m && x.rows.value[i] > 0)).length;""")
    text = page.js("return document.querySelector('#view-threads').innerText")
    threads = page.js("return app.profile.profiles.filter(x => x.kind === PROFILE_THREAD).length")
    checks.check("threads: those that launch work of GPUs",
                 f"counts at the thread that launched it: {n} of {threads:,} thread" in text and
                 ("Balance" in text) == (n > 1), json.dumps(text[:200]))


def use_nccl(page, checks):
    """Of two ranks as in tests/gen/gen_nccl.h, with eight steps."""
    page.show("waiting")
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
    checks.check("nccl: why", len(last) == 4 and "more than the others in the whole run: "
                 "40.0 ms in train.c:10" in last[2][2] and "more than" not in last[3][2], last)
    page.show("overview")
    text = page.js("""const {meta} = app.profile, {ledger} = meta;
        meta.ledger = {...ledger, delivered: 0, cpuUnseen: 1e8};
        app.redraw();
        meta.ledger = ledger;
        return [document.querySelector('#view-overview').innerText,
          document.querySelector('.ledger summary').className]""")
    checks.check("nccl: a run without CPU samples says so at the top",
                 0 < text[0].find("The CPU was not sampled") <
                 text[0].find("What matters most") and "No known cause costs" not in text[0] and
                 text[1] == "good", text)
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
    rows = page.js(view + "return v.list.map(r => [r.kind, r.label])")
    checks.check("nvtx: two rows below the main thread", rows[1:3] ==
                 [["track", "NVTX"], ["track", "NVTX 2"]] and len(rows) == 4, rows)
    found = page.js(view + """const row = v.list[1], t = row.track, label = i =>
        app.profile.str(app.profile.meta.nvtx.ranges[t.range[i]].label);
        const steps = [...t.range.keys()].filter(i => label(i) === "step");
        return steps.map(i => v.under({row, x: 1000, time: t.end[i] - 50000}).title)""")
    checks.check("nvtx: what is under the mouse", found == ["step"] * 3, found)
    left, top, width = page.place("#view-timeline canvas")
    y = page.js(view + "return v.rowY(1) + LINE_ROW / 2")
    page.drag(left + 60, top + y)
    chosen = page.js("return [...app.profile.selection.profiles ?? []]")
    checks.check("nvtx: a row selects its thread", chosen == [0], chosen)
    colour = page.js("return document.querySelector('#view-timeline canvas').getContext('2d')"
                     ".getImageData(arguments[0], arguments[1], 1, 1).data[3]", width / 2, y)
    checks.check("nvtx: the ranges are painted", colour > 0, colour)
    errors = page.errors()
    checks.check("nvtx: the console stays empty", not errors, json.dumps(errors)[:400])


STATE = """const p = app.profile, s = p.selection;
    return [app.current, app.metric, app.columns, s.time, [...s.profiles ?? []], s.frame,
        app.state.get('q'), document.querySelector(`#view-${app.current}`).innerText];"""


def use_state(page, checks):
    """A link shows the same in a fresh page; Back and Ctrl+Z undo; one button resets."""
    page.show("overview")
    start = page.js(STATE)
    span = page.js("return app.profile.meta.span")
    page.show("tables")
    page.click("#view-tables .segments button:nth-child(2)")
    page.click("#view-tables .head button:nth-child(2)")
    page.select({"time": [span * 0.1, span * 0.9]})
    page.js("app.select({frame: {fn: app.profile.fn.findLast(f => f >= 0)}})")
    page.browser.find_element(By.ID, "search").send_keys("main")
    want, link = page.js(STATE), page.js("return location.href")
    page.browser.switch_to.new_window("tab")
    page.browser.get(link)
    wait_until_ready(page.browser)
    got = page.js(STATE)
    checks.check("state: a link shows the same in a fresh page", got == want,
                 f"{str(got)[:300]} {str(want)[:300]}")
    page.browser.close()
    page.browser.switch_to.window(page.browser.window_handles[0])
    page.browser.back()
    time.sleep(0.2)
    checks.check("state: Back takes the search back", page.js("return app.state.get('q')") == "")
    page.browser.find_element(By.TAG_NAME, "body").click()
    page.browser.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "z")
    time.sleep(0.2)
    checks.check("state: Ctrl+Z takes the frame back",
                 page.js("return app.profile.selection.frame === null"))
    checks.check("state: and nothing else", page.js(STATE)[3] == want[3], page.js(STATE)[3])
    page.js("location.hash = '#flame&f=c999999999&p=9-3&t=5-1&m=-4&c=x&tree.at=999999999"
            "&flame.zoom=c999999999.4&source.at=777777:1&kernels.of=99999&timeline.range=9-2'")
    time.sleep(0.2)
    for view in page.views():
        page.show(view)
    page.js("location.hash = '#tree&f=n999999999'")
    time.sleep(0.2)
    errors = page.errors()
    checks.check("state: a link of another report shows what it can", not errors and
                 page.js("return app.profile.selection.frame === null"), str(errors)[:300])
    page.click("#reset")
    page.show("overview")
    checks.check("state: Reset", page.js(STATE) == start, str(page.js(STATE))[:300])


def use_search(page, checks):
    """Counts the matches of every view, and steps through them."""
    name = page.js("""const p = app.profile;
        const rows = groupContexts(p, GROUPINGS.Functions, [app.metric]);
        rows.sort((a, b) => b.self.get(app.metric) - a.self.get(app.metric));
        return rows.length ? p.functionName(p.fn[rows[0].context]) : ''""")
    page.js("app.setSearch(escapeRegExp(arguments[0]))", name)
    for view in ("overview", "flame", "tree", "tables"):
        page.show(view)
        rows = page.js("""const v = app.views[app.current].view;
            return v.table?.flat?.length ?? v.boxes?.length ?? 0""")
        page.click("#next")
        said = page.js("return document.getElementById('matches').textContent")
        checks.check(f"search: {view} shows the first match", said.startswith("1 of "), said)
        page.js("app.setSearch('')")
        after = page.js("""const v = app.views[app.current].view;
            return v.table?.flat?.length ?? v.boxes?.length ?? 0""")
        checks.check(f"search: nothing was hidden in {view}", view == "tree" or rows == after,
                     f"{rows} {after}")
        page.js("app.setSearch(escapeRegExp(arguments[0]))", name)
    page.js("app.state.reset()")


def use_certainty(page, checks):
    """The head says how well the share of the hottest function is known."""
    page.show("overview")
    said = page.js("return document.querySelector('#view-overview .certainty')?.innerText ?? ''")
    n, top, whole = page.js("""const p = app.profile, m = p.sampledMetric(), t = p.totals;
        let n = 0, whole = 0, self = {};
        for (let i = 0; i < t.n; i++) {
          if (t.metric[i] !== m) continue;
          const fn = p.fn[t.context[i]];
          n += t.samples[i];
          whole += t.value[i];
          if (fn >= 0) self[fn] = (self[fn] ?? 0) + t.value[i];
        }
        return [n, Math.max(...Object.values(self)), whole];""")
    share = top / whole
    error = 2 * (share * (1 - share) / n) ** 0.5
    checks.check("overview: the uncertainty of the hottest function",
                 said.startswith(f"{n:,} sample") and
                 f"has {100 * share:.1f} % ± {100 * error:.1f} %" in said, f"{said} {n} {share}")


def use_frame(page, checks):
    """A selected function limits every view to what runs in or below it."""
    function, total = page.js("""const p = app.profile, m = app.metric;
        const rows = groupContexts(p, GROUPINGS.Functions, [m]).filter(r => p.fn[r.context] >= 0);
        rows.sort((a, b) => b.total.get(m) - a.total.get(m));
        const row = rows[Math.min(rows.length - 1, 3)];
        return [p.fn[row.context], row.total.get(m)]""")
    page.js("app.select({frame: {fn: arguments[0]}})", function)
    checks.check("frame: the whole is the total of the function",
                 abs(page.whole() - total) <= 1e-9 * total, f"{page.whole()} {total}")
    page.click("#selection .chip")
    checks.check("frame: its chip takes it away",
                 page.js("return app.profile.selection.frame === null"))


def use_picture(page, checks):
    """SVG of a view with a canvas and of one without; every view on paper."""
    for view in ("flame", "tables"):
        page.show(view)
        wrong = page.js("""const {view, section} = app.views[app.current],
              svg = pictureOf(view, section),
              doc = new DOMParser().parseFromString(svg, "image/svg+xml");
            return doc.querySelector("parsererror")?.textContent ??
              (doc.querySelectorAll("text, div").length > 2 ? "" : svg.slice(0, 200))""")
        checks.check(f"picture: {view} is an SVG with text", not wrong, wrong)
    page.js("showAllForPrint(app, true)")
    hidden = page.js("""return Object.values(app.views).filter(v => v.section.offsetHeight < 40)
        .map(v => v.section.id)""")
    table = page.js("""const t = app.views.tables.view.table,
          paper = t.box.querySelectorAll("tbody tr");
        return [paper.length, Math.min(60, t.flat.length), t.box.querySelectorAll("thead").length,
          paper[0]?.innerText.includes(app.views.tables.view.name(t.flat[0])),
          document.querySelectorAll("main details:not([open], .chooser)").length]""")
    page.js("showAllForPrint(app, false)")
    checks.check("paper: every view", not hidden, hidden)
    checks.check("paper: a table's rows below a head for each page, and details are open",
                 table[0] == table[1] and table[2:] == [1, True, 0], table)
    rows = page.js("return document.querySelectorAll('#view-tables .tbody .tr').length")
    checks.check("paper: the screen has its rows again", rows > 0, rows)


def use_page(page, checks):
    use_views(page, checks)
    use_state(page, checks)
    use_search(page, checks)
    if not page.js("return app.profile.isComparison"):
        use_certainty(page, checks)
    use_frame(page, checks)
    use_scope(page, checks)
    use_cause(page, checks)
    use_files(page, checks)
    use_symbols(page, checks)
    use_picture(page, checks)
    use_idle(page, checks)
    use_kernels(page, checks)
    use_waiting(page, checks)
    use_flame(page, checks)
    use_timeline(page, checks)
    use_tables(page, checks)
    use_sorting(page, checks)
    use_wheel(page, checks)
    use_window(page, checks)
    use_colours(page, checks)
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
    elif command == "flame":
        use_flame(page, Checks())
    elif command == "empty":
        use_empty(page, Checks())
    elif command == "compare":
        use_comparison(page, Checks(), report.replace(".html", ".txt"))
    elif command == "keys":
        use_keys(page, Checks())
    elif command == "waiting":
        checks = Checks()
        use_waiting(page, checks)
        use_threads(page, checks)
        use_findings(page, checks)
        use_shares(page, checks)
        use_denominator(page, checks)
        use_terms(page, checks)
    elif command == "nccl":
        use_nccl(page, Checks())
    elif command == "advice":
        use_advice(page, Checks())
    elif command == "code":
        use_code(page, Checks())
    elif command == "kernels":
        use_idle(page, Checks())
        use_kernels(page, Checks())
        use_placed(page, Checks())
        use_idle_link(page, Checks())
        use_launchers(page, Checks())
        use_columns(page, Checks())
    elif command == "blames":
        use_blames(page, Checks())
    elif command == "power":
        use_power(page, Checks())
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
