// SPDX-License-Identifier: BSD-3-Clause
// Short labels for boxes. Namespaces that most names of a program begin with are left out. A label
// that is too long loses its arguments, then its outer names, so that what tells functions apart
// is cut last. Tooltips have the full names.

// Namespaces, as "LAMMPS_NS::", of at least half of the names that have any; inner ones first.
function commonNamespaces(p) {
  if (p.namespaces) return p.namespaces;
  const counts = new Map();
  let n = 0;
  for (let f = 0; f < p.functions.n; f++) {
    const [, outer] = p.functionName(f).match(/^(?:[^(<]* )?((?:[A-Za-z_]\w*::)+)/) ?? [];
    if (!outer || outer.startsWith("std::")) continue;
    n++;
    for (let at = 0; (at = outer.indexOf("::", at) + 2) > 1;) {
      const prefix = outer.slice(0, at);
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  p.namespaces = [...counts]
    .filter(([, k]) => k >= 3 && 2 * k >= n)
    .map(([prefix]) => prefix)
    .sort((a, b) => b.length - a.length);
  return p.namespaces;
}
function shortLabel(p, name) {
  for (const prefix of commonNamespaces(p))
    if (name.includes(prefix))
      name = name.replace(new RegExp(`(?<![\\w:])${prefix}(?=[\\w~])`, "g"), "");
  return name;
}
// Without what is in round and angle brackets.
function withoutArguments(label) {
  let out = "",
    depth = 0;
  for (let i = 0; i < label.length; i++) {
    const c = label[i];
    if (c === "(" || (c === "<" && i > 0)) depth++;
    else if (c === ")" || (c === ">" && depth && label[i - 1] !== "-")) depth--;
    else if (depth <= 0) out += c;
  }
  return out.trim() || label;
}
const labelForms = new Map();
// From the longest to the shortest.
function formsOf(label) {
  let forms = labelForms.get(label);
  if (forms) return forms;
  forms = [label];
  const local = label.lastIndexOf(".<locals>."),
    [, library] = label.match(/^<unknown function> (\[.*\])$/) ?? [];
  if (library) forms.push(library);
  else if (local > 0) forms.push(label.slice(local + 10)); // of Python
  else if (!label.includes("operator") && !label.startsWith("<")) {
    let plain = withoutArguments(label.replace(/\(anonymous( namespace)?\)::/g, ""));
    plain = plain.slice(plain.lastIndexOf(" ", plain.indexOf("::")) + 1); // a type may come first
    for (; plain !== forms.at(-1); plain = plain.slice(plain.indexOf("::") + 2)) {
      forms.push(plain);
      if (!plain.includes("::")) break;
    }
  }
  labelForms.set(label, forms);
  return forms;
}

const textWidths = new Map();
function textWidth(g, text) {
  const key = `${g.font}\n${text}`;
  let width = textWidths.get(key);
  if (width === undefined) {
    if (textWidths.size > 20000) textWidths.clear();
    textWidths.set(key, (width = g.measureText(text).width));
  }
  return width;
}
// The longest form of the label that fits into `room` pixels; at last its beginning, or "".
function fitLabel(g, label, room) {
  const forms = formsOf(label),
    form = forms.find(x => textWidth(g, x) <= room);
  if (form !== undefined) return form;
  const last = forms.at(-1),
    most = Math.floor((last.length * room) / textWidth(g, last)) - 1;
  return most >= 2 ? `${last.slice(0, most)}…` : "";
}
