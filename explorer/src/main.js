// The page: reads the data, draws the picture and the tables, and ties buttons and links to them.
import { Overview } from "./overview.js";
import { Panels } from "./panels.js";
import { Picture } from "./picture.js";
import { Plan } from "./model.js";
import { Pointers } from "./pointer.js";
import { Search } from "./search.js";
import { THEMES, WAYS } from "./colours.js";
import { Variants } from "./variants.js";
import { WhatIf } from "./whatif.js";
import { asPng, download, svgOf } from "./save.js";
import { changesOf } from "./compare.js";
import { commas, inUnits, shortened, shown } from "./words.js";
import { element } from "./table.js";
import { listenToKeys } from "./keys.js";
import { readLink, writeLink } from "./link.js";
import { showCard } from "./card.js";
import { showFigures, showLegend, showWaste } from "./figures.js";
import { showCurve } from "./curve.js";
import { showWays } from "./ways.js";

const PICTURE_HEIGHT = 560, STRIP_HEIGHT = 56, SETTLED_MS = 300, LANE_HEIGHT = 110;
const id = (name) => document.getElementById(name);

// When the first picture stands on the screen; at once where nobody looks.
const painted = () => new Promise((done) => {
  if (document.hidden) done();
  else requestAnimationFrame(() => setTimeout(done));
});

class App {
  constructor(data) {
    if (data.schema !== "arenaut.page/1") throw new Error(`this page cannot show ${data.schema}`);
    this.data = data;
    this.variants = data.variants;
    this.before = this.variants.find(({ name }) => name === "before")?.plan ?? -1;
    this.plans = new Map();
    this.picture = new Picture(id("base"), id("over"));
    this.overview = new Overview(id("strip"), this.picture);
    this.picture.onDrawn = () => this.drawn();
    this.panels = new Panels(this);
    this.search = new Search(this);
    this.sideBySide = new Variants(this);
    this.whatIf = new WhatIf(this, id("planner").textContent.trim());
    new Pointers(this.picture, { onHover: (b) => this.hover(b), onClick: (x, y) => this.click(x, y) });
    this.followTheme();
    this.fillControls();
    listenToKeys(this);
    new ResizeObserver(() => this.resize()).observe(id("stage"));
    addEventListener("hashchange", () => { if (location.hash.slice(1) !== this.link) this.follow(readLink(location.hash)); });
  }

  // The picture first: of many buffers, the tables take longer.
  async start() {
    const said = readLink(location.hash);
    if (this.data.steps && !said.view) said.view = this.viewOf(said.plan, this.data.steps);
    this.showPicture(said.plan ?? 0);
    this.lookAs(said);
    await painted();
    performance.mark("picture");
    if (this.before >= 0) this.compare();
    showWays(this.data.ways, (text) => this.copy(text));
    showCurve(this.data.curve, (text) => this.copy(text));
    this.showTables();
    this.letGo();
    this.follow(said);
    performance.mark("tables");
  }

  viewOf(index, [first, end]) {
    const { origin } = this.planAt(this.data.plans[index] ? index : 0);
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

  // Of two files, both.
  title() {
    const { file } = this.plan, [from, to] = [this.before, 0].map((k) => this.data.plans[k]?.file ?? file);
    return from === to ? shown(file) : `${shown(from)} \u2192 ${shown(to)}`;
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
    const { pinned } = this.picture, names = pinned < 0 ? null : this.plan.names;
    this.showPicture(k);
    this.showTables();
    const again = pinned < 0 ? -1 : this.plan.names === names ? pinned : this.plan.names.indexOf(names[pinned]);
    if (again >= 0) this.pick(again, false);
    else {
      this.pin(-1);
      this.stepChanged();
    }
  }

  showPicture(k) {
    this.planIndex = this.data.plans[k] ? k : 0;
    this.plan = this.planAt(this.planIndex);
    id("plan").value = String(this.planIndex);
    this.resize();
    this.picture.show(this.plan);
    showFigures(this.plan, this.title());
    showLegend(this.picture);
  }

  showTables() {
    const { plan } = this;
    this.panels.showPlan();
    this.search.find(this.search.query);
    this.whatIf.showPlan();
    this.sideBySide.show();
    setTimeout(() => {
      if (plan !== this.plan) return;
      showWaste(plan);
      this.picture.draw();
    });
  }

  // ---- controls ----

  fillControls() {
    const ways = Object.keys(WAYS).filter((way) => way !== "change" || this.before >= 0);
    id("colour").replaceChildren(...ways.map((way) => element("option", { value: way, textContent: way })));
    id("colour").onchange = (event) => this.colourBy(event.target.value);
    this.fillPlans();
    id("plan").onchange = (event) => this.showPlan(Number(event.target.value));
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
    showLegend(this.picture);
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
    this.picture.cursor = this.picture.stepIn(Math.floor(this.picture.stepAt(x)));
    this.pin(b);
    this.stepChanged();
    this.picture.paint();
    this.picture.draw();
  }

  pin(b) {
    this.picture.pinned = b;
    showCard(id("card"), this.plan, b >= 0 ? b : this.picture.hovered, b >= 0, b >= 0 ? this.whatIf.toolsFor(b) : []);
  }

  letGo() {
    this.pin(-1);
    this.picture.draw();
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
    this.announce(`${shortened(plan.name(b), 60)}, ${commas(plan.bytes(b))} bytes`);
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
    this.link = writeLink({ view: v, whole: v.x1 - v.x0 >= plan.range && v.y1 - v.y0 >= 1, plan: this.planIndex, query: this.search.query,
      step: picture.cursor === plan.peakStep ? undefined : picture.cursor, buffer: picture.pinned, colour: picture.way });
    try {
      history.replaceState(null, "", this.link ? `#${this.link}` : location.pathname + location.search);
    } catch { /* a page in a frame of its own, as in a notebook, has no address to keep the view in */ }
  }

  // What a link says, as far as it is about the picture alone.
  lookAs({ colour, step, view }) {
    if (colour) this.colourBy(colour);
    if (step !== undefined) this.picture.goTo(step);
    if (view) this.picture.look(view);
  }

  follow(said) {
    if (said.plan !== undefined && said.plan !== this.planIndex) this.showPlan(said.plan);
    if (said.query) this.search.find(said.query);
    this.lookAs(said);
    if (said.buffer !== undefined) this.pick(said.buffer, false);
    if (said.view) this.picture.look(said.view);
    this.stepChanged();
  }
}

// Whatever is wrong with the data is said, rather than shown as an empty page.
async function start() {
  try {
    const app = new App(JSON.parse(id("data").textContent));
    window.arenaut = app;
    await app.start();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    id("status").textContent = `This page could not be shown: ${error.message}`;
    document.documentElement.dataset.ready = "failed";
    throw error;
  }
}

start();
