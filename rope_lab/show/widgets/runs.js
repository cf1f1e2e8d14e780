// What the explorers of result cards share: the panel that is shown, its runs by seed, intervals, and their controls.
import { html, number } from "./draw.js";

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
export const shown = (state) => state.panels.find((panel) => panel.key === state.panel) ?? state.panels[0];

/** What `pick` takes from each run, by variant and seed: a map of maps. */
export const bySeed = (panel, pick) =>
  new Map(
    panel.names.map((name) => [
      name,
      new Map(panel.runs.filter((run) => run.variant === name).map((run) => [run.seed, pick(run)])),
    ]),
  );

export function interval(values, t) {
  const n = values.length;
  if (n < 2) return { n, difference: n ? values[0] : null, half: null };
  const middle = mean(values),
    sd = Math.sqrt(values.reduce((sum, v) => sum + (v - middle) ** 2, 0) / (n - 1));
  return { n, difference: middle, half: t[n] * (sd / Math.sqrt(n)) };
}

export const signed = (value, digits = 3) => (value > 0 ? "+" : "") + number(value, digits);
export const written = ({ difference, half }, none = "") =>
  difference === null ? none : `${signed(difference)} ${half === null ? "(one seed)" : `± ${number(half, 3)}`}`;

/** The widths of words in a picture, in CSS pixels: measured, for no two faces are equally wide. */
export const widths = (fig, words, look) =>
  words.map((word) => {
    const node = fig.text([0, 0], word, look),
      wide = node.getComputedTextLength();
    node.remove();
    return wide;
  });

/** A choice among names that depend on the state: `read(compute(state))` returns the options and the value now. */
export function select(ui, compute, name, label, read) {
  const id = `rope-${Math.random().toString(36).slice(2)}`,
    box = html("select", { id, "data-name": name });
  box.addEventListener("change", () => ui.set({ [name]: box.value }));
  ui.panel.append(html("div", { class: "rope-select" }, html("label", { for: id }, label), box));
  let held = null;
  ui.controls.push(() => {
    const { options, value } = read(compute(ui.state));
    if (held !== options.join("\n")) {
      held = options.join("\n");
      box.replaceChildren(
        ...(options.length ? options : [""]).map((option) =>
          html("option", { value: option }, option || "no other yet"),
        ),
      );
    }
    box.value = value;
  });
}

/** What stands in the widget's place while no card is there; true if it does. */
export function empty(ui) {
  if (ui.state.panels.length) return false;
  ui.panel.append(
    html("p", {}, "No result card has come with this copy of the book yet, so there is nothing to show."),
  );
  return true;
}
