// SPDX-License-Identifier: BSD-3-Clause
// The list of keys, and pictures to take along.

const KEYS = [
  ["1 to 9", "the views, from left to right"],
  ["/", "search; Enter and Shift+Enter: next and previous match; Esc ends it"],
  ["Ctrl+P", "print every view"],
  ["Ctrl+Z, Back", "undo; Ctrl+Shift+Z, Forward: redo"],
  ["?", "this list"],
  ["Tables: ↑ ↓ ← →", "choose a row, open and close it; Enter: flame graph; M: menu of the row"],
  ["Flame graph: arrows", "choose a frame; Enter zooms, Esc zooms out; M: menu of the frame"],
  ["Flame graph: B, C, H, S", "callers and callees, copy the path, hide this name, show source"],
  ["Time lines: ← →, + −, 0", "move, zoom, show all"],
  ["Time lines: ↑ ↓, Home, End", "choose a row; Space selects it, Shift+Space the rows between"],
  ["Time lines: , and .", "the state before and after of the chosen row; M: menu of it"],
  ["Time lines: O, P", "open or close the row, pin it to the top"],
  ["Time lines: Enter, Esc", "select the visible time, clear the selection"],
  ["Call stack: arrows", "choose a frame; Enter or M: menu of the frame"],
  ["GPU kernels: Enter, M", "the card of the row; its menu"],
  ["Source: Tab, ↑ ↓, Enter", "lines or instructions; choose one, and show it on the other side"],
];

// Views whose numbers are of the metric in the bar.
const OF_ONE_METRIC = ["flame", "tree", "tables", "source", "threads"];

function showHelp() {
  const dialog = el(
    "dialog",
    { class: "help", "aria-label": "Keys", onclose: () => dialog.remove() },
    el("h2", {}, "Keys"),
    el(
      "dl",
      { class: "facts tall" },
      ...KEYS.map(([keys, what]) => el("div", {}, el("dt", {}, keys), el("dd", {}, what))),
    ),
    el(
      "p",
      { class: "quiet" },
      "The address has all that you chose. A copied link shows the same in another browser.",
    ),
    el("form", { method: "dialog" }, el("button", {}, "Close")),
  );
  document.body.append(dialog);
  dialog.showModal();
}

// Paper shows every view, each with its title and metric, in light colours and with all details
// open, as the reader cannot open them.
let openedForPrint = null; // the details, and whether the theme is dark
function showAllForPrint(app, on) {
  if (on === isPrinting) return;
  isPrinting = on;
  if (on) openedForPrint = { isDark: isDark(), details: [] };
  showTheme(!on && openedForPrint.isDark);
  Colours.reset();
  const metric = app.profile.metrics[app.metric] ? metricWords(app.profile, app.metric, true) : "";
  for (const [id, v] of Object.entries(app.views)) {
    v.section.hidden = !on && id !== app.current;
    if (!on) continue;
    if (OF_ONE_METRIC.includes(id)) v.section.dataset.metric = `: ${metric}`;
    app.draw(id);
    v.view?.paintNow?.(); // not in the next frame, which is after the printing
  }
  if (on) openedForPrint.details = [...document.querySelectorAll("main details:not([open], .chooser)")];
  for (const details of openedForPrint.details) details.open = on;
  if (!on) app.redraw();
}

// Saves the view as SVG: canvases are drawn again by their painters, text as it is.
function savePicture(app) {
  const { view, section } = app.views[app.current];
  const svg = pictureOf(view, section);
  const link = el("a", {
    href: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })),
    download: `${baseName(app.profile.str(app.profile.meta.title)) || "report"}-${app.current}.svg`,
  });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say("the picture is saved");
}
