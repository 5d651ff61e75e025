// The page: reads the data, draws the picture and the tables, and ties keys, buttons and links to them.
import { Overview } from "./overview.js";
import { Panels } from "./panels.js";
import { Picture } from "./picture.js";
import { Plan } from "./model.js";
import { Pointers } from "./pointer.js";
import { THEMES, WAYS, opTextOf } from "./colours.js";
import { asPng, download, svgOf } from "./save.js";
import { commas, inUnits, percent, shown } from "./words.js";
import { showWays } from "./ways.js";
import { element } from "./table.js";
import { changesOf } from "./compare.js";
import { matcher } from "./why.js";
import { Variants } from "./variants.js";
import { WhatIf } from "./whatif.js";
import { reachOf, unusedOf } from "./waste.js";
import { readLink, writeLink } from "./link.js";
import { showCard } from "./card.js";
import { moved, zoomed } from "./viewport.js";

const PICTURE_HEIGHT = 560, STRIP_HEIGHT = 56, SETTLED_MS = 300, LANE_HEIGHT = 110;
const id = (name) => document.getElementById(name);

class App {
  constructor(data) {
    if (data.schema !== "arenaut.page/1") throw new Error(`this page cannot show ${data.schema}`);
    this.data = data;
    this.variants = data.variants;
    this.before = this.variants.find(({ name }) => name === "before")?.plan ?? -1;
    this.plans = new Map();
    this.found = [];
    this.picture = new Picture(id("base"), id("over"));
    this.overview = new Overview(id("strip"), this.picture);
    this.picture.onDrawn = () => this.drawn();
    this.panels = new Panels(this);
    this.sideBySide = new Variants(this);
    showWays(data.ways, (text) => this.copy(text));
    this.whatIf = new WhatIf(this, id("planner").textContent.trim());
    new Pointers(this.picture, { onHover: (b) => this.hover(b), onClick: (x, y) => this.click(x, y) });
    this.followTheme();
    this.fillControls();
    addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(id("stage"));
    addEventListener("hashchange", () => { if (location.hash.slice(1) !== this.link) this.follow(readLink(location.hash)); });
  }

  start() {
    const said = readLink(location.hash);
    if (this.before >= 0) this.compare();
    this.showPlan(said.plan ?? 0);
    if (this.data.steps && !said.view) said.view = this.viewOf(this.data.steps);
    this.follow(said);
  }

  viewOf([first, end]) {
    const { origin } = this.plan;
    return { x0: Number(BigInt(first) - origin), x1: Number(BigInt(end) - origin), y0: 0, y1: 1 };
  }

  // ---- plans ----

  planAt(index) {
    if (!this.plans.has(index)) this.plans.set(index, new Plan(this.data.plans[index]));
    return this.plans.get(index);
  }

  // A plan that was made here stands behind those of the page, until there is another or none.
  addPlan(index, data, plan) {
    this.data.plans[index] = data;
    this.plans.set(index, plan);
    this.fillPlans();
    this.showPlan(index);
  }

  dropPlan(index, shown_) {
    this.data.plans.length = index;
    this.plans.delete(index);
    this.fillPlans();
    this.showPlan(shown_);
  }

  planName(index) {
    if (index === this.whatIf.own) return "what if";
    const variant = this.variants.find(({ plan }) => plan === index);
    return shown(variant?.name ?? (this.before >= 0 ? "after" : "planned"), 60);
  }

  compare() {
    const before = this.planAt(this.before), after = this.planAt(0);
    this.changes = changesOf(before, after);
    before.change = new Array(before.n).fill("went");
    after.change = new Array(after.n);
    for (const { kind, a, b } of this.changes) {
      if (a >= 0) before.change[a] = kind;
      if (b >= 0) after.change[b] = kind;
    }
    this.panels.showChanges();
  }

  showPlan(k) {
    const index = this.data.plans[k] ? k : 0;
    const { pinned } = this.picture, names = this.plan?.names;
    this.planIndex = index;
    this.plan = this.planAt(index);
    id("plan").value = String(index);
    this.resize();
    this.picture.show(this.plan);
    this.picture.goTo(this.plan.peakStep);
    this.showFigures();
    this.showLegend();
    this.panels.all.filter = null;
    this.panels.showPlan();
    this.find(this.query ?? "");
    this.whatIf.showPlan();
    this.sideBySide.show();
    this.laterShowWaste();
    const again = pinned < 0 ? -1 : this.plan.names === names ? pinned : this.plan.names.indexOf(names[pinned]);
    if (again >= 0) this.pick(again, false);
    else {
      this.pin(-1);
      this.stepChanged();
    }
  }

  showFigures() {
    const { plan } = this, d = plan.data, waste = BigInt(d.arena) - BigInt(d.needed) - BigInt(d.behind);
    const facts = [["arena", `${commas(d.arena)} bytes (${inUnits(d.arena)})`],
      ["bound", d.quality === "optimal" ? "reached: proven minimal" : `${commas(d.bound)} bytes`],
      ["peak", `${commas(d.peak.live)} bytes at ${plan.stepLabel(plan.peakStep)}`],
      ["above the need", waste > 0n ? `${commas(waste)} bytes (${percent(waste, d.arena)})` : "nothing"]];
    if (d.today) facts.push(["now", `${commas(d.today.arena)} bytes (${shown(d.today.planner ?? "")})`]);
    facts.push(["planner", shown(d.planner ?? "unknown")], ["buffers", commas(plan.n)]);
    if (d.target) facts.push(["runtime", shown(d.target)]);
    if (d.kernels) facts.push(["only for the kernels", shown(d.kernels)]);
    if (d.scratch === "unknown") facts.push(["scratch", "unknown, and may move the peak"]);
    id("title").textContent = shown(plan.file);
    id("figures").replaceChildren(...facts.map(([title, text]) =>
      element("div", {}, element("dt", { textContent: title }), element("dd", { textContent: text }))));
  }

  // After the first picture, for which it is not needed.
  laterShowWaste() {
    const { plan } = this;
    setTimeout(() => {
      if (plan !== this.plan) return;
      plan.reach ??= reachOf(plan);
      const { unused, holes } = unusedOf(plan, plan.reach), arena = plan.data.arena, bytes = (n) => `${inUnits(Math.round(n))} (${percent(n, arena)})`;
      id("waste").textContent = plan.range ? `Over all steps, ${bytes(unused)} of the arena is unused on average, of which ${bytes(holes)} lies in holes below what is in use.` : "";
      this.picture.draw();
    });
  }

  showLegend() {
    id("legend").replaceChildren(...this.picture.legend.map(({ text, colour }) => {
      const swatch = element("span", { className: "swatch" });
      swatch.style.background = colour;
      return element("li", {}, swatch, shown(text, 60));
    }), ...(this.picture.shared.length ? [element("li", { textContent: "hatched: operand and result at once" })] : []),
    ...(this.picture.rectangles.depth ? [element("li", { textContent: "dotted: inside another buffer" })] : []),
    element("li", { textContent: "strong: alive at the cursor" }));
  }

  // ---- controls ----

  fillControls() {
    const ways = Object.keys(WAYS).filter((way) => way !== "change" || this.before >= 0);
    id("colour").replaceChildren(...ways.map((way) => element("option", { value: way, textContent: way })));
    id("colour").onchange = (event) => this.colourBy(event.target.value);
    this.fillPlans();
    id("plan").onchange = (event) => this.showPlan(Number(event.target.value));
    id("search").oninput = (event) => this.find(event.target.value, false);
    id("search").onkeydown = (event) => {
      if (event.key === "Enter") this.nextFound(event.shiftKey ? -1 : 1);
    };
    const actions = { fit: () => this.picture.fit(), peak: () => this.toPeak(), link: () => this.copy(location.href),
      png: () => asPng(this.picture, `${this.plan.file}.png`), help: () => this.help(),
      svg: () => download(new Blob([svgOf(this.picture)], { type: "image/svg+xml" }), `${this.plan.file}.svg`) };
    for (const [name, act] of Object.entries(actions)) id(name).onclick = act;
    for (const close of document.querySelectorAll("dialog .close")) close.onclick = () => close.closest("dialog").close();
  }

  fillPlans() {
    id("plan").replaceChildren(...this.data.plans.map((plan, k) =>
      element("option", { value: String(k), textContent: `${this.planName(k)}: ${inUnits(plan.arena)}` })));
    id("plans").hidden = this.data.plans.length < 2;
  }

  colourBy(way) {
    if (!WAYS[way] || (way === "change" && this.before < 0)) return;
    id("colour").value = way;
    this.picture.colourBy(way);
    this.showLegend();
    this.picture.draw();
  }

  help() {
    const dialog = id("keys");
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  copy(text) {
    const offer = () => {
      id("text").value = text;
      id("copied").showModal();
      id("text").select();
    };
    if (!navigator.clipboard) offer();
    else navigator.clipboard.writeText(text).then(() => this.announce("Copied."), offer);
  }

  announce(text) { id("status").textContent = text; }

  // ---- search ----

  find(query, intoField = true) {
    const matches = matcher(query), { plan, picture } = this;
    this.query = query;
    this.found = [];
    if (intoField) id("search").value = query;
    picture.matches = matches ? new Uint8Array(plan.n) : null;
    for (let b = 0; matches && b < plan.n; b++) {
      const text = `${plan.names[b] ?? `buffer${b}`}\n${plan.shapeText(b)}\n${opTextOf(plan, b)}\n${plan.className(b)}`;
      picture.matches[b] = matches(text) ? 1 : 0;
      if (picture.matches[b]) this.found.push(b);
    }
    this.at = -1;
    id("count").textContent = matches ? `${commas(this.found.length)} found` : "";
    this.panels.all.filter = matches ? (row) => picture.matches[row.b] : null;
    this.panels.all.show();
    picture.paint();
    picture.draw();
  }

  nextFound(by) {
    if (!this.found.length) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    id("count").textContent = `${commas(this.at + 1)} of ${commas(this.found.length)}`;
    this.pick(this.found[this.at], false);
  }

  // ---- pointing ----

  hover(b) {
    if (b === this.picture.hovered) return;
    this.picture.hovered = b;
    this.picture.drawOver();
    id("over").style.cursor = b >= 0 ? "pointer" : "crosshair";
    if (this.picture.pinned < 0) showCard(id("card"), this.plan, b, false);
  }

  click(x, y) {
    const b = this.picture.bufferAt(x, y);
    this.picture.cursor = Math.min(Math.max(Math.floor(this.picture.stepAt(x)), 0), Math.max(this.plan.range - 1, 0));
    this.pin(b);
    this.stepChanged();
    this.picture.paint();
    this.picture.draw();
  }

  pin(b) {
    this.picture.pinned = b;
    showCard(id("card"), this.plan, b >= 0 ? b : this.picture.hovered, b >= 0, b >= 0 ? this.whatIf.toolsFor(b) : []);
  }

  // From a table or a link: shows the buffer, and the step at which it begins if the cursor's is none
  // of its own.
  pick(b, scroll = true) {
    const { plan, picture } = this;
    if (!(b >= 0 && b < plan.n)) return;
    this.pin(b);
    if (!plan.isAliveAt(b, picture.cursor) && plan.lifeStart[b] < plan.lifeStart[b + 1]) picture.goTo(plan.first[plan.lifeStart[b]]);
    picture.lookAt(b);
    this.stepChanged();
    picture.draw();
    if (scroll) id("stage").scrollIntoView({ block: "nearest" });
    this.announce(`${plan.name(b)}, ${commas(plan.bytes(b))} bytes`);
  }

  goTo(step) {
    this.picture.goTo(step);
    this.stepChanged();
    this.announce(this.plan.stepLabel(this.picture.cursor));
  }

  toPeak() {
    this.picture.view = { ...this.picture.view, y0: 0, y1: 1 };
    this.goTo(this.plan.peakStep);
  }

  stepChanged() {
    this.panels.showStep();
    this.drawn();
  }

  // ---- keys ----

  key(event) {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (typing && event.key !== "Escape") return;
    const act = this.actionOf(event);
    if (!act) return;
    event.preventDefault();
    act();
  }

  actionOf(event) {
    const { picture } = this, v = picture.view, range = this.plan.range;
    const pan = (x, y) => () => picture.look(moved(v, range, x * (v.x1 - v.x0), y * (v.y1 - v.y0)));
    const zoom = (x, y) => () => picture.look(zoomed(v, range, picture.cursor + 0.5, (v.y0 + v.y1) / 2, x, y));
    const step = (by) => () => this.goTo(picture.cursor + by);
    const far = event.shiftKey ? 10 : 1, inTable = event.target.closest?.("table, .scroll, button, dialog");
    const arrows = inTable ? {} : { ArrowLeft: step(-far), ArrowRight: step(far), ArrowUp: pan(0, 0.1), ArrowDown: pan(0, -0.1),
      Home: step(-range), End: step(range) };
    return { ...arrows, f: () => picture.fit(), 0: () => picture.fit(), p: () => this.toPeak(),
      "/": () => id("search").focus(), n: () => this.nextFound(1), N: () => this.nextFound(-1), "?": () => this.help(),
      "+": zoom(0.7, 1), "=": zoom(0.7, 1), "-": zoom(1 / 0.7, 1), "]": zoom(1, 0.7), "[": zoom(1, 1 / 0.7),
      a: pan(-0.1, 0), d: pan(0.1, 0), w: zoom(0.7, 1), s: zoom(1 / 0.7, 1), c: () => this.copy(location.href),
      Escape: () => this.escape(event.target) }[event.key];
  }

  escape(target) {
    if (target === id("search")) {
      this.find("");
      target.blur();
    } else {
      this.pin(-1);
      this.picture.draw();
    }
  }

  // ---- window and link ----

  followTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const use = () => {
      this.picture.theme = dark.matches ? THEMES.dark : THEMES.light;
      if (!this.plan) return;
      this.picture.paint();
      this.picture.draw();
    };
    dark.addEventListener("change", use);
    use();
  }

  resize() {
    const width = id("stage").clientWidth, ratio = window.devicePixelRatio || 1;
    const lanes = this.plan ? this.plan.pools.filter((pool) => pool.arena !== "0").length : 1;
    const height = Math.min(PICTURE_HEIGHT + Math.max(0, lanes - 3) * LANE_HEIGHT, 4 * PICTURE_HEIGHT);
    id("stage").style.height = `${height}px`;
    this.overview.resize(width, STRIP_HEIGHT, ratio);
    this.picture.resize(width, height, ratio);
  }

  drawn() {
    this.overview.draw();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.remember(), SETTLED_MS);
  }

  remember() {
    const { picture, plan } = this, v = picture.view;
    this.link = writeLink({ view: v, whole: v.x1 - v.x0 >= plan.range && v.y1 - v.y0 >= 1, plan: this.planIndex, query: this.query,
      step: picture.cursor === plan.peakStep ? undefined : picture.cursor, buffer: picture.pinned, colour: picture.way });
    try {
      history.replaceState(null, "", this.link ? `#${this.link}` : location.pathname + location.search);
    } catch { /* a page in a frame of its own, as in a notebook, has no address to keep the view in */ }
  }

  follow(said) {
    if (said.plan !== undefined && said.plan !== this.planIndex) this.showPlan(said.plan);
    if (said.colour) this.colourBy(said.colour);
    if (said.query) this.find(said.query);
    if (said.step !== undefined) this.picture.goTo(said.step);
    if (said.buffer !== undefined) this.pick(said.buffer, false);
    if (said.view) this.picture.look(said.view);
    this.stepChanged();
  }
}

// Whatever is wrong with the data is said, rather than shown as an empty page.
function start() {
  try {
    const app = new App(JSON.parse(id("data").textContent));
    window.arenaut = app;
    app.start();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    id("status").textContent = `This page could not be shown: ${error.message}`;
    document.documentElement.dataset.ready = "failed";
    throw error;
  }
}

start();
