# SPDX-License-Identifier: BSD-3-Clause
#
# Checks of the time lines of report.html, for browse_report.py. Each takes its Page and Checks.

import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

VIEW = "const v = app.views.timeline.view, p = app.profile;"

# Threads that are made up: context 2 works and 3 waits, below 1. Metrics: CPUTIME, OFFCPU, another
# one. Records are [time, context, metric]. Intervals are printed as "context until", times in ms.
INTERVALS = """
const p = {metrics: ["CPUTIME (sec)", "OFFCPU (sec)", "perf::FAULTS"].map(label => ({label})),
           parent: [0, 0, 1, 1], isBlocked: c => c === 3};
const intervals = (stop, records) => {
  const column = i => Float64Array.from(records, r => r[i]),
    s = {n: records.length, time: column(0).map(ms => ms * 1000), context: column(1),
         metric: column(2)}, n = records.filter(r => r[1] && r[2] === 0).length;
  s.shown = s.context;
  const rows = {n: 2, context: [2, 3], metric: [0, 1], value: [n * 0.001, 1]};
  const out = new ThreadIntervals(p, {samples: s, rows, start: 0, stop: stop * 1000}).make();
  return Array.from(out.context, (c, i) => `${c} ${+(out.edge[i + 1] / 1000).toFixed(3)}`).join();
};
const [run, wait, other] = [t => [t, 2, 0], t => [t, 3, 1], t => [t, 2, 2]];
return {
  "a wait with other samples in it is whole":
    intervals(9, [run(1), wait(1), other(3), other(5), wait(8), [8, 2, 1], run(9)]),
  "a wait ends when a sample shows that the thread runs":
    intervals(15, [run(1), wait(1), run(7), run(8), wait(8), [8, 2, 1], run(9), run(15)]),
  "two waits at one place":
    intervals(8, [run(1), wait(1), wait(3), run(4), wait(4), wait(6), run(7), run(8)]),
  "a wait without a second record lasts to the end": intervals(9, [run(1), run(2), wait(2)]),
  "a wait ends where the measurement is off":
    intervals(9, [run(1), wait(1), [4, 0, 1], run(9)]),
  "time off the processor without a record": intervals(9, [run(1), run(2), run(8), run(9)]),
};
"""
INTERVALS_WANTED = {
    "a wait with other samples in it is whole": "2 1,3 8,2 9",
    "a wait ends when a sample shows that the thread runs": "2 1,3 6,2 9,3 14,2 15",
    "two waits at one place": "2 1,3 3,2 4,3 6,2 8",
    "a wait without a second record lasts to the end": "2 2,3 9",
    "a wait ends where the measurement is off": "2 1,3 4,0 8,2 9",
    "time off the processor without a record": "2 2,3 7,2 9",
}


def use_intervals(page, checks):
    got = page.js(INTERVALS)
    for name, want in INTERVALS_WANTED.items():
        checks.check(f"intervals: {name}", got[name] == want, got[name])


# By row of a thread: the shares of its life that states have by pixels, and by its samples' values.
SHARES = VIEW + """
const rgb = text => { const g = new OffscreenCanvas(1, 1).getContext("2d"); g.fillStyle = text;
  g.fillRect(0, 0, 1, 1); return g.getImageData(0, 0, 1, 1).data.slice(0, 3).join(); };
const states = ["work", "openmp", "mpi", "lock", "io", "ready", "gpu", "sleep"],
  byColour = new Map(states.map(s => [rgb(stateColour(s)), s])), out = [];
const add = (sums, state, x) => { sums[state] = (sums[state] ?? 0) + x; };
do v.paintNow(); while (v.isPartial);
const {width, height} = v.canvas,
  all = v.canvas.getContext("2d").getImageData(0, 0, width, height).data;
for (const row of v.list) {
  if (row.kind !== "thread" || !row.profile.samples.n) continue;
  const y = v.rowY(v.list.indexOf(row)), h = LINE_ROW - 2 * LANE_EDGE;
  if (y < v.topHeight || y + LINE_ROW > v.height) continue;
  const x0 = Math.round(v.x(row.profile.start)), x1 = Math.round(v.x(row.profile.stop)),
    pixels = {}, values = {}, r = row.profile.rows, life = row.profile.stop - row.profile.start;
  for (let i = 0; i < h * (x1 - x0); i++) {
    const at = 4 * ((y + LANE_EDGE + Math.floor(i / (x1 - x0))) * width + x0 + i % (x1 - x0)),
      state = byColour.get(all.slice(at, at + 3).join());
    if (state) add(pixels, state, 1 / (h * (x1 - x0)));
  }
  for (let i = 0; i < r.n; i++)
    if (/^(CPUTIME|OFFCPU) /.test(p.metrics[r.metric[i]].label))
      add(values, stateOf(p, r.context[i]), r.value[i] * 1e6 / life);
  out.push([row.title, pixels, values]);
}
return out;
"""


def use_shares(page, checks):
    """Pixels say what the account of time says, of every thread on the screen."""
    page.show("timeline")
    page.js("app.state.set({'timeline.folded': '-'})")
    time.sleep(0.2)
    rows = page.js(SHARES)
    wrong = [(name, state, round(pixels.get(state, 0), 3), round(values.get(state, 0), 3))
             for name, pixels, values in rows for state in {*pixels, *values}
             if abs(pixels.get(state, 0) - values.get(state, 0)) > 0.04]
    checks.check("time lines: pixels have the shares of the account", rows and not wrong, wrong)
    dumb = page.js(VIEW + """
        const out = [];
        for (const row of v.list) {
          if (row.kind !== "thread" || !row.profile.samples.n) continue;
          for (let x = LINE_LABEL; x < v.width; x++) {
            const time = v.time(x + 0.5);
            if (time <= row.profile.start || time >= row.profile.stop) continue;
            const found = v.under({row, time, x: x + 0.5, share: 0.1});
            if (!found || !found.lines[0] || (found.state !== "none" && !found.context))
              out.push([row.title, x]);
          }
        }
        return out;""")
    checks.check("time lines: every pixel of a thread says what it is", not dumb, dumb[:5])
    page.js("app.state.set({'timeline.folded': ''})")
    part = page.js(VIEW + """
        const off = p.metrics.findIndex(m => m.label.startsWith("OFFCPU "));
        let best = null;
        for (const row of off < 0 ? [] : v.rows.all.filter(r => r.kind === "thread")) {
          const lane = v.states.wholeLane(row);
          for (let i = 0; i < lane.n; i++) {
            const [from, to] = [lane.edge[i], lane.edge[i + 1]];
            if (p.isBlocked(lane.context[i]) && !(to - from <= best?.to - best?.from))
              best = {from, to, id: row.profile.id};
          }
        }
        if (!best) return null;
        const quarter = (best.to - best.from) / 4;
        app.select({profiles: new Set([best.id]), time: [best.from + quarter, best.to - quarter]});
        const sum = p.whole(off) * 1e6;
        app.select({profiles: null, time: null});
        return [sum, 2 * quarter];""")
    if part:
        checks.check("time lines: half of a wait has half of its time",
                     abs(part[0] - part[1]) < 0.04 * part[1], part)


ROWS = VIEW + "return v.list.map(r => '  '.repeat(r.depth) + r.label)"


def use_rows(page, checks):
    """The tree of rows, by mouse and keys."""
    page.show("timeline")
    canvas = page.browser.find_element(By.CSS_SELECTOR, "#view-timeline canvas")
    left, top, _ = page.place("#view-timeline canvas")
    open_rows = page.js(ROWS)
    i = page.js(VIEW + "return v.list.findIndex(r => r.children.length)")
    if i >= 0:
        y = top + page.js(VIEW + "return v.rowY(arguments[0])", i) + 11
        x = left + 12 + page.js(VIEW + "return v.list[arguments[0]].depth * LINE_INDENT", i)
        page.drag(x, y)
        closed = page.js(ROWS)
        checks.check("time lines: a click on the triangle closes a row",
                     len(closed) < len(open_rows) and "timeline.folded=" in page.js(
                         "return location.hash"), closed)
        page.js("history.back()")
        time.sleep(0.2)
        checks.check("time lines: and Back opens it", page.js(ROWS) == open_rows)
        page.js(VIEW + "v.choose(v.list[arguments[0]], null)", i)
        canvas.send_keys("o")
        by_key = page.js(ROWS)
        canvas.send_keys("o")
        checks.check("time lines: O closes and opens it",
                     by_key == closed and page.js(ROWS) == open_rows, by_key)
    canvas.send_keys(Keys.HOME)
    canvas.send_keys(Keys.END)
    last = page.js(VIEW + "return [v.chosen === v.list.at(-1), v.chosen.title]")
    said = page.js("return document.getElementById('live').textContent")
    checks.check("time lines: End chooses the last row", last[0] and said.startswith(last[1]), said)
    canvas.send_keys("p")
    pinned = page.js(VIEW + "return v.top.filter(t => t.isPinned).map(t => t.row.title)")
    checks.check("time lines: P pins it", pinned == [last[1]], pinned)
    canvas.send_keys(" ")
    chosen = page.js(VIEW + "return [[...p.selection.profiles ?? []], v.chosen.profiles]")
    checks.check("time lines: Space selects it", sorted(chosen[0]) == sorted(chosen[1]), chosen)
    canvas.send_keys(Keys.ESCAPE)
    canvas.send_keys(".")
    canvas.send_keys(".")
    at = page.js(VIEW + "return [v.at, v.details.innerText]")
    checks.check("time lines: the full stop steps through it",
                 at[0] is not None and last[1] in at[1], at)
    page.js("app.state.set({'timeline.pinned': '', 'timeline.at': '', 'timeline.sort': 'work'})")
    sorted_rows = page.js(VIEW + """
        return v.list.filter(r => r.depth === 0).map(r => v.sortValue(r))""")
    checks.check("time lines: rows by working time",
                 sorted_rows == sorted(sorted_rows, reverse=True), sorted_rows)
    page.js("app.state.set({'timeline.sort': ''})")


def use_processors(page, checks):
    """The row is as high as the processors that may be used, or as those that are."""
    got = page.js(VIEW + """const {uses} = p.meta, high = (allowed, most) => {
          p.meta.uses = {allowed};
          return v.fullHeight({kind: "processors", most});
        }, got = [high(32, 1.5), high(32, 9), high(4, 1), high(4, 6)];
        p.meta.uses = uses;
        return got;""")
    checks.check("processors in use: the height", got == [2, 32, 4, 6], got)
    got = page.js(VIEW + """const row = v.rows.summaries[0], high = () => v.mostProcessors(row);
        if (!row || row.kind !== "processors") return [0, 0];
        v.fullHeight(row);
        app.select({profiles: new Set([row.below[0].profile.id])});
        app.redraw();
        v.paintNow();
        const got = [v.fullHeight(row) && row.most, high()];
        app.select({profiles: null});
        return got;""")
    checks.check("processors in use: the height follows a selection", got[0] == got[1], got)


def use_moment(page, checks):
    """A pixel answers a hover and a click; the call stack below, too."""
    spot = page.js(VIEW + """
        const row = v.list.find(r => r.kind === "queue") ?? v.list.find(r => r.kind === "thread"),
          lane = v.states.wholeLane(row);
        let k = -1, most = 0;
        for (let i = 0; i < lane.n; i++)
          if (lane.context[i] && lane.edge[i + 1] - lane.edge[i] > most) {
            k = i; most = lane.edge[i + 1] - lane.edge[i];
          }
        if (k < 0) return null;
        v.choose(row, null); v.scrollTo(row); v.zoomTo(lane.edge[k], lane.edge[k + 1]);
        v.keepRange(); v.paintNow();
        return [Math.round(v.x((lane.edge[k] + lane.edge[k + 1]) / 2)),
                v.rowY(v.list.indexOf(row)) + 11, row.title, p.name(lane.context[k])];""")
    if not spot:
        return
    left, top, _ = page.place("#view-timeline canvas")
    ActionChains(page.browser).move_by_offset(0, 0).perform()
    page.drag(left + spot[0], top + spot[1])
    tip = page.js("return document.getElementById('tip').innerText")
    checks.check("time lines: a pixel says what it is", spot[2] in tip and " for " in tip or
                 "took" in tip, tip)
    details = page.js(VIEW + "return v.details.innerText")
    checks.check("time lines: a click shows it below", spot[2] in details, details)
    page.js("app.state.set({'timeline.at': '', 'timeline.range': ''})")
    has_stack = page.js(VIEW + """
        const row = v.rows.all.find(r => r.kind === "thread" && r.profile.samples.n);
        if (!row) return false;
        v.choose(row, null); v.paintNow();
        v.stack.canvas.scrollIntoView({block: "center"}); return true;""")
    if has_stack:
        box = page.js(VIEW + "return v.stack.boxes.at(-1)")
        left, top, _ = page.place("#view-timeline .stack canvas")
        page.drag(left + (box["a"] + box["b"]) / 2, top + box["d"] * 15 + 7)
        menu = page.js("return document.querySelector('.menu')?.innerText ?? ''")
        checks.check("call stack: a click opens the menu", "Flame graph of this frame" in menu and
                     "Copy path" in menu, menu)
        page.js("document.querySelector('.menu')?.remove()")


def use_marks(page, checks):
    """Search and a selected frame, in all rows."""
    fn = page.js("""const p = app.profile;
        for (const x of p.profiles)
          for (const c of x.samples?.shown ?? x.ops?.context ?? [])
            if (p.fn[c] >= 0) return p.fn[c];
        return -1;""")
    if fn < 0:
        return
    name = page.js("const n = app.profile.functionName(arguments[0]);"
                   "app.setSearch(`^${escapeRegExp(n)}$`); return n", fn)
    found = page.js("""const v = app.views.timeline.view;
        return [app.search.matches.length, app.search.matches[0]?.row.title]""")
    page.click("#next")
    at = page.js(VIEW + "return [v.chosen.title, v.at, v.details.innerText]")
    checks.check("time lines: search goes to the row and the time of a function", found[0] > 0 and
                 at[0] == found[1] and at[1] is not None, [name, found, at])
    page.js("app.setSearch('')")
    page.js("app.state.set({'timeline.at': ''}); app.select({frame: {fn: arguments[0]}})", fn)
    cut = page.js(VIEW + """
        v.paintNow();
        const sum = (row, range) => v.states.inside(row, range),
          lanes = v.rows.all.filter(r => r.kind === "thread" || r.kind === "queue");
        const inside = p.inside(p.selection.frame);
        return lanes.map(row => {
          const lane = v.states.wholeLane(row);
          let want = 0;
          for (let i = 0; i < lane.n; i++)
            if (inside[lane.counted[i]]) want += lane.edge[i + 1] - lane.edge[i];
          return [sum(row, [0, p.meta.span]), want];
        });""")
    checks.check("time lines: a selected frame leaves the time in it",
                 all(abs(a - b) < 1e-3 * (b + 1) for a, b in cut) and
                 any(b > 0 for a, b in cut), cut)
    page.js("app.select({frame: null})")
    used = page.js(VIEW + """
        const row = v.rows.all.find(r => r.kind === "thread" && r.profile.samples.n),
          sum = v.rows.summaries.find(r => r.kind === "processors");
        if (!row || !sum) return null;
        app.select({profiles: new Set(row.profiles)});
        const data = new Float64Array(N_CODES), lane = v.states.wholeLane(row);
        v.states.fill(sum, data, 0, p.meta.span, 1);
        let want = 0;
        for (let i = 0; i < lane.n; i++)
          if (!(lane.code[i] & CODE_IS_OFF)) want += lane.edge[i + 1] - lane.edge[i];
        app.select({profiles: null});
        return [data.reduce((a, b) => a + b, 0) * p.meta.span, want];""")
    if used:
        checks.check("time lines: processors that the selected rows use",
                     used[1] > 0 and abs(used[0] - used[1]) < 1e-3 * used[1], used)


def use_gpu_waits(page, checks):
    """Single waits for GPUs add up to their metric, and are shown where no sample is."""
    sums = page.js(VIEW + """
        const m = p.metricByRole(ROLE.syncTime);
        if (m < 0 || !p.profiles.some(x => x.waits?.n)) return null;
        let all = 0, late = 0;
        for (const row of v.rows.all) {
          const w = row.kind === "thread" ? row.profile.waits : {n: 0};
          for (let i = 0; i < w.n; i++) all += w.end[i] - w.start[i];
          const lane = w.n ? v.states.wholeLane(row) : {n: 0};
          for (let i = 0; i < w.n; i++) {
            const k = lane.edge.findLastIndex(t => t <= w.start[i]);
            late += !lane.context[k];
          }
        }
        return [all, p.wholes[m] * 1e6, late];""")
    if sums:
        checks.check("time lines: waits for GPUs", abs(sums[0] - sums[1]) < 1e-6 * sums[1] and
                     sums[2] == 0, sums)


def use_power(page, checks):
    """Of tests/golden/energy: one meter of a GPU."""
    page.show("timeline")
    sums = page.js("""const p = app.profile, [m] = p.meters;
        return [p.meters.length, m.edge.reduce((sum, t, k) =>
          sum + m.value[k] * ((m.edge[k + 1] ?? t) - t) / 1e6, 0),
          p.meta.devices[m.device].energy / 1e6, m.edge.length];""")
    checks.check("power: the readings add up to the energy", sums[0] == 1 and
                 abs(sums[1] - sums[2]) < 1e-3 * sums[2] and 100 < sums[3] < 2100, sums)
    label, y, x, value = page.js(VIEW + """
        const i = v.list.findIndex(r => r.kind === "power"), {edge, value, most} = v.list[i].meter,
          k = value.indexOf(most), box = v.canvas.getBoundingClientRect();
        return [v.list[i].label, v.rowY(i) + LINE_ROW / 2 - box.height / 2,
          v.x((edge[k] + edge[k + 1]) / 2) - box.width / 2, formatWatts(most)];""")
    canvas = page.browser.find_element(By.CSS_SELECTOR, "#view-timeline canvas")
    ActionChains(page.browser).move_to_element_with_offset(canvas, int(x), int(y)).perform()
    tip = page.js("return document.getElementById('tip').innerText")
    checks.check("power: a row says it", label == "power" and f" {value}\n" in tip,
                 f"{label} {value} {tip}")


def use_stack(page, checks):
    """Frames of a wait have the colour of its state, in the call stack and in frames of rows."""
    found = page.js(VIEW + """return v.tree.waits.flatMap((state, f) => state ?
        [[state, v.colourOf(f), stateColour(state)]] : []);""")
    checks.check("call stack: a wait has the colour of its state",
                 found and all(fill == state for _, fill, state in found), found)


def use_range(page, checks):
    """The visible range is in the link."""
    canvas = page.browser.find_element(By.CSS_SELECTOR, "#view-timeline canvas")
    size = VIEW + "return v.to - v.from"
    before = page.js(size)
    canvas.send_keys("+")
    time.sleep(0.5)
    after = page.js(size)
    kept = page.js("return parseRange(app.state.get('timeline.range'))")
    checks.check("time lines: + zooms, and the link has it", after < before and kept is not None and
                 abs(kept[1] - kept[0] - after) < 1, f"{before} {after} {kept}")
    canvas.send_keys("0")
    time.sleep(0.4)
    kept = page.js("return app.state.get('timeline.range')")
    checks.check("time lines: 0 shows all", kept == "" and page.js(size) == before, kept)
    page.js("document.querySelector('#view-timeline [data-mode=frames]').click()")
    frames = page.js(VIEW + "v.paintNow(); return [v.mode, location.hash]")
    checks.check("time lines: frames are the second mode", frames[0] == "frames" and
                 "timeline.mode=frames" in frames[1], frames)
    page.js("app.state.set({'timeline.mode': ''})")
    svg = page.js(VIEW + "return pictureOf(v, app.views.timeline.section)")
    checks.check("time lines: the picture has rows and colours",
                 svg.startswith("<svg") and "main thread" in svg and svg.count("<rect") > 10 and
                 page.js(VIEW + "return v.list.every(r => arguments[0].includes(`>${r.label}<`))",
                         svg), svg[:200])
