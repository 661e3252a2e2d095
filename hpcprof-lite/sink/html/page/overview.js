// SPDX-License-Identifier: BSD-3-Clause
// What was run, what matters most, and whether every sample is accounted for.

class OverviewView {
  constructor(app, container) {
    this.app = app;
    this.container = container;
  }
  draw() {
    const p = this.app.profile;
    if (!p.metrics.length) {
      this.container.replaceChildren(
        el(
          "div",
          { class: "overview" },
          el("section", { class: "card wide" }, el("h2", {}, "Nothing was measured"), this.facts()),
          nvtxCard(this.app) ?? "",
          el("section", { class: "card wide" }, this.ledger()),
        ),
      );
      return;
    }
    this.container.replaceChildren(
      el("p", { class: "lead whole-run" }, ...runSentence(p)),
      this.hasCpu()
        ? ""
        : el(
            "p",
            { class: "note" },
            "The CPU was not sampled: the report does not know what the program did while no GPU " +
              "worked. Measure with -e CPUTIME.",
          ),
      certaintyLine(this.app) ?? "",
      el(
        "div",
        { class: "overview" },
        el(
          "section",
          { class: "card wide whole-run" },
          el("h2", {}, "What matters most"),
          findingsList(this.app) ??
            el(
              "p",
              { class: "quiet" },
              (this.hasCpu()
                ? "No known cause costs 5 % of the elapsed time."
                : "No known cause on the GPUs costs 5 % of the elapsed time; those on the CPU are " +
                  "unknown.") +
                (p.meta.advice?.length ? " What would make the GPU's work faster is below." : ""),
            ),
        ),
        el(
          "section",
          { class: "card wide" },
          el("h2", {}, p.isSelected ? "In the selection" : "In short"),
          this.findings(),
        ),
        namesBanner(this.app) ?? "",
        usesCard(this.app, true) ?? "",
        adviceCard(this.app) ?? "",
        el("section", { class: "card" }, el("h2", {}, "The run"), this.facts()),
        el("section", { class: "card" }, el("h2", {}, "Metrics"), this.metrics()),
        nvtxCard(this.app) ?? "",
        el(
          "section",
          { class: "card wide" },
          el("h2", {}, `Functions by ${metricWords(p, this.app.metric, true)}`),
          this.top(),
        ),
        el("section", { class: "card wide" }, this.ledger()),
      ),
    );
  }
  facts() {
    const p = this.app.profile,
      m = p.meta,
      list = el("dl", { class: "facts tall" });
    const add = (term, ...value) =>
      list.append(el("div", {}, el("dt", {}, term), el("dd", {}, ...value)));
    const commands = [...new Set(m.processes.map(x => p.str(x.command)))].filter(Boolean);
    const hosts = [...new Set(m.processes.map(x => p.str(x.host)))];
    const ranks = new Set(m.processes.map(x => x.rank).filter(r => r >= 0)).size;
    add(
      "command",
      el("bdi", { class: "mono" }, commands[0] ?? p.str(m.title)),
      commands.length > 1
        ? el("span", { class: "quiet" }, ` and ${plural(commands.length - 1, "other")}`)
        : "",
    );
    add("start", new Date(m.startMs).toLocaleString("en-GB", { timeZone: "UTC" }) + " UTC");
    add("elapsed", formatSeconds(m.elapsed / 1e6) + (m.runs > 1 ? ` in ${m.runs} runs` : ""));
    add(
      "where",
      hosts.slice(0, 3).join(", ") +
        (hosts.length > 3 ? ` and ${hosts.length - 3} more hosts` : ""),
    );
    const threads = p.profiles.filter(x => x.kind === PROFILE_THREAD).length;
    add(
      "size",
      (ranks > 1 ? `${plural(ranks, "rank")}, ` : "") +
        `${plural(m.processes.length, "process", "processes")}, ` +
        plural(threads, "thread"),
    );
    if (m.devices.length)
      add(
        "GPUs",
        [...new Set(m.devices.map(d => p.str(d.name)))].join(", ") +
          (m.devices.length > 1 ? ` (${m.devices.length})` : ""),
      );
    const bad = m.processes.filter(x => !x.ok && !x.live && !x.blank);
    if (bad.length)
      add(
        "ended",
        `${bad.length === 1 ? "" : `${bad.length} processes, first: `}${p.str(bad[0].end)}`,
      );
    for (const u of m.unmeasured.slice(0, 4))
      add(
        "not measured",
        el("bdi", {}, `${u.n ? plural(u.n, "process", "processes") + " of " : ""}${p.str(u.path)}`),
        ` (${p.str(u.why)})`,
      );
    const r = m.reduced,
      left = [];
    if (r.contexts < r.ofContexts)
      left.push(
        `${count(r.ofContexts - r.contexts)} contexts with less than ` +
          `${(100 * r.least).toPrecision(2)} % of every metric count in their callers`,
      );
    if (r.sampleStride > 1) left.push(`one of ${r.sampleStride} samples is on the time lines`);
    if (r.opStride > 1) left.push(`one of ${r.opStride} GPU operations is on the time lines`);
    if (r.threadsLeftOut)
      left.push(
        `the last ${count(r.threadsLeftOut)} threads have no values of their own here; ` +
          "the database has them",
      );
    if (r.sourceLeftOut)
      left.push(`the lines of ${plural(r.sourceLeftOut, "source file")} are left out`);
    if (p.str(m.part)) {
      add("part", el("bdi", {}, p.str(m.part)));
      for (const note of m.partNotes) add("", p.str(note));
    }
    if (left.length) add("reduced", left.join("; "), ". Sums are complete.");
    return list;
  }
  metrics() {
    const p = this.app.profile,
      body = el("tbody", {});
    // Activities are parts of all time: with OFFCPU, of both metrics together.
    const time = p.metrics
      .filter(m => m.kind === METRIC_ACTIVITY)
      .reduce((sum, m) => sum + p.whole(m.id), 0);
    for (const [title, kinds] of METRIC_GROUPS) {
      const rows = p.metrics.filter(
        m => kinds.includes(m.kind) && p.whole(m.id) > 0 && m.role !== ROLE.stallIdle,
      );
      const of = kinds.includes(METRIC_ACTIVITY)
        ? `: shares of ${formatSeconds(time)} of all threads, idle helpers too`
        : "";
      const isWhole = p.selection.time && !rows.some(m => p.hasTime(m.id)),
        scope = isWhole ? " (of the whole run)" : "";
      if (rows.length) body.append(el("tr", {}, el("th", { colspan: 3 }, title + of + scope)));
      for (const m of rows) body.append(this.metricRow(m, time));
    }
    return el("div", { class: "scroll" }, el("table", { class: "plain shares" }, body));
  }
  metricRow(m, time) {
    const p = this.app.profile,
      whole = p.whole(m.id),
      of = m.kind === METRIC_ACTIVITY ? time : m.parent < 0 ? 0 : p.whole(m.parent);
    return el(
      "tr",
      {},
      el("td", { class: "number" }, p.format(m.id, whole)),
      el(
        "td",
        {
          class: "number quiet",
          title: m.parent >= 0 && m.kind !== METRIC_ACTIVITY ? `of ${p.metrics[m.parent].label}` : null,
        },
        percent(whole, of),
      ),
      el(
        "td",
        {},
        el(
          "button",
          { type: "button", class: "link", onclick: () => this.app.setMetric(m.id) },
          metricWords(p, m.id),
        ),
        el("small", { class: "quiet" }, ` ${m.label}`),
      ),
    );
  }
  top() {
    const app = this.app,
      p = app.profile,
      metric = app.metric,
      whole = p.whole(metric) || 1,
      samples = p.samples(metric);
    const rows = groupContexts(p, GROUPINGS.Functions, [metric], samples)
      .sort((a, b) => b.self.get(metric) - a.self.get(metric))
      .filter(row => row.self.get(metric) > 0)
      .slice(0, 8);
    const number = (text, quiet) => el("td", { class: quiet ? "number quiet" : "number" }, text);
    const open = row => app.select({ frame: { fn: p.fn[row.context] } }, { view: "flame" });
    return el(
      "table",
      { class: "plain shares" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...["self %", "self", "total %", samples ? "samples" : null]
            .filter(Boolean)
            .map(t => el("th", { class: "number" }, t)),
          el("th", {}, "function"),
        ),
      ),
      el(
        "tbody",
        {},
        ...rows.map(row =>
          el(
            "tr",
            {},
            number(percent(row.self.get(metric), whole)),
            number(p.format(metric, row.self.get(metric))),
            number(percent(row.total.get(metric), whole), true),
            samples ? number(`${count(row.samples)} ${sampleError(row.samples)}`, true) : null,
            el(
              "td",
              {},
              el(
                "button",
                { type: "button", class: "link", onclick: () => open(row) },
                frameNode(
                  app,
                  row.context,
                  p.functionName(p.fn[row.context]),
                  baseName(p.modulePath(p.module[row.context])),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }

  // ---- findings ----

  // Of the selection: what the whole run's findings cannot say.
  findings() {
    const found = [this.whereTime(), this.gpuIdle(), this.guesses()].filter(Boolean);
    if (!found.length)
      return el("p", { class: "empty" }, "Nothing was measured in this selection.");
    return el("ul", { class: "findings" }, ...found.map(parts => el("li", {}, ...parts)));
  }
  link(text, action) {
    return el(
      "button",
      { type: "button", class: "link", title: text, onclick: action },
      el("bdi", {}, shorten(text)),
    );
  }
  // The deepest function that has most of the time below it.
  whereTime() {
    const app = this.app,
      p = app.profile,
      metric = app.metric,
      whole = p.whole(metric);
    if (!(whole > 0)) return null;
    const rows = groupContexts(p, GROUPINGS.Functions, [metric]).filter(
      r => p.kind[r.context] === CONTEXT_FUNCTION,
    );
    const own = rows.filter(r => p.isOwn(r.context));
    const pool = (own.length ? own : rows).filter(r => r.total.get(metric) >= 0.35 * whole);
    const depth = c => {
      let d = 0;
      for (; c; c = p.parent[c]) d++;
      return d;
    };
    const best = pool.sort(
      (a, b) => depth(b.context) - depth(a.context) || b.total.get(metric) - a.total.get(metric),
    )[0];
    const hot = [...rows].sort((a, b) => b.self.get(metric) - a.self.get(metric))[0];
    const parts = [];
    const name = r => p.uniqueName(r.context);
    if (best && name(best) !== "main")
      parts.push(
        `${percent(best.total.get(metric), whole)} of ${metricWords(p, metric, true)} is in or below `,
        this.link(name(best), () => this.only(best)),
        ". ",
      );
    if (hot && (!best || name(hot) !== name(best)) && hot.self.get(metric) > 0.05 * whole)
      parts.push(
        "The hottest function is ",
        this.link(name(hot), () => this.only(hot)),
        ` with ${percent(hot.self.get(metric), whole)} in itself.`,
      );
    return parts.length ? parts : null;
  }
  // All of a function, wherever it was called.
  only(row) {
    const { fn } = this.app.profile;
    this.app.select({ frame: { fn: fn[row.context] } }, { view: "flame" });
  }
  gpuIdle() {
    const app = this.app,
      p = app.profile;
    if (!p.isComplete || !p.hasFlow) return null;
    const [from, to] = p.selection.time ?? this.active();
    const busy = mergeIntervals(
      p.profiles
        .filter(x => x.ops)
        .flatMap(x => {
          const list = [];
          for (let i = 0; i < x.ops.n; i++)
            if (x.ops.end[i] > from && x.ops.start[i] < to)
              list.push([Math.max(from, x.ops.start[i]), Math.min(to, x.ops.end[i])]);
          return list;
        }),
    );
    if (!busy.length || to <= from || p.meta.reduced.opStride > 1) return null;
    const used = busy.reduce((s, [a, b]) => s + b - a, 0),
      idle = 1 - used / (to - from);
    if (idle < 0.05)
      return [
        `The ${p.meta.devices.length > 1 ? "GPUs are" : "GPU is"} busy ` +
          `${(100 - idle * 100).toFixed(0)} % of the time.`,
      ];
    const top = this.whileIdle(busy, from, to);
    const parts = [
      this.link(`No GPU works for ${(idle * 100).toFixed(0)} % of the time`, () => {
        // of a part of the time, only the time lines know it
        const isWhy = !p.selection.time && app.views.kernels && idleCard(app);
        app.go(isWhy ? "kernels" : "timeline");
      }),
    ];
    if (top)
      parts.push(
        "; most of that while the CPU is in ",
        this.link(p.name(top), () => app.showFlame(top)),
      );
    return [...parts, "."];
  }
  active() {
    const p = this.app.profile;
    return p.profiles.reduce(
      ([from, to], x) => [Math.min(from, x.start), Math.max(to, x.stop)],
      [Infinity, 0],
    );
  }
  // The context of the deepest function that has half of the samples between the intervals.
  whileIdle(busy, from, to) {
    const p = this.app.profile,
      weight = new Float64Array(p.n);
    for (const x of p.profiles) {
      const s = p.isIn(x.id) ? x.samples : null;
      for (let i = s ? lowerBound(s.time, from) : 0, k = 0; s && i < s.n && s.time[i] < to; i++) {
        while (k < busy.length && busy[k][1] <= s.time[i]) k++;
        if (k === busy.length || busy[k][0] > s.time[i]) weight[s.context[i]]++;
      }
    }
    for (let c = p.n - 1; c > 0; c--) weight[p.parent[c]] += weight[c];
    let best = 0;
    for (let c = 1; c < p.n; c++)
      if (p.kind[c] === CONTEXT_FUNCTION && weight[c] >= 0.5 * weight[0] && weight[c] > 0) best = c;
    return best;
  }
  guesses() {
    const p = this.app.profile,
      g = p.metrics.findIndex(m => m.kind === METRIC_GUESSED);
    if (g < 0 || p.isSelected) return null;
    const share = p.whole(g) / (p.whole(p.metrics[g].parent) || 1);
    return share > 0.05
      ? [
          `${(share * 100).toFixed(0)} % of the samples have a guessed frame in their call path; ` +
            "callers above it may be wrong. Guessed frames have a dashed border.",
        ]
      : null;
  }

  // ---- ledger ----

  // False for a run that measured GPUs alone.
  hasCpu() {
    const { ledger, gpuLedger } = this.app.profile.meta;
    return ledger.delivered > 0 || !gpuLedger;
  }
  ledger() {
    const p = this.app.profile,
      l = p.meta.ledger,
      g = p.meta.gpuLedger,
      hasCpu = this.hasCpu(),
      isMissing = hasCpu && (l.cpuUnseen > 0 || l.cpuStrange > 0);
    const ok =
      l.closes &&
      !l.overflow &&
      !l.damaged &&
      (!g || g.closes) &&
      (!g || !g.sampled || g.samplesClose);
    const summary = el(
      "summary",
      { class: ok && !isMissing ? "good" : "bad" },
      el("span", { class: "light-dot", "aria-hidden": "true" }),
      (ok ? "Every " : "Not every ") +
        (hasCpu ? "sample is accounted for" : "operation is accounted for") +
        (isMissing ? ", but CPU time is missing" : "") +
        (p.str(p.meta.part) ? " in the whole run" : ""),
      hasCpu
        ? `: ${count(l.delivered)} delivered, ${count(l.inTree)} in the tree, ${count(l.lost)} lost` +
            (l.lost ? ` (${percent(l.lost, l.delivered)})` : "") +
            "."
        : `: ${count(g.launched)} GPU operations launched. The CPU was not sampled (-e CPUTIME).`,
    );
    const rows = [
      [
        "call paths",
        `${count(l.complete)} complete, ${count(l.guessed)} with a guessed frame, ` +
          `${count(l.cut)} incomplete`,
      ],
    ];
    for (const loss of l.losses)
      rows.push([p.str(loss.name), `${count(loss.n)}: ${p.str(loss.why)}`]);
    if (l.cpuClock && l.cpuSampled)
      rows.push([
        "CPU time",
        `${formatSeconds(l.cpuSampled / 1e9)} in samples, ${formatSeconds(l.cpuClock / 1e9)} by the clock of the ` +
          "processes",
      ]);
    if (hasCpu && l.cpuUnseen)
      rows.push(["missing", `${formatSeconds(l.cpuUnseen / 1e9)} of CPU time without samples`]);
    if (hasCpu && l.cpuStrange)
      rows.push([
        "missing",
        `${formatSeconds(l.cpuStrange / 1e9)} of CPU time in threads that were not seen to start`,
      ]);
    if (l.damaged)
      rows.push(["damage", `${formatBytes(l.damaged)} of the measurement could not be read`]);
    if (g) {
      rows.push([
        "GPU operations",
        `${count(g.launched)} launched, ${count(g.joined)} joined with their call path` +
          (g.aggregated ? `, ${count(g.aggregated)} summed up in the run` : "") +
          (g.unexplained ? `, ${count(g.unexplained)} not explained` : ""),
      ]);
      for (const loss of g.losses)
        rows.push([p.str(loss.name), `${count(loss.n)}: ${p.str(loss.why)}`]);
      if (g.sampled)
        rows.push([
          "GPU samples",
          `${count(g.samples)} taken, ${count(g.recorded)} recorded, ` +
            `${count(g.dropped)} dropped, ${count(g.outside)} outside of known code; ` +
            `${count(g.apportioned)} apportioned`,
        ]);
    }
    const notes = [...new Set(p.meta.processes.flatMap(x => x.notes.map(n => p.str(n))))];
    for (const note of notes.slice(0, 20)) rows.push(["note", note]);
    return el(
      "details",
      { class: "ledger", open: !ok || isMissing },
      summary,
      el(
        "dl",
        { class: "facts tall" },
        ...rows.map(([a, b]) => el("div", {}, el("dt", {}, a), el("dd", {}, el("bdi", {}, b)))),
      ),
    );
  }
}

function mergeIntervals(list) {
  list.sort((a, b) => a[0] - b[0]);
  const out = [];
  for (const [a, b] of list) {
    const last = out[out.length - 1];
    if (last && a <= last[1]) last[1] = Math.max(last[1], b);
    else out.push([a, b]);
  }
  return out;
}
