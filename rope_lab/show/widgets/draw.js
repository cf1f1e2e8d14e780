// Drawing for every widget: SVG in CSS pixels, small mathematics, axes. A figure is redrawn whole at each change.

const SVG = "http://www.w3.org/2000/svg";

const fill = (node, attrs, children) => {
  for (const [key, value] of Object.entries(attrs ?? {})) if (value != null) node.setAttribute(key, value);
  node.append(...children.filter((child) => child != null));
  return node;
};
export const svg = (tag, attrs, ...children) => fill(document.createElementNS(SVG, tag), attrs, children);
export const html = (tag, attrs, ...children) => fill(document.createElement(tag), attrs, children);

/** A number as a reader writes it: a true minus sign, no negative zero. */
export const number = (value, digits = 2) => {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
};

/** The nearest whole number, with commas between thousands. */
export const whole = (value) => Math.round(value).toLocaleString("en-US");

/** "offset $n-m$" as runs of text: letters between dollars lean, _ and ^ lower and raise. */
function runs(source) {
  return source.split("$").flatMap((part, i) => {
    if (i % 2 === 0) return part ? [{ text: part.replace(/(\w)'(?=\w)/g, "$1’") }] : []; // the sign of a printed page
    const found = [...part.matchAll(/([_^])(?:\{([^}]*)\}|(.))|([^ ])/gu)];
    const run = (text, level) => ({ text: text.replace("-", "−"), math: true, lean: /[A-Za-zα-ω]/u.test(text), level });
    return found.flatMap(([, script, group, single, sign], at) => {
      if (script) return [...(group ?? single)].map((c) => run(c, script));
      if (sign === "ℛ") return [{ ...run("R"), lean: false, script: true }]; // the letter of MathJax's font for it
      const binary = "+-=−·≠≈".includes(sign) && at > 0 && !"(,=".includes(found[at - 1][0]);
      return [run(sign === "~" ? "\u2009" : binary ? `\u2009${sign}\u2009` : sign)];
    });
  });
}
const face = ({ math, lean, script, level }) =>
  Object.entries({ math, lean, script, sub: level === "_", sup: level === "^" })
    .filter(([, is]) => is)
    .map(([look]) => `rope-${look}`)
    .join(" ");
export const rich = (source) => runs(source).map((run) => html("span", { class: face(run) }, run.text));
export const plain = (source) =>
  runs(source)
    .map(({ text, level }) => (level === "^" ? `^${text}` : text))
    .join("");

/** At most `count` round numbers between lo and hi. */
export function ticks(lo, hi, count = 6) {
  const raw = (hi - lo) / count,
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw * 0.999);
  const first = Math.ceil(lo / step - 1e-9);
  return Array.from({ length: Math.floor(hi / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

export class Figure {
  #handles = new Map();
  constructor(host, { label, height, changed }) {
    const id = `rope-${Math.random().toString(36).slice(2)}`;
    this.title = svg("title", { id: `${id}-t` }, label);
    this.desc = svg("desc", { id: `${id}-d` });
    this.ink = svg("g");
    this.top = svg("g");
    this.node = svg(
      "svg",
      { role: "img", "aria-labelledby": `${id}-t`, "aria-describedby": `${id}-d` },
      this.title,
      this.desc,
      this.ink,
      this.top,
    );
    this.heightOf = height;
    this.node.addEventListener("pointerdown", (event) => this.#grab(event));
    host.append(this.node);
    this.box = host;
    this.fit(host.clientWidth || 400);
    this.watch = new ResizeObserver(() =>
      requestAnimationFrame(() => {
        if (host.clientWidth && host.clientWidth !== this.width) {
          this.fit(host.clientWidth);
          changed();
        }
      }),
    );
    this.watch.observe(host);
  }
  fit(width) {
    this.width = width;
    this.height = this.heightOf(width);
    fill(this.node, { viewBox: `0 0 ${width} ${this.height}`, width, height: this.height }, []);
  }
  /** Not higher than this: the picture becomes narrower, or lower where its height does not follow its width. */
  limit(height) {
    const full = this.box.clientWidth || this.width,
      asked = this.heightOf;
    let width = full;
    while (asked(width) > height && width > height / 2) width -= 4;
    if (asked(width) > height) width = full;
    if (width < full) this.box.style.maxWidth = `${width}px`;
    this.heightOf = (at) => Math.min(height, asked(at));
    this.fit(width);
  }
  /** Begin a new drawing. `text` says in words what it shows. */
  clear(text) {
    this.ink.replaceChildren();
    this.desc.textContent = text;
  }

  add(tag, attrs, ...children) {
    return this.ink.appendChild(svg(tag, attrs, ...children));
  }
  line([x1, y1], [x2, y2], look = "") {
    return this.add("line", { x1, y1, x2, y2, class: `line ${look}` });
  }
  circle([cx, cy], r, look = "line") {
    return this.add("circle", { cx, cy, r, class: look });
  }
  rect([x, y], [width, height], look = "line") {
    return this.add("rect", { x, y, width, height, class: look });
  }
  path(points, look = "line") {
    return this.add("path", {
      d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join(""),
      class: look,
    });
  }
  /** Words and $mathematics$; anchor is start, middle or end. A halo of paper keeps them readable over lines. */
  text([x, y], source, look = "", anchor = "middle") {
    let down = 0;
    const spans = runs(source).map((run) => {
      const want = { _: 0.26, "^": -0.4 }[run.level] ?? 0,
        scale = run.level ? 0.74 : 1;
      const span = svg(
        "tspan",
        {
          class: face(run),
          dx: want > 0 && down < 0 ? "-.78em" : null, // an index goes under the sign of a transpose
          dy: want === down ? null : `${((want - down) / scale).toFixed(3)}em`,
        },
        run.text,
      );
      down = want;
      return span;
    });
    return this.add("text", { x, y, class: look, "text-anchor": anchor }, ...spans);
  }
  /** A hand of a clock: a line that ends in a slim head. */
  hand([x0, y0], [x1, y1], look) {
    const length = Math.hypot(x1 - x0, y1 - y0) || 1,
      [u, v] = [(x1 - x0) / length, (y1 - y0) / length];
    const head = Math.min(13, length * 0.38),
      half = head * 0.38;
    const [bx, by] = [x1 - u * head, y1 - v * head];
    this.line([x0, y0], [x1 - u * head * 0.8, y1 - v * head * 0.8], `hand ${look}`);
    this.add("path", {
      d: `M${x1} ${y1}L${bx - v * half} ${by + u * half}L${bx + v * half} ${by - u * half}Z`,
      class: `fill ${look}`,
    });
  }
  /** Something the pointer can drag. Call it at every drawing: it moves the grip and keeps a drag alive. */
  handle(name, [cx, cy], move) {
    if (!this.#handles.has(name))
      this.#handles.set(name, {
        grip: this.top.appendChild(svg("circle", { r: 22, class: "grip", "data-drag": name })),
      });
    const handle = this.#handles.get(name);
    fill(handle.grip, { cx, cy }, []);
    handle.move = move;
  }
  /** Where in the drawing a pointer is, also where the page shows it smaller than it is. */
  point({ clientX, clientY }) {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(this.node.getScreenCTM().inverse());
    return [x, y];
  }
  #grab(event) {
    const handle = this.#handles.get(event.target.dataset?.drag);
    if (!handle || event.button) return;
    event.preventDefault();
    this.node.setPointerCapture(event.pointerId);
    handle.grip.classList.add("held");
    const drag = (e) => handle.move(this.point(e));
    const drop = () => {
      handle.grip.classList.remove("held");
      this.node.removeEventListener("pointermove", drag);
      for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) this.node.removeEventListener(end, drop);
    };
    this.node.addEventListener("pointermove", drag);
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) this.node.addEventListener(end, drop);
  }

  /** Axes in the box [left, top, right, bottom]: returns the two scales and a curve. */
  axes({ x: [x0, x1], y: [y0, y1], box: [left, top, right, bottom], xlabel, ylabel, xticks, yticks, at = y0 }) {
    const X = (v) => left + ((v - x0) / (x1 - x0)) * (right - left);
    const Y = (v) => bottom - ((v - y0) / (y1 - y0)) * (bottom - top);
    for (const v of yticks ?? ticks(y0, y1, 4)) {
      this.line([left, Y(v)], [right, Y(v)], "hair");
      this.text([left - 8, Y(v) + 4], number(v, v % 1 ? 1 : 0), "small muted", "end");
    }
    this.line([left, Y(at)], [right, Y(at)], "axis");
    for (const v of xticks ?? ticks(x0, x1, Math.max(2, (right - left) / 70))) {
      this.line([X(v), bottom], [X(v), bottom + 4], "axis");
      this.text([X(v), bottom + 18], number(v, v % 1 ? 1 : 0), "small muted");
    }
    if (xlabel) this.text([right, bottom + 36], xlabel, "small muted", "end");
    if (ylabel) this.text([left, top - 10], ylabel, "small muted", "start");
    const curve = (f, look, samples = Math.ceil(right - left)) =>
      this.path(
        Array.from({ length: samples + 1 }, (_, i) => {
          const v = x0 + (i / samples) * (x1 - x0);
          return [X(v), Y(f(v))];
        }),
        look,
      );
    return { X, Y, curve };
  }
}
