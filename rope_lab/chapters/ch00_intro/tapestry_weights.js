// What the names and shapes at the head of a safetensors file say about queries and keys. No weight is read.

const MOST = 100_000_000; // bytes of a header, as the format allows
const LAYER = /^(.*?(?:layers?|blocks?|h))\.(\d+)\.(.*)$/;
const ALONE = [
  [/(?:^|\.)(q|k|v)_proj\.(?:weight|kernel)$/, "transformers"],
  [/(?:^|\.)(?:attention\.)?w(q|k|v)\.weight$/, "Meta"],
  [/(?:^|\.)linear_(q|k|v)\.weight$/, "Megatron"],
  [/(?:^|\.)(q|k|v)(?:uery|ey|alue)\.(?:weight|kernel)$/, "BERT"],
  [/(?:^|\.)to_(q|k|v)\.weight$/, "diffusers"],
  [/(?:^|\.)attention\.(q|k|v)\.weight$/, "ours"],
];
const NO_ORDER = "q, k and v are one matrix, and its name does not tell the order";
const TOGETHER = [
  // the last: how many times the columns the rows are, where the words are true of that alone
  [/(?:^|\.)qkv_proj\.weight$/, "q, k and v are one matrix, as a rule one under the other"],
  [/(?:^|\.)query_key_value\.weight$/, "q, k and v are one matrix, as a rule head by head", 3],
  [/(?:^|\.)linear_qkv\.weight$/, "q, k and v are one matrix, as a rule group by group"],
  [/(?:^|\.)(?:W_pack|Wqkv|c_attn|wqkv|qkv)\.weight$/, NO_ORDER],
  [/(?:^|\.)in_proj_weight$/, "q, k and v are one matrix, as torch's own attention has it: one under the other"],
  [/(?:^|\.)kv_a_proj_with_mqa\.weight$/, "keys come from a latent, and its last rows are the key that turns"],
];
const NORM = /(?:^|\.)(?:(?:q|k|query|key)_?(?:ln|norm|layernorm|layer_norm)|norm_(?:q|k))\.(?:weight|scale)$/;
const OUT = /(?:^|\.)(?:o_proj|wo|to_out\.0)\.weight$/;
const LAYOUT = {
  transformers:
    "The names are those of transformers, where most families pair halves, and some, such as GPT-J, Cohere and Llama 4, pair neighbours",
  Meta: "The names are those of Meta's own files, whose code pairs neighbours",
  Megatron: "The names are those of Megatron, which pairs halves unless it is told otherwise",
  BERT: "Names such as query and key are those of BERT's kin, of which RoFormer pairs neighbours and ESM halves",
  diffusers:
    "The names are those of diffusers, where most models pair neighbours, and some, such as Stable Audio, pair halves",
  ours: "The names are those of this book's models, whose layout stands in a configuration beside the file",
};

/** The names and shapes in a safetensors file, from its first bytes: { name: shape }. Throws what it cannot read. */
export async function shapesOf(file) {
  const size = await file.slice(0, 8).arrayBuffer();
  const length = size.byteLength === 8 ? Number(new DataView(size).getBigUint64(0, true)) : 0;
  if (length < 2 || length > Math.min(MOST, file.size - 8))
    throw new Error("expected the names and shapes of a safetensors file first, got another file or a part of one");
  let tensors;
  try {
    tensors = Object.entries(JSON.parse(await file.slice(8, 8 + length).text()));
  } catch {
    throw new Error("expected names and shapes at the head of a safetensors file, got no JSON; download it again");
  }
  tensors = tensors.filter(([name]) => name !== "__metadata__");
  for (const [name, tensor] of tensors)
    if (!Array.isArray(tensor?.shape) || !tensor.shape.every((n) => Number.isSafeInteger(n) && n >= 0))
      throw new Error(`expected a shape of ${name}, got ${JSON.stringify(tensor?.shape)}; download the file again`);
  const known = (name) => [...ALONE, ...TOGETHER].some(([pattern]) => pattern.test(name));
  const packed = tensors.find(
    ([name, { dtype }]) => !/^B?F/.test(dtype) && known(name.replace(/qweight$|weight_packed$/, "weight")),
  );
  if (packed)
    throw new Error(
      `expected projections in floating-point numbers, got ${packed[0]} in ${packed[1].dtype}, whose shape is that of ` +
        "packed numbers; choose a file of the model before it was quantized",
    );
  return Object.fromEntries(tensors.map(([name, tensor]) => [name, tensor.shape]));
}

/** What one stack of layers says of its queries and keys; null where no name is known. */
function stack(tensors, width) {
  const rows = { q: new Set(), k: new Set(), v: new Set() },
    norms = new Set(),
    outs = new Set(),
    kinds = new Set(),
    said = new Set();
  let turning = "";
  for (const [name, shape] of tensors) {
    for (const [pattern, kind] of ALONE) {
      const part = name.match(pattern)?.[1];
      if (part) {
        rows[part].add(shape[name.endsWith("kernel") ? 1 : 0]);
        kinds.add(kind);
      }
    }
    for (const [pattern, words, times] of TOGETHER)
      if (pattern.test(name))
        said.add(
          `${times && shape[0] !== times * shape[1] ? NO_ORDER : words} (${name.split(".").at(-2)}, ${shape.join(" by ")})`,
        );
    if (OUT.test(name)) outs.add(shape[1]);
    if (NORM.test(name)) norms.add(shape.join(" by "));
    if (/inv_freq$/.test(name)) turning = `a stored list of frequencies turns ${2 * shape.at(-1)} coordinates`;
  }
  const list = (set) => [...set].join(" or ") || "none";
  if (rows.q.size) said.add(`q has ${list(rows.q)} rows, k ${list(rows.k)}, v ${list(rows.v)}`);
  if (!said.size) return null;
  const [q, k, v, out] = [rows.q, rows.k, rows.v, outs].map((set) => (set.size === 1 ? [...set][0] : Number.NaN));
  const gated = q === 2 * out && k === v; // values as wide as keys: the output takes the heads of q, and no more
  if (gated) said.add("half of q's rows are a gate, as a rule: the output takes half as many");
  const head = width ?? Number([...norms].find((n) => !n.includes(" ") && !rows.q.has(Number(n))));
  const counts = [(gated ? out : q) / head, k / head];
  if (counts.every(Number.isInteger))
    said.add(`with heads of ${head} these are ${counts[0]} heads of q and ${counts[1]} of k`);
  else if (rows.q.size) said.add("how wide a head is, config.json tells");
  said.add(norms.size ? `norms of q and k have ${list(norms)} entries` : "no name of a norm on q and k is known here");
  if (turning) said.add(turning);
  return { kinds, words: [...said].join("; ") };
}

/** What names and shapes tell, a sentence for each stack of layers. `width`: of a head, where a config.json was read. */
export function tell(shapes, width) {
  const stacks = new Map();
  for (const [name, shape] of Object.entries(shapes)) {
    const [, before = "", number, within = name] = name.match(LAYER) ?? [];
    if (!stacks.has(before)) stacks.set(before, { layers: new Set(), tensors: [] });
    if (number) stacks.get(before).layers.add(number);
    stacks.get(before).tensors.push([within, shape]);
  }
  const known = [...stacks].filter(([, { tensors }]) => stack(tensors));
  const kinds = new Set(),
    told = [];
  for (const [before, { layers, tensors }] of known) {
    const found = stack(tensors, known.length === 1 ? width : undefined); // a second tower has a width of its own
    for (const kind of found.kinds) kinds.add(kind);
    told.push(
      `${before ? `${layers.size} layer${layers.size === 1 ? "" : "s"} in ${before}` : "Outside of layers"}: ${found.words}.`,
    );
  }
  if (!told.length)
    throw new Error(
      "expected projections of queries and keys among the names, got none that is known here; choose the file that holds the layers themselves",
    );
  for (const kind of kinds) told.push(`${LAYOUT[kind]}: by name, not measured.`);
  return told.join(" ");
}
