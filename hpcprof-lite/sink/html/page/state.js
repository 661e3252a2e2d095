// SPDX-License-Identifier: BSD-3-Clause
// What the reader chose: texts by key, in the hash of the address: #VIEW&KEY=TEXT&KEY=TEXT. A link
// shows the same again, and Back undoes. Views keep nothing else that a reader can change.

const MERGE_MS = 700; // changes of the same keys within this time are one step of the history

class State {
  // changed(keys): a Set of the keys whose texts are new.
  constructor(changed) {
    this.changed = changed;
    this.values = State.parse(location.hash);
    this.steps = 0; // of this page in the history, before the current one
    this.last = { keys: "", at: 0 };
    this.keep("replaceState", this.values);
    addEventListener("popstate", e => {
      this.steps = e.state?.steps ?? 0;
      this.last.at = 0;
      this.replace(State.parse(location.hash));
    });
  }
  static parse(hash) {
    const values = new Map(),
      [view, ...rest] = hash.replace(/^#/, "").split("&");
    if (view) values.set("view", view);
    for (const part of rest) {
      const [key, text] = part.split("=", 2);
      try {
        if (key && text) values.set(key, decodeURIComponent(text));
      } catch {
        // not from here: what cannot be read is left out
      }
    }
    return values;
  }
  hash(values = this.values) {
    const rest = [...values].filter(([key]) => key !== "view").sort();
    // Characters that may stand in a hash as they are.
    const plain = text => encodeURIComponent(text).replace(/%(2C|3A|2F)/g, x => decodeURIComponent(x));
    return `#${[values.get("view") ?? "", ...rest.map(([k, v]) => `${k}=${plain(v)}`)].join("&")}`;
  }
  get(key, fallback = "") {
    return this.values.get(key) ?? fallback;
  }
  number(key, fallback) {
    const text = this.values.get(key);
    return text === undefined || !Number.isFinite(+text) ? fallback : +text;
  }
  // changes: text by key; "" or null: as at first.
  set(changes) {
    const next = new Map(this.values);
    for (const [key, text] of Object.entries(changes))
      if (text === "" || text == null) next.delete(key);
      else next.set(key, String(text));
    if (!this.differing(next).size) return;
    const keys = Object.keys(changes).sort().join(),
      isMerged = keys === this.last.keys && performance.now() - this.last.at < MERGE_MS;
    if (!isMerged) this.steps++;
    this.last = { keys, at: performance.now() };
    this.keep(isMerged ? "replaceState" : "pushState", next);
    this.replace(next);
  }
  // Pages in a mail's preview have no history; the rest works there, too.
  keep(how, values) {
    try {
      history[how]({ steps: this.steps }, "", this.hash(values));
    } catch {
      this.steps = 0;
    }
  }
  undo() {
    if (this.steps > 0) history.back();
  }
  redo() {
    history.forward();
  }
  // Everything as at first, but the view.
  reset() {
    this.set(Object.fromEntries([...this.values.keys()].filter(k => k !== "view").map(k => [k, ""])));
  }
  differing(next) {
    const keys = new Set([...this.values.keys(), ...next.keys()]);
    for (const key of keys) if (this.values.get(key) === next.get(key)) keys.delete(key);
    return keys;
  }
  replace(next) {
    const keys = this.differing(next);
    this.values = next;
    if (keys.size) this.changed(keys);
  }
}

// Sets of numbers as "0-3,7", in both directions.
function formatSet(set) {
  const list = [...set].sort((a, b) => a - b),
    parts = [];
  for (let i = 0; i < list.length; i++) {
    const first = list[i];
    while (list[i + 1] === list[i] + 1) i++;
    parts.push(list[i] > first ? `${first}-${list[i]}` : first);
  }
  return parts.join();
}
// Numbers of at least `end` are left out.
function parseSet(text, end) {
  const set = new Set();
  for (const part of text.split(",")) {
    const [, first, last] = part.match(/^(\d+)(?:-(\d+))?$/) ?? [];
    for (let i = +first; i <= Math.min(+(last ?? first), end - 1); i++) set.add(i);
  }
  return set;
}
// A range of numbers as "1.5-2", in both directions; null if it is none.
function formatRange(range) {
  const text = x => String(Math.round(x * 1000) / 1000);
  return range ? `${text(range[0])}-${text(range[1])}` : "";
}
function parseRange(text) {
  const [, from, to] = text.match(/^([\d.]+)-([\d.]+)$/) ?? [];
  return +from < +to ? [+from, +to] : null;
}
