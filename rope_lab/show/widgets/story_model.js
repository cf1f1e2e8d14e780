// The small Llama in plain JavaScript: tokenizer, forward pass with a cache, and the knobs of its rotation.

/** The knobs of the model as it was trained. */
export const TRAINED = {
  shift: 0,
  layout: "interleaved",
  direction: 1,
  base: 10000,
  frozen: [],
  stretch: 1,
  none: false,
  round_angles: "none",
  round_positions: "none",
  scaling: "none",
  factor: 1,
  window: 0,
  sinks: 0,
  returned: false,
};
/** The token that begins a text, and ends one. */
export const START = 1;
const BYTES = 3, // the token of byte 0; the other 255 follow
  WORDS = BYTES + 256; // the first token that is a piece of text; a lower number is joined first
const LENGTH = 512, // the window of the training
  HEAD_DIM = 8;

const FORMATS = { bfloat16: [8, -133, 2 ** 128], float16: [11, -24, 2 ** 16] }; // digits, finest spacing, the end
/** A number by way of float32 to the nearest that the format has, ties to even. */
export function rounded(number, format) {
  const value = Math.fround(number);
  if (format === "none") return number;
  if (value === 0 || !Number.isFinite(value)) return value;
  const [digits, finest, end] = FORMATS[format],
    unit = 2 ** Math.max(finest, Math.floor(Math.log2(Math.abs(value))) + 1 - digits),
    parts = value / unit,
    down = Math.floor(parts),
    rest = parts - down,
    found = (rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down) * unit;
  return Math.abs(found) >= end ? Math.sign(found) * Infinity : found;
}

/** The bytes of a base64 text. */
export const decoded = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

const TABLE = Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});
/** The check sum CRC-32 of some bytes. */
export function crc32(bytes) {
  let sum = ~0;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

function half(word) {
  const sign = word >> 15 ? -1 : 1,
    power = (word >> 10) & 31,
    part = word & 1023;
  return sign * (power ? 2 ** (power - 15) * (1 + part / 1024) : (2 ** -14 * part) / 1024);
}

/** The tensors of a safetensors file of float16 numbers: by name. */
function tensors(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    length = Number(view.getBigUint64(0, true)),
    head = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))),
    table = Float32Array.from({ length: 65536 }, (_, word) => half(word)),
    found = {};
  for (const [name, { dtype, data_offsets: at }] of Object.entries(head)) {
    if (name === "__metadata__") continue;
    if (dtype !== "F16") throw new Error(`expected float16 numbers in ${name}, got ${dtype}`);
    const data = new Float64Array((at[1] - at[0]) / 2);
    for (let i = 0; i < data.length; i++) data[i] = table[view.getUint16(8 + length + at[0] + 2 * i, true)];
    found[name] = data;
  }
  return found;
}

/** y = M x, four rows at a time: the sums of one row would wait for each other. */
function times(M, x, y) {
  const width = x.length;
  for (let row = 0, p = 0; row < y.length; row += 4, p += 4 * width) {
    let a = 0,
      b = 0,
      c = 0,
      d = 0;
    for (let j = 0, q = p; j < width; j++, q++) {
      const v = x[j];
      a += M[q] * v;
      b += M[q + width] * v;
      c += M[q + 2 * width] * v;
      d += M[q + 3 * width] * v;
    }
    y[row] = a;
    y[row + 1] = b;
    y[row + 2] = c;
    y[row + 3] = d;
  }
}
function norm(x, weight, y) {
  let sum = 0;
  for (const v of x) sum += v * v;
  const scale = 1 / Math.sqrt(sum / x.length + 1e-5);
  for (let i = 0; i < x.length; i++) y[i] = weight[i] * x[i] * scale;
}

/** The tokenizer: its pieces of text, from token 259 on; a lower number is joined first. */
export class Vocabulary {
  constructor(pieces) {
    this.pieces = pieces;
    this.ids = new Map(pieces.map((piece, i) => [piece, WORDS + i]));
  }
  /** The tokens of a text: its characters, or their UTF-8 bytes, joined two by two, the lowest number first. */
  encode(text) {
    const tokens = text === "" ? [] : [..." ", ...text].flatMap((c) => this.ids.get(c) ?? this.#bytes(c)),
      spelled = tokens.map((id) => this.pieces[id - WORDS]);
    for (;;) {
      let best = Infinity,
        at = -1;
      for (let i = 0; i + 1 < tokens.length; i++) {
        const id = spelled[i] && spelled[i + 1] ? this.ids.get(spelled[i] + spelled[i + 1]) : undefined;
        if (id < best) [best, at] = [id, i];
      }
      if (at < 0) return [START, ...tokens];
      tokens.splice(at, 2, best);
      spelled.splice(at, 2, this.pieces[best - WORDS]);
    }
  }
  #bytes(character) {
    return Array.from(new TextEncoder().encode(character), (byte) => BYTES + byte);
  }
  /** What a token stands for: a piece of text, the number of a byte, or nothing. */
  spell(token) {
    return token >= WORDS ? this.pieces[token - WORDS] : token >= BYTES ? token - BYTES : "";
  }
  /** The text of some tokens; bytes that are no character of UTF-8 become the sign for that. */
  decode(tokens) {
    const bytes = tokens.flatMap((token) => {
      const piece = this.spell(token);
      return typeof piece === "number" ? [piece] : [...new TextEncoder().encode(piece)];
    });
    return new TextDecoder().decode(Uint8Array.from(bytes)).replace(/^ /, "");
  }
}

/** The weights, which every run of the model shares. */
export class Model {
  constructor(bytes) {
    const all = tensors(bytes),
      get = (name) => all[`${name}.weight`];
    this.embedding = get("embedding");
    this.norm = get("norm");
    this.layers = [];
    while (`blocks.${this.layers.length}.attention.q.weight` in all) {
      const at = (name) => get(`blocks.${this.layers.length}.${name}`);
      this.layers.push({
        norm: at("attention_norm"),
        q: at("attention.q"),
        k: at("attention.k"),
        v: at("attention.v"),
        o: at("attention.o"),
        mlpNorm: at("mlp_norm"),
        gate: at("mlp.gate"),
        up: at("mlp.up"),
        down: at("mlp.down"),
      });
    }
    this.width = this.norm.length;
    this.hidden = this.layers[0].up.length / this.width;
    this.kv = this.layers[0].k.length / this.width;
    this.headDim = HEAD_DIM;
    this.heads = this.width / HEAD_DIM;
    this.vocabulary = this.embedding.length / this.width;
  }
}

/** Frequencies of the planes under the knobs, and what cosines and sines are multiplied by. */
export function frequencies(knobs, headDim = HEAD_DIM) {
  const { scaling, none, frozen, direction } = knobs,
    factor = none || scaling === "none" ? 1 : knobs.factor,
    base = scaling === "ntk" ? knobs.base * factor ** (headDim / (headDim - 2)) : knobs.base;
  // YaRN: planes of more than 32 turns in the window of the training are kept, those of less than one are slowed.
  const plane = (turns) => (headDim * Math.log(LENGTH / (2 * Math.PI * turns))) / (2 * Math.log(knobs.base)),
    first = Math.max(0, Math.floor(plane(32))),
    last = Math.min(headDim - 1, Math.ceil(plane(1))),
    wide = last === first ? 0.001 : last - first;
  const slowed = (i) => {
    if (scaling === "linear") return 1 / factor;
    if (scaling !== "yarn") return 1;
    const kept = 1 - Math.min(1, Math.max(0, (i - first) / wide));
    return kept + (1 - kept) / factor;
  };
  return {
    theta: Array.from({ length: headDim / 2 }, (_, i) =>
      none || frozen.includes(i + 1) ? 0 : direction * base ** ((-2 * i) / headDim) * slowed(i),
    ),
    size: scaling === "yarn" && factor > 1 ? 1 + 0.1 * Math.log(factor) : 1,
  };
}

/** The two coordinates of each plane of a head. */
export const pairs = (layout, headDim = HEAD_DIM) =>
  Array.from({ length: headDim / 2 }, (_, i) => (layout === "half" ? [i, i + headDim / 2] : [2 * i, 2 * i + 1]));

/** The angles of the planes at a position. */
export function angles(position, theta, knobs) {
  const at = rounded(position * knobs.stretch + knobs.shift, knobs.round_positions);
  return theta.map((v) => rounded(at * v, knobs.round_angles));
}

/** Cosines and sines of the planes at a position, as they stretch and turn. */
export function turns(position, { theta, size }, knobs) {
  const all = angles(position, theta, knobs);
  return [all.map((v) => size * Math.cos(v)), all.map((v) => size * Math.sin(v))];
}

/** One reading of a text, token by token, with its cache. */
export class Run {
  constructor(model, knobs, { capacity = 2048, watch = null } = {}) {
    const { width, kv, heads, headDim, hidden, vocabulary, layers } = model;
    Object.assign(this, { model, knobs: { ...TRAINED, ...knobs }, watch, at: 0 });
    const planes = frequencies(this.knobs, headDim);
    this.table = (position) => turns(position, planes, this.knobs);
    const made = (n) => new Float64Array(n);
    this.keys = layers.map(() => made(capacity * kv));
    this.values = layers.map(() => made(capacity * kv));
    this.plain = this.knobs.returned ? layers.map(() => made(capacity * kv)) : null; // keys before their turn
    this.places = []; // the position of each row of the cache
    [this.x, this.y, this.q, this.o, this.z] = Array.from({ length: 5 }, () => made(width));
    [this.a, this.u, this.g] = [made(capacity), made(hidden), made(hidden)];
    [this.k, this.v] = [made(kv), made(kv)];
    this.logits = made(vocabulary);
    this.seen = []; // what the watched head did at each token
    this.pairs = pairs(this.knobs.layout);
    this.scale = 1 / Math.sqrt(headDim);
    this.heads = heads;
  }
  #turn(x, from, to, [c, s], into = x) {
    const { headDim } = this.model;
    for (let head = from; head < to; head += headDim)
      for (let i = 0; i < this.pairs.length; i++) {
        const p = head + this.pairs[i][0],
          r = head + this.pairs[i][1],
          a = x[p],
          b = x[r];
        into[p] = a * c[i] - b * s[i];
        into[r] = a * s[i] + b * c[i];
      }
  }
  /** Drop the oldest row that is not among the first kept. */
  #drop() {
    const { kv } = this.model,
      n = this.places.length,
      from = (this.knobs.sinks + 1) * kv;
    for (const rows of [...this.keys, ...this.values, ...(this.plain ?? [])]) rows.copyWithin(from - kv, from, n * kv);
    this.places.splice(this.knobs.sinks, 1);
  }
  /** Read one token; returns the scores of the next. The array is used again at the next step. */
  step(token) {
    const { model, x, y, q, k, v, o, z, u, g } = this,
      { width, kv, embedding, layers } = model,
      { window, returned } = this.knobs;
    if (window && this.places.length >= window) this.#drop();
    const row = this.places.length,
      position = returned ? row : this.at;
    this.places.push(this.at);
    const table = this.table(position),
      tables = returned && this.at > row ? this.places.map((_, n) => this.table(n)) : null;
    x.set(embedding.subarray(token * width, (token + 1) * width));
    layers.forEach((layer, l) => {
      norm(x, layer.norm, y);
      times(layer.q, y, q);
      times(layer.k, y, k);
      times(layer.v, y, v);
      this.values[l].set(v, row * kv);
      const plain = this.plain?.[l];
      plain?.set(k, row * kv);
      this.keys[l].set(k, row * kv);
      this.#turn(this.keys[l], row * kv, row * kv + kv, table);
      if (tables) tables.forEach((t, n) => this.#turn(plain, n * kv, n * kv + kv, t, this.keys[l]));
      this.#turn(q, 0, width, table);
      this.#attend(l, row + 1);
      times(layer.o, o, z);
      for (let i = 0; i < width; i++) x[i] += z[i];
      norm(x, layer.mlpNorm, y);
      times(layer.gate, y, g);
      times(layer.up, y, u);
      for (let i = 0; i < u.length; i++) u[i] *= g[i] / (1 + Math.exp(-g[i]));
      times(layer.down, u, z);
      for (let i = 0; i < width; i++) x[i] += z[i];
    });
    norm(x, model.norm, y);
    times(embedding, y, this.logits);
    this.at++;
    return this.logits;
  }
  #attend(l, rows) {
    const { q, o, a, heads, scale } = this,
      { headDim, kv } = this.model,
      [keys, values] = [this.keys[l], this.values[l]],
      shared = (heads * headDim) / kv;
    for (let head = 0; head < heads; head++) {
      const first = Math.floor(head / shared) * headDim,
        [q0, q1, q2, q3, q4, q5, q6, q7] = q.subarray(head * headDim, head * headDim + headDim);
      let most = -Infinity,
        sum = 0;
      for (let n = 0, p = first; n < rows; n++, p += kv) {
        const w =
          scale *
          (q0 * keys[p] +
            q1 * keys[p + 1] +
            q2 * keys[p + 2] +
            q3 * keys[p + 3] +
            (q4 * keys[p + 4] + q5 * keys[p + 5] + q6 * keys[p + 6] + q7 * keys[p + 7]));
        a[n] = w;
        if (w > most) most = w;
      }
      for (let n = 0; n < rows; n++) sum += a[n] = Math.exp(a[n] - most);
      for (let i = 0; i < headDim; i++) {
        let total = 0;
        for (let n = 0, p = first + i; n < rows; n++, p += kv) total += a[n] * values[p];
        o[head * headDim + i] = total / sum;
      }
      if (this.watch?.layer === l && this.watch.head === head)
        this.seen.push({
          places: [...this.places],
          weights: Array.from(a.subarray(0, rows), (w) => w / sum),
          query: Array.from(q.subarray(head * headDim, head * headDim + headDim)),
          keys: Array.from({ length: rows }, (_, n) =>
            Array.from(keys.subarray(n * kv + first, n * kv + first + headDim)),
          ),
        });
    }
  }
}

/** −log of the probability that some scores give to a token, in nats. */
export function loss(logits, token) {
  const most = logits.reduce((a, b) => Math.max(a, b)),
    sum = logits.reduce((total, v) => total + Math.exp(v - most), 0);
  return most + Math.log(sum) - logits[token];
}

/** A source of numbers in [0, 1) that begins again with its seed (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The next token: the likeliest at temperature 0, or a draw. */
export function choose(logits, temperature, draw) {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
  if (temperature === 0) return best;
  const share = Float64Array.from(logits, (v) => Math.exp((v - logits[best]) / temperature));
  let left = draw() * share.reduce((a, b) => a + b);
  return Math.max(
    0,
    share.findIndex((v) => {
      left -= v;
      return left < 0;
    }),
  );
}
