// SPDX-License-Identifier: BSD-3-Clause
// Tables: the tree of contexts, and flat lists of functions, lines and load modules.

const TABLE_ROW = 24,
  TABLE_STEP = 400;

// A table that makes rows only for what is on the screen.
// columns: {title, hint, text(row), value(row), share(row), wide, node(row)}
class Table {
  constructor({ columns, label, sort, open, onenter }) {
    this.columns = columns;
    this.sort = sort ?? 1; // column; negative: rising
    this.open = open; // (row) => children, for trees; null: a flat table
    this.onenter = onenter;
    this.current = 0;
    this.head = el("div", { class: "tr head", role: "row" });
    this.body = el("div", { class: "tbody", role: "rowgroup" });
    this.box = el(
      "div",
      { class: "table", role: open ? "treegrid" : "grid", tabindex: "0", "aria-label": label },
      this.head,
      this.body,
    );
    this.box.addEventListener("scroll", () => this.show());
    this.box.addEventListener("keydown", e => this.key(e));
    this.drawHead();
  }
  drawHead() {
    this.head.replaceChildren(
      ...this.columns.map((c, i) => {
        const sorted = Math.abs(this.sort) === i && c.value;
        return el(
          "button",
          {
            type: "button",
            role: "columnheader",
            title: c.hint ?? c.title,
            class: c.wide ? "wide" : "number",
            "aria-sort": sorted ? (this.sort < 0 ? "ascending" : "descending") : "none",
            onclick: () => this.sortBy(i),
          },
          c.title,
          sorted ? (this.sort < 0 ? " ▲" : " ▼") : "",
        );
      }),
    );
    const widths = this.columns.map(c => (c.wide ? "minmax(0, 1fr)" : `${c.width ?? 108}px`));
    const least = this.columns.reduce((sum, c) => sum + (c.wide ? 420 : (c.width ?? 108)), 0);
    this.box.style.setProperty("--columns", widths.join(" "));
    this.box.style.setProperty("--least", `${least}px`);
  }
  sortBy(i) {
    if (!this.columns[i].value) return;
    this.sort = this.sort === i ? -i : i;
    this.drawHead();
    this.setRows(this.rows);
  }
  order(rows) {
    const column = this.columns[Math.abs(this.sort)] ?? this.columns[1],
      sign = this.sort < 0 ? 1 : -1;
    return [...rows].sort((a, b) => sign * (column.value(a) - column.value(b)) || a.id - b.id);
  }
  // rows: objects with a unique id.
  setRows(rows) {
    this.rows = rows;
    this.flat = [];
    const add = (list, depth) => {
      for (const row of this.order(list)) {
        row.depth = depth;
        this.flat.push(row);
        if (this.open && this.opened?.has(row.id)) add(this.open(row), depth + 1);
      }
    };
    this.opened ??= new Set();
    add(rows, 0);
    this.current = Math.max(0, Math.min(this.current, this.flat.length - 1));
    this.show();
  }
  show() {
    const top = Math.max(0, Math.floor(this.box.scrollTop / TABLE_ROW) - 8);
    const n = Math.ceil((this.box.clientHeight || 600) / TABLE_ROW) + 16;
    this.body.style.height = `${this.flat.length * TABLE_ROW}px`;
    this.body.replaceChildren(
      ...this.flat.slice(top, top + n).map((row, i) => this.makeRow(row, top + i)),
    );
    this.box.setAttribute("aria-rowcount", this.flat.length);
  }
  makeRow(row, i) {
    const cells = this.columns.map(c => {
      if (c.wide) {
        const kids = this.open ? this.open(row).length : 0;
        return el(
          "div",
          {
            role: "gridcell",
            class: "wide",
            style: this.open ? `padding-left:${6 + Math.min(row.depth, 40) * 10}px` : null,
          },
          this.open
            ? el(
                "span",
                { class: "twist", "aria-hidden": "true" },
                kids ? (this.opened.has(row.id) ? "▾" : "▸") : "",
              )
            : null,
          c.node(row),
        );
      }
      const value = c.value(row),
        share = c.share?.(row) ?? 0;
      return el(
        "div",
        {
          role: "gridcell",
          class: "number",
          style: share > 0 ? `--share:${(100 * Math.min(1, share)).toFixed(1)}%` : null,
        },
        value ? c.text(row) : "",
      );
    });
    return el(
      "div",
      {
        role: "row",
        class: i === this.current ? "tr current" : "tr",
        "aria-rowindex": i + 1,
        "aria-level": this.open ? row.depth + 1 : null,
        "aria-expanded":
          this.open && this.open(row).length ? String(this.opened.has(row.id)) : null,
        style: `top:${i * TABLE_ROW}px`,
        onclick: e => {
          this.current = i;
          this.toggle(row, e);
        },
        ondblclick: () => this.onenter?.(row),
      },
      ...cells,
    );
  }
  toggle(row) {
    if (this.open && this.open(row).length) {
      if (!this.opened.delete(row.id)) this.opened.add(row.id);
      this.setRows(this.rows);
    } else {
      this.show();
    }
  }
  // Opens the largest callee of each opened row, as far as it has most of the value.
  openHotPath(share) {
    let list = this.order(this.rows);
    for (let i = 0; list.length && i < 60; i++) {
      if (share(list[0]) < 0.35) break;
      this.opened.add(list[0].id);
      list = this.order(this.open(list[0]));
    }
    this.setRows(this.rows);
  }
  key(e) {
    const row = this.flat?.[this.current];
    if (!row || e.target !== this.box) return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / TABLE_ROW) - 2);
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -1e9,
      End: 1e9,
    };
    const isOpen = this.opened.has(row.id);
    if (e.key in steps) {
      this.current = Math.max(0, Math.min(this.flat.length - 1, this.current + steps[e.key]));
      const y = this.current * TABLE_ROW,
        height = this.box.clientHeight - TABLE_ROW * 2;
      if (y < this.box.scrollTop) this.box.scrollTop = y;
      if (y > this.box.scrollTop + height) this.box.scrollTop = y - height;
      this.show();
      announce(this.body.querySelector(".current")?.textContent ?? "");
    } else if (
      this.open &&
      ((e.key === "ArrowRight" && !isOpen) || (e.key === "ArrowLeft" && isOpen))
    ) {
      this.toggle(row);
    } else if (e.key === "Enter" && this.onenter) {
      this.onenter(row);
    } else {
      return;
    }
    e.preventDefault();
  }
}

// Columns "inclusive" and "exclusive" of the metrics that the user wants to see.
function metricColumns(app, total, self) {
  const p = app.profile;
  return app.columns.flatMap(metric => {
    const m = p.metrics[metric],
      text = get => row => {
        const value = get(metric, row),
          d = m.divisor;
        if (m.kind === METRIC_GPU_MEAN && d >= 0) {
          if (p.selection.time) return ""; // the sums of launches have no times
          const n = get(d, row);
          return n ? (value / n).toPrecision(4) : "";
        }
        return p.format(metric, value);
      };
    // Sorted by the size of the change.
    const change = (word, get) => ({
      title: `change ${word}`,
      hint: `${m.label}, new less base`,
      width: 170,
      value: row => Math.abs(get(metric, row) - get(p.before(metric), row)),
      text: row => p.formatChange(metric, get(metric, row), get(p.before(metric), row)),
      share: row =>
        Math.abs(get(metric, row) - get(p.before(metric), row)) / (p.whole(metric) || 1),
    });
    const column = (word, get) => ({
      title: `${m.label} ${word}`,
      hint: p.str(m.description) || m.label,
      width: 132,
      value: row => get(metric, row),
      text: text(get),
      share: row => (m.kind === METRIC_GPU_MEAN ? 0 : get(metric, row) / (p.whole(metric) || 1)),
    });
    if (p.isComparison)
      return [
        column("incl", total),
        change("incl", total),
        column("excl", self),
        change("excl", self),
      ];
    return [column("incl", total), column("excl", self)];
  });
}

function frameNode(app, context, name, where) {
  const p = app.profile;
  return el(
    "span",
    { class: "frame" },
    el("i", { class: `swatch frame-${p.className(context)}` }),
    el("bdi", { title: name }, shorten(name)),
    where ? el("bdi", { class: "quiet" }, ` ${where}`) : null,
  );
}

class TreeView {
  constructor(app, container) {
    this.app = app;
    this.box = container;
    this.box.append(columnChooser(app));
    this.holder = el("div", { class: "fill" });
    this.box.append(
      this.holder,
      el(
        "p",
        { class: "keys" },
        "Click a row to open it. Double-click or Enter shows it in the flame graph.",
      ),
    );
  }
  draw() {
    const app = this.app,
      p = app.profile,
      kids = new Map();
    const shown = p.isComparison ? app.columns.flatMap(m => [m, p.before(m)]) : app.columns;
    const isLine = c => p.kind[c] === CONTEXT_LINE || p.kind[c] === CONTEXT_INSTRUCTION;
    const total = (metric, row) => (isLine(row.id) ? p.self(metric) : p.total(metric))[row.id];
    // A line with values of its own is a row. What it calls stands beside it, with the name of the
    // line, because a row for each call site would double the depth of the tree.
    const collect = (parent, list) => {
      const end = parent + p.subtree[parent];
      for (let c = parent + 1; c < end; c += p.subtree[c]) {
        if (!shown.some(metric => p.total(metric)[c] > 0)) continue;
        if (!isLine(c) || shown.some(metric => p.self(metric)[c] > 0)) list.push({ id: c });
        if (isLine(c)) collect(c, list);
      }
      return list;
    };
    const open = row => {
      if (!kids.has(row.id)) kids.set(row.id, isLine(row.id) ? [] : collect(row.id, []));
      return kids.get(row.id);
    };
    const opened = this.table?.opened;
    this.table = new Table({
      label: "Tree of calling contexts",
      open,
      sort: 1,
      columns: [
        {
          title: "calling context",
          wide: true,
          node: row => frameNode(app, row.id, p.name(row.id), callSite(p, row.id)),
        },
        ...metricColumns(app, total, (metric, row) => p.self(metric)[row.id]),
      ],
      onenter: row => app.showFlame(row.id),
    });
    this.holder.replaceChildren(this.table.box);
    this.table.opened = opened ?? new Set();
    this.table.rows = open({ id: 0 });
    if (opened) this.table.setRows(this.table.rows);
    else this.table.openHotPath(row => p.total(app.metric)[row.id] / (p.whole(app.metric) || 1));
  }
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
function groupContexts(p, grouping, metrics) {
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
      groups.set(key, (g = { id: list.length, context: c, self: new Map(), total: new Map() }));
      list.push(g);
      metrics.forEach(m => {
        g.self.set(m, 0);
        g.total.set(m, 0);
      });
    }
    const isInside = (until.get(key) ?? 0) > c;
    if (!isInside) until.set(key, c + p.subtree[c]);
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
    container.append(el("div", { class: "controls" }, buttons, columnChooser(app)), this.holder);
  }
  get by() {
    const by = this.app.state.get("tables.by", "Functions");
    return by in GROUPINGS ? by : "Functions";
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
    const rows = groupContexts(p, grouping, metrics);
    const name = row => grouping.name(p, row.context);
    const table = new Table({
      label: this.by,
      sort: p.isComparison ? 4 : 2,
      columns: [
        {
          title: this.by.toLowerCase().replace(/s$/, ""),
          wide: true,
          node: row => frameNode(app, row.context, name(row), grouping.where(p, row.context)),
        },
        ...metricColumns(
          app,
          (m, row) => row.total.get(m) ?? 0,
          (m, row) => row.self.get(m) ?? 0,
        ),
      ],
      onenter: row =>
        this.by === "Lines"
          ? app.showSource(row.context)
          : app.select({ frame: { fn: p.fn[row.context] } }, { view: "flame" }),
    });
    this.holder.replaceChildren(table.box);
    table.setRows(rows);
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
      ),
    );
  });
  return el("details", { class: "chooser", ontoggle: update }, el("summary", {}, "Columns"), list);
}
