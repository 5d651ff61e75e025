// The search field: what it finds stays strong in the picture and stays in the table; Enter, n and N go
// from one to the next.
import { opTextOf } from "./colours.js";
import { matcher, pathOf } from "./why.js";
import { commas } from "./words.js";

const id = (name) => document.getElementById(name);

export class Search {
  constructor(app) {
    Object.assign(this, { app, query: "", found: [], at: -1 });
    id("search").oninput = (event) => this.find(event.target.value, false);
    id("search").onkeydown = (event) => {
      if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
    };
  }

  find(query, intoField = true) {
    const matches = matcher(query), { plan, picture, panels } = this.app;
    Object.assign(this, { query, found: [], at: -1 });
    if (intoField) id("search").value = query;
    picture.matches = matches ? new Uint8Array(plan.n) : null;
    for (let b = 0; matches && b < plan.n; b++) {
      const text = `${plan.names[b] ?? `buffer${b}`}\n${plan.shapeText(b)}\n${opTextOf(plan, b)}\n${plan.className(b)}\n${pathOf(plan, b).join("/")}`;
      picture.matches[b] = matches(text) ? 1 : 0;
      if (picture.matches[b]) this.found.push(b);
    }
    id("count").textContent = matches ? `${commas(this.found.length)} found` : "";
    panels.showAll(matches && this.found);
    picture.paint();
    picture.draw();
  }

  next(by) {
    if (!this.found.length) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    id("count").textContent = `${commas(this.at + 1)} of ${commas(this.found.length)}`;
    this.app.pick(this.found[this.at], false);
  }

  clear() {
    this.find("");
    id("search").blur();
  }
}
