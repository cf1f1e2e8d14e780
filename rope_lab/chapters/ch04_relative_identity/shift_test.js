import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const REACH = 40;

/** The cases of a family: a name, and what query and key have that plain RoPE with base 10,000 has not. */
const familiesOf = (other) => ({
  maps: [
    ["A: $γ^m$ and $γ^n$", { power: 1 }, { power: 1 }],
    ["B: $γ^m$ and $γ^{-n}$", { power: 1 }, { power: -1 }],
    ["C: keys alone, $γ^n$", {}, { power: 1 }],
    ["D: two bases", {}, { base: other }],
  ],
  codes: [
    ["as trained", {}, {}],
    ["another base", { base: other }, { base: other }],
    ["another layout", { half: true }, { half: true }],
    ["another direction", { way: -1 }, { way: -1 }],
    ["no rotation", { way: 0 }, { way: 0 }],
    ["a minus lost", { lost: true }, { lost: true }],
  ],
});

/** Each logit at every shift, and whether it has stayed where it was until now. */
export function compute({ family, shift, query, key, at, gamma, other_base }) {
  const mapped = (x, n, { base = 10000, half = false, way = 1, power = 0, lost = false }) => {
    const d = x.length,
      y = [...x],
      size = gamma ** (power * n);
    for (let i = 0; i < d / 2; i++) {
      const [a, b] = half ? [i, i + d / 2] : [2 * i, 2 * i + 1],
        angle = n * way * base ** ((-2 * i) / d),
        [c, s] = [Math.cos(angle), Math.sin(angle)];
      y[a] = size * (c * x[a] + (lost ? s : -s) * x[b]);
      y[b] = size * (s * x[a] + c * x[b]);
    }
    return y;
  };
  const logits = familiesOf(other_base)[family].map(([, ofQuery, ofKey]) =>
    Array.from({ length: REACH + 1 }, (_, by) => {
      const k = mapped(key, at[1] + by, ofKey);
      return mapped(query, at[0] + by, ofQuery).reduce((sum, x, i) => sum + x * k[i], 0);
    }),
  );
  return {
    logits,
    stays: logits.map((own) => own.slice(0, Math.round(shift) + 1).every((logit) => Math.abs(logit - own[0]) < 1e-9)),
  };
}

function build(ui) {
  const { other_base: other, family } = ui.state,
    cases = familiesOf(other)[family];
  const fig = ui.figure({ label: "Logits while both words move", height: () => 48 * cases.length + 24 });
  const write = ui.readout({ stays: "unchanged logits" });
  ui.slider("shift", { label: "both words move by", step: 1, look: "two", show: (v) => `${number(v, 0)} positions` });
  ui.play("shift", { label: "Move on", seconds: 5 });
  return (state, values) => {
    const count = values.stays.filter(Boolean).length,
      told = state.shift ? `${count} of ${cases.length}` : "not moved";
    write({ stays: told });
    draw(ui, fig, cases, state, values);
    ui.say(
      state.shift
        ? `Moved by ${number(state.shift, 0)}: ${told} logits stayed: ` +
            `${cases
              .filter((_, i) => values.stays[i])
              .map(([name]) => name.replaceAll("$", ""))
              .join("; ")}.`
        : "Not moved yet.",
    );
  };
}

function draw(ui, fig, cases, { shift }, { logits, stays }) {
  const left = 8,
    right = fig.width - 12,
    row = (fig.height - 22) / cases.length,
    until = Math.round(shift);
  const changes = logits.map((own) => own.map((logit) => logit - own[0])),
    most = Math.max(0.5, ...changes.flat().map(Math.abs)),
    X = (by) => left + (by / REACH) * (right - left);
  fig.clear(
    until
      ? cases.map(([name], i) => `${name.replaceAll("$", "")}: ${stays[i] ? "stayed" : "changed"}`).join("; ")
      : "Each logit before the words move.",
  );
  cases.forEach(([name, ,], i) => {
    const y = (i + 0.62) * row,
      Y = (by) => y - (Math.sign(changes[i][by]) * Math.sqrt(Math.abs(changes[i][by]) / most) * row) / 5,
      look = stays[i] ? "one" : "wrong";
    fig.line([X(0), y], [X(REACH), y], "hair");
    fig.text([left, y - row * 0.4 + 4], name, "small", "start");
    if (!ui.locked && until) {
      fig.text([right, y - row * 0.4 + 4], stays[i] ? "stays" : "changes", `small ${look}`, "end");
      fig.path(
        Array.from({ length: until + 1 }, (_, by) => [X(by), Y(by)]),
        `line ${look}`,
      );
    }
    fig.circle([X(until), Y(until)], 5, `fill ${look}`);
  });
  fig.text([right, fig.height - 4], "both words move along the text", "small muted", "end");
}

export default widget({ compute, build, smooth: [] });
