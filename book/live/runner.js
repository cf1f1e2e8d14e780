/* What the buttons of a page call once one of them was pressed: it loads Python, runs cells and checks, and shows what came.
   A classic script, as are the files it loads: nothing else may be loaded from a page that is opened as a file. */
globalThis.ropeLive = (() => {
  const root = document.currentScript.src.replace(/[^/]*$/, "");
  const waiting = {};
  const CORE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "page.py"];

  // --- files ---------------------------------------------------------------------------------------------------------

  /** What a script `ropeLive.put(name, text)` brings, unpacked. */
  async function bytes(name) {
    const tag = Object.assign(document.createElement("script"), { src: `${root}${name}.js` });
    const text = await new Promise((resolve, reject) => {
      waiting[name] = resolve;
      tag.onerror = () => reject(new Error(LEFT_OUT));
      document.head.append(tag);
    }).finally(() => tag.remove());
    const squeezed = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([squeezed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }
  const LEFT_OUT =
    "This copy of the book comes without its Python. The larger download, rope-lab-book-live.zip, and the website have it.";

  const json = async (name) => JSON.parse(new TextDecoder().decode(await bytes(name)));
  let manifest;
  const known = async () => {
    manifest ??= await json("manifest");
    return manifest;
  };

  // --- the worker ----------------------------------------------------------------------------------------------------

  let worker, port, answer, hear, starting;
  const there = new Set(); // bundles that the worker has
  let space = []; // the cells that have run in its names, in order

  function stop() {
    worker?.terminate();
    port?.close(); // or what the old worker has said would answer the next one's questions
    worker = port = starting = null;
    there.clear();
    space = [];
    answer?.reject(new Error("Stopped. Python starts anew with the next run."));
    answer = null;
  }

  function ask(work, rest = {}, transfer = []) {
    return new Promise((resolve, reject) => {
      answer = { resolve, reject };
      port.postMessage({ work, ...rest }, transfer);
    });
  }

  async function boot(tell) {
    const { sizes, modules, lock } = await known();
    const load = progress(tell, "Python", CORE, sizes);
    const [source, ...core] = await Promise.all(["worker.js", ...CORE].map(load));
    const files = Object.fromEntries(CORE.map((name, index) => [name, core[index]]));
    worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    const channel = new MessageChannel();
    port = channel.port1;
    port.onmessage = ({ data }) => {
      if ("out" in data) hear?.(data.out);
      else if (answer) {
        const { resolve, reject } = answer;
        answer = null;
        if ("broken" in data) {
          stop();
          reject(new Error(`Python broke off, and starts anew with the next run. ${data.broken}`));
        } else resolve(data.value);
      }
    };
    worker.onerror = (event) => {
      answer?.reject(new Error(`Python broke off, and starts anew with the next run. ${event.message}`));
      answer = null;
      stop();
    };
    worker.postMessage(channel.port2, [channel.port2]);
    tell("Python starts");
    await ask("start", { files, lock: { info: lock, packages: {} }, bundles: modules }, Object.values(files));
  }

  /** Load files and say in words and per cent how far they are. */
  function progress(tell, what, names, sizes) {
    const all = names.reduce((sum, name) => sum + (sizes[name] ?? 0), 0);
    let have = 0;
    const told = () => tell(`${what} loads: ${Math.round((100 * have) / all)} % of ${(all / 1e6).toFixed(1)} MB`);
    told();
    return async (name) => {
      const found = await bytes(name);
      have += sizes[name] ?? 0;
      told();
      return found;
    };
  }

  /** Start Python if need be, and bring some bundles. */
  async function ready(bundles, tell) {
    starting ??= boot(tell).catch((error) => {
      starting = null;
      throw error;
    });
    await starting;
    const { sizes } = await known();
    const lacking = bundles.filter((name) => !there.has(name));
    if (!lacking.length) return;
    const load = progress(tell, lacking.join(", "), lacking, sizes);
    const found = await Promise.all(lacking.map(load));
    for (const [index, name] of lacking.entries()) {
      await ask("bundle", { name, bytes: found[index] }, [found[index]]);
      there.add(name);
    }
  }

  const python = (name, ...given) => ask("call", { name, given });

  /** One thing after the other: buttons that are pressed while another works wait for it. */
  let line = Promise.resolve();
  function inTurn(work) {
    line = line.then(work, work);
    return line;
  }

  // --- cells ---------------------------------------------------------------------------------------------------------

  const NUMBER = /[-+]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/g;
  /** Whether two outputs say the same: every number to 1e-9, everything else to the letter. */
  function same(one, other) {
    const words = (text) => text.replace(NUMBER, "#").replace(/\s+/g, " ").trim();
    const numbers = (text) => (text.match(NUMBER) ?? []).map((number) => Number(number.replace(/[_,]/g, "")));
    if (one.trim() === other.trim()) return true;
    const [a, b] = [numbers(one), numbers(other)];
    const close = (x, i) => Math.abs(x - b[i]) <= 1e-9 * Math.max(1, Math.abs(x));
    return words(one) === words(other) && a.length === b.length && a.every(close);
  }

  /** Run a cell of the page: first those that it needs, in the order of the page, then itself.
      `texts` has the present text of each cell that is seen. */
  const cell = (page, index, texts, tell, print) =>
    inTurn(async () => {
      const cells = (await known()).pages[page];
      const code = (at) => texts[at] ?? cells[at].code;
      const order = [...cells[index].after, index];
      const edited = order.some((at) => code(at) !== cells[at].code);
      const needs = new Set(order.flatMap((at) => cells[at].needs));
      for (let tries = 0; tries < 8; tries++) {
        await ready([...needs], tell);
        for (const name of await python("wants", order.map(code).join("\n"))) needs.add(name);
        await ready([...needs], tell);
        const left = order.filter((at) => !space.includes(at));
        if (!left.includes(index) || space.some((at) => at > left[0])) {
          await python("begin");
          space = [];
        }
        let found;
        for (const at of order.filter((at) => !space.includes(at))) {
          tell(at === index ? "runs" : "the cells above it that it needs run");
          let printed = "";
          hear = (text) => {
            printed += text;
            if (at === index) print(printed);
          };
          print("");
          found = await python("cell", code(at), at);
          hear = null;
          found.printed = printed;
          if (found.error && at !== index)
            found.error = `A cell above, which this one needs, ends with an error.\n${found.error}`;
          if (found.error || found.missing) break;
          space.push(at);
        }
        if (!found.missing) return { ...found, edited };
        needs.add(found.missing);
        await python("begin");
        space = [];
      }
      throw new Error("the packages that it asks for do not settle");
    });

  // --- claims --------------------------------------------------------------------------------------------------------

  const check = (id, candidate, tell) =>
    inTurn(async () => {
      const { claims } = await known();
      const claim = claims[id];
      const needs = new Set([...claim.needs, "rope_lab", "rooms"]);
      for (let tries = 0; tries < 8; tries++) {
        await ready([...needs], tell);
        tell("runs");
        const found = await python("check", claim.id, claim.module, candidate);
        if (!found.missing) return found;
        needs.add(found.missing);
      }
      throw new Error("the packages that it asks for do not settle");
    });

  return { put: (name, text) => waiting[name](text), known, stop, cell, check, same };
})();
