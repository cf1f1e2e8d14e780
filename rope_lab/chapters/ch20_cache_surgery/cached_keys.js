import { html, number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const cell = new Float32Array(1),
  word = new Uint32Array(cell.buffer);

/** The nearest number of a cache's format, ties to even, by way of float32 as torch takes it. */
export function held(x, store) {
  cell[0] = x;
  if (store === "float32") return cell[0];
  if (store === "bfloat16") {
    word[0] = (((word[0] + 0x7fff + ((word[0] >>> 16) & 1)) >>> 16) * 65536) >>> 0;
    return cell[0];
  }
  const exponent = Math.max((word[0] >>> 23) & 255, 113) - 127, // float16 has no normal number below 2^-14
    h = 2 ** (exponent - 10),
    whole = Math.abs(cell[0]) / h,
    below = Math.floor(whole),
    rest = whole - below,
    up = rest > 0.5 || (rest === 0.5 && below % 2 === 1);
  return Math.sign(cell[0]) * (below + (up ? 1 : 0)) * h;
}

/** The strip after the moves: each pair of each key, where it should be, and by how much each plane misses. */
export function compute({ moves, store, way, frequencies, pairs }) {
  const far = Math.floor(moves + 0.5),
    steps = way === "steps" ? far : Math.min(far, 1),
    by = way === "steps" ? 1 : far;
  const miss = frequencies.map(() => 0),
    stuck = frequencies.map(() => far > 0);
  const right = [],
    hands = pairs.map((key) => {
      right.push([]);
      return key.map((pair, i) => {
        const theta = frequencies[i],
          c = Math.cos(by * theta),
          s = -Math.sin(by * theta),
          [a, b] = pair.map((x) => held(x, store));
        let x = a,
          y = b;
        for (let n = 0; n < steps; n++) {
          const next = [held(x * c - y * s, store), held(x * s + y * c, store)];
          if (next[0] === x && next[1] === y) break; // it stands still, and will for ever
          [x, y] = next;
        }
        const C = Math.cos(far * theta),
          S = Math.sin(far * theta),
          place = [a * C + b * S, b * C - a * S];
        right.at(-1).push(place);
        miss[i] = Math.max(miss[i], Math.hypot(x - place[0], y - place[1]) / Math.hypot(a, b));
        if (x !== a || y !== b) stuck[i] = false;
        return [x, y];
      });
    });
  return { hands, right, miss, still: stuck.filter(Boolean).length, worst: Math.max(...miss) };
}

const nearest = (v) => Math.floor(v + 0.5);
const name = { float32: "fp32", float16: "fp16", bfloat16: "bf16" };

function build(ui) {
  const strip = ui.figure({
    label: "Six cached keys, each a column of clocks from fast to slow",
    height: (width) => Math.min(0.8 * width, 420),
  });
  const write = ui.readout({
    still: "planes that stand still",
    worst: "largest error, in lengths of the hand",
    places: "places moved down",
  });
  ui.slider("moves", { label: "tokens dropped in front", step: 1, show: (v) => number(nearest(v), 0) });
  const most = ui.limits.moves[1];
  const row = ui.panel.appendChild(html("div", { class: "rope-tries" }));
  for (const [text, many] of [
    ["Drop a token", 1],
    ["Drop a hundred", 100],
  ])
    ui.button(text, () => ui.set({ moves: Math.min(most, nearest(ui.state.moves) + many) }), { host: row });
  ui.choice("store", { label: "the cache holds", options: name });
  ui.choice("way", { label: "keys are turned", options: { steps: "after each drop", once: "once, all the way" } });

  return (state, values) => {
    const far = nearest(state.moves),
      planes = state.frequencies.length;
    const told =
      `After ${number(far, 0)} drops in ${name[state.store]}, ${state.way === "steps" ? "turned after each" : "turned once"}, ` +
      `${values.still} of ${planes} planes stand still, and the worst hand misses by ${number(values.worst, 3)}.`;
    write({
      still: `${values.still} of ${planes}`,
      worst: number(values.worst, 3),
      places: number(far, 0),
    });
    draw(strip, state, values, told);
    ui.say(told);
  };
}

function draw(fig, { frequencies, pairs }, { hands, right, miss }, told) {
  fig.clear(`${told} Hands with a head are what the cache holds, dashed ones where they should be.`);
  const narrow = fig.width < 420,
    left = narrow ? 62 : 96,
    top = 26,
    wide = (fig.width - left - (narrow ? 44 : 66)) / pairs.length,
    high = (fig.height - top - 4) / frequencies.length,
    r = Math.min(wide, high) / 2 - 4;
  fig.text([4, 14], narrow ? "rad/place" : "radians per place", "small muted", "start");
  fig.text([fig.width - 4, 14], narrow ? "error" : "largest error", "small muted", "end");
  for (const [i, theta] of frequencies.entries()) {
    const y = top + (i + 0.5) * high,
      wrong = miss[i] > 0.02;
    fig.text([4, y + 4], String(theta), "small", "start");
    fig.text([fig.width - 4, y + 4], number(miss[i], 3), wrong ? "small wrong" : "small", "end");
    for (const [j, key] of hands.entries()) {
      const at = [left + (j + 0.5) * wide, y],
        length = Math.hypot(...right[j][i]),
        tip = ([a, b]) => [at[0] + (0.94 * r * a) / length, at[1] - (0.94 * r * b) / length];
      fig.circle(at, r, "hair");
      if (wrong) fig.line(at, tip(right[j][i]), "dash two");
      fig.hand(at, tip(key[i]), "");
    }
  }
}

export default widget({ compute, build, smooth: [] });
