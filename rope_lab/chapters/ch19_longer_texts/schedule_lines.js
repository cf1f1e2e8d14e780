import { number, whole } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const TURN = 2 * Math.PI;
const NAMES = { none: "none", linear: "interpolation", NTK: "NTK-aware", "Llama 3": "Llama 3", YaRN: "YaRN" };
const share = (x) => Math.min(1, Math.max(0, x));

/** The list of each schedule for a stretch s and a window. */
function lists(s, window, base, planes) {
  const width = 2 * planes,
    trained = Array.from({ length: planes }, (_, i) => base ** ((-2 * i) / width)),
    larger = base * s ** (width / (width - 2)),
    plane = (made) => (width * Math.log(window / (TURN * made))) / (2 * Math.log(base)), // that makes so many turns
    low = Math.max(Math.floor(plane(32)), 0),
    high = Math.min(Math.ceil(plane(1)), width - 1),
    mixed = (theta, kept) => kept * theta + ((1 - kept) * theta) / s;
  return {
    none: trained,
    linear: trained.map((theta) => theta / s),
    NTK: trained.map((_, i) => larger ** ((-2 * i) / width)),
    "Llama 3": trained.map((theta) => mixed(theta, share(((window * theta) / TURN - 1) / 3))),
    YaRN: trained.map((theta, i) => mixed(theta, 1 - share((i - low) / (high - low || 0.001)))),
  };
}

/** Every schedule's frequencies, and what the chosen one does to a text of that many windows. */
export function compute({ log_windows, window, scheme, base, planes }) {
  const s = 2 ** log_windows,
    L = Number(window),
    all = lists(s, L, base, planes),
    used = all[scheme],
    turns = all.none.map((theta) => (L * theta) / TURN),
    fresh = used.map((theta, i) => turns[i] < 1 && s * theta > all.none[i] * (1 + 1e-9)),
    ends = used.flatMap((theta, i) => (turns[i] < 1 ? [all.none[i] / theta] : []));
  return {
    lines: Object.fromEntries(Object.entries(all).map(([name, list]) => [name, list.map(Math.log10)])),
    turns,
    new: fresh,
    count: fresh.filter(Boolean).length,
    reach: Math.min(...ends),
    neighbours: used[0],
  };
}

const windows = (log) => number(2 ** log, log % 1 ? 2 : 0);

function build(ui) {
  const picture = ui.figure({
    label: "Frequencies of the planes, and their turns in training",
    height: (width) => (width < 420 ? 360 : 430),
  });
  const write = ui.readout({
    count: "planes that meet new angles on the way",
    reach: "the list reaches",
    neighbours: "the fastest hand turns, from word to word",
  });
  ui.slider("log_windows", { label: "length of the text, in windows", step: 0.25, show: windows });
  ui.choice("scheme", {
    label: "schedule",
    options: NAMES,
  });
  ui.choice("window", {
    label: "window of the training",
    options: { 2048: "2,048", 4096: "4,096", 8192: "8,192", 32768: "32,768" },
  });

  return (state, values) => {
    const told =
      `A text of ${windows(state.log_windows)} windows, schedule ${NAMES[state.scheme]}: ${values.count} of ${state.planes} ` +
      `planes meet angles on the way that they never met in training.`;
    write({
      count: `${values.count} of ${state.planes}`,
      reach: `${number(values.reach, 2)} windows`,
      neighbours: `${number(values.neighbours, 3)} rad`,
    });
    draw(picture, state, values, ui.locked, ui.locked ? `A text of ${windows(state.log_windows)} windows.` : told);
    ui.say(told);
  };
}

function draw(fig, { scheme, planes, window }, { lines, turns, new: fresh }, locked, told) {
  fig.clear(`${told} Above, the frequency of each plane under every schedule; below, its turns in training.`);
  const left = 44,
    right = fig.width - 10,
    middle = fig.height * 0.56,
    bottom = fig.height - 40;
  const { X, Y } = fig.axes({
    x: [0, planes - 1],
    y: [-7, 0],
    box: [left, 22, right, middle],
    xticks: [],
    yticks: [-6, -4, -2, 0],
    xlabel: "",
    ylabel: "",
    at: -7,
  });
  fig.text([4, 12], "radians per token, powers of ten", "small muted", "start");
  for (const [name, list] of Object.entries(lines))
    fig.path(
      list.map((y, i) => [X(i), Y(y)]),
      name === scheme ? "line thick two" : "line thin faint",
    );
  if (scheme !== "none") {
    const half = Math.floor(planes * 0.4); // where the chosen line is named
    fig.text([X(half) - 8, Y(lines[scheme][half]) + 18], NAMES[scheme], "small two", "end");
  }
  if (locked) {
    fig.text([right, middle + 18], `plane 0 to ${planes - 1}, fast to slow`, "small muted", "end");
    fig.text([(left + right) / 2, (middle + bottom) / 2 + 10], "turns: shown after your answer", "small muted");
    return;
  }
  const top = middle + 26,
    height = (made) => share((Math.log10(made) + 3) / 7) * (bottom - top),
    wide = (right - left) / planes;
  fig.text([4, middle + 18], `turns in ${whole(Number(window))} tokens`, "small muted", "start");
  turns.forEach((made, i) => {
    const x = X(i) - wide / 2 + 0.5;
    fig.rect([x, bottom - height(made)], [Math.max(wide - 1, 1), height(made)], made < 1 ? "soft" : "fill faint one");
    if (fresh[i]) {
      fig.line([X(i), bottom + 5], [X(i), bottom + 12], "line wrong");
      fig.circle([X(i), Y(lines[scheme][i])], 2.4, "fill wrong");
    }
  });
  for (const made of [1, 4]) {
    const y = bottom - height(made);
    fig.line([left, y], [right, y], "line thin dash muted");
    fig.text([right, made === 1 ? y + 14 : y - 4], made === 1 ? "1 turn" : "4 turns", "small muted", "end");
  }
  fig.text([left, fig.height - 8], "fast", "small muted", "start");
  fig.text([right, fig.height - 8], "slow", "small muted", "end");
  if (fresh.some(Boolean)) fig.text([(left + right) / 2, fig.height - 8], "marked: new angles", "small wrong");
}

export default widget({ compute, build, smooth: ["log_windows"] });
