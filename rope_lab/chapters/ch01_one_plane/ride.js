import { html, number, rich } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const PLANES = 4;
const turned = (v, angles) =>
  angles.flatMap((angle, i) => {
    const c = Math.cos(angle),
      s = Math.sin(angle);
    return [v[2 * i] * c - v[2 * i + 1] * s, v[2 * i] * s + v[2 * i + 1] * c];
  });
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const farthest = (a, b) =>
  Math.max(...a.flatMap((_, i) => (i % 2 ? [] : [Math.hypot(a[i] - b[i], a[i + 1] - b[i + 1])])));

/** What one sees with the first word at this position. */
function scene({ reader, ride, placed, hands, many, forgot, theta, q, k, v }, shift) {
  const planes = many ? PLANES : 1,
    speeds = Array.from({ length: planes }, (_, i) => theta * 100 ** (-i / planes)),
    m = shift + reader,
    back = forgot ? 1 : -1;
  const by = (position) => speeds.map((speed) => speed * position);
  const place = (list) => list.map((each, i) => turned(each, by(placed * (shift + i))));
  const keys = place(k),
    values = place(v),
    look = (each) => turned(each, by(back * ride * m));
  const logits = keys.slice(0, reader).map((key) => dot(turned(key, by(back * m)), q[reader]) / planes);
  const top = Math.max(...logits),
    shares = logits.map((logit) => Math.exp(logit - top)),
    total = shares.reduce((sum, share) => sum + share, 0),
    weights = shares.map((share) => share / total);
  const output = values[0].map((_, j) => weights.reduce((sum, weight, i) => sum + weight * values[i][j], 0));
  return {
    seen: (hands === "values" ? values : keys).map(look),
    query: look(turned(q[reader], by(m))),
    logits,
    weights,
    output: look(output),
    frame: by(back * ride * m),
  };
}

/** The scene, and how far it is from where it began. */
export function compute(state) {
  const now = scene(state, state.shift),
    home = scene(state, 0);
  return {
    ...now,
    hands_moved: Math.max(...now.seen.map((hand, i) => farthest(hand, home.seen[i]))),
    logits_moved: Math.max(...now.logits.map((logit, i) => Math.abs(logit - home.logits[i]))),
    output_moved: farthest(now.output, home.output),
  };
}

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth"];
const FORMULA = ["$R^⊤_mR_n=R_{n-m}$", "$R_mR_n=R_{n+m}$"];

/** What the picture says, in a sentence. */
function verdict({ ride, shift, placed, hands, forgot }, { hands_moved, logits_moved }) {
  if (placed < 1) return "Without $R_n$ no word knows its position.";
  if (ride && forgot) return shift ? "Without the transpose everything spins twice as fast." : "You sit on the query.";
  if (ride) return shift ? "From the query’s seat nothing has moved." : "From the query’s seat there are only offsets.";
  if (!shift) return "You stand on the ground. Walk the sentence along.";
  if (forgot) return `From the ground you see nothing wrong, and the logits have moved by ${number(logits_moved)}.`;
  if (hands === "values") return "On the ground the output turns with the sentence.";
  return hands_moved > 0.005
    ? "On the ground every hand has turned, and no logit has changed."
    : "A whole turn: all hands are back.";
}

function build(ui) {
  const words = ui.stage.appendChild(html("p", { class: "rope-verdict" }));
  const fig = ui.figure({
    label: "A sentence with one clock for each word and plane, its positions, and one disc for each word that is read",
    height: (width) => sizes(width, ui.state.many).height,
  });
  const [left, right] = ["", ""].map(() => ui.panel.appendChild(html("div", { class: "rope-column" })));
  ui.choice("ride", { label: "where you are", options: { 0: "on the ground", 1: "riding on the query" }, host: left });
  ui.slider("shift", { label: "walk the sentence along by", step: 1, host: left });
  ui.play("shift", { label: "Walk", perSecond: 4, host: left });
  ui.slider("reader", {
    label: "the word that reads",
    step: 1,
    look: "query",
    show: (i) => `“${ui.state.words[i]}”, the ${ORDINALS[i]}`,
    host: left,
  });
  factors(ui, right);
  ui.choice("hands", { label: "what the words show", options: { keys: "keys", values: "values" }, host: right });
  ui.toggle("many", { label: "four planes, each at its own speed", host: right });
  ui.toggle("forgot", { label: "forget the transpose", host: right });
  const write = ui.readout(
    {
      first: "logit of the first word",
      logits_moved: "a logit has moved by up to",
      hands_moved: "a hand has moved by up to",
      output_moved: "the output, if values turn too, has moved by",
    },
    { host: ui.below },
  );

  return (state, values) => {
    words.replaceChildren(...rich(verdict(ui.state, ui.compute(ui.state))));
    write({
      first: number(values.logits[0], 3),
      logits_moved: number(values.logits_moved, 3),
      hands_moved: number(values.hands_moved, 3),
      output_moved: number(values.output_moved, 3),
    });
    if (fig.height !== fig.heightOf(fig.width)) fig.fit(fig.width);
    draw(ui, fig, state, values);
    const { reader, ride, shift } = ui.state;
    ui.say(
      `Word ${reader + 1} reads, seen from ${ride ? "its query" : "the ground"}, the sentence moved along by ${shift}: ` +
        `hands moved by up to ${number(values.hands_moved)}, logits by ${number(values.logits_moved)}.`,
    );
  };
}

/** The factors of the formula. Point at one, or tab to it: what it turns is turned back. A press keeps it so. */
function factors(ui, host) {
  const row = host.appendChild(html("div", { class: "rope-factors", role: "group", "aria-label": "The formula" }));
  const formula = row.appendChild(html("p", {}));
  for (const [name, label] of [
    ["ride", "$R^⊤_m$ turns the scene"],
    ["placed", "$R_n$ turns each word"],
  ]) {
    const now = () => ui.model.get(name);
    let kept; // what it goes back to
    const hold = () => {
      if (kept !== undefined) return;
      kept = now();
      ui.set({ [name]: 1 - kept });
    };
    const release = () => {
      if (kept === undefined || button.matches(":hover, :focus-visible")) return;
      ui.set({ [name]: kept });
      kept = undefined;
    };
    const button = ui.button(
      label,
      () => {
        const wanted = kept === undefined ? 1 - now() : 1 - kept; // a pointer or the focus has turned it already
        kept = kept === undefined ? undefined : wanted;
        ui.set({ [name]: wanted });
      },
      { host: row },
    );
    button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && hold());
    button.addEventListener("pointerleave", release);
    button.addEventListener("focus", () => button.matches(":focus-visible") && hold());
    button.addEventListener("blur", release);
    ui.controls.push(() => button.setAttribute("aria-pressed", now() === 1));
  }
  ui.controls.push(() => formula.replaceChildren(...rich(FORMULA[Number(ui.model.get("forgot"))])));
}

/** Column, radius and rows of the picture. */
function sizes(width, many) {
  const column = width / 6,
    R = Math.min(column * 0.42, many ? 34 : 56),
    rows = many ? PLANES : 1,
    step = 2 * R + 10,
    ruler = 38 + rows * step;
  return { column, R, step, ruler, discs: ruler + 58, height: ruler + 92 };
}

function draw(ui, fig, { shift, reader, ride, hands, words, many }, values) {
  const { column, R, step, ruler, discs } = sizes(fig.width, many),
    x = (i) => (i + 0.5) * column,
    m = shift + reader,
    look = hands === "values" ? "value" : "key",
    own = hands === "values" ? ["output", values.output] : ["query", values.query];
  fig.clear(
    `${words.join(" ")}, from position ${Math.round(shift)}; “${words[reader]}” reads. ` +
      (ride > 0.5
        ? `From its seat the positions are ${words.map((_, i) => (i === reader ? "me" : number(i - reader, 0))).join(", ")}. `
        : "Seen from the ground. ") +
      `The logits are ${values.logits.map((logit) => number(logit)).join(", ")}.`,
  );
  fig.line([0, ruler], [fig.width, ruler], "hair");
  words.forEach((word, i) => {
    const unread = i > reader ? "faint" : "";
    fig.text([x(i), 22], word, i === reader ? "word query" : unread ? "muted" : "word");
    values.frame.forEach((angle, plane) => {
      const cy = 34 + R + plane * step,
        tip = (v, scale = R / 1.05) => [x(i) + scale * v[2 * plane], cy - scale * v[2 * plane + 1]];
      fig.circle([x(i), cy], R, i === reader ? "soft query" : "hair");
      if (i === reader) fig.circle([x(i), cy], R, "line thin query");
      // The ground: a notch at its first axis.
      const out = [Math.cos(angle), Math.sin(angle)];
      fig.line(
        [x(i) + R * 0.82 * out[0], cy - R * 0.82 * out[1]],
        [x(i) + R * out[0], cy - R * out[1]],
        `thin muted ${unread}`,
      );
      const [role, hand] = i === reader ? own : [look, values.seen[i]];
      fig.hand([x(i), cy], tip(hand), `${role} ${unread}`);
      fig.circle([x(i), cy], 2.5, "fill");
    });
    const riding = i === reader ? "me" : number(i - reader, 0);
    fig.text(
      [x(i), ruler + 20],
      ride > 0.5 ? riding : number(Math.round(m - reader) + i, 0),
      `small ${unread || "muted"}`,
    );
    if (i < reader) {
      const size = hands === "values" ? values.weights[i] : values.logits[i];
      fig.circle([x(i), discs], Math.min(R, 24) * Math.sqrt(Math.min(1, Math.abs(size))), size < 0 ? "paper" : "fill");
    }
    if (i) {
      const target = fig.rect([x(i) - column / 2, 0], [column, ruler + 26], "hit");
      target.addEventListener("click", () => ui.set({ reader: i }));
    }
  });
  const last = reader > 4,
    says = (down, words) =>
      fig.text([last ? fig.width - 2 : x(reader) + 2, discs + down], words, "small muted", last ? "end" : "start");
  says(5, hands === "values" ? "← weights" : "← logits");
  if (values.logits.some((logit) => logit < 0) && hands === "keys") says(23, "ring: < 0");
}

export default widget({ compute, build, smooth: { shift: 60, ride: 200, placed: 120 } });
