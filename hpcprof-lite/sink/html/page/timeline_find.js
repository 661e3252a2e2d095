// SPDX-License-Identifier: BSD-3-Clause
// What rows of time lines show at a time or under the pointer, in words.

// What was found: {row, time, title, lines, state, from, to, context, op}. from, to: of the whole
// run of one state. context: of its path, if there is one.
class TimelineFinder extends TimelinePainter {
  // at: {row, time, x, share}. share: how high in the lane, 0 to 1.
  under(at) {
    if (!at.row || at.x < LINE_LABEL) return null;
    switch (at.row.kind) {
      case "thread":
      case "gpu":
        return this.stateAt(at.row, this.pick(at));
      case "queue":
        return this.stateAt(at.row, this.pickOperation(at));
      case "track":
        return this.underTrack(at);
      case "length":
        return this.underLength(at);
      case "power":
        return this.underPower(at);
      default:
        return this.underGroup(at);
    }
  }
  // Of several states or frames in a column the one under the pointer, and of that the longest.
  pick({ row, time, x, share }) {
    const lane = this.states.lane(row),
      tick = (this.to - this.from) / (this.width - LINE_LABEL),
      from = this.time(Math.floor(x)),
      code = this.mode === "frames" ? -1 : this.bandAt(row, x, share);
    let best = time,
      most = 0;
    const first = Math.max(0, upperBound(lane.edge, from) - 1);
    for (let i = first; i < lane.n && lane.edge[i] < from + tick; i++) {
      const a = Math.max(from, lane.edge[i]),
        took = Math.min(from + tick, lane.edge[i + 1]) - a;
      if (took <= most || (code >= 0 && (lane.code[i] & CODE_BITS) !== code)) continue;
      most = took;
      best = time >= lane.edge[i] && time < lane.edge[i + 1] ? time : a;
    }
    return best;
  }
  bandAt(row, x, share) {
    const n = this.width - LINE_LABEL,
      data = this.states.columns(row, this.from, this.to, n),
      height = 100;
    let found = -1;
    this.eachBand(
      data,
      Math.floor(x) - LINE_LABEL,
      this.fullHeight(row),
      height,
      (code, bottom, h) => {
        if (share * height >= bottom && share * height <= bottom + h) found = code;
      },
    );
    return found;
  }
  // Operations are at least a pixel wide.
  pickOperation(at) {
    const o = at.row.profile.ops,
      near = ((this.to - this.from) / this.width) * 2,
      i = lowerBound(o.start, at.time + near) - 1;
    return i >= 0 && o.end[i] >= at.time - near && o.end[i] <= at.time ? o.start[i] : at.time;
  }
  // At a time, of a thread, a queue or a GPU; null: there is nothing.
  stateAt(row, time) {
    const lane = this.states.wholeLane(row),
      i = upperBound(lane.edge, time) - 1;
    if (i < 0 || i >= lane.n) return null;
    const state = lane.code[i] & CODE_BITS;
    let a = i,
      b = i + 1;
    while (a > 0 && (lane.code[a - 1] & CODE_BITS) === state && !lane.op) a--;
    while (b < lane.n && (lane.code[b] & CODE_BITS) === state && !lane.op) b++;
    const found = {
      row,
      time,
      title: row.title,
      state: LINE_STATES[state],
      from: lane.edge[a],
      to: lane.edge[b],
      context: lane.context?.[i] || undefined,
      op: lane.op?.[i] >= 0 ? lane.op[i] : undefined,
    };
    found.lines = this.words(found, lane.edge[i + 1] - lane.edge[i]);
    if (found.state === "idle") this.addCause(found);
    return found;
  }
  words(found, took) {
    const p = this.profile,
      whole = found.to - found.from,
      { row, context } = found,
      seconds = us => formatSeconds(us / 1e6);
    const use = context && row.kind === "thread" && p.meta.activities[p.activity[context]];
    let what = STATES[found.state];
    if (use?.state === found.state) what = p.str(use.name);
    else if (row.kind === "thread" && found.state === "none") what = this.unknownWords(row);
    const lines = [`${formatTime(found.time, 1)}: ${what}`];
    if (found.op !== undefined) lines.push(this.opWords(row.profile.ops, found.op));
    else
      lines.push(`${STATES[found.state]} for ${seconds(whole)}, from ${formatTime(found.from, 1)}`);
    // the cause of an OpenMP or MPI state, which the path ends with
    if (use && p.isBlocked(context) && found.state !== "ready")
      lines.push(`the thread was ${p.name(this.frameContext(context)).replace(/[<>]/g, "")}`);
    const isPart = took < 0.999 * whole && row.kind === "thread" && context;
    if (isPart)
      lines.push(`${p.isBlocked(context) ? "this wait" : "this place"}: ${seconds(took)}`);
    return lines;
  }
  unknownWords(row) {
    if (!row.profile.samples.n) return "no samples of this thread";
    const hasOffcpu = this.profile.metrics.some(m => m.label.startsWith("OFFCPU "));
    return hasOffcpu ? "no sample" : "no sample; -e OFFCPU says why threads do not run";
  }
  // What the thread that launches most on an idle GPU did meanwhile, most of the time.
  addCause(found) {
    const row = this.launcher(found.row);
    if (!row) return;
    const lane = this.states.wholeLane(row),
      { from, to } = found,
      times = new Map();
    for (
      let i = Math.max(0, upperBound(lane.edge, from) - 1);
      i < lane.n && lane.edge[i] < to;
      i++
    ) {
      const c = lane.context[i],
        took = Math.min(to, lane.edge[i + 1]) - Math.max(from, lane.edge[i]);
      times.set(c, (times.get(c) ?? 0) + took);
    }
    const [c, took] = [...times].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0]);
    if (!c) return;
    found.context = c;
    const state = STATES[LINE_STATES[this.states.codes[c] & CODE_BITS]];
    found.lines.push(`meanwhile, ${row.label}: mostly ${state}, ${percent(took, to - from)} here:`);
  }
  // null: it has no samples.
  launcher(row) {
    if (row.launcher !== undefined) return row.launcher;
    const counts = new Map();
    for (const { profile } of this.rows.leaves(row))
      for (const id of profile.ops.launcher) counts.set(id, (counts.get(id) ?? 0) + 1);
    const [id] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [-1, 0]);
    const isIt = r => r.kind === "thread" && r.profile.id === id && hasIntervals(r.profile);
    return (row.launcher = this.rows.all.find(isIt) ?? null);
  }
  opWords(o, i) {
    const parts = [`took ${formatSeconds((o.end[i] - o.start[i]) / 1e6)}`];
    if (o.amount[i]) parts.push(formatBytes(o.amount[i]));
    if (o.enter[i] >= 0)
      parts.push(`launched ${formatSeconds((o.start[i] - o.enter[i]) / 1e6)} before`);
    return parts.join(", ");
  }
  underTrack({ row, time }) {
    const t = row.track,
      i = findRange(t, time, ((this.to - this.from) / this.width) * 2);
    if (i < 0) return null;
    const took = t.end[i] - t.start[i];
    return {
      row,
      time: t.start[i],
      from: t.start[i],
      to: t.end[i],
      title: this.profile.str(this.profile.meta.nvtx.ranges[t.range[i]].label),
      lines: [
        `${formatTime(t.start[i], 1)}, ${took ? `took ${formatSeconds(took / 1e6)}` : "a mark"}`,
        row.title,
      ],
    };
  }
  underLength({ row, time }) {
    const { edge, value } = this.queueLength,
      n = value[Math.max(0, upperBound(edge, time) - 1)];
    const lines = [`${formatTime(time, 1)}: ${plural(n, "operation")} asked for and not finished`];
    return { row, time, title: row.label, lines };
  }
  underPower({ row, time }) {
    const { edge, value } = row.meter,
      i = upperBound(edge, time) - 1,
      isKnown = i >= 0 && i + 1 < edge.length && value[i] > 0,
      [from, to] = isKnown ? [edge[i], edge[i + 1]] : [time, time],
      { isLive } = row.meter,
      words = isKnown ? (isLive ? formatBytes : formatWatts)(value[i]) : "unknown";
    const lines = [`${formatTime(time, 1)}: ${words}`];
    if (isKnown)
      lines.push(
        isLive
          ? `most of ${formatSeconds((to - from) / 1e6)}`
          : `mean of ${formatSeconds((to - from) / 1e6)} between two readings`,
      );
    return { row, time, title: row.title, lines, from, to };
  }
  // Shares of states in the column.
  underGroup({ row, time, x }) {
    const from = this.time(Math.floor(x)),
      tick = (this.to - this.from) / (this.width - LINE_LABEL),
      data = new Float32Array(N_CODES),
      lanes = this.states.lanesOf(row).length;
    this.states.fill(row, data, from, from + tick, 1);
    const list = [...data.keys()]
      .filter(code => data[code] > 0.0005 && LINE_IS_DRAWN[code])
      .sort((a, b) => data[b] - data[a]);
    const all = list.reduce((sum, code) => sum + data[code], 0),
      isSum = row.kind === "processors",
      { uses } = this.profile.meta;
    const amount = n => (isSum ? n.toFixed(n < 10 ? 1 : 0) : percent(n, lanes)),
      of = isSum ? (uses?.allowed ? ` of ${count(uses.allowed)}` : "") : ` of ${count(lanes)}`;
    const noun =
        row.kind === "busy" || this.states.lanesOf(row)[0]?.kind === "gpu" ? "GPU" : "thread",
      head = isSum ? `${amount(all)}${of} processors in use` : plural(lanes, noun);
    return {
      row,
      time,
      title: row.title,
      state: LINE_STATES[list[0]],
      lines: [
        `${formatTime(time, 1)}: ${head}`,
        ...list.map(code => `${STATES[LINE_STATES[code]]}: ${amount(data[code])}`),
      ],
    };
  }
  // Nodes for the tooltip.
  tip(found) {
    const p = this.profile,
      names = found.context ? p.pathNames(found.context) : [],
      shown = names.slice(-12);
    const nodes = [
      el("strong", {}, el("bdi", {}, found.title)),
      ...found.lines.map((line, i) =>
        el(
          "div",
          { class: i ? "quiet" : "" },
          i === 0 && found.state
            ? el("i", { class: `swatch ${stateClass(found.state)}`, "aria-hidden": "true" })
            : null,
          line,
        ),
      ),
      names.length > 12 ? el("div", { class: "quiet" }, `${names.length - 12} outer frames`) : null,
      ...shown.map(name => el("div", {}, el("bdi", {}, shorten(name)))),
    ];
    return nodes.filter(node => node);
  }
  // What can be done with it: [label, action].
  actions(found) {
    const { app } = this,
      p = this.profile,
      list = [],
      c = found.context;
    if (c) {
      list.push(["Flame graph of this frame", () => app.showFlame(this.frameContext(c))]);
      if (p.fn[c] >= 0)
        list.push([
          "Select this function",
          () => app.select({ frame: { fn: p.fn[this.frameContext(c)] } }),
        ]);
      if (app.views.source) list.push(["Show source", () => app.showSource(c)]);
      list.push(["Copy path", () => copyText(p.pathNames(c).join("\n"))]);
    }
    if (found.to > found.from) {
      list.push(["Select this time", () => app.select({ time: [found.from, found.to] })]);
      list.push(["Zoom to it", () => this.zoomTo(found.from, found.to)]);
    }
    list.push(...this.rowActions(found.row));
    return list;
  }
  // The function that a context is in.
  frameContext(c) {
    const { kind, parent } = this.profile;
    while (c && kind[c] !== CONTEXT_FUNCTION) c = parent[c];
    return c;
  }
}
