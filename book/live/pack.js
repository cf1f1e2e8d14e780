// node pack.js JOB: what Python in the page needs, as scripts.
// A page that is opened as a file may load scripts and nothing else, so each file is `ropeLive.put(name, base64 of gzip)`.
// Packages become bytecode of the very Python that will run them.
const fs = require("node:fs");
const path = require("node:path");
const zlib = require("node:zlib");
const { pathToFileURL } = require("node:url");

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const read = (file) => new Uint8Array(fs.readFileSync(file));

/** Python that turns an archive into one of bytecode; the sources of rooms stay too, since checks show them. */
const COMPACT = `
import io, os, py_compile, zipfile
LEFT = (".pxd", ".h", ".c", ".f", ".lib", ".a", ".exe", ".afm")
def compact(data):
    archive, buffer = zipfile.ZipFile(io.BytesIO(bytes(data))), io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as new:
        for name in archive.namelist():
            content = archive.read(name)
            ours, room = name.startswith("rope_lab/"), name.startswith("rope_lab/chapters/")
            if name.endswith(("/", *LEFT)) or "/tests/" in name or "/sample_data/" in name: continue
            if name.endswith(".pyi") and not ours: continue
            if room or not name.endswith(".py"): new.writestr(zipfile.ZipInfo(name), content)
            if not name.endswith(".py"): continue
            with open("/s.py", "wb") as file: file.write(content)
            kind = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile("/s.py", "/s.pyc", dfile=name, doraise=True, invalidation_mode=kind)
            with open("/s.pyc", "rb") as file: code = file.read()
            folder, base = os.path.split(name)
            new.writestr(zipfile.ZipInfo(f"{folder}/__pycache__/{base[:-3]}.cpython-314.pyc".lstrip("/") if room else name + "c"), code)
    return buffer.getvalue()
`;

async function main() {
  const { loadPyodide } = await import(pathToFileURL(path.join(job.core, "pyodide.mjs")));
  const python = await loadPyodide({ indexURL: job.core + path.sep });
  const compact = python.runPython(`${COMPACT}\ncompact`);
  for (const { name, archives, out } of job.bundles) {
    const packed = archives.flatMap((file) => {
      const made = compact(python.toPy(read(file)));
      const bytes = Buffer.from(made.toJs());
      made.destroy();
      const length = Buffer.alloc(4); // each archive of a bundle has its length before it
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    });
    put(name, Buffer.concat(packed), out);
  }
  for (const { name, from, out } of job.files) put(name, read(from), out);
}

function put(name, bytes, out) {
  const text = zlib.gzipSync(bytes, { level: 9 }).toString("base64");
  fs.writeFileSync(out, `ropeLive.put(${JSON.stringify(name)}, "${text}");\n`);
}

main().catch((error) => {
  console.error(String(error.stack ?? error));
  process.exitCode = 1;
});
