/* What the panels of a page call: it loads Python, and runs cells, checks and answers in it.
   A classic script, as are the files it loads: nothing else may be loaded from a page that is opened as a file. */
globalThis.ropeLive = (() => {
  const root = document.currentScript.src.replace(/[^/]*$/, "");
  const waiting = {}; // script that loads -> who takes its text
  const coming = {}; // and its bytes, for all who ask meanwhile
  const CORE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "page.py"];

  // --- files ---------------------------------------------------------------------------------------------------------

  function bytes(name) {
    coming[name] ??= fetched(name).finally(() => delete coming[name]);
    return coming[name];
  }

  /** What a script `ropeLive.put(name, text)` brings, unpacked. */
  async function fetched(name) {
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

  // --- engines -------------------------------------------------------------------------------------------------------

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

  /** A worker with its own Python, which starts when it is needed. */
  function engine() {
    const own = { space: [], hear: null }; // the cells that have run in its names, in order; who hears what it prints
    const there = new Set(); // bundles that it has
    let worker, port, answer, starting;

    own.stop = (why = "Stopped. Python starts anew with the next run.") => {
      worker?.terminate();
      port?.close(); // or what the old worker has said would answer the next one's questions
      worker = port = starting = null;
      there.clear();
      own.space = [];
      answer?.reject(new Error(why));
      answer = null;
    };

    const broken = (why) => own.stop(`Python broke off, and starts anew with the next run. ${why}`);

    function ask(work, rest = {}) {
      return new Promise((resolve, reject) => {
        answer = { resolve, reject };
        port.postMessage({ work, ...rest });
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
        if ("out" in data) own.hear?.(data.out);
        else if ("broken" in data) broken(data.broken);
        else if (answer) {
          const { resolve } = answer;
          answer = null;
          resolve(data.value);
        }
      };
      worker.onerror = (event) => broken(event.message);
      worker.postMessage(channel.port2, [channel.port2]);
      tell("Python starts");
      await ask("start", { files, lock: { info: lock, packages: {} }, bundles: modules });
    }

    /** Start Python if need be, and bring some bundles. */
    own.ready = async (bundles, tell) => {
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
        await ask("bundle", { name, bytes: found[index] });
        there.add(name);
      }
    };

    own.python = (name, ...given) => ask("call", { name, given });

    /** Ask with these bundles, and again with each that turns out to be lacking. */
    own.settled = async (needs, tell, question) => {
      for (let tries = 0; tries < 8; tries++) {
        await own.ready([...needs], tell);
        const found = await question();
        if (!found.missing) return found;
        needs.add(found.missing);
      }
      throw new Error("the packages that it asks for do not settle");
    };

    /** One thing after the other: buttons that are pressed while another works wait for it. */
    let line = Promise.resolve();
    own.inTurn = (work) => {
      line = line.then(work, work);
      return line;
    };
    return own;
  }

  const [first, second] = [engine(), engine()];
  const stop = () => [first, second].forEach((one) => one.stop());

  /** Let two engines do a work, where the machine can carry them, and the first one alone elsewhere. */
  const together = async (work) => {
    const pair = navigator.hardwareConcurrency > 1 && (navigator.deviceMemory ?? 8) >= 4;
    await Promise.all((pair ? [first, second] : [first]).map(work));
    second.stop();
  };

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
    first.inTurn(async () => {
      const cells = (await known()).pages[page];
      const code = (at) => texts[at] ?? cells[at].code;
      const order = [...cells[index].after, index];
      const edited = order.some((at) => code(at) !== cells[at].code);
      const needs = new Set(order.flatMap((at) => cells[at].needs));
      const found = await first.settled(needs, tell, async () => {
        for (const name of await first.python("wants", order.map(code).join("\n"))) needs.add(name);
        await first.ready([...needs], tell);
        const left = order.filter((at) => !first.space.includes(at));
        if (!left.includes(index) || first.space.some((at) => at > left[0])) await anew();
        let found;
        for (const at of order.filter((at) => !first.space.includes(at))) {
          tell(at === index ? "runs" : "the cells above it that it needs run");
          found = await one(code(at), at, at === index ? print : () => {});
          if (found.error && at !== index)
            found.error = `A cell above, which this one needs, ends with an error.\n${found.error}`;
          if (found.error || found.missing) break;
          first.space.push(at);
        }
        if (found.missing) await anew();
        return found;
      });
      return { ...found, edited };
    });

  async function anew() {
    await first.python("begin");
    first.space = [];
  }

  /** Run one cell, and hand on what it prints, as it comes and at the end. */
  async function one(code, at, print) {
    let printed = "";
    first.hear = (text) => {
      printed += text;
      print(printed);
    };
    print("");
    const found = await first.python("cell", code, at);
    first.hear = null;
    return { ...found, printed };
  }

  // --- claims and exercises ------------------------------------------------------------------------------------------

  const check = (id, candidate, tell, on = first) =>
    on.inTurn(async () => {
      const claim = (await known()).claims[id];
      return on.settled(new Set([...claim.needs, "rope_lab", "rooms"]), tell, () => {
        tell("runs");
        return on.python("check", claim.id, claim.module, candidate);
      });
    });

  const needs = (task) => new Set([...task.needs, "numpy", "hypothesis", "rope_lab", "rooms"]);
  /** Load what an exercise needs, while the reader writes; what fails here is told when he asks. */
  const warm = (id, tell) =>
    first
      .inTurn(async () => first.ready([...needs((await known()).tasks[id])], tell))
      .catch(() => {})
      .then(() => tell(""));
  const answer = (id, code, tell) =>
    first.inTurn(async () => {
      const task = (await known()).tasks[id];
      const own = needs(task);
      return first.settled(own, tell, async () => {
        for (const name of await first.python("wants", code)) own.add(name);
        await first.ready([...own], tell);
        tell("The check draws examples");
        return first.python("answer", task.id, task.module, code);
      });
    });

  return { put: (name, text) => waiting[name](text), known, stop, together, cell, check, warm, answer, same };
})();
