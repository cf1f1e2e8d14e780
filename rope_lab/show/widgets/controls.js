// What a reader moves: every control is a real input or button with a label, and follows the state.
import { html, number, plain, rich } from "./draw.js";

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
// Not a counter: the module is loaded once per model, and each copy would begin with the same number.
const newId = () => `rope-${Math.random().toString(36).slice(2)}`;

export class Controls {
  controls = []; // each writes the state into one control
  ranges = {}; // what a link may set: [least, greatest, step], the choices, or the longest text
  halt = () => {}; // the walk that goes on
  logarithmic = new Set(); // the names of logarithmic sliders
  watches = new Set(); // observers of the page, to be dropped at the end

  slider(
    name,
    {
      label,
      step,
      min = this.limits[name][0],
      max = this.limits[name][1],
      scale = "linear",
      look = "",
      show = (v) => number(v, step < 1 ? 2 : 0),
      host = this.panel,
    },
  ) {
    const id = newId(),
      value = html("output", { for: id, "aria-live": "off" });
    // On a logarithmic track equal ways are equal factors, with one added so that 0 has its place.
    const log = scale === "log",
      place = log ? (v) => Math.log(v - min + 1) / Math.log(max - min + 1) : (v) => v,
      value_at = log ? (at) => (max - min + 1) ** at + min - 1 : (at) => at;
    const track = log ? { min: 0, max: 1, step: "any" } : { min, max, step };
    const input = html("input", { type: "range", id, ...track, "data-name": name });
    input.addEventListener("input", () => this.set({ [name]: this.nearest(name, value_at(Number(input.value))) }));
    if (log) {
      this.logarithmic.add(name);
      const by = { ArrowRight: step, ArrowUp: step, ArrowLeft: -step, ArrowDown: -step };
      input.addEventListener("keydown", (event) => {
        const now = this.model.get(name),
          factor = { PageUp: 2, PageDown: 0.5 }[event.key];
        const wish = factor ? (now - min + 1) * factor + min - 1 : now + by[event.key];
        if (Number.isNaN(wish) || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault(); // an arrow is one step wherever the thumb stands, a page twice or half as far
        this.set({ [name]: this.nearest(name, wish) });
      });
    }
    host.append(
      html("div", { class: `rope-slider ${look}` }, html("label", { for: id }, ...rich(label)), value, input),
    );
    this.ranges[name] = [min, max, step];
    this.controls.push(() => {
      const now = this.model.get(name),
        text = show(now);
      value.style.minWidth = `${Math.max(...[min, max, now].map((v) => plain(show(v)).length)) * 0.85}ch`; // or its name would wrap now and then
      input.value = place(now);
      input.style.setProperty("--at", (place(now) - place(min)) / (place(max) - place(min)));
      input.setAttribute("aria-valuetext", plain(text));
      value.replaceChildren(...rich(text));
    });
    return input;
  }
  /** The value nearest to the one asked for, by a drag or a link, that the slider of this name can have. */
  nearest(name, value) {
    const [min, max, step] = this.ranges[name];
    return Math.min(max, Math.max(min, Number((min + Math.round((value - min) / step) * step).toFixed(9))));
  }
  choice(name, { label, options, host = this.panel }) {
    const group = newId(),
      set = html("fieldset", { class: "rope-choice" }, html("legend", {}, ...rich(label)));
    const whole = typeof this.model.get(name) === "number"; // a state that counts, 0 or 1 say
    for (const [value, text] of Object.entries(options)) {
      const input = html("input", { type: "radio", name: group, id: `${group}-${value}`, value, "data-name": name });
      input.addEventListener("change", () => this.set({ [name]: whole ? Number(value) : value }));
      set.append(html("span", {}, input, html("label", { for: input.id }, ...rich(text))));
      this.controls.push(() => {
        input.checked = String(this.model.get(name)) === value;
      });
    }
    this.ranges[name] = whole ? [...this.limits[name], 1] : Object.keys(options);
    host.append(set);
    // A row that does not fit would hang below in torn pieces: then it is a grid.
    const parts = [...set.querySelectorAll("span:has(> input)")];
    const fits = () => {
      set.classList.remove("rope-grid");
      set.classList.toggle("rope-grid", new Set(parts.map((part) => part.offsetTop)).size > 1);
    };
    const watch = new ResizeObserver(() => requestAnimationFrame(fits));
    watch.observe(host);
    this.watches.add(watch);
  }
  toggle(name, { label, host = this.panel }) {
    const input = html("input", { type: "checkbox", id: newId(), "data-name": name });
    this.ranges[name] = [false, true];
    input.addEventListener("change", () => this.set({ [name]: input.checked }));
    host.append(html("div", { class: "rope-toggle" }, input, html("label", { for: input.id }, ...rich(label))));
    this.controls.push(() => {
      input.checked = this.model.get(name);
    });
  }
  /** A line of the reader's own words. */
  text(name, { label, longest = 200, host = this.panel }) {
    const input = html("input", {
      type: "text",
      id: newId(),
      maxlength: longest,
      "data-name": name,
      autocomplete: "off",
    });
    this.ranges[name] = longest;
    input.addEventListener("input", () => this.set({ [name]: input.value }));
    host.append(html("div", { class: "rope-line" }, html("label", { for: input.id }, ...rich(label)), input));
    this.controls.push(() => {
      if (input.value !== this.model.get(name)) input.value = this.model.get(name);
    });
  }
  /** A value of the state as a link has it: in words of a reader, signs that mean something in a link are escaped. */
  written(name) {
    const value = this.model.get(name);
    return typeof this.ranges[name] === "number"
      ? encodeURIComponent(value)
          .replace(/[~!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
          .replaceAll("%", "~")
      : value;
  }
  /** And back: what a link says for a name, or undefined if the name cannot have that. */
  read(name, text) {
    if (!Object.hasOwn(this.ranges, name) || text === undefined) return;
    const allowed = this.ranges[name],
      like = typeof this.initial[name];
    if (like === "number" && text && Number.isFinite(Number(text))) return this.nearest(name, Number(text));
    if (like === "boolean" && ["true", "false"].includes(text)) return text === "true";
    if (typeof allowed === "number" && /^([^~]|~[0-9a-f]{2})*$/i.test(text)) {
      try {
        const words = decodeURIComponent(text.replaceAll("~", "%"));
        return words.length > allowed ? undefined : words;
      } catch {} // no characters of UTF-8
    }
    if (Array.isArray(allowed) && allowed.includes(text)) return text;
  }
  button(text, press, { host = this.panel } = {}) {
    const button = html("button", { type: "button", class: "rope-button" }, ...rich(text));
    button.addEventListener("click", () => {
      try {
        if (!button.classList.contains("rope-running")) this.halt();
        press(button);
      } catch (error) {
        this.fail(error);
      }
    });
    host.append(button);
    return button;
  }
  /**
   * A button that walks a slider's value to its end, in so many seconds or steps a second, and says Pause meanwhile.
   * Along a logarithmic slider the walk is geometric. Where motion is unwelcome it takes one step at each press.
   */
  play(name, { label, perSecond, seconds, stride, host = this.panel }) {
    const [min, max, step] = this.ranges[name],
      log = this.logarithmic.has(name),
      now = () => this.model.get(name);
    if (calm()) {
      const next = () => this.nearest(name, Math.max(now() + (stride ?? step), log ? 2 * (now() - min) + min : min));
      const press = () => this.set({ [name]: now() >= max ? min : next() });
      this.button(`${label}: one step`, press, { host }).classList.add("rope-step");
      return;
    }
    const share = seconds ? 1 / (30 * seconds) : step / (max - min);
    const walk = (v) => (log ? (v - min + 1) * (max - min + 1) ** share + min - 1 : v + share * (max - min));
    let timer = 0,
      value = 0; // the walk goes on between two steps of the slider
    const halt = () => {
      clearInterval(timer);
      timer = 0;
      button.classList.remove("rope-running");
      button.replaceChildren(...rich(label));
    };
    const button = this.button(
      label,
      () => {
        if (timer) return halt();
        if (now() >= max) this.set({ [name]: min });
        value = now();
        timer = setInterval(
          () => {
            if (now() !== this.nearest(name, value)) value = now(); // the reader has moved it meanwhile
            value = Math.min(max, walk(value));
            this.set({ [name]: this.nearest(name, value) });
            if (value >= max) halt();
          },
          1000 / (perSecond ?? 30),
        );
        this.halt = halt;
        button.classList.add("rope-running");
        button.replaceChildren("Pause");
      },
      { host },
    );
    button.classList.add("rope-play");
  }
  /** Buttons that each show one thing to try: the state that the page gave, with these changes. */
  tries(patches, { label = "Try", host = this.panel } = {}) {
    const row = host.appendChild(html("div", { class: "rope-tries", role: "group", "aria-label": label }));
    for (const [text, patch] of Object.entries(patches))
      this.button(`Try: ${text}`, () => this.set({ ...this.initial, ...patch }), { host: row });
  }
  /** A drawer for the controls that few readers need: returns the place to put them. */
  more(summary, { host = this.below } = {}) {
    const place = html("div", { class: "rope-more" });
    host.append(html("details", {}, html("summary", {}, ...rich(summary)), place));
    return place;
  }
  /** Back, where we are, next: for what goes step by step. The state counts from 0 to titles.length - 1. */
  steps(name, { label, titles, host = this.panel }) {
    const last = titles.length - 1,
      row = html("div", { class: "rope-steps", role: "group", "aria-label": plain(label) });
    const go = (by) => () => this.set({ [name]: Math.min(last, Math.max(0, this.model.get(name) + by)) });
    const back = this.button("← Back", go(-1), { host: row }),
      where = row.appendChild(html("span", {}));
    const next = this.button("Next →", go(1), { host: row });
    host.append(row);
    this.ranges[name] = [0, last, 1];
    this.controls.push(() => {
      const now = this.model.get(name);
      // Not `disabled`: the button under a reader's finger keeps the focus.
      back.setAttribute("aria-disabled", now === 0);
      next.setAttribute("aria-disabled", now === last);
      where.replaceChildren(...rich(`${now + 1} of ${titles.length}: ${titles[now]}`));
    });
  }
  /** Rows "what it is: its value now"; returns a function that writes the values. */
  readout(labels, { host = this.panel } = {}) {
    const list = host.appendChild(html("dl", { class: "rope-readout" }));
    const cells = Object.entries(labels).map(([key, label]) => {
      const cell = html("dd", { "data-name": key });
      list.append(html("div", { class: `rope-${key}` }, html("dt", {}, ...rich(label)), cell));
      return [key, cell];
    });
    return (values) => {
      for (const [key, cell] of cells) cell.replaceChildren(...rich(values[key]));
    };
  }
}
