// SPDX-License-Identifier: BSD-3-Clause
// A table or tree of which only the rows on the screen are elements.

const TABLE_ROW = 24,
  LEAST_NAME = 320; // pixels
const MOST_ON_PAPER = 60; // rows
let isPrinting = false;

class Table {
  // columns: see setColumns(). sort: id of a column, "-id": rising. open(row): its children, for
  // trees. onenter(row). menu(row): entries of openMenu(). app and key: State has the sorting as
  // KEY.sort; without them the table keeps it. isMatch(row): the search found it.
  constructor({ columns, label, sort, open, onenter, menu, isMatch, app, key }) {
    Object.assign(this, { firstSort: sort, open, onenter, menu, isMatch, app, key });
    this.current = 0;
    this.opened = new Set(); // ids of rows
    this.rows = [];
    this.head = el("div", { class: "tr head", role: "row" });
    this.body = el("div", { class: "tbody", role: "rowgroup" });
    this.box = el(
      "div",
      { class: "table", role: open ? "treegrid" : "grid", tabindex: "0", "aria-label": label },
      this.head,
      this.body,
    );
    this.box.addEventListener("scroll", () => this.show());
    this.box.addEventListener("keydown", e => this.pressed(e));
    if (columns) this.setColumns(columns);
  }
  // columns: {id, title, hint, width, text(row), value(row), share(row), isText: text reads from
  // the left, isMuted(row): it is grey, note(row): grey text behind it}; one has `wide` and
  // node(row) instead: the name, of `least` to `most` pixels.
  // Where the numbers would push the name out of sight, it comes first and stays. A number may
  // have `least`, too: it gives way where the window is narrow.
  setColumns(columns) {
    columns.forEach((c, i) => {
      c.id ??= String(i);
    });
    const numbers = columns.filter(c => !c.wide),
      taken = numbers.reduce((sum, c) => sum + (c.width ?? 96), 0),
      isNameFirst = taken > (this.box.clientWidth || innerWidth) - LEAST_NAME;
    this.columns = isNameFirst ? [...columns.filter(c => c.wide), ...numbers] : columns;
    columns = this.columns;
    this.box.classList.toggle("name-first", isNameFirst);
    const room = c => c.least ?? (c.wide ? LEAST_NAME : (c.width ?? 96)),
      most = c => (c.wide ? (c.most ? `${c.most}px` : "1fr") : `${c.width ?? 96}px`),
      widths = columns.map(c => `minmax(${room(c)}px, ${most(c)})`);
    this.box.style.setProperty("--columns", widths.join(" "));
    this.box.style.setProperty("--least", `${columns.reduce((sum, c) => sum + room(c), 0)}px`);
  }
  // {column, sign}: -1 for falling.
  get sorting() {
    const text = (this.key && this.app.state.get(`${this.key}.sort`)) || this.ownSort || this.firstSort,
      id = String(text ?? 1).replace(/^-/, ""),
      column = this.columns.find(c => c.id === id && c.value) ?? this.columns.find(c => c.value);
    return { column, sign: String(text).startsWith("-") ? 1 : -1 };
  }
  sortBy(column) {
    if (!column.value) return;
    const { column: old, sign } = this.sorting,
      text = old === column && sign < 0 ? `-${column.id}` : column.id;
    if (this.key) {
      this.app.state.set({ [`${this.key}.sort`]: text === this.firstSort ? "" : text });
    } else {
      this.ownSort = text;
      this.setRows(this.rows);
    }
  }
  drawHead() {
    const { column, sign } = this.sorting,
      focused = [...this.head.children].indexOf(document.activeElement);
    this.head.replaceChildren(
      ...this.columns.map(c =>
        el(
          "button",
          {
            type: "button",
            role: "columnheader",
            title: c.hint ?? c.title,
            class: c.wide ? "wide" : c.isText ? "words" : "number",
            disabled: !c.value,
            "aria-sort": c === column ? (sign > 0 ? "ascending" : "descending") : "none",
            onclick: () => this.sortBy(c),
          },
          el("span", {}, c.title),
          c === column ? el("i", { "aria-hidden": "true" }, sign > 0 ? "▲" : "▼") : "",
        ),
      ),
    );
    this.head.children[focused]?.focus();
  }
  order(rows) {
    const { column, sign } = this.sorting;
    if (!column) return rows;
    return [...rows].sort((a, b) => sign * (column.value(a) - column.value(b)) || a.id - b.id);
  }
  // rows: objects with a unique id.
  setRows(rows) {
    this.rows = rows;
    this.flat = [];
    const add = (list, depth) => {
      for (const row of this.order(list)) {
        row.depth = depth;
        this.flat.push(row);
        if (this.open && this.opened.has(row.id)) add(this.open(row), depth + 1);
      }
    };
    add(rows, 0);
    this.current = Math.max(0, Math.min(this.current, this.flat.length - 1));
    this.drawHead();
    this.show();
  }
  show() {
    this.paper?.remove();
    this.head.hidden = this.body.hidden = isPrinting;
    if (isPrinting) {
      this.paper = this.makePaper();
      this.box.append(this.paper);
      return;
    }
    const top = Math.max(0, Math.floor(this.box.scrollTop / TABLE_ROW) - 8);
    const n = Math.ceil((this.box.clientHeight || 600) / TABLE_ROW) + 16;
    this.body.style.height = `${this.flat.length * TABLE_ROW}px`;
    this.body.replaceChildren(
      ...this.flat.slice(top, top + n).map((row, i) => this.makeRow(row, top + i)),
    );
    this.box.setAttribute("aria-rowcount", this.flat.length);
  }
  // The first rows as a table whose head is on every page. Columns without a value are left out.
  makePaper() {
    const rows = this.flat.slice(0, MOST_ON_PAPER),
      more = this.flat.length - rows.length,
      columns = this.columns.filter(c => c.wide || rows.some(r => c.value(r) || c.hasZero?.(r)));
    return el(
      "div",
      { class: "paper" },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...columns.map(c => el("th", { class: c.wide || c.isText ? "wide" : null }, c.title)))),
        el(
          "tbody",
          {},
          ...rows.map(row =>
            el(
              "tr",
              {},
              ...columns.map(c =>
                el("td", {}, c.wide ? this.nameCell(c, row) : this.numberCell(c, row)),
              ),
            ),
          ),
        ),
      ),
      more > 0 ? el("p", { class: "note" }, `${plural(more, "more row")}.`) : null,
    );
  }
  nameCell(c, row) {
    const kids = this.open ? this.open(row).length : 0;
    return el(
      "div",
      {
        role: "gridcell",
        class: "wide",
        style: this.open ? `padding-left:${6 + Math.min(row.depth, 40) * 10}px` : null,
      },
      this.open
        ? el(
            "span",
            { class: "twist", "aria-hidden": "true" },
            kids ? (this.opened.has(row.id) ? "▾" : "▸") : "",
          )
        : null,
      c.node(row),
      this.menu
        ? el(
            "button",
            {
              type: "button",
              class: "more",
              tabindex: "-1",
              title: "More (M)",
              onclick: e => {
                e.stopPropagation();
                this.showMenu(row, e.currentTarget);
              },
            },
            "⋯",
          )
        : null,
    );
  }
  numberCell(c, row) {
    const value = c.value?.(row),
      isShown = value || c.hasZero?.(row),
      isMuted = isShown && c.isMuted?.(row),
      share = isMuted ? 0 : (c.share?.(row) ?? 0);
    return el(
      "div",
      {
        role: "gridcell",
        class: c.isText ? "words" : c.quiet || isMuted ? "number quiet" : "number",
        style: share > 0 ? `--share:${(100 * Math.min(1, share)).toFixed(1)}%` : null,
      },
      isShown ? c.text(row) : "",
      isShown && c.note ? el("span", { class: "quiet" }, ` ${c.note(row)}`) : null,
    );
  }
  makeRow(row, i) {
    const isCurrent = i === this.current,
      isMatch = this.isMatch?.(row);
    return el(
      "div",
      {
        role: "row",
        class: `tr${isCurrent ? " current" : ""}${isMatch ? " match" : ""}`,
        "aria-rowindex": i + 1,
        "aria-level": this.open ? row.depth + 1 : null,
        "aria-expanded":
          this.open && this.open(row).length ? String(this.opened.has(row.id)) : null,
        style: `top:${i * TABLE_ROW}px`,
        onclick: () => {
          this.current = i;
          this.toggle(row);
          this.onchoose?.(row);
        },
        ondblclick: () => this.onenter?.(row),
        oncontextmenu: e => {
          if (!this.menu) return;
          e.preventDefault();
          this.current = i;
          openMenu(e, this.menu(row));
        },
      },
      ...this.columns.map(c => (c.wide ? this.nameCell(c, row) : this.numberCell(c, row))),
    );
  }
  showMenu(row, element) {
    const box = element.getBoundingClientRect();
    openMenu({ clientX: box.left, clientY: box.bottom }, this.menu(row));
  }
  toggle(row) {
    if (this.open && this.open(row).length) {
      if (!this.opened.delete(row.id)) this.opened.add(row.id);
      this.ontoggle?.();
      this.setRows(this.rows);
    } else {
      this.show();
    }
  }
  // Opens the largest callee of each opened row, as far as it has most of the value.
  openHotPath(share) {
    let list = this.order(this.rows);
    for (let i = 0; list.length && i < 60; i++) {
      if (share(list[0]) < 0.35) break;
      this.opened.add(list[0].id);
      list = this.order(this.open(list[0]));
    }
    this.setRows(this.rows);
  }
  // Makes a row the current one, in the middle of the box.
  showRow(test) {
    const i = this.flat.findIndex(test);
    if (i < 0) return;
    this.current = i;
    this.box.scrollTop = i * TABLE_ROW - this.box.clientHeight / 2;
    this.show();
    announce(this.body.querySelector(".current")?.textContent ?? "");
  }
  move(step) {
    this.current = Math.max(0, Math.min(this.flat.length - 1, this.current + step));
    const y = this.current * TABLE_ROW,
      height = this.box.clientHeight - TABLE_ROW - this.head.offsetHeight;
    if (y < this.box.scrollTop) this.box.scrollTop = y;
    if (y > this.box.scrollTop + height) this.box.scrollTop = y - height;
    this.show();
    announce(this.body.querySelector(".current")?.textContent ?? "");
  }
  pressed(e) {
    const row = this.flat?.[this.current];
    if (!row || e.target !== this.box || e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / TABLE_ROW) - 2);
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -1e9,
      End: 1e9,
    };
    const isOpen = this.opened.has(row.id);
    if (e.key in steps) this.move(steps[e.key]);
    else if (
      this.open &&
      ((e.key === "ArrowRight" && !isOpen) || (e.key === "ArrowLeft" && isOpen))
    )
      this.toggle(row);
    else if (e.key === "Enter" && this.onenter) this.onenter(row);
    else if (e.key === "m" && this.menu)
      this.showMenu(row, this.body.querySelector(".current .wide") ?? this.box);
    else return;
    e.preventDefault();
  }
}
