// How the page looks and is touched, printed and saved. Pictures are compared with those in looks.json
// as what is left of them in 48 by 27 pixels, so that fonts do not matter; ARENAUT_UPDATE=1 renews it.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test, { after, before } from "node:test";
import { data, launch, open, pageOf, problemOf, settled, skip } from "./browser.js";

const MODEL = data("mobilenet_v1_025_96_int8.tflite"), LOOKS = new URL("looks.json", import.meta.url);
const WIDTH = 48, HEIGHT = 27, NEAR = 10, MOST_FAR = 0.02; // of 255; of all pixels
const UPDATE = Boolean(process.env.ARENAUT_UPDATE), looks = UPDATE ? {} : JSON.parse(readFileSync(LOOKS, "utf8"));
let browser;
before(async () => { if (!skip) browser = await launch(); });
after(async () => {
  if (UPDATE && !skip) writeFileSync(LOOKS, `${JSON.stringify(looks, null, 1)}\n`);
  await browser?.close();
});

const view = (page) => page.evaluate(() => window.arenaut.picture.view);

// A screenshot of the picture, made small by the browser, as hexadecimal bytes of red, green and blue.
async function small(page) {
  const shot = await (await page.$("#stage")).screenshot({ encoding: "base64", captureBeyondViewport: false });
  return page.evaluate(async (base64, width, height) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)), image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(width, height), ctx = canvas.getContext("2d");
    ctx.imageSmoothingQuality = "high";
    ctx.drawImage(image, 0, 0, width, height);
    return [...ctx.getImageData(0, 0, width, height).data].filter((_, i) => i % 4 < 3).map((n) => n.toString(16).padStart(2, "0")).join("");
  }, shot, WIDTH, HEIGHT);
}

function far(a, b) {
  const at = (text, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16), n = a.length / 2;
  let count = 0;
  for (let i = 0; i < n; i++) if (Math.abs(at(a, i) - at(b, i)) > NEAR) count++;
  return count / n;
}

const VIEWS = { whole: {}, dark: { dark: true }, part: { hash: "#t=2..9&a=0..0.7&buf=3&step=4" }, "by size": { hash: "#c=size" }, found: { hash: "#q=depthwise" },
  "results that reach into operands": { flags: ["--overlap", "on"] }, "in place": { file: data("elementwise_float.tflite"), flags: ["--inplace", "on"] },
  "pools as lanes": { file: data("two_streams.trace.csv") }, "branches and loops": { file: data("if_while_float.tflite") },
  "inside another": { file: data("json/everything.problem.json") }, split: { file: data("inception_int8.tflite"), flags: ["--split", "on"] } };
for (const [name, { file = MODEL, flags = [], ...how }] of Object.entries(VIEWS)) {
  test(`it looks as it did: ${name}`, { skip }, async () => {
    const { page } = await open(browser, pageOf(file, ...flags), how);
    await page.waitForFunction(() => window.arenaut.plan.reach);
    await settled(page);
    const now = await small(page);
    if (UPDATE) looks[name] = now;
    assert.equal(now.length, 6 * WIDTH * HEIGHT);
    const share = far(now, looks[name]);
    assert.ok(share <= MOST_FAR, `${(100 * share).toFixed(1)} % of the picture is another`);
    for (const [other, look] of Object.entries(looks)) if (other !== name) assert.ok(far(now, look) > MOST_FAR, `${name} cannot be told from ${other}`);
    await page.close();
  });
}

const touches = (client, type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });

test("fingers move the picture, spread it and choose a buffer", { skip }, async () => {
  const { page, wrong } = await open(browser, pageOf(MODEL)), client = await page.createCDPSession();
  await client.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
  const whole = await view(page), box = await (await page.$("#over")).boundingBox();
  const x = box.x + box.width / 2, y = box.y + box.height / 2;
  await touches(client, "touchStart", [[x - 40, y - 20], [x + 40, y + 20]]);
  for (const by of [60, 90, 120]) await touches(client, "touchMove", [[x - by, y - by / 2], [x + by, y + by / 2]]);
  await touches(client, "touchEnd", []);
  await settled(page);
  const near = await view(page);
  assert.ok(near.x1 - near.x0 < 0.6 * (whole.x1 - whole.x0) && near.y1 - near.y0 < 0.6, JSON.stringify(near));
  await touches(client, "touchStart", [[x, y]]);
  for (const by of [20, 60, 100]) await touches(client, "touchMove", [[x + by, y]]);
  await touches(client, "touchEnd", []);
  await settled(page);
  const moved = await view(page);
  assert.ok(moved.x0 < near.x0 && Math.abs(moved.x1 - moved.x0 - (near.x1 - near.x0)) < 1e-9);
  await page.evaluate(() => window.arenaut.picture.fit());
  await settled(page);
  const at = await page.evaluate(() => {
    const { picture, plan } = window.arenaut, i = plan.lifeStart[3], r = picture.rectangles;
    return [picture.xOf((r.x0[i] + r.x1[i]) / 2), picture.yOf((r.y0[i] + r.y1[i]) / 2)];
  });
  await page.touchscreen.tap(box.x + at[0], box.y + at[1]);
  assert.equal(await page.$eval("#card h3", (h3) => h3.textContent), "conv_2d_3");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("on paper there are the picture and whole tables, and nothing to press", { skip }, async () => {
  const { page } = await open(browser, pageOf(MODEL));
  await page.emulateMediaType("print");
  const shown = (selector) => page.$$eval(selector, (nodes) => nodes.filter((node) => node.checkVisibility()).length);
  assert.equal(await shown(".tools"), 0);
  assert.equal(await shown("#stage canvas"), 2);
  const cut = await page.$$eval(".scroll", (nodes) => nodes.filter((node) => node.scrollHeight > node.clientHeight + 1).length);
  assert.equal(cut, 0);
  assert.equal(Buffer.from(await page.pdf()).subarray(0, 5).toString(), "%PDF-");
  await page.close();
});

for (const still of [false, true]) {
  test(`buffers ${still ? "do not move where that is not wanted" : "move from one plan to the other"}`, { skip }, async () => {
    const { page } = await open(browser, pageOf(MODEL, "--what-if"));
    await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: still ? "reduce" : "no-preference" }]);
    const moving = await page.evaluate(() => {
      window.arenaut.showPlan(3);
      return Boolean(window.arenaut.picture.moving);
    });
    assert.equal(moving, !still);
    await page.waitForFunction(() => !window.arenaut.picture.moving);
    await page.close();
  });
}

test("the picture is saved as PNG and SVG", { skip }, async () => {
  const name = `<b>"&'</b>${"n".repeat(20)}`, file = pageOf(problemOf([{ name, size: 4096 }, { size: 4096 }, { first: 2, end: 3 }]));
  const { page, wrong } = await open(browser, file);
  await page.evaluate(() => {
    window.saved = [];
    URL.createObjectURL = (blob) => { window.saved.push(blob); return "#"; };
    HTMLAnchorElement.prototype.click = function click() { window.named = this.download; };
  });
  await page.click("#png");
  await page.waitForFunction(() => window.saved.length === 1);
  const png = await page.evaluate(async () => {
    const image = await createImageBitmap(window.saved[0]), { base } = window.arenaut.picture;
    return { type: window.saved[0].type, same: image.width === base.width && image.height === base.height, named: window.named };
  });
  assert.deepEqual([png.type, png.same], ["image/png", true]);
  assert.match(png.named, /\.json\.png$/);
  await page.click("#svg");
  const text = await page.evaluate(() => window.saved[1].text()), elsewhere = await browser.newPage();
  const svg = await elsewhere.evaluate((source) => {
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
    return { wrong: parsed.querySelectorAll("parsererror, script, b").length, titles: [...parsed.querySelectorAll("title")].map((node) => node.textContent) };
  }, text);
  await elsewhere.close();
  assert.equal(svg.wrong, 0);
  assert.deepEqual(svg.titles.map((title) => title.split(":")[0]), [name, "b1", "b2"]);
  assert.deepEqual(wrong, []);
  await page.close();
});
