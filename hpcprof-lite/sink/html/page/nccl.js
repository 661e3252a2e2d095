// SPDX-License-Identifier: BSD-3-Clause
// Kernels of NCCL: times by rank and GPU, and who comes last to collective operations.

const MOST_NCCL_ROWS = 16,
  MOST_NCCL_RANKS = 64;

class NcclCards extends MpiCards {
  cards() {
    this.nccl = this.profile.meta.nccl;
    return this.nccl ? [this.devices(), this.last()].filter(Boolean) : [];
  }
  time(ns) {
    return ns > 0 ? formatSeconds(ns / 1e9) : "";
  }
  part(d, ns, use, title) {
    return el("i", {
      class: use,
      title: `${title}: ${this.time(ns)}`,
      style: `width:${d.elapsed ? (100 * ns) / d.elapsed : 0}%`,
    });
  }
  bar(d) {
    const exposed = d.nccl - d.overlap;
    return el(
      "span",
      { class: "use-bar" },
      this.part(d, exposed, stateClass("mpi"), "NCCL alone"),
      this.part(d, d.overlap, stateClass("mpi", 2), "NCCL and other kernels"),
      this.part(d, d.compute - d.overlap, stateClass("work"), "other kernels"),
    );
  }
  // The first devices, and the one that was last most often.
  shown(devices) {
    const first = devices.slice(0, MOST_NCCL_RANKS),
      slowest = devices.reduce((a, d) => (d.last > a.last ? d : a), devices[0]);
    return first.includes(slowest) ? first : [...first, slowest];
  }
  devices() {
    const x = this.nccl,
      sum = key => x.devices.reduce((n, d) => n + d[key], 0),
      shown = this.shown(x.devices),
      rows = shown.map(d =>
        el(
          "tr",
          {},
          el("td", {}, this.profile.str(d.name)),
          this.number(percent(d.nccl, d.elapsed)),
          this.number(this.time(d.nccl)),
          this.number(this.time(d.nccl - d.overlap)),
          this.number(this.time(d.compute)),
          this.number(this.time(d.idle)),
          this.number(this.time(d.waited)),
          this.number(d.last ? count(d.last) : ""),
          el("td", { class: "use-cell" }, this.bar(d)),
        ),
      );
    const heads = ["share", "NCCL", "exposed", "compute", "idle", "waited", "was last"];
    return this.card(
      "NCCL: by rank and GPU",
      el(
        "p",
        {},
        `${this.time(sum("nccl"))} in ${count(sum("n"))} kernels, ` +
          `${percent(sum("nccl"), sum("elapsed"))} of the time of the GPUs; ` +
          `${percent(sum("overlap"), sum("nccl"))} of it hidden by other kernels.`,
      ),
      this.table(
        [
          { name: "", text: true },
          ...heads.map(name => ({ name })),
          { name: "dark: NCCL alone; then with other kernels; other kernels", text: true },
        ],
        rows,
      ),
      el("p", { class: "keys" }, this.notes(shown.length)),
    );
  }
  notes(shown) {
    const x = this.nccl,
      notes = [];
    if (x.devices.length > shown) notes.push(`${count(x.devices.length - shown)} more.`);
    if (x.alone)
      notes.push(`${count(x.alone)} kernels have no counterpart that is known on another GPU.`);
    if (x.clockError)
      notes.push(`The clocks of the hosts are known to ±${this.time(x.clockError)}.`);
    return notes.join(" ");
  }
  // Where a process does more than the mean of the others, which waits do not count as: {context,
  // seconds}. null: there are no samples, or no other process.
  excess(process) {
    const p = this.profile,
      all = new Set(this.nccl.devices.map(d => d.process)),
      isTime = p.metrics.map(m => m.kind === METRIC_SAMPLED && m.time),
      sums = new Map();
    if (all.size < 2 || !p.isComplete) return null;
    for (const { process: own, rows } of p.profiles.filter(x => all.has(x.process) && x.rows))
      for (let i = 0; i < rows.n; i++) {
        const c = rows.context[i],
          fn = p.fn[c];
        if (fn < 0 || !isTime[rows.metric[i]] || ["gpu", "mpi"].includes(stateOf(p, c))) continue;
        const sum = sums.get(fn) ?? { context: c, seconds: 0 };
        sum.seconds += rows.value[i] * (own === process ? 1 : -1 / (all.size - 1));
        sums.set(fn, sum);
      }
    return [...sums.values()].reduce((a, b) => (b.seconds > (a?.seconds ?? 0) ? b : a), null);
  }
  // At least a tenth of what it was late by.
  reason(x) {
    const more = this.excess(x.process);
    return more && more.seconds > (0.1 * x.behind) / 1e9
      ? el(
          "div",
          { class: "quiet" },
          `more than the others in the whole run: ${formatSeconds(more.seconds)} in `,
          this.place(more.context),
        )
      : "";
  }
  latecomer(site, x) {
    return el(
      "tr",
      { class: "sub" },
      this.number(this.time(x.waited)),
      this.number(percent(x.n, site.n)),
      el(
        "td",
        {},
        el("strong", {}, this.profile.str(x.name)),
        ` last, ${this.time(x.behind / x.n)} behind the others on average, `,
        `${this.time(x.most)} at most, from `,
        this.place(x.context),
        this.reason(x),
      ),
    );
  }
  last() {
    const sites = this.nccl.sites.slice(0, MOST_NCCL_ROWS);
    if (!sites.length) return null;
    const rows = sites.flatMap(site => [
      el(
        "tr",
        {},
        this.number(this.time(site.waited)),
        this.number(count(site.n)),
        el("td", {}, this.profile.str(site.operation), " at ", this.place(site.context)),
      ),
      ...site.late.slice(0, 3).map(x => this.latecomer(site, x)),
    ]);
    return this.card(
      "NCCL: who comes last to collective operations",
      this.table(
        [
          { name: "others waited" },
          { name: "operations" },
          { name: "operation, and who was last", text: true },
        ],
        rows,
      ),
      this.profile.sampledMetric() < 0
        ? el("p", { class: "keys" }, "Measured with -e CPUTIME, the report says why.")
        : "",
    );
  }
}
