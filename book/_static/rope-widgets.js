/* Starts the widgets that a page holds: no kernel, no RequireJS, no html-manager, no network.
 * It follows anywidget's front-end module contract (0.11, @anywidget/types 0.4): a default export, an object or a
 * function returning one, with optional initialize({model, signal, experimental}) and
 * render({model, el, signal, host, experimental}). It knows jslink/jsdlink and VBox/HBox; any other widget gets a note.
 * A progress bar leaves the page: its work is done, and there is nothing to move.
 * Each widget's place carries data-rope-key, its name on this page: the kit keeps links to a state under it. The small
 * view that a chapter opens with carries data-rope-hero instead: what of the widget it shows.
 * It belongs in the head, behind the widgets' state and not deferred. */
(() => {
  "use strict";
  const MIME = "application/vnd.jupyter.widget-";
  const REF = "IPY_MODEL_";
  const NOTE = "This control needs Python: open the lab in Colab or JupyterLab to use it.";
  const models = new Map();

  const plain = (x) => x !== null && typeof x === "object" && !ArrayBuffer.isView(x);
  const same = (a, b) => Object.is(a, b) || (plain(a) && plain(b) && JSON.stringify(a) === JSON.stringify(b));
  const deref = (ref) => models.get(String(ref).replace(REF, "").replace("anywidget:", ""));

  class Model {
    #state;
    #handlers = [];
    constructor(id, spec) {
      Object.assign(this, { id, name: spec.model_name, module: spec.model_module });
      this.#state = spec.state;
      for (const { path, encoding, data } of spec.buffers ?? []) {
        if (encoding !== "base64") throw new Error(`unknown buffer encoding ${encoding}`);
        const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
        const parent = path.slice(0, -1).reduce((o, k) => o[k], this.#state);
        parent[path.at(-1)] = new DataView(bytes.buffer);
      }
    }
    get(name) {
      return this.#state[name];
    }
    set(name, value) {
      const patch = typeof name === "object" ? name : { [name]: value };
      const changed = Object.keys(patch).filter((k) => !same(this.#state[k], patch[k]));
      Object.assign(this.#state, patch);
      // Only change:<name>, as the AFM types promise: ipywidgets loses a bare "change" when sets nest.
      for (const k of changed) this.#emit(`change:${k}`, patch[k]);
    }
    save_changes() {}
    send() {
      console.info("[rope-widgets] no kernel here: message not sent");
    }
    on(event, fn) {
      this.#handlers.push([event, fn]);
    }
    off(event, fn) {
      this.#handlers = this.#handlers.filter(([e, f]) => (event && e !== event) || (fn && f !== fn));
    }
    #emit(event, value) {
      for (const [e, fn] of [...this.#handlers]) if (e === event) fn(this, value);
    }
    get widget_manager() {
      return { get_model: async (id) => deref(id) };
    }

    /** Import the module and run initialize once, however many views the model has. */
    load() {
      this.loaded ??= this.#load();
      return this.loaded;
    }
    async #load() {
      const css = this.get("_css"),
        key = this.get("_anywidget_id");
      if (css && !document.getElementById(key)) {
        document.head.append(Object.assign(document.createElement("style"), { id: key, textContent: css }));
      }
      const url = URL.createObjectURL(new Blob([this.get("_esm")], { type: "text/javascript" }));
      const module = await import(url).finally(() => URL.revokeObjectURL(url));
      const widget = typeof module.default === "function" ? await module.default() : module.default;
      const signal = new AbortController().signal;
      const exports = await widget.initialize?.({ model: this, signal, experimental });
      return { widget, exports: exports && typeof exports === "object" ? exports : undefined };
    }
  }

  const experimental = {
    invoke: async () => {
      throw new Error("no kernel on a static page");
    },
  };
  const host = {
    getModel: async (ref) => deref(ref),
    getWidget: async (ref) => ({
      exports: (await deref(ref).load()).exports,
      render: ({ el }) => show(deref(ref), el),
    }),
  };

  function link(model) {
    const [[a, from], [b, to]] = [model.get("source"), model.get("target")].map(([ref, attr]) => [deref(ref), attr]);
    if (!a || !b) return;
    const copy = (x, i, y, j) => {
      y.set(j, x.get(i));
      x.on(`change:${i}`, () => y.set(j, x.get(i)));
    };
    copy(a, from, b, to);
    if (model.name === "LinkModel") copy(b, to, a, from);
  }

  const isBox = (model) => /^[VH]?BoxModel$/.test(model?.name);
  const isLive = (model) =>
    model?.module === "anywidget" || (isBox(model) && model.get("children").some((c) => isLive(deref(c))));
  const isBar = (model) =>
    /^(Int|Float)ProgressModel$/.test(model?.name) ||
    (isBox(model) && model.get("children").some((c) => isBar(deref(c))));

  async function show(model, el) {
    if (model?.module === "anywidget") {
      const { widget } = await model.load();
      await widget.render?.({ model, el, signal: new AbortController().signal, host, experimental });
    } else if (isBox(model) && isLive(model)) {
      el.style.cssText = `display:flex;flex-wrap:wrap;flex-direction:${model.name[0] === "H" ? "row" : "column"}`;
      await Promise.all(
        model.get("children").map((ref) => {
          const child = el.appendChild(document.createElement("div"));
          return show(deref(ref), child);
        }),
      );
    } else {
      el.append(Object.assign(document.createElement("p"), { className: "rope-needs-python", textContent: NOTE }));
    }
  }

  const counts = new Map();
  function keyOf(model) {
    const name = model?.get("_name") ?? "widget";
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts.get(name) === 1 ? name : `${name}-${counts.get(name)}`;
  }

  async function mount(script) {
    const { model_id, hero } = JSON.parse(script.textContent);
    const model = models.get(model_id);
    if (isBar(model)) return script.remove();
    const el = Object.assign(document.createElement("div"), { className: "rope-widget" });
    if (hero) el.dataset.ropeHero = JSON.stringify(hero);
    else el.dataset.ropeKey = keyOf(model);
    script.after(el);
    try {
      await show(model, el);
      el.dataset.ready = "true";
    } catch (error) {
      console.error("[rope-widgets]", error);
      el.replaceChildren(`The interactive figure could not start: ${error.message}`);
      el.setAttribute("role", "alert");
    }
  }

  const all = (type) => document.querySelectorAll(`script[type="${MIME}${type}+json"]`);
  for (const script of all("state")) {
    for (const [id, spec] of Object.entries(JSON.parse(script.textContent).state)) models.set(id, new Model(id, spec));
  }
  for (const m of models.values()) {
    if (/^(Directional)?LinkModel$/.test(m.name)) link(m);
  }
  // Their modules are fetched while the page is still being parsed; what fails is told where the widget should stand.
  for (const m of models.values()) {
    if (m.module === "anywidget") m.load().catch(() => {});
  }
  // The first widget tells by an event of its own when its place is there (theme_fixes.py), the others wait until the
  // whole page is read. Deferred scripts run after that.
  const started = new WeakSet();
  const start = () => {
    for (const script of all("view")) {
      if (!started.has(script)) mount(script);
      started.add(script);
    }
  };
  addEventListener("rope-view", start);
  document.readyState === "loading" ? document.addEventListener("readystatechange", start, { once: true }) : start();
})();
