import { html, number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const WAYS = ["rotated", "added"];
const place = ([x, y], angle, amplitude, way) => {
  const c = Math.cos(angle),
    s = Math.sin(angle);
  return way === "rotated" ? [x * c - y * s, x * s + y * c] : [x + amplitude * c, y + amplitude * s];
};

function sentence(state, shift, way) {
  const [q_placed, k_placed] = [state.q, state.k].map((list) =>
    list.map((v, i) => place(v, (shift + i) * state.theta, state.amplitude, way)),
  );
  const logits = q_placed.flatMap((q, m) => k_placed.slice(0, m).map((k) => q[0] * k[0] + q[1] * k[1]));
  return { q_placed, k_placed, logits };
}

function row(state, way) {
  const now = sentence(state, state.shift, way),
    home = sentence(state, 0, way).logits;
  return { ...now, home, change: Math.max(...now.logits.map((logit, i) => Math.abs(logit - home[i]))) };
}

/** The words and their vectors; for each way hands and logits at this shift, and how far any logit has moved. */
export function compute(state) {
  const typed = state.typed.split(" ").filter(Boolean),
    words = (typed.length < 2 ? state.example : typed).slice(0, state.q.length);
  const [q, k] = [state.q, state.k].map((list) => words.map((word) => list[words.indexOf(word)]));
  return { words, q, k, ...Object.fromEntries(WAYS.map((way) => [way, row({ ...state, q, k }, way)])) };
}

const SAID = {
  rotated: {
    title: "Rotated: each word is turned by its position",
    moved: "Every hand has turned. No disc has changed.",
  },
  added: {
    title: "Added: each word gets a vector of its position",
    moved: "The hands have moved, and the discs with them.",
  },
};

function build(ui) {
  const hosts = html("div", { class: "rope-rows" });
  const rows = WAYS.map((way) => {
    const host = hosts.appendChild(html("section", { class: `rope-${way}` })),
      title = host.appendChild(html("p", { class: "rope-name" }, SAID[way].title));
    const fig = ui.figure({
      label: `${title.textContent}: one clock for each word, and below it one disc for each pair of words`,
      height: (width) => 70 + (3.45 * width) / 6,
      host,
    });
    const verdict = host.appendChild(html("p", { class: "rope-verdict" }));
    const write = ui.readout({ [way]: "largest change of any score" }, { host });
    return { way, fig, verdict, write };
  });
  ui.stage.append(hosts);
  ui.slider("shift", { label: "move the whole sentence along by", step: 1 });
  ui.play("shift", { label: "Walk it along", perSecond: 4 });
  ui.text("typed", { label: "your own words, two to six", longest: 60, host: ui.below });
  const word = (look, text) => html("span", { class: look }, text);
  ui.below.append(
    html(
      "p",
      { class: "rope-note" },
      "In each clock are two hands: a word’s ",
      word("query", "query"),
      " (solid), what it looks for, and its ",
      word("key", "key"),
      " (dashed), what it offers. Each pair of words has a disc, where their diagonals meet. Its size is their " +
        "score, the dot product of the later word’s query and the earlier word’s key; the score is called the " +
        "logit. A filled disc is positive, an open one negative. When a disc changes, a dotted ring shows how " +
        "large it was at the start.",
    ),
  );

  return (state, values) => {
    for (const { way, fig, verdict, write } of rows) {
      verdict.textContent = state.shift > 0.5 ? SAID[way].moved : "Move the sentence along. Watch the discs.";
      write({ [way]: number(values[way].change, 3) });
      draw(fig, { ...state, ...values }, values[way], way);
    }
    ui.say(
      `Sentence moved along by ${Math.round(state.shift)}. Largest change of any score: rotated ` +
        `${number(values.rotated.change, 3)}, added ${number(values.added.change, 3)}.`,
    );
  };
}

function draw(fig, { shift, words, amplitude, q, k }, { q_placed, k_placed, logits, home, change }, way) {
  const column = fig.width / words.length,
    x = (i) => (i + 0.5) * column;
  const R = column * 0.39,
    face = 30 + R,
    ruler = face + R + 16,
    top = ruler + 26 + column * 0.42,
    unit = R / 0.95;
  fig.clear(
    `${words.join(" ")}, from position ${Math.round(shift)}, positions ${way}. Largest change of ` +
      `any score: ${number(change, 3)}.`,
  );

  // The lattice: every pair of words meets where their diagonals cross.
  const meet = (later, earlier) => [(x(later) + x(earlier)) / 2, top + ((later - earlier - 1) * column) / 2];
  const last = words.length - 1;
  for (let i = 0; i <= last; i++) {
    if (i < last) fig.line([x(i) + column * 0.18, top - column * 0.32], meet(last, i), "hair");
    if (i > 0) fig.line([x(i) - column * 0.18, top - column * 0.32], meet(i, 0), "hair");
  }

  words.forEach((word, i) => {
    fig.text([x(i), 18], word.length > 7 ? `${word.slice(0, 6)}…` : word, "word");
    fig.circle([x(i), face], R, "hair");
    for (const [vector, from, look] of [
      [q_placed[i], q[i], "query"],
      [k_placed[i], k[i], "key"],
    ]) {
      const tip = ([a, b]) => [x(i) + a * unit, face - b * unit];
      if (way === "added") fig.circle(tip(from), amplitude * unit, "hair");
      fig.hand([x(i), face], tip(vector), look);
    }
    fig.circle([x(i), face], 2.5, "fill");
  });

  // The ruler of positions glides under the sentence.
  fig.line([0, ruler], [fig.width, ruler], "axis");
  for (let p = Math.ceil(shift - 0.45); p <= shift + last + 0.45; p++) {
    fig.line([x(p - shift), ruler], [x(p - shift), ruler + 5], "axis");
    fig.text([x(p - shift), ruler + 20], number(p, 0), "small muted");
  }

  let pair = 0;
  const radius = (logit) => column * 0.3 * Math.sqrt(Math.min(1.6, Math.abs(logit)));
  for (let later = 1; later <= last; later++) {
    for (let earlier = 0; earlier < later; earlier++, pair++) {
      const at = meet(later, earlier);
      fig.circle(at, radius(logits[pair]), logits[pair] < 0 ? "paper" : "fill");
      if (Math.abs(logits[pair] - home[pair]) > 1e-6)
        fig.circle(at, radius(home[pair]), `line thin ring ${logits[pair] > Math.abs(home[pair]) ? "inside" : ""}`);
    }
  }
}

export default widget({ compute, build, smooth: ["shift"] });
