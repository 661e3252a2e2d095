// SPDX-License-Identifier: BSD-3-Clause
// Time lines: what the reader does with them. All of it is in the state: timeline.mode (frames),
// depth, arrows (0), sort (work, frame), folded, pinned, row (numbers of rows), range, at (times).

const RANGE_MS = 250; // after this time without a change the visible range goes into the state

class TimelineView extends TimelineFinder {
  constructor(app, container) {
    super();
    this.app = app;
    this.profile = app.profile;
    this.span = Math.max(1, this.profile.meta.span);
    this.rows = new TimelineRows(this.profile);
    this.states = new LineStates(this.profile, this.rows);
    this.drag = null;
    this.rebuild();
    this.usualDepth = Math.min(this.tree.tellingDepth(app.metric), this.tree.maxDepth);
    this.controls = new TimelineControls(this, container);
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label":
        "Time lines. Left and right arrows move, plus and minus zoom, up and down choose a row, " +
        "comma and full stop step through what it did. The question mark lists all keys.",
    });
    this.scroller = el("div", { class: "canvas-box lines" }, this.canvas);
    this.details = el("div", { class: "details" });
    container.append(this.scroller, this.details);
    this.stack = new CallStack(this, container);
    this.scroller.addEventListener("scroll", () => this.paint());
    this.input = new TimelineInput(this);
    new ResizeObserver(() => {
      const { clientWidth } = this.scroller;
      if (clientWidth && clientWidth !== this.width) this.draw();
    }).observe(this.scroller);
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
  set(changes) {
    this.app.state.set(
      Object.fromEntries(Object.entries(changes).map(([key, text]) => [`timeline.${key}`, text])),
    );
  }
  read() {
    const get = (key, fallback) => this.app.state.get(`timeline.${key}`, fallback),
      { all } = this.rows;
    this.mode = get("mode") === "frames" ? "frames" : "states";
    this.depth = Math.min(
      this.tree.maxDepth,
      this.app.state.number("timeline.depth", this.usualDepth),
    );
    this.hasArrows = get("arrows") !== "0";
    this.sort = get("sort");
    this.folded = this.rows.folded(get("folded"));
    this.pinned = parseSet(get("pinned"), all.length);
    const at = this.app.state.number("timeline.at", -1);
    this.at = at >= 0 ? at : null;
    if (!this.later) {
      const [from, to] = parseRange(get("range")) ?? [0, this.span];
      [this.from, this.to] = this.bound(from, to);
    }
    this.sortValue = this.findSortValue();
    this.chosen = all[this.app.state.number("timeline.row", -1)] ?? this.firstRow();
  }
  // The thread with samples that had the most CPU time.
  firstRow() {
    const threads = this.rows.all.filter(r => r.kind === "thread" && hasIntervals(r.profile)),
      most = threads.reduce((m, r) => Math.max(m, r.profile.cpu), 0);
    return threads.find(r => r.profile.cpu === most) ?? this.rows.roots[0] ?? this.rows.all[0];
  }
  // What rows are sorted by, in microseconds; null: their names.
  findSortValue() {
    const { time, frame } = this.profile.selection,
      isFrame = this.sort === "frame" && !!frame;
    if (!isFrame && this.sort !== "work") return null;
    const key = `${isFrame} ${time} ${frame?.fn} ${frame?.context}`,
      range = time ?? [0, this.span];
    if (this.sortKey === key) return this.sortValue;
    this.sortKey = key;
    const known = new Map();
    return row => {
      if (!known.has(row.id)) {
        const hasNone = row.kind === "track" || row.kind === "power";
        known.set(row.id, hasNone ? 0 : this.states[isFrame ? "inside" : "work"](row, range));
      }
      return known.get(row.id);
    };
  }
  draw() {
    if (!this.profile.isComplete) return;
    this.rebuild();
    this.states.follow(this.profile.selection);
    this.read();
    this.placeRows();
    this.controls.show();
    this.scroller.style.overflowY = this.content > this.height ? "scroll" : "hidden";
    this.width = this.scroller.clientWidth;
    this.showDetails();
    this.paint();
  }

  // ---- the visible range ----

  bound(from, to) {
    const size = Math.min(this.span, Math.max(0.05, to - from)),
      first = Math.max(0, Math.min(from, this.span - size));
    return [first, first + size];
  }
  // Wheels and keys change it many times a second.
  setRange(from, to) {
    [this.from, this.to] = this.bound(from, to);
    this.paint();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.keepRange(), RANGE_MS);
  }
  keepRange() {
    clearTimeout(this.later);
    this.later = 0;
    const isAll = this.from <= 0 && this.to >= this.span;
    this.set({ range: isAll ? "" : formatRange([this.from, this.to]) });
  }
  // place: what stays where it is, as a share of the range; by keys the chosen moment or the middle.
  zoomBy(factor, place) {
    const size = this.to - this.from,
      isSeen = this.at !== null && this.at > this.from && this.at < this.to;
    place ??= isSeen ? (this.at - this.from) / size : 0.5;
    const centre = this.from + place * size;
    this.setRange(centre - place * size * factor, centre + (1 - place) * size * factor);
  }
  zoomTo(from, to) {
    const room = (to - from) / 20;
    this.setRange(from - room, to + room);
  }
  // Moves the range so that a time is in it.
  reveal(time) {
    const size = this.to - this.from;
    if (time < this.from || time > this.to) this.setRange(time - size / 4, time + (3 * size) / 4);
  }
  selectVisible() {
    this.app.select({ time: [this.from, this.to] });
  }

  // ---- rows ----

  toggle(name, row) {
    const set = new Set(this[name]);
    if (!set.delete(row.id)) set.add(row.id);
    this.set({ [name]: name === "folded" ? this.rows.foldedText(set) : formatSet(set) });
  }
  // All processes and GPUs, or none.
  foldAll() {
    const groups = this.rows.all.filter(r => r.kind === "process" || r.kind === "gpu"),
      set = groups.some(r => !this.folded.has(r.id)) ? groups.map(r => r.id) : [];
    this.set({ folded: this.rows.foldedText(new Set(set)) });
  }
  // Selects the threads and queues of a row, or no more. extend: from the row chosen before.
  selectRow(row, extend) {
    const set = new Set(this.profile.selection.profiles ?? []),
      i = this.list.indexOf(row),
      k = this.list.indexOf(this.chosen);
    const rows =
        extend && i >= 0 && k >= 0 ? this.list.slice(Math.min(i, k), Math.max(i, k) + 1) : [row],
      ids = rows.flatMap(r => r.profiles);
    const isIn = !extend && ids.every(id => set.has(id));
    for (const id of ids)
      if (isIn) set.delete(id);
      else set.add(id);
    const keys = { "timeline.row": row.id };
    if (ids.length) this.app.select({ profiles: set.size ? set : null }, keys);
    else this.app.state.set(keys);
  }
  rowActions(row) {
    const list = [];
    if (row.profiles.length)
      list.push([`Select or deselect ${row.label}`, () => this.selectRow(row)]);
    const isPinned = this.pinned.has(row.id);
    if (!this.rows.summaries.includes(row))
      list.push([
        isPinned ? "Remove from the top" : "Pin to the top",
        () => this.toggle("pinned", row),
      ]);
    if (row.children.length)
      list.push([
        this.folded.has(row.id) ? "Open the row" : "Close the row",
        () => this.toggle("folded", row),
      ]);
    return list;
  }
  chooseRow(step) {
    const list = [...this.rows.summaries, ...this.list],
      i = list.indexOf(this.chosen),
      row = list[Math.max(0, Math.min(list.length - 1, i + step))];
    if (!row) return;
    this.set({ row: row.id });
    this.scrollTo(row);
    announce([row.title, this.noteOf(row)].filter(x => x).join(", "));
  }
  scrollTo(row) {
    const y = this.list.indexOf(row) * LINE_ROW,
      room = this.height - this.topHeight - LINE_ROW;
    if (y < 0) return;
    if (y < this.scroller.scrollTop) this.scroller.scrollTop = y;
    if (y > this.scroller.scrollTop + room) this.scroller.scrollTop = y - room;
  }

  // ---- the chosen moment ----

  choose(row, time) {
    this.set({ row: row.id, at: time === null ? "" : Math.ceil(time * 1000) / 1000 });
  }
  foundAt(row, time) {
    if (["thread", "queue", "gpu"].includes(row.kind)) return this.stateAt(row, time);
    return this.under({ row, time, x: Math.max(LINE_LABEL, this.x(time)), share: 0.5 });
  }
  // To the next or the previous state of the chosen row; at first, to what it did at the left.
  step(direction) {
    const row = this.chosen;
    if (!["thread", "queue", "gpu"].includes(row.kind)) return;
    const { n, edge } = this.states.wholeLane(row);
    if (!n) return;
    const bound = time => Math.max(edge[0], Math.min(time, edge[n] - 0.001)),
      found = this.stateAt(row, bound(this.at ?? this.from)),
      time = direction > 0 ? found.to : found.from - 0.001,
      next = this.at === null ? found : this.stateAt(row, bound(time));
    this.choose(row, next.from);
    this.reveal(next.from);
    announce([next.title, ...next.lines].join(", "));
  }
  showDetails() {
    const found = this.at === null ? null : this.foundAt(this.chosen, this.at);
    if (!found) return this.details.replaceChildren();
    const p = this.profile,
      path = found.context ? p.path(found.context) : [];
    const isFocused = this.details.contains(document.activeElement);
    const isFrame = c => p.kind[c] === CONTEXT_FUNCTION,
      frame = c =>
        el(
          "button",
          { type: "button", title: p.where(c), onclick: () => this.app.showFlame(c) },
          el("bdi", {}, p.shortName(c)),
        );
    const what = found.lines.map((line, i) => el("span", { class: i ? "quiet" : "" }, line));
    this.details.replaceChildren(
      el("h3", {}, el("bdi", {}, found.title)),
      el("div", { class: "controls" }, ...what),
      el(
        "div",
        { class: "controls" },
        ...this.actions(found).map(([label, action]) =>
          el("button", { type: "button", onclick: action }, label),
        ),
        el("button", { type: "button", onclick: () => this.choose(this.chosen, null) }, "Hide"),
      ),
      el("div", { class: "crumbs" }, ...path.filter(isFrame).map(frame)),
    );
    if (isFocused) this.canvas.focus();
  }

  // ---- search ----

  findMatches() {
    const { search } = this.app,
      key = `${search.expression} ${this.sortKey}`;
    if (this.foundKey === key) return this.foundMatches;
    this.foundKey = key;
    const isAny = this.matching.includes(1),
      list = this.rows.visible(new Set(), this.sortValue);
    this.foundMatches = list.flatMap(row => {
      const time = isAny ? this.firstMatch(row) : null;
      return time !== null || search.test(row.title) ? [{ row, time }] : [];
    });
    return this.foundMatches;
  }
  firstMatch(row) {
    if (row.kind !== "thread" && row.kind !== "queue") return null;
    const lane = this.states.wholeLane(row);
    for (let i = 0; i < lane.n; i++) if (this.matching[lane.context[i]]) return lane.edge[i];
    return null;
  }
  showMatch({ row, time }) {
    const folded = new Set(this.folded);
    for (let up = row.parent; up; up = up.parent) folded.delete(up.id);
    const at = time === null ? "" : Math.ceil(time * 1000) / 1000;
    this.set({ row: row.id, at, folded: this.rows.foldedText(folded) });
    this.scrollTo(row);
    if (time !== null) this.reveal(time);
    announce(row.title);
  }
}
