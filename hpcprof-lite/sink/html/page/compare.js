// SPDX-License-Identifier: BSD-3-Clause
// The overview of a comparison of two sides.

class ComparisonView {
  constructor(app, container) {
    this.app = app;
    this.container = container;
  }
  draw() {
    this.container.replaceChildren(
      el(
        "div",
        { class: "overview" },
        el("section", { class: "card wide" }, el("h2", {}, "What changed"), this.changes()),
        el("section", { class: "card" }, el("h2", {}, "The sides"), this.sides()),
        el("section", { class: "card" }, el("h2", {}, "Metrics"), this.metrics()),
      ),
    );
  }
  sides() {
    const p = this.app.profile,
      list = el("dl", { class: "facts tall" });
    ["base", "new"].forEach((name, side) => {
      const runs = p.meta.processes.filter(x => x.side === side).map(x => p.str(x.command));
      list.append(
        el("div", {}, el("dt", {}, name), el("dd", {}, el("bdi", {}, runs.slice(0, 8).join(", ")))),
      );
    });
    return list;
  }
  // The whole, then the functions whose own value changed most.
  changes() {
    const app = this.app,
      p = app.profile,
      now = app.metric,
      before = p.before(now);
    const list = el("ol", { class: "findings" });
    list.append(
      el(
        "li",
        {},
        `${p.metrics[now].label}: ${p.format(now, p.whole(now))}, before `,
        `${p.format(now, p.whole(before))}: `,
        el("strong", {}, p.formatChange(now, p.whole(now), p.whole(before))),
      ),
    );
    const change = row => row.self.get(now) - row.self.get(before);
    const rows = groupContexts(p, GROUPINGS.Functions, [now, before])
      .sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)))
      .slice(0, 6);
    for (const row of rows) {
      if (!change(row)) continue;
      const name = p.functionName(p.fn[row.context]);
      list.append(
        el(
          "li",
          {},
          el(
            "button",
            { type: "button", class: "link", onclick: () => app.showFlame(row.context) },
            el("bdi", {}, shorten(name)),
          ),
          " itself: ",
          p.formatChange(now, row.self.get(now), row.self.get(before)),
        ),
      );
    }
    return el(
      "div",
      {},
      list,
      el(
        "p",
        { class: "keys" },
        "hpcprof-lite compare says in its tables which of these differences may be noise.",
      ),
    );
  }
  metrics() {
    const p = this.app.profile,
      body = el("tbody", {});
    for (let i = 0; i < p.metrics.length; i += 2) {
      const now = p.whole(i),
        before = p.whole(p.before(i));
      if (!(now > 0 || before > 0) || p.metrics[i].kind === METRIC_GPU_MEAN) continue;
      body.append(
        el(
          "tr",
          {},
          el(
            "td",
            {},
            el(
              "button",
              { type: "button", class: "link", onclick: () => this.app.setMetric(i) },
              p.metrics[i].label,
            ),
          ),
          el("td", { class: "number quiet" }, p.format(i, before)),
          el("td", { class: "number" }, p.format(i, now)),
          el("td", { class: "number" }, p.formatChange(i, now, before)),
        ),
      );
    }
    const head = ["metric", "before", "now", "change"].map((title, i) =>
      el("th", { class: i ? "number" : "" }, title),
    );
    return el(
      "div",
      { class: "scroll" },
      el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...head)), body),
    );
  }
}
