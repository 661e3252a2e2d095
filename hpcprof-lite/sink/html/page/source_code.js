// SPDX-License-Identifier: BSD-3-Clause
// The instructions of the hottest functions beside their source lines. A click on an instruction
// shows its line, and a click on a line its instructions.

class CodePanel {
  constructor(app) {
    this.app = app;
    this.rows = el("div", { class: "code", tabindex: "0", "aria-label": "Instructions" });
    this.choice = el("select", {
      "aria-label": "Function with instructions",
      onchange: () => app.state.set({ "source.code": this.choice.value, "source.pc": "" }),
    });
    this.notes = el("div", {});
    this.box = el(
      "section",
      { class: "instructions" },
      el("div", { class: "controls" }, this.choice),
      this.notes,
      this.rows,
    );
    rowKeys(this.rows, row => this.choose(+row.dataset.i));
  }
  get functions() {
    return this.app.profile.code.functions;
  }
  // The metric of a function, and the number of its samples by instruction.
  counts(f) {
    const p = this.app.profile,
      has = new Set(f.metric),
      isWanted = m => has.has(m) && p.metrics[m].kind === METRIC_SAMPLED;
    const metric = [p.metricByRole(ROLE.samples), this.app.metric, ...has].find(
      m => has.has(m) && (isWanted(m) || p.metrics[m].role === ROLE.samples),
    );
    const counts = f.address.map((_, i) => {
      for (let k = f.first[i]; k < f.first[i + 1]; k++) if (f.metric[k] === metric) return f.samples[k];
      return 0;
    });
    return { metric, counts, all: counts.reduce((sum, n) => sum + n, 0) };
  }
  // What warps waited for most at an instruction: [metric, samples]; null: nothing.
  stall(f, i) {
    const p = this.app.profile;
    let best = null;
    for (let k = f.first[i]; k < f.first[i + 1]; k++)
      if (p.metrics[f.metric[k]].role === ROLE.stall && f.samples[k] > (best?.[1] ?? 0))
        best = [p.metrics[f.metric[k]], f.samples[k]];
    return best;
  }
  // The chosen function; else the one with most samples in the chosen line, then in its file.
  find(file, line) {
    const chosen = this.app.state.get("source.code");
    if (this.functions[chosen]) return +chosen;
    if (!this.app.state.get("source.at")) return 0;
    const score = f => {
      const { counts } = this.counts(f);
      return [f.line.reduce((sum, l, i) => sum + (f.file[i] === file && l === line), 0),
        counts.reduce((sum, n, i) => sum + (f.file[i] === file ? n : 0), 0)];
    };
    const scores = this.functions.map(score);
    let best = 0;
    scores.forEach(([inLine, inFile], i) => {
      const [line0, file0] = scores[best];
      if (!!inLine > !!line0 || (!!inLine === !!line0 && inFile > file0)) best = i;
    });
    return best;
  }
  draw(file, line) {
    const p = this.app.profile;
    this.box.hidden = !this.functions.length;
    this.file = file;
    this.line = line;
    if (this.box.hidden) return;
    const at = this.find(file, line),
      f = this.functions[at];
    this.choice.replaceChildren(
      ...this.functions.map((g, i) =>
        el(
          "option",
          { value: i },
          `${shorten(this.name(g))}, ${plural(this.counts(g).all, "sample")}` +
            (hasText(g) ? "" : ", addresses only"),
        ),
      ),
    );
    this.choice.value = at;
    this.shown = f;
    this.rows.replaceChildren(this.makeTable(f));
    this.notes.replaceChildren(
      ...(hasText(f) ? [] : this.missing(f)).map(s =>
        el("p", { class: "note" }, el("bdi", {}, s)),
      ),
      ...this.partNote(),
    );
  }
  // What the report says of the function's module, else all that it says.
  missing(f) {
    const p = this.app.profile,
      all = p.code.missing.map(s => p.str(s)),
      own = all.filter(s => s.includes(` of ${p.modulePath(f.module)}: `));
    return own.length ? own : all;
  }
  name(f) {
    return this.app.profile.str(f.name);
  }
  partNote() {
    const n = this.shown.address.length,
      notes = [];
    if (this.app.profile.isSelected)
      notes.push("Samples of instructions are those of the whole run.");
    if (isPrinting && n > MOST_ON_PAPER)
      notes.push(`The ${MOST_ON_PAPER} of ${count(n)} instructions with most samples.`);
    return notes.map(s => el("p", { class: "note" }, s));
  }
  makeTable(f) {
    const p = this.app.profile,
      { metric, counts, all } = this.counts(f),
      most = Math.max(...counts, 1),
      isGpu = p.metrics[metric]?.role === ROLE.samples,
      body = el("tbody", {}),
      text = hasText(f) ? ["instruction"] : [],
      heads = ["address", "samples", "%", ...text, ...(isGpu ? ["wait"] : []), "line"],
      onPaper = isPrinting ? rowsOnPaper(counts) : null;
    f.address.forEach((address, i) => {
      if (onPaper && !onPaper.has(i)) return;
      if (f.isApart[i] && i && hasText(f)) body.append(el("tr", { class: "gap" }, el("td", { colspan: 6 }, "⋯")));
      const top = isGpu ? this.stall(f, i) : null,
        stall = top ? stallWords(p, top[0]) : "";
      body.append(
        el(
          "tr",
          { "data-i": i, class: this.isOfLine(f, i) ? "of-line" : null, onclick: () => this.choose(i) },
          el("td", { class: "line-number" }, hex(address)),
          el(
            "td",
            {
              class: "number heat",
              style: counts[i] ? `--heat:${(counts[i] / most).toFixed(3)}` : null,
            },
            counts[i] ? count(counts[i]) : "",
          ),
          el("td", { class: "number quiet" }, counts[i] ? percent(counts[i], all) : ""),
          text.length ? el("td", { class: "text" }, el("bdi", {}, p.str(f.text[i]))) : null,
          isGpu
            ? el(
                "td",
                { class: "stall", title: stall },
                counts[i] ? stall.replace(/^waits (for )?/, "") : "",
              )
            : null,
          el(
            "td",
            { class: "place quiet", title: f.inlined[i] ? `inlined: ${p.str(f.inlined[i])}` : null },
            el("bdi", {}, f.file[i] === this.file ? f.line[i] : p.place(f.file[i], f.line[i])),
          ),
        ),
      );
    });
    return el(
      "table",
      { class: "lines" },
      el("thead", {}, el("tr", {}, ...heads.map(h => el("th", { class: h === "instruction" || h === "wait" ? "words" : null }, h)))),
      body,
    );
  }
  isOfLine(f, i) {
    return this.line > 0 && f.file[i] === this.file && f.line[i] === this.line;
  }
  choose(i) {
    const f = this.shown,
      at = f.file[i] < 0 ? {} : { "source.at": `${f.file[i]}:${f.line[i]}` };
    const code = this.functions.indexOf(f);
    this.app.state.set({ ...at, "source.code": code, "source.pc": hex(f.address[i]) });
  }
  // Shows the chosen instruction, or the hottest one of the chosen line, or of the function.
  point() {
    const f = this.shown;
    if (this.box.hidden || !f) return;
    const pc = this.app.state.get("source.pc"),
      { counts } = this.counts(f);
    let i = pc ? f.address.indexOf(parseInt(pc, 16)) : -1;
    const isChosen = i >= 0;
    if (!isChosen) {
      const own = f.address.map((_, k) => k).filter(k => this.isOfLine(f, k));
      i = (own.length ? own : f.address.map((_, k) => k)).reduce(
        (best, k) => (best < 0 || counts[k] > counts[best] ? k : best),
        -1,
      );
    }
    const row = this.rows.querySelector(`[data-i="${i}"]`);
    if (isChosen) row?.classList.add("pointed");
    if (row) this.rows.scrollTop = row.offsetTop - this.rows.clientHeight / 2;
  }
}

function hasText(f) {
  return f.text.some(Boolean);
}
// Indices of the instructions with most samples.
function rowsOnPaper(counts) {
  const order = [...counts.keys()].sort((a, b) => counts[b] - counts[a]);
  return new Set(order.slice(0, MOST_ON_PAPER));
}
