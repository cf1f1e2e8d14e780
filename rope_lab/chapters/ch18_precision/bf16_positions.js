import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const cell = new Float32Array(1),
  word = new Uint32Array(cell.buffer);
const BITS = { bfloat16: 8, float16: 11, float32: 24 }; // significant bits, the leading 1 among them
const LEAST = { bfloat16: -126, float16: -14, float32: -126 }; // the smallest exponent
const OVER = { bfloat16: Infinity, float16: 65536, float32: Infinity }; // the others overflow by themselves

/** The sixteen bits of the nearest bfloat16, as torch rounds: a tie goes to the word whose last bit is 0. */
export function bfloat16Bits(x) {
  cell[0] = x; // float64 to float32, the first rounding
  if (Number.isNaN(cell[0])) return 0x7fc0;
  return (word[0] + 0x7fff + ((word[0] >>> 16) & 1)) >>> 16;
}
const fromBits = (bits) => {
  word[0] = bits * 65536;
  return cell[0];
};
const exponent = (x) => {
  // floor(log2 |x|) of a float32 number, exact
  cell[0] = Math.abs(x);
  const stored = word[0] >>> 23;
  return stored ? stored - 127 : Math.floor(Math.log2(cell[0]));
};
const even = (x) => {
  // the nearest integer, ties to even
  const below = Math.floor(x),
    rest = x - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
};
const spacing = (x, dtype) => 2 ** (Math.max(x ? exponent(x) : LEAST[dtype], LEAST[dtype]) - BITS[dtype] + 1);

/** The nearest number of a format, ties to even; by way of float32. */
export function roundTo(x, dtype) {
  const single = Math.fround(x);
  if (dtype === "float32" || !Number.isFinite(single)) return single;
  if (dtype === "bfloat16") return fromBits(bfloat16Bits(single));
  const h = spacing(single, dtype),
    rounded = even(Math.abs(single) / h) * h;
  return Math.sign(single) * (rounded >= OVER[dtype] ? Infinity : rounded);
}
/** The sixteen bits of the nearest float16. */
export function float16Bits(x) {
  const value = roundTo(x, "float16"),
    sign = Object.is(Math.sign(x), -0) || x < 0 ? 0x8000 : 0,
    size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size === Infinity) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | (size * 2 ** 24);
  const e = exponent(size);
  return sign | ((e + 15) << 10) | (size * 2 ** (10 - e) - 1024);
}

const nearest = (v) => Math.floor(v + 0.5);
const frequency = ({ plane, base, head_dim }) => base ** ((-2 * nearest(plane)) / head_dim);
const keep = (x) => x;
function turn(n, theta, dtype, place) {
  const at = (where) => (where === place ? (x) => roundTo(x, dtype) : keep);
  const angle = at("angle")(at("position")(n) * at("theta")(theta));
  return [at("table")(Math.cos(angle)), at("table")(Math.sin(angle))];
}
const miss = ([a, b], [c, d]) => Math.hypot(a - c, b - d);

/** One position, rounded in one place. */
export function compute(state) {
  const n = nearest(state.n),
    theta = frequency(state),
    { dtype, place } = state;
  const hand = [Math.cos(n * theta), Math.sin(n * theta)],
    seen = turn(n, theta, dtype, place),
    rounded = roundTo(n, dtype);
  const before = Math.max(0, n - 1),
    key = [Math.cos(before * theta), Math.sin(before * theta)],
    earlier = turn(before, theta, dtype, place),
    dot = ([a, b], [c, d]) => a * c + b * d;
  const [fine, known] = [seen, earlier].map(([x]) => Number.isFinite(x));
  const bits = dtype === "bfloat16" ? bfloat16Bits(n) : float16Bits(n);
  return {
    rounded: Number.isFinite(rounded) ? rounded : null,
    step: Math.max(1, spacing(n, dtype)),
    bits: dtype === "float32" ? "" : bits.toString(2).padStart(16, "0"),
    hand,
    key,
    logit: dot(hand, key),
    seen: fine ? seen : null,
    key_seen: known ? earlier : null,
    logit_seen: fine && known ? dot(seen, earlier) : null,
    error: fine ? miss(seen, hand) : null,
  };
}

const grouped = (v) => (v === null ? "infinity" : v.toLocaleString("en-US"));
const power = (v) =>
  v === null
    ? "not a number"
    : v === 0
      ? "0"
      : v < 1e-3
        ? `${number(v * 10 ** -Math.floor(Math.log10(v)), 1)} · $10^{−${-Math.floor(Math.log10(v))}}$`
        : number(v, 4);
const spoken = (v) => (v === null ? "not a number" : v < 1e-3 && v ? v.toExponential(1) : number(v, 4));
const split = { bfloat16: [1, 9], float16: [1, 6] };

function build(ui) {
  const ruler = ui.figure({ label: "Tokens, and the positions that the format has for them", height: () => 190 });
  const dial = ui.figure({
    pin: true,
    label: "The hands as they should be, and as they come out",
    height: (width) => 2 * radius(width) + 76,
  });
  const curve = ui.figure({ label: "Error of the hand against the position", height: () => 290, host: ui.below });
  const write = ui.readout({
    rounded: "the position, cast",
    step: "tokens per number here",
    bits: "its sixteen bits",
    error: "the query's hand misses by",
    logit: "logit with the word before: exact, cast",
  });
  ui.slider("n", { label: "position $n$", step: 1, scale: "log", show: (v) => grouped(nearest(v)) });
  ui.play("n", { label: "Walk to the longest text", seconds: 8 });
  ui.tries({ 255: { n: 255 }, 256: { n: 256 }, 257: { n: 257 } });
  ui.choice("dtype", { label: "round to", options: { bfloat16: "bfloat16", float16: "float16", float32: "float32" } });
  ui.choice("place", {
    label: "round this, and nothing else",
    options: { position: "position", theta: "frequency", angle: "angle", table: "cos and sin" },
  });
  ui.slider("plane", { label: "plane $i$ of 64", step: 1, show: (v) => number(nearest(v), 0) });
  const places = { position: "position", theta: "frequency", angle: "angle", table: "cosine and sine" };

  return (state, values) => {
    const cut = split[state.dtype],
      b = values.bits;
    write({
      rounded: grouped(values.rounded),
      step: values.rounded === null ? "–" : grouped(values.step),
      bits: b ? `${b.slice(0, 1)} ${b.slice(1, cut[1])} ${b.slice(cut[1])}` : "it has 32",
      error: power(values.error),
      logit: `${number(values.logit, 3)}, ${values.logit_seen === null ? "–" : number(values.logit_seen, 3)}`,
    });
    drawRuler(ruler, state, values);
    drawDial(dial, state, values);
    drawCurve(ui, curve, state, values);
    ui.say(
      `Position ${grouped(nearest(state.n))} in ${state.dtype} is ${grouped(values.rounded)}. With the ` +
        `${places[state.place]} rounded, the hand of plane ${nearest(state.plane)} misses by ` +
        `${spoken(values.error)}`,
    );
  };
}

function drawRuler(fig, { n: at, dtype }, { step, rounded }) {
  const n = nearest(at),
    left = 14,
    right = fig.width - 14,
    top = 66,
    low = 128;
  const half = step > 1 ? 2.5 * step : 8,
    from = Math.max(0, n - half),
    to = from + 2 * half;
  const X = (v) => left + ((v - from) / (to - from)) * (right - left);
  fig.clear(
    `Around position ${grouped(n)} the numbers of ${dtype} lie ${grouped(step)} apart; it is cast to ` +
      `${grouped(rounded)}.`,
  );
  fig.text([left, 18], "tokens", "small muted", "start");
  fig.text([left, low + 50], `numbers that ${dtype} has`, "small muted", "start");
  fig.line([left, top], [right, top], "hair");
  fig.line([left, low], [right, low], "axis");
  const every = Math.max(1, Math.round(step / 8)); // far out, one token of many is drawn
  for (let t = Math.ceil(from / every) * every; t <= to; t += every) {
    const there = roundTo(t, dtype);
    if (Number.isFinite(there) && there >= from && there <= to) fig.line([X(t), top], [X(there), low], "hair");
    fig.circle([X(t), top], 2, "fill muted");
  }
  const fine = step > 1 ? step / 2 : step; // below a power of two the numbers lie closer together
  for (let v = Math.ceil(from / fine) * fine; v <= to; v += fine)
    if (roundTo(v, dtype) === v) fig.line([X(v), low - 6], [X(v), low + 6], "axis");
  for (let v = Math.ceil(from / step) * step, many = 0; v <= to; v += step, many++) {
    const there = roundTo(v, dtype);
    if (!Number.isFinite(there)) continue;
    if (step > 1 ? many % (fig.width < 420 ? 2 : 1) !== 0 : v % 4 !== 0) continue;
    const reach = 4 * grouped(v).length - 12; // a label stays in the figure
    fig.text([Math.max(left + reach, Math.min(right - reach, X(v))), low + 24], grouped(v), "small muted");
  }
  fig.circle([X(n), top], 5, "fill two");
  const room = 4 * grouped(n).length;
  fig.text([Math.max(left + room, Math.min(right - room, X(n))), top - 16], grouped(n), "two");
  if (rounded === null) return void fig.text([(left + right) / 2, low - 24], "infinity: no number is left", "small");
  fig.line([X(n), top], [X(rounded), low], "two");
  fig.circle([X(rounded), low], 5, "paper two");
}

const radius = (width) => Math.min(110, width / 4 - 8);

// Two clocks: the query's hand, and the hand of an equal key at the word before, as they should be and after the cast.
function drawDial(fig, { n, plane }, { hand, key, seen, key_seen, logit, logit_seen, error }) {
  const r = radius(fig.width),
    cy = r + 26;
  fig.clear(
    `Plane ${nearest(plane)}: ` +
      (error === null
        ? "no hand comes out, the angle is infinite."
        : `the cast moves the query's hand by ${spoken(error)}. Its logit with an equal key at the word before is ` +
          `${number(logit, 3)}, after the cast ${logit_seen === null ? "not a number" : number(logit_seen, 3)}.`),
  );
  for (const [i, title, q, k, dot] of [
    [0, "exact", hand, key, logit],
    [1, "after the cast", seen, key_seen, logit_seen],
  ]) {
    const cx = fig.width * (0.25 + 0.5 * i),
      tip = ([x, y]) => [cx + r * x, cy - r * y];
    fig.text([cx, 14], title, "small");
    fig.circle([cx, cy], r, "hair");
    if (i) fig.line([cx, cy], tip(hand), "thin dash muted"); // where the query's hand should be
    if (k) fig.hand([cx, cy], tip(k), "key");
    if (q) fig.hand([cx, cy], tip(q.map((x) => 0.82 * x)), "query"); // shorter: hands that coincide are both seen
    fig.circle([cx, cy], 2.5, "fill");
    fig.text([cx, cy + r + 22], dot === null ? "not a number" : `logit ${number(dot, 3)}`, i ? "small two" : "small");
  }
  const foot = cy + r + 46;
  fig.text([fig.width / 2 - 6, foot], `query at ${grouped(nearest(n))}`, "small query", "end");
  fig.text([fig.width / 2 + 6, foot], "key at the word before", "small key", "start");
}

const FLOOR = -9,
  ROOF = 0.6; // powers of ten; an error of 0 is drawn at the floor
function drawCurve(ui, fig, state, { error }) {
  const { dtype, place } = state,
    n = nearest(state.n),
    theta = frequency(state),
    most = ui.limits.n[1],
    last = Math.log2(most);
  const left = 52,
    right = fig.width - 14,
    top = 30,
    bottom = fig.height - 46;
  fig.clear(
    `Against positions up to ${grouped(most)}, on logarithmic axes. At ${grouped(n)} the error is ${spoken(error)}.`,
  );
  const X = (v) => left + (Math.log2(Math.max(1, v)) / last) * (right - left);
  const Y = (e) => bottom - ((Math.max(FLOOR, Math.log10(e || 1e-99)) - FLOOR) / (ROOF - FLOOR)) * (bottom - top);
  for (const p of [-8, -6, -4, -2, 0]) {
    fig.line([left, Y(10 ** p)], [right, Y(10 ** p)], "hair");
    fig.text([left - 8, Y(10 ** p) + 4], p ? `$10^{−${-p}}$` : "1", "small muted", "end");
  }
  fig.line([left, bottom], [right, bottom], "axis");
  for (const v of [1, 16, 256, 4096, most]) {
    fig.line([X(v), bottom], [X(v), bottom + 4], "axis");
    fig.text([X(v), bottom + 18], grouped(v), "small muted", v === most ? "end" : "middle");
  }
  fig.text([right, bottom + 36], "position", "small muted", "end");
  fig.text([left, top - 12], "error of the hand, at most 2", "small muted", "start");
  const samples = Math.round((right - left) / 2),
    seen = new Set();
  for (let i = 0; i <= samples; i++) {
    const v = nearest(2 ** ((i / samples) * last));
    if (seen.has(v)) continue;
    seen.add(v);
    const e = miss(turn(v, theta, dtype, place), [Math.cos(v * theta), Math.sin(v * theta)]);
    if (Number.isFinite(e)) fig.circle([X(v), Y(e)], 1.6, "fill");
    else fig.line([X(v), top], [X(v), top + 8], "thin wrong");
  }
  if (!Number.isFinite(miss(turn(most, theta, dtype, place), [1, 0])))
    fig.text([right, top + 48], "not a number", "small wrong", "end");
  const here = [X(n), error === null ? top : Y(error)];
  fig.line([here[0], bottom], here, "thin two");
  fig.circle(here, 7, "paper two");
  fig.circle(here, 3.5, "fill two");
  fig.handle("n", here, ([x]) => {
    ui.set({ n: ui.nearest("n", 2 ** (((x - left) / (right - left)) * last)) }, { now: true });
  });
}

export default widget({ compute, build, smooth: [] });
