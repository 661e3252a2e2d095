// SPDX-License-Identifier: BSD-3-Clause
// GPU kernels: a table of all, and the card of the chosen one. Why each GPU was idle is above them,
// what hardware counters say is below.

class KernelView {
  constructor(app, container) {
    this.app = app;
    this.above = el("div", {});
    this.tableHolder = el("div", {});
    this.cardHolder = el("div", { class: "kernel-card", "aria-live": "off" });
    this.below = el("div", {});
    this.table = makeKernelTable(app, k => app.state.set({ "kernels.of": k.fn }));
    container.append(this.above, this.tableHolder, this.cardHolder, this.below);
  }
  // Kernels by function, by falling time.
  collect() {
    const p = this.app.profile,
      kernels = new Map();
    const time = this.metric(ROLE.kernelTime),
      launches = this.metric(ROLE.kernels);
    for (let c = 1; c < p.n; c++) {
      if (!p.isKernel(c)) continue;
      if (!kernels.has(p.fn[c]))
        kernels.set(p.fn[c], { id: p.fn[c], fn: p.fn[c], contexts: [], time: 0, launches: 0 });
      const k = kernels.get(p.fn[c]);
      k.contexts.push(c);
      k.time += time[c];
      k.launches += launches[c];
    }
    return [...kernels.values()]
      .filter(k => k.time || k.launches || this.sum(k, ROLE.samples))
      .sort((a, b) => b.time - a.time || b.launches - a.launches);
  }
  metric(role) {
    const p = this.app.profile,
      m = p.metricByRole(role);
    return m < 0 ? new Float64Array(p.n) : p.total(m);
  }
  sum(kernel, role) {
    const values = this.metric(role);
    return kernel.contexts.reduce((sum, c) => sum + values[c], 0);
  }
  // What the table shows besides times and launches.
  describe(kernels) {
    const p = this.app.profile,
      limits = this.occupancyLimits(),
      occupancy = p.metrics.find(m => m.label === "GKER:OCC_THR"),
      sums = this.stallSums();
    for (const k of kernels) {
      k.occupancy = occupancy ? (this.mean(k, occupancy) ?? 0) : 0;
      k.limit = k.contexts.map(c => limits.get(c)).find(Boolean) ?? "";
      k.limitOrder = k.limit ? 1 + [...new Set(limits.values())].sort().indexOf(k.limit) : 0;
      const of = sums.get(k.fn) ?? [],
        all = of.reduce((sum, n) => sum + n, 0),
        most = p.metrics.reduce(
          (best, m) => (m.role === ROLE.stall && of[m.id] > (of[best] ?? 0) ? m.id : best), -1);
      Object.assign(k, { stall: p.metrics[most], stallShare: all ? (of[most] ?? 0) / all : 0 });
      k.advice = (p.meta.advice ?? [])
        .filter(row => row.function === k.fn)
        .sort((a, b) => b.saves - a.saves)[0];
    }
  }
  // By function of a kernel, then metric: stalls and issues. Without an array of contexts for each
  // metric, as long as nothing is selected.
  stallSums() {
    const p = this.app.profile,
      kernel = new Int32Array(p.n).fill(-1),
      sums = new Map(),
      isWanted = p.metrics.map(m => m.role === ROLE.stall || m.role === ROLE.issued);
    for (let c = 1; c < p.n; c++) kernel[c] = p.isKernel(c) ? p.fn[c] : kernel[p.parent[c]];
    const add = (c, metric, value) => {
      if (kernel[c] < 0 || !value) return;
      if (!sums.has(kernel[c])) sums.set(kernel[c], new Float64Array(p.metrics.length));
      sums.get(kernel[c])[metric] += value;
    };
    const t = p.totals;
    if (!p.isSelected) {
      for (let i = 0; i < t.n; i++)
        if (isWanted[t.metric[i]]) add(t.context[i], t.metric[i], t.value[i]);
    } else {
      for (const m of p.metrics)
        if (isWanted[m.id]) p.self(m.id).forEach((value, c) => add(c, m.id, value));
    }
    return sums;
  }
  draw() {
    const app = this.app,
      p = app.profile,
      kernels = this.collect();
    this.above.replaceChildren(...[idleCard(app)].filter(Boolean));
    this.below.replaceChildren(...(kernels.length ? counterCards(app) : []));
    if (!kernels.length) {
      this.tableHolder.replaceChildren(
        el("p", { class: "empty" }, "No GPU kernels in this selection."),
      );
      this.cardHolder.replaceChildren();
      return;
    }
    this.describe(kernels);
    if (!this.table.box.isConnected) this.tableHolder.replaceChildren(this.table.box);
    drawKernelTable(this.table, app, kernels);
    const note = "Samples of GPU instructions have no times: their numbers are of the whole run.";
    if (p.selection.time && p.metricByRole(ROLE.samples) >= 0)
      this.above.append(el("p", { class: "note" }, note));
    const of = app.state.number("kernels.of", -1),
      kernel = kernels.find(k => k.fn === of) ?? this.table.flat[0];
    this.table.current = Math.max(0, this.table.flat.indexOf(kernel));
    this.table.show();
    const whole = kernels.reduce((sum, k) => sum + k.time, 0);
    this.cardHolder.replaceChildren(new KernelCard(this).card(kernel, whole));
  }
  // A view of few elements: search looks at all rows, also those that are not on the screen.
  findMatches() {
    const { search, profile } = this.app;
    return (this.table.flat ?? []).filter(k => search.test(profile.functionName(k.fn)));
  }
  showMatch(kernel) {
    this.app.state.set({ "kernels.of": kernel.fn });
    this.table.box.scrollTop = Math.max(0, (this.table.current - 4) * TABLE_ROW);
  }
  // Of a metric over launches; null if nothing is known. Sums over launches have no times.
  mean(k, m) {
    const p = this.app.profile;
    if (m.kind !== METRIC_GPU_MEAN || m.divisor < 0) return null;
    const values = p.untimed(m.id),
      divisor = p.untimed(m.divisor),
      v = k.contexts.reduce((sum, c) => sum + values[c], 0),
      d = k.contexts.reduce((sum, c) => sum + divisor[c], 0);
    return v && d ? v / d : null;
  }
  // By context of a kernel: what limits the occupancy of its first launch with a known shape.
  occupancyLimits() {
    const p = this.app.profile;
    if (this.limits) return this.limits;
    this.limits = new Map();
    for (const { ops } of p.profiles)
      for (let i = 0; ops && i < ops.n; i++)
        if (ops.shape[i] >= 0 && !this.limits.has(ops.context[i]))
          this.limits.set(ops.context[i], p.str(p.meta.shapes[ops.shape[i]].limit));
    return this.limits;
  }
  // [metric, value] of stall reasons and issued samples, largest first.
  stalls(contexts, of = "total") {
    const p = this.app.profile;
    return p.metrics
      .filter(m => m.role === ROLE.stall || m.role === ROLE.issued)
      .map(m => [m, contexts.reduce((s, c) => s + p[of](m.id)[c], 0)])
      .filter(([, v]) => v > 0)
      .sort((a, b) => b[1] - a[1]);
  }
}
