import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const TURN = 2 * Math.PI;

/** Both hands at every token, and the angle between them. */
export function compute({ scale, turns, theta, tokens }) {
  const at = Array.from({ length: tokens }, (_, i) => scale * i);
  const hands = (speed) => at.map((n) => [Math.cos(n * speed), Math.sin(n * speed)]);
  const slow = hands(theta),
    fast = hands(theta + TURN * turns);
  const apart = slow.map(([a, b], i) =>
    Math.abs(Math.atan2(a * fast[i][1] - b * fast[i][0], a * fast[i][0] + b * fast[i][1])),
  );
  return { slow, fast, apart };
}

const COLUMNS = 3;
const place = (n) => number(n, n % 1 ? 2 : 0);

function build(ui) {
  const fig = ui.figure({
    label: "Two hands for each token",
    height: (width) => (ui.state.tokens / COLUMNS) * (width / COLUMNS + 20),
  });
  const write = ui.readout({ most: "the hands are apart by up to" });
  ui.slider("scale", { label: "every position is multiplied by", step: 0.05 });
  ui.slider("turns", { label: "whole turns that the fast hand makes more", step: 1 });
  ui.slider("theta", { label: "angle per position of the slow hand", step: 0.01, max: 3.14 });

  return (state, values) => {
    const most = Math.max(...values.apart);
    write({ most: `${number(most)} rad` });
    draw(fig, state, values);
    ui.say(`Positions multiplied by ${number(state.scale)}: the hands are apart by up to ${number(most)} radians`);
  };
}

function draw(fig, { scale }, { slow, fast, apart }) {
  const cell = fig.width / COLUMNS,
    R = cell * 0.38;
  fig.clear(
    `${slow.length} clocks with two hands; they are apart by ${apart.map((angle) => number(angle)).join(", ")} radians.`,
  );
  slow.forEach((hand, i) => {
    const cx = cell * ((i % COLUMNS) + 0.5),
      cy = (cell + 20) * Math.floor(i / COLUMNS) + cell / 2;
    fig.circle([cx, cy], R, "hair");
    fig.line([cx, cy], [cx + R * 0.95 * hand[0], cy - R * 0.95 * hand[1]], "line");
    fig.hand([cx, cy], [cx + R * 0.95 * fast[i][0], cy - R * 0.95 * fast[i][1]], "muted");
    fig.circle([cx, cy], 2.5, "fill");
    fig.text([cx, cy + R + 18], `${cell > 120 ? "token " : ""}${i} at ${place(scale * i)}`, "small muted");
  });
}

export default widget({ compute, build, smooth: ["scale", "theta"] });
