// SPDX-License-Identifier: BSD-3-Clause
// Draws time lines: axis, names of rows, selection, arrows. timeline_lanes.js draws what rows do.
// Times are in microseconds since the start.

const LINE_ROW = 22,
  LINE_LABEL = 210,
  LINE_AXIS = 26,
  LINE_INDENT = 12,
  SUMMARY_ROW = 44,
  PICTURE_HEIGHT = 4000,
  PREPARE_MS = 12; // of each picture, for rows that are shown for the first time

// Draws the rows for the times from this.from to this.to. TimelineView sets them.
class TimelinePainter extends LanePainter {
  // Colours of the style sheet, looked up once for each picture.
  colour(name) {
    let colour = this.colours.get(name);
    if (colour === undefined) this.colours.set(name, (colour = cssColour(name)));
    return colour;
  }
  // Places of the rows: those that stay at the top, and those that scroll.
  placeRows() {
    const { rows } = this,
      pinned = rows.all.filter(r => this.pinned.has(r.id));
    this.list = rows.visible(this.folded, this.sortValue);
    this.top = [];
    let y = LINE_AXIS;
    for (const row of [...rows.summaries, ...pinned]) {
      const height = row.kind === "processors" ? SUMMARY_ROW : LINE_ROW;
      this.top.push({ row, y, height, isPinned: !rows.summaries.includes(row) });
      y += height;
    }
    this.topHeight = y + (this.top.length ? 4 : 0);
    const content = this.topHeight + this.list.length * LINE_ROW + 4,
      room = Math.max(this.topHeight + 4 * LINE_ROW, innerHeight - 430);
    // A picture has all rows, and the legend below them.
    this.height = Math.round(Math.min(content, recordedCanvases ? PICTURE_HEIGHT : room));
    this.content = content;
  }
  paint() {
    if (!this.width || this.pending) return;
    this.pending = true; // at most once a frame
    requestAnimationFrame(() => {
      this.pending = false;
      this.paintNow();
    });
  }
  // The canvas stays in place while its box scrolls.
  resize() {
    if (recordedCanvases) {
      this.placeRows();
      this.g = prepareCanvas(this.canvas, this.width, this.height + LINE_ROW);
      this.sized = "";
      return;
    }
    const size = `${this.width} ${this.height} ${this.content}`;
    if (this.sized === size) return;
    this.sized = size;
    this.scroller.style.height = `${this.height + 2}px`;
    this.g = prepareCanvas(this.canvas, this.width, this.height);
    this.canvas.style.position = "sticky";
    this.canvas.style.top = "0";
    this.filler ??= this.scroller.appendChild(el("div", {}));
    this.filler.style.height = `${this.content - this.height}px`;
  }
  paintNow() {
    this.resize();
    this.deadline = recordedCanvases ? Infinity : performance.now() + PREPARE_MS;
    this.isPartial = false; // some rows are not ready
    this.colours = new Map();
    this.present = new Set(); // states that are on the screen
    this.states.follow(this.profile.selection);
    const { g, width, height } = this;
    g.clearRect(0, 0, width, height);
    this.scrolled = recordedCanvases ? 0 : this.scroller.scrollTop;
    const ticks = this.ticks();
    this.paintGrid(g, ticks, height);
    const first = Math.floor(this.scrolled / LINE_ROW),
      last = Math.ceil((this.scrolled + height - this.topHeight) / LINE_ROW);
    for (let i = first; i < Math.min(last, this.list.length); i++)
      this.paintRow(g, this.list[i], this.rowY(i), LINE_ROW, false);
    g.fillStyle = this.colour("surface");
    g.fillRect(0, 0, width, this.topHeight);
    this.paintGrid(g, ticks, this.topHeight);
    for (const { row, y, height: h, isPinned } of this.top) this.paintRow(g, row, y, h, isPinned);
    if (this.top.length) {
      g.fillStyle = this.colour("line");
      g.fillRect(0, this.topHeight - 2, width, 1);
    }
    this.paintAxis(g, ticks);
    if (this.hasArrows) this.paintArrows(g);
    this.paintSelection(g, height);
    this.paintChosen(g);
    if (recordedCanvases) this.paintLegend(g);
    this.stack.paint();
    this.controls.showLegend(this.present);
    if (this.isPartial) this.paint();
  }
  paintLegend(g) {
    let x = LINE_LABEL;
    for (const state of LINE_STATES.filter(s => this.present.has(s))) {
      g.fillStyle = this.colour(`state-${state}`) || this.colour("lane");
      g.fillRect(x, this.height + 6, 11, 11);
      g.fillStyle = this.colour("text");
      g.fillText(STATES[state], x + 16, this.height + 12);
      x += g.measureText(STATES[state]).width + 34;
    }
  }
  rowY(i) {
    return this.topHeight + i * LINE_ROW - this.scrolled;
  }
  // The row at a height of the canvas: {row, y, height}, or null.
  rowAt(y) {
    if (y < this.topHeight) return this.top.find(t => y >= t.y && y < t.y + t.height) ?? null;
    const i = Math.floor((y - this.topHeight + this.scrolled) / LINE_ROW),
      row = this.list[i];
    return row ? { row, y: this.rowY(i), height: LINE_ROW } : null;
  }
  ticks() {
    const size = this.to - this.from,
      step = niceStep(size / Math.max(2, (this.width - LINE_LABEL) / 110)),
      out = [];
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step)
      out.push({ x: Math.round(this.x(t)), text: formatTime(t, step) });
    return out;
  }
  paintGrid(g, ticks, height) {
    g.fillStyle = this.colour("grid");
    for (const { x } of ticks) g.fillRect(x, LINE_AXIS - 6, 1, height - LINE_AXIS + 6);
  }
  paintAxis(g, ticks) {
    g.fillStyle = this.colour("quiet");
    for (const { x, text } of ticks)
      if (x + g.measureText(text).width < this.width) g.fillText(text, x + 3, LINE_AXIS / 2 - 1);
  }
  // A row of which nothing is selected is pale.
  isPale(row) {
    return row.profiles.length > 0 && !row.profiles.some(id => this.profile.isIn(id));
  }
  paintRow(g, row, y, height, isPinned) {
    g.globalAlpha = this.isPale(row) ? 0.3 : 1;
    if (row === this.chosen) {
      g.fillStyle = this.colour("hover");
      g.fillRect(0, y, this.width, height);
      g.fillStyle = this.colour("accent");
      g.fillRect(0, y, 3, height);
    }
    this.paintLabel(g, row, y, height, isPinned);
    g.save();
    g.beginPath();
    g.rect(LINE_LABEL, y, this.width - LINE_LABEL, height);
    g.clip();
    this.paintLane(g, row, y, height);
    g.restore();
    g.globalAlpha = 1;
  }
  paintLabel(g, row, y, height, isPinned) {
    const middle = y + height / 2,
      isFirst = row.kind === "processors",
      note = this.noteOf(row);
    let left = 8 + (isPinned ? 0 : row.depth * LINE_INDENT);
    g.fillStyle = this.colour("quiet");
    if (this.pinned.has(row.id)) g.fillText("•", LINE_LABEL - 9, middle);
    if (row.children.length && !isPinned) {
      g.fillText(this.folded.has(row.id) ? "▸" : "▾", left, middle);
      left += LINE_INDENT;
    }
    let right = LINE_LABEL - 14;
    if (note) {
      right -= g.measureText(note).width;
      g.fillText(note, right, middle + (isFirst ? 9 : 0));
      if (isFirst) right = LINE_LABEL - 14;
      else right -= 6;
    }
    const isMatch = this.app.search.test(row.title);
    g.fillStyle = this.colour(isMatch ? "match" : "text");
    drawText(g, isPinned ? row.title : row.label, left, middle - (isFirst ? 8 : 0), right - left);
  }
  // What stands behind the name: what rows are sorted by, or how many there are.
  noteOf(row) {
    if (row.kind === "processors") {
      const allowed = this.profile.meta.uses?.allowed,
        full = row.most === undefined ? allowed : this.fullHeight(row);
      return allowed ? `${full < allowed ? `up to ${full} ` : ""}of ${count(allowed)}` : "";
    }
    if (row.kind === "length") return `up to ${count(this.queueLength.most)}`;
    if (row.kind === "power") return `up to ${(row.meter.isLive ? formatBytes : formatWatts)(row.meter.most)}`;
    if (this.sortValue && row.kind !== "track" && row.kind !== "busy")
      return formatSeconds(this.sortValue(row) / 1e6);
    if (this.folded.has(row.id)) return plural(this.rows.leaves(row).length, "row");
    return "";
  }

  // ---- arrows from the call that launched an operation to the operation ----

  // Where rows are on the canvas, by profile. What is folded or scrolled away has no place.
  placesOfProfiles() {
    const places = new Map();
    this.list.forEach((row, i) => {
      const y = this.rowY(i);
      if ((row.kind === "thread" || row.kind === "queue") && y >= this.topHeight && y < this.height)
        places.set(row.profile.id, { row, y });
    });
    return places;
  }
  paintArrows(g) {
    const places = this.placesOfProfiles(),
      queues = [...places.values()].filter(x => x.row.kind === "queue"),
      isMany = queues.reduce((n, x) => n + this.countOps(x.row), 0) > 160;
    for (const { row, y } of queues) {
      const o = row.profile.ops;
      for (let i = lowerBound(o.start, this.from); o.start[i] < this.to; i++) {
        const isHovered = this.hovered?.row === row && this.hovered.op === i,
          from = places.get(o.launcher[i]);
        if (isMany && !this.hovered) break;
        if ((isMany && !isHovered) || !from || o.enter[i] < 0) continue;
        this.arrow(
          g,
          this.x(o.enter[i]),
          from.y + LINE_ROW / 2,
          this.x(o.start[i]),
          y + 3,
          isHovered,
        );
      }
    }
  }
  arrow(g, x1, y1, x2, y2, strong) {
    if (x1 < LINE_LABEL && x2 < LINE_LABEL) return;
    g.save();
    g.beginPath();
    g.rect(LINE_LABEL, this.topHeight, this.width, 2000);
    g.clip();
    g.strokeStyle = g.fillStyle = this.colour(strong ? "accent" : "arrow");
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

  // ---- selection ----

  paintSelection(g, height) {
    const range =
      this.drag?.to !== undefined
        ? [this.drag.from, this.drag.to].sort((a, b) => a - b)
        : this.profile.selection.time;
    if (!range) return;
    const a = Math.min(this.width, Math.max(LINE_LABEL, this.x(range[0]))),
      b = Math.max(LINE_LABEL, Math.min(this.width, this.x(range[1])));
    g.fillStyle = this.colour("shade");
    g.fillRect(LINE_LABEL, LINE_AXIS, a - LINE_LABEL, height);
    g.fillRect(b, LINE_AXIS, this.width - b, height);
    g.fillStyle = this.colour("accent");
    if (this.x(range[0]) >= LINE_LABEL) g.fillRect(a - 1, 0, 2, height);
    if (this.x(range[1]) <= this.width) g.fillRect(b - 1, 0, 2, height);
  }
  // A mark at the chosen moment of the chosen row.
  paintChosen(g) {
    if (this.at === null || this.at < this.from || this.at > this.to) return;
    const i = this.list.indexOf(this.chosen),
      y = i < 0 ? this.top.find(t => t.row === this.chosen)?.y : this.rowY(i);
    if (y === undefined || (i >= 0 && y < this.topHeight)) return;
    const x = Math.round(this.x(this.at));
    g.fillStyle = this.colour("text");
    g.fillRect(x - 1, y, 2, LINE_ROW);
    g.beginPath();
    g.moveTo(x - 4, y - 1);
    g.lineTo(x + 4, y - 1);
    g.lineTo(x, y + 4);
    g.fill();
  }
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
