import { html, number, rich } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const D = 8,
  EPS = 1e-9,
  PAIRINGS = ["interleaved", "half"],
  EACH = [...Array(D).keys()];
const pairsOf = (pairing, r) =>
  Array.from({ length: r / 2 }, (_, i) => (pairing === "interleaved" ? [2 * i, 2 * i + 1] : [i, i + r / 2]));

/** The thing to be asked: ask(a, n) is its answer to the unit vector a at position n. */
function subject({ pairing, direction, turning, log_base, fault }) {
  const r = Number(turning),
    way = direction === "counter" ? 1 : -1;
  const theta = Array.from({ length: r / 2 }, (_, i) => way * 10 ** ((-log_base * 2 * i) / r));
  const table = EACH.map(() => 0),
    partner = [...EACH],
    sign = EACH.map(() => 0);
  pairsOf(pairing, r).forEach(([a, b], i) => {
    table[a] = table[b] = theta[i];
    [partner[a], partner[b], sign[a], sign[b]] = [b, a, fault === "signs" ? 1 : -1, 1];
  });
  if (fault === "tables")
    pairsOf(
      PAIRINGS.find((name) => name !== pairing),
      r,
    ).forEach(([a, b], i) => {
      table[a] = table[b] = theta[i];
    });
  return (a, n) => {
    if (fault === "nothing") return EACH.map((j) => (j === a ? 1 : 0));
    const at = fault === "from_one" ? n + 1 : fault === "rounded" && n > 4 ? 2 * Math.floor(n / 2) : n;
    const size = fault === "leak" ? 0.97 ** n : 1;
    return EACH.map(
      (j) => size * (j === a ? Math.cos(at * table[j]) : partner[j] === a ? sign[j] * Math.sin(at * table[j]) : 0),
    );
  };
}

const gap = (one, two) => Math.max(...one.flatMap((row, i) => row.map((x, j) => Math.abs(x - two[i][j]))));
const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
const against = (one, two) => one.map((a) => two.map((b) => dot(a, b)));
const after = (one, two) =>
  two.map((column) => EACH.map((j) => EACH.reduce((sum, k) => sum + column[k] * one[k][j], 0)));

/** From the answers alone. */
function fingerprint(ask) {
  const F = Object.fromEntries([0, 1, 2, 3, 5, 7, 9, 12].map((n) => [n, EACH.map((a) => ask(a, n))]));
  const one = F[1],
    unit = EACH.map((a) => EACH.map((j) => (j === a ? 1 : 0)));
  const partner = EACH.map((a) => {
    const b = EACH.filter((j) => j !== a).reduce((best, j) =>
      Math.abs(one[a][j]) > Math.abs(one[a][best]) ? j : best,
    );
    return Math.abs(one[a][b]) > EPS ? b : -1;
  });
  const pairs = partner.map((b, a) => [a, b]).filter(([a, b]) => b > a && partner[b] === a);
  const angles = pairs.map(([a, b]) => Math.atan2(one[a][b], one[a][a])),
    r = 2 * pairs.length;
  const fits = PAIRINGS.filter((name) => r && JSON.stringify(pairs) === JSON.stringify(pairsOf(name, r)));
  const directions = new Set(angles.map((angle) => (angle > 0 ? 1 : -1)));
  let slope = 0,
    residual = 0;
  if (r > 2) {
    const u = pairs.map((_, i) => (2 * i) / r),
      logs = angles.map((angle) => Math.log(Math.abs(angle)));
    slope = -dot(u, logs) / dot(u, u);
    residual = Math.max(...logs.map((y, i) => Math.abs(y + u[i] * slope)));
  }
  const laws = {
    lengths: Math.max(...[1, 3, 7].map((n) => gap(against(F[n], F[n]), unit))),
    zero: gap(F[0], unit),
    steps: Math.max(gap(after(F[1], F[1]), F[2]), gap(after(F[2], F[3]), F[5])),
    offset: Math.max(
      gap(against(F[0], F[1]), against(F[2], F[3])),
      gap(against(F[1], F[3]), against(F[7], F[9])),
      gap(against(F[0], F[5]), against(F[7], F[12])),
    ),
  };
  return {
    partner,
    pairs,
    angles,
    pairing: !r ? "none" : fits.length === 2 ? "either" : (fits[0] ?? "other"),
    direction: directions.size === 1 ? [...directions][0] : 0,
    base: r > 2 && residual < EPS ? Math.exp(slope) : 0,
    laws: {
      ...Object.fromEntries(Object.entries(laws).map(([name, miss]) => [name, miss < EPS])),
      turns: gap(one, unit) > EPS,
    },
  };
}

const PUZZLES = 60;
/** The settings behind the n-th puzzle: every combination once, neighbours unlike each other. */
function settingOf(n) {
  const k = (37 * n) % PUZZLES;
  return {
    pairing: PAIRINGS[k % 2],
    direction: ["counter", "clock"][Math.floor(k / 2) % 2],
    turning: ["4", "6", "8"][Math.floor(k / 4) % 3],
    log_base: [1, 1.5, 2, 3, 4][Math.floor(k / 12)],
  };
}
/** The answers at position n, the fingerprint, how many of the three guesses are right, and the puzzle's settings. */
export function compute(state) {
  const ask = subject(state),
    found = fingerprint(ask);
  const right = [
    state.guess_pairing && [state.guess_pairing, "either"].includes(found.pairing),
    state.guess_direction && state.guess_direction === { 1: "counter", "-1": "clock" }[found.direction],
    state.guess_turning === String(2 * found.pairs.length),
  ].filter(Boolean).length;
  return { answers: EACH.map((a) => ask(a, state.n)), found, right, setting: settingOf(state.puzzle) };
}

const NAMES = {
  interleaved: "interleaved",
  half: "half-split",
  either: "either: one plane",
  other: "other",
  none: "nothing turns",
};
const WAYS = { 1: "counter-clockwise", "-1": "clockwise", 0: "no one way" };
const FAULTS = {
  none: ["none", "A rotary embedding as it should be."],
  nothing: ["nothing turns", "It returns its input. Which law sees it?"],
  tables: [
    "mismatched cos/sin layout",
    "It pairs coordinates one way, and repeats cosines and sines for the other way.",
  ],
  signs: ["a minus lost", "Both sines have a plus."],
  leak: ["norm leak", "Each position makes the vector three per cent shorter."],
  rounded: ["rounded positions", "From position 5 on, odd positions are rounded down. Position 1 cannot know."],
  from_one: ["counting from one", "Position 0 turns as well. The logits do not mind."],
};
const LAWS = {
  lengths: "isometry: lengths stay",
  zero: "identity at zero: position 0 changes nothing",
  steps: "group law: two steps add up",
  offset: "relativity: dot products see the offset alone",
  turns: "non-vacuity: something turns",
};
/** The puzzle that the page's address asks for, ?puzzle=17, or 0. */
function askedFor() {
  const n = Number(new URLSearchParams(location.search).get("puzzle"));
  return Number.isInteger(n) && n > 0 && n <= PUZZLES ? n : 0;
}
function addressOf(n) {
  const url = new URL(location.href);
  url.searchParams.set("puzzle", n);
  url.hash = "";
  return url.href;
}

function build(ui) {
  const fig = ui.figure({
    label: "The answers to eight unit vectors",
    height: (width) => cellOf(width) * 1.1 + 8 * rowOf(width) + 92,
  });
  ui.slider("n", { label: "asked at position $n$", step: 1, look: "two" });
  const guess = ui.panel.appendChild(
    html(
      "div",
      { class: "rope-guess" },
      html("p", { class: "rope-note" }, "What is it? Look at the answers, then say:"),
    ),
  );
  ui.choice("guess_pairing", {
    label: "layout: which coordinates turn together",
    options: { interleaved: NAMES.interleaved, half: NAMES.half },
    host: guess,
  });
  ui.choice("guess_direction", {
    label: "direction",
    options: { counter: "counter-clockwise", clock: "clockwise" },
    host: guess,
  });
  ui.choice("guess_turning", {
    label: "rotary width: how many of the eight turn",
    options: { 2: "2", 4: "4", 6: "6", 8: "8" },
    host: guess,
  });
  const result = ui.panel.appendChild(html("div", { class: "rope-result" }));
  const write = ui.readout(
    { pairing: "layout", direction: "direction", turning: "rotary width", base: "base" },
    { host: result },
  );
  const laws = result.appendChild(html("ul", { class: "rope-laws" }));
  const marks = Object.fromEntries(
    Object.entries(LAWS).map(([name, words]) => {
      const mark = html("span", { class: "rope-mark" });
      const item = laws.appendChild(html("li", {}, mark, html("span", {}, words)));
      return [name, { mark, item }];
    }),
  );
  ui.toggle("shown", { label: "show the fingerprint and the settings" });
  const score = ui.panel.appendChild(html("p", { class: "rope-score" }));
  const row = ui.panel.appendChild(html("div", { class: "rope-tries", role: "group", "aria-label": "Puzzles" }));
  const begin = (n) =>
    ui.set({
      ...settingOf(n),
      puzzle: n,
      fault: "none",
      n: 1,
      shown: false,
      counted: false,
      guess_pairing: "",
      guess_direction: "",
      guess_turning: "",
    });
  const another = () => 1 + ((ui.state.puzzle + Math.floor(Math.random() * (PUZZLES - 1))) % PUZZLES);
  ui.button("Another one to guess", () => begin(another()), { host: row });
  const share = ui.button(
    "Link to this puzzle",
    async () => {
      const link = addressOf(ui.state.puzzle);
      history.replaceState(history.state, "", link);
      const copied = await navigator.clipboard?.writeText(link).then(
        () => true,
        () => false,
      );
      ui.live.textContent = share.textContent = copied ? "Link copied" : "Link is in the address bar";
      setTimeout(() => {
        share.textContent = "Link to this puzzle";
      }, 2500);
    },
    { host: row },
  );
  ui.ranges.puzzle = [0, PUZZLES, 1];
  // A puzzle counts once: when all three guesses are there and the fingerprint is shown. Seen before that, it is spent.
  ui.model.on("change:shown", () => {
    const now = ui.state;
    if (!now.shown || now.counted) return;
    const whole = now.guess_pairing && now.guess_direction && now.guess_turning;
    const won = whole ? { points: now.points + ui.compute(now).right, answered: now.answered + 1 } : {};
    ui.set({ counted: true, ...won });
  });
  if (askedFor()) {
    begin(askedFor());
    requestAnimationFrame(() => ui.root.scrollIntoView({ block: "center" }));
  }
  const settings = ui.below.appendChild(html("div", { class: "rope-more" }));
  ui.choice("pairing", {
    label: "layout",
    options: { interleaved: "interleaved", half: "half-split" },
    host: settings,
  });
  ui.choice("direction", {
    label: "direction",
    options: { counter: "counter-clockwise", clock: "clockwise" },
    host: settings,
  });
  ui.choice("turning", { label: "coordinates that turn", options: { 2: "2", 4: "4", 6: "6", 8: "8" }, host: settings });
  ui.slider("log_base", { label: "base", step: 0.1, show: (v) => large(10 ** v), host: settings });
  const faults = ui.below.appendChild(html("div", {}));
  ui.choice("fault", {
    label: "fault",
    options: Object.fromEntries(Object.entries(FAULTS).map(([key, [name]]) => [key, name])),
    host: faults,
  });
  const note = faults.appendChild(html("p", { class: "rope-note" }));

  return (state, { answers, found }) => {
    const { shown } = state,
      r = 2 * found.pairs.length;
    const told = state.answered ? `Your score: ${state.points} of ${3 * state.answered} points.` : "";
    score.textContent = [state.puzzle ? `Puzzle ${state.puzzle} of ${PUZZLES}.` : "", told].filter(Boolean).join(" ");
    score.hidden = !score.textContent;
    share.hidden = !state.puzzle;
    guess.hidden = shown;
    result.hidden = ui.below.hidden = !shown;
    write({
      pairing:
        NAMES[found.pairing] +
        said(
          state.guess_pairing,
          [found.pairing, "either"].includes(found.pairing)
            ? [found.pairing, ...(found.pairing === "either" ? PAIRINGS : [])]
            : [],
        ),
      direction:
        (r ? WAYS[found.direction] : "–") +
        said(state.guess_direction, [{ 1: "counter", "-1": "clock" }[found.direction]]),
      turning: `${r} of ${D}` + said(state.guess_turning, [`${r}`]),
      base: found.base ? large(found.base) : r === 2 ? "any: θ₀ is 1" : "none fits",
    });
    for (const [name, { mark, item }] of Object.entries(marks)) {
      mark.textContent = found.laws[name] ? "✓" : "✗";
      item.classList.toggle("broken", !found.laws[name]);
      item.setAttribute("aria-label", `${LAWS[name]}: ${found.laws[name] ? "holds" : "broken"}`);
    }
    note.replaceChildren(...rich(FAULTS[state.fault][1]));
    draw(ui, fig, state, answers, found);
    const broken = Object.keys(LAWS)
      .filter((name) => !found.laws[name])
      .map((name) => LAWS[name]);
    ui.say(
      shown
        ? `Fingerprint: ${NAMES[found.pairing]}, ${WAYS[found.direction]}, ${r} of ${D} turn. ` +
            `${broken.length ? `Broken: ${broken.join("; ")}.` : "Every law holds."} ${told}`
        : `${state.puzzle ? `Puzzle ${state.puzzle}. ` : ""}Answers at position ${number(state.n, 0)}.`,
    );
  };
}

const large = (v) => (v < 100 ? number(v, v < 10 ? 1 : 0) : Math.round(v).toLocaleString("en-US"));
const said = (guess, right) => (!guess ? "" : right.includes(guess) ? " ✓" : " (you said otherwise)");
const LEFT = 30,
  cellOf = (width) => Math.min(54, (width - LEFT - 4) / D),
  rowOf = (width) => Math.min(32, cellOf(width) * 0.78);

function draw(ui, fig, { n }, answers, { partner, pairs }) {
  const cell = cellOf(fig.width),
    row = rowOf(fig.width),
    left = LEFT + (fig.width - LEFT - 4 - D * cell) / 2,
    top = 26;
  const X = (a) => left + (a + 0.5) * cell,
    r = cell * 0.4,
    table = top + cell * 1.1 + 8,
    Y = (j) => table + (j + 0.5) * row;
  const seen = pairs.map(([a, b]) => `${a} and ${b}`).join(", ");
  fig.clear(
    `Position ${number(n, 0)}. Column a is the answer to the unit vector a. At position 1 these ` +
      `coordinates answer for each other: ${seen || "none"}.`,
  );
  EACH.forEach((a) => {
    fig.text([X(a), 16], `$e_${a}$`, "small");
    fig.text([left - 12, Y(a) + 4], `${a}`, "small muted");
    const b = partner[a],
      cy = top + cell / 2;
    const [u, v] = b < 0 ? [answers[a][a], 0] : a < b ? [answers[a][a], answers[a][b]] : [answers[a][b], answers[a][a]];
    fig.circle([X(a), cy], r, b < 0 ? "hair" : "line thin muted");
    fig.line([X(a), cy], b >= 0 && a > b ? [X(a), cy - r] : [X(a) + r, cy], "thin one");
    fig.line([X(a), cy], [X(a) + r * u, cy - r * v], b < 0 ? "muted" : "two");
    fig.circle([X(a) + r * u, cy - r * v], 3, `fill ${b < 0 ? "muted" : "two"}`);
  });
  fig.rect([left, table], [D * cell, D * row], "hair");
  EACH.forEach((a) => {
    if (a) {
      fig.line([left, table + a * row], [left + D * cell, table + a * row], "hair");
      fig.line([left + a * cell, table], [left + a * cell, table + D * row], "hair");
    }
    answers[a].forEach((value, j) => {
      if (Math.abs(value) < 1e-9) return;
      const size = Math.max(2, Math.min(row, cell) * 0.42 * Math.sqrt(Math.min(1.3, Math.abs(value))));
      fig.circle([X(a), Y(j)], size, value > 0 ? "fill one" : "paper two");
    });
  });
  const foot = table + D * row,
    y = foot + 34,
    far = ui.limits.n[1],
    P = (at) => left + (at / far) * (D * cell - 4) + 2;
  fig.circle([left + 5, foot + 13], 4, "fill one");
  fig.text([left + 14, foot + 17], "plus", "small muted", "start");
  fig.circle([left + 59, foot + 13], 4, "paper two");
  fig.text([left + 68, foot + 17], "minus; area is size", "small muted", "start");
  fig.line([P(0), y], [P(far), y], "axis");
  for (let at = 0; at <= far; at++) fig.line([P(at), y - 3], [P(at), y + 3], "axis");
  for (const at of [0, 4, 8, 12]) fig.text([P(at), y + 20], `${at}`, "small muted");
  fig.circle([P(n), y], 7, "paper two");
  fig.circle([P(n), y], 3.5, "fill two");
  fig.handle("n", [P(n), y], ([x]) =>
    ui.set({ n: ui.nearest("n", ((x - left - 2) / (D * cell - 4)) * far) }, { now: true }),
  );
}

export default widget({ compute, build });
