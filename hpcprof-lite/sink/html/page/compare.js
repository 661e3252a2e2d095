// SPDX-License-Identifier: BSD-3-Clause
// The overview of a comparison of two sides: what changed by more than noise, the runs, and the
// whole of each metric, as `hpcprof-lite compare` prints them. Key of the state: overview.total
// ("1": functions by their totals).

const COMPARE_ROWS = 20,
  COMPARE_NOISE_ROWS = 3; // as in the text

class ComparisonView {
  constructor(app, container) {
    this.app = app;
    this.profile = app.profile;
    this.container = container;
  }
  draw() {
    const focus = document.activeElement?.dataset.focus;
    this.container.replaceChildren(
      el(
        "div",
        { class: "overview comparison" },
        el("section", { class: "card wide" }, el("h2", {}, "What changed"), ...this.changes()),
        el("section", { class: "card wide" }, el("h2", {}, "The sides"), this.sides()),
        el("section", { class: "card wide" }, el("h2", {}, "The whole program"), this.metrics()),
      ),
    );
    if (focus) this.container.querySelector(`[data-focus="${focus}"]`)?.focus();
  }
  table(label, head, rows) {
    return el(
      "div",
      { class: "scroll free" },
      el(
        "table",
        { class: "plain", "aria-label": label },
        el("thead", {}, el("tr", {}, ...head.map(([text, cls]) => el("th", { class: cls }, text)))),
        el("tbody", {}, ...rows),
      ),
    );
  }

  // ---- what changed ----

  changes() {
    const { app, profile: p } = this,
      m = app.metric,
      byTotal = app.state.get("overview.total") === "1",
      whole = estimateWhole(p, m),
      judged = judgeFunctions(p, m, byTotal);
    return [
      this.sentence(whole),
      this.choice(byTotal),
      this.table("Functions", this.head("function"), this.functionRows(judged, whole, byTotal)),
      el("p", { class: "keys" }, this.noiseText(judged.limit)),
    ];
  }
  sentence(whole) {
    const { app, profile: p } = this,
      m = app.metric,
      isReal = !isNoise(whole, this.wholeLimit());
    return el(
      "p",
      { class: "change-sentence" },
      `${p.metrics[m].label}: ${p.format(m, whole.now)}, before ${p.format(m, whole.before)}: `,
      el("strong", {}, p.formatChange(m, whole.now, whole.before)),
      `, standard deviation ${p.format(m, whole.sd)}. `,
      isReal
        ? ""
        : el("span", { class: "quiet" }, `Within ${this.wholeLimit().toFixed(1)} sd: this may be chance (noise).`),
    );
  }
  choice(byTotal) {
    const box = el("div", { class: "segments", role: "group", "aria-label": "Functions by" });
    for (const [value, text] of [
      ["", "self"],
      ["1", "total"],
    ])
      box.append(
        el(
          "button",
          {
            type: "button",
            "data-focus": `by ${value}`,
            "aria-pressed": String(byTotal === (value === "1")),
            onclick: () => this.app.state.set({ "overview.total": value }),
          },
          text,
        ),
      );
    return el("div", { class: "controls" }, "Functions by", box);
  }
  head(what) {
    const numbers = ["change", "sd", "share", "factor", "before", "now"].map(x => [x, "number"]);
    return [[what, ""], ...numbers];
  }
  // share: of the base; factor: now divided by before.
  numbers(m, e, whole) {
    const p = this.profile,
      change = e.now - e.before,
      sign = change > 0 ? "+" : change < 0 ? "−" : "",
      share = (100 * change) / whole || 0;
    const factor =
      e.before && e.now
        ? (e.now / e.before).toFixed(e.now < 9.9995 * e.before ? 3 : 0)
        : e.now
          ? "new"
          : e.before
            ? "gone"
            : "";
    return [
      sign + p.format(m, Math.abs(change)),
      p.format(m, e.sd),
      whole && change ? `${share > 0 ? "+" : "−"}${Math.abs(share).toFixed(1)} %` : "",
      factor,
      p.format(m, e.before),
      p.format(m, e.now),
    ].map(text => el("td", { class: "number" }, text));
  }
  functionRows({ rows, nReal, limit, noise }, whole, byTotal) {
    const m = this.app.metric,
      of = whole.before > 0 ? whole.before : whole.now,
      nNoise = rows.length - nReal,
      row = r => this.functionRow(r, of),
      line = (text, cls) => el("tr", { class: cls }, el("td", { colspan: 7 }, text)),
      out = rows.slice(0, Math.min(nReal, COMPARE_ROWS)).map(row);
    if (nReal > COMPARE_ROWS)
      out.push(line(`${count(nReal - COMPARE_ROWS)} more beyond noise are in the view "Functions"`, ""));
    if (nNoise) {
      const sign = noise > 0 ? "+" : noise < 0 ? "−" : "",
        sum = sign + this.profile.format(m, Math.abs(noise)),
        together = `, ${nNoise === 1 ? "" : "together "}${sum}`;
      out.push(line(`noise: ${plural(nNoise, "row")} within ${limit.toFixed(1)} sd` +
        (byTotal ? "" : together), "noise-line")); // totals contain each other
    }
    return [...out, ...rows.slice(nReal, nReal + COMPARE_NOISE_ROWS).map(row)];
  }
  functionRow(r, whole) {
    const { app, profile: p } = this,
      m = app.metric,
      open = () => app.go("flame", { "flame.of": r.fn });
    return el(
      "tr",
      { class: r.isNoise ? "noise" : "", "data-fn": r.fn },
      el(
        "td",
        {},
        el("i", { class: "swatch", style: `background:${changeColour(r.now, r.before, r.isNoise)}` }),
        el(
          "button",
          { type: "button", class: "link", title: "Callers and callees", onclick: open },
          el("bdi", {}, shorten(p.uniqueName(r.context))),
        ),
      ),
      ...this.numbers(m, r, whole),
    );
  }
  noiseText(limit) {
    const { excess, measured } = this.profile.meta.comparison.noise[this.app.metric / 2],
      percents = `${(100 * Math.sqrt(excess)).toPrecision(2)} %`;
    return (
      "sd is the standard deviation of the change: sampling, and what runs of the same program " +
      (measured
        ? `differ by (${percents} beyond sampling, from these runs).`
        : `are assumed to differ by (${percents}, --noise); more runs of a side would show it.`) +
      ` Grey rows are noise: their change is within ${limit.toFixed(1)} sd. In so many functions, ` +
      "chance alone makes one change by more in 1 of 370 comparisons."
    );
  }

  // ---- the runs ----

  sides() {
    const p = this.profile,
      m = this.app.metric,
      isSampled = p.metrics[m].kind === METRIC_SAMPLED,
      rows = p.meta.comparison.runs.map((run, i) => {
        const facts = [
          formatSeconds(run.elapsed / 1e6),
          isSampled ? count(samplesOf(p.runs[i], m)) : "",
          count(run.processes),
          run.ranks ? count(run.ranks) : "",
          count(run.threads),
        ];
        const notes = [run.closes ? "" : "its ledger does not close", run.named ? "" : "names are missing"];
        return el(
          "tr",
          {},
          el("td", {}, run.side ? "new" : "base"),
          ...facts.map(x => el("td", { class: "number" }, x)),
          el("td", {}, el("bdi", {}, p.str(run.path))),
          el("td", {}, el("code", {}, el("bdi", {}, p.str(run.command) || "unknown"))),
          el("td", { class: "warn-text" }, notes.filter(Boolean).join("; ")),
        );
      });
    const head = ["side", "elapsed", "samples", "processes", "ranks", "threads", "measurement",
      "command", ""];
    return this.table("Runs", head.map((h, i) => [h, i > 0 && i < 6 ? "number" : ""]), rows);
  }

  // ---- metrics ----

  sums() {
    return this.profile.metrics
      .map(m => m.id)
      .filter(i => i % 2 === 0 && this.profile.meta.comparison.noise[i / 2].sum);
  }
  wholeLimit() {
    return noiseLimit(this.sums().length);
  }
  metrics() {
    const { app, profile: p } = this,
      limit = this.wholeLimit(),
      rows = this.sums().map(i => {
        const e = estimateWhole(p, i),
          noise = isNoise(e, limit) && e.now !== e.before;
        return el(
          "tr",
          { class: noise ? "noise" : "", "data-metric": i },
          el(
            "td",
            {},
            el(
              "button",
              {
                type: "button",
                class: "link",
                "data-focus": `metric ${i}`,
                onclick: () => app.setMetric(i),
              },
              p.metrics[i].label,
            ),
            noise ? " (noise)" : "",
          ),
          ...this.numbers(i, e, e.before),
        );
      });
    return this.table("Metrics", this.head("metric"), rows);
  }
}
