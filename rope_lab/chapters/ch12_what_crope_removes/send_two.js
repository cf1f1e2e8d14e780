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
    label: "one map for both",
    options: { whole: "any real", linear: "complex", conjugate: "conjugate" },
  });
  for (const [name, label, look] of [
    ["u1", "target of $z_1$, across", "one"],
    ["v1", "target of $z_1$, up", "one"],
    ["u2", "target of $z_2$, across", "two"],
    ["v2", "target of $z_2$, up", "two"],
  ])
    ui.slider(name, { label, step: 0.01, look });
  ui.tries({ "both to one target": { u1: 0.5, v1: 0.8, u2: 0.5, v2: 0.8 }, "a real map": { kind: "whole" } });
  const write = ui.readout({ first: "the first misses by", second: "the second misses by" });
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
  const at = ([x, y]) => [cx + scale * x, cy - scale * y],
    away = ([x, y], by) => {
      const r = Math.hypot(x, y) || 1;
      return at([x + (by * x) / r, y + (by * y) / r]);
    };
  fig.clear(`The first image misses its target by ${number(miss[0])}, the second by ${number(miss[1])}.`);
  fig.line(at([-side, 0]), at([side, 0]), "hair");
  fig.line(at([0, -side]), at([0, side]), "hair");
  const targets = [
    [u1, v1],
    [u2, v2],
  ];
  sources.forEach((z, i) => {
    const look = ["one", "two"][i],
      image = images.slice(2 * i, 2 * i + 2),
      [tx, ty] = away(z, 0.16);
    fig.line(at([0, 0]), at(z), `thin ${look}`);
    fig.text([tx, ty + 5], `$z_${i + 1}$`, `small ${look}`);
    fig.hand(at([0, 0]), at(image), look);
    if (miss[i] > 0.005) fig.hand(at(image), at(targets[i]), "wrong");
    if (miss[i] > 0.4) {
      const [x, y] = at([(image[0] + targets[i][0]) / 2, (image[1] + targets[i][1]) / 2]);
      fig.text([x + 8, y + 4], number(miss[i]), "small wrong", "start");
    }
  });
  const [left, right] = targets.map(at),
    close = Math.abs(left[0] - right[0]) < 70 && Math.abs(left[1] - right[1]) < 18; // their labels would be one
  targets.forEach((w, i) => {
    const look = ["one", "two"][i],
      [x, y] = at(w);
    fig.circle([x, y], 8, `paper ${look}`);
    fig.circle([x, y], 2.5, `fill ${look}`);
    if (close && i === 1) fig.text([x + 14, y + 4], "target 2", `small ${look}`, "start");
    else fig.text([x, y + (w[1] < 0 && !close ? 26 : -15)], `target ${i + 1}`, `small ${look}`);
    fig.handle(["w1", "w2"][i], [x, y], ([X, Y]) => {
      const [u, v] = [ui.nearest("u1", (X - cx) / scale), ui.nearest("v1", (cy - Y) / scale)];
      ui.set(i ? { u2: u, v2: v } : { u1: u, v1: v }, { now: true });
    });
  });
}

export default widget({ compute, build, smooth: ["u1", "v1", "u2", "v2"] });
