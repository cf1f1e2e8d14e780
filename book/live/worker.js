/* The worker that runs Python. It is started from a blob, gets every file as bytes, and talks to the page through one
   port that nothing but this function has. Before a reader's code runs, all that leads out of it is taken away; the
   page's content security policy, which a blob inherits, forbids the same by force. */
(() => {
  const OUT = 200_000; // characters that one call may print: a loop that prints must not fill the page
  const GONE = (
    "fetch XMLHttpRequest WebSocket WebSocketStream WebTransport EventSource Request FontFace fonts indexedDB caches " +
    "cookieStore BroadcastChannel Worker SharedWorker importScripts navigator postMessage onmessage close " +
    "webkitRequestFileSystem webkitRequestFileSystemSync"
  ).split(" ");
  const decoder = new TextDecoder();
  let port, python, printed;

  function say(text) {
    if (printed > OUT) return;
    printed += text.length;
    port.postMessage({ out: printed > OUT ? "\n[the rest of what it prints is left out]\n" : text });
  }

  /** What Python writes, as it comes: also a line that has no end. */
  function stream() {
    const own = new TextDecoder();
    const write = (bytes) => {
      say(own.decode(bytes, { stream: true }));
      return bytes.length;
    };
    return { write };
  }

  /** A module from its bytes; from a file Chromium starts no module worker, but a classic one may import a blob. */
  const module = (bytes) => import(URL.createObjectURL(new Blob([bytes], { type: "text/javascript" })));

  async function start({ files, lock, bundles }) {
    self.importScripts = () => {
      throw new TypeError("a module worker, as far as Pyodide needs to know");
    };
    self.fetch = async (url) => {
      const name = String(url).split("/").pop();
      const type = name.endsWith("wasm") ? "application/wasm" : "application/octet-stream";
      return files[name]
        ? new Response(files[name], { headers: { "content-type": type } })
        : new Response("", { status: 404 });
    };
    const loaded = await Promise.all([module(files["pyodide.mjs"]), module(files["pyodide.asm.mjs"])]);
    const base = "https://rope.invalid/"; // nothing is ever asked of it
    python = await loaded[0].loadPyodide({
      indexURL: base,
      packageBaseUrl: base,
      createPyodideModule: loaded[1].default,
      lockFileContents: lock,
    });
    python.setStdout(stream());
    python.setStderr(stream());
    python.globals.set("_source", decoder.decode(files["page.py"]));
    python.globals.set("_bundles", JSON.stringify(bundles));
    python.runPython(`import json, sys, types
rope_live = types.ModuleType("rope_live")
sys.modules["rope_live"] = rope_live
exec(compile(_source, "rope_live.py", "exec"), vars(rope_live))
rope_live.start(json.loads(_bundles))
del _source, _bundles`);
    for (const name of GONE) take(name);
  }

  /** Take a name away from the worker, wherever on its chain it stands, for good. */
  function take(name) {
    for (let at = self; at; at = Object.getPrototypeOf(at)) {
      if (Object.hasOwn(at, name)) Reflect.deleteProperty(at, name);
    }
    Reflect.defineProperty(self, name, { value: undefined, writable: false, configurable: false });
  }

  /** A bundle: one archive after the other, each with its length before it. */
  function bundle({ name, bytes }) {
    const view = new DataView(bytes);
    for (let at = 0; at < bytes.byteLength; ) {
      const end = at + 4 + view.getUint32(at, true);
      python.unpackArchive(bytes.slice(at + 4, end), "zip", { extractDir: "/lib/python3.14/site-packages" });
      at = end;
    }
    python.globals.set("_name", name);
    python.runPython("import importlib; importlib.invalidate_caches(); rope_live.loaded.add(_name)");
  }

  function call({ name, given }) {
    python.globals.set("_given", JSON.stringify(given));
    const told = JSON.parse(python.runPython(`json.dumps(rope_live.${name}(*json.loads(_given)))`));
    python.runPython("sys.stdout.flush(); sys.stderr.flush()");
    return told;
  }

  const work = { start, bundle, call };
  self.onmessage = ({ data }) => {
    self.onmessage = null;
    port = data;
    port.onmessage = async ({ data: asked }) => {
      printed = 0;
      try {
        port.postMessage({ value: (await work[asked.work](asked)) ?? null });
      } catch (error) {
        port.postMessage({ broken: String(error) });
      }
    };
  };
})();
