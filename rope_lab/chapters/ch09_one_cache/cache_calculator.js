import { html, number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const SCHEMES = { mha: "MHA", gqa: "GQA", mqa: "MQA", mla: "MLA", shared: "shared" };
const KEYS = Object.keys(SCHEMES);

/** What each scheme keeps. */
export function compute({ layers, heads, kv_heads, head_dim, latent, rope, log_context, size, memory }) {
  const groups = Math.min(kv_heads, heads);
  const numbers = [2 * heads * head_dim, 2 * groups * head_dim, 2 * head_dim, latent + rope, latent];
  const per_token = numbers.map((n) => layers * n * Number(size));
  const text = per_token.map((b) => b * 2 ** log_context);
  return {
    numbers,
    per_token,
    text,
    share: numbers.map((n) => n / numbers[0]),
    fit: text.map((b) => Math.floor(memory / b)),
  };
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
function bytes(value) {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(value) / 10 + 1e-9)));
  const scaled = value / 2 ** (10 * power);
  return `${number(scaled, scaled >= 100 || Number.isInteger(scaled) ? 0 : 1)} ${UNITS[power]}`;
}
const times = (n) => Math.round(n).toLocaleString("en-US");
const count = (n, word) => `${times(n)} ${word}${n === 1 ? "" : "s"}`;

function build(ui) {
  const presets = ui.model.get("_presets");
  const question = ui.panel.appendChild(html("p", { class: "rope-question" }));
  const row = html("div", { class: "rope-models", role: "group", "aria-label": "Shapes of published models" });
  ui.panel.append(row);
  const buttons = presets.map(({ name, built, ...shape }) => ui.button(name, () => ui.set(shape), { host: row }));
  const fig = ui.figure({
    label: "Bytes that one token leaves in the cache, scheme by scheme",
    height: () => 5 * 52 + 46,
  });
  const cards = ui.figure({
    pin: true, // the slider beside it changes how much a text takes
    label: "The texts that fit on one card, scheme by scheme",
    height: () => KEYS.length * CARD + 32,
  });
  ui.slider("log_context", { label: "tokens in a text", step: 1, show: (v) => times(2 ** v) });
  const write = ui.readout(Object.fromEntries(KEYS.map((key) => [key, SCHEMES[key]])));
  const tell = ui.button("Show how many", () => ui.set({ told: !ui.state.told }));
  ui.ranges.told = [false, true];
  const shape = ui.more("Change the shape of the model");
  const whole = (name, label, step, most = () => Infinity) =>
    ui.slider(name, { label, step, show: (v) => String(Math.round(Math.min(v, most()))), host: shape });
  whole("layers", "layers", 1);
  whole("heads", "heads, $H$", 1);
  whole("kv_heads", "groups of GQA, $G$", 1, () => ui.state.heads); // no more than heads
  whole("head_dim", "width of a head, $d$", 32);
  whole("latent", "width of the latent, $d_c$", 64);
  whole("rope", "MLA's rotary key, $d_r$", 16);
  ui.choice("size", { label: "bytes of one number", options: { 1: "1", 2: "2", 4: "4" }, host: shape });

  return (state, values) => {
    const wanted = ui.state; // not the eased state: a button is pressed at once
    const at = presets.findIndex(({ name, built, ...shape }) =>
      Object.entries(shape).every(([key, v]) => wanted[key] === v),
    );
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === at)));
    const built = at < 0 ? "" : presets[at].built;
    question.textContent =
      `${built ? `${presets[at].name} is built with ${SCHEMES[built]}. How` : "How"} many texts of ` +
      `${times(2 ** wanted.log_context)} tokens fit into ${bytes(wanted.memory)}, if nothing else is there? ` +
      "And how many with the other schemes?";
    tell.textContent = wanted.told ? "Hide the numbers" : "Show how many";
    const answer = (fit, text) => `${fit ? count(fit, "text") : "not one"}, ${bytes(text)} each`;
    write(Object.fromEntries(KEYS.map((key, i) => [key, wanted.told ? answer(values.fit[i], values.text[i]) : "?"])));
    drawBars(ui, fig, state, values, built);
    drawCards(cards, wanted, values);
    ui.say(`One token leaves ${KEYS.map((key, i) => `${SCHEMES[key]} ${bytes(values.per_token[i])}`).join(", ")}`);
  };
}

// The axis is logarithmic, one line of the grid for each doubling, so that the smallest scheme can be seen beside the
// largest. A key and a value that are two tensors are two stripes with a gap; one tensor in both roles has none.
function drawBars(
  ui,
  fig,
  { layers, heads, kv_heads, latent, rope, size, log_context },
  { numbers, per_token },
  built,
) {
  const left = 2,
    right = fig.width - 14,
    floor = Math.floor(Math.log2(Math.min(...per_token))) - 1,
    ceiling = Math.max(floor + 4, Math.ceil(Math.log2(Math.max(...per_token)))),
    unit = (right - left) / (ceiling - floor);
  const X = (b) => left + (Math.log2(b) - floor) * unit,
    each = layers * Number(size); // bytes of one number in every layer
  const groups = Math.min(Math.round(kv_heads), Math.round(heads));
  const words = [
    `${count(Math.round(heads), "key")} and ${count(Math.round(heads), "value")}`,
    `${count(groups, "key")} and ${count(groups, "value")}`,
    "1 key and 1 value",
    `latent ${Math.round(latent)} and key ${Math.round(rope)}`,
    `latent ${Math.round(latent)}, nothing else`,
  ];
  fig.clear(
    `One token of a text of ${times(2 ** log_context)}, in ${Math.round(layers)} layers. ` +
      `${KEYS.map((key, i) => `${SCHEMES[key]}: ${words[i]}, ${bytes(per_token[i])}`).join(". ")}.`,
  );
  const foot = 5 * 52 + 6,
    every = Math.ceil(64 / unit);
  for (let k = floor; k <= ceiling; k++) {
    fig.line([left + (k - floor) * unit, 20], [left + (k - floor) * unit, foot], "hair");
    if ((k - floor) % every === 0 && left + (k - floor) * unit < right - 20)
      fig.text([left + (k - floor) * unit, foot + 15], bytes(2 ** k), "small muted", k === floor ? "start" : "middle");
  }
  KEYS.forEach((key, i) => {
    const y = 52 * i + 14,
      end = X(per_token[i]),
      bar = y + 8,
      tall = 10,
      look = built === key ? "small built" : "small",
      gap = i < 3 ? 3 : 0;
    fig.text([left, y], `${SCHEMES[key]}${built === key ? " (as built)" : ""}: ${words[i]}`, look, "start");
    fig.text([fig.width - 2, y], bytes(per_token[i]), look, "end");
    const both = i < 3 ? end : X(latent * each);
    fig.rect([left, bar], [both - left, tall], "fill key");
    fig.rect([left, bar + tall + gap], [both - left, tall], "fill value");
    if (i === 3 && numbers[3] > numbers[4]) fig.rect([both, bar], [end - both, tall], "fill key");
  });
  const y = 52 * 4 + 14 + 8 + 10,
    end = X(per_token[4]);
  fig.circle([end, y], 6, "paper");
  fig.handle("latent", [end, y], ([x]) => {
    const asked = 2 ** ((x - left) / unit + floor) / each;
    ui.set({ latent: ui.nearest("latent", asked) }, { now: true });
  });
  fig.text([left, foot + 34], "upper stripe: key; lower stripe: value", "small muted", "start");
}

const CARD = 60, // from one card to the next
  LINES = 3,
  LINE = { tall: 9, every: 12 };

// The card's memory is a strip of LINES lines, read like text: a tile that reaches the end of one goes on in the next.
// Before the reader asks, each card holds its first text alone: enough to guess from.
function drawCards(fig, { told, memory }, { fit, text }) {
  const left = 2,
    wide = fig.width - 4,
    strip = LINES * wide;
  const said = fit.map((n) => (n === 0 ? "not one" : told ? count(n, "text") : "how many?"));
  fig.clear(
    `Five cards of ${bytes(memory)}. ` +
      KEYS.map((key, i) => {
        if (!fit[i]) return `${SCHEMES[key]}: one text is larger than the card.`;
        return told
          ? `${SCHEMES[key]}: ${count(fit[i], "text")}, and ${bytes(memory - fit[i] * text[i])} left over.`
          : `${SCHEMES[key]}: one text lies there and takes ${bytes(text[i])}.`;
      }).join(" "),
  );
  KEYS.forEach((key, i) => {
    const top = CARD * i + 28,
      from = top + 8,
      each = (strip * text[i]) / memory,
      seam = each < 3 ? 0 : 1; // tiles that are too thin for a seam are one block
    fig.text([left, top], SCHEMES[key], "small", "start");
    const thin = told && fit[i] && !seam ? ", too thin to draw one by one" : "";
    fig.text([fig.width - 2, top], said[i] + thin, "small", "end");
    for (let k = 0; k < LINES; k++) fig.rect([left, from + k * LINE.every], [wide, LINE.tall], "hair card");
    if (!fit[i]) return fig.add("path", { d: tile(left, from, wide, 0, strip), class: "fill wrong" });
    const whole = told ? fit[i] : 1,
      pieces = seam ? Array.from({ length: whole }, (_, n) => [n * each, (n + 1) * each - seam]) : [[0, whole * each]];
    const d = pieces.map(([start, end]) => tile(left, from, wide, start, Math.max(end, start + 1))).join("");
    fig.add("path", { d, class: "fill one tiles" });
  });
  const foot = `a tile is one text; three lines are ${bytes(memory)}`;
  fig.text([left, fig.height - 6], foot, "small muted", "start");
}

/** The piece of a strip from `start` to `end`, laid into lines of this width. */
function tile(left, top, wide, start, end) {
  let d = "";
  for (let k = Math.floor(start / wide); k < LINES && k * wide < end; k++) {
    const a = Math.max(start - k * wide, 0),
      b = Math.min(end - k * wide, wide);
    if (b - a > 1e-6)
      d += `M${(left + a).toFixed(2)} ${top + k * LINE.every}h${(b - a).toFixed(2)}v${LINE.tall}h${(a - b).toFixed(2)}z`;
  }
  return d;
}

export default widget({ compute, build, smooth: ["layers", "heads", "kv_heads", "head_dim", "latent", "rope"] });
