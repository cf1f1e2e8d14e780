import { widget } from "../../show/widgets/kit.js";

const ROWS = ["weights", "logits at one offset", "logits at all offsets"];

/** The dimensions of each row for a head of width 2, and what complex weights leave. */
export function compute({ pairs }) {
  const D = 2 * pairs;
  return { whole: [4 * D, 4 * (D - 1), 2 * (2 * D - 1)], left: [2 * D, 2 * (D - 1), 2 * (D - 1)] };
}

function build(ui) {
  const fig = ui.figure({ label: "Half of what?", height: () => 210 });
  const write = ui.readout({ left: "left of the logits at all offsets" });
  ui.slider("pairs", { label: "coordinates of a word", step: 1, show: (pairs) => String(2 * pairs) });
  return (state, { whole, left }) => {
    const known = (row) => row === 0 || !ui.locked, // the question gives the weights
      told = ROWS.map((name, row) => `${name}: ${known(row) ? left[row] : "?"} of ${whole[row]}`);
    write({ left: told[2].split(": ")[1] });
    fig.clear(`What complex weights leave. ${told.join("; ")}.`);
    const wide = Math.min(34, (fig.width - 2) / whole[0]),
      gone = `line thin conjugate ${wide < 14 ? "" : "dash"}`;
    told.forEach((words, row) => {
      const y = 70 * row + 14;
      fig.text([1, y], words, "small", "start");
      for (let i = 0; i < whole[row]; i++) {
        const kept = known(row) && i < left[row];
        fig.rect([1 + wide * i, y + 9], [wide * 0.86, 30], kept ? "fill linear" : gone);
      }
    });
    ui.say(`A word of ${2 * state.pairs} coordinates. ${told.join("; ")}`);
  };
}

export default widget({ compute, build });
