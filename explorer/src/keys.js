// What each key does; the dialog in page.html lists them.
import { moved, zoomed } from "./viewport.js";

const id = (name) => document.getElementById(name);

function actionOf(app, event) {
  const { picture, search } = app, v = picture.view, range = app.plan.range;
  const pan = (x, y) => () => picture.look(moved(v, range, x * (v.x1 - v.x0), y * (v.y1 - v.y0)));
  const zoom = (x, y) => () => picture.look(zoomed(v, range, picture.cursor + 0.5, (v.y0 + v.y1) / 2, x, y));
  const step = (by) => () => app.goTo(picture.cursor + by);
  const far = event.shiftKey ? 10 : 1, inTable = event.target.closest?.("table, .scroll, button, dialog");
  const arrows = inTable ? {} : { ArrowLeft: step(-far), ArrowRight: step(far), ArrowUp: pan(0, 0.1), ArrowDown: pan(0, -0.1),
    Home: step(-range), End: step(range) };
  return { ...arrows, f: () => picture.fit(), 0: () => picture.fit(), p: () => app.toPeak(),
    "/": () => id("search").focus(), n: () => search.next(1), N: () => search.next(-1), "?": () => app.help(),
    "+": zoom(0.7, 1), "=": zoom(0.7, 1), "-": zoom(1 / 0.7, 1), "]": zoom(1, 0.7), "[": zoom(1, 1 / 0.7),
    a: pan(-0.1, 0), d: pan(0.1, 0), w: zoom(0.7, 1), s: zoom(1 / 0.7, 1), c: () => app.copy(location.href),
    Escape: event.target === id("search") ? () => search.clear() : () => app.letGo() }[event.key];
}

export function listenToKeys(app) {
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (typing && event.key !== "Escape") return;
    const act = actionOf(app, event);
    if (!act) return;
    event.preventDefault();
    act();
  });
}
