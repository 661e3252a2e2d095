// SPDX-License-Identifier: BSD-3-Clause
// What waiting lines of GPU kernels wait for, and which lines wait for a line. Of the whole run.

class Blames {
  constructor(app) {
    this.app = app;
    this.pairs = app.profile.meta.blames ?? [];
    this.waiting = this.byLine("waiting");
    this.causes = this.byLine("cause");
  }
  byLine(end) {
    const p = this.app.profile,
      lines = new Map();
    for (const pair of this.pairs) {
      const key = `${p.file[pair[end]]}:${p.line[pair[end]]}`;
      if (p.kind[pair[end]] !== CONTEXT_LINE) continue;
      if (!lines.has(key)) lines.set(key, []);
      lines.get(key).push(pair);
    }
    return lines;
  }
  reason(pair) {
    const p = this.app.profile;
    return stallWords(p, p.metrics[pair.metric]);
  }
  // A button that shows the line, and its source text.
  place(context) {
    const p = this.app.profile;
    return [
      el(
        "button",
        { type: "button", class: "link", onclick: () => this.app.showSource(context) },
        el("bdi", {}, p.name(context)),
      ),
      " ",
      el("code", {}, el("bdi", {}, sourceLine(p, p.file[context], p.line[context]).trim())),
    ];
  }
  cause(pair) {
    const words = this.app.profile.str(pair.words),
      hasPlace = !words.endsWith("same line");
    return [words, " ", ...(hasPlace ? this.place(pair.cause) : [])];
  }
  // The table of a kernel; null if nothing is known.
  table(kernel, samples) {
    const pairs = this.pairs.filter(pair => pair.kernel === kernel && !pair.before).slice(0, 8);
    if (!pairs.length || !samples) return null;
    const rows = pairs.map(pair =>
      el(
        "tr",
        {},
        el("td", { class: "number" }, percent(pair.n, samples)),
        el("td", {}, this.reason(pair)),
        el("td", {}, ...this.place(pair.waiting)),
        el("td", {}, ...this.cause(pair)),
      ),
    );
    const heads = ["samples", "reason", "waiting line", "waits for"];
    return el(
      "section",
      { class: "blames" },
      el("h4", {}, "Which lines waited for which"),
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...heads.map(head => el("th", {}, head)))),
        el("tbody", {}, ...rows),
      ),
      el("p", { class: "quiet" }, "Of the whole run; derived from dependencies in the code."),
    );
  }
  hasLine(file, line) {
    const key = `${file}:${line}`;
    return this.waiting.has(key) || this.causes.has(key);
  }
  // What the line waits for, and who waits for it.
  details(file, line) {
    const key = `${file}:${line}`,
      lists = [];
    const list = (title, pairs, words) => {
      if (!pairs.length) return;
      const items = pairs
        .sort((a, b) => b.n - a.n)
        .slice(0, 6)
        .map(pair => el("li", {}, `${count(pair.n)} `, this.reason(pair), ": ", ...words(pair)));
      lists.push(el("strong", {}, title), el("ul", {}, ...items));
    };
    list("This line waits for", [...(this.waiting.get(key) ?? [])], pair => this.cause(pair));
    list(
      "These lines wait for it",
      (this.causes.get(key) ?? []).filter(pair => !this.waiting.get(key)?.includes(pair)),
      pair => this.place(pair.waiting),
    );
    return el("div", { class: "blames" }, ...lists);
  }
}
