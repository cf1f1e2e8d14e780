import { html, number, plain, whole } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";
import { parse, read, together } from "./tapestry_config.js";
import { shapesOf, tell } from "./tapestry_weights.js";

const TURN = 2 * Math.PI;
const LARGEST = 16_000_000; // bytes of a configuration, as in rope_lab/reading.py
const clip = (v) => Math.min(1, Math.max(0, v));
const powers = (width, base) => Array.from({ length: width / 2 }, (_, i) => base ** ((-2 * i) / width));

/** What is known of the model: from the list, or from the reader's own configuration. */
const settings = (state) => state.models[state.model] ?? together(state);

/** The frequencies of all planes of a head; planes that stand still are 0. */
function frequencies({ head_dim, rotary, base, window, scaling, factor, low, high, whole: rounded }) {
  let theta = powers(rotary, base);
  const mix = (kept) => theta.map((t, i) => kept(t, i) * t + ((1 - kept(t, i)) * t) / factor);
  if (scaling === "linear") theta = theta.map((t) => t / factor);
  if (scaling === "ntk" && rotary > 2) theta = powers(rotary, base * factor ** (rotary / (rotary - 2)));
  const turns = (t) => (window * t) / TURN;
  if (scaling === "llama3")
    theta = mix((t) => (low === high ? Number(turns(t) >= low) : clip((turns(t) - low) / (high - low))));
  if (scaling === "yarn") {
    const plane = (times) => (rotary * Math.log(window / (TURN * times))) / (2 * Math.log(base));
    const first = Math.max(rounded ? Math.floor(plane(high)) : plane(high), 0),
      last = Math.min(rounded ? Math.ceil(plane(low)) : plane(low), rotary - 1);
    theta = mix((_, i) => 1 - clip((i - first) / (last - first || 0.001)));
  }
  return [...theta, ...Array((head_dim - rotary) / 2).fill(0)];
}

/** The planes' speeds, and the key as the query sees it. */
export function compute(state) {
  const own = settings(state),
    theta = frequencies(own),
    offset = state.n - state.m;
  const strip = theta.map((t) => Math.cos(offset * t));
  const closed = theta.filter((t) => (own.window * t) / TURN >= 1).length;
  return {
    theta,
    planes: theta.length,
    turning: Math.floor(own.rotary / 2),
    window: own.window,
    closed,
    never: theta.filter((t) => t > 0).length - closed,
    offset,
    strip,
    logit: strip.reduce((sum, v) => sum + v, 0) / strip.length,
  };
}

const inkOf = (element) =>
  getComputedStyle(element)
    .getPropertyValue("--rope-ink")
    .match(/[\da-f]{2}/gi)
    .map((pair) => Number.parseInt(pair, 16));

/** Ink where the cosine of an angle is negative, one pixel for each position and plane. */
function weave(canvas, [columns, rows], angle, ink) {
  Object.assign(canvas, { width: columns, height: rows });
  const context = canvas.getContext("2d"),
    cloth = context.createImageData(columns, rows);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      cloth.data.set([...ink, 230 * ((1 - Math.cos(angle(x, y))) / 2)], 4 * (y * columns + x));
    }
  }
  context.putImageData(cloth, 0, 0);
}

const TOP = 42, // room for the names of the two words
  FOOT = 26, // and for the positions
  GAP = 14; // before the strip
const stripOf = (fig) => (fig.width < 560 ? 56 : 92); // as wide as what is written under it

function build(ui) {
  const { columns } = ui.state;
  const fig = ui.figure({
    label: "A cloth of positions and planes, with a query and a key, and a strip beside it",
    height: (width) => TOP + FOOT + Math.round(Math.min(330, Math.max(190, width * 0.33))),
  });
  const cloth = html("canvas", { "aria-hidden": "true" }),
    strip = html("canvas", { "aria-hidden": "true" });
  fig.node.before(cloth, strip);
  fig.node.parentElement.classList.add("rope-loom");

  const place = (v) => whole(v + ui.state.shift);
  ui.slider("m", { label: "query at position", step: 1, look: "query", show: place });
  ui.slider("n", { label: "key at position", step: 1, look: "key", show: place });
  ui.slider("shift", { label: "both moved along by", step: 1, scale: "log", show: whole });
  const row = ui.panel.appendChild(html("div", { class: "rope-row" }));
  ui.play("shift", { label: "Walk both along", perSecond: 20, host: row });
  ui.button("To the end of the window", () => ui.set({ shift: edge(ui) }), { host: row });
  const name = models(ui, row);
  const write = ui.readout({ logit: "score of two equal words, at most 1", never: "planes without one whole turn" });
  ui.button("Save as picture", () => poster(ui, name()), { host: ui.tools });
  const word = (look, text) => html("span", { class: look }, text);
  ui.below.append(
    html(
      "p",
      { class: "rope-note" },
      "Each column is a position in a text. Each row is one plane of a head, the fastest at the top; it turns a " +
        "little from word to word, and where it points backwards there is ink. The strip is what the ",
      word("query", "query"),
      " sees of the ",
      word("key", "key"),
      ". Drag one word: the strip changes. Drag the picture, so that both words move along: all of it runs past, and " +
        "the strip and the score stand still.",
    ),
  );
  dragging(ui, fig);

  let last;
  const paint = () => last && draw(fig, [cloth, strip], ...last, columns);
  const themes = new MutationObserver(() => (cloth.isConnected ? paint() : themes.disconnect()));
  for (const node of [document.documentElement, document.body])
    themes.observe(node, { attributes: true, attributeFilter: ["data-theme", "data-jp-theme-light", "class"] });
  return (state, values) => {
    last = [state, values];
    write({
      logit: number(values.logit, 3),
      never: `${values.never} of ${values.turning}, in ${whole(values.window)}`,
    });
    paint();
    ui.say(
      `${name()}: query at ${place(state.m)}, key at ${place(state.n)}, offset ${number(values.offset, 0)}, score ` +
        `${number(values.logit, 3)}. ${values.never} planes without one whole turn in ${whole(values.window)} positions.`,
    );
  };
}

/** Where the cloth begins when the window of training ends in its middle. */
const edge = (ui) => ui.nearest("shift", settings(ui.state).window - ui.state.columns / 2);

/** The list of models and the reader's own; returns the name of the one that is shown. */
function models(ui, row) {
  const names = Object.keys(ui.state.models),
    id = `rope-${Math.random().toString(36).slice(2)}`;
  const own = html("option", { value: "yours" }, "your model"),
    list = html("select", { id, "data-name": "model" }, ...names.map((name) => html("option", {}, name)), own);
  const file = html("input", { type: "file", id: `${id}-file`, accept: ".json,.safetensors,application/json" });
  const told = html("p", { class: "rope-told", role: "status" });
  row.append(
    html("span", { class: "rope-models" }, html("label", { for: id }, "model"), list),
    html("label", { for: file.id, class: "rope-button rope-file" }, "Your config.json or weights…", file),
    told,
  );
  ui.ranges.model = [...names, "yours"];
  ui.ranges.scaling = ["none", "linear", "ntk", "yarn", "llama3"];
  ui.ranges.whole = [false, true];
  for (const key of ["head_dim", "rotary", "window"]) ui.ranges[key] = [...ui.limits[key], 1];
  for (const key of ["base", "factor", "low", "high"]) ui.ranges[key] = [...ui.limits[key], 1e-6];
  list.addEventListener("change", () => ui.set({ model: list.value }));
  ui.controls.push(() => {
    list.value = ui.state.model;
  });

  let brought = "your model";
  const take = async (files) => {
    if (!files?.length) return;
    try {
      if (/\.safetensors$/i.test(files[0].name)) {
        const width = ui.state.model === "yours" ? ui.state.head_dim : undefined;
        told.textContent = `${files[0].name}, read here and sent nowhere: ${tell(await shapesOf(files[0]), width)}`;
        file.value = "";
        return;
      }
      if (files[0].size > LARGEST) throw new Error(`expected a config.json, got more than ${whole(LARGEST)} bytes`);
      const found = read(parse(await files[0].text()), ui.limits);
      brought = found.name || "your model";
      own.textContent = brought;
      told.textContent = found.told;
      ui.set({ ...found.settings, model: "yours" });
    } catch (error) {
      const why = error instanceof SyntaxError ? "expected a file of JSON, got something else" : error.message;
      told.textContent = `${files[0].name}: ${why.length > 600 ? `${why.slice(0, 600)}…` : why}`;
    }
    file.value = ""; // so that the same file can be chosen again
  };
  file.addEventListener("change", () => take(file.files));
  ui.root.addEventListener("dragover", (event) => {
    event.preventDefault();
    ui.root.classList.add("rope-over");
  });
  for (const end of ["dragleave", "drop"]) ui.root.addEventListener(end, () => ui.root.classList.remove("rope-over"));
  ui.root.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  return () => (ui.state.model === "yours" ? brought : ui.state.model);
}

const column = (fig, columns) => (fig.width - stripOf(fig) - GAP) / columns;

/** A drag that begins near a word moves that word; any other moves the cloth, and both words with it. */
function dragging(ui, fig) {
  const { columns } = ui.state;
  fig.node.addEventListener("pointerdown", (event) => {
    if (event.button || event.target.dataset?.drag) return;
    const box = fig.node.getBoundingClientRect(),
      wide = column(fig, columns),
      at = (e) => (e.clientX - box.left) / wide - 0.5;
    const from = at(event),
      { m, n, shift } = ui.state,
      near = Math.abs(from - m) < Math.abs(from - n) ? "m" : "n";
    if (from > columns || event.clientY < box.top + TOP) return;
    const word = Math.abs(from - ui.state[near]) * wide < (event.pointerType === "touch" ? 22 : 12);
    const move = (e) =>
      word
        ? ui.set({ [near]: ui.nearest(near, at(e)) }, { now: true })
        : ui.set({ shift: ui.nearest("shift", shift + from - at(e)) }, { now: true });
    event.preventDefault();
    fig.node.setPointerCapture(event.pointerId);
    fig.node.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
      fig.node.addEventListener(end, () => fig.node.removeEventListener("pointermove", move), { once: true });
  });

  fig.drag = (name, x) =>
    fig.handle(name, [x, TOP - 10], ([to]) =>
      ui.set({ [name]: ui.nearest(name, to / column(fig, columns) - 0.5) }, { now: true }),
    );
}

function draw(fig, [cloth, strip], state, values, columns) {
  const { theta, planes, closed, never, window, offset, logit } = values,
    { shift, m, n } = state;
  const wide = column(fig, columns),
    beside = stripOf(fig),
    right = wide * columns,
    tall = fig.height - TOP - FOOT,
    ink = inkOf(fig.node);
  const narrow = fig.width < 560,
    most = narrow ? right : fig.width - 190; // how far a word's name may stand to the right
  const X = (position) => (position - shift + 0.5) * wide,
    Y = (plane) => TOP + (plane / planes) * tall;
  weave(cloth, [columns, planes], (x, y) => (shift + x) * theta[y], ink);
  weave(strip, [1, planes], (_, y) => offset * theta[y], ink);
  const across = (x) => `${(100 * x) / fig.width}%`,
    down = (y) => `${(100 * y) / fig.height}%`; // shares, so that it shrinks with the drawing: on paper
  const put = (canvas, left, width) =>
    Object.assign(canvas.style, { left: across(left), top: down(TOP), width: across(width), height: down(tall) });
  put(cloth, 0, right);
  put(strip, right + GAP, beside);

  fig.clear(
    `${planes} planes at positions ${whole(shift)} to ${whole(shift + columns - 1)}. Query at ${whole(m + shift)}, key ` +
      `at ${whole(n + shift)}: offset ${number(offset, 0)}, score ${number(logit, 3)}. ${never} planes do not close a ` +
      `turn in ${whole(window)} positions.`,
  );
  fig.rect([0, TOP], [right, tall], "hair");
  fig.rect([right + GAP, TOP], [beside, tall], "hair");

  // The planes below this line had not turned round once when the training window ended.
  if (never) {
    fig.line([0, Y(closed)], [right + GAP + beside, Y(closed)], "line thin dash");
    fig.text(
      [right - 10, Y(closed) + 19],
      `${narrow ? "" : "below: "}no whole turn in ${whole(window)}${narrow ? "" : " positions"}`,
      "small",
      "end",
    );
  }
  if (planes > values.turning)
    fig.text([right - 10, TOP + tall - 10], `${planes - values.turning} planes do not turn`, "small muted", "end");
  const rows = TOP + tall - 28; // what the picture is made of, where nothing else is written
  if (!never || Y(closed) + 19 < rows - 18)
    fig.text(
      [right - 10, rows],
      `rows: planes, fast above${narrow ? "" : "; columns: positions"}`,
      "small muted",
      "end",
    );
  if (window > shift + 1 && window < shift + columns) {
    fig.line([X(window) - wide / 2, TOP], [X(window) - wide / 2, TOP + tall], "line");
    const [x, side] = X(window) < 170 ? [X(window) - wide / 2 + 8, "start"] : [X(window) - wide / 2 - 8, "end"];
    fig.text([x, TOP + tall - 10], narrow ? "window ends" : "the training window ends", "small", side);
  }
  const step = fig.width > 560 ? 20 : 40;
  for (let p = Math.ceil(shift / step) * step; X(p) < right - 45; p += step)
    fig.text([Math.max(X(p), 4 * whole(p).length), TOP + tall + 18], whole(p), "small muted");

  // The two words. Their names stand above them, and make room for each other.
  const words = [
    { name: "m", look: "query", x: X(m + shift), said: `query ${whole(m + shift)}` },
    { name: "n", look: "key", x: X(n + shift), said: `key ${whole(n + shift)}` },
  ];
  const [left, second] = words
    .map((word) => Object.assign(word, { half: 4.4 * word.said.length }))
    .sort((a, b) => a.x - b.x);
  const apart = left.half + second.half + 8,
    push = Math.max(0, apart - (second.x - left.x)) / 2;
  left.at = Math.max(left.half, Math.min(left.x - push, most - second.half - apart));
  second.at = Math.max(left.at + apart, Math.min(second.x + push, most - second.half));
  for (const { name, look, x, at, said } of words) {
    fig.add("line", { x1: x, y1: TOP - 10, x2: x, y2: TOP + tall, class: `hand ${look}` });
    fig.circle([x, TOP - 10], 6, `fill ${look}`);
    fig.text([at, TOP - 24], said, `name ${look}`);
    fig.drag(name, x);
  }
  if (!narrow) fig.text([fig.width, TOP - 26], "the key, seen from the query", "small muted", "end");
  fig.text([fig.width, TOP - 8], `offset ${number(offset, 0)}`, "name", "end");
  fig.text([fig.width, TOP + tall + 19], `${narrow ? "" : "score "}${number(logit, 3)}`, "name", "end");
}

/** The cloth with the model's name, as a picture of 2400 x 1260 pixels that the browser saves. */
function poster(ui, name) {
  const { theta, planes, window, never } = ui.compute(ui.state),
    own = settings(ui.state),
    style = getComputedStyle(ui.root);
  const sheet = html("canvas", { width: 2400, height: 1260 }),
    pen = sheet.getContext("2d"),
    cloth = html("canvas", {});
  const colour = (role) => style.getPropertyValue(`--rope-${role}`);
  const write = (text, y, size, weight = 600) => {
    pen.font = `${weight} ${size}px ${style.fontFamily}`;
    pen.fillText(text, 120, y);
  };
  pen.fillStyle = colour("paper");
  pen.fillRect(0, 0, 2400, 1260);
  weave(cloth, [2 * ui.state.columns, planes], (x, y) => (ui.state.shift + x) * theta[y], inkOf(ui.root));
  pen.imageSmoothingEnabled = false;
  pen.drawImage(cloth, 120, 330, 2160, 720);
  pen.fillStyle = colour("ink");
  write(name, 190, 110, 700);
  const scaling = own.scaling === "none" ? "" : ` · ${own.scaling}, factor ${own.factor}`;
  write(`base ${whole(own.base)} · ${planes} planes${scaling} · window ${whole(window)}`, 270, 46, 400);
  write(
    `${never} planes never close a turn in the window. Each column is a position, each row a plane.`,
    1130,
    42,
    400,
  );
  write("RoPE Lab", 1195, 42);
  for (const [role, at] of [
    ["query", ui.state.m],
    ["key", ui.state.n],
  ]) {
    pen.fillStyle = colour(role);
    pen.fillRect(120 + ((at + 0.5) * 2160) / (2 * ui.state.columns) - 4, 305, 8, 745);
  }
  sheet.toBlob((blob) => {
    const link = html("a", {
      href: URL.createObjectURL(blob),
      download: `rope-${plain(name).replace(/\W+/g, "-")}.png`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

export default widget({ compute, build, smooth: ["shift", "m", "n"] });
