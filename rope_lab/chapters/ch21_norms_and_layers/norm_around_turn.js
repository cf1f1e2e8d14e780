import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const turned = ([x, y], angle) => {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return [c * x - s * y, s * x + c * y];
};
const normed = (v) => v.map((x) => (Math.SQRT2 * x) / Math.hypot(...v));
const dot = ([x, y], [u, v]) => x * u + y * v;

/** Query, key and logit now, and the logit at every shift. */
export function compute({ shift, offset, first, second, place, content, theta, reach }) {
  const gained = ([x, y]) => [first * x, second * y];
  const pair = (by) => {
    const query = turned(normed(content.query), (by - offset) * theta);
    const key =
      place === "before"
        ? turned(gained(normed(content.key)), by * theta)
        : gained(normed(turned(content.key, by * theta)));
    return { query, key, logit: dot(query, key) };
  };
  return { ...pair(shift), logits: Array.from({ length: reach + 1 }, (_, by) => pair(by).logit) };
}

function build(ui) {
  const plane = ui.figure({ label: "Query and key in one plane", height: (width) => Math.min(width * 0.8, 320) });
  const strip = ui.figure({ label: "The logit while both words move", height: () => 170, host: ui.below });
  const write = ui.readout({ logit: "logit" });
  ui.slider("shift", { label: "both words move along by", step: 1 });
  ui.play("shift", { label: "Walk both along", seconds: 5 });
  ui.choice("place", { label: "the norm stands", options: { before: "before the turn", after: "after the turn" } });
  ui.slider("first", { label: "gain $a$ of the first component", step: 0.05, look: "key" });
  ui.slider("second", { label: "gain $b$ of the second component", step: 0.05, look: "key" });
  ui.slider("offset", { label: "offset $n-m$", step: 1 });

  return (state, values) => {
    const [least, most] = [Math.min, Math.max].map((of) => of(...values.logits));
    write({ logit: number(values.logit) });
    drawPlane(plane, state, values, ui.locked);
    drawStrip(strip, state, values);
    ui.say(
      `Norm ${state.place} the turn, both words moved by ${Math.round(state.shift)}: logit ${number(values.logit)}. ` +
        (most - least < 1e-9 ? "It is the same at all places." : `It goes from ${number(least)} to ${number(most)}.`),
    );
  };
}

/** The way of the key while it turns, the two hands, and the shadow of the key on the query. */
function drawPlane(fig, { first, second, place }, { query, key, logit }, locked) {
  const R = fig.height / 6.4,
    [cx, cy] = [fig.width / 2, fig.height / 2];
  const at = ([x, y]) => [cx + R * x, cy - R * y];
  const after = place === "after",
    [wide, high] = after ? [first, second].map((gain) => Math.SQRT2 * gain) : Array(2).fill(Math.hypot(...key));
  const said = locked ? "" : ` While it turns, the key's tip runs on ${wide === high ? "a circle" : "an ellipse"}.`;
  fig.clear(`A query hand and a key hand; their dot product is ${number(logit)}.${said}`);
  fig.line(at([-3, 0]), at([3, 0]), "hair");
  fig.line(at([0, -3]), at([0, 3]), "hair");
  const rim = Array.from({ length: 97 }, (_, i) => {
    const angle = (i / 48) * Math.PI;
    return at([wide * Math.cos(angle), high * Math.sin(angle)]);
  });
  if (!locked) fig.path(rim, "line thin key");
  const foot = query.map((x) => (x * logit) / 2); // a normed query has length √2
  fig.line(at(query.map((x) => -2 * x)), at(query.map((x) => 2 * x)), "thin faint query");
  fig.line(at(key), at(foot), "thin dash muted");
  fig.hand(at([0, 0]), at(query), "query");
  fig.hand(at([0, 0]), at(key), "key");
  fig.circle(at(foot), 4, "fill");
  for (const [hand, other, name] of [
    [query, key, "query"],
    [key, query, "key"],
  ]) {
    const left = hand[0] * other[1] > hand[1] * other[0]; // the name stands on the side of no line, clear of the dot
    const by = (left === (name === "query" || logit > 0) ? 0.25 : -0.25) / Math.hypot(...hand);
    const [x, y] = at([0.6 * hand[0] + by * hand[1], 0.6 * hand[1] - 1.4 * by * hand[0]]);
    fig.text([x, y + 5], name, `small ${name}`, by * hand[1] < 0 ? "end" : "start");
  }
}

function drawStrip(fig, { shift, reach }, { logit, logits }) {
  const peak = Math.max(3, ...logits.map(Math.abs));
  fig.clear(`The logit at each shift from 0 to ${reach}; now ${number(logit)}.`);
  const { X, Y } = fig.axes({
    x: [-reach / 40, reach], // room for the ring at 0
    y: [-peak, peak],
    box: [36, 26, fig.width - 12, fig.height - 44],
    yticks: [-2, 0, 2],
    xlabel: "both words moved along by",
    ylabel: "logit",
    at: 0,
  });
  const dots = logits.map((one, by) => [X(by), Y(one)]);
  fig.path(dots, "line thin");
  for (const one of dots) fig.circle(one, 2, "fill");
  fig.circle([X(shift), Y(logit)], 6, "paper");
  fig.circle([X(shift), Y(logit)], 3.5, "fill");
}

export default widget({ compute, build, smooth: ["shift", "offset", "first", "second"] });
