// SPDX-License-Identifier: BSD-3-Clause
// Draws what rows of time lines do: states, frames, operations, sums. timeline_paint.js draws the
// rest. A column of pixels with several states is divided by their shares of its time.

const LANE_EDGE = 3, // free pixels above and below a lane
  LINE_IS_GPU = LINE_STATES.map(s => s === "kernel" || s === "copy"),
  LINE_IS_DRAWN = [...LINE_STATES.map(s => s !== "idle" && s !== "none"), false];

class LanePainter {
  x(time) {
    return LINE_LABEL + ((time - this.from) / (this.to - this.from)) * (this.width - LINE_LABEL);
  }
  time(x) {
    return this.from + ((x - LINE_LABEL) / (this.width - LINE_LABEL)) * (this.to - this.from);
  }
  paintLane(g, row, y, height) {
    const top = y + LANE_EDGE,
      h = height - 2 * LANE_EDGE;
    if (row.kind === "track") return paintRanges(this, g, row.track, y);
    if (row.kind === "length" || row.kind === "power") return this.paintAmounts(g, row, top, h);
    if (row.kind === "queue" || row.kind === "gpu") this.present.add("idle");
    this.paintLife(g, row, top, h);
    if (row.kind === "thread" && !hasIntervals(row.profile)) return;
    if (!this.states.prepare(row, this.deadline)) {
      this.isPartial = true;
      return;
    }
    const isFrames = this.mode === "frames";
    if (row.kind === "queue" && this.countOps(row) < 400) this.paintOps(g, row, top, h);
    else if (isFrames && (row.kind === "thread" || row.kind === "queue"))
      this.paintFrames(g, row, top, h);
    else this.paintStates(g, row, top, h, this.fullHeight(row));
    if (this.app.search.isOn) this.paintMatches(g, row, top + h);
  }
  // The time in which there is something to show.
  paintLife(g, row, top, h) {
    const isThread = row.kind === "thread",
      a = isThread ? Math.max(LINE_LABEL, this.x(row.profile.start)) : LINE_LABEL,
      b = isThread ? this.x(row.profile.stop) : this.width;
    g.fillStyle = this.colour("lane");
    if (b > a) g.fillRect(a, top, b - a, h);
  }
  // How many lanes fill the height.
  fullHeight(row) {
    const n = this.states.lanesOf(row).length;
    if (row.kind !== "processors") return n;
    if (row.most === undefined) {
      row.most = this.mostProcessors(row);
      this.paint(); // its label has the number, too
    }
    // all that the processes may use, unless that would be an empty row
    const allowed = this.profile.meta.uses?.allowed ?? 0;
    return allowed > 4 * row.most ? Math.max(1, Math.ceil(row.most)) : Math.max(row.most, allowed);
  }
  mostProcessors(row) {
    const { span } = this.profile.meta,
      n = 1000,
      data = new Float32Array(n * N_CODES);
    let most = 0;
    this.states.fill(row, data, 0, span, n);
    for (let x = 0; x < n; x++) {
      let sum = 0;
      for (let code = 0; code < N_CODES; code++) sum += data[x * N_CODES + code];
      most = Math.max(most, sum);
    }
    return most || 1;
  }
  // The states of a column from the bottom: calls band(code, bottom, height) in whole pixels.
  eachBand(data, x, full, h, band) {
    let sum = 0,
      bottom = 0;
    for (let code = 0; code < N_CODES; code++) {
      const share = data[x * N_CODES + code];
      if (!share) continue;
      sum += share / full;
      let top = Math.min(h, Math.round(sum * h));
      // short operations stay visible, and so does the selected frame
      if (top === bottom && (LINE_IS_GPU[code] || (this.states.frame && LINE_IS_DRAWN[code])))
        top = Math.min(h, bottom + 1);
      if (top > bottom) band(code, bottom, top - bottom);
      bottom = top;
    }
  }
  paintStates(g, row, top, h, full) {
    const n = this.width - LINE_LABEL,
      data = this.states.columns(row, this.from, this.to, n),
      open = LINE_STATES.map(() => [0, 0, 0]), // x, bottom, height
      boxes = LINE_STATES.map(() => []),
      seen = new Int32Array(N_CODES).fill(-1);
    const close = (code, x) => {
      const o = open[code];
      if (o[2]) boxes[code].push(o[0], top + h - o[1] - o[2], x - o[0], o[2]);
      o[2] = 0;
    };
    for (let x = 0; x < n; x++) {
      this.eachBand(data, x, full, h, (code, bottom, height) => {
        if (!LINE_IS_DRAWN[code]) return;
        seen[code] = x;
        const o = open[code];
        if (o[2] === height && o[1] === bottom) return;
        close(code, x);
        open[code] = [x, bottom, height];
      });
      for (let code = 0; code < LINE_STATES.length; code++)
        if (open[code][2] && seen[code] !== x) close(code, x);
    }
    boxes.forEach((list, code) => {
      close(code, n);
      if (!list.length) return;
      this.present.add(LINE_STATES[code]);
      g.fillStyle = this.colour(`state-${LINE_STATES[code]}`);
      for (let i = 0; i < list.length; i += 4)
        g.fillRect(LINE_LABEL + list[i], list[i + 1], list[i + 2], list[i + 3]);
    });
    if (row.kind === "processors") this.paintAllowed(g, top, h, full);
  }
  paintAllowed(g, top, h, full) {
    const allowed = this.profile.meta.uses?.allowed;
    if (!allowed || allowed > full) return;
    const y = Math.round(top + h - (h * allowed) / full) + 0.5;
    g.strokeStyle = this.colour("text");
    g.setLineDash([4, 3]);
    g.beginPath();
    g.moveTo(LINE_LABEL, y);
    g.lineTo(this.width, y);
    g.stroke();
    g.setLineDash([]);
  }

  // ---- frames ----

  // For each run of columns with the same frame: call(frame, from x, to x). A column has the frame
  // with the most time in it. frameOf(interval): 0 is shown only where there is nothing else.
  eachRun(lane, frameOf, call) {
    const n = this.width - LINE_LABEL,
      tick = (this.to - this.from) / n,
      { edge } = lane,
      end = edge[lane.n];
    let i = Math.max(0, upperBound(edge, this.from) - 1),
      run = 0,
      start = 0;
    for (let x = 0; x <= n; x++) {
      const a = this.from + x * tick,
        b = a + tick;
      let frame = 0;
      if (x < n && i < lane.n && b > edge[0] && a < end) {
        while (i < lane.n - 1 && edge[i + 1] <= a) i++;
        frame = edge[i + 1] >= b ? frameOf(i) : this.mostTime(lane, i, a, b, frameOf);
      }
      if (frame === run) continue;
      if (run) call(run, LINE_LABEL + start, LINE_LABEL + x);
      run = frame;
      start = x;
    }
  }
  mostTime(lane, i, from, to, frameOf) {
    const times = new Map();
    let best = 0,
      most = 0;
    for (; i < lane.n && lane.edge[i] < to; i++) {
      const frame = frameOf(i),
        time =
          (times.get(frame) ?? 0) + Math.min(to, lane.edge[i + 1]) - Math.max(from, lane.edge[i]);
      times.set(frame, time);
      if (frame && time > most) [best, most] = [frame, time];
    }
    return best;
  }
  // The frame at the chosen depth of the call path of a context.
  frameAt(context) {
    let frame = this.tree.of[context];
    if (this.depth) while (this.tree.depth[frame] > this.depth) frame = this.tree.parent[frame];
    return frame;
  }
  colourOf(frame) {
    const { tree, profile: p } = this,
      state = tree.waits[frame];
    if (state) return this.colour(`state-${state}`);
    return Colours.of(p.className(tree.context[frame]), tree.name(frame));
  }
  // Of the intervals in the selected frame. shown(context): what stands for it.
  inFrame(lane, shown) {
    return i => ((lane.code[i] & CODE_BITS) === CODE_OUTSIDE ? 0 : shown(lane.context[i]));
  }
  paintFrames(g, row, top, h) {
    const lane = this.states.lane(row);
    this.eachRun(
      lane,
      this.inFrame(lane, c => this.frameAt(c)),
      (frame, a, b) => {
        const fill = this.colourOf(frame);
        g.fillStyle = fill;
        g.fillRect(a, top, b - a, h);
        if (b - a <= 40) return;
        g.fillStyle = Colours.inkOn(fill);
        drawText(g, this.tree.label(frame), a + 3, top + h / 2, b - a - 6);
      },
    );
  }

  // ---- GPUs ----

  countOps(row) {
    const { start } = row.profile.ops;
    return lowerBound(start, this.to) - lowerBound(start, this.from);
  }
  // One by one.
  paintOps(g, row, top, h) {
    const o = row.profile.ops,
      p = this.profile,
      inside = p.inside(p.selection.frame);
    for (let i = Math.max(0, lowerBound(o.start, this.from) - 1); o.start[i] < this.to; i++) {
      const a = Math.max(LINE_LABEL, this.x(o.start[i])),
        b = this.x(o.end[i]),
        state = stateOfOperation(o.kind[i]),
        c = o.context[i];
      if (b < LINE_LABEL || (inside && !inside[c])) continue;
      this.present.add(state);
      const name = p.name(c);
      g.fillStyle =
        this.mode === "frames" ? Colours.of(p.className(c), name) : this.colour(`state-${state}`);
      g.fillRect(a, top, Math.max(0.7, b - a - (b - a > 4 ? 1 : 0)), h);
      if (b - a <= 40) continue;
      g.fillStyle = this.colour("frame-ink");
      drawText(g, shorten(name), a + 3, top + h / 2, b - a - 6);
    }
  }
  get queueLength() {
    this.length ??= queueLength(this.profile);
    this.length.most ??= this.length.value.reduce((a, b) => Math.max(a, b), 1);
    return this.length;
  }
  // {edge, value, most}: value[i] from edge[i] to edge[i + 1].
  amounts(row) {
    return row.meter ?? this.queueLength;
  }
  // In each column the most operations or live bytes, or the mean power.
  paintAmounts(g, row, top, h) {
    const series = this.amounts(row),
      valueOf = row.kind === "power" && !row.meter.isLive ? meanBetween : mostBetween;
    g.fillStyle = this.colour("lane");
    g.fillRect(LINE_LABEL, top, this.width - LINE_LABEL, h);
    g.fillStyle = this.colour("accent");
    for (let x = LINE_LABEL; x < this.width; x++) {
      const height = Math.ceil((h * valueOf(series, this.time(x), this.time(x + 1))) / series.most);
      if (height) g.fillRect(x, top + h - height, 1, height);
    }
  }

  // ---- search ----

  // By context: 1 in or below a frame whose name is searched for.
  get matching() {
    const { search } = this.app,
      p = this.profile;
    if (this.matched?.expression === search.expression) return this.matched.contexts;
    const names = new Map(),
      contexts = new Uint8Array(p.n);
    const isMatch = f => {
      if (!names.has(f)) names.set(f, search.test(p.functionName(f)));
      return names.get(f);
    };
    for (let c = 1; c < p.n; c++)
      contexts[c] =
        contexts[p.parent[c]] || (p.kind[c] === CONTEXT_FUNCTION && isMatch(p.fn[c])) ? 1 : 0;
    this.matched = { expression: search.expression, contexts };
    return contexts;
  }
  paintMatches(g, row, y) {
    if (row.kind !== "thread" && row.kind !== "queue") return;
    const lane = this.states.lane(row),
      { matching } = this;
    g.fillStyle = this.colour("match");
    const first = Math.max(0, upperBound(lane.edge, this.from) - 1);
    for (let i = first, end = LINE_LABEL; i < lane.n && lane.edge[i] < this.to; i++) {
      if (!matching[lane.context[i]]) continue;
      const a = Math.max(end, Math.floor(this.x(lane.edge[i])));
      end = Math.max(end, Math.ceil(this.x(lane.edge[i + 1])));
      if (end > a) g.fillRect(a, y, end - a, LANE_EDGE - 1);
    }
  }
}

function mostBetween({ edge, value }, from, to) {
  let i = upperBound(edge, from),
    most = value[Math.max(0, i - 1)];
  for (; i < edge.length && edge[i] < to; i++) most = Math.max(most, value[i]);
  return most;
}
function meanBetween({ edge, value }, from, to) {
  let sum = 0;
  for (let i = Math.max(0, upperBound(edge, from) - 1); i < edge.length && edge[i] < to; i++)
    sum += value[i] * (Math.min(to, edge[i + 1] ?? to) - Math.max(from, edge[i]));
  return sum / (to - from);
}
