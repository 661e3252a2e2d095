// SPDX-License-Identifier: BSD-3-Clause
// Time lines: one row for each thread and GPU queue. Times are in microseconds since the start.

const LINE_ROW = 22,
  LINE_LABEL = 210,
  LINE_AXIS = 26,
  STACK_ROW = 15,
  MAX_STACK = 48;

// Draws the rows for the times from this.from to this.to. TimelineView sets them.
class TimelinePainter {
  get rows() {
    const p = this.profile;
    // Queues stand behind the main thread of their process, near to the calls that fill them.
    const rank = x => (x.kind === PROFILE_QUEUE ? 1 : x.thread ? 2 : 0);
    this.rowList ??= p.profiles
      .filter(x => (x.kind === PROFILE_QUEUE ? x.ops?.n : x.samples?.n || x.rows?.n || x.tracks))
      .sort((a, b) => a.process - b.process || rank(a) - rank(b) || a.id - b.id)
      .flatMap(x => [x.id, ...(x.tracks ?? []).map(t => this.addTrack(t))]);
    return this.rowList;
  }
  // Rows of NVTX have numbers behind those of profiles.
  addTrack(track) {
    this.trackList ??= [];
    return this.profile.profiles.length + this.trackList.push(track) - 1;
  }
  track(id) {
    return this.trackList?.[id - this.profile.profiles.length];
  }
  profileOf(id) {
    return this.track(id)?.profile ?? id;
  }
  rowName(id) {
    const track = this.track(id);
    if (!track) return this.profile.profileName(id);
    const name = this.profile.profileName(track.profile);
    return `${track.lane ? `NVTX ${track.lane + 1}` : "NVTX"}: ${name}`;
  }
  x(time) {
    return LINE_LABEL + ((time - this.from) / (this.to - this.from)) * (this.width - LINE_LABEL);
  }
  time(x) {
    return this.from + ((x - LINE_LABEL) / (this.width - LINE_LABEL)) * (this.to - this.from);
  }

  // ---- drawing ----

  draw() {
    if (!this.profile.isComplete) return;
    this.rebuild();
    this.width = this.scroller.clientWidth - (this.rows.length * LINE_ROW > 520 ? 16 : 0);
    this.scroller.style.maxHeight = "560px";
    this.paint();
  }
  paint() {
    if (!this.width || this.pending) return;
    this.pending = true; // at most once a frame
    requestAnimationFrame(() => {
      this.pending = false;
      this.paintNow();
    });
  }
  paintNow() {
    const n = this.rows.length,
      height = LINE_AXIS + n * LINE_ROW + 6;
    const visible = Math.min(height, 560);
    const size = recordedCanvases ? "" : `${this.width} ${visible} ${height}`; // pictures: anew
    if (!this.sized || this.sized !== size) {
      this.sized = size;
      this.scroller.style.height = `${visible + 2}px`;
      this.g = prepareCanvas(this.canvas, this.width, visible);
      this.canvas.style.position = "sticky";
      this.canvas.style.top = "0";
      this.filler ??= this.scroller.appendChild(el("div", {}));
      this.filler.style.height = `${height - visible}px`;
    }
    const g = this.g,
      scroll = this.scroller.scrollTop;
    g.clearRect(0, 0, this.width, visible);
    this.firstRow = Math.floor(scroll / LINE_ROW);
    this.offset = LINE_AXIS - (scroll % LINE_ROW);
    const last = Math.min(n, this.firstRow + Math.ceil((visible - LINE_AXIS) / LINE_ROW) + 1);
    for (let i = this.firstRow; i < last; i++) this.paintRow(g, i);
    g.clearRect(0, 0, this.width, LINE_AXIS);
    this.paintAxis(g, visible);
    if (this.arrows.checked) this.paintArrows(g);
    this.paintSelection(g, visible);
    this.paintStack();
  }
  rowY(i) {
    return this.offset + (i - this.firstRow) * LINE_ROW;
  }
  paintAxis(g, height) {
    const size = this.to - this.from,
      step = niceStep(size / Math.max(2, (this.width - LINE_LABEL) / 110));
    g.fillStyle = cssColour("quiet");
    g.strokeStyle = cssColour("grid");
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      g.beginPath();
      g.moveTo(x, LINE_AXIS - 6);
      g.lineTo(x, height);
      g.stroke();
      g.fillText(formatTime(t, step), x + 3, LINE_AXIS / 2 - 1);
    }
  }
  paintRow(g, i) {
    const id = this.rows[i],
      track = this.track(id),
      profile = this.profile.profiles[this.profileOf(id)],
      y = this.rowY(i);
    const selected = this.profile.isIn(profile.id);
    g.globalAlpha = selected ? 1 : 0.3;
    if (i === this.focusRow) {
      g.fillStyle = cssColour("hover");
      g.fillRect(0, y, this.width, LINE_ROW);
    }
    g.fillStyle = cssColour("text");
    drawText(g, this.rowName(id), 6, y + LINE_ROW / 2, LINE_LABEL - 12);
    g.save();
    g.beginPath();
    g.rect(LINE_LABEL, y, this.width - LINE_LABEL, LINE_ROW);
    g.clip();
    g.fillStyle = cssColour("lane");
    const a = Math.max(LINE_LABEL, this.x(profile.start)),
      b = this.x(profile.stop);
    if (!track && profile.kind === PROFILE_THREAD && b > a) g.fillRect(a, y + 3, b - a, LINE_ROW - 6);
    if (track) paintRanges(this, g, track, y);
    else if (profile.kind === PROFILE_QUEUE) this.paintOps(g, profile.ops, y);
    else if (profile.samples) this.paintSamples(g, profile, y);
    g.restore();
    g.globalAlpha = 1;
  }
  colourOf(context) {
    const frame = this.frameAt(context),
      p = this.profile;
    return Colours.of(p.className(this.tree.context[frame]), this.tree.name(frame));
  }
  // The frame at the chosen depth of the call path of a context.
  frameAt(context) {
    let frame = this.tree.of[context];
    if (this.depth) while (this.tree.depth[frame] > this.depth) frame = this.tree.parent[frame];
    return frame;
  }
  // For each run of columns with the same frame: call(frame, from x, to x). A column shows the most
  // frequent of up to 8 of its samples. A gap longer than 1.6 times the usual is shown as a gap,
  // unless the thread waited, and so is frame 0: measurement was off, or what ran is not in the part.
  eachRun(profile, frameOf, call) {
    const s = profile.samples,
      left = LINE_LABEL,
      right = this.width;
    const usual = this.usualGap(profile),
      tick = (this.to - this.from) / (right - left);
    let i = lowerBound(s.time, this.from),
      run = -1,
      start = left;
    for (let x = left; x < right; x++) {
      const end = this.time(x + 1);
      const k = gallop(s.time, i, end);
      let frame = -1;
      if (k > i) {
        frame = this.mostFrequent(s, i, k, frameOf);
      } else if (i > 0 && this.profile.isBlocked(s.shown[i - 1])) {
        frame = frameOf(s.shown[i - 1]); // a wait is shown from its start to its end
      } else if (
        i < s.n &&
        i > 0 &&
        s.time[i] - s.time[i - 1] < usual + tick &&
        s.time[i] - end < usual
      ) {
        frame = frameOf(s.shown[i]); // a sample stands for the time before it
      } else if (i < s.n && s.time[i] - end < usual / 1.6) {
        frame = frameOf(s.shown[i]);
      }
      if (frame !== run) {
        if (run > 0) call(run, start, x);
        run = frame;
        start = x;
      }
      i = k;
    }
    if (run > 0) call(run, start, right);
  }
  mostFrequent(s, from, to, frameOf) {
    const n = Math.min(8, to - from);
    let best = -1,
      most = 0;
    for (let a = 0; a < n; a++) {
      const frame = frameOf(s.shown[from + Math.floor((a * (to - from)) / n)]);
      let same = 0;
      for (let b = a; b < n; b++)
        if (frameOf(s.shown[from + Math.floor((b * (to - from)) / n)]) === frame) same++;
      if (same > most) [best, most] = [frame, same];
      if (most * 2 > n) break;
    }
    return best;
  }
  usualGap(profile) {
    const s = profile.samples;
    if (profile.gap === undefined) {
      const gaps = [];
      for (let i = 1; i < s.n; i += Math.max(1, s.n >> 9)) gaps.push(s.time[i] - s.time[i - 1]);
      gaps.sort((a, b) => a - b);
      profile.gap = 1.6 * (gaps[gaps.length >> 1] ?? 1000);
    }
    return profile.gap;
  }
  paintSamples(g, profile, y) {
    this.eachRun(
      profile,
      c => this.frameAt(c),
      (frame, a, b) => {
        const cls = this.profile.className(this.tree.context[frame]);
        g.fillStyle = Colours.of(cls, this.tree.name(frame));
        g.fillRect(a, y + 3, b - a, LINE_ROW - 6);
        if (b - a > 40) {
          g.fillStyle = cssColour("frame-ink");
          drawText(g, this.tree.label(frame), a + 3, y + LINE_ROW / 2, b - a - 6);
        }
      },
    );
  }
  // Operations that are wider than a pixel one by one, else what each column shows most.
  paintOps(g, o, y) {
    const first = Math.max(0, lowerBound(o.start, this.from) - 1);
    const end = lowerBound(o.start, this.to);
    const draw = (i, a, b) => {
      const name = this.profile.name(o.context[i]);
      g.fillStyle = Colours.of(this.profile.className(o.context[i]), name);
      g.fillRect(a, y + 3, Math.max(0.7, b - a), LINE_ROW - 6);
      if (b - a > 40) {
        g.fillStyle = cssColour("frame-ink");
        drawText(g, shorten(name), a + 3, y + LINE_ROW / 2, b - a - 6);
      }
    };
    if (end - first < 4000) {
      for (let i = first; i < end; i++)
        draw(i, Math.max(LINE_LABEL, this.x(o.start[i])), this.x(o.end[i]));
      return;
    }
    for (let x = LINE_LABEL, i = first; x < this.width; x++) {
      const from = this.time(x),
        to = this.time(x + 1);
      i = gallop(o.start, i, from);
      const next = gallop(o.start, i, to);
      const at = next > i ? i + ((next - i) >> 1) : i - 1;
      if (next > i) {
        let busy = 0;
        const n = Math.min(16, next - i);
        for (let k = 0; k < n; k++) {
          const j = i + Math.floor((k * (next - i)) / n);
          busy += o.end[j] - o.start[j];
        }
        const alpha = g.globalAlpha;
        g.globalAlpha =
          alpha * (0.35 + 0.65 * Math.min(1, ((busy / n) * (next - i)) / (to - from)));
        draw(at, x, x + 1);
        g.globalAlpha = alpha;
      } else if (at >= 0 && o.end[at] > from) {
        draw(at, x, x + 1);
      }
    }
  }
  // From the call that launched an operation to the operation.
  paintArrows(g) {
    const byId = new Map(this.rows.map((id, i) => [id, i]));
    let n = 0;
    for (const id of this.rows) {
      const o = this.profile.profiles[id]?.ops;
      if (!o) continue;
      const a = lowerBound(o.start, this.from),
        b = lowerBound(o.start, this.to);
      n += b - a;
      if (n > 160) break;
    }
    for (const id of this.rows) {
      const o = this.profile.profiles[id]?.ops,
        row = byId.get(id);
      if (!o) continue;
      const a = lowerBound(o.start, this.from),
        b = lowerBound(o.start, this.to);
      for (let i = a; i < b; i++) {
        const isHovered = this.hovered && this.hovered.profile === id && this.hovered.op === i;
        if (n > 160 && !isHovered) continue;
        const from = byId.get(o.launcher[i]);
        if (from === undefined || o.enter[i] < 0) continue;
        this.arrow(
          g,
          this.x(o.enter[i]),
          this.rowY(from) + LINE_ROW / 2,
          this.x(o.start[i]),
          this.rowY(row) + 3,
          isHovered,
        );
      }
    }
  }
  arrow(g, x1, y1, x2, y2, strong) {
    if (x1 < LINE_LABEL && x2 < LINE_LABEL) return;
    g.save();
    g.beginPath();
    g.rect(LINE_LABEL, LINE_AXIS, this.width, 2000);
    g.clip();
    g.strokeStyle = g.fillStyle = cssColour(strong ? "accent" : "arrow");
    g.lineWidth = strong ? 2 : 1;
    g.beginPath();
    g.moveTo(x1, y1);
    g.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2 - 4);
    g.stroke();
    g.beginPath();
    g.moveTo(x2 - 3, y2 - 5);
    g.lineTo(x2 + 3, y2 - 5);
    g.lineTo(x2, y2);
    g.fill();
    g.restore();
  }
  paintSelection(g, height) {
    const range =
      this.drag?.to !== undefined
        ? [this.drag.from, this.drag.to].sort((a, b) => a - b)
        : this.profile.selection.time;
    if (!range) return;
    const a = Math.max(LINE_LABEL, this.x(range[0])),
      b = Math.min(this.width, this.x(range[1]));
    g.fillStyle = cssColour("shade");
    g.fillRect(LINE_LABEL, LINE_AXIS, Math.max(0, a - LINE_LABEL), height);
    g.fillRect(Math.max(LINE_LABEL, b), LINE_AXIS, this.width, height);
    g.fillStyle = cssColour("accent");
    if (a >= LINE_LABEL && this.x(range[0]) >= LINE_LABEL) g.fillRect(a - 1, 0, 2, height);
    if (b < this.width) g.fillRect(b - 1, 0, 2, height);
  }

  // ---- the call stack of one row ----

  paintStack() {
    const id = this.rows[this.focusRow],
      profile = id === undefined ? null : this.profile.profiles[id];
    const shows = profile?.samples?.n > 0;
    this.stackTitle.textContent = shows ? `Call stack of ${this.profile.profileName(id)}` : "";
    this.stackBox.hidden = !shows;
    if (!shows) return;
    this.stackRuns = [];
    let deepest = 0;
    this.eachRun(
      profile,
      c => this.tree.of[c],
      (frame, a, b) => {
        this.stackRuns.push({ path: this.tree.path(frame), a, b });
        deepest = Math.max(deepest, Math.min(MAX_STACK, this.tree.depth[frame]));
      },
    );
    this.stackDepth = Math.max(deepest, 4);
    const g = prepareCanvas(this.stackCanvas, this.width, this.stackDepth * STACK_ROW + 2);
    g.font = "11px system-ui, sans-serif";
    for (let d = 0; d < deepest; d++) {
      for (let i = 0; i < this.stackRuns.length;) {
        const frame = this.stackRuns[i].path[d],
          a = this.stackRuns[i].a;
        let b = this.stackRuns[i].b,
          k = i + 1;
        while (
          k < this.stackRuns.length &&
          this.stackRuns[k].path[d] === frame &&
          this.stackRuns[k].a === b
        )
          b = this.stackRuns[k++].b;
        i = k;
        if (frame === undefined) continue;
        g.fillStyle = Colours.of(
          this.profile.className(this.tree.context[frame]),
          this.tree.name(frame),
        );
        g.fillRect(a, d * STACK_ROW, Math.max(0.7, b - a - (b - a > 3 ? 0.5 : 0)), STACK_ROW - 1);
        if (b - a > 34) {
          g.fillStyle = cssColour("frame-ink");
          drawText(g, this.tree.label(frame), a + 3, d * STACK_ROW + STACK_ROW / 2, b - a - 6);
        }
      }
    }
  }
  hoverStack(e) {
    const box = this.stackCanvas.getBoundingClientRect(),
      x = e.clientX - box.left;
    const d = Math.floor((e.clientY - box.top) / STACK_ROW);
    const run = this.stackRuns?.find(r => x >= r.a && x < r.b),
      frame = run?.path[d];
    if (frame === undefined) return Tip.hide();
    Tip.show(
      e,
      el("strong", {}, el("bdi", {}, this.tree.name(frame))),
      el("div", { class: "quiet" }, el("bdi", {}, this.profile.where(this.tree.context[frame]))),
      el("div", {}, formatTime(this.time(x), 1)),
    );
  }
}

// The first index at or after `from` whose value is not below `value`.
function gallop(sorted, from, value) {
  let step = 1,
    low = from;
  while (low + step < sorted.length && sorted[low + step] < value) {
    low += step;
    step *= 2;
  }
  let high = Math.min(sorted.length, low + step);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map(n => n * power).find(step => step >= least);
}
// A time in microseconds, with as many digits as steps of `step` need.
function formatTime(us, step) {
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e6))));
  return `${(us / 1e6).toFixed(digits)} s`;
}
