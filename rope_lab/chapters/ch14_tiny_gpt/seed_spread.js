import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

/** The best and the worst of the first runs, and how far they are apart. */
export function compute({ runs, losses }) {
  const seen = losses.slice(0, runs),
    low = Math.min(...seen),
    high = Math.max(...seen);
  return { low, high, apart: high - low };
}

const GAP = 0.02; // nats: the difference that the chapter asks about

function build(ui) {
  const fig = ui.figure({ label: "Where the runs of one model end", height: () => 240 });
  const write = ui.readout({ apart: "from the best to the worst" });
  ui.slider("runs", { label: "runs so far, each with its own seed", step: 1, look: "two" });
  return (state, values) => {
    const told = `${number(values.apart, 3)} nats`;
    write({ apart: ui.locked ? "?" : told });
    draw(ui, fig, state, values);
    ui.say(`${state.runs} runs: ${told} from the best to the worst.`);
  };
}

/** A row for each run, its dot at the loss where it ends; below, from the best to the worst, beside the gap. */
function draw(ui, fig, { runs, losses }, { low, high, apart }) {
  const left = 52,
    right = fig.width - 16,
    top = 24,
    bottom = fig.height - 60,
    row = (bottom - top) / losses.length,
    from = Math.min(...losses) - 0.005,
    to = Math.max(...losses) + 0.005,
    X = (loss) => left + ((loss - from) / (to - from)) * (right - left);
  fig.clear(
    ui.locked
      ? `${losses.length} runs of one model; where they end is not shown yet.`
      : `The first ${runs} runs end between ${number(low, 3)} and ${number(high, 3)}, ${number(apart, 3)} apart.`,
  );
  losses.forEach((_, i) => {
    const y = top + (i + 0.5) * row;
    fig.line([left, y], [right, y], "hair");
    fig.text([left - 8, y + 4], `run ${i + 1}`, "small muted", "end");
  });
  fig.line([left, bottom], [right, bottom], "axis");
  fig.text([right, 14], "loss at the end, nats", "small muted", "end");
  if (ui.locked) return;
  for (let k = Math.ceil(from * 100); k <= to * 100; k++) {
    fig.line([X(k / 100), bottom], [X(k / 100), bottom + 4], "axis");
    fig.text([X(k / 100), bottom + 18], number(k / 100, 2), "small muted");
  }
  losses.slice(0, runs).forEach((loss, i) => {
    fig.circle([X(loss), top + (i + 0.5) * row], 5, "fill two");
  });
  for (const [length, y, look] of [
    [apart, bottom + 34, "two"],
    [GAP, bottom + 50, "muted"],
  ]) {
    fig.line([X(from), y], [X(from + length), y], `${look} thick`);
    fig.text([X(from + length) + 8, y + 4], number(length, length === GAP ? 2 : 3), `small ${look}`, "start");
  }
}

export default widget({ compute, build, smooth: [] });
