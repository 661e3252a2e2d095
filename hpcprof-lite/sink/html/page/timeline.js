// SPDX-License-Identifier: BSD-3-Clause
// Time lines: what the user does with them. timeline_paint.js draws them.

class TimelineView extends TimelinePainter {
  constructor(app, container) {
    super();
    this.app = app;
    this.profile = app.profile;
    this.span = Math.max(1, this.profile.meta.span);
    this.from = 0;
    this.to = this.span;
    this.focusRow = 0;
    this.drag = null;
    this.pinned = null;
    this.rebuild();
    this.depth = Math.min(this.tree.tellingDepth(app.metric), this.tree.maxDepth);
    this.makeControls(container);
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label":
        "Time lines. Left and right arrows move, plus and minus zoom, up and down choose a row, " +
        "Enter selects the visible time, Escape clears the selection.",
    });
    this.scroller = el("div", { class: "canvas-box lines" }, this.canvas);
    this.stackCanvas = el("canvas", {
      role: "img",
      "aria-label": "Call stack of the chosen row over time",
    });
    this.stackTitle = el("h3", {});
    this.stackBox = el("div", { class: "canvas-box stack" }, this.stackCanvas);
    this.details = el("div", { class: "details" });
    container.append(this.scroller, this.stackTitle, this.stackBox, this.details);
    this.scroller.addEventListener("scroll", () => this.paint());
    this.listen(this.canvas);
    this.stackCanvas.addEventListener("mousemove", e => this.hoverStack(e));
    this.stackCanvas.addEventListener("mouseleave", () => Tip.hide());
    this.stackCanvas.addEventListener("wheel", e => this.wheel(e), { passive: false });
  }
  // The groups of functions that are hidden may have changed in the flame graph.
  rebuild() {
    const hidden = [...this.app.groups.keys()].join();
    if (this.tree && hidden === this.hiddenGroups) return;
    this.hiddenGroups = hidden;
    this.tree = new FrameTree(this.profile, {
      loops: false,
      lines: "none",
      hidden: new Set(),
      groups: this.app.groups,
    });
  }
  makeControls(container) {
    this.slider = el("input", {
      type: "range",
      min: 0,
      max: Math.max(1, this.tree.maxDepth),
      value: this.depth,
      "aria-label": "Depth of the call path that gives the colour",
      oninput: e => {
        this.depth = +e.target.value;
        this.showDepth();
        this.paint();
      },
    });
    this.depthText = el("span", { class: "quiet" });
    this.arrows = el("input", { type: "checkbox", checked: true, onchange: () => this.paint() });
    const button = (label, title, action) =>
      el("button", { type: "button", title, onclick: action }, label);
    container.append(
      el(
        "div",
        { class: "controls" },
        button("−", "Zoom out (-)", () => this.zoomBy(2, 0.5)),
        button("+", "Zoom in (+)", () => this.zoomBy(0.5, 0.5)),
        button("Whole run", "Show all time (0)", () => this.setRange(0, this.span)),
        button("Select this range", "Limit every view to the visible time (Enter)", () =>
          this.selectVisible(),
        ),
        el(
          "label",
          { title: "Time lines show the frame at this depth of the call path" },
          "depth ",
          this.slider,
          this.depthText,
        ),
        this.profile.hasFlow
          ? el("label", {}, this.arrows, "arrows from launch to operation")
          : null,
        el(
          "span",
          { class: "keys" },
          "Drag selects a range. Wheel zooms, Shift with wheel moves. " +
            "Click a name to select its row.",
        ),
      ),
    );
    this.showDepth();
  }
  showDepth() {
    this.depthText.textContent = this.depth ? ` ${this.depth}` : " innermost";
  }

  setRange(from, to) {
    const least = 0.05;
    let size = Math.min(this.span, Math.max(least, to - from));
    from = Math.max(0, Math.min(from, this.span - size));
    this.from = from;
    this.to = from + size;
    this.paint();
  }
  zoomBy(factor, place) {
    const size = this.to - this.from,
      centre = this.from + place * size;
    this.setRange(centre - place * size * factor, centre + (1 - place) * size * factor);
  }
  selectVisible() {
    this.app.select({ time: [this.from, this.to] });
  }

  // ---- input ----

  listen(canvas) {
    canvas.addEventListener("wheel", e => this.wheel(e), { passive: false });
    canvas.addEventListener("mousedown", e => this.press(e));
    addEventListener("mousemove", e => this.move(e));
    addEventListener("mouseup", e => this.release(e));
    canvas.addEventListener("mouseleave", () => {
      Tip.hide();
      this.setHovered(null);
    });
    canvas.addEventListener("dblclick", e => {
      if (this.place(e).x > LINE_LABEL) this.app.select({ time: null });
    });
    canvas.addEventListener("keydown", e => this.key(e));
  }
  place(e) {
    const box = this.canvas.getBoundingClientRect(),
      x = e.clientX - box.left,
      y = e.clientY - box.top;
    const row = y < LINE_AXIS ? -1 : this.firstRow + Math.floor((y - this.offset) / LINE_ROW);
    return { x, y, row, id: this.rows[row], time: this.time(x) };
  }
  wheel(e) {
    if (
      !e.shiftKey &&
      !e.ctrlKey &&
      Math.abs(e.deltaY) > Math.abs(e.deltaX) &&
      this.filler?.offsetHeight > 0 &&
      e.offsetX < LINE_LABEL
    )
      return; // scrolls the rows
    e.preventDefault();
    const x = e.clientX - this.canvas.getBoundingClientRect().left;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      const step = ((e.deltaX || e.deltaY) / this.width) * (this.to - this.from);
      this.setRange(this.from + step, this.to + step);
    } else {
      this.zoomBy(
        Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 240),
        Math.max(0, (x - LINE_LABEL) / (this.width - LINE_LABEL)),
      );
    }
  }
  press(e) {
    const at = this.place(e);
    if (e.button !== 0) return;
    if (at.x < LINE_LABEL) {
      if (at.id !== undefined) this.toggleRow(at, e.shiftKey);
      return;
    }
    this.drag = { x: e.clientX, from: at.time };
  }
  toggleRow(at, extend) {
    const p = this.profile,
      id = this.profileOf(at.id),
      set = new Set(p.selection.profiles ?? []);
    if (extend && this.lastRow !== undefined) {
      const [a, b] = [this.lastRow, at.row].sort((x, y) => x - y);
      for (let i = a; i <= b; i++) set.add(this.profileOf(this.rows[i]));
    } else if (!set.delete(id)) {
      set.add(id);
    }
    this.lastRow = this.focusRow = at.row;
    this.app.select({ profiles: set.size ? set : null });
  }
  move(e) {
    if (this.drag) {
      if (Math.abs(e.clientX - this.drag.x) > 3)
        this.drag.to = Math.max(0, Math.min(this.span, this.place(e).time));
      return this.paint();
    }
    if (e.target === this.canvas) this.hover(e);
  }
  release(e) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    if (drag.to !== undefined && drag.to !== drag.from) {
      const [a, b] = [drag.from, drag.to].sort((x, y) => x - y);
      this.app.select({ time: [Math.max(0, a), b] });
    } else if (e.target === this.canvas) {
      const at = this.place(e);
      if (at.row >= 0 && at.id !== undefined) this.focusRow = at.row;
      this.pin(this.under(at));
      this.paint();
    }
  }
  // What is at a place: {profile, context, op, time}, {profile, range, time, text}, or null.
  under(at) {
    const profile = at.id === undefined ? null : this.profile.profiles[at.id];
    if (at.x >= LINE_LABEL && this.track(at.id)) return this.underTrack(at);
    if (!profile || at.x < LINE_LABEL) return null;
    if (profile.ops) {
      const o = profile.ops,
        near = ((this.to - this.from) / this.width) * 2;
      let i = lowerBound(o.start, at.time + near) - 1;
      if (i < 0 || o.end[i] < at.time - near) return null;
      return { profile: at.id, context: o.context[i], op: i, time: o.start[i] };
    }
    const s = profile.samples;
    const i = lowerBound(s.time, at.time);
    if (
      i >= s.n ||
      s.shown[i] === 0 ||
      s.time[i] - at.time >
        Math.max(this.usualGap(profile), ((this.to - this.from) / this.width) * 2)
    )
      return null;
    return { profile: at.id, context: s.shown[i], time: s.time[i] };
  }
  underTrack(at) {
    const t = this.track(at.id),
      i = findRange(t, at.time, ((this.to - this.from) / this.width) * 2);
    if (i < 0) return null;
    const name = this.profile.str(this.profile.meta.nvtx.ranges[t.range[i]].label),
      took = t.end[i] - t.start[i];
    return {
      profile: t.profile,
      time: t.start[i],
      range: name,
      text: took ? `, took ${formatSeconds(took / 1e6)}` : ", a mark",
    };
  }
  setHovered(found) {
    const key = found && `${found.profile} ${found.op}`,
      old = this.hovered && `${this.hovered.profile} ${this.hovered.op}`;
    this.hovered = found;
    if (key !== old && (found?.op !== undefined || old)) this.paint();
  }
  hover(e) {
    const at = this.place(e),
      found = this.under(at);
    this.setHovered(found);
    this.canvas.style.cursor = at.x < LINE_LABEL ? "pointer" : "crosshair";
    if (!found) return Tip.hide();
    if (found.range !== undefined)
      return Tip.show(
        e,
        el("strong", {}, el("bdi", {}, found.range)),
        el("div", { class: "quiet" }, `${formatTime(found.time, 1)}${found.text}`),
      );
    const names = this.profile.pathNames(found.context),
      shown = names.slice(-12);
    Tip.show(
      e,
      el("strong", {}, this.profile.profileName(found.profile)),
      el("div", { class: "quiet" }, `${formatTime(found.time, 1)}${this.opText(found)}`),
      names.length > 12 ? el("div", { class: "quiet" }, `${names.length - 12} outer frames`) : null,
      ...shown.map(name => el("div", {}, el("bdi", {}, shorten(name)))),
    );
  }
  opText(found) {
    if (found.op === undefined) return "";
    const o = this.profile.profiles[found.profile].ops,
      i = found.op;
    const parts = [`, took ${formatSeconds((o.end[i] - o.start[i]) / 1e6)}`];
    if (o.amount[i]) parts.push(formatBytes(o.amount[i]));
    if (o.enter[i] >= 0)
      parts.push(`launched ${formatSeconds((o.start[i] - o.enter[i]) / 1e6)} before`);
    return parts.join(", ");
  }
  // Shows the path of a click below the time lines.
  pin(found) {
    if (!found) return this.details.replaceChildren();
    if (found.range !== undefined)
      return this.details.replaceChildren(
        el(
          "h3",
          {},
          el("bdi", {}, found.range),
          ` at ${formatTime(found.time, 1)}${found.text}, `,
          this.profile.profileName(found.profile),
        ),
      );
    const path = this.profile.path(found.context);
    this.details.replaceChildren(
      el(
        "h3",
        {},
        `${this.profile.profileName(found.profile)} at ${formatTime(found.time, 1)}` +
          this.opText(found),
      ),
      el(
        "button",
        { type: "button", onclick: () => this.app.showFlame(found.context) },
        "Show in flame graph",
      ),
      el(
        "button",
        { type: "button", onclick: () => this.app.showSource(found.context) },
        "Show source",
      ),
      el(
        "ol",
        { class: "path" },
        ...path
          .filter(c => this.profile.kind[c] === CONTEXT_FUNCTION)
          .map(c =>
            el("li", {}, frameNode(this.app, c, this.profile.name(c), this.profile.where(c))),
          ),
      ),
    );
  }
  key(e) {
    if (!this.rows.length) return;
    const size = this.to - this.from,
      moves = {
        ArrowLeft: () => this.setRange(this.from - size / 8, this.to - size / 8),
        ArrowRight: () => this.setRange(this.from + size / 8, this.to + size / 8),
        "+": () => this.zoomBy(0.5, 0.5),
        "=": () => this.zoomBy(0.5, 0.5),
        "-": () => this.zoomBy(2, 0.5),
        0: () => this.setRange(0, this.span),
        ArrowDown: () => this.chooseRow(this.focusRow + 1),
        ArrowUp: () => this.chooseRow(this.focusRow - 1),
        Enter: () => this.selectVisible(),
        " ": () => this.toggleRow({ id: this.rows[this.focusRow], row: this.focusRow }, e.shiftKey),
        Escape: () => this.app.select({ time: null, profiles: null }),
      };
    if (!moves[e.key] || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    moves[e.key]();
  }
  chooseRow(i) {
    this.focusRow = Math.max(0, Math.min(this.rows.length - 1, i));
    const y = this.focusRow * LINE_ROW,
      room = this.scroller.clientHeight - LINE_AXIS - LINE_ROW * 2;
    if (y < this.scroller.scrollTop) this.scroller.scrollTop = y;
    if (y > this.scroller.scrollTop + room) this.scroller.scrollTop = y - room;
    announce(this.rowName(this.rows[this.focusRow]));
    this.paint();
  }
}
