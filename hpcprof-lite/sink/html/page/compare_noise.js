// SPDX-License-Identifier: BSD-3-Clause
// What of a comparison is noise: the estimates of hpcprof-lite/compare/compare_values.c and the
// order of compare_rows.c, from the same values of each run. doc/guide/compare.md has the formulas.

// Of each run: own values of contexts, their variances by sampling, and numbers of samples.
function readRuns(bytes, model) {
  const r = new Reader(bytes);
  return model.meta.comparison.runs.map(run => {
    const rows = { context: [], metric: [], value: [], variance: [], samples: [] };
    for (let at = 0; (at += r.delta()) !== 0;) {
      const metric = r.number(),
        { scale } = model.meta.metrics[metric],
        value = r.number() / scale;
      rows.context.push(at - 1);
      rows.metric.push(metric);
      rows.value.push(value);
      rows.variance.push((value * r.number()) / scale / 1e3);
      rows.samples.push(r.number());
    }
    const { context, metric, value, variance, samples } = rows;
    return {
      side: run.side,
      context: Uint32Array.from(context),
      metric: Uint16Array.from(metric),
      value: Float64Array.from(value),
      variance: Float64Array.from(variance),
      samples: Float64Array.from(samples),
    };
  });
}
// By run: {side, value, variance} by context, for the selected frame.
function amountsOf(p, metric) {
  return p.cached(`amounts ${metric}`, () => {
    const inside = p.inside(p.selection.frame);
    return p.runs.map(run => {
      const value = new Float64Array(p.n),
        variance = new Float64Array(p.n);
      run.context.forEach((c, i) => {
        if (run.metric[i] !== metric || (inside && !inside[c])) return;
        value[c] += run.value[i];
        variance[c] += run.variance[i];
      });
      return { side: run.side, value, variance };
    });
  });
}
function samplesOf(run, metric) {
  return run.samples.reduce((sum, n, i) => (run.metric[i] === metric ? sum + n : sum), 0);
}

// Adds up values and variances of one thing in each run, then compares the sides.
class Estimate {
  constructor(p, metric) {
    this.noise = p.meta.comparison.noise[metric / 2];
    this.runs = p.runs.map(run => ({ side: run.side, value: 0, variance: 0 }));
  }
  add(run, value, variance) {
    this.runs[run].value += value;
    this.runs[run].variance += variance;
  }
  side(side) {
    const runs = this.runs.filter(r => r.side === side),
      n = runs.length,
      mean = key => runs.reduce((sum, r) => sum + r[key], 0) / (n || 1),
      value = mean("value");
    return {
      n,
      value,
      variance: mean("variance"),
      squares: runs.reduce((sum, r) => sum + (r.value - value) ** 2, 0),
    };
  }
  // {before, now, sd}
  compare() {
    const sides = [this.side(0), this.side(1)],
      { weights, excess } = this.noise;
    if (weights[0] > 0 && weights[1] > 0) shareRate(sides, weights);
    const variance = s => {
      const expected = s.variance + excess * s.value * s.value,
        spread = s.n > 1 ? s.squares / (s.n - 1) : 0;
      return s.n ? Math.max(spread, expected) / s.n : 0;
    };
    return {
      before: sides[0].value,
      now: sides[1].value,
      sd: Math.sqrt(variance(sides[0]) + variance(sides[1])),
    };
  }
}
// Few samples say little about their variance, so both sides get that of their common rate.
function shareRate(sides, weights) {
  const of = sides.map((s, i) =>
    s.value > 0 && s.variance > 0 ? s.variance / s.value : weights[i],
  );
  if (sides.some((s, i) => of[i] <= 0 || !s.n)) return;
  const n = sides.reduce((sum, s, i) => sum + (s.value / of[i]) * s.n, 0),
    ofOne = sides.reduce((sum, s, i) => sum + s.n / of[i], 0);
  sides.forEach((s, i) => {
    s.variance = (of[i] * n) / ofOne;
  });
}
function isNoise(e, limit) {
  return Math.abs(e.now - e.before) <= limit * e.sd;
}
// For x of at least 2: a continued fraction.
function erfc(x) {
  let f = 0;
  for (let k = 60; k > 0; k--) f = k / 2 / (x + f);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + f);
}
// Standard deviations that chance exceeds in none of n looks as rarely as 3 in one (Bonferroni).
function noiseLimit(n) {
  const target = erfc(3 * Math.SQRT1_2) / Math.max(1, n);
  let low = 3,
    high = 40;
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (erfc(middle * Math.SQRT1_2) > target) low = middle;
    else high = middle;
  }
  return low;
}

// Judges nodes of a flame graph.
class FrameNoise {
  constructor(p, tree, metric) {
    Object.assign(this, { p, metric });
    const amounts = amountsOf(p, metric);
    this.value = amounts.map(a => tree.sumOf(a.value));
    this.variance = amounts.map(a => tree.sumOf(a.variance));
    let n = 0;
    for (let f = 1; f < tree.n; f++) if (this.value.some(v => v.total[f])) n++;
    this.limit = noiseLimit(n);
  }
  of(nodes, node) {
    const estimate = new Estimate(this.p, this.metric);
    this.value.forEach((v, run) =>
      estimate.add(run, nodes.sumOf(node, v), nodes.sumOf(node, this.variance[run])),
    );
    const e = estimate.compare();
    return { ...e, isNoise: isNoise(e, this.limit) };
  }
}
// Of all metrics in turn, so it makes no arrays.
function estimateWhole(p, metric) {
  const e = new Estimate(p, metric),
    inside = p.inside(p.selection.frame);
  p.runs.forEach((run, k) =>
    run.context.forEach((c, i) => {
      if (run.metric[i] === metric && (!inside || inside[c]))
        e.add(k, run.value[i], run.variance[i]);
    }),
  );
  return e.compare();
}
// The same with inclusive values.
function totalAmountsOf(p, metric) {
  return p.cached(`total amounts ${metric}`, () =>
    amountsOf(p, metric).map(a => ({
      value: p.sumUp(a.value.slice()),
      variance: p.sumUp(a.variance.slice()),
    })),
  );
}
// Of each key, by own values or by totals, in which a key inside of itself counts once: {key,
// context, before, now, sd, isNoise, limit}. Totals are sums of own values, so both have the limit of
// own values. key(c): -1 counts in none.
function judgeGroups(p, metric, byTotal, key) {
  const estimates = new Map(),
    until = new Map(),
    looks = new Set(),
    own = amountsOf(p, metric),
    amounts = byTotal ? totalAmountsOf(p, metric) : own;
  for (let c = 1; c < p.n; c++) {
    const k = amounts.some(a => a.value[c]) ? key(c) : -1;
    if (k !== -1 && own.some(a => a.value[c])) looks.add(k);
    if (k === -1 || (byTotal && (until.get(k) ?? 0) > c)) continue;
    until.set(k, c + p.subtree[c]);
    if (!estimates.has(k)) estimates.set(k, { context: c, e: new Estimate(p, metric) });
    amounts.forEach((a, run) => estimates.get(k).e.add(run, a.value[c], a.variance[c]));
  }
  const limit = noiseLimit(looks.size);
  return [...estimates].map(([k, { context, e }]) => {
    const row = { key: k, context, limit, ...e.compare() };
    return { ...row, isNoise: isNoise(row, limit) };
  });
}
// Judges one context of a tree. sumOf(values): what of values by context counts.
function judgeContext(p, metric, byTotal, sumOf) {
  const e = new Estimate(p, metric),
    totals = totalAmountsOf(p, metric),
    limit = p.cached(`limit ${metric}`, () => {
      let n = 0;
      for (let c = 1; c < p.n; c++) if (totals.some(a => a.value[c])) n++;
      return noiseLimit(n);
    });
  (byTotal ? totals : amountsOf(p, metric)).forEach((a, run) =>
    e.add(run, sumOf(a.value), sumOf(a.variance)),
  );
  const found = e.compare();
  return { ...found, isNoise: isNoise(found, limit) };
}
// Functions by their own values, or by their totals: {rows, nReal, limit, noise}. Rows {fn, context,
// before, now, sd}: real differences first, then by size. `noise`: the sum of the others.
function judgeFunctions(p, metric, byTotal) {
  const functionOf = c => (p.kind[c] > CONTEXT_FUNCTION ? functionOf(p.parent[c]) : c),
    unknown = -2, // functions without a name are one
    rows = judgeGroups(p, metric, byTotal, c =>
      p.kind[c] < CONTEXT_FUNCTION ? -1 : p.fn[c] < 0 ? unknown : p.fn[c],
    ).map(r => ({ ...r, fn: r.key === unknown ? -1 : r.key, context: functionOf(r.context) })),
    size = r => Math.abs(r.now - r.before);
  rows.sort((a, b) => a.isNoise - b.isNoise || size(b) - size(a) || a.fn - b.fn);
  const noise = rows.filter(r => r.isNoise);
  return {
    rows,
    nReal: rows.length - noise.length,
    limit: rows[0]?.limit ?? 0,
    noise: noise.reduce((sum, r) => sum + r.now - r.before, 0),
  };
}
