import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";
import { mean, signed } from "../../show/widgets/runs.js";

/** Mean and interval of so many seeds that have the mean and the spread of the three. */
export function compute({ seeds: n, gaps, t }) {
  const middle = mean(gaps),
    sd = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - middle) ** 2, 0) / (gaps.length - 1)),
    half = (t[n] * sd) / Math.sqrt(n);
  return { mean: middle, low: middle - half, high: middle + half, sign: middle - half > 0 };
}

const FROM = -0.08,
  TO = 0.13; // nats: with two seeds the interval is longer than this, and its ends say so

function build(ui) {
  const fig = ui.figure({ label: "Three differences and their interval", height: () => 190 });
  const write = ui.readout({ interval: "95\u00a0% interval" });
  ui.slider("seeds", { label: "seeds, with this mean and spread", step: 1, look: "two" });
  return (state, values) => {
    const told = `${signed(values.low)} to ${signed(values.high)}`;
    write({ interval: ui.locked ? "?" : told });
    draw(ui, fig, state, values);
    ui.say(`${state.seeds} seeds: ${told}. ${said(values)}.`);
  };
}

const said = ({ sign }) => (sign ? "Worse: zero lies outside" : "It holds zero: the sign is open");

function draw(ui, fig, { seeds, gaps }, values) {
  const left = 14,
    right = fig.width - 14,
    bottom = fig.height - 46,
    X = (v) => left + ((Math.max(FROM, Math.min(TO, v)) - FROM) / (TO - FROM)) * (right - left);
  fig.clear(
    `Differences ${gaps.map((gap) => signed(gap)).join(", ")}.` +
      (ui.locked ? "" : ` ${seeds} seeds: ${said(values)}.`),
  );
  for (const v of [-0.05, 0, 0.05, 0.1]) {
    fig.line([X(v), 28], [X(v), bottom], v ? "hair" : "axis");
    fig.text([X(v), bottom + 18], number(v, 2), "small muted");
  }
  fig.text([X(0), 18], "no difference", "small muted");
  fig.text([right, bottom + 38], "above zero is worse, nats", "small muted", "end");
  const dots = 28 + (bottom - 28) * 0.3,
    bar = 28 + (bottom - 28) * 0.7;
  for (const gap of gaps) fig.circle([X(gap), dots], 5, "line one");
  if (ui.locked) return;
  const look = values.sign ? "wrong" : "one";
  fig.line([X(values.low), bar], [X(values.high), bar], `${look} rope-bar`);
  for (const end of [values.low, values.high])
    if (end > FROM && end < TO) fig.line([X(end), bar - 7], [X(end), bar + 7], look);
  fig.circle([X(values.mean), bar], 6, `fill ${look}`);
}

export default widget({ compute, build, smooth: [] });
