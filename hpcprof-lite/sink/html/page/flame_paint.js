// SPDX-License-Identifier: BSD-3-Clause
// Paints a flame graph: the rows on the screen alone, because stacks may be hundreds of frames deep.

const FLAME_ROW = 18, // pixels of a row, at least
  FLAME_HIGH_ROW = 56; // at most; a row of two lines if there is room for them
const FLAME_TWO_LINES = 34;

class FlamePainter {
  constructor(view) {
    this.view = view;
    this.profile = view.profile;
    this.canvas = view.canvas;
    this.scroller = view.scroller;
    this.row = FLAME_ROW;
    this.rows = [];
  }
  // room: pixels of height that the page has for the graph.
  place(boxes, width, room) {
    this.width = width;
    this.rows = [];
    for (const b of boxes) (this.rows[b.depth] ??= []).push(b);
    const n = Math.max(1, this.rows.length);
    this.row = Math.max(FLAME_ROW, Math.min(FLAME_HIGH_ROW, Math.floor((room - 4) / n)));
    this.height = n * this.row + 2;
    this.shown = Math.min(this.height, room);
    this.canvas.parentElement.style.height = `${this.height}px`;
    this.scroller.style.height = `${this.shown + 2}px`;
  }
  get top() {
    return this.scroller.scrollTop;
  }
  // In pixels of the canvas, which stays where it is while the graph moves below it.
  yOf(box) {
    return box.depth * this.row - this.top;
  }
  find(x, y) {
    const row = this.rows[Math.floor((y + this.top) / this.row)];
    return row?.find(b => x >= b.x && x < b.x + Math.max(b.w, 1));
  }
  scrollTo(box) {
    const y = this.yOf(box);
    if (y < 0 || y + this.row > this.shown)
      this.scroller.scrollTop = box.depth * this.row - this.shown / 2;
  }
  paint() {
    const isPicture = !!recordedCanvases,
      height = isPicture ? this.height : this.shown,
      top = isPicture ? 0 : this.top,
      g = prepareCanvas(this.canvas, this.width, height),
      size = this.row >= FLAME_TWO_LINES ? 13 : this.row >= 22 ? 13 : 12;
    g.font = `${size}px system-ui, sans-serif`;
    this.colours = new FrameColours(this.view);
    const first = Math.max(0, Math.floor(top / this.row)),
      last = Math.ceil((top + height) / this.row);
    for (let d = first; d <= last; d++)
      for (const b of this.rows[d] ?? []) this.paintBox(g, b, d * this.row - top);
  }
  paintBox(g, b, y) {
    const { view, colours, row } = this,
      isMatch = view.isMatch(b.node),
      faded = b.above || (view.app.search.isOn && !isMatch),
      fill = isMatch ? colours.match : colours.of(b.node);
    g.fillStyle = fill;
    g.globalAlpha = faded ? 0.38 : 1;
    g.fillRect(b.x, y, Math.max(0.6, b.w - (b.w > 3 ? 1 : 0)), row - 1);
    if (b.w > 6 && b.node.frame && colours.isGuessed(b.node)) {
      g.strokeStyle = colours.dim;
      g.setLineDash([3, 3]);
      g.strokeRect(b.x + 0.5, y + 0.5, b.w - 2, row - 2);
      g.setLineDash([]);
    }
    g.globalAlpha = 1;
    if (b.w > 24) {
      g.fillStyle = faded ? colours.text : Colours.inkOn(fill);
      this.paintText(g, b, y);
    }
    const isFocus = b.node === view.focus;
    if (isFocus || b === view.hovered || b.isCentre) {
      g.strokeStyle = isFocus ? colours.accent : b.isCentre ? colours.text : colours.surface;
      g.lineWidth = 2;
      g.strokeRect(b.x + 1, y + 1, Math.max(1, b.w - 3), row - 3);
      g.lineWidth = 1;
    }
  }
  // From the shortest; in a comparison, the change.
  numbersOf(node) {
    const { view, profile } = this,
      { metric } = view.app;
    if (profile.isComparison) {
      const { now, before } = view.judge(node),
        change = profile.formatChange(metric, now, before);
      return [change.match(/\((.*)\)/)?.[1] ?? "", change];
    }
    const share = percent(node.value, view.nodes.whole);
    return [share, `${profile.format(metric, node.value)}  ${share}`];
  }
  // The name on the left, the share on the right, and the value if there is room; in high rows
  // numbers are below the name.
  paintText(g, b, y) {
    const { view, row } = this,
      room = b.w - 9,
      label = view.labelOf(b.node),
      [share, both] = this.numbersOf(b.node);
    if (row >= FLAME_TWO_LINES) {
      g.fillText(fitLabel(g, label, room), b.x + 4, y + row / 2 - 8);
      const numbers = [both, share].find(text => textWidth(g, text) <= room);
      if (numbers) g.fillText(numbers, b.x + 4, y + row / 2 + 8);
      return;
    }
    const shortest = textWidth(g, formsOf(label).at(-1)),
      longest = textWidth(g, label),
      numbers = [
        [both, longest],
        [share, shortest],
      ].find(([text, name]) => name + textWidth(g, text) + 14 <= room)?.[0];
    const taken = numbers ? textWidth(g, numbers) + 14 : 0;
    g.fillText(fitLabel(g, label, room - taken), b.x + 4, y + row / 2);
    if (!numbers) return;
    g.fillText(numbers, b.x + 4 + room - taken + 14, y + row / 2);
  }
}

// Colours of boxes: the class of the frame; the state of a wait; the change in a comparison.
class FrameColours {
  constructor(view) {
    this.view = view;
    this.profile = view.profile;
    for (const name of ["dim", "match", "text", "surface", "accent"]) this[name] = cssColour(name);
    this.states = new Map();
  }
  isGuessed(node) {
    return this.profile.className(this.view.tree.context[node.frame]) === "guessed";
  }
  of(node) {
    const { view, profile } = this;
    if (profile.isComparison) {
      const { now, before, isNoise } = view.judge(node);
      return changeColour(now, before, isNoise);
    }
    if (!node.frame) return Colours.of("entry", "");
    const state = view.tree.waits[node.frame];
    if (state) return this.ofState(state);
    return Colours.of(profile.className(view.tree.context[node.frame]), view.tree.name(node.frame));
  }
  ofState(state) {
    if (!this.states.has(state)) this.states.set(state, stateColour(state));
    return this.states.get(state);
  }
}
