// What a reader moves: every control is a real input or button with a label, and follows the state.
import { html, number, plain, rich } from "./draw.js";

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
// Not a counter: the module is loaded once per model, and each copy would begin with the same number.
const newId = () => `rope-${Math.random().toString(36).slice(2)}`;

export class Controls {
  controls = []; // each writes the state into one control
  ranges = {}; // what a link may set: [least, greatest, step] or the choices
  timers = new Set();

  slider(
    name,
    {
      label,
      step,
      min = this.limits[name][0],
      max = this.limits[name][1],
      look = "",
      show = (v) => number(v, step < 1 ? 2 : 0),
      host = this.panel,
    },
  ) {
    const id = newId(),
      value = html("output", { for: id, "aria-live": "off" });
    const input = html("input", { type: "range", id, min, max, step, "data-name": name });
    input.addEventListener("input", () => this.set({ [name]: Number(input.value) }));
    host.append(
      html("div", { class: `rope-slider ${look}` }, html("label", { for: id }, ...rich(label)), value, input),
    );
    this.ranges[name] = [min, max, step];
    this.controls.push(() => {
      const now = this.model.get(name),
        text = show(now);
      input.value = now;
      input.style.setProperty("--at", (now - min) / (max - min));
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
    for (const [value, text] of Object.entries(options)) {
      const input = html("input", { type: "radio", name: group, id: `${group}-${value}`, value, "data-name": name });
      input.addEventListener("change", () => this.set({ [name]: value }));
      set.append(html("span", {}, input, html("label", { for: input.id }, ...rich(text))));
      this.controls.push(() => {
        input.checked = this.model.get(name) === value;
      });
    }
    this.ranges[name] = Object.keys(options);
    host.append(set);
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
  button(text, press, { host = this.panel } = {}) {
    const button = html("button", { type: "button", class: "rope-button" }, ...rich(text));
    button.addEventListener("click", () => {
      try {
        press(button);
      } catch (error) {
        this.fail(error);
      }
    });
    host.append(button);
    return button;
  }
  /** A button that walks a slider's value to its end and back to the start. Absent where motion is unwelcome. */
  play(name, { label, perSecond, host = this.panel }) {
    if (calm()) return;
    let timer = 0;
    const [min, max, step] = this.ranges[name];
    const halt = () => {
      clearInterval(timer);
      this.timers.delete(timer);
      timer = 0;
      button.setAttribute("aria-pressed", "false");
    };
    const button = this.button(
      label,
      () => {
        if (timer) return halt();
        if (this.model.get(name) >= max) this.set({ [name]: min });
        timer = setInterval(() => {
          if (this.model.get(name) >= max) return halt();
          this.set({ [name]: Math.min(max, this.model.get(name) + step) });
        }, 1000 / perSecond);
        this.timers.add(timer);
        button.setAttribute("aria-pressed", "true");
      },
      { host },
    );
    button.classList.add("rope-play");
    button.setAttribute("aria-pressed", "false");
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
