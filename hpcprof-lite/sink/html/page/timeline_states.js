// SPDX-License-Identifier: BSD-3-Clause
// The states of rows over time, as numbers: how much of each column of pixels each state has.

const LINE_STATES = Object.keys(STATES), // by code
  STATE_CODES = Object.fromEntries(LINE_STATES.map((s, i) => [s, i])),
  N_CODES = LINE_STATES.length + 1, // the last one: outside of the selected frame
  CODE_OUTSIDE = LINE_STATES.length,
  CODE_BITS = 31,
  CODE_IS_OFF = 32, // the thread has no processor
  GROUP_BINS = 4096, // of the whole run, for rows of several threads
  ALL_BINS = 16384,
  FEW_INTERVALS = 50000; // of these, columns are made anew for each picture

// A lane: {n, edge, code, ...}: interval i lasts from edge[i] to edge[i + 1] in the state code[i].
class LineStates {
  constructor(profile, rows) {
    this.p = profile;
    this.rows = rows;
    this.frame = null;
    this.key = null;
    const p = profile;
    this.codes = new Uint8Array(p.n);
    for (let c = 1; c < p.n; c++)
      this.codes[c] =
        STATE_CODES[stateOf(p, c)] | (isSync(p, c) || p.isBlocked(c) ? CODE_IS_OFF : 0);
    this.codes[0] = STATE_CODES.none | CODE_IS_OFF;
  }
  // The page's selection: only the time in its frame has a state, and only its rows are in sums.
  follow({ frame, profiles }) {
    const key = `${frame?.fn} ${frame?.context} ${profiles ? formatSet(profiles) : ""}`;
    if (key === this.key) return;
    this.key = key;
    this.frame = frame;
    for (const row of this.rows.all) row.cut = row.columns = null;
    for (const row of this.rows.summaries) row.below = row.most = undefined;
  }
  // With the states of the selected frame.
  lane(row) {
    const lane = this.wholeLane(row);
    if (!this.frame) return lane;
    const inside = this.p.inside(this.frame);
    if (row.kind === "gpu") row.cut ??= deviceLane(this.rows.leaves(row), this.p.meta.span, inside);
    else row.cut ??= { ...lane, n: lane.n, code: this.cutCodes(lane, inside) };
    return row.cut;
  }
  wholeLane(row) {
    return (row.lane ??= this.makeLane(row));
  }
  makeLane(row) {
    if (row.kind === "queue") return queueLane(row.profile, this.p.meta.span);
    if (row.kind === "gpu") return deviceLane(this.rows.leaves(row), this.p.meta.span, null);
    const lane = intervalsOf(this.p, row.profile);
    lane.code = new Uint8Array(lane.n);
    for (let i = 0; i < lane.n; i++) lane.code[i] = this.codes[lane.context[i]];
    return lane;
  }
  cutCodes(lane, inside) {
    return lane.code.map((code, i) =>
      inside[lane.counted[i]] || code === STATE_CODES.idle
        ? code
        : CODE_OUTSIDE | (code & CODE_IS_OFF),
    );
  }
  lanesOf(row) {
    if (row.kind === "processors")
      row.below ??= this.rows.all.filter(
        r => r.kind === "thread" && r.profile.samples.n && this.p.isIn(r.profile.id),
      );
    else if (row.kind === "busy") row.below ??= this.devices();
    else if (["thread", "queue", "gpu"].includes(row.kind)) row.below ??= [row];
    else row.below ??= this.rows.lanes(row);
    return row.below;
  }
  // A row for each GPU, although several processes may share it.
  devices() {
    const byDevice = new Map();
    for (const row of this.rows.all)
      if (row.kind === "gpu") byDevice.set(row.device, [...(byDevice.get(row.device) ?? []), row]);
    return [...byDevice.values()].map(list =>
      list.length > 1 ? { kind: "gpu", children: list } : list[0],
    );
  }
  // Of n columns between two times, the share of each state in lanes: [column * N_CODES + code].
  columns(row, from, to, n) {
    const key = `${from} ${to} ${n}`;
    if (row.columns?.key === key) return row.columns.data;
    const isSize = row.columns?.data.length === n * N_CODES,
      data = isSize ? row.columns.data.fill(0) : new Float32Array(n * N_CODES);
    this.fill(row, data, from, to, n);
    row.columns = { key, data };
    return data;
  }
  fill(row, data, from, to, n) {
    const lanes = this.lanesOf(row),
      isRunOnly = row.kind === "processors",
      binWidth = this.p.meta.span / this.countBins(row);
    const isCoarse = lanes.length > 1 && (to - from) / n >= binWidth;
    if (isCoarse && this.prepare(row, Infinity) && row.size > FEW_INTERVALS)
      addBins(row.bins, binWidth, data, from, to, n);
    else for (const lane of lanes) addColumns(this.lane(lane), data, from, to, n, isRunOnly);
  }
  countBins(row) {
    return row.kind === "processors" ? ALL_BINS : GROUP_BINS;
  }
  // Makes what a picture of the row needs: at least one lane, and others until the deadline. False
  // if it is not complete.
  prepare(row, deadline) {
    const lanes = this.lanesOf(row),
      { span } = this.p.meta;
    if (row.preparing?.key !== this.key) row.preparing = { key: this.key, n: 0 };
    const at = row.preparing;
    if (at.n === lanes.length) return true;
    if (!at.n) row.size = 0;
    if (!at.n) row.bins = new Float32Array(lanes.length > 1 ? this.countBins(row) * N_CODES : 0);
    do {
      const lane = this.lane(lanes[at.n++]);
      row.size += lane.n;
      if (lanes.length > 1)
        addColumns(lane, row.bins, 0, span, this.countBins(row), row.kind === "processors");
    } while (at.n < lanes.length && performance.now() < deadline);
    return at.n === lanes.length;
  }
  // Microseconds of each state between two times, over all lanes of a row. By code.
  times(row, from, to) {
    const sums = new Float64Array(N_CODES);
    for (const lane of this.lanesOf(row)) {
      const data = new Float64Array(N_CODES);
      addColumns(this.lane(lane), data, from, to, 1, false);
      data.forEach((x, code) => (sums[code] += x * (to - from)));
    }
    return sums;
  }
  // The time that a row works, for people who look for the busiest.
  work(row, [from, to]) {
    const times = this.times(row, from, to);
    return times[STATE_CODES.work] + times[STATE_CODES.kernel] + times[STATE_CODES.copy];
  }
  // The time in the selected frame.
  inside(row, [from, to]) {
    return this.times(row, from, to).reduce(
      (sum, x, code) => sum + (code === CODE_OUTSIDE || code === STATE_CODES.idle ? 0 : x),
      0,
    );
  }
}

// Adds a lane's intervals to n columns.
function addColumns(lane, data, from, to, n, isRunOnly) {
  const { edge, code } = lane,
    scale = n / (to - from);
  for (let i = Math.max(0, upperBound(edge, from) - 1); i < lane.n && edge[i] < to; i++) {
    if (isRunOnly && code[i] & CODE_IS_OFF) continue;
    const state = code[i] & CODE_BITS,
      a = Math.max(0, (edge[i] - from) * scale),
      b = Math.min(n, (edge[i + 1] - from) * scale);
    if (!(b > a)) continue;
    let x = Math.floor(a);
    if (b <= x + 1) {
      data[x * N_CODES + state] += b - a;
      continue;
    }
    data[x * N_CODES + state] += x + 1 - a;
    const last = Math.floor(b);
    while (++x < last) data[x * N_CODES + state] += 1;
    if (last < n) data[last * N_CODES + state] += b - last;
  }
}
// The same, from columns that are narrower than these.
function addBins(bins, binWidth, data, from, to, n) {
  const scale = n / (to - from),
    end = Math.min(bins.length / N_CODES, Math.ceil(to / binWidth));
  for (let bin = Math.floor(from / binWidth); bin < end; bin++) {
    const a = Math.max(0, (bin * binWidth - from) * scale),
      b = Math.min(n, ((bin + 1) * binWidth - from) * scale),
      x = Math.floor(a),
      here = Math.min(b, x + 1) - a;
    for (let code = 0; code < N_CODES; code++) {
      const share = bins[bin * N_CODES + code];
      if (!share) continue;
      data[x * N_CODES + code] += share * here;
      if (b > x + 1 && x + 1 < n) data[(x + 1) * N_CODES + code] += share * (b - x - 1);
    }
  }
}

// ---- GPUs ----

// Operations and the time between them. op[i]: the operation; -1: idle.
function queueLane(profile, span) {
  const o = profile.ops,
    room = 2 * o.n + 1;
  const lane = {
    n: 0,
    edge: new Float64Array(room + 1),
    code: new Uint8Array(room),
    context: new Uint32Array(room),
    op: new Int32Array(room),
  };
  const add = (until, code, op) => {
    if (!(until > lane.edge[lane.n])) return;
    lane.code[lane.n] = code;
    lane.op[lane.n] = op;
    lane.context[lane.n] = op < 0 ? 0 : o.context[op];
    lane.edge[++lane.n] = until;
  };
  for (let i = 0; i < o.n; i++) {
    add(o.start[i], STATE_CODES.idle, -1);
    add(o.end[i], STATE_CODES[stateOfOperation(o.kind[i])], i);
  }
  add(span, STATE_CODES.idle, -1);
  lane.edge = lane.edge.slice(0, lane.n + 1);
  lane.counted = lane.context;
  return lane;
}
// Of operations of some rows, sorted; Infinity ends them.
function sortedTimes(rows, name, isKernel, inside) {
  const out = new Float64Array(rows.reduce((n, r) => n + r.profile.ops.n, 1)).fill(Infinity);
  const isIn = c => !inside || inside[c];
  let n = 0;
  for (const { profile } of rows)
    for (let i = 0; i < profile.ops.n; i++)
      if ((profile.ops.kind[i] === OP_KERNEL) === isKernel && isIn(profile.ops.context[i]))
        out[n++] = profile.ops[name][i];
  return out.sort().subarray(0, n + 1);
}
// All queues of a device: a kernel runs, or only copies, or nothing. inside: contexts that count.
function deviceLane(rows, span, inside) {
  const [a, b] = ["start", "end"].map(name => sortedTimes(rows, name, true, inside)),
    [c, d] = ["start", "end"].map(name => sortedTimes(rows, name, false, inside)),
    lane = new Intervals(2 * (a.length + c.length), 0, false);
  for (let i = 0, j = 0, k = 0, l = 0, next = 0; next < Infinity;) {
    next = Math.min(a[i], b[j], c[k], d[l]);
    const code = STATE_CODES[i > j ? "kernel" : k > l ? "copy" : "idle"];
    lane.add(code, code, Math.min(next, span));
    while (a[i] <= next && next < Infinity) i++;
    while (b[j] <= next && next < Infinity) j++;
    while (c[k] <= next && next < Infinity) k++;
    while (d[l] <= next && next < Infinity) l++;
  }
  return {
    n: lane.n,
    edge: lane.edge.slice(0, lane.n + 1),
    code: Uint8Array.from(lane.context.subarray(0, lane.n)),
  };
}

// How many operations were asked for and have not finished: {edge, value}, by all queues.
function queueLength(p) {
  const lists = p.profiles.filter(x => x.ops?.n).map(x => x.ops),
    a = new Float64Array(lists.reduce((n, o) => n + o.n, 0)),
    b = new Float64Array(a.length),
    stride = p.meta.reduced.opStride;
  let m = 0;
  for (const o of lists)
    for (let i = 0; i < o.n; i++) {
      a[m] = o.enter[i] >= 0 ? o.enter[i] : o.start[i];
      b[m++] = o.end[i];
    }
  a.sort();
  b.sort();
  const edge = new Float64Array(a.length + b.length + 1),
    value = new Float64Array(edge.length);
  let n = 1,
    i = 0,
    k = 0;
  while (k < b.length) {
    if (i < a.length && a[i] <= b[k]) edge[n] = a[i++];
    else edge[n] = b[k++];
    value[n++] = (i - k) * stride;
  }
  return { edge, value };
}
