// The life of every widget: state, controls, easing, announcements, reset, link, errors.
// A widget is a pure compute(state) and a build(ui) that returns draw(state, values); draw gets the state as it eases.
//
// What build and draw can call. A label may hold $mathematics$; `host` is the element a control goes into, ui.panel
// if it is left out; the others are ui.stage (beside the panel), ui.below (under both) and ui.tools (at the very end).
//
// state
//   ui.state                                   the true state now, the constants of the Python class included
//   ui.compute(ui.state)                       the values that belong to it
//   ui.set(patch, { now })                     change it; now: without easing, for what is under a finger
//   ui.limits[name]                            [least, greatest] of a number, from its Python trait
//   ui.nearest(name, value)                    the value that the slider of this name can have, for a drag
//   ui.locked                                  an opener whose question is open: a picture must not tell the answer
// controls (a link to a state carries what they can set)
//   ui.slider(name, { label, step, min, max, scale, look, show, host })    from the trait's least to its greatest; the
//                                              input. scale: "log" makes equal ways equal factors
//   ui.choice(name, { label, options, host })                       radio buttons: { value: text }
//   ui.toggle(name, { label, host })                                a box to tick
//   ui.text(name, { label, longest, host })                         a line of the reader's own words
//   ui.steps(name, { label, titles, host })                         Back, where we are, Next
//   ui.play(name, { label, perSecond | seconds, stride, host })     a button that walks a slider to its end: by one step
//                                              so often a second, or all of it in so many seconds. stride: how far one
//                                              press goes for a reader who wants no motion
//   ui.tries({ text: patch }, { host })        buttons "Try: text" that each set the state the page gave, so changed
//   ui.button(text, press, { host })                                anything else; returns the button
//   ui.more(summary, { host })                                      a drawer for rare controls; returns its inside
// words
//   ui.readout({ key: label }, { host })       rows of values; returns write({ key: text })
//   ui.say(text)                               what a screen reader hears when things have come to rest
// pictures: const fig = ui.figure({ label, height: (width) => ..., host, pin }), in CSS pixels of fig.width x fig.height
//   On a phone one picture of the stage stays in view: the first, or the one with pin: true.
//   fig.clear(text)                            begin anew; text says in words what the picture shows
//   fig.line fig.circle fig.rect fig.path fig.text fig.hand fig.add    draw; `look` names classes of kit.css
//   fig.axes({ x, y, box, xlabel, ylabel, xticks, yticks, at })     returns { X, Y, curve }
//   fig.handle(name, [x, y], ([x, y]) => ...)                       what can be dragged; a slider is its twin
import { Controls, calm } from "./controls.js";
import { Figure, html } from "./draw.js";

/** Of an opener's picture, in CSS pixels: low enough for a screen that it shares with its control and the answers. */
const heroHeight = () => (matchMedia("(max-width: 575px)").matches ? 250 : 280);

/** Put one widget's state into the page's address, or take it out. */
function address(key, text) {
  const hash = new URLSearchParams(location.hash.slice(1));
  if (text) hash.set(key, text);
  else hash.delete(key);
  const words = decodeURIComponent(hash);
  history.replaceState(history.state, "", words ? `#${words}` : location.href.split("#")[0]);
}

class Ui extends Controls {
  #frame = 0;
  #last = 0;
  #snap = true;
  #figures = [];
  #ended = new AbortController(); // with it every listener outside of the widget goes
  locked = false;

  constructor({ model, el, compute, build, smooth }) {
    super();
    Object.assign(this, { model, el, compute, smooth, initial: model.get("_initial"), limits: model.get("_limits") });
    this.names = Object.keys(this.initial);
    this.root = html("div", {
      class: `rope rope-${model.get("_name")}`,
      role: "group",
      "aria-label": model.get("_title"),
    });
    this.stage = html("div", { class: "rope-stage" });
    this.panel = html("div", { class: "rope-panel" });
    this.below = html("div", { class: "rope-below" });
    this.tools = html("div", { class: "rope-tools" });
    this.live = html("p", { class: "rope-live", "aria-live": "polite" });
    this.root.append(html("div", { class: "rope-body" }, this.stage, this.panel, this.below, this.tools), this.live);
    el.append(this.root);
    // JupyterLab binds the plain arrow keys (move between cells): keep them for the controls.
    this.root.addEventListener("keydown", (e) => {
      if (!e.ctrlKey && !e.metaKey && !e.altKey) e.stopPropagation();
    });
    this.draw = build(this);
    const opener = this.el.closest("[data-rope-hero]"); // only the book's loader makes one
    if (opener) this.#reduce(JSON.parse(opener.dataset.ropeHero));
    this.#finish(!opener);
  }

  get state() {
    return Object.fromEntries(this.names.map((name) => [name, this.model.get(name)]));
  }
  /** Change the state. `now` leaves out the easing: a hand under a finger must not lag. */
  set(patch, { now = false } = {}) {
    if (now) this.#snap = true;
    for (const [name, value] of Object.entries(patch)) this.model.set(name, value);
    this.model.save_changes();
  }

  figure({ label, height, host = this.stage, pin = false }) {
    const box = host.appendChild(html("div", { class: "rope-figure" })),
      pinned = this.stage.querySelector(".rope-pinned");
    if (host === this.stage && (pin || !pinned)) {
      pinned?.classList.remove("rope-pinned");
      box.classList.add("rope-pinned");
    }
    const figure = new Figure(box, { label, height, changed: () => this.#paint() });
    this.#figures.push(figure);
    return figure;
  }
  /** Tell a screen reader, once things have come to rest. */
  say(text) {
    this.told ??= text; // the first drawing is read with the page, not announced
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      if (this.told !== text) this.live.textContent = this.told = text;
    }, 400);
  }
  fail(error) {
    console.error("[rope]", error);
    this.stop();
    this.root.replaceChildren(
      html("p", { role: "alert", class: "rope-failed" }, `The interactive figure stopped: ${error.message}`),
    );
  }
  stop() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.telling);
    this.halt();
    for (const watch of [...this.watches, ...this.#figures.map((figure) => figure.watch)]) watch.disconnect();
    for (const name of this.names) this.model.off(`change:${name}`, this.changed);
    this.#ended.abort();
  }

  // What a chapter opens with: of all that `build` made, one picture, one number and one control stay in the page.
  // Inside a question's form they wait for its answer; the form says with "quiz:state" that its data-state changed.
  #reduce({ figure, readout, control }) {
    const picture = this.#figures[figure],
      row = this.root.querySelector(`dd[data-name="${readout}"]`)?.parentElement,
      input = this.root.querySelector(`input[data-name="${control}"]`),
      place = input?.closest(".rope-slider, .rope-choice, .rope-toggle");
    if (!picture || !row || !place) throw new Error(`no figure ${figure}, readout ${readout} or control ${control}`);
    const hint = html("p", { class: "rope-hint", "aria-live": "polite" });
    this.root.classList.add("rope-hero");
    this.stage.replaceChildren(picture.box);
    this.panel.replaceChildren(html("dl", { class: "rope-readout" }, row), place, hint);
    this.root.replaceChildren(html("div", { class: "rope-body" }, this.stage, this.panel), this.live);
    picture.limit(heroHeight());
    this.form = this.el.closest("form");
    this.lock = () => {
      this.locked = Boolean(this.form) && this.form.dataset.state !== "committed";
      hint.textContent = !this.form ? "" : this.locked ? "Choose an answer. Then you can move this." : "Now move it.";
      for (const field of place.querySelectorAll("input")) field.disabled = this.locked;
      this.#paint(); // also after the form was cleared, and its fields with it
    };
    this.lock();
    this.form?.addEventListener("quiz:state", this.lock, { signal: this.#ended.signal });
  }
  #finish(tools) {
    this.changed = () => this.#paint();
    for (const name of this.names) this.model.on(`change:${name}`, this.changed);
    if (tools) this.#tools();
    this.#snap = true;
    this.#paint();
    addEventListener("beforeprint", () => this.#fit(0.75), { signal: this.#ended.signal });
    addEventListener("afterprint", () => this.#fit(1), { signal: this.#ended.signal });
  }
  // A sheet is narrower than a screen: drawn as wide, the words of a picture would be too small there.
  #fit(share) {
    for (const figure of this.#figures) {
      const full = figure.box.clientWidth || figure.width;
      figure.fit(Math.min(full, Math.max(320, share * full)));
    }
    if (this.shown) this.draw(this.shown, this.compute(this.shown));
  }
  #tools() {
    const key = this.el.closest("[data-rope-key]")?.dataset.ropeKey; // only the book's loader gives one
    this.button(
      "Reset",
      () => {
        this.set(this.initial);
        if (key) address(key, ""); // or the old state would come back with the next reload
      },
      { host: this.tools },
    );
    if (key) this.#link(key);
  }
  // The link holds what differs from the start, widget by widget: #two_hands=m:3;n:9&clock_bank=base:500
  #link(key) {
    this.readLink = () => {
      const asked = new URLSearchParams(location.hash.slice(1)).get(key);
      if (!asked) return false;
      const patch = {};
      for (const [name, text] of asked.split(";").map((pair) => pair.split(":"))) {
        const value = this.read(name, text);
        if (value !== undefined) patch[name] = value;
      }
      try {
        this.compute({ ...this.state, ...patch }); // each value is allowed: do they go together?
      } catch (error) {
        this.live.textContent = `The link's state cannot be shown: ${error.message}`;
        return false;
      }
      this.set(patch);
      return true;
    };
    if (this.readLink()) requestAnimationFrame(() => this.root.scrollIntoView({ block: "start" }));
    addEventListener("hashchange", this.readLink, { signal: this.#ended.signal });
    this.button(
      "Link to this state",
      async (button) => {
        const changed = this.names.filter(
          (name) => Object.hasOwn(this.ranges, name) && this.model.get(name) !== this.initial[name],
        );
        address(key, changed.map((name) => `${name}:${this.written(name)}`).join(";"));
        const copied = await navigator.clipboard?.writeText(location.href).then(
          () => true,
          () => false,
        );
        button.textContent = copied ? "Link copied" : "Link is in the address bar";
        this.live.textContent = button.textContent;
        setTimeout(() => {
          button.textContent = "Link to this state";
        }, 2500);
      },
      { host: this.tools },
    );
  }
  #paint() {
    if (!this.#frame) {
      if (this.shown === undefined) return this.#step(performance.now());
      this.#last = performance.now();
      this.#frame = requestAnimationFrame((time) => this.#step(time));
    }
  }
  // One frame: the shown state follows the true one, exponentially, so that a step of a slider reads as a motion.
  #step(time) {
    this.#frame = 0;
    const want = this.state,
      past = Math.max(1, time - this.#last);
    let moving = false;
    if (this.#snap || calm() || !this.shown) this.shown = want;
    else {
      this.shown = Object.fromEntries(
        this.names.map((name) => {
          const from = this.shown[name],
            left = want[name] - from;
          if (!this.smooth[name] || Math.abs(left) < 1e-3) return [name, want[name]];
          moving = true;
          return [name, from + left * (1 - Math.exp(-past / this.smooth[name]))];
        }),
      );
    }
    this.#snap = false;
    try {
      for (const control of this.controls) control();
      this.draw(this.shown, this.compute(this.shown));
    } catch (error) {
      return this.fail(error);
    }
    if (moving) {
      this.#last = time;
      this.#frame = requestAnimationFrame((next) => this.#step(next));
    }
  }
}

const PACE = 60; // milliseconds in which about two thirds of a step are done

/** The module a widget exports: export default widget({ compute, build, smooth: ["m"] }), or { m: 200 } for a pace. */
export const widget = ({ compute, build, smooth = [] }) => ({
  render({ model, el }) {
    try {
      const paces = Array.isArray(smooth) ? Object.fromEntries(smooth.map((name) => [name, PACE])) : smooth;
      const ui = new Ui({ model, el, compute, build, smooth: paces });
      return () => ui.stop();
    } catch (error) {
      console.error("[rope]", error);
      el.replaceChildren(
        html("p", { role: "alert", class: "rope-failed" }, `The interactive figure could not start: ${error.message}`),
      );
    }
  },
});
