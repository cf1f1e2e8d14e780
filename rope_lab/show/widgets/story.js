import { html, number } from "./draw.js";
import { widget } from "./kit.js";
import {
  angles,
  choose,
  crc32,
  decoded,
  frequencies,
  loss,
  Model,
  pairs,
  Run,
  random,
  START,
  TRAINED,
  turns,
  Vocabulary,
} from "./story_model.js";

const LONGEST = 512, // the window of the training
  NEW_LINE = 10, // a byte
  SHOWN = 64, // tokens in the picture of a head
  BOOK = 'script[src*="rope-widgets.js"]'; // on the page where there is a book, and not in a notebook

/** The knobs of the model, from the state of the widget. */
const knobsOf = (state) => ({
  shift: state.shift,
  layout: state.pairing,
  direction: state.backwards ? -1 : 1,
  base: state.base,
  frozen: state.frozen ? [state.frozen] : [],
  stretch: state.stretch,
  none: state.none,
  round_angles: state.round_angles,
  round_positions: state.round_positions,
  scaling: state.scaling,
  factor: state.factor,
  window: Number(state.window),
  sinks: state.sinks ? 4 : 0,
  returned: state.returned,
});

/** Cosines and sines of the four planes, where the query stands and where the key stands. */
export function compute(state) {
  const knobs = knobsOf(state),
    made = frequencies(knobs);
  return { query: turns(state.query, made, knobs), key: turns(state.key, made, knobs) };
}

// What the views of one widget share: the weights, and the text as trained with what was measured on it.
let story, home;

/** The model: from the book's own file where there is a book, and from Python in a notebook. */
async function load(ui) {
  const book = document.querySelector(BOOK),
    bytes = book ? decoded(await script(new URL("story-weights.js", book.src).href)) : await fromPython(ui.model),
    [expected, got] = [ui.model.get("_check_sum"), crc32(bytes)];
  if (got !== expected)
    throw new Error(`its weights are damaged, for their check sum is ${got} and not ${expected}; load the page again`);
  return new Model(bytes);
}
/** What the file story-weights.js puts in its place, for all modules of the page. */
function script(src) {
  globalThis.ropeStory ??= new Promise((done, failed) => {
    const tag = html("script", { src }),
      gone = () => failed(new Error("the file story-weights.js is missing or damaged; load the page again"));
    tag.onload = () => (globalThis.ropeStoryWeights ? done(globalThis.ropeStoryWeights) : gone());
    tag.onerror = gone;
    document.head.append(tag);
  });
  return globalThis.ropeStory;
}
const fromPython = (model) =>
  new Promise((done, failed) => {
    const wait = setTimeout(() => failed(new Error("Python does not answer; run the cell again")), 15000);
    const answer = (message, buffers) => {
      if (message !== "weights") return;
      clearTimeout(wait);
      model.off("msg:custom", answer);
      done(new Uint8Array(buffers[0].buffer ?? buffers[0]));
    };
    model.on("msg:custom", answer);
    model.send("weights");
  });

// Work in pieces of a few milliseconds, so that the page stays alive.
const channel = new MessageChannel(),
  waiting = [];
channel.port1.onmessage = () => waiting.shift()();
const pause = () =>
  new Promise((done) => {
    waiting.push(done);
    channel.port2.postMessage(0);
  });
const later = () => performance.now() + 12;

/** The prompt and what follows, as tokens; null if it was no longer wanted. */
async function write(model, vocabulary, knobs, { prompt, n_tokens: n, temperature, seed }, live) {
  const tokens = vocabulary.encode(prompt),
    length = tokens.length,
    run = new Run(model, knobs, { capacity: length + n }),
    draw = random(seed);
  for (let i = 0, due = later(); i < length + n - 1; i++) {
    const scores = run.step(tokens[i]);
    if (i >= length - 1) tokens.push(choose(scores, temperature, draw));
    if (performance.now() > due) {
      await pause();
      if (!live()) return null;
      due = later();
    }
  }
  return tokens;
}

/** The loss at each token of a text, the scores, and by how much they are other than `others`; null likewise. */
async function read(model, knobs, tokens, live, others) {
  const run = new Run(model, knobs, { capacity: tokens.length }),
    losses = [],
    scores = [];
  let change = 0;
  for (let i = 0, due = later(); i < tokens.length - 1; i++) {
    const now = run.step(tokens[i]);
    losses.push(loss(now, tokens[i + 1]));
    if (others) for (let j = 0; j < now.length; j++) change = Math.max(change, Math.abs(now[j] - others[i][j]));
    else scores.push(now.slice());
    if (performance.now() > due) {
      await pause();
      if (!live()) return null;
      due = later();
    }
  }
  return { losses, scores, change };
}

/** What one head does with the first tokens of a text. */
function look(model, knobs, tokens, { layer, head }) {
  const run = new Run(model, knobs, { capacity: tokens.length, watch: { layer: layer - 1, head: head - 1 } });
  for (const token of tokens.slice(0, SHOWN)) run.step(token);
  return run.seen;
}

const SYMPTOMS = [
  {
    name: "Nothing changes",
    knobs: { shift: 1000 },
    says: "Every position is 1000 larger, every hand stands elsewhere, and the text is the same.",
    chapter: ["1", "01_one_plane"],
  },
  {
    name: "Fine at first, then gibberish",
    knobs: { pairing: "half" },
    says: "The weights were trained with neighbours as pairs. This code pairs each component with one of the other half.",
    chapter: ["3", "03_two_layouts"],
  },
  {
    name: "Repeats itself",
    knobs: { none: true },
    says: "Nothing turns, so the model cannot see the order of the words before it.",
    chapter: ["1", "01_one_plane"],
  },
  {
    name: "Says the same phrase again",
    knobs: { backwards: true },
    says: "The planes turn the other way: what stood before a word now seems to stand after it.",
    chapter: ["4", "04_relative_identity"],
  },
  {
    name: "Good until token 256",
    knobs: { round_positions: "bfloat16", n_tokens: 384 },
    says: "The positions were rounded to bfloat16, which has no odd numbers above 256.",
    chapter: ["18", "18_precision"],
  },
  {
    name: "Good until token 512",
    knobs: { base: 1000, n_tokens: 640 },
    says: "The base is 1000 instead of 10,000, so the slow planes turn too fast. Far words are then seen at angles that the training never had.",
    chapter: ["2", "02_many_planes"],
  },
  {
    name: "A story that stumbles",
    knobs: { frozen: 1 },
    says: "The fastest of the four planes stands still, and with it goes the order of close neighbours.",
    chapter: ["2", "02_many_planes"],
  },
];

const ROUNDINGS = { none: "no", bfloat16: "bfloat16", float16: "float16" };
const KNOBS = {
  shift: (ui, host) =>
    ui.slider("shift", {
      label: "move all positions by",
      step: 1,
      scale: "log",
      show: (v) => v.toLocaleString("en"),
      host,
    }),
  pairing: (ui, host) =>
    ui.choice("pairing", {
      label: "the code pairs",
      options: { interleaved: "neighbours, as trained", half: "halves" },
      host,
    }),
  base: (ui, host) =>
    ui.slider("base", {
      label: "base of the frequencies (10,000 as trained)",
      step: 100,
      scale: "log",
      show: (v) => v.toLocaleString("en"),
      host,
    }),
  frozen: (ui, host) =>
    ui.slider("frozen", {
      label: "a plane that stands still",
      step: 1,
      show: (v) => ["none", "1, the fastest", "2", "3", "4, the slowest"][v],
      host,
    }),
  stretch: (ui, host) =>
    ui.slider("stretch", { label: "multiply all positions by", step: 0.05, show: (v) => number(v, 2), host }),
  backwards: (ui, host) => ui.toggle("backwards", { label: "turn in the other direction", host }),
  none: (ui, host) => ui.toggle("none", { label: "do not turn at all", host }),
  round_positions: (ui, host) =>
    ui.choice("round_positions", { label: "round the positions to", options: ROUNDINGS, host }),
  round_angles: (ui, host) => ui.choice("round_angles", { label: "round the angles to", options: ROUNDINGS, host }),
  scaling: (ui, host) =>
    ui.choice("scaling", {
      label: "frequencies for longer texts",
      options: { none: "as trained", linear: "interpolation", ntk: "NTK", yarn: "YaRN" },
      host,
    }),
  factor: (ui, host) => ui.slider("factor", { label: "made for a text this many times longer", step: 1, host }),
  window: (ui, host) =>
    ui.choice("window", {
      label: "the cache keeps",
      options: { 0: "everything", 8: "8 tokens", 64: "64", 256: "256" },
      host,
    }),
  sinks: (ui, host) => ui.toggle("sinks", { label: "the first four tokens always stay", host }),
  returned: (ui, host) =>
    ui.toggle("returned", { label: "kept keys turn to new places, counted from the first", host }),
  n_tokens: (ui, host) => ui.slider("n_tokens", { label: "tokens to write", step: 16, host }),
  temperature: (ui, host) =>
    ui.slider("temperature", {
      label: "temperature",
      step: 0.1,
      show: (v) => (v ? number(v, 1) : "0, the likeliest token"),
      host,
    }),
  seed: (ui, host) => ui.slider("seed", { label: "seed of the draws", step: 1, host }),
};
const PLAIN = {
  shift: 0,
  stretch: 1,
  pairing: "interleaved",
  backwards: false,
  none: false,
  frozen: 0,
  base: 10000,
  round_positions: "none",
  round_angles: "none",
  scaling: "none",
  factor: 4,
  window: "0",
  sinks: false,
  returned: false,
  n_tokens: 64,
  temperature: 0,
  seed: 1,
};
const OPEN = 2; // groups that stand open: few readers need the others
const GROUPS = [
  ["Where the words stand", ["shift", "stretch"]],
  ["How the planes turn", ["pairing", "backwards", "none", "frozen", "base"]],
  ["Rounding", ["round_positions", "round_angles"]],
  ["Longer texts than 512 tokens", ["scaling", "factor"]],
  ["A cache that forgets", ["window", "sinks", "returned"]],
  ["Length, temperature, seed", ["n_tokens", "temperature", "seed"]],
];

/** The first token in which two texts differ, or -1. */
function parting(one, other) {
  const at = one.findIndex((token, i) => token !== other[i]);
  return at < 0 && one.length !== other.length ? one.length : at;
}

const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
/** A small number in powers of ten, and any other as it is. */
function small(value) {
  if (value === 0 || value >= 0.001) return number(value, 3);
  const power = Math.floor(Math.log10(value));
  return `${number(value / 10 ** power, 1)} · $10^{${power}}$`;
}

function build(ui) {
  const knobs = ui.model.get("_knobs"),
    whole = knobs.length === 0,
    vocabulary = new Vocabulary(ui.model.get("_pieces")),
    shown = { ...ui.model.get("_transcript") }; // trained, altered, losses, change
  const chosen = [
    "prompt",
    ...(whole ? GROUPS.flatMap(([, names]) => names) : knobs),
    "n_tokens",
    "temperature",
    "seed",
  ];

  const texts = ["trained", "altered"].map((side) => {
    const text = html("p", { class: "rope-words", tabindex: 0 }),
      name = side === "trained" ? "As trained" : "Altered",
      box = html("section", { class: `rope-text rope-side-${side}`, "aria-label": name }, html("h4", {}, name), text);
    return { side, text, box };
  });
  const verdict = html("p", { class: "rope-verdict" }),
    says = html("p", { class: "rope-says" }),
    status = html("p", { class: "rope-status", role: "status" });
  if (whole) symptomsOf(ui);
  if (whole) ui.text("prompt", { label: "Both texts begin with", longest: 2000, host: ui.stage });
  const measured = html("div", { class: "rope-measured" });
  ui.stage.append(
    verdict,
    says,
    status,
    html("div", { class: "rope-texts" }, ...texts.map(({ box }) => box)),
    measured,
  );
  if (whole) {
    GROUPS.forEach(([title, names], i) => {
      const group = () => html("fieldset", { class: "rope-group" }, html("legend", {}, title)),
        host = i < OPEN ? ui.panel.appendChild(group()) : ui.more(title, { host: ui.panel });
      for (const name of names) KNOBS[name](ui, host);
    });
  } else for (const name of knobs) KNOBS[name](ui, ui.panel);
  const tell = ui.readout(
    { change: "largest change of any score", trained: "mean loss, as trained", altered: "mean loss, altered" },
    { host: measured },
  );
  const label = "How surprised both are by each token of the text as trained";
  const curve = ui.model.get("_curve") && ui.figure({ label, height: () => 180, host: measured });
  const inside = whole ? headOf(ui, vocabulary, () => paint()) : null;

  let model = null,
    job = 0,
    last = "";
  const keyOf = (state) => JSON.stringify(chosen.map((name) => state[name]));
  const sampling = (state) => JSON.stringify([state.prompt, state.n_tokens, state.temperature, state.seed]);

  function start() {
    story ??= load(ui);
    if (!model) status.textContent = "The model is on its way: 0.7 MB, once.";
    return story.then(
      (found) => {
        if (!model) status.textContent = "";
        model = found;
      },
      (error) => {
        story = globalThis.ropeStory = undefined;
        status.textContent = `The model did not load: ${error.message}.`;
        throw error;
      },
    );
  }
  /** Write and read again, unless nothing that matters has changed. */
  async function work() {
    const state = ui.state,
      key = keyOf(state);
    if (key === last) return;
    last = key;
    const mine = ++job,
      live = () => mine === job,
      knobs = knobsOf(state),
      began = performance.now();
    ui.root.dataset.asked = key;
    const asked = state.prompt.trim() ? vocabulary.encode(state.prompt).length : 0;
    if (!asked || asked > LONGEST) {
      status.textContent = asked
        ? `The prompt has ${asked} tokens, and the model was trained on at most ${LONGEST}: shorten it.`
        : "The prompt is empty: write a word or two for the story to begin with.";
      return;
    }
    const reach = asked + state.n_tokens - 2,
      { theta } = frequencies(knobs);
    if (!angles(reach, theta, knobs).every(Number.isFinite)) {
      status.textContent = "float16 ends at 65,504, and these positions go further: give them a smaller shift.";
      return;
    }
    status.textContent = "";
    if (home?.key !== sampling(state)) {
      const tokens = await write(model, vocabulary, TRAINED, state, live),
        reading = tokens && (await read(model, TRAINED, tokens, live));
      if (!reading) return;
      home = { key: sampling(state), tokens, ...reading };
    }
    const altered = await write(model, vocabulary, knobs, state, live);
    if (!altered) return;
    Object.assign(shown, { trained: home.tokens, altered, prompt: asked, losses: null, change: null });
    paint();
    ui.root.dataset.wrote = (performance.now() - began).toFixed(1);
    const reading = await read(model, knobs, home.tokens, live, home.scores);
    if (!reading) return;
    Object.assign(shown, { losses: { trained: home.losses, altered: reading.losses }, change: reading.change });
    paint();
    ui.root.dataset.done = key;
  }
  const act = () =>
    start()
      .then(() => {
        paint(); // the picture of a head may have waited for the weights
        return work();
      })
      .catch((error) => {
        if (model) ui.fail(error); // a file that did not load has its sentence
      });

  function paint() {
    const { trained, altered, losses, change, prompt } = shown;
    if (trained && altered) {
      const at = parting(trained, altered);
      for (const { side, text } of texts) spelled(text, vocabulary, shown[side], at, prompt);
      const word =
        wordsOf(vocabulary, trained.slice(0, at + 1)).length - wordsOf(vocabulary, trained.slice(0, prompt)).length;
      const costly = curve && losses ? costlyFrom(losses) : 0;
      verdict.textContent =
        at < 0 ? "Word for word the same." : `They part at word ${Math.max(1, word)} after the prompt.`;
      if (costly > 64) {
        const token = 10 * Math.round(costly / 10);
        verdict.textContent += ` From about token ${token} on the altered loss is more than a nat higher.`;
      }
    } else verdict.textContent = "Touch the figure, and the model writes here.";
    tell({
      change: losses ? small(change) : "…",
      trained: losses ? number(mean(losses.trained), 3) : "…",
      altered: losses ? number(mean(losses.altered), 3) : "…",
    });
    if (curve) drawLoss(curve, losses, prompt);
    inside?.(model, altered);
    ui.say(verdict.textContent);
  }
  for (const event of ["pointerdown", "focusin"]) ui.root.addEventListener(event, act, { once: true });
  const begun = keyOf(ui.initial);
  if (shown.trained) last = begun;
  return (state) => {
    const symptom = whole && SYMPTOMS.find(({ knobs }) => isSet(ui, knobs));
    says.replaceChildren(...(symptom ? [symptom.says, " ", chapter(symptom.chapter)] : []));
    for (const button of ui.stage.querySelectorAll("[data-symptom]"))
      button.setAttribute("aria-pressed", String(button.textContent === symptom?.name));
    paint();
    if (model || keyOf(state) !== begun) act(); // what stands there at first waits for a touch
  };
}

/** Everything as trained, but for the prompt. */
const untouched = () => Object.fromEntries(GROUPS.flatMap(([, names]) => names).map((name) => [name, PLAIN[name]]));
const isSet = (ui, knobs) =>
  Object.entries({ ...untouched(), ...knobs }).every(([name, value]) => ui.state[name] === value);
const chapter = ([n, page]) =>
  document.querySelector(BOOK)
    ? html("a", { href: `${page}.html` }, `Chapter ${n} explains it.`)
    : `Chapter ${n} explains it.`;

function symptomsOf(ui) {
  const row = html("div", { class: "rope-symptoms", role: "group", "aria-label": "symptoms" });
  ui.stage.append(html("p", { class: "rope-ask" }, "Which symptom do you know?"), row);
  for (const { name, knobs } of SYMPTOMS)
    ui.button(name, () => ui.set({ ...untouched(), ...knobs }), { host: row }).dataset.symptom = "";
}

/** Words of a text, each with the number of its first token: a word begins with a blank or a new line. */
function wordsOf(vocabulary, tokens) {
  const found = [];
  tokens.forEach((token, i) => {
    if (i === 0) return;
    const piece = token === START ? "\n∗ " : vocabulary.spell(token),
      part = piece === NEW_LINE ? "\n" : piece;
    if (!found.length || (typeof part === "string" && /^\s/.test(part))) found.push({ from: i, to: i, parts: [] });
    found.at(-1).parts.push(found.length === 1 && i === 1 ? String(part).replace(/^ /, "") : part);
    found.at(-1).to = i;
  });
  return found;
}
/** The words on the page: the prompt is quiet, the first word that differs is marked, bytes stand in boxes. */
function spelled(place, vocabulary, tokens, at, prompt) {
  const nodes = wordsOf(vocabulary, tokens).map(({ from, to, parts }) => {
    const space = typeof parts[0] === "string" ? /^\s*/.exec(parts[0])[0] : "",
      inner = parts.map((part, i) =>
        typeof part === "number"
          ? html("code", { title: "a byte of a character that the vocabulary lacks" }, byte(part))
          : i
            ? part
            : part.slice(space.length),
      );
    const look = at >= from && at <= to ? "mark" : "span";
    return [space, html(look, from < prompt ? { class: "rope-prompt" } : {}, ...inner)];
  });
  place.replaceChildren(...nodes.flat());
  const mark = place.querySelector("mark"),
    top = (of) => of.getBoundingClientRect().top;
  place.scrollTop = 0;
  if (mark) place.scrollTop = top(mark) - top(place) - place.clientHeight / 2;
}
const byte = (value) => value.toString(16).toUpperCase().padStart(2, "0");

/** The token from which on every 32 tokens cost the altered model more than a nat each, beyond the other; 0 if none. */
function costlyFrom({ trained, altered }) {
  const more = altered.map((loss, i) => loss - trained[i]);
  let from = 0;
  for (let i = more.length - 32; i >= 0 && mean(more.slice(i, i + 32)) > 1; i--) from = i + 16;
  return from;
}

function drawLoss(fig, losses, prompt) {
  if (!losses) return;
  const { trained, altered } = losses,
    n = trained.length,
    wide = Math.max(1, Math.round(n / 64)), // tokens in one mean
    top = 8;
  fig.clear(
    `Loss at each of ${n} tokens of the text as trained: mean ${number(mean(trained))} for the model as trained, ` +
      `${number(mean(altered))} for the altered one.`,
  );
  const { X, Y } = fig.axes({
    x: [0, n],
    y: [0, top],
    box: [22, 26, fig.width - 12, 138],
    yticks: [0, 4, 8],
    xlabel: "token of the text as trained",
    ylabel: "loss, in nats",
  });
  const line = (list, look) =>
    fig.path(
      Array.from({ length: Math.ceil(n / wide) }, (_, i) => {
        const part = list.slice(i * wide, (i + 1) * wide);
        return [X(i * wide + part.length / 2), Y(Math.min(top, mean(part)))];
      }),
      look,
    );
  fig.line([X(prompt - 1), Y(0)], [X(prompt - 1), Y(top)], "hair");
  line(trained, "line");
  line(altered, "line conjugate dash");
  fig.text([X(n), Y(top) - 6], "altered", "small conjugate", "end");
  fig.text([X(n) - 60, Y(top) - 6], "as trained", "small", "end");
}

/** One head: its attention as a picture, and its four clocks at one query and one key. */
function headOf(ui, vocabulary, paint) {
  const place = ui.more("Inside one head"),
    drawer = place.closest("details"),
    left = place.appendChild(html("div", {})),
    right = place.appendChild(html("div", { class: "rope-panel" }));
  const map = ui.figure({
    label: "Attention of one head: a row for each query, a column for each key",
    height: (width) => Math.min(width, 380) + 24,
    host: left,
  });
  for (const name of ["layer", "head"]) ui.slider(name, { label: name, step: 1, host: right });
  ui.slider("query", { label: "query: token $m$", step: 1, look: "query", host: right });
  ui.slider("key", { label: "key: token $n$", step: 1, look: "key", host: right });
  const clocks = ui.figure({ label: "The four planes of the head", height: (w) => w / 4 + 52, host: right }),
    note = right.appendChild(html("p", { class: "rope-says" }));
  const at = (event) => {
    const box = map.node.getBoundingClientRect(),
      cell = (Math.min(map.width, 380) * box.width) / map.width / rows;
    const [key, query] = [event.clientX - box.left, event.clientY - box.top].map((v) => Math.floor(v / cell));
    if (query >= 0 && query < rows && key >= 0 && key <= query) ui.set({ query, key }, { now: true });
  };
  for (const event of ["pointermove", "pointerdown"]) map.node.addEventListener(event, at);
  let rows = 1,
    seen = null,
    made = "";
  const draw = (model, tokens) => {
    if (!drawer.open || !model || !tokens) return;
    const state = ui.state,
      key = JSON.stringify([knobsOf(state), state.layer, state.head, tokens]);
    if (key !== made) {
      made = key;
      seen = look(model, knobsOf(state), tokens, state);
      rows = seen.length;
    }
    const query = Math.min(state.query, rows - 1),
      row = seen[query],
      column = row.places.indexOf(state.key),
      word = (i) => `“${String(vocabulary.spell(tokens[i])).trim() || (i ? "blank" : "start")}”`;
    const said =
      column < 0
        ? `Token ${query}, ${word(query)}, does not see token ${state.key}.`
        : `${word(query)} at ${query} gives ${word(state.key)} at ${state.key} the weight ${number(row.weights[column], 3)}.`;
    drawMap(map, seen, query, state.key, said);
    drawClocks(clocks, row, column, knobsOf(state));
    note.textContent = said;
  };
  drawer.addEventListener("toggle", paint);
  return draw;
}

function drawMap(fig, seen, query, key, said) {
  const size = Math.min(fig.width, 380),
    cell = size / seen.length;
  fig.clear(`Attention of the first ${seen.length} tokens, a row for each query, stronger for more weight. ${said}`);
  fig.rect([0, 0], [size, size], "line hair");
  seen.forEach(({ places, weights }, m) => {
    places.forEach((n, i) => {
      if (weights[i] > 0.004)
        fig.rect([n * cell, m * cell], [cell, cell], "fill").setAttribute("fill-opacity", Math.sqrt(weights[i]));
    });
  });
  fig.rect([0, query * cell], [size, cell], "line query");
  if (key < seen.length) fig.rect([key * cell, 0], [cell, size], "line key");
  fig.text([0, size + 18], "row: query $m$", "small query", "start");
  fig.text([size, size + 18], "column: key $n$", "small key", "end");
}

function drawClocks(fig, row, column, knobs) {
  const R = fig.width / 8 - 6,
    q = row.query,
    k = column < 0 ? null : row.keys[column],
    planes = pairs(knobs.layout),
    { theta } = frequencies(knobs),
    longest = Math.max(...planes.flatMap(([a, b]) => [Math.hypot(q[a], q[b]), k ? Math.hypot(k[a], k[b]) : 0]));
  const parts = planes.map(([a, b]) => (k ? (q[a] * k[a] + q[b] * k[b]) / Math.sqrt(q.length) : 0));
  fig.clear(
    k
      ? `Four clocks; what each plane adds to the logit: ${parts.map((v) => number(v)).join(", ")}.`
      : "Four clocks with the hand of the query alone.",
  );
  planes.forEach(([a, b], i) => {
    const centre = [((i + 0.5) * fig.width) / 4, R + 2];
    fig.circle(centre, R, "hair");
    for (const [hand, look] of [
      [k, "key"],
      [q, "query"],
    ])
      if (hand) fig.hand(centre, [centre[0] + (R / longest) * hand[a], centre[1] - (R / longest) * hand[b]], look);
    fig.circle(centre, 2.5, "fill");
    fig.text(
      [centre[0], 2 * R + 22],
      `θ ${theta[i] === 0 ? "0" : String(Number(theta[i].toPrecision(2))).replace("-", "−")}`,
      "small muted",
    );
    if (k) fig.text([centre[0], 2 * R + 42], `${parts[i] >= 0 ? "+" : ""}${number(parts[i])}`, "small");
  });
}

export default widget({ compute, build });
