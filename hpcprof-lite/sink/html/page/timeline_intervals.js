// SPDX-License-Identifier: BSD-3-Clause
// What a thread does at each time: intervals without gaps, made once from its samples. Times are in
// microseconds since the start of the run.

// Interval i lasts from edge[i] to edge[i + 1]. context[i] was on the stack; 0: unknown. The time
// counts at counted[i], which is another context in backward passes of PyTorch only.
class Intervals {
  constructor(room, start, isCountedElsewhere) {
    this.n = 0;
    this.edge = new Float64Array(room + 1);
    this.context = new Uint32Array(room);
    this.counted = isCountedElsewhere ? new Uint32Array(room) : this.context;
    this.edge[0] = start;
  }
  get end() {
    return this.edge[this.n];
  }
  add(context, counted, until) {
    if (!(until > this.end)) return;
    const last = this.n - 1;
    if (this.n && this.context[last] === context && this.counted[last] === counted) {
      this.edge[this.n] = until;
      return;
    }
    if (this.n === this.context.length) this.resize(2 * this.n + 8);
    this.context[this.n] = context;
    this.counted[this.n] = counted;
    this.edge[++this.n] = until;
  }
  resize(room) {
    const copy = (from, to) => to.set(from.subarray(0, to.length)) ?? to,
      { context, counted } = this;
    this.edge = copy(this.edge, new Float64Array(room + 1));
    this.context = copy(context, new Uint32Array(room));
    this.counted = counted === context ? this.context : copy(counted, new Uint32Array(room));
  }
  // The interval at a time; -1 outside.
  at(time) {
    if (!(time >= this.edge[0] && time < this.end)) return -1;
    return upperBound(this.edge, time) - 1;
  }
}

// How many values are not above `value`.
function upperBound(sorted, value) {
  let low = 0,
    high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// A sample of CPUTIME stands for the CPU time before it. What is left between two samples is time
// off the processor: waits, of which OFFCPU has a record at the start and one at the end, and short
// ones that no record shows. A wait may have ended before its second record: a sample shows that
// the thread runs. Without CPUTIME, samples of REALTIME or of other events divide the time.
class ThreadIntervals {
  constructor(p, profile) {
    const s = profile.samples,
      find = name => p.metrics.findIndex(m => m.label.split(" ")[0] === name);
    Object.assign(this, { p, profile, s, off: find("OFFCPU"), metric: find("CPUTIME") });
    this.isElapsed = this.metric < 0 && find("REALTIME") >= 0;
    if (this.isElapsed) this.metric = find("REALTIME");
    this.out = new Intervals(s.n + 16, profile.start, s.shown !== s.context);
    this.period = this.findPeriod();
    // Shorter pieces without a sample are not shown, but added up.
    this.least = this.off >= 0 ? 0.1 * this.period : 0.6 * this.period;
    this.owed = 0; // time on a processor that is not shown yet
    this.waits = []; // since the last sample: {from, to, context}
    this.open = null; // the wait whose second record has not come
    this.isOff = false; // the measurement was off, and no sample came since
    this.last = 0; // the last sample
  }
  make() {
    const { s } = this;
    for (let i = 0; i < s.n; i++)
      if (s.context[i] === 0) this.stop(s.time[i]);
      else if (s.metric[i] === this.off) this.step(i);
      else if (this.isRun(i)) this.sample(i);
    this.stop(Math.max(this.profile.stop, this.out.end));
    this.out.resize(this.out.n);
    return this.out;
  }
  isRun(i) {
    const { s, metric, off } = this;
    return metric >= 0 ? s.metric[i] === metric : s.metric[i] !== off;
  }
  // What one sample stands for.
  findPeriod() {
    const { s, metric } = this,
      rows = this.profile.rows;
    let n = 0,
      value = 0;
    for (let i = 0; i < s.n; i++) if (s.context[i] && this.isRun(i)) n++;
    for (let i = 0; i < rows.n; i++) if (rows.metric[i] === metric) value += rows.value[i];
    if (value > 0 && n) return (value * 1e6) / n;
    const gaps = Array.from(s.time.subarray(1), (time, i) => time - s.time[i]).sort(
      (a, b) => a - b,
    );
    return gaps[gaps.length >> 1] || 1000;
  }
  // A record of OFFCPU.
  step(i) {
    const { s, open } = this,
      context = s.shown[i];
    if (open && !open.isOver) this.waits.push({ ...open, to: s.time[i] });
    this.open = null;
    if (this.p.isBlocked(context) && open?.context !== context)
      this.open = { from: s.time[i], context, counted: s.context[i], isOver: false };
  }
  sample(i) {
    const { s, out, open } = this,
      time = Math.max(s.time[i], out.end);
    let need = Math.max(0, this.period + this.owed),
      room = time - out.end;
    for (const w of this.waits) room -= w.to - w.from;
    if (open && !open.isOver) {
      // It ended when the processor time of this sample began.
      const to = Math.max(open.from, Math.min(time, time - need + this.roomBefore(open.from)));
      this.waits.push({ ...open, to });
      room -= to - open.from;
      open.isOver = true;
    }
    if (this.isElapsed) need = room;
    const idle = room > need + this.least ? room - need : 0;
    const most = 8 * this.period;
    this.owed = this.metric < 0 ? 0 : Math.min(most, need - (room - idle));
    this.lay(time, idle, s.shown[i], s.context[i], i);
    this.last = i;
    this.isOff = false;
  }
  // Time on a processor between the last sample and a wait.
  roomBefore(from) {
    let room = from - this.out.end;
    for (const w of this.waits) room -= w.to - w.from;
    return Math.max(0, room);
  }
  // The measurement or the thread ends.
  stop(time) {
    const { s, out, open } = this;
    if (open && !open.isOver) this.waits.push({ ...open, to: time });
    this.open = null;
    let room = time - out.end;
    for (const w of this.waits) room -= w.to - w.from;
    const need = this.isElapsed ? this.period : Math.max(0, this.owed),
      idle = room > need + this.least ? room - need : 0,
      last = out.n && !this.isOff ? this.last : -1;
    this.lay(time, idle, last < 0 ? 0 : s.shown[last], last < 0 ? 0 : s.context[last], -1);
    this.owed = 0;
    this.isOff = true;
  }
  // Shows the time up to `until`: waits, between them a context, and before it what is idle.
  lay(until, idle, context, counted, next) {
    const { out } = this,
      filler = idle ? this.filler(next) : 0;
    const fill = to => {
      const pause = Math.min(idle, Math.max(0, to - out.end));
      out.add(filler, filler, out.end + pause);
      idle -= pause;
      out.add(context, counted, to);
    };
    for (const w of this.waits) {
      fill(w.from);
      out.add(w.context, w.counted, w.to);
    }
    fill(until);
    this.waits = [];
  }
  // A wait that no record shows: of those of this thread the one that is nearest to the samples
  // before and after it in the tree, and of several, the longest. 0: unknown.
  filler(next) {
    if (this.off < 0 || this.isOff) return 0;
    this.nearest ??= this.findNearest();
    const { parent } = this.p,
      { s, nearest } = this;
    let a = this.out.n ? s.shown[this.last] : 0,
      b = next < 0 ? 0 : s.shown[next];
    // Contexts are in preorder: the larger one is never above the other.
    while (Math.max(a, b) && !nearest.has(Math.max(a, b))) {
      if (a > b) a = parent[a];
      else if (b > a) b = parent[b];
      else a = b = parent[a];
    }
    return nearest.get(Math.max(a, b)) ?? 0;
  }
  // By context: the longest wait below it.
  findNearest() {
    const nearest = new Map(),
      { rows } = this.profile,
      waits = [];
    for (let i = 0; i < rows.n; i++)
      if (rows.metric[i] === this.off && this.p.isBlocked(rows.context[i]))
        waits.push([rows.value[i], rows.context[i]]);
    waits.sort((x, y) => y[0] - x[0]);
    for (const [, wait] of waits)
      for (let c = wait; !nearest.has(c); c = this.p.parent[c]) {
        nearest.set(c, wait);
        if (!c) break;
      }
    return nearest;
  }
}

// Something says what a thread did.
function hasIntervals(profile) {
  return profile.samples.n > 0 || profile.waits.n > 0;
}
// Of a thread; made when they are first asked for.
function intervalsOf(p, profile) {
  profile.intervals ??= fillWaits(new ThreadIntervals(p, profile).make(), profile);
  return profile.intervals;
}
// Shows waits for GPUs where no sample says what the thread did.
function fillWaits(lane, { samples, waits: w }) {
  if (!w.n) return lane;
  const out = new Intervals(lane.n + 2 * w.n, lane.edge[0], samples.shown !== samples.context);
  for (let i = 0, k = 0; i < lane.n; i++) {
    const end = lane.edge[i + 1];
    while (k < w.n && w.end[k] <= out.end) k++;
    for (; !lane.context[i] && k < w.n && w.start[k] < end; k++) {
      out.add(0, 0, w.start[k]);
      out.add(w.context[k], w.context[k], Math.min(end, w.end[k]));
      if (w.end[k] > end) break;
    }
    out.add(lane.context[i], lane.counted[i], end);
  }
  out.resize(out.n);
  return out;
}

// Values of OFFCPU in the selected time: the part of the waits of each context that lies in it.
// Waits that are too short for the time line have no time.
function sumWaits(p, metric) {
  const out = new Float64Array(p.n),
    all = new Float64Array(p.n),
    part = new Float64Array(p.n);
  const [from, to] = p.selection.time;
  for (const x of p.profiles) {
    if (!x.samples?.n || !p.isIn(x.id)) continue;
    const { n, edge, context, counted } = intervalsOf(p, x),
      r = x.rows;
    for (let i = 0; i < n; i++) {
      if (!p.isBlocked(context[i])) continue;
      all[counted[i]] += edge[i + 1] - edge[i];
      part[counted[i]] += Math.max(0, Math.min(edge[i + 1], to) - Math.max(edge[i], from));
    }
    for (let i = 0; i < r.n; i++) {
      const c = r.context[i];
      if (r.metric[i] === metric && all[c]) out[c] += (r.value[i] * part[c]) / all[c];
    }
    for (let i = 0; i < n; i++) all[counted[i]] = part[counted[i]] = 0;
  }
  return out;
}
