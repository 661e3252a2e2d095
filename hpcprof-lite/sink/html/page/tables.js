// SPDX-License-Identifier: BSD-3-Clause
// The tree of contexts, and flat lists of functions, lines and load modules. Words and order of
// columns are those of the report: share, value, samples, then the name.

// The relative error of a number of samples: one standard deviation, of Poisson's distribution.
function sampleError(samples) {
  const error = 100 / Math.sqrt(samples);
  return samples > 0 ? `±${error.toFixed(error < 9.95 ? 1 : 0)} %` : "";
}

// Columns "total" and "self" of the metrics that the user wants to see. get: {total(metric, row),
// self(metric, row), judge(metric, row, "total" or "self")}; the last for comparisons alone.
function metricColumns(app, get) {
  const p = app.profile;
  return app.columns.flatMap(metric => {
    const m = p.metrics[metric],
      name = app.columns.length > 1 ? `${m.label.replace(/ \(.*\)$/, "")} ` : "";
    if (p.isComparison) return changeColumns(p, metric, name, get);
    const whole = p.whole(metric) || 1,
      isMean = m.kind === METRIC_GPU_MEAN && m.divisor >= 0;
    const text = of => row => {
      if (!isMean) return p.format(metric, of(metric, row));
      if (p.selection.time) return ""; // the sums of launches have no times
      const n = of(m.divisor, row);
      return n ? (of(metric, row) / n).toPrecision(4) : "";
    };
    const pair = (word, of) => [
      {
        id: `${word}${metric}%`,
        title: `${name}${word} %`,
        hint: `${word} of ${metricWords(p, metric)}`,
        width: 84,
        value: row => of(metric, row),
        text: row => percent(of(metric, row), whole),
        share: row => of(metric, row) / whole,
      },
      {
        id: `${word}${metric}`,
        title: `${name}${word}`,
        hint: `${word} of ${metricWords(p, metric)}`,
        width: 92,
        value: row => of(metric, row),
        text: text(of),
      },
    ];
    const columns = [...pair("total", get.total), ...pair("self", get.self)];
    return isMean ? columns.filter(c => !c.id.endsWith("%")) : columns;
  });
}

// The column of the metric in the bar by which tables are sorted at first. word: "self", "total".
function sortBy(app, word) {
  return `${word}${app.metric}${app.profile.isComparison ? "+" : ""}`;
}

function changeColumns(p, metric, name, get) {
  const m = p.metrics[metric];
  // Sorted by the size of the change. What chance explains is grey.
  const pair = (word, of) => [
    {
      id: `${word}${metric}`,
      title: `${name}${word}`,
      hint: p.str(m.description) || m.label,
      width: 92,
      value: row => of(metric, row),
      text: row => p.format(metric, of(metric, row)),
    },
    {
      id: `${word}${metric}+`,
      title: `change of ${word}`,
      hint: `${m.label}, new less base, ± one standard deviation; grey: smaller than the noise`,
      width: 256,
      value: row => Math.abs(of(metric, row) - of(p.before(metric), row)),
      text: row => p.formatChange(metric, of(metric, row), of(p.before(metric), row)),
      hasZero: row => of(metric, row) > 0,
      note: row => `± ${p.format(metric, get.judge(metric, row, word).sd)}`,
      isMuted: row => get.judge(metric, row, word).isNoise,
      share: row => Math.abs(of(metric, row) - of(p.before(metric), row)) / (p.whole(metric) || 1),
    },
  ];
  return [...pair("total", get.total), ...pair("self", get.self)];
}

// Samples of the metric, with their error; none where they are not known.
function sampleColumns(app, samples) {
  const m = app.profile.metrics[app.metric];
  if (app.profile.isComparison || !app.profile.samples(app.metric)) return [];
  return [
    {
      id: "samples",
      title: "self samples",
      hint: `samples of ${m.label} in the row itself; ± one standard deviation of their number`,
      width: 118,
      quiet: true,
      value: samples,
      text: row => `${count(samples(row))} ${sampleError(samples(row))}`,
    },
  ];
}

function frameNode(app, context, name, where) {
  const p = app.profile,
    wait = waitOf(p, context), // with the colour that it has in all views
    colour = wait ? stateClass(wait) : `frame-${p.className(context)}`;
  return el(
    "span",
    { class: "frame" },
    el("i", { class: `swatch ${colour}` }),
    el("bdi", { title: name }, shorten(name)),
    where ? el("bdi", { class: "quiet" }, ` ${where}`) : null,
  );
}

// What people do with a row that stands for a context, or for all of a function.
function frameMenu(app, context, isFunction) {
  const p = app.profile,
    fn = p.fn[context],
    frame = isFunction && fn >= 0 ? { fn } : { context },
    entries = [
      [
        "Flame graph",
        () => (isFunction ? app.select({ frame }, { view: "flame" }) : app.showFlame(context)),
      ],
      ["Select only this", () => app.select({ frame })],
    ];
  const hasFile = p.file[context] >= 0 || (fn >= 0 && p.functions.file[fn] >= 0);
  if (hasFile && app.views.source) entries.push(["Source", () => app.showSource(context)]);
  if (fn >= 0)
    entries.push(["Callers and callees", () => app.go("flame", { "flame.of": fn })]);
  entries.push(["Copy name", () => copyText(p.name(context))]);
  if (!isFunction)
    entries.push(["Copy path", () => copyText(p.path(context).map(c => p.name(c)).join("\n"))]);
  return entries;
}

class TreeView {
  constructor(app, container) {
    this.app = app;
    this.box = container;
    this.holder = el("div", { class: "fill" });
    this.table = new Table({
      app,
      key: "tree",
      label: "Tree of calling contexts",
      open: row => this.kidsOf(row.id),
      isMatch: row => app.search.test(app.profile.name(row.id)),
      menu: row => frameMenu(app, row.id, false),
      onenter: row => app.showFlame(row.id),
    });
    this.table.ontoggle = () => this.keepOpened();
    this.holder.append(this.table.box);
    this.box.append(
      el("div", { class: "controls" }, columnChooser(app)),
      this.holder,
      el(
        "p",
        { class: "keys hint" },
        "Click a row to open it. Double-click or Enter shows it in the flame graph, M more.",
      ),
    );
  }
  // A line with values of its own is a row. What it calls stands beside it, with the name of the
  // line, because a row for each call site would double the depth of the tree. Instructions
  // without a line count for what they are in; groups of functions that are hidden are no rows.
  collect(parent, list) {
    const p = this.app.profile,
      end = parent + p.subtree[parent];
    for (let c = parent + 1; c < end; c += p.subtree[c]) {
      if (!this.shown.some(metric => p.total(metric)[c] > 0)) continue;
      const isHidden =
        p.kind[c] === CONTEXT_INSTRUCTION || (p.kind[c] === CONTEXT_FUNCTION && this.isHidden(c));
      if (!isHidden && (!isLineOf(p, c) || this.shown.some(metric => p.self(metric)[c] > 0)))
        list.push({ id: c });
      if (isHidden || isLineOf(p, c)) this.collect(c, list);
    }
    return list;
  }
  isHidden(context) {
    const fn = this.app.profile.fn[context];
    return fn >= 0 && [...this.app.groups.values()].some(group => group[fn]);
  }
  // Of a row itself, with its instructions.
  selfOf(values, context) {
    const p = this.app.profile,
      end = context + p.subtree[context];
    let sum = values[context];
    for (let c = context + 1; c < end; c += p.subtree[c])
      if (p.kind[c] === CONTEXT_INSTRUCTION) sum += values[c];
    return sum;
  }
  kidsOf(context) {
    if (!this.kids.has(context))
      this.kids.set(context, isLineOf(this.app.profile, context) ? [] : this.collect(context, []));
    return this.kids.get(context);
  }
  keepOpened() {
    const most = 1000, // an address has room for some thousand characters
      { opened } = this.table;
    this.app.state.set({ "tree.open": opened.size <= most ? formatSet(opened) || "-" : "" });
  }
  draw() {
    const app = this.app,
      p = app.profile,
      { state } = app,
      total = (metric, row) => (isLineOf(p, row.id) ? p.self(metric) : p.total(metric))[row.id];
    this.kids = new Map();
    this.shown = p.isComparison ? app.columns.flatMap(m => [m, p.before(m)]) : app.columns;
    const samples = p.samples(app.metric),
      get = {
        total,
        self: (metric, row) => this.selfOf(p.self(metric), row.id),
        judge: (metric, row, word) => {
          const byTotal = word === "total" && !isLineOf(p, row.id),
            sumOf = values => (byTotal ? values[row.id] : this.selfOf(values, row.id));
          return judgeContext(p, metric, byTotal, sumOf);
        },
      };
    this.table.setColumns([
      ...metricColumns(app, get),
      ...sampleColumns(app, row => this.selfOf(samples, row.id)),
      {
        title: "calling context",
        wide: true,
        node: row => frameNode(app, row.id, p.name(row.id), callSite(p, row.id)),
      },
    ]);
    this.table.firstSort = sortBy(app, "total");
    this.table.rows = this.kidsOf(0);
    if (state.get("tree.open")) {
      this.table.opened = parseSet(state.get("tree.open"), p.n);
    } else if (!this.isOpened) {
      this.table.openHotPath(row => p.total(app.metric)[row.id] / (p.whole(app.metric) || 1));
    }
    this.isOpened = true;
    this.openTo(state.number("tree.at", 0));
  }
  // Opens the callers of a context, and shows it.
  openTo(context) {
    for (let c = this.app.profile.parent[context] ?? 0; c; c = this.app.profile.parent[c])
      this.table.opened.add(c);
    this.table.setRows(this.kidsOf(0));
    if (context && context !== this.at) this.table.showRow(row => row.id === this.rowOf(context));
    this.at = context;
  }
  // The row that a context counts in: its own, or that of the context around it.
  rowOf(context) {
    const rows = new Set(this.table.flat.map(row => row.id));
    let c = context;
    while (c && !rows.has(c)) c = this.app.profile.parent[c];
    return c;
  }
  findMatches() {
    const p = this.app.profile,
      found = [];
    for (let c = 1; c < p.n; c++)
      if (
        this.shown.some(m => (isLineOf(p, c) ? p.self(m) : p.total(m))[c] > 0) &&
        this.app.search.test(p.name(c))
      )
        found.push(c);
    return found;
  }
  showMatch(context) {
    this.at = 0;
    this.app.state.set({ "tree.at": context });
  }
}

function isLineOf(p, c) {
  return p.kind[c] === CONTEXT_LINE || p.kind[c] === CONTEXT_INSTRUCTION;
}
function callSite(p, c) {
  const place = p.where(c),
    up = p.parent[c];
  return place && p.kind[up] === CONTEXT_LINE ? `called at ${place}` : place;
}

// What flat tables group by: the key of a context, -1 for none, and the name of a row.
const GROUPINGS = {
  Functions: {
    key: (p, c) => (p.kind[c] >= CONTEXT_FUNCTION ? p.fn[c] : -1),
    name: (p, c) => p.functionName(p.fn[c]),
    where: (p, c) => baseName(p.modulePath(p.module[c])),
  },
  Lines: {
    key: (p, c) => (p.kind[c] === CONTEXT_LINE ? p.file[c] * 2 ** 24 + p.line[c] : -1),
    name: (p, c) => p.name(c),
    where: (p, c) => p.functionName(p.fn[c]),
  },
  Modules: {
    key: (p, c) => (p.kind[c] >= CONTEXT_FUNCTION ? (p.module[c] < 0 ? -2 : p.module[c]) : -1),
    name: (p, c) => baseName(p.modulePath(p.module[c])) || "GPU operations",
    where: (p, c) => p.modulePath(p.module[c]),
  },
};

// Sums over all contexts of one key. Inside another context of the same key the total counts once.
// Values of contexts without a key of their own (loops in the table of lines) count in none.
// samples: of one metric, by context; or null.
function groupContexts(p, grouping, metrics, samples = null) {
  const groups = new Map(),
    until = new Map(),
    list = [];
  const selfs = metrics.map(m => p.self(m)),
    totals = metrics.map(m => p.total(m));
  for (let c = 1; c < p.n; c++) {
    if (!totals.some(t => t[c])) continue;
    const key = grouping.key(p, c);
    if (key === -1) continue;
    let g = groups.get(key);
    if (!g) {
      g = { id: list.length, context: c, samples: 0, self: new Map(), total: new Map() };
      groups.set(key, g);
      list.push(g);
      metrics.forEach(m => {
        g.self.set(m, 0);
        g.total.set(m, 0);
      });
    }
    const isInside = (until.get(key) ?? 0) > c;
    if (!isInside) until.set(key, c + p.subtree[c]);
    if (samples) g.samples += samples[c];
    metrics.forEach((m, i) => {
      g.self.set(m, g.self.get(m) + selfs[i][c]);
      if (!isInside) g.total.set(m, g.total.get(m) + totals[i][c]);
    });
  }
  return list;
}

class FlatView {
  constructor(app, container) {
    this.app = app;
    const buttons = el("div", { class: "segments", role: "group", "aria-label": "Group by" });
    for (const by of Object.keys(GROUPINGS))
      buttons.append(
        el(
          "button",
          {
            type: "button",
            onclick: () => app.state.set({ "tables.by": by === "Functions" ? "" : by }),
          },
          by,
        ),
      );
    this.buttons = buttons;
    this.holder = el("div", { class: "fill" });
    this.table = new Table({
      app,
      key: "tables",
      label: "Functions, lines or modules",
      isMatch: row => app.search.test(this.name(row)),
      menu: row => this.menuOf(row),
      onenter: row =>
        this.by === "Functions"
          ? app.select({ frame: { fn: app.profile.fn[row.context] } }, { view: "flame" })
          : app.showSource(row.context),
    });
    this.holder.append(this.table.box);
    container.append(el("div", { class: "controls" }, buttons, columnChooser(app)), this.holder);
  }
  get by() {
    const by = this.app.state.get("tables.by", "Functions");
    return by in GROUPINGS ? by : "Functions";
  }
  name(row) {
    return GROUPINGS[this.by].name(this.app.profile, row.context);
  }
  menuOf(row) {
    if (this.by !== "Modules")
      return frameMenu(this.app, row.context, this.by === "Functions").filter(
        ([label]) => this.by === "Functions" || /^(Source|Callers)/.test(label),
      );
    const path = this.app.profile.modulePath(this.app.profile.module[row.context]);
    return [["Copy path", () => copyText(path)]];
  }
  draw() {
    const app = this.app,
      p = app.profile,
      grouping = GROUPINGS[this.by];
    for (const b of this.buttons.children)
      b.setAttribute("aria-pressed", String(b.textContent === this.by));
    const metrics = [
      ...new Set(
        app.columns.flatMap(m => {
          if (p.isComparison) return [m, p.before(m)];
          return p.metrics[m].divisor >= 0 ? [m, p.metrics[m].divisor] : [m];
        }),
      ),
    ];
    this.table.firstSort = sortBy(app, "self");
    const rows = groupContexts(p, grouping, metrics, p.samples(app.metric)),
      get = {
        total: (m, row) => row.total.get(m) ?? 0,
        self: (m, row) => row.self.get(m) ?? 0,
        judge: (m, row, word) => this.judged(m, word).get(grouping.key(p, row.context)),
      };
    this.table.setColumns([
      ...metricColumns(app, get),
      ...sampleColumns(app, row => row.samples),
      {
        title: this.by.toLowerCase().replace(/s$/, ""),
        wide: true,
        node: row =>
          frameNode(app, row.context, this.name(row), grouping.where(p, row.context)),
      },
    ]);
    this.table.setRows(rows);
  }
  // By key of the grouping, of a comparison.
  judged(metric, word) {
    const p = this.app.profile,
      { key } = GROUPINGS[this.by];
    return p.cached(`judged ${metric} ${word} ${this.by}`, () => {
      const rows = judgeGroups(p, metric, word === "total", c => key(p, c));
      return new Map(rows.map(r => [r.key, r]));
    });
  }
  findMatches() {
    return this.table.flat.filter(row => this.app.search.test(this.name(row)));
  }
  showMatch(match) {
    this.table.showRow(row => row.context === match.context);
  }
}

// A list of metrics to show as columns.
function columnChooser(app) {
  const p = app.profile,
    list = el("div", { class: "chooser-list" });
  const update = () =>
    [...list.querySelectorAll("input")].forEach(e => {
      e.checked = app.columns.includes(+e.value);
    });
  p.metrics.forEach((m, i) => {
    if (!p.isShown(i)) return;
    list.append(
      el(
        "label",
        { title: p.str(m.description) },
        el("input", {
          type: "checkbox",
          value: i,
          onchange: e => {
            const columns = p.metrics
              .map((_, k) => k)
              .filter(k => (k === i ? e.target.checked : app.columns.includes(k)));
            app.state.set({ c: formatSet(columns) });
          },
        }),
        m.label,
        el("bdi", { class: "quiet" }, metricWords(p, i, true)),
      ),
    );
  });
  return el("details", { class: "chooser", ontoggle: update }, el("summary", {}, "Columns"), list);
}
