import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

/** The two turned vectors and what the dot product sees of them. */
export function compute({ m, n, shift, theta, q_length, q_angle, k_length, k_angle }) {
  const q_turned = q_angle + (m + shift) * theta,
    k_turned = k_angle + (n + shift) * theta;
  const q = [q_length * Math.cos(q_turned), q_length * Math.sin(q_turned)];
  const k = [k_length * Math.cos(k_turned), k_length * Math.sin(k_turned)];
  const logit = q[0] * k[0] + q[1] * k[1];
  const between = Math.atan2(q[0] * k[1] - q[1] * k[0], logit);
  return { q, k, offset: n - m, between, logit, reach: Math.hypot(...q) * Math.hypot(...k) };
}

const angle = (v) => `${number(v)} rad`;
const wrap = (angle) => Math.atan2(Math.sin(angle), Math.cos(angle));

/** The way a hand has turned, from its rest: an arc that moves outward a little with each full turn. */
const sweep = (from, turned, radius, room = 0) => {
  const steps = Math.max(2, Math.ceil(Math.abs(turned) * 16)),
    grow = Math.min(room, (7 * Math.abs(turned)) / (2 * Math.PI));
  return Array.from({ length: steps + 1 }, (_, i) => [from + (turned * i) / steps, radius + (grow * i) / steps]);
};

function build(ui) {
  const clock = ui.figure({ label: "Clock face with the two hands", height: (width) => Math.min(width, 420) });
  const strip = ui.figure({ label: "Logit against offset", height: () => 190, host: ui.below });
  const write = ui.readout({
    offset: "offset $n-m$",
    between: "angle from query to key",
    logit: "logit $(R_mq)^⊤(R_nk)$",
  });
  ui.slider("m", { label: "query at position $m$", step: 1, look: "query" });
  ui.slider("n", { label: "key at position $n$", step: 1, look: "key" });
  ui.slider("shift", { label: "shift both by", step: 1 });
  ui.play("shift", { label: "Walk both along", perSecond: 8 });
  ui.tries({ "both 12 further": { shift: 12 }, "the key at 16": { n: 16 } });
  const more = ui.more("The angle per position, and the hands themselves");
  ui.slider("theta", { label: "angle per position $θ$", step: 0.01, show: angle, host: more });
  for (const [name, look, word] of [
    ["q", "query", "query"],
    ["k", "key", "key"],
  ]) {
    ui.slider(`${name}_length`, {
      label: `length of ${word} $${name}$`,
      step: 0.01,
      look,
      host: more,
    });
    ui.slider(`${name}_angle`, {
      label: `angle of ${word} $${name}$ at position 0`,
      min: -3.14,
      max: 3.14,
      step: 0.01,
      look,
      show: angle,
      host: more,
    });
  }

  return (state, values) => {
    const { logit, offset, between } = values;
    write({ offset: number(offset, 0), between: angle(between), logit: number(logit, 3) });
    drawClock(ui, clock, state, values);
    drawStrip(ui, strip, state, values);
    ui.say(
      `Query at ${Math.round(state.m + state.shift)}, key at ${Math.round(state.n + state.shift)}, ` +
        `offset ${number(offset, 0)}, logit ${number(logit, 3)}`,
    );
  };
}

function drawClock(ui, fig, state, { q, k, between, logit }) {
  const { shift, theta } = state,
    R = Math.min(fig.width, fig.height) / 2 - 36,
    [cx, cy] = [fig.width / 2, fig.height / 2];
  const at = ([x, y]) => [cx + R * x, cy - R * y];
  const polar = ([a, r]) => [cx + r * Math.cos(a), cy - r * Math.sin(a)];
  fig.clear(
    `Query hand and key hand on a clock face, ${number(Math.abs(between))} radians apart; dot ` +
      `product ${number(logit, 3)}.`,
  );
  fig.circle([cx, cy], R, "hair");
  for (let i = 0; i < 12; i++) fig.line(polar([(i * Math.PI) / 6, R - 5]), polar([(i * Math.PI) / 6, R]), "hair");
  // Between the hands: the one angle the logit sees.
  const from = Math.atan2(q[1], q[0]),
    wedge = sweep(from, between, 0).map(([a]) => polar([a, R * 0.46]));
  fig.add("path", { d: `M${cx} ${cy}L${wedge.map((p) => p.join(" ")).join("L")}Z`, class: "soft" });
  fig.path(wedge, "line");
  const apart = (Math.sign(between || 1) * Math.max(0, 0.3 - Math.abs(between))) / 2; // names of near hands step aside
  for (const [name, look, v, rest, position, radius] of [
    ["q", "query", q, state.q_angle, state.m + shift, R * 0.2],
    ["k", "key", k, state.k_angle, state.n + shift, R * 0.3],
  ]) {
    const length = state[`${name}_length`],
      turned = position * theta;
    fig.line(at([0, 0]), at([length * Math.cos(rest), length * Math.sin(rest)]), `thin faint ${look}`);
    fig.path(sweep(rest, turned, radius, R * 0.13).map(polar), `line thin ${look}`);
    fig.hand(at([0, 0]), at(v), look);
    const name_at = rest + turned + (name === "q" ? -apart : apart);
    fig.text(
      polar([name_at, R + 20]).map((c, i) => c + 5 * i),
      `$R_{${Math.round(position)}}${name}$`,
      `large ${look}`,
    );
    fig.handle(name, at(v), ([x, y]) => {
      const [dx, dy] = [(x - cx) / R, (cy - y) / R];
      ui.set(
        {
          [`${name}_length`]: ui.nearest(`${name}_length`, Math.hypot(dx, dy)),
          [`${name}_angle`]: wrap(Math.atan2(dy, dx) - turned),
        },
        { now: true },
      );
    });
  }
  fig.circle([cx, cy], 4.5, "fill");
  const middle = polar([from + between / 2, R * 0.46 + 30]);
  if (Math.abs(between) > 0.35) fig.text([middle[0], middle[1] + 5], angle(Math.abs(between)), "small");
}

function drawStrip(ui, fig, { theta, q_angle, k_angle }, { offset, logit, reach }) {
  const left = 36,
    bottom = fig.height - 44;
  fig.clear(`The logit against the offset from −16 to 16; now ${number(logit, 3)} at ${number(offset, 0)}.`);
  const { X, Y, curve } = fig.axes({
    x: [-16, 16],
    y: [-1, 1],
    box: [left, 26, fig.width - 10, bottom],
    yticks: [-1, 0, 1],
    xlabel: "offset $n-m$",
    ylabel: "logit",
    at: 0,
  });
  const f = (x) => reach * Math.cos(k_angle - q_angle + x * theta);
  curve(f, "line");
  for (let x = -16; x <= 16; x++) fig.circle([X(x), Y(f(x))], 2.5, "fill");
  fig.line([X(offset), Y(0)], [X(offset), Y(logit)], "line thin");
  fig.circle([X(offset), Y(logit)], 7, "paper");
  fig.circle([X(offset), Y(logit)], 3.5, "fill");
  fig.handle("offset", [X(offset), Y(logit)], ([x]) => {
    const wish = -16 + (32 * (x - left)) / (fig.width - 10 - left);
    ui.set({ n: ui.nearest("n", ui.state.m + wish) }, { now: true });
  });
}

export default widget({
  compute,
  build,
  smooth: ["m", "n", "shift", "theta", "q_length", "q_angle", "k_length", "k_angle"],
});
