import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";
import { mean } from "../../show/widgets/runs.js";

/** The board of the last trial, and the counts of all so far. */
export function compute({ trials, declared }) {
  const counts = declared.slice(0, trials).map((pairs) => pairs.length);
  return { last: declared[trials - 1], counts, mean: mean(counts) };
}

function build(ui) {
  const fig = ui.figure({ label: "Every pair of nine equal models", height: () => 270 });
  const write = ui.readout({ mean: "declared different, on average" });
  ui.slider("trials", { label: "experiments so far", step: 1, look: "two" });
  ui.play("trials", { label: "Repeat", seconds: 8 });
  return (state, values) => {
    write({ mean: ui.locked ? "?" : `${number(values.mean, 2)} of 36` });
    draw(ui, fig, state, values);
    ui.say(`${state.trials} experiments: ${number(values.mean, 2)} of 36 pairs, on average.`);
  };
}

/** A triangle of pairs, a dot for each one declared different; beside it, how often each count came. */
function draw(ui, fig, { trials, variants }, { last, counts }) {
  const n = variants - 1,
    side = Math.min((fig.height - 30) / n, (fig.width * 0.55) / n),
    top = 26,
    beside = side * n + 34,
    right = fig.width - 8;
  fig.clear(
    ui.locked
      ? "36 pairs of nine equal models, not yet compared."
      : `Experiment ${trials}: ${last.length} of 36 pairs declared different.`,
  );
  fig.text([2, 16], ui.locked ? "36 pairs" : `experiment ${trials}: ${last.length}`, "small", "start");
  let pair = 0;
  for (let i = 0; i < variants; i++)
    for (let j = i + 1; j < variants; j++) {
      const [x, y] = [2 + side * i, top + side * (j - 1)];
      fig.rect([x, y], [side, side], "hair");
      if (!ui.locked && last.includes(pair)) fig.circle([x + side / 2, y + side / 2], side * 0.28, "fill two");
      pair += 1;
    }
  if (ui.locked) return;
  const most = 8, // and more
    times = Array.from({ length: most + 1 }, (_, c) => counts.filter((count) => Math.min(count, most) === c).length),
    tall = Math.max(4, ...times),
    bottom = top + side * n - 20,
    wide = (right - beside) / (most + 1);
  fig.text([right, 16], "how often", "small muted", "end");
  times.forEach((count, c) => {
    const x = beside + wide * c,
      high = (count / tall) * (bottom - top);
    if (count) fig.rect([x + 1, bottom - high], [Math.max(1, wide - 2), high], "fill one");
    if (c % 2 === 0) fig.text([x + wide / 2, bottom + 16], c === most ? `${c}+` : `${c}`, "small muted");
  });
  fig.line([beside, bottom], [right, bottom], "axis");
}

export default widget({ compute, build, smooth: [] });
