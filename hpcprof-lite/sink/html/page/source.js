// SPDX-License-Identifier: BSD-3-Clause
// Source files with the values of metrics beside their lines, and the instructions of hot functions.
// source.at has the file and line, source.code the function, source.pc an instruction.

const MOST_FILES = 300;

// By own values, or by totals if no line has one. 0: no line has a value.
function hottestLine(lines, metric) {
  const all = [...(lines ?? [])],
    kind = all.some(([, row]) => row.self[metric] > 0) ? "self" : "total";
  let best = 0,
    most = 0;
  for (const [line, row] of all)
    if (row[kind][metric] > most) [best, most] = [line, row[kind][metric]];
  return best;
}

class SourceView {
  constructor(app, container) {
    this.app = app;
    this.list = el("nav", { class: "file-list", "aria-label": "Source files" });
    this.code = el("div", { class: "code", tabindex: "0", "aria-label": "Source lines" });
    this.box = el("div", { class: "source" }, this.list, this.code);
    this.panel = new CodePanel(app);
    this.box.append(this.panel.box);
    rowKeys(this.code, row => this.choose(+row.dataset.line));
    container.append(this.box);
  }
  choose(line) {
    this.app.state.set({ "source.at": `${this.file}:${line}`, "source.pc": "" });
  }
  // By file, then line: what the line has of each shown metric, and its number of samples.
  collect() {
    const p = this.app.profile,
      metrics = this.app.columns,
      selfs = metrics.map(m => p.self(m)),
      totals = metrics.map(m => p.total(m)),
      counted = this.counted(),
      files = new Map(),
      until = new Map();
    for (let c = 1; c < p.n; c++) {
      if (p.kind[c] !== CONTEXT_LINE || p.file[c] < 0 || !totals.some(t => t[c])) continue;
      if (!files.has(p.file[c])) files.set(p.file[c], new Map());
      const lines = files.get(p.file[c]),
        line = p.line[c],
        key = p.file[c] * 2 ** 24 + line;
      if (!lines.has(line))
        lines.set(line, { self: metrics.map(() => 0), total: metrics.map(() => 0), samples: 0 });
      const row = lines.get(line),
        isInside = (until.get(key) ?? 0) > c;
      if (!isInside) until.set(key, c + p.subtree[c]);
      row.samples += counted?.[c] ?? 0;
      metrics.forEach((_, i) => {
        row.self[i] += selfs[i][c];
        if (!isInside) row.total[i] += totals[i][c];
      });
    }
    return files;
  }
  // By file: what its lines have of the metric with what they call, each sample once.
  fileTotals() {
    const p = this.app.profile,
      total = p.total(this.app.metric),
      sums = new Map(),
      until = new Map();
    for (let c = 1; c < p.n; c++) {
      const f = p.kind[c] === CONTEXT_LINE ? p.file[c] : -1;
      if (f < 0 || (until.get(f) ?? 0) > c) continue;
      until.set(f, c + p.subtree[c]);
      sums.set(f, (sums.get(f) ?? 0) + total[c]);
    }
    return sums;
  }
  // The metric whose number of samples is shown: the first sampled one.
  get sampled() {
    const p = this.app.profile;
    return this.app.columns.find(m => p.metrics[m].kind === METRIC_SAMPLED) ?? -1;
  }
  // By context: its number of samples. Those of a part of the time or of some rows are not known.
  counted() {
    const p = this.app.profile,
      { time, profiles, frame } = p.selection,
      t = p.totals;
    if (this.sampled < 0 || time || profiles) return null;
    const out = new Float64Array(p.n),
      inside = p.inside(frame);
    for (let i = 0; i < t.n; i++)
      if (t.metric[i] === this.sampled && (!inside || inside[t.context[i]]))
        out[t.context[i]] += t.samples[i];
    return out;
  }
  draw() {
    const app = this.app,
      p = app.profile,
      at = app.state.get("source.at");
    if (!app.columns.includes(app.metric)) app.columns = [app.metric, ...app.columns];
    const [file, line] = at.split(":").map(Number),
      main = app.columns.indexOf(app.metric);
    this.files = this.collect();
    const values = new Map([...this.files].map(([f, lines]) => [f, sumOf(lines, main)]));
    const totals = this.fileTotals(),
      list = [...this.files.keys()].sort(
        (a, b) => values.get(b) - values.get(a) || totals.get(b) - totals.get(a),
      );
    const isKnown = at && (this.files.has(file) || p.sources.has(file));
    this.file = isKnown ? file : firstFile(p, list, values, totals, p.whole(app.metric));
    this.line = this.file === file && line ? line : 0;
    this.inLines = [...values.values()].reduce((sum, v) => sum + v, 0);
    this.drawList(list, values, totals);
    this.drawCode();
    this.panel.draw(this.file, this.line);
    this.box.classList.toggle("with-code", !this.panel.box.hidden);
    this.box.classList.toggle("bare-code", !!this.panel.shown && !hasText(this.panel.shown));
    this.box.classList.toggle("one-file", list.length === 1); // its name is above its lines
    const rowOf = n => this.code.querySelector(`[data-line="${n}"]`),
      row = rowOf(this.line || hottestLine(this.files.get(this.file), main));
    if (this.line) row?.classList.add("pointed");
    if (row) this.code.scrollTop = row.offsetTop - this.code.clientHeight / 2;
    this.panel.point();
  }
  drawList(list, values, totals) {
    const app = this.app,
      p = app.profile,
      whole = p.whole(app.metric) || 1,
      at = [...this.list.children].indexOf(document.activeElement);
    this.list.replaceChildren(
      ...list.slice(0, MOST_FILES).map(f =>
        el(
          "button",
          {
            type: "button",
            "aria-current": f === this.file ? "true" : null,
            title: p.filePath(f),
            class: p.sources.has(f) ? "" : "absent",
            onclick: () => app.state.set({ "source.at": f, "source.pc": "" }),
          },
          el("bdi", {}, p.fileName(f)),
          el(
            "span",
            { class: "quiet" },
            values.get(f)
              ? percent(values.get(f), whole)
              : `total ${percent(totals.get(f) ?? 0, whole)}`,
          ),
        ),
      ),
    );
    this.list.children[at]?.focus();
  }
  drawCode() {
    const p = this.app.profile,
      lines = this.files.get(this.file) ?? (p.sources.has(this.file) ? new Map() : null);
    const title = this.file < 0 ? "No source lines in this selection." : p.filePath(this.file);
    const parts = [el("h3", {}, el("bdi", {}, title)), ...this.noLines()];
    if (lines) {
      const blocks = p.sources.get(this.file);
      if (!blocks)
        parts.push(
          el(
            "p",
            { class: "note" },
            p.meta.reduced.noSources
              ? "The report was made without source lines (--no-sources)."
              : "The file was not found, or may not be read, where the report was made. " +
                  "Lines with values:",
          ),
        );
      parts.push(this.makeTable(lines, blocks ?? bareBlocks(lines)));
    }
    const top = this.shownFile === this.file ? this.code.scrollTop : 0;
    this.code.replaceChildren(...parts);
    this.code.scrollTop = top;
    this.shownFile = this.file;
  }
  // Code without debug information has no lines.
  noLines() {
    const p = this.app.profile,
      whole = p.whole(this.app.metric),
      { label } = p.metrics[this.app.metric];
    if (!(this.inLines < 0.9 * whole)) return [];
    const text = `${percent(whole - this.inLines, whole)} of ${label} is in code without source lines.`;
    return [el("p", { class: "note" }, text, this.app.profile.code.functions.length
      ? " Its hottest functions are beside this, as instructions." : "")];
  }
  // [heading, hint, text, value and style of a row]; a value of 0 is an empty cell.
  cells(lines) {
    const app = this.app,
      p = app.profile,
      rows = [...lines.values()],
      cells = [];
    // GPU time is placed by samples, which have the same shares: their number is enough.
    const isTimed = app.columns.includes(p.metricByRole(ROLE.gpuTime));
    app.columns.forEach((m, i) => {
      if (p.metrics[m].kind === METRIC_GPU_MEAN || !rows.some(r => r.total[i])) return;
      const isRepeated = isTimed && p.metrics[m].role === ROLE.samples;
      const label = p.metrics[m].label,
        whole = p.whole(m) || 1,
        most = Math.max(...rows.map(r => r.self[i]), 1e-30);
      const heat = r => (r.self[i] ? `--heat:${(r.self[i] / most).toFixed(3)}` : null);
      if (rows.some(r => r.self[i]))
        cells.push(
          [label, `${metricWords(p, m)}: of the line itself`, r => p.format(m, r.self[i]),
            r => r.self[i], heat],
          ...(isRepeated ? []
            : [["%", `of all ${label}`, r => percent(r.self[i], whole), r => r.self[i]]]),
        );
      if (!isRepeated && rows.some(r => Math.abs(r.total[i] - r.self[i]) > 1e-9 * whole))
        cells.push([`${label} total`, `${label} with what the line calls`, r => p.format(m, r.total[i]),
          r => r.total[i]]);
      if (m === this.sampled && rows.some(r => r.samples))
        cells.push(["samples", `number of samples of ${label}`, r => count(r.samples),
          r => r.samples]);
    });
    return cells;
  }
  makeTable(lines, blocks) {
    const cells = this.cells(lines),
      colspan = 2 + cells.length,
      body = el("tbody", {});
    const head = el(
      "tr",
      {},
      el("th", {}, "line"),
      ...cells.map(([title, hint]) => el("th", { title: hint }, title)),
      el("th", {}),
    );
    blocks.forEach((block, i) => {
      if (i) body.append(el("tr", { class: "gap" }, el("td", { colspan }, "⋯")));
      block.lines.forEach((text, k) => {
        const line = block.first + k,
          row = lines.get(line);
        body.append(
          el(
            "tr",
            { "data-line": line, onclick: e => this.click(e, line) },
            el("td", { class: "line-number" }, this.lineNumber(line, colspan)),
            ...cells.map(([, , show, value, heat]) =>
              row && value(row)
                ? el("td", { class: heat ? "number heat" : "number quiet", style: heat?.(row) },
                    show(row))
                : el("td", {}),
            ),
            el("td", { class: "text" }, text),
          ),
        );
      });
    });
    return el("table", { class: "lines" }, el("thead", {}, head), body);
  }
  click(e, line) {
    if (!e.target.closest("button") && getSelection().isCollapsed) this.choose(line);
  }
  lineNumber(line, colspan) {
    return this.app.blames.hasLine(this.file, line) ? this.waitButton(line, colspan) : line;
  }
  // The number of a line of GPU code that waits or is waited for. It shows and hides for what.
  waitButton(line, colspan) {
    const file = this.file,
      toggle = event => {
        const row = event.currentTarget.closest("tr"),
          next = row.nextElementSibling,
          isOpen = next?.classList.contains("waits");
        event.currentTarget.setAttribute("aria-expanded", String(!isOpen));
        if (isOpen) next.remove();
        else {
          const details = this.app.blames.details(file, line);
          row.after(el("tr", { class: "waits" }, el("td", { colspan }, details)));
        }
      };
    const title = "what it waits for, and what waits for it";
    return el(
      "button",
      { type: "button", class: "link", title, "aria-expanded": "false", onclick: toggle },
      line,
    );
  }
}

// The hottest file with text, if it has a part that matters itself, else with what it calls.
function firstFile(p, list, values, totals, whole) {
  const isHot = of => f => p.sources.has(f) && of.get(f) > 0.05 * whole;
  return list.find(isHot(values)) ?? list.find(isHot(totals)) ?? list[0] ?? -1;
}
function sumOf(lines, metric) {
  let sum = 0;
  for (const row of lines.values()) sum += row.self[metric] ?? 0;
  return sum;
}
// Lines with values and no text, where the source is not there.
function bareBlocks(lines) {
  const blocks = [];
  for (const line of [...lines.keys()].sort((a, b) => a - b)) {
    const last = blocks.at(-1);
    if (last && line === last.first + last.lines.length) last.lines.push("");
    else blocks.push({ first: line, lines: [""] });
  }
  return blocks;
}
// Arrows move through the rows of a table in a box, and Enter chooses one.
function rowKeys(box, choose) {
  box.addEventListener("keydown", e => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (e.target !== box || e.ctrlKey || e.metaKey || e.altKey) return;
    const rows = [...box.querySelectorAll("tbody tr:not(.gap, .waits)")],
      at = rows.findIndex(row => row.matches(".current")),
      start = at >= 0 ? at : rows.findIndex(row => row.matches(".pointed"));
    if (e.key === "Enter" && rows[at]) choose(rows[at]);
    else if (!step || !rows.length) return;
    else {
      const next = rows[Math.max(0, Math.min(rows.length - 1, start + step))];
      rows[at]?.classList.remove("current");
      next.classList.add("current");
      next.scrollIntoView({ block: "nearest" });
      announce(next.innerText);
    }
    e.preventDefault();
  });
}
