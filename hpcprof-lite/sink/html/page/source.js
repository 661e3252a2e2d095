// SPDX-License-Identifier: BSD-3-Clause
// Source files with the values of metrics beside their lines.

class SourceView {
  constructor(app, container) {
    this.app = app;
    this.list = el("nav", { class: "file-list", "aria-label": "Source files" });
    this.code = el("div", { class: "code", tabindex: "0" });
    this.container = container;
    container.append(el("div", { class: "source" }, this.list, this.code));
  }
  // By line of each file: the exclusive and inclusive value of each shown metric.
  collect() {
    const p = this.app.profile,
      metrics = this.app.columns;
    const rows = groupContexts(p, GROUPINGS.Lines, metrics),
      files = new Map();
    for (const row of rows) {
      const file = p.file[row.context];
      if (file < 0) continue;
      if (!files.has(file)) files.set(file, { file, lines: new Map(), value: 0 });
      const f = files.get(file);
      f.lines.set(p.line[row.context], row);
      f.value += row.self.get(this.app.metric) ?? 0;
    }
    return files;
  }
  draw() {
    const app = this.app,
      p = app.profile,
      columns = app.columns;
    if (!columns.includes(app.metric)) app.columns = [app.metric, ...columns];
    const [file, line] = app.state.get("source.at").split(":").map(Number);
    this.file = app.state.get("source.at") ? file : -1;
    this.files = this.collect();
    const list = [...this.files.values()].sort(
      (a, b) => p.sources.has(b.file) - p.sources.has(a.file) || b.value - a.value,
    );
    if (!this.files.has(this.file) && !p.sources.has(this.file))
      this.file = list.length ? list[0].file : -1;
    const whole = p.whole(app.metric) || 1;
    this.list.replaceChildren(
      ...list.slice(0, 300).map(f =>
        el(
          "button",
          {
            type: "button",
            "aria-current": f.file === this.file ? "true" : null,
            title: p.filePath(f.file),
            class: p.sources.has(f.file) ? "" : "absent",
            onclick: () => app.state.set({ "source.at": f.file }),
          },
          el("bdi", {}, p.fileName(f.file)),
          el("span", { class: "quiet" }, percent(f.value, whole)),
        ),
      ),
    );
    this.drawCode();
    if (line) this.point(line);
  }
  point(line) {
    const row = this.code.querySelector(`[data-line="${line}"]`);
    row?.scrollIntoView({ block: "center" });
    row?.classList.add("pointed");
  }
  drawCode() {
    const app = this.app,
      p = app.profile,
      entry =
        this.files.get(this.file) ?? (p.sources.has(this.file) ? { lines: new Map() } : undefined);
    const title = this.file < 0 ? "No source lines in this selection." : p.filePath(this.file);
    const parts = [el("h3", {}, el("bdi", {}, title))];
    if (entry) {
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
      parts.push(this.makeTable(entry, blocks ?? this.bareBlocks(entry)));
    }
    this.code.replaceChildren(...parts);
  }
  // Lines with values and no text, where the source is not there.
  bareBlocks(entry) {
    return [...entry.lines.keys()]
      .sort((a, b) => a - b)
      .map(line => ({ first: line, lines: [""] }));
  }
  makeTable(entry, blocks) {
    const app = this.app,
      p = app.profile;
    const metrics = app.columns.filter(
      m =>
        p.metrics[m].kind !== METRIC_GPU_MEAN &&
        [...entry.lines.values()].some(row => row.self.get(m) || row.total.get(m)),
    );
    const most = new Map(
      metrics.map(m => [m, Math.max(...[...entry.lines.values()].map(r => r.self.get(m)), 1e-30)]),
    );
    const head = el(
      "tr",
      {},
      el("th", {}, "line"),
      ...metrics.flatMap(m => [
        el("th", { title: "in the line itself" }, p.metrics[m].label),
        el("th", { title: "with what it calls" }, "incl"),
      ]),
      el("th", {}, ""),
    );
    const body = el("tbody", {});
    blocks.forEach((block, i) => {
      if (i) {
        const colspan = 2 + 2 * metrics.length;
        body.append(el("tr", { class: "gap" }, el("td", { colspan }, "⋯")));
      }
      block.lines.forEach((text, k) => {
        const line = block.first + k,
          row = entry.lines.get(line);
        const cells = metrics.flatMap(m => {
          const self = row?.self.get(m),
            total = row?.total.get(m);
          return [
            el(
              "td",
              {
                class: "number heat",
                style: self ? `--heat:${(self / most.get(m)).toFixed(3)}` : null,
              },
              self ? p.format(m, self) : "",
            ),
            el("td", { class: "number quiet" }, total ? p.format(m, total) : ""),
          ];
        });
        const numbered = app.blames.hasLine(this.file, line)
          ? this.waitButton(line, 2 + 2 * metrics.length)
          : line;
        body.append(
          el(
            "tr",
            { "data-line": line },
            el("td", { class: "line-number" }, numbered),
            ...cells,
            el("td", { class: "text" }, text),
          ),
        );
      });
    });
    return el("table", { class: "lines" }, el("thead", {}, head), body);
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
