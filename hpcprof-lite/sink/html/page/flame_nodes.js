// SPDX-License-Identifier: BSD-3-Clause
// The nodes of flame graphs, made when they are first asked for. A node stands for frames of the
// tree: {frame: one of them, of: those whose values it adds up, at: for nodes of callers, the
// callers of these, parent, value}.

class FlameNodes {
  // kind: "down", "up" (callees first), or "both": the callers and callees of function `fn`.
  constructor(tree, values, kind, fn) {
    Object.assign(this, { tree, values, kind });
    const { self, total } = values;
    this.weights = kind === "up" ? self : total;
    this.whole = total[0];
    if (kind === "both") {
      const of = this.outermost(fn);
      this.root = this.node(of, null, null);
      this.callers = this.node(of, of, null);
    } else if (kind === "up") {
      const of = [];
      for (let f = 1; f < self.length; f++) if (self[f] > 0) of.push(f);
      this.root = { ...this.node(of, null, null), frame: 0, value: total[0] };
    } else {
      this.root = this.node([0], null, null);
    }
  }
  node(of, at, parent) {
    let value = 0;
    for (const f of of) value += this.weights[f];
    return { frame: (at ?? of)[0] ?? 0, of, at, parent, value };
  }
  // Frames of the function that no other frame of it calls, so that recursion counts once.
  outermost(fn) {
    const { tree } = this,
      p = tree.profile,
      inside = new Uint8Array(tree.n),
      out = [];
    for (let f = 1; f < tree.n; f++) {
      const c = tree.context[f];
      inside[f] = inside[tree.parent[f]];
      if (inside[f] || p.kind[c] !== CONTEXT_FUNCTION || p.fn[c] !== fn) continue;
      inside[f] = 1;
      out.push(f);
    }
    return out;
  }
  // What makes frames the same: a function, called or inlined if top-down; else the name.
  keyOf(frame) {
    const p = this.tree.profile,
      c = this.tree.context[frame];
    if (p.kind[c] !== CONTEXT_FUNCTION) return p.name(c);
    return this.kind === "down" && p.relation[c] === INLINED ? `${p.fn[c]} inlined` : p.fn[c];
  }
  // From the largest to the smallest.
  childrenOf(node) {
    if (node.children) return node.children;
    const groups = new Map(),
      isUp = this.kind === "up" || node.at;
    const add = (frame, of, at) => {
      if (!(this.weights[of] > 0)) return;
      const key = this.keyOf(frame);
      let g = groups.get(key);
      if (!g) groups.set(key, (g = { of: [], at: isUp ? [] : null }));
      g.of.push(of);
      if (isUp) g.at.push(at);
    };
    if (!isUp) for (const f of node.of) for (const k of this.tree.children(f)) add(k, k, k);
    else if (!node.at) for (const f of node.of) add(f, f, f);
    else
      node.of.forEach((f, i) => {
        const up = this.tree.parent[node.at[i]];
        if (up) add(up, f, up);
      });
    return (node.children = [...groups.values()]
      .map(g => this.node(g.of, g.at, node))
      .sort((a, b) => b.value - a.value || a.frame - b.frame));
  }
  // What counts in the frames of the node itself; a node of callers has none.
  selfOf(node) {
    return node.at ? 0 : node.of.reduce((sum, f) => sum + this.values.self[f], 0);
  }
  // The same sum over other numbers by frame: {self, total}.
  sumOf(node, { self, total }) {
    const from = this.kind === "up" ? self : total;
    if (this.kind === "up" && !node.parent) return total[0];
    let sum = 0;
    for (const f of node.of) sum += from[f];
    return sum;
  }
  // The node that a path of contexts leads to, as far as it exists.
  find(node, contexts) {
    for (const c of contexts) {
      const key = this.keyOf(this.tree.of[c] ?? 0),
        next = this.childrenOf(node).find(k => this.keyOf(k.frame) === key);
      if (!next) break;
      node = next;
    }
    return node;
  }
  // One context for each node from the root's child on.
  path(node) {
    const contexts = [];
    for (let at = node; at.parent; at = at.parent) contexts.unshift(this.tree.context[at.frame]);
    return contexts;
  }
  isBelow(node, above) {
    for (let at = node; at; at = at.parent) if (at === above) return true;
    return false;
  }
}

// Boxes of a node and what is below it: {node, x, w, depth}, from left to right in each depth.
// Boxes that are too small to see are left out. Stacks may be thousands of frames deep.
function layFlame(nodes, node, width, depth, step) {
  const boxes = [],
    stack = [{ node, x: 0, w: width, depth }];
  while (stack.length) {
    const box = stack.pop();
    boxes.push(box);
    const kids = nodes.childrenOf(box.node),
      below = [];
    let x = box.x;
    for (const kid of kids) {
      const w = (box.w * kid.value) / box.node.value;
      if (w < 0.6) break; // the others are smaller
      below.push({ node: kid, x, w, depth: box.depth + step });
      x += w;
    }
    while (below.length) stack.push(below.pop());
  }
  return boxes;
}
