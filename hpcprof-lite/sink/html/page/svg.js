// SPDX-License-Identifier: BSD-3-Clause
// Pictures of views. Canvases are painted once more into SvgContext, which has the part of
// CanvasRenderingContext2D that the painters use; other elements become XHTML in a foreignObject.

class SvgContext {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], stack: [], dash: [], path: "", clips: 0 });
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1 });
    this.font = "12px system-ui, sans-serif";
    this.measure = document.createElement("canvas").getContext("2d");
  }
  setTransform() {} // the picture has the size of the view
  clearRect() {}
  setLineDash(dash) {
    this.dash = dash;
  }
  save() {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, dash } = this;
    this.stack.push({
      values: { fillStyle, strokeStyle, lineWidth, globalAlpha, font, dash },
      clips: this.clips,
    });
  }
  restore() {
    const { values, clips } = this.stack.pop();
    Object.assign(this, values);
    for (; this.clips > clips; this.clips--) this.parts.push("</g>");
  }
  clip() {
    const id = `clip${(SvgContext.clipIds = (SvgContext.clipIds ?? 0) + 1)}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.parts.push(`<g clip-path="url(#${id})">`);
    this.clips++;
  }
  beginPath() {
    this.path = "";
  }
  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }
  lineTo(x, y) {
    this.path += `L${short(x)} ${short(y)}`;
  }
  bezierCurveTo(...at) {
    this.path += `C${at.map(short).join(" ")}`;
  }
  rect(x, y, w, h) {
    this.path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`;
  }
  paint(element, how) {
    const alpha = this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
    this.parts.push(`<${element} ${how}${alpha}/>`);
  }
  lines() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    return `fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${this.lineWidth}"${dash}`;
  }
  stroke() {
    this.paint("path", `d="${this.path}" ${this.lines()}`);
  }
  fill() {
    this.paint("path", `d="${this.path}" fill="${escapeXml(this.fillStyle)}"`);
  }
  box(x, y, w, h) {
    return `x="${short(x)}" y="${short(y)}" width="${short(Math.max(0, w))}" height="${short(h)}"`;
  }
  fillRect(x, y, w, h) {
    this.paint("rect", `${this.box(x, y, w, h)} fill="${escapeXml(this.fillStyle)}"`);
  }
  strokeRect(x, y, w, h) {
    this.paint("rect", `${this.box(x, y, w, h)} ${this.lines()}`);
  }
  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }
  fillText(text, x, y, room) {
    const fit = room && this.measureText(text).width > room,
      size = parseFloat(this.font) || 12;
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" font-size="${size}" dominant-baseline="central"` +
        ` fill="${escapeXml(this.fillStyle)}" opacity="${short(this.globalAlpha)}"` +
        (fit ? ` textLength="${short(room)}" lengthAdjust="spacingAndGlyphs"` : "") +
        `>${escapeXml(text)}</text>`,
    );
  }
}

// A name, not an address: nothing is loaded.
const SVG_NAMESPACE = ["http:", "", "www.w3.org/2000/svg"].join("/");

// While a picture is made: an SvgContext for each canvas that is painted.
let recordedCanvases = null;

function short(x) {
  return Math.round(x * 100) / 100;
}
function escapeXml(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(text).replace(/[&<>"]/g, c => names[c]);
}

// The view as one SVG document. Views with canvases have paintNow().
function pictureOf(view, section) {
  const painted = (recordedCanvases = new Map());
  try {
    view.paintNow?.();
  } finally {
    recordedCanvases = null;
  }
  view.draw(); // on the screen again
  return painted.size ? svgOfCanvases(painted) : svgOfElement(section);
}
function svgDocument(width, height, content) {
  return (
    `<svg xmlns="${SVG_NAMESPACE}" width="${width}" height="${height}"` +
    ` viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">` +
    `<rect width="100%" height="100%" fill="${escapeXml(cssColour("surface"))}"/>${content}</svg>\n`
  );
}
function svgOfCanvases(painted) {
  let y = 0,
    width = 0,
    content = "";
  for (const g of painted.values()) {
    content += `<g transform="translate(0 ${y})">${g.parts.join("")}</g>`;
    y += g.height + 8;
    width = Math.max(width, g.width);
  }
  return svgDocument(width, y, content);
}
function svgOfElement(section) {
  const { width, height } = section.getBoundingClientRect(),
    copy = section.cloneNode(true),
    style = [...document.querySelectorAll("style")].map(s => s.textContent).join("\n");
  const xml = new XMLSerializer().serializeToString(copy),
    root = `data-theme="${document.documentElement.dataset.theme}"`;
  return svgDocument(
    Math.ceil(width),
    Math.ceil(height),
    `<style>${escapeXml(style)}</style><foreignObject width="100%" height="100%">` +
      `<div xmlns="${copy.namespaceURI}" class="picture" ${root}>${xml}</div></foreignObject>`,
  );
}
