import { html, number, ticks } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";
import { bySeed, empty, interval, mean, select, shown, widths, written } from "../../show/widgets/runs.js";

/** Means over seeds, and differences paired by seed, at every step and at the cursor. */
export function compute(state) {
  const panel = shown(state);
  if (!panel)
    return {
      panel: "",
      names: [],
      variant: "",
      reference: "",
      steps: [],
      index: 0,
      rows: [],
      means: [],
      differences: [],
    };
  const { names, t } = panel,
    steps = panel[`${state.kind}_steps`];
  const reference = names.includes(state.reference) ? state.reference : panel.reference;
  const others = names.filter((name) => name !== reference);
  const variant = others.includes(state.variant) ? state.variant : (others[0] ?? "");
  const index = Math.floor((state.at / 100) * (steps.length - 1) + 0.5);
  const runs = bySeed(panel, (run) => run[state.kind]);
  const difference = (name, i) => {
    const base = runs.get(reference);
    return interval(
      [...runs.get(name)].filter(([seed]) => base.has(seed)).map(([seed, losses]) => losses[i] - base.get(seed)[i]),
      t,
    );
  };
  const average = (name, i) => mean([...runs.get(name).values()].map((losses) => losses[i]));
  const rows = names.map((name) => ({
    variant: name,
    seeds: runs.get(name).size,
    loss: average(name, index),
    ...(name === reference ? interval([], t) : difference(name, index)),
  }));
  return {
    panel: panel.key,
    names,
    variant,
    reference,
    steps,
    index,
    rows,
    means: names.map((name) => steps.map((_, i) => average(name, i))),
    differences: variant ? steps.map((_, i) => difference(variant, i)) : [],
  };
}

const verdict = ({ difference, half, n }) => {
  if (difference === null) return "nothing to compare yet";
  if (half === null) return n === 1 ? "one seed: no interval" : "";
  return Math.abs(difference) <= half
    ? "the interval holds zero"
    : difference > 0
      ? "the interval lies above zero"
      : "the interval lies below zero";
};

function build(ui) {
  const { panels } = ui.state,
    names = [...new Set(panels.flatMap((panel) => panel.names))];
  if (empty(ui)) return () => {};
  const curves = ui.figure({
    label: "Loss against step",
    height: (width) => Math.min(320, Math.max(280, width * 0.75)),
  });
  ui.ranges.panel = panels.map((panel) => panel.key);
  ui.ranges.variant = ui.ranges.reference = names;
  if (panels.length > 1)
    select(ui, compute, "panel", "experiment, rung, setting", ({ panel }) => ({
      options: ui.ranges.panel,
      value: panel,
    }));
  select(ui, compute, "variant", "variant", (now) => ({
    options: now.names.filter((name) => name !== now.reference),
    value: now.variant,
  }));
  select(ui, compute, "reference", "minus the reference", (now) => ({ options: now.names, value: now.reference }));
  let cursor = null; // it goes from point to point, however many a curve has
  ui.controls.push(() => {
    const points = Math.max(1, compute(ui.state).steps.length - 1);
    if (cursor) cursor.step = Math.floor(1e9 / points) / 1e7; // rounded down: with a little more the end is out of reach
  });
  cursor = ui.slider("at", {
    label: "cursor",
    step: 1,
    show: () => {
      const now = compute(ui.state);
      return `step ${now.steps[now.index]}`;
    },
  });
  const other = ui.more("The other loss, and logarithmic steps", { host: ui.panel });
  ui.choice("kind", { label: "loss", options: { validation: "validation", training: "training" }, host: other });
  ui.choice("scale", { label: "steps", options: { linear: "linear", log: "logarithmic" }, host: other });
  const told = ui.below.appendChild(html("p", { class: "rope-told two" })); // it breaks where a line is too short for it
  const strip = ui.figure({ label: "Paired difference against step", height: () => 150, host: ui.below });
  const table = losses(ui);
  for (const fig of [curves, strip]) follow(ui, fig);

  return (state, values) => {
    const row = values.rows.find(({ variant }) => variant === values.variant);
    const grid = frame(state, values),
      here = values.differences[values.index],
      paired = values.differences.some(({ difference }) => difference !== null);
    told.textContent = paired
      ? `${values.variant} minus ${values.reference}: ${written(here)}`
      : "No two variants share a seed yet: nothing to subtract.";
    strip.box.hidden = !paired;
    drawCurves(curves, state, values, grid);
    drawStrip(strip, values, grid);
    table(values);
    ui.say(
      `Step ${values.steps[values.index]}. ` +
        (row
          ? `${row.variant} ${number(row.loss, 3)}, minus ${values.reference} ${written(row)}; ${verdict(row)}`
          : "One variant has a card."),
    );
  };
}

/** The cursor goes where the pointer is: to the nearest step that has a value. */
function follow(ui, fig) {
  fig.node.style.cursor = "crosshair";
  fig.node.addEventListener("pointermove", (event) => {
    if (!fig.X) return;
    const { steps } = compute(ui.state),
      [x] = fig.point(event);
    const near = steps.reduce(
      (best, step, i) => (Math.abs(fig.X(step) - x) < Math.abs(fig.X(steps[best]) - x) ? i : best),
      0,
    );
    ui.set({ at: (100 * near) / Math.max(1, steps.length - 1) }, { now: true });
  });
}

/** A table of all variants at the cursor; a name is a button that chooses it. Rows are kept, so that focus is. */
function losses(ui) {
  const head = html("caption", {}),
    body = html("tbody", {}),
    last = html("th", { scope: "col" });
  const columns = ["variant", "seeds", "loss"].map((name) => html("th", { scope: "col" }, name));
  ui.below.append(
    html("table", { class: "rope-losses" }, head, html("thead", {}, html("tr", {}, ...columns, last)), body),
  );
  let held = "",
    cells = [];
  return ({ panel, rows, reference, variant, steps, index }) => {
    if (held !== panel) {
      held = panel;
      cells = rows.map(({ variant: name }) => {
        const button = html("button", { type: "button" }, name),
          own = [1, 2, 3].map(() => html("td", {}));
        button.addEventListener("click", () => ui.set({ variant: name }));
        return { button, own, node: html("tr", {}, html("th", { scope: "row" }, button), ...own) };
      });
      body.replaceChildren(...cells.map(({ node }) => node));
    }
    head.textContent =
      `At step ${steps[index]}. Loss in nats per token, mean over the seeds; difference paired by ` +
      "seed, with its 95\u00a0% interval. The faint lines are one seed each.";
    last.textContent = `minus ${reference}`;
    rows.forEach((row, i) => {
      const { button, own, node } = cells[i];
      button.setAttribute("aria-pressed", row.variant === variant);
      button.setAttribute("aria-disabled", row.variant === reference);
      node.className = row.variant === variant ? "two" : "";
      const texts = [String(row.seeds), number(row.loss, 3), row.variant === reference ? "reference" : written(row)];
      own.forEach((cell, k) => {
        cell.textContent = texts[k];
      });
    });
  };
}

function frame({ scale }, { steps }) {
  const place = scale === "log" ? Math.log : (step) => step,
    first = scale === "log" ? steps[0] : 0,
    end = steps.at(-1);
  const round = [1, 2, 5].flatMap((k) => [1, 10, 100, 1e3, 1e4, 1e5].map((power) => k * power)).sort((a, b) => a - b);
  const grid = scale === "log" ? round.filter((step) => step >= first && step <= end) : ticks(0, end, 5);
  const low = place(first),
    high = place(end) > low ? place(end) : low + 1;
  return { grid, share: (step) => (place(step) - low) / (high - low) };
}

function axes(fig, { grid, share }, [y0, y1], { box: [left, top, right, bottom], ylabel, at }) {
  const X = (step) => left + share(step) * (right - left),
    rows = ticks(y0, y1, 5),
    fine = rows.length > 1 ? rows[1] - rows[0] : 1;
  const digits = Math.max(0, Math.ceil(-Math.log10(fine) - 1e-9));
  const { Y } = fig.axes({
    x: [0, 1],
    y: [y0, y1],
    box: [left, top, right, bottom],
    xticks: [],
    yticks: [],
    xlabel: "step",
    ylabel,
    at,
  });
  for (const v of rows) {
    fig.line([left, Y(v)], [right, Y(v)], "hair");
    fig.text([left - 8, Y(v) + 4], number(v, digits), "small muted", "end");
  }
  let taken = -Infinity;
  for (const step of grid) {
    fig.line([X(step), bottom], [X(step), bottom + 4], "axis");
    if (X(step) - taken > 44) {
      taken = X(step);
      fig.text([taken, bottom + 18], number(step, 0), "small muted");
    }
  }
  fig.X = X;
  return { X, Y };
}

/** Names at the ends of the lines, moved apart where they would lie on each other. */
function spread(ends, top, bottom, least = 17) {
  const placed = [...ends].sort((a, b) => a.y - b.y).map((end) => ({ ...end, at: end.y }));
  placed.forEach((end, i) => {
    end.at = Math.max(end.at, i ? placed[i - 1].at + least : top);
  });
  placed.reverse().forEach((end, i) => {
    end.at = Math.min(end.at, i ? placed[i - 1].at - least : bottom);
  });
  return placed;
}

/** The place of a plot: where there is room, the names of its lines stand at their ends, the widest one whole. */
function boxOf(fig, { names, steps }, top) {
  const wide = fig.width > 520,
    half = widths(fig, [number(steps.at(-1), 0)], "small muted")[0] / 2, // of the last step, which stands under the end
    margin = wide ? 22 + Math.max(...widths(fig, names, "small rope-chosen")) : Math.max(16, half);
  return { wide, box: [52, top(wide), fig.width - margin, fig.height - 44] };
}

function drawCurves(fig, { panels, kind }, now, grid) {
  const { names, means, steps, index, variant, reference, panel } = now,
    { runs } = panels.find((p) => p.key === panel),
    all = [...means, ...runs.map((run) => run[kind])].flat(); // no seed leaves the plot
  const low = Math.min(...all),
    high = Math.max(...all),
    room = Math.max(0.05, (high - low) * 0.08);
  const last = [reference, variant].filter(Boolean),
    rest = names.filter((name) => !last.includes(name));
  const { wide, box } = boxOf(fig, now, (wide) => (wide ? 28 : rest.length ? 88 : 68)), // narrow: names stand above
    [left, top, right, bottom] = box;
  const look = (name) => (name === variant ? "two" : name === reference ? "" : "muted");
  fig.clear(
    `${kind} loss of ${names.length} variants up to step ${steps.at(-1)}; at step ${steps[index]}: ` +
      now.rows.map((r) => `${r.variant} ${number(r.loss, 3)}`).join(", ") +
      ".",
  );
  const { X, Y } = axes(fig, grid, [low - room, high + room], { box, ylabel: `${kind} loss, nats per token` });
  const points = (losses) => losses.map((loss, i) => [X(steps[i]), Y(loss)]);
  for (const run of runs) fig.path(points(run[kind]), `line thin faint ${look(run.variant)}`);
  fig.line([X(steps[index]), top], [X(steps[index]), bottom], "axis");
  for (const name of [...rest, ...last]) {
    const losses = means[names.indexOf(name)],
      chosen = last.includes(name);
    fig.path(
      points(losses),
      `line ${look(name)} ${chosen ? "rope-mean" : "thin"} ${name === reference ? "rope-reference" : ""}`,
    );
    if (chosen && steps.length <= 25) for (const point of points(losses)) fig.circle(point, 2.5, `fill ${look(name)}`);
    if (chosen) fig.circle([X(steps[index]), Y(losses[index])], 5, `fill ${look(name)}`);
  }
  if (wide) {
    for (const { name, y, at } of spread(
      names.map((name, i) => ({ name, y: Y(means[i].at(-1)) })),
      top,
      bottom,
    )) {
      fig.line([right + 3, y], [right + 14, at], "hair");
      fig
        .text([right + 18, at + 4], name, `small ${look(name)}`, "start")
        .classList.toggle("rope-chosen", last.includes(name));
    }
  } else {
    const key = (i, name, line, look) => {
      const y = 12 + 20 * i;
      fig.line([left, y], [left + 30, y], line);
      fig.text([left + 38, y + 4], name, `small ${look}`, "start");
    };
    if (variant) key(0, variant, "two rope-mean", "rope-chosen two");
    key(last.length - 1, reference, "rope-mean rope-reference", "rope-chosen");
    if (rest.length) key(last.length, rest.length > 1 ? `the other ${rest.length}` : rest[0], "muted thin", "muted");
  }
}

function drawStrip(fig, now, grid) {
  const { differences, steps, index, variant, reference } = now,
    { wide, box } = boxOf(fig, now, () => 8),
    [left, top, right, bottom] = box;
  if (!differences.some(({ difference }) => difference !== null)) {
    fig.clear("No two variants share a seed yet.");
    fig.X = null;
    return;
  }
  const most = Math.max(...differences.map(({ difference }) => Math.abs(difference)), 0.005);
  const rim = (sign) =>
    Math.max(0, ...differences.map(({ difference, half }) => sign * difference + Math.min(half ?? 0, 2 * most)));
  const high = rim(1),
    low = -rim(-1),
    room = 0.12 * Math.max(high - low, 0.01),
    here = differences[index];
  fig.clear(`${variant} minus ${reference}: ${written(here)} at step ${steps[index]}; ${verdict(here)}.`);
  const { X, Y } = axes(fig, grid, [low - room, high + room], { box, at: 0 }),
    x = X(steps[index]);
  fig.text([left, bottom + 36], verdict(here), "small muted", "start");
  const inside = (v) => Y(Math.max(low - room, Math.min(high + room, v)));
  const rims = differences.flatMap(({ difference, half }, i) =>
    half === null ? [] : [[X(steps[i]), inside(difference + half), inside(difference - half)]],
  );
  if (rims.length) {
    const edge = [...rims.map(([at, y]) => `${at} ${y}`), ...rims.reverse().map(([at, , y]) => `${at} ${y}`)];
    fig.add("path", { d: `M${edge.join("L")}Z`, class: "soft two" });
  }
  const points = differences.map(({ difference }, i) => [X(steps[i]), Y(difference)]);
  fig.path(points, "line two rope-mean");
  if (steps.length <= 25) for (const point of points) fig.circle(point, 2.5, "fill two");
  fig.line([x, top], [x, bottom], "axis");
  fig.circle([x, Y(here.difference)], 5, "fill two");
  if (wide) fig.text([right + 18, Y(0) + 4], reference, "small rope-chosen", "start");
}

export default widget({ compute, build });
