import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

/** The images of both vectors under the best map of the kind. */
export function compute({ u1, v1, u2, v2, kind, sources }) {
  const targets = [
      [u1, v1],
      [u2, v2],
    ],
    seen = sources.map(([a, b]) => [a, kind === "conjugate" ? -b : b]);
  let images = targets;
  if (kind !== "whole") {
    const energy = seen.reduce((sum, [a, b]) => sum + a * a + b * b, 0);
    const real = seen.reduce((sum, [a, b], i) => sum + a * targets[i][0] + b * targets[i][1], 0) / energy;
    const imaginary = seen.reduce((sum, [a, b], i) => sum + a * targets[i][1] - b * targets[i][0], 0) / energy;
    images = seen.map(([a, b]) => [real * a - imaginary * b, real * b + imaginary * a]);
  }
  return { images: images.flat(), miss: targets.map(([u, v], i) => Math.hypot(u - images[i][0], v - images[i][1])) };
}

function build(ui) {
  const fig = ui.figure({
    label: "Two vectors, their targets and their images",
    height: (width) => Math.min(width, 400),
  });
  ui.choice("kind", {
    label: "one map for both arrows",
    options: { whole: "any real", linear: "complex", conjugate: "conjugate" },
  });
  for (const [name, label, look] of [
    ["u1", "target 1, across", "one"],
    ["v1", "target 1, up", "one"],
    ["u2", "target 2, across", "two"],
    ["v2", "target 2, up", "two"],
  ])
    ui.slider(name, { label, step: 0.01, look });
  ui.tries({ "both to one target": { u1: 0.5, v1: 0.8, u2: 0.5, v2: 0.8 }, "a real map": { kind: "whole" } });
  const write = ui.readout({ first: "target 1 is missed by", second: "target 2 is missed by" });
  return (state, values) => {
    const [one, two] = values.miss.map((gap) => number(gap));
    write({ first: one, second: two });
    draw(ui, fig, state, values);
    ui.say(
      `With the target of z1 at ${number(state.u1)}, ${number(state.v1)} and that of z2 at ` +
        `${number(state.u2)}, ${number(state.v2)}, the first image misses by ${one} and the second by ` +
        `${two}`,
    );
  };
}

function draw(ui, fig, { u1, v1, u2, v2, sources }, { images, miss }) {
  const side = 1.75,
    [cx, cy] = [fig.width / 2, fig.height / 2],
    scale = (Math.min(fig.width, fig.height) / 2 - 4) / side;
  const at = ([x, y]) => [cx + scale * x, cy - scale * y];
  fig.clear(`The first image misses its target by ${number(miss[0])}, the second by ${number(miss[1])}.`);
  fig.line(at([-side, 0]), at([side, 0]), "hair");
  fig.line(at([0, -side]), at([0, side]), "hair");
  const targets = [
      [u1, v1],
      [u2, v2],
    ],
    discs = targets.map(at),
    apart = ([x, y], [u, v]) => Math.hypot(x - u, y - v),
    together = apart(...discs) < 22; // two numbers would be printed on each other
  sources.forEach((z, i) => {
    const look = ["one", "two"][i],
      image = images.slice(2 * i, 2 * i + 2),
      [tip, beside] = [
        at([1.08 * z[0] - 0.12 * z[1], 1.08 * z[1] + 0.12 * z[0]]),
        at([0.75 * z[0] + 0.14, 0.75 * z[1] - 0.14]),
      ],
      [x, y] = discs.some((disc) => apart(disc, tip) < 30) ? beside : tip;
    fig.line(at([0, 0]), at(z), `thin ${look}`);
    fig.hand(at([0, 0]), at(image), look);
    const from = at(image),
      far = apart(from, discs[i]);
    if (far > 14)
      fig.hand(
        from,
        discs[i].map((c, k) => c + (11 * (from[k] - c)) / far),
        "wrong",
      ); // to the disc's edge
    fig.text([x, y + 5], `$z_${i + 1}$`, `small ${look}`);
  });
  discs.forEach(([x, y], i) => {
    const look = ["one", "two"][i];
    fig.circle([x, y], 11, `paper ${look}`);
    if (!together) fig.text([x, y + 5], String(i + 1), `small ${look}`);
    else if (i) {
      const side = at(images.slice(2))[1] < y ? 28 : -18; // not where the arrow comes from
      fig.text([Math.max(44, Math.min(fig.width - 44, x)), y + side], "both targets", "small");
    }
    fig.handle(["w1", "w2"][i], [x, y], ([X, Y]) => {
      const [u, v] = [ui.nearest("u1", (X - cx) / scale), ui.nearest("v1", (cy - Y) / scale)];
      ui.set(i ? { u2: u, v2: v } : { u1: u, v1: v }, { now: true });
    });
  });
}

export default widget({ compute, build, smooth: ["u1", "v1", "u2", "v2"] });
