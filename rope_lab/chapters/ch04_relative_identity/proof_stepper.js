import { html, number, rich } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const INTERLEAVED = [
    [0, 1],
    [2, 3],
  ],
  HALF = [
    [0, 2],
    [1, 3],
  ];
const transpose = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));
const times = (left, right) =>
  left.map((row) => right[0].map((_, j) => row.reduce((sum, x, k) => sum + x * right[k][j], 0)));
const gap = (one, two) => Math.max(...one.flatMap((row, i) => row.map((x, j) => Math.abs(x - two[i][j]))));

/** The six lines of the proof as numbers, and the first that does not follow. */
export function compute({ variant, m, n, theta, slower }) {
  const angle = (position) => (variant === "square" ? position * Math.abs(position) : position);
  const turn = (position, { pairs = INTERLEAVED, transposed = false } = {}) => {
    const matrix = [0, 1, 2, 3].map(() => [0, 0, 0, 0]);
    pairs.forEach(([a, b], plane) => {
      const by = angle(position) * (plane ? slower * theta : theta),
        s = Math.sin(by);
      const [upper, lower] = variant === "sign" ? [s, s] : [-s, s];
      matrix[a][a] = matrix[b][b] = Math.cos(by);
      [matrix[a][b], matrix[b][a]] = transposed ? [lower, upper] : [upper, lower];
    });
    return matrix;
  };
  const key = variant === "layouts" ? turn(n, { pairs: HALF }) : turn(n);
  const first = variant === "transpose" ? turn(m) : transpose(turn(m));
  const values = [
    times(first, key),
    times(turn(m, { transposed: true }), key),
    times(turn(-m), key),
    times(turn(-m), turn(n)),
    turn(n - m),
    turn(n - m),
  ];
  const gaps = values.map((value, i) => (i ? gap(values[i - 1], value) : 0));
  return { factors: [first, key], values, gaps, breaks: gaps.findIndex((size) => size > 1e-9) };
}

const VARIANTS = {
  proof: ["as proven", ""],
  transpose: ["no transpose", "The code multiplies $ℛ_m$ by $ℛ_n$ and forgets to transpose."],
  sign: ["a sign flipped", "Each block has + sine in both corners: it is no rotation any more."],
  layouts: ["layouts mixed", "The query turns neighbours, the key turns halves."],
  square: ["squared angles", "Position $n$ turns by $n|n|θ$: the square of the position, with its sign."],
};
const BLOCKS = (one, two) => `diag($${one}$\u2009, $${two}$)`;
const LINES = [
  [
    (v) => (v === "transpose" ? "multiply, without a transpose" : "transpose one, multiply"),
    (v) => (v === "transpose" ? "$ℛ_mℛ_n$" : "$ℛ^⊤_mℛ_n$"),
  ],
  [() => "transpose each block", () => `${BLOCKS("R^⊤_{mθ₀}", "R^⊤_{mθ₁}")} $ℛ_n$`],
  [() => "a transposed block turns back", () => `${BLOCKS("R_{-mθ₀}", "R_{-mθ₁}")} $ℛ_n$`],
  [() => "multiply block by block", () => BLOCKS("R_{-mθ₀}R_{nθ₀}", "R_{-mθ₁}R_{nθ₁}")],
  [() => "angles add", () => BLOCKS("R_{(n-m)θ₀}", "R_{(n-m)θ₁}")],
  [() => "collect the blocks", () => "$ℛ_{n-m}$"],
];

const verdict = ({ variant, line }, { breaks, gaps }) => {
  if (gaps[line] > 1e-9) return `Line ${line + 1} breaks: its two sides differ by ${number(gaps[line], 2)}.`;
  if (breaks > 0) return `${line ? `Line ${line + 1} holds. ` : ""}Line ${breaks + 1} breaks.`;
  if (variant === "proof") return "Every line equals the line before it.";
  return "It is broken, and these numbers hide it. Move m or n.";
};

function build(ui) {
  const fig = ui.figure({
    label: "The two sides of this line, as numbers and as hands",
    height: (width) => 4 * side(width) + 2 * dial(width) + 96,
  });
  const words = ui.stage.appendChild(html("p", { class: "rope-verdict" }));
  const list = ui.panel.appendChild(html("ol", { class: "rope-lines" }));
  const rows = LINES.map((_, i) => {
    const mark = html("span", { class: "rope-mark" }),
      formula = html("span", { class: "rope-formula" }),
      reason = html("span", { class: "rope-reason" });
    const press = html("button", { type: "button" }, mark, formula, reason);
    press.addEventListener("click", () => ui.set({ line: i }));
    list.append(html("li", {}, press));
    return { mark, formula, reason, press };
  });
  ui.steps("line", {
    label: "Lines of the proof",
    titles: ["multiply", "transpose", "turn back", "block by block", "add angles", "collect"],
  });
  ui.choice("variant", {
    label: "the proof",
    options: Object.fromEntries(Object.entries(VARIANTS).map(([k, [name]]) => [k, name])),
    host: ui.below,
  });
  const note = ui.below.appendChild(html("p", { class: "rope-note" }));
  ui.tries(
    {
      "no transpose, line 2": { variant: "transpose", line: 1 },
      "the same with $m$ = 0": { variant: "transpose", line: 1, m: 0 },
    },
    { host: ui.below },
  );
  const more = ui.below.appendChild(html("div", { class: "rope-more" }));
  ui.slider("m", { label: "query at position $m$", step: 1, look: "query", host: more });
  ui.slider("n", { label: "key at position $n$", step: 1, look: "key", host: more });
  ui.slider("theta", {
    label: "angle per position $θ_0$",
    step: 0.01,
    show: (v) => `${number(v)} rad`,
    host: more,
  });

  return (state, values) => {
    words.textContent = verdict(state, values);
    note.replaceChildren(...rich(VARIANTS[state.variant][1]));
    rows.forEach(({ mark, formula, reason, press }, i) => {
      const fails = values.gaps[i] > 1e-9;
      mark.textContent = i === 0 ? "" : fails ? "≠" : "=";
      press.classList.toggle("broken", fails);
      reason.textContent = LINES[i][0](state.variant);
      formula.replaceChildren(...rich(LINES[i][1](state.variant)));
      if (i === state.line) press.setAttribute("aria-current", "step");
      else press.removeAttribute("aria-current");
    });
    draw(fig, state, values);
    ui.say(`Line ${state.line + 1}, ${LINES[state.line][0](state.variant)}. ${verdict(state, values)}`);
  };
}

const side = (width) => Math.min(46, (width - 58) / 8);
const dial = (width) => side(width) - 6; // the radius of a clock: two stand below each matrix
const hand = (matrix, plane, axis = 0) => [0, 1].map((row) => matrix[2 * plane + row][2 * plane + axis]);

function draw(fig, { line, variant, m, n }, { factors, values, gaps }) {
  const cell = side(fig.width),
    block = 4 * cell,
    left = (fig.width - 2 * block - 42) / 2,
    right = left + block + 42,
    top = 44;
  const [one, two] = line ? [values[line - 1], values[line]] : factors;
  const fails = gaps[line] > 1e-9,
    sign = line === 0 ? "·" : fails ? "≠" : "=";
  fig.clear(
    (line === 0
      ? `The matrix of m = ${number(m, 0)} and the matrix of n = ${number(n, 0)}, four by four.`
      : `Line ${line} and line ${line + 1} as matrices: ` +
        `${fails ? `they differ by up to ${number(gaps[line], 2)}` : "all sixteen entries agree"}.`) +
      ` Below them, where each sends the first axis of the two planes: ${[one, two]
        .map((matrix) =>
          [0, 1]
            .map(
              (plane) =>
                `(${hand(matrix, plane)
                  .map((x) => number(x, 2))
                  .join(", ")})`,
            )
            .join(" and "),
        )
        .join("; ")}.`,
  );
  const titles = line ? [`line ${line}`, `line ${line + 1}`] : [variant === "transpose" ? "$ℛ_m$" : "$ℛ^⊤_m$", "$ℛ_n$"];
  const looks = line ? ["one", "one"] : ["query", "key"];
  [
    [one, left],
    [two, right],
  ].forEach(([matrix, x], k) => {
    fig.text([x + block / 2, 24], titles[k], line ? "" : `large ${looks[k]}`);
    for (const [end, way] of [
      [x - 5, 1],
      [x + block + 5, -1],
    ]) {
      fig.path(
        [
          [end + 6 * way, top - 4],
          [end, top - 4],
          [end, top + block + 4],
          [end + 6 * way, top + block + 4],
        ],
        "line",
      );
    }
    matrix.forEach((row, i) =>
      row.forEach((value, j) => {
        const at = [x + j * cell, top + i * cell],
          differs = line > 0 && Math.abs(one[i][j] - two[i][j]) > 1e-9;
        const size = Math.min(1, Math.abs(value));
        fig.add("rect", {
          x: at[0] + 1,
          y: at[1] + 1,
          width: cell - 2,
          height: cell - 2,
          rx: 3,
          class: `fill ${looks[k]}`,
          "fill-opacity": 0.26 * size,
        });
        if (differs)
          fig.add("rect", {
            x: at[0] + 2,
            y: at[1] + 2,
            width: cell - 4,
            height: cell - 4,
            rx: 3,
            class: "line differs",
          });
        const zero = Math.abs(value) < 1e-12;
        fig.add(
          "text",
          {
            x: at[0] + cell / 2,
            y: at[1] + cell / 2 + cell * 0.11,
            "text-anchor": "middle",
            class: `cell ${zero ? "muted" : ""}`,
            style: `font-size:${Math.min(14, cell * 0.28).toFixed(1)}px`,
          },
          zero ? "0" : number(value, 2),
        );
      }),
    );
  });
  fig.text([left + block + 21, top + block / 2 + 9], sign, "sign");
  const R = dial(fig.width),
    cy = top + block + 24 + R;
  [one, two].forEach((matrix, k) => {
    for (const plane of [0, 1]) {
      const cx = [left, right][k] + (1 + 2 * plane) * cell;
      const tip = ([x, y]) => [cx + 0.94 * R * x, cy - 0.94 * R * y];
      const differs =
        k === 1 && line > 0 && Math.hypot(...hand(one, plane).map((x, i) => x - hand(two, plane)[i])) > 1e-9;
      fig.circle([cx, cy], R, "hair");
      fig.line([cx, cy], tip(hand(matrix, plane, 1)), `thin ${looks[k]}`); // where the plane's second axis goes
      if (differs) fig.hand([cx, cy], tip(hand(one, plane)), "wrong ghost");
      fig.hand([cx, cy], tip(hand(matrix, plane)), looks[k]);
      fig.circle([cx, cy], 2, "fill");
      fig.text([cx, cy + R + 20], `plane ${plane}`, "small muted");
    }
  });
}

export default widget({ compute, build, smooth: ["m", "n", "theta"] });
