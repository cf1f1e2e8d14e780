// What a model's config.json says of its rotation: the twin of rope_lab.algebra.rope_settings, which explains each step.
// Both read by one table, and refuse with the same words (tests/chapters/ch00_intro/test_tapestry_config.py).

import TABLE from "../../algebra/hf_families.json";

const YOURSELF = "write RotaryConfig(head_dim=..., base=...) yourself";
const ONE_LAYER = "give layer_type, and layer_types in the file, or one layer's value alone";
const LOOK = "look for it in the model's config.json";
const STILL = "it has no rotary embedding";
const LEAVE = `leave out what its code does not read, or ${YOURSELF}`;
const RULES = ["rope_parameters", "rope_scaling"];
const SECTIONS = ["mrope_section", "xdrope_section", "mrope_interleaved"];
const OF_ONE_LAYER = ["head_dim", "qk_rope_head_dim"];
const SIZES = ["hidden_size", "num_attention_heads"];
const WORDS = TABLE.words;
const [SPEAKS, FLAGS, INERT, ASIDE] = ["speaks", "flags", "inert", "aside"].map((name) => new RegExp(WORDS[name]));

// --- values as Python has them ---

/** A number that Python writes in another way than JavaScript: 10000.0, or a long whole number. */
class Written extends Number {
  constructor(value, text) {
    super(value);
    this.text = text;
  }
}
const asFloat = (x) => new Written(x, ofFloat(x));
function ofFloat(x) {
  if (!Number.isFinite(x)) return `${x}`.toLowerCase().replace("inity", "");
  const [digits, power] = x.toExponential().split("e");
  if (power >= -4 && power < 16) return `${Object.is(x, -0) ? "-0" : x}${Number.isInteger(x) ? ".0" : ""}`;
  return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

/** A file of JSON, in which Python also takes NaN and Infinity; a whole number with a point stays one. */
export function parse(text) {
  const token = /"(?:[^"\\]|\\.)*"|[[{}\]]|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|NaN|-?Infinity/g;
  let deep = 0; // the bounds are those of rope_lab/reading.py
  const marked = text.replace(token, (t) => {
    deep += { "[": 1, "{": 1, "]": -1, "}": -1 }[t] ?? 0;
    if (deep > 200) refuse`JSON with more than 200 brackets in brackets`;
    if (/^-?\d{4301}/.test(t)) refuse`JSON with a number of more than 4,300 digits`;
    return /^["[{}\]]|^-?(0|[1-9]\d{0,14})$/.test(t) ? t : `{"\\u0000":"${t}"}`;
  });
  const whole = (x) => (Number.isInteger(x) ? asFloat(x) : x);
  const value = (t) => (/^-?\d+$/.test(t) ? new Written(t, `${BigInt(t)}`) : whole(Number(t)));
  return JSON.parse(marked, (_, v) => (isDict(v) && Object.hasOwn(v, "\0") ? value(v["\0"]) : v));
}

const isNumber = (v) => typeof v === "number" || v instanceof Written;
const isDict = (v) => v !== null && typeof v === "object" && !Array.isArray(v) && !(v instanceof Written);
const holds = (v) => (isNumber(v) ? +v !== 0 : isDict(v) ? Object.keys(v).length > 0 : v?.length !== 0 && Boolean(v));
const or = (v, usual) => (holds(v) ? v : usual);
const counts = (v) => isNumber(v) || typeof v === "boolean";
const same = (a, b) => (a ?? null) === (b ?? null) || (counts(a) && counts(b) && +a === +b);
const at = (dict, key) => (isDict(dict) && Object.hasOwn(dict, key) ? (dict[key] ?? undefined) : undefined);
const once = (list) => list.filter((v, i) => list.findIndex((other) => same(v, other)) === i);

const SHORT = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "'": "\\'", " ": " " };
function escaped(sign) {
  const code = sign.codePointAt(0).toString(16);
  if (code.length < 3) return SHORT[sign] ?? `\\x${code.padStart(2, "0")}`;
  return code.length < 5 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}
/** What Python's repr says of a value. */
function repr(v) {
  if (v instanceof Written) return v.text;
  if (typeof v === "number") return Number.isInteger(v) ? `${v}` : ofFloat(v);
  if (typeof v === "boolean") return v ? "True" : "False";
  if (Array.isArray(v)) return `[${v.map(repr).join(", ")}]`;
  if (isDict(v))
    return `{${Object.entries(v)
      .map((pair) => pair.map(repr).join(": "))
      .join(", ")}}`;
  if (typeof v !== "string") return "None";
  if (v.includes("'") && !v.includes('"')) return `"${v.replace(/[\\\p{C}\p{Z}]/gu, escaped)}"`;
  return `'${v.replace(/['\\\p{C}\p{Z}]/gu, escaped)}'`;
}
const str = (v) => (typeof v === "string" ? v : repr(v));

/** Refuse with these words, which may go over several lines; a list is written with commas. */
function refuse(words, ...values) {
  const text = (v) => (Array.isArray(v) ? v.join(", ") : v);
  throw new Error(
    words.map((part, i) => part.replace(/\n\s*/g, " ") + (i < values.length ? text(values[i]) : "")).join(""),
  );
}
function aNumber(name, v) {
  if (!isNumber(v)) refuse`${name}: expected a number, got ${repr(v)}; write it without quotes, such as 4.0`;
  if (Number.isFinite(+v)) return v;
  return refuse`${name}: expected a finite number, got ${repr(v)}; look for a division by zero`;
}
function above(name, v) {
  if (aNumber(name, v) >= 1e-100 && v <= 1e100) return v;
  return refuse`${name}: expected a number above 0, from 1e-100 to 1e100, got ${repr(v)}; ${LOOK}`;
}
function aWhole(name, v, least = 2) {
  const right = isNumber(v) && Number.isInteger(+v);
  if (right && v >= least && v <= 2 ** 31) return +v;
  return refuse`${name}: expected a whole number from ${least} to ${2 ** 31}, got ${right ? BigInt(+v) : repr(v)}; write it without quotes, such as 64`;
}
function aFlag(name, v) {
  if (typeof v === "boolean") return v;
  return refuse`${name}: expected true or false, got ${repr(v)}; write it without quotes`;
}
function aList(name, v) {
  if (Array.isArray(v)) return v;
  return refuse`${name}: expected a list of numbers, got ${repr(v)}; write it in brackets`;
}

// --- which part turns, and under which names ---

const speaks = (name) => SPEAKS.test(name) || WORDS.widths.includes(name);
const asFile = (v) => (isDict(v) ? v : counts(v) ? { real: v } : {}); // what Python's dir finds in a number
const familyOf = (kind) => at(TABLE.families, kind);
const isRule = (k, v) => isDict(v) || (v === null && k.endsWith("_attention"));
const types = (given) => Object.keys(given).filter((k) => isRule(k, given[k]));

/** The part for text of a larger configuration, the name of its family, and what holds where it is such a part. */
function textPart(file) {
  const kind = str(or(at(file, "model_type"), "")),
    entry = familyOf(kind) ?? {};
  if (entry.in) {
    const steps = entry.in.split("."),
      found = steps.slice(0, -1).reduce((dict, step) => asFile(at(dict, step)), file),
      last = at(found, steps.at(-1)),
      part = asFile(last),
      own = str(or(at(part, "model_type"), entry.as)),
      family = holds(part) && (own === kind || familyOf(own)?.in) ? entry.as : own;
    if (last !== undefined)
      return [part, family, family === entry.as ? { set: entry.set ?? {}, rule: entry.rule } : {}];
    const flat = Object.entries(file).filter(([k, v]) => !isDict(v) || RULES.includes(k));
    if (entry.flat) return [Object.fromEntries(flat), entry.as];
    if (insideOf(file).next().done) return [{}, entry.as, { set: entry.alone ?? entry.set ?? {} }];
  }
  for (const part of !holds(entry) || entry.in ? insideOf(file) : []) {
    const [inner, own, more] = textPart(part);
    if (own || Object.keys(inner).some((n) => speaks(n) || n === "hidden_size"))
      return [inner, own || (entry.as ?? kind), more];
  }
  return [file, kind];
}

/** The nested parts that may be the one for text: under the usual names, or the only one that turns. */
function* insideOf(file) {
  yield* WORDS.text.map((name) => at(file, name)).filter((v) => isDict(v) && holds(v));
  if (says(file)) return;
  const found = Object.entries(file).filter(([name, v]) => isDict(v) && !ASIDE.test(name) && turns(v));
  if (found.length > 1)
    refuse`${found.map(([name]) => name).join(" and ")}: expected one part that turns, got ${found.length}; give one of
      them, such as config[${repr(found[0][0])}]`;
  yield* found.map(([, v]) => v);
}
const says = (file) => Object.keys(file).some((name) => speaks(name) && holds(file[name]));
function turns(file) {
  const [part, kind] = textPart(file);
  return familyOf(kind) || (says(part) && ![...TABLE.still, ...TABLE.own].includes(kind));
}

class Part {
  constructor(config, layer) {
    if (!isDict(config))
      refuse`config: expected a dictionary, got ${repr(config).slice(0, 90)}; give what config.json holds`;
    const [file, kind, { set, rule } = {}] = textPart(config);
    Object.assign(this, { file, kind, layer, known: Boolean(familyOf(kind)), entry: familyOf(kind) ?? WORDS.common });
    if (set) this.entry = { ...this.entry, rule: rule ?? this.entry.rule, set: { ...this.entry.set, ...set } };
    this.kinds = this.entry.kinds ?? {};
    this.refuseWhatDoesNotTurn();
    this.rule = this.ruleOf();
    this.refuseKeys();
  }

  has(name) {
    return at(this.file, name);
  }
  said(names) {
    return names.map((n) => [n, this.has(n)]).filter(([, value]) => value !== undefined);
  }
  get(name) {
    const found = this.said([name, ...(this.entry.names?.[name] ?? [])]);
    this.refuseTwo(found);
    return found.length ? this.ofLayers(name, found[0][1]) : at(this.entry.set, name);
  }
  /** The name, the value, and whether it is what holds in the family. */
  found(field, name) {
    if (at(this.rule, name) !== undefined) return [name, this.rule[name], this.byDefault];
    for (const own of this.names(field, [name])) {
      const value = own.split(".").reduce(at, this.file);
      if (value !== undefined) {
        if (!this.known) this.refuseTwo(this.said(this.names(field)));
        return [own, this.ofLayers(own, value)];
      }
    }
    return [name, this.usual(name), true];
  }
  usual(name) {
    return at(this.mine.set, name) ?? at(this.entry.set, name);
  }
  names(field, usual = []) {
    return this.mine[field] ?? this.entry[field] ?? (field === "share" ? [] : usual);
  }
  get width() {
    const own = this.ofOneLayer(),
      all = this.widths();
    const both = this.names("width");
    if (both.length > 1 && both.includes("head_dim") && this.usual("head_dim") && this.file.head_dim === null)
      refuse`${WORDS.null.replace("{}", this.kind)}`;
    const found = all.flatMap((name) => {
      const key = name.includes("qk_rope") ? "qk_rope_head_dim" : "head_dim",
        value = at(own, key) ?? this.has(name);
      return value === undefined ? [] : [[name, this.ofLayers(name, value)]];
    });
    if (once(found.map(([n]) => this.usual(n))).length === 1) this.refuseTwo(found);
    else if (found.length > 1 && this.usual("qk_nope_head_dim"))
      this.refuseTwo([found[1], ["qk_nope_head_dim + qk_rope_head_dim", this.wholeHead(found[0][1])]]);
    if (found.length) return found[0];
    if (Object.hasOwn(this.file, "per_layer_config") && all.includes("global_head_dim"))
      refuse`per_layer_config: expected head_dim in it for ${repr(this.layer)}, since ${this.kind} has no default of these
        layers beside it, got none; add it`;
    const name = all.find((n) => !Object.hasOwn(this.file, n) && holds(this.usual(n)));
    return name ? [name, this.usual(name)] : ["head_dim"];
  }
  get base() {
    const own = this.entry.layer_base;
    return own && Array.isArray(this.has(own))
      ? [own, this.ofLayers(own, this.has(own))]
      : this.found("base", "rope_theta");
  }
  get rotaryDim() {
    const shares = [at(this.rule, "partial_rotary_factor"), ...this.names("share").map((n) => this.has(n))];
    return this.entry.rotary_dim && shares.every((v) => v === undefined) ? this.get("rotary_dim") : undefined;
  }
  /** Not that of the part that turns where a share of the whole head says it. */
  widths() {
    const all = this.names("width", ["head_dim"]),
      shared = this.known && this.names("share").length && all.length > 1;
    return shared ? all.filter((n) => !n.includes("qk_rope")) : all;
  }
  get ofPart() {
    return this.width[0].includes("qk_rope") && !(this.known && this.names("share").length);
  }
  wholeHead(part = this.width[1]) {
    return [part, this.get("qk_nope_head_dim")].filter(counts).reduce((sum, n) => sum + +n, 0);
  }
  get share() {
    const found = this.found("share", "partial_rotary_factor"),
      [own, said] = found,
      plain = ["default", "mrope"].includes(or(or(at(this.rule, "rope_type"), at(this.rule, "type")), "default")),
      [name, width] = this.width,
      { head_dim = 0, qk_rope_head_dim } = this.entry.set ?? {};
    if (said !== undefined && !same(said, 1) && plain && (this.mine.whole ?? this.entry.whole))
      refuse`${own}: expected 1, since ${this.kind} turns the whole head, got ${repr(said)}; leave it out`;
    const whole = this.wholeHead(),
      heads = [whole, this.has("head_dim"), at(this.ofOneLayer(), "head_dim")].filter((h) => counts(h) && +h);
    if ([0, qk_rope_head_dim].includes(head_dim) && counts(width)) heads.push(width); // its class calls that a head
    const fits = !counts(said) || !counts(width) || heads.some((h) => Math.abs(h * said - width) <= 0.5);
    if (said !== undefined && this.ofPart && this.known && !fits)
      refuse`partial_rotary_factor: expected the share of ${repr(width)} in a head of ${whole}, got ${repr(said)}; ${name}
        says how much turns`;
    return found;
  }

  ofLayers(name, value) {
    const kinds = this.has("layer_types");
    if (!Array.isArray(value) || (value.length < 2 && !same(value.length, this.has("num_hidden_layers")))) return value;
    let mine = value;
    if (Array.isArray(kinds) && this.layer !== undefined) {
      if (value.length < kinds.length)
        refuse`${name}: expected a value for each of ${kinds.length} layers, got ${value.length}; ${YOURSELF}`;
      mine = value.filter((_, i) => kinds[i] === this.layer);
    }
    const turning = mine.every(counts) ? once(mine).filter(holds) : mine;
    if (turning.length !== 1 || typeof turning[0] === "boolean")
      refuse`${name}: expected a number, got a list with one value for each layer, which differ here; ${ONE_LAYER}`;
    return turning[0];
  }
  ofOneLayer() {
    const given = or(this.has("per_layer_config"), {}),
      kinds = this.has("layer_types"),
      all = isDict(given) || Array.isArray(given) ? Object.entries(given) : [["0", 0]],
      wrong = all.filter(([i, own]) => !(/^[+-]?\d+$/.test(i) && isDict(own))).map(([i]) => i);
    if (wrong.length)
      refuse`per_layer_config: expected a dictionary for the number of each layer, got other things for
        ${wrong.sort()}; ${YOURSELF}`;
    const layers = new Map(all.map(([i, own]) => [+i, own])),
      said = this.has("num_hidden_layers"),
      top = Math.max(-1, ...layers.keys()) + 2,
      mine =
        Array.isArray(kinds) && kinds.includes(this.layer)
          ? kinds.flatMap((kind, i) => (kind === this.layer ? [i] : []))
          : Array.from({ length: isNumber(said) ? Math.min(said, top) : top }, (_, i) => i),
      derived = !this.widths().some((n) => holds(this.has(n) ?? this.usual(n))),
      names = [...new Set([...layers.values()].flatMap(Object.keys))].filter(
        (n) => speaks(n) || (derived && SIZES.includes(n)),
      );
    const own = names.sort().map((name) => {
      const usual = this.has(name),
        found = mine.map((i) => (Object.hasOwn(layers.get(i) ?? {}, name) ? at(layers.get(i), name) : usual));
      if (!OF_ONE_LAYER.includes(name)) found.push(usual);
      const values = [...new Set(found.map(repr))];
      if (values.length > 1)
        refuse`per_layer_config: expected one ${name} for all layers of a kind, got ${values.join(" and ")}; ${ONE_LAYER}`;
      return [name, found[0]];
    });
    return Object.fromEntries(own.filter(([, value]) => value !== undefined));
  }
  refuseTwo(found) {
    if (found.some(([, value]) => !same(value, found[0][1])))
      refuse`${found.map(([n]) => n).join(" and ")}: expected one value, since ${this.kind || "this file"} has them for one setting, got
        ${found.map(([, v]) => repr(v)).join(", ")}; leave one out`;
  }

  ruleOf() {
    this.nested = false;
    const [fresh, old] = RULES.map((name) => {
      const value = or(this.has(name), {});
      if (isDict(value)) return value;
      return refuse`${name}: expected a dictionary, got ${repr(value)}; write such as {"rope_type": "linear", "factor": 4.0}`;
    });
    if (this.entry.only?.length === 0 && (holds(fresh) || holds(old)))
      refuse`${RULES[holds(fresh) ? 0 : 1]}: expected none in a file of ${this.kind}, whose class reads no rule, got
        ${repr(or(fresh, old))}; leave it out`;
    const label = at(this.entry.of, this.layer) ?? this.layer;
    this.mine = at(this.kinds, label) ?? {};
    if (holds(this.kinds)) return this.ruleOfKind(fresh, old, label);
    if (holds(old) && types(fresh).length && !types(old).length)
      refuse`rope_scaling: expected it or rope_parameters for each of ${types(fresh)}, got both, which families read differently; put the scaling into rope_parameters`;
    const more = Object.keys(old).some((name) => !["rope_type", "type"].includes(name));
    if (`${this.entry.only}` === "default" && holds(old) && (holds(fresh) || more))
      refuse`rope_scaling: expected rope_parameters in a file of ${this.kind}, whose class reads that alone, got
        ${repr(old)}; put it there`;
    const rule = or(old, fresh);
    this.nested = types(rule).length > 0;
    if (this.nested) return oneOf(rule, types(rule), label);
    this.refuseUnknownLayers();
    if (holds(old)) this.refuseWithout(rule, "rope_scaling", this.entry);
    const given = or(rule, this.mistral());
    this.byDefault = !holds(given) && this.has(RULES[0]) === undefined;
    return this.byDefault ? (this.entry.rule ?? {}) : given;
  }
  /** Refuse a rule that leaves out what its class has another default for in this place. */
  refuseWithout(rule, where, { must = [] }) {
    for (const name of must)
      if (at(rule, name) === undefined)
        refuse`${name}: expected it in ${where} in a file of ${this.kind}, whose class has another default there, got
          none; add it`;
  }
  ruleOfKind(fresh, old, label) {
    const own = Object.keys(this.kinds);
    this.nested = true;
    if (!types(fresh).length && types(old).length && this.entry.nests) [fresh, old] = [old, {}];
    if (types(fresh).length && this.entry.all) {
      const here = this.entry.of ? own : or(this.has("layer_types"), this.entry.layers ?? own),
        missing = own.find((k) => here.includes(k) && !isDict(fresh[k]));
      if (missing)
        refuse`layer_type: expected a rule for ${repr(missing)} in rope_parameters, got ${types(fresh)}; add it`;
      const alone = (k) => [k, { ...this.kinds[k], base: [], share: [], scaled: false }];
      this.kinds = Object.fromEntries(own.map(alone));
      this.mine = at(this.kinds, label) ?? {};
    }
    const scaled = own.some((k) => this.kinds[k].scaled);
    if (holds(fresh) && !types(fresh).length) {
      if (!scaled || !this.entry.of)
        refuse`layer_type: expected rope_parameters for each of ${own} in a file of ${this.kind}, got one rule for all;
          write one for each`;
      [fresh, old] = [{}, or(old, fresh)];
    }
    for (const name of this.entry.of ? ["rope_theta", "partial_rotary_factor"] : [])
      if (at(old, name) !== undefined)
        refuse`${name}: expected it beside the rule in a file of ${this.kind}, got ${repr(old[name])} in one for all;
          write rope_parameters for each kind`;
    let rule = this.mine.rule ?? {};
    const where = `the rule of ${repr(label)}`;
    if (!own.includes(label) || Object.hasOwn(fresh, label) || this.mine.still) {
      rule = oneOf({ [label]: null, ...fresh }, own, label);
      this.refuseWithout(rule, where, this.mine);
    } else if (holds(fresh) && !this.mine.fills)
      refuse`layer_type: expected a rule for ${repr(label)} in rope_parameters, got ${types(fresh)}; add it`;
    else {
      if (!holds(old) && this.has(RULES[0]) !== undefined) this.refuseWithout({}, where, this.mine);
      this.byDefault = true;
    }
    if (holds(old) && (types(old).length || !scaled))
      refuse`rope_scaling: expected rope_parameters for each of ${own}, which ${this.kind} reads, got a scaling beside
        them; put it there`;
    if (this.mine.scaled) rule = { ...rule, ...old };
    for (const [one, read] of [
      [old, this.entry.of],
      [rule, !this.entry.typed],
    ])
      if (Object.hasOwn(one, "type") && !Object.hasOwn(one, "rope_type") && !read)
        refuse`type: expected rope_type in a rule of ${this.kind}, whose class reads that, got ${repr(one.type)};
          rename it`;
    const type = Object.hasOwn(rule, "rope_type") ? rule.rope_type : rule.type;
    return !Object.hasOwn(fresh, label) && type === "yarn" ? { ...this.entry.yarn, ...rule } : rule;
  }
  /** The block `yarn` of Mistral's params.json as a rule. */
  mistral() {
    if (this.kind || !isDict(this.has("yarn"))) return {};
    const { beta, alpha, apply_scale, ...rest } = this.has("yarn");
    const factor = apply_scale === false ? { attention_factor: asFloat(1) } : {};
    return { rope_type: "yarn", beta_fast: beta ?? null, beta_slow: alpha ?? null, ...factor, ...rest };
  }

  refuseWhatDoesNotTurn() {
    const { kind, file } = this,
      needs = this.entry.needs ?? {};
    if (TABLE.still.includes(kind)) refuse`${WORDS.rest.replace("{}", kind)}`;
    if (TABLE.own.includes(kind)) refuse`${WORDS.own.replace("{}", kind)}`;
    for (const [name, [turning, usual]] of Object.entries(needs)) {
      const said = Object.hasOwn(file, name) ? file[name] : usual;
      if (!turning.some((v) => same(v, said)))
        refuse`${name}: expected ${turning.map(repr).join(" or ")}, under which ${kind} turns, got ${repr(said)}: ${STILL}`;
    }
    for (const name of ["position_embedding_type", "position_embeddings_type"])
      if (!(name in needs || (this.known && file[name] === "absolute")) && WORDS.no_positions.includes(this.has(name)))
        refuse`${name}: expected 'rope', got ${repr(file[name])}: ${STILL}`;
    if (kind && !this.known && !Object.keys(file).some((n) => speaks(n) && file[n] !== null))
      refuse`model_type: expected a family of transformers ${TABLE.transformers}, or settings of the rotation, got
        ${repr(kind)} without any; add its rope_theta, or ${YOURSELF}`;
    this.refuseStillLayers();
  }
  refuseStillLayers() {
    const { entry, layer } = this,
      kinds = this.has("layer_types"),
      lists = ["no_rope_layers", "layer_rope_theta"]
        .map((n) => this.has(n))
        .filter((v) => Array.isArray(v) && v.length);
    let quiet = Array.isArray(entry.still) && entry.still.includes(layer);
    if (entry.still_with && this.file[entry.still_with] === null) quiet = false;
    if (lists.length && Array.isArray(kinds) && kinds.includes(layer))
      quiet = lists.some((one) => !one.some((v, i) => holds(v) && kinds[i] === layer));
    else if (lists.length && !lists.some((one) => one.some(holds))) quiet = true;
    if (quiet) this.refuseStill();
  }
  refuseStill(more = "") {
    const where = this.kind || "this file";
    refuse`layer_type: expected layers that turn, got ${repr(this.layer)}, which have no positions in ${where}${more}`;
  }
  refuseUnknownLayers() {
    if (WORDS.still.includes(this.layer)) this.refuseStill(`; if its own code turns them, ${YOURSELF}`);
    const given = this.has("layer_types"),
      named = [...(Array.isArray(given) ? given : []), ...(this.entry.layers ?? [])].filter(
        (k) => typeof k === "string",
      );
    const patterned = Object.keys(this.file).some((n) => n.includes("sliding_window_pattern"));
    if (patterned || holds(this.has("sliding_window"))) named.push("sliding_attention");
    if (patterned || named.every((k) => WORDS.still.includes(k))) named.push("full_attention");
    if (this.layer !== undefined && !named.includes(this.layer))
      refuse`layer_type: expected one of ${once(named).sort()} or None, got ${repr(this.layer)}, which neither the file
        nor its family names; add layer_types`;
  }
  refuseKeys() {
    const { alpha, own_order, mscales } = this.entry,
      known = [...WORDS.rule, ...(alpha ? ["alpha"] : []), ...(own_order ? ["xdrope_section"] : [])];
    if (mscales) known.push("short_mscale", "long_mscale");
    for (const [name, value] of Object.entries(this.rule))
      if (!known.includes(name) && value !== null && !isDict(value))
        refuse`${name}: expected a setting of a rule that we know, got ${repr(value)}; ${LEAVE}`;
    const { truncate = true } = this.rule;
    if (this.nested && truncate !== true)
      refuse`truncate: expected it in a rule for all layers, got ${repr(truncate)} in that of one kind, where it is not read; leave it out`;
  }
  refuseWhatDisagrees({ base: [baseName, base], width, turning, plain }) {
    const { entry, kind } = this,
      { some, needs = {} } = entry,
      told = some && this.has(some),
      all = Array.isArray(told) && same(told.length, this.has("num_hidden_layers")) && told.every((v, i) => same(v, i));
    if (this.file.use_scaled_rope === true && plain) refuse`${WORDS.scaled}`;
    if (told !== undefined && !plain && !all)
      refuse`${some}: expected all layers, got ${repr(told)}: the others have no scaling; ${YOURSELF}`;
    const ofPart = this.ofPart,
      kinds = Object.values(this.kinds);
    let read = [...RULES, ...SECTIONS, "layer_rope_theta", "no_rope_layers", "no_rope_layer_interval", some];
    read.push(...Object.keys(needs), ...(this.known ? [] : ["yarn", "qk_rope_head_dim"]));
    const usual = ["rope_theta", "partial_rotary_factor"];
    for (const { base: one = [], share = [], width: two = [], set = {} } of [entry, ...kinds])
      read.push(
        ...[...one, ...share, ...two].map((n) => n.split(".")[0]),
        ...Object.keys(set).filter((n) => !usual.includes(n)),
      );
    if ((kinds.length ? kinds : [entry]).some((one) => !one.base)) read.push("rope_theta");
    if (!this.names("share").includes(usual[1])) read = read.filter((n) => n !== usual[1]); // of this kind of layer
    const unread = this.names("width").filter((n) => !this.widths().includes(n));
    read = read.filter((n) => !unread.includes(n));
    // a rule that the family has by itself stands in place of what is beside it
    for (const [name, field] of this.byDefault
      ? [
          ["rope_theta", "base"],
          ["partial_rotary_factor", "share"],
        ]
      : [])
      if (Object.hasOwn(this.rule, name))
        read = read.filter((n) => n !== name && !this.names(field, [name]).includes(n));
    const left = {},
      bases = kinds.map((k) => ({ ...k.set, ...k.rule }).rope_theta).filter((v) => v !== undefined),
      alone =
        once(kinds.filter((k) => k.set).map((k, i) => or(k.set.rope_theta, i))).length === 1 &&
        kinds.some((k) => k.base);
    for (const [name, given] of Object.entries(this.file)) {
      const own = alone && name === "rope_theta"; // only some kinds of layer read it: it must say what was read
      if (given === null || !speaks(name) || (FLAGS.test(name) && given === true)) continue;
      if (FLAGS.test(name) && given === false) refuse`${name}: expected true, got false: ${STILL}`;
      if (!holds(given) && (!isNumber(given) || WORDS.widths.includes(name))) continue;
      if ((read.includes(name) && !own) || TABLE.inert.includes(name) || INERT.test(name)) continue;
      let value = given;
      try {
        value = this.ofLayers(name, given);
      } catch {}
      if ((name === "rope_type" && value === "default") || (/^qk_/.test(name) && this.file.use_mla === false)) continue;
      let agrees =
        same(value, turning) || (name !== "rotary_dim" && (same(value, width) || (ofPart && name === "head_dim")));
      if (same(value, 1) && /ratio|scal/.test(name)) agrees = true;
      else if (/theta|base/.test(name)) agrees = [base, ...(own ? [] : bases)].some((one) => same(one, value));
      else if (/pct|factor|percent|fraction/.test(name))
        agrees = Math.floor((ofPart ? this.wholeHead() : width) * value) === turning;
      if (!agrees || !isNumber(value)) left[name] = value;
    }
    const names = Object.keys(left);
    const beside = names.length ? `, and beside it ${names.join(", ")}, not read there` : "";
    if (base === undefined)
      refuse`${baseName}: expected the base of ${kind || "a params.json"}, got none${beside};
        add it`;
    if (names.length)
      refuse`${names}: expected settings that ${kind || "this reader"} reads for its rotation, got ${Object.values(left).map(repr)}; ${LEAVE}`;
  }
}

/** The rule of one kind of layer. */
function oneOf(given, named, label) {
  if (!named.includes(label))
    refuse`layer_type: expected one of ${named}, got ${repr(label)}: their frequencies differ`;
  if (given[label] === null) refuse`layer_type: expected layers that turn, got ${repr(label)}, which have no positions`;
  if (!isDict(given[label]))
    refuse`${label}: expected a dictionary with the rule of these layers, got ${repr(given[label])}; write it so`;
  for (const [name, value] of Object.entries(given))
    if (!named.includes(name) && !Object.hasOwn(given[label], name) && value !== null && value !== "default")
      refuse`${name}: expected it in the rule of each kind of layer, got ${repr(value)} beside them; put it into
        ${repr(label)}`;
  return given[label];
}

// --- the schedule ---

const plainly = (v) => (v === undefined ? null : +v);

/** What a rule says, as a schedule of rope_lab.algebra needs it. */
class Settings {
  constructor(part, name, share) {
    Object.assign(this, { part, name, share, given: part.rule });
  }
  one(key) {
    if (at(this.given, key) !== undefined) return this.given[key];
    return refuse`${key}: expected a value for rope_type ${repr(this.name)}, got none among
      ${repr(Object.keys(this.given).sort())}; ${LOOK}`;
  }
  needed(key) {
    return +above(key, this.one(key));
  }
  number(key) {
    return at(this.given, key) === undefined ? undefined : this.needed(key);
  }
  scale(key) {
    const value = at(this.given, key);
    if (value !== undefined && aNumber(key, value) < 0)
      refuse`${key}: expected a number of at least 0, got ${repr(value)}; leave it out for the usual one`;
    return holds(value) ? above(key, value) : value;
  }
  divisors(key) {
    const list = aList(key, this.one(key));
    if (!list.length) refuse`${key}: expected a divisor for each plane, got none; ${LOOK}`;
    return list.map((v) => +above(key, v));
  }
  get window() {
    const name = "original_max_position_embeddings",
      value = (this.part.nested ? undefined : this.part.get(name)) ?? at(this.given, name);
    return value === undefined ? this.longest : aWhole(name, value);
  }
  get longest() {
    const value = this.part.get("max_position_embeddings");
    if (value !== undefined) return aWhole("max_position_embeddings", value);
    return refuse`max_position_embeddings: expected the window of ${repr(this.name)}, got none; add it`;
  }
  get factor() {
    return this.number("factor") ?? this.longest / this.window;
  }
}

const MAKERS = {
  default: () => ({ name: "Schedule" }),
  linear: (s) => ({ name: "Linear", factor: s.needed("factor") }),
  dynamic: (s) => ({ name: "DynamicNTK", factor: s.needed("factor"), window: s.longest }),
  yarn(s) {
    const { factor, window, given: rule } = s,
      slow = or(s.scale("beta_slow"), asFloat(1)),
      fast = or(s.scale("beta_fast"), asFloat(32)),
      [mscale, mscale_all_dim] = ["mscale", "mscale_all_dim"].map((key) => plainly(s.scale(key))),
      given = plainly(s.number("attention_factor")),
      whole = rule.truncate !== null && aFlag("truncate", at(rule, "truncate") ?? true);
    if (slow > fast)
      refuse`Yarn: expected beta_slow up to beta_fast, got ${repr(slow)} and ${repr(fast)}; exchange them`;
    return { name: "Yarn", factor, window, slow: +slow, fast: +fast, mscale, mscale_all_dim, given, whole };
  },
  llama3(s) {
    const made = { name: "Llama3", factor: s.needed("factor"), window: s.window },
      [slow, fast] = ["low_freq_factor", "high_freq_factor"].map((key) => above(key, s.one(key)));
    if (slow > fast)
      refuse`Llama3: expected fewer turns for slow planes than for fast ones, or as many, got ${repr(slow)} and
        ${repr(fast)}; the usual pairs are 1 and 32, 1 and 4`;
    return { ...made, slow: +slow, fast: +fast };
  },
  longrope(s) {
    const [short, long] = ["short_factor", "long_factor"].map((key) => s.divisors(key)),
      { window, factor } = s,
      given = plainly(s.number("attention_factor"));
    if (short.length === long.length) return { name: "LongRoPE", short, long, window, factor, given };
    return refuse`long: expected ${short.length} divisors, as short has, got ${long.length}; give each plane one`;
  },
  proportional(s) {
    const factor = s.number("factor") ?? 1;
    if (s.share <= 1) return { name: "Proportional", share: +s.share, factor };
    return refuse`share: expected a number from 0 to 1, got ${repr(s.share)}; 1 turns every plane`;
  },
};

function scheduleOf(s, { alpha, mscales }) {
  if (alpha && s.name === "dynamic" && holds(at(s.given, "alpha"))) return { name: "NTK", factor: s.needed("alpha") };
  const keys = mscales && s.name === "longrope" ? ["short_mscale", "long_mscale"] : [],
    [short, long] = keys.map((key) => (s.number(key) === undefined ? undefined : s.given[key]));
  if (!same(short, long))
    refuse`long_mscale: expected ${repr(short)}, as short_mscale is, got ${repr(long)}: here one factor is for every
      length; make the two schedules with LongRoPE(given=...)`;
  const made = MAKERS[s.name](s);
  return short === undefined ? made : { ...made, given: +short };
}

function nameOf(rule, entry) {
  const said = or(at(rule, "rope_type"), at(rule, "type")),
    factor = at(rule, "factor");
  if (said === undefined && factor !== undefined && !same(factor, 1))
    refuse`rope_type: expected the kind of scaling that factor ${repr(factor)} belongs to, got none; add it, such as
      "rope_type": "linear"`;
  const first = holds(said) ? (at(WORDS.older, str(said)) ?? str(said)) : "default",
    name = at(entry.types, first) ?? first;
  if (Object.hasOwn(MAKERS, name)) return name;
  return refuse`rope_type: expected one of ${Object.keys(MAKERS)}, got ${repr(name)}, which is not known here; ${YOURSELF}`;
}

/** The width of a head, and whether it is that of the part that turns. */
function headOf(part, share) {
  let [name, width] = part.width;
  const own = part.has("qk_rope_head_dim");
  if (
    !part.known &&
    share === 1 &&
    part.file.use_mla !== false &&
    own !== undefined &&
    aWhole("qk_rope_head_dim", own, 0)
  )
    [name, width] = ["qk_rope_head_dim", own];
  if (width !== undefined && aWhole(name, width, 0)) return [aWhole(name, width), part.ofPart];
  const [size, heads] = ["hidden_size", "num_attention_heads"].map((key) => part.get(key));
  if (size === undefined || heads === undefined)
    refuse`head_dim: expected it, or hidden_size and num_attention_heads, got neither among ${repr(Object.keys(part.file).slice(0, 5))};
      give the model's config.json, or add one`;
  const count = aWhole("num_attention_heads", heads, 1);
  return [Math.floor(aWhole("hidden_size", size) / count), false];
}

function placed(part, names) {
  const all = names.flatMap((name) => [part.rule, part.file].map((dict) => [name, at(dict, name)]));
  return all.find(([, v]) => v !== undefined) ?? [names[0]];
}
function sectionsOf(part, turning) {
  let [name, value] = placed(part, SECTIONS.slice(0, 2));
  if (value !== undefined && part.entry.own_order)
    refuse`${name}: expected planes that go to the axes in a row or in turn, got ${part.kind}, whose class has an order
      of its own; make the table and take RotaryConfig.of_axes`;
  const usual = part.entry.sections;
  if (value === undefined && usual && 2 * usual.reduce((sum, n) => sum + n, 0) === turning) value = usual;
  if (value !== undefined) return aList(name, value).map((count) => aWhole(name, count, 0));
  if (![at(part.rule, "rope_type"), at(part.rule, "type")].includes("mrope")) return null;
  return refuse`mrope_section: expected a value for rope_type 'mrope', got none; ${LOOK}`;
}

/** What is read of one kind of layer, and the part of the file that it stands in. */
function readLayer(file, layer) {
  const part = new Part(file, layer),
    name = nameOf(part.rule, part.entry);
  const [shareName, shareValue = 1] = part.share,
    share = aNumber(shareName, shareValue);
  if (share < 0 || share > 1)
    refuse`partial_rotary_factor: expected a number from 0 to 1, got ${repr(share)}; 1 turns the whole head`;
  const [head_dim, ofPart] = headOf(part, +share),
    [baseName, baseValue] = part.base;
  if (baseValue === undefined && part.known)
    refuse`${baseName}: expected the base in the rule of this kind of layer in ${part.kind}, got none; add it`;
  const asked = part.kind || Object.hasOwn(part.file, "dim"),
    base = baseValue === undefined && asked ? undefined : +above(baseName, baseValue ?? 10000),
    schedule = scheduleOf(new Settings(part, name, share), part.entry);
  let turning = name === "proportional" || ofPart ? head_dim : Math.trunc(head_dim * share);
  if (part.rotaryDim !== undefined) turning = aWhole("rotary_dim", part.rotaryDim);
  const { only = [name] } = part.entry,
    planes = Math.floor(turning / 2);
  if (only.length && !only.includes(name))
    refuse`rope_type: expected ${only.join(" or ")} in a file of ${part.kind}, got ${repr(name)}; ${YOURSELF}`;
  if (schedule.short && schedule.short.length !== planes)
    refuse`short_factor: expected one divisor for each of ${planes} planes, got ${schedule.short.length}; look at head_dim
      and partial_rotary_factor`;
  const sections = sectionsOf(part, turning);
  part.refuseWhatDisagrees({ base: [baseName, base], width: head_dim, turning, plain: name === "default" });
  const [flag, inTurn = false] = placed(part, part.known ? SECTIONS.slice(2) : [SECTIONS[2], "interleaved"]);
  const interleaved = sections !== null && (aFlag(flag, inTurn) || Boolean(part.entry.in_turn));
  return {
    part,
    found: { head_dim, base, rotary_dim: turning === head_dim ? null : turning, schedule, sections, interleaved },
  };
}

/** What `rope_settings` returns for a file, or an error with the words of its refusal. */
export const rope = (file, layer) => readLayer(file, layer ?? undefined).found;

// --- what the cloth can draw of it ---

const said = (x) => x.toLocaleString("en-US", { maximumFractionDigits: 4 });
const IN_WORDS = {
  Schedule: () => "",
  Linear: (s) => `, linear scaling by ${said(s.factor)}`,
  NTK: (s) => `, NTK scaling by ${said(s.factor)}`,
  DynamicNTK: (s) => `, dynamic NTK scaling by ${said(s.factor)} beyond a window of ${said(s.window)}`,
  Yarn: (s) =>
    `, YaRN by ${said(s.factor)} from a window of ${said(s.window)}${s.whole ? "" : ", its ramp not rounded"}`,
  Llama3: (s) => `, Llama 3's scaling by ${said(s.factor)} from a window of ${said(s.window)}`,
  LongRoPE: (s) => `, LongRoPE with one list of divisors up to ${said(s.window)} positions and another beyond`,
  Proportional: (s) =>
    `, with the exponents of the whole head${s.factor === 1 ? "" : `, divided by ${said(s.factor)}`}`,
};
/** How many coordinates turn: a share of the planes is at rest, or of the coordinates. */
const turningOf = ({ head_dim, rotary_dim, schedule: { name, share } }) =>
  name === "Proportional" ? 2 * Math.floor((share * head_dim) / 2) : (rotary_dim ?? head_dim);
function inWords(found, usual = "") {
  const { head_dim, base, schedule } = found,
    turning = turningOf(found),
    part = turning === head_dim ? "" : ` (${said(turning / 2)} of them turn)`;
  return `${said(head_dim / 2)} planes${part}, base ${said(base)}${usual}${IN_WORDS[schedule.name](schedule)}`;
}

/** The kinds of layer that a file may have rules for. */
function layersOf(file) {
  const [part, kind] = textPart(asFile(file)),
    { kinds = {}, layers = [], still = [] } = familyOf(kind) ?? {};
  const ruled = once([...RULES.flatMap((name) => types(at(part, name) ?? {})), ...Object.keys(kinds)]);
  const given = at(part, "layer_types"),
    all = ruled.length ? ruled : once([...(Array.isArray(given) ? given : []), ...layers, ...still]);
  return all.sort((a, b) => (b === "full_attention") - (a === "full_attention"));
}

/** What to say of the kinds of layer that are not shown. */
function othersOf(shown, tried) {
  const other = tried.filter(({ found }) => found && JSON.stringify(found) !== JSON.stringify(shown.found)),
    still = tried.filter(({ error }) => error?.message.includes("no positions")).map(({ layer }) => layer);
  const told = other.map(({ layer, found }) => `; ${layer} has ${inWords(found)}`).join("");
  return (
    (told && ` ${shown.layer ? `Its layers of ${shown.layer} are drawn` : "Not all layers are alike"}${told}.`) +
    (still.length ? ` Its layers of ${still.join(" and ")} do not turn.` : "")
  );
}

/** The numbers of a cloth, if they go together; a link may have any that are allowed one by one. */
export function together(own) {
  for (const name of ["head_dim", "rotary"])
    if (own[name] % 2) throw new Error(`expected an even ${name}, got ${own[name]}: planes have two coordinates`);
  if (own.rotary > own.head_dim)
    throw new Error(`expected at most head_dim = ${own.head_dim} coordinates that turn, got ${own.rotary}`);
  if (["yarn", "llama3"].includes(own.scaling) && own.low > own.high)
    throw new Error(`expected low up to high, got ${own.low} and ${own.high}: exchange them`);
  return own;
}

/** The state of the widget for a file: { settings, name, told }. Throws what it cannot read or draw, with the mend. */
export function read(file, limits) {
  const tried = [undefined, ...layersOf(file)].map((layer) => {
    try {
      return { layer, ...readLayer(file, layer) };
    } catch (error) {
      return { layer, error };
    }
  });
  const shown = tried.find((one) => one.found);
  if (!shown) throw (/layer_type/.test(tried[0].error.message) ? (tried[1] ?? tried[0]) : tried[0]).error;
  const { found, part } = shown,
    { head_dim, base, schedule: s, sections } = found;
  const windows = ["original_max_position_embeddings", "max_position_embeddings"].map(
    (key) => part.has(key) ?? part.get(key),
  );
  const settings = {
    head_dim,
    rotary: turningOf(found),
    base,
    window: s.window ?? +(windows.find(isNumber) ?? 4096),
    scaling: { Linear: "linear", NTK: "ntk", DynamicNTK: "ntk", Yarn: "yarn", Llama3: "llama3" }[s.name] ?? "none",
    factor: s.name === "LongRoPE" ? 1 : (s.factor ?? 1),
    low: s.slow ?? 1,
    high: s.fast ?? 4,
    whole: s.whole ?? true,
  };
  let more = "";
  if (s.name === "DynamicNTK") {
    const times = Math.max(s.factor, 1);
    settings.factor = s.factor * times - (s.factor - 1);
    more += ` It is drawn for a text of ${said(times * s.window)} positions.`;
  }
  if (s.name === "Proportional")
    Object.assign(settings, {
      base: base ** (settings.rotary / head_dim),
      scaling: s.factor === 1 ? "none" : "linear",
    });
  if (s.name === "LongRoPE") more += " The divisors are read and not drawn: the cloth has the frequencies before them.";
  if (s.given !== 1 && (s.given || ("given" in s && s.factor > 1 && !(s.mscale && s.mscale === s.mscale_all_dim))))
    more += " Its factor on the attention is not drawn.";
  if (sections)
    more += ` Places have ${sections.length} axes (${sections.join(", ")} planes); this is text, where all axes have one position.`;
  for (const [name, value] of Object.entries(settings)) {
    const [least, most] = limits[name] ?? [value, value];
    if (typeof value === "number" && !(value >= least && value <= most))
      throw new Error(`expected ${name} from ${said(least)} to ${said(most)} to draw it, got ${said(value)}`);
  }
  together(settings);
  const [, value, usual] = part.base,
    whose = part.known ? `the default of ${part.kind}` : "the usual one";
  const none = value === undefined || usual ? ` (the file names none; this is ${whose})` : "";
  const name = str(or(at(file, "_name_or_path"), or(at(file, "model_type"), "")))
    .split("/")
    .at(-1)
    .slice(0, 60);
  const told = `${name || "your model"}: ${inWords(found, none)}.${more}${othersOf(shown, tried.slice(1))}`;
  return { settings, name, told };
}
