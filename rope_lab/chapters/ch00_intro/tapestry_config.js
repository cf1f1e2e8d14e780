// What a model's config.json says about its rotation, in the words of the widget `tapestry`.

const KINDS = {
  default: "none",
  mrope: "none",
  linear: "linear",
  ntk: "ntk",
  dynamic: "ntk",
  yarn: "yarn",
  llama3: "llama3",
};

/** The rules of rotation: of transformers 5 (rope_parameters, maybe one for each kind of layer), or of earlier files. */
function rulesOf(config) {
  const given = config.rope_parameters ?? config.rope_scaling ?? {};
  return given.full_attention ?? given.main ?? given;
}

/** The numbers of a configuration: { settings, name, told }. Throws what it cannot read, with the mend. */
export function read(file, limits) {
  const config = { ...file, ...file.text_config },
    rules = rulesOf(config);
  const first = (...values) => values.find((value) => typeof value === "number");
  const heads = first(config.num_attention_heads, config.n_head),
    width = first(config.hidden_size, config.n_embd);
  const head_dim = first(config.qk_rope_head_dim, config.head_dim, config.n_rot, width / heads);
  if (!Number.isInteger(head_dim))
    throw new Error(
      "expected head_dim, or hidden_size and num_attention_heads; got neither. Is it a model's config.json?",
    );
  const share = first(rules.partial_rotary_factor, config.partial_rotary_factor, config.rotary_pct, 1);
  const rotary = first(config.rotary_dim, 2 * Math.floor((head_dim * share) / 2));
  const kind = rules.rope_type ?? rules.type ?? "default",
    scaling = KINDS[kind];
  if (!scaling)
    throw new Error(
      `expected one of ${Object.keys(KINDS).join(", ")} as rope_type, got ${kind}, which is not drawn here`,
    );
  const base = first(rules.rope_theta, config.rope_theta, config.rotary_emb_base, config.rope_base);
  const longest = first(config.max_position_embeddings, config.n_positions, config.n_ctx, 4096);
  const s = first(rules.factor, 1);
  const settings = {
    head_dim,
    rotary,
    base: base ?? 10000,
    window: first(rules.original_max_position_embeddings, config.original_max_position_embeddings, longest),
    scaling,
    factor: kind === "dynamic" ? s * s - s + 1 : s, // as it is for a text s times as long as the window
    low: first(scaling === "yarn" ? rules.beta_slow : rules.low_freq_factor, 1),
    high: first(scaling === "yarn" ? rules.beta_fast : rules.high_freq_factor, scaling === "yarn" ? 32 : 4),
  };
  for (const [name, value] of Object.entries(settings)) {
    const [least, most] = limits[name] ?? [value, value];
    if (typeof value === "number" && !(value >= least && value <= most))
      throw new Error(`expected ${name} from ${least} to ${most}, got ${value}`);
  }
  for (const name of ["head_dim", "rotary"])
    if (settings[name] % 2)
      throw new Error(`expected an even ${name}, got ${settings[name]}: planes have two coordinates`);
  if (rotary > head_dim)
    throw new Error(`expected at most head_dim = ${head_dim} coordinates that turn, got ${rotary}`);
  const name = String(config._name_or_path || config.model_type || "")
    .split("/")
    .at(-1);
  const told = `${name || "your model"}: ${head_dim / 2} planes, base ${settings.base.toLocaleString("en-US")}`;
  return { settings, name, told: base ? `${told}.` : `${told} (the file names none; this is the usual one).` };
}
