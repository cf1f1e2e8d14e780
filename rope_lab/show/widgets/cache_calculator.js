import { html, number } from "./draw.js";
import { widget } from "./kit.js";

const SCHEMES = { mha: "MHA", gqa: "GQA", mqa: "MQA", mla: "MLA", shared: "shared" };
const KEYS = Object.keys(SCHEMES);

/** What each scheme keeps. */
export function compute({ layers, heads, kv_heads, head_dim, latent, rope, log_context, size, zoom, memory }) {
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
    scale: Math.max(...(zoom ? numbers.slice(2) : numbers)),
  };
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
function bytes(value) {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(value) / 10 + 1e-9)));
  const scaled = value / 2 ** (10 * power);
  return `${number(scaled, scaled >= 100 || Number.isInteger(scaled) ? 0 : 1)} ${UNITS[power]}`;
}
const times = (n) => Math.round(n).toLocaleString("en-US");

function build(ui) {
  const presets = ui.model.get("_presets");
  const row = html("div", { class: "rope-models", role: "group", "aria-label": "Shapes of published models" });
  ui.panel.append(row);
  const buttons = presets.map(({ name, built, ...shape }) => ui.button(name, () => ui.set(shape), { host: row }));
  const fig = ui.figure({
    label: "Bytes that one token leaves in the cache, scheme by scheme",
    height: () => 5 * 56 + 34,
  });
  const write = ui.readout(Object.fromEntries(KEYS.map((key) => [key, SCHEMES[key]])), { host: ui.stage });
  const whole = (name, label, step) => ui.slider(name, { label, step, show: (v) => String(Math.round(v)) });
  whole("layers", "layers", 1);
  whole("heads", "heads, $H$", 1);
  whole("kv_heads", "groups of GQA, $G$", 1);
  whole("head_dim", "width of a head, $d$", 32);
  whole("latent", "width of the latent, $d_c$", 64);
  whole("rope", "MLA's rotary key, $d_r$", 16);
  ui.slider("log_context", { label: "tokens in a text", step: 1, show: (v) => times(2 ** v) });
  ui.toggle("zoom", { label: "scale of the three small ones" });
  ui.choice("size", { label: "bytes of one number", options: { 1: "1", 2: "2", 4: "4" } });

  return (state, values) => {
    const wanted = ui.state; // not the eased state: a button is pressed at once
    const at = presets.findIndex(({ name, built, ...shape }) =>
      Object.entries(shape).every(([key, v]) => wanted[key] === v),
    );
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === at)));
    write(
      Object.fromEntries(
        KEYS.map((key, i) => [
          key,
          `${bytes(values.text[i])} a text, ${values.fit[i] ? times(values.fit[i]) : "none"} in 80 GiB`,
        ]),
      ),
    );
    drawBars(ui, fig, state, values, at < 0 ? "" : presets[at].built);
    ui.say(`One token leaves ${KEYS.map((key, i) => `${SCHEMES[key]} ${bytes(values.per_token[i])}`).join(", ")}`);
  };
}

function drawBars(ui, fig, { layers, heads, kv_heads, latent, rope }, { numbers, per_token, scale }, built) {
  const left = 2,
    right = fig.width - 26,
    X = (n) => left + Math.min(1, n / scale) * (right - left);
  const groups = Math.min(Math.round(kv_heads), Math.round(heads)),
    count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const words = [
    count(Math.round(heads), "key") + ` and ${count(Math.round(heads), "value")}`,
    count(groups, "key") + ` and ${count(groups, "value")}`,
    "1 key and 1 value",
    `latent ${Math.round(latent)} and key ${Math.round(rope)}`,
    `latent ${Math.round(latent)}, nothing else`,
  ];
  fig.clear(
    `One token in ${Math.round(layers)} layers. ` +
      `${KEYS.map((key, i) => `${SCHEMES[key]}: ${words[i]}, ${bytes(per_token[i])}`).join(". ")}.`,
  );
  KEYS.forEach((key, i) => {
    const y = 56 * i + 16,
      end = X(numbers[i]),
      bar = y + 9,
      tall = 20,
      look = built === key ? "small built" : "small";
    fig.text([left, y], `${SCHEMES[key]}${built === key ? " (as built)" : ""}: ${words[i]}`, look, "start");
    fig.text([fig.width - 2, y], bytes(per_token[i]), look, "end");
    if (i < 3) {
      const half = (left + end) / 2;
      fig.rect([left, bar], [half - left, tall], "fill key");
      fig.rect([half, bar], [end - half, tall], "fill value");
      if (numbers[i] > scale * 1.001) fig.text([right + 4, bar + 15], "→", "small", "start"); // longer than the figure
    } else {
      // one tensor is both: key above, value below
      const both = X(latent);
      fig.rect([left, bar], [both - left, tall / 2], "fill key");
      fig.rect([left, bar + tall / 2], [both - left, tall / 2], "fill value");
      if (i === 3) fig.rect([both, bar], [end - both, tall / 2], "fill key");
    }
  });
  const y = 56 * 4 + 16 + 9 + 10,
    end = X(numbers[4]);
  fig.circle([end, y], 6, "paper");
  fig.handle("latent", [end, y], ([x]) => {
    ui.set({ latent: ui.nearest("latent", ((x - left) / (right - left)) * scale) }, { now: true });
  });
  fig.text([left, 5 * 56 + 24], "left or above, blue: key; right or below, green: value", "small muted", "start");
}

export default widget({ compute, build, smooth: ["layers", "heads", "kv_heads", "head_dim", "latent", "rope"] });
