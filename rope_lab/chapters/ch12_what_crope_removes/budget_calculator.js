import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const PARTS = ["$Q$, $K$ and $V$", "attention", "the block", "the model"];
const PRESETS = {
  "the paper's size": { log_width: 7, layers: 4, mlp: 8, vocab: 50, tied: true, bias: false },
  "a 7B shape": { log_width: 12, layers: 32, mlp: 8.0625, vocab: 32, tied: false, bias: false },
  "attention alone": { mlp: 0, vocab: 0, bias: false },
};

/** What is saved, and of how much. */
export function compute({ log_width, layers, mlp, vocab, tied, bias, reading }) {
  const n = 2 ** log_width,
    hidden = Math.round((mlp * n) / 2),
    b = bias ? 1 : 0;
  const count = (which) => {
    const inner = which === "narrow" ? n / 2 : n,
      complex = { qkv: "qkv", qkvo: "qkvo" }[which] ?? "";
    const role = (name) => layers * ((n * inner) / (complex.includes(name) ? 2 : 1) + b * (name === "o" ? n : inner));
    const qkv = role("q") + role("k") + role("v"),
      attention = qkv + role("o");
    const block = attention + layers * (2 * n * hidden + b * (hidden + n)) + 2 * layers * b * 2 * n;
    return [qkv, attention, block, block + b * 2 * n + 1000 * vocab * n * (tied ? 1 : 2)];
  };
  const whole = count("dense"),
    small = count(reading),
    saved = whole.map((w, i) => w - small[i]);
  return { whole, saved, share: saved.map((s, i) => s / whole[i]) };
}

const percent = (share) => `${number(100 * share, 2)}\u00a0%`;
const size = (count) => {
  const [unit, by] = count >= 1e9 ? ["billion", 1e9] : count >= 1e6 ? ["million", 1e6] : ["thousand", 1e3];
  return `${number(count / by, 2)} ${unit}`;
};

function build(ui) {
  const fig = ui.figure({ label: "What is saved of four wholes", height: () => 274 });
  ui.slider("log_width", { label: "width $D$ of the stream", step: 1, show: (v) => String(2 ** v) });
  const rest = ui.more("The rest of the model's shape");
  ui.slider("mlp", { label: "MLP weights, in units of $D^2$", step: 0.0625, look: "one", host: rest });
  ui.slider("vocab", { label: "vocabulary, thousands", step: 1, look: "two", host: rest });
  ui.slider("layers", { label: "layers", step: 1, host: rest });
  ui.choice("reading", {
    label: "what is halved (section 5.1)",
    options: { qkv: "Q, K, V", qkvo: "all four", narrow: "each head" },
    host: rest,
  });
  ui.toggle("tied", { label: "one matrix for embedding and head", host: rest });
  ui.toggle("bias", { label: "biases and norms", host: rest });
  ui.tries(PRESETS);
  const write = ui.readout({ block: "saved of the block", saved: "parameters saved", model: "of the model's" });

  return (state, values) => {
    write({
      block: percent(values.share[2]),
      saved: size(values.saved[3]),
      model: size(values.whole[3]),
    });
    draw(ui, fig, state, values);
    ui.say(
      "Saved: " +
        `${PARTS.map((part, i) => `${percent(values.share[i])} of ${part.replaceAll("$", "")}`).join(", ")}; ` +
        `${size(values.saved[3])} of ${size(values.whole[3])} parameters`,
    );
  };
}

function draw(ui, fig, state, { whole, saved, share }) {
  const left = 2,
    right = fig.width - 14,
    row = (fig.height - 34) / 4,
    tall = Math.min(20, row - 30),
    X = (s) => left + s * (right - left);
  fig.clear(`Shares saved: ${PARTS.map((part, i) => `${part.replaceAll("$", "")} ${percent(share[i])}`).join(", ")}.`);
  for (const s of [0, 0.25, 0.5, 0.75, 1]) {
    fig.line([X(s), 22], [X(s), 4 * row + 4], "hair");
    fig.text([X(s), 4 * row + 22], `${100 * s}\u00a0%`, "small muted", { 0: "start", 1: "end" }[s] ?? "middle");
  }
  PARTS.forEach((part, i) => {
    const y = row * i + 16;
    fig.text([left, y], `saved of ${part}`, "small", "start");
    fig.rect([left, y + 9], [right - left, tall], "line thin muted");
    fig.text([right, y], percent(share[i]), "small", "end");
    fig.rect([left, y + 9], [X(share[i]) - left, tall], i === 2 ? "fill one" : i === 3 ? "fill two" : "fill muted");
  });
  // The ends of the two lower bars can be dragged: each asks for another size of what stands beside attention.
  const n2 = state.layers * 4 ** state.log_width,
    asked = (x) => Math.max(1e-4, (x - left) / (right - left));
  const grip = (name, i, patch) => {
    const at = [X(share[i]), row * i + 25 + tall / 2];
    fig.circle(at, 6, "paper");
    fig.handle(name, at, ([x]) => ui.set(patch(saved[i] / asked(x)), { now: true }));
  };
  grip("mlp", 2, (total) => ({ mlp: ui.nearest("mlp", (total - whole[1]) / n2) }));
  grip("vocab", 3, (total) => ({
    vocab: ui.nearest("vocab", (total - whole[2]) / (1000 * 2 ** state.log_width * (state.tied ? 1 : 2))),
  }));
}

export default widget({ compute, build });
