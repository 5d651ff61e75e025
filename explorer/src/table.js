// A table that can be sorted, of which the first rows are shown. Each row's first cell
// is a button, so that the keyboard reaches what the pointer reaches.
import { asCsv, asMarkdown } from "./why.js";

const MOST_ROWS = 500;

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("aria") || key === "scope" || key === "role") made.setAttribute(key.replace(/^aria(?=[A-Z])/, "aria-").toLowerCase(), value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

export class Table {
  // columns: {title, text(row), number?, key?(row) to sort by, plain?(row) for CSV, draw?(row) a node}
  // Those without a title only draw, and are neither sorted nor copied.
  constructor(host, { caption, columns, onPick, onCopy }) {
    Object.assign(this, { columns, onPick, sortedBy: -1, down: false, rows: [] });
    this.head = element("tr");
    this.body = element("tbody");
    this.note = element("p", { className: "note" });
    this.table = element("table", {}, element("caption", { textContent: caption }),
      element("thead", {}, this.head), this.body);
    const copy = (name, make) => element("button", { type: "button", textContent: `Copy as ${name}`,
      onclick: () => onCopy(make(this.columns.filter((column) => column.title), this.chosen())) });
    host.replaceChildren(element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: caption }, this.table),
      this.note, element("p", { className: "tools" }, copy("Markdown", asMarkdown), copy("CSV", asCsv)));
    columns.forEach((column, i) => this.head.append(this.heading(column, i)));
  }

  heading(column, i) {
    if (!column.title) return element("td");
    const button = element("button", { type: "button", textContent: column.title, onclick: () => this.sortBy(i) });
    return element("th", { scope: "col", className: column.number ? "number" : "" }, button);
  }

  sortBy(i) {
    this.down = this.sortedBy === i ? !this.down : Boolean(this.columns[i].number);
    this.sortedBy = i;
    this.show();
  }

  // Rows as they are given unless the user has sorted.
  set(rows) {
    this.rows = rows;
    this.show();
  }

  chosen() {
    if (this.sortedBy < 0) return this.rows;
    const column = this.columns[this.sortedBy], key = column.key ?? column.text;
    const sign = this.down ? -1 : 1;
    return [...this.rows].sort((a, b) => {
      const x = key(a), y = key(b);
      return x === y ? 0 : (x < y ? -1 : 1) * sign;
    });
  }

  show() {
    const rows = this.chosen();
    [...this.head.children].forEach((th, i) => {
      if (this.columns[i].title) th.setAttribute("aria-sort", i !== this.sortedBy ? "none" : this.down ? "descending" : "ascending");
    });
    this.body.replaceChildren(...rows.slice(0, MOST_ROWS).map((row) => this.line(row)));
    this.note.textContent = rows.length > MOST_ROWS
      ? `The first ${MOST_ROWS} of ${rows.length}; search for others.` : "";
  }

  line(row) {
    return element("tr", {}, ...this.columns.map((column, i) => {
      const text = String(column.text(row)), number = column.number ? "number" : "";
      if (column.draw) return element("td", { className: "drawn" }, column.draw(row));
      if (i) return element("td", { className: number, textContent: text });
      const button = element("button", { type: "button", textContent: text, onclick: () => this.onPick(row) });
      return element("th", { scope: "row", className: number }, button);
    }));
  }
}
