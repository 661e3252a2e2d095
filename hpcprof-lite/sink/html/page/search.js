// SPDX-License-Identifier: BSD-3-Clause
// One search for all views. A view has findMatches(), a list of what matches in its order, and
// showMatch(match); views of text alone have neither, and their text is searched. Nothing is hidden.

class Search {
  constructor(app) {
    this.app = app;
    this.field = document.getElementById("search");
    this.said = document.getElementById("matches");
    this.matches = [];
    this.at = -1;
    this.field.addEventListener("input", () => app.state.set({ q: this.field.value }));
    this.field.addEventListener("keydown", e => {
      if (e.key === "Enter") this.step(e.shiftKey ? -1 : 1);
      else if (e.key === "Escape") {
        app.state.set({ q: "" });
        this.field.blur();
      }
    });
    document.getElementById("previous").addEventListener("click", () => this.step(-1));
    document.getElementById("next").addEventListener("click", () => this.step(1));
    this.read();
  }
  // A regular expression, or plain text where it is none.
  read() {
    const text = this.app.state.get("q");
    if (this.field.value !== text) this.field.value = text;
    this.at = -1;
    try {
      this.expression = text ? new RegExp(text, "i") : null;
    } catch {
      this.expression = new RegExp(escapeRegExp(text), "i");
    }
  }
  get isOn() {
    return !!this.expression;
  }
  test(text) {
    return !!this.expression && this.expression.test(text);
  }
  // Finds the matches of the view on the screen.
  count() {
    const { view, section } = this.app.views[this.app.current];
    if (this.counted !== this.app.current) this.at = -1;
    this.counted = this.app.current;
    CSS.highlights?.delete("match");
    CSS.highlights?.delete("current-match");
    this.matches = !this.isOn ? [] : (view?.findMatches?.() ?? this.findText(section));
    this.at = Math.min(this.at, this.matches.length - 1);
    this.say();
  }
  say() {
    const n = this.matches.length;
    for (const id of ["previous", "next"]) document.getElementById(id).disabled = n === 0;
    this.said.textContent = !this.isOn
      ? ""
      : n === 0
        ? "none"
        : this.at < 0
          ? plural(n, "match", "matches")
          : `${count(this.at + 1)} of ${count(n)}`;
  }
  step(step) {
    const n = this.matches.length;
    if (!n) return;
    this.at = this.at < 0 && step < 0 ? n - 1 : (this.at + step + n) % n;
    const { view } = this.app.views[this.app.current],
      match = this.matches[this.at];
    if (match instanceof Range) this.showText(match);
    else view.showMatch(match);
    this.say();
  }

  // ---- views of text ----

  findText(section) {
    const found = [],
      walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT),
      all = new RegExp(this.expression.source, "gi");
    while (walker.nextNode() && found.length < 10000)
      for (const { index, 0: text } of walker.currentNode.data.matchAll(all)) {
        if (!text) continue;
        const range = document.createRange();
        range.setStart(walker.currentNode, index);
        range.setEnd(walker.currentNode, index + text.length);
        found.push(range);
      }
    if (CSS.highlights) CSS.highlights.set("match", new Highlight(...found));
    return found;
  }
  showText(range) {
    const parent = range.startContainer.parentElement;
    for (let at = parent; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    parent?.scrollIntoView({ block: "center" });
    if (CSS.highlights) CSS.highlights.set("current-match", new Highlight(range));
    announce(parent?.textContent ?? "");
  }
}
