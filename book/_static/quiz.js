/* Brings the forms of the {quiz} directive to life. A classic script: modules do not load from file://.
   An exercise may be tried again and again. A prediction is committed to once, and only then shows the answer: on its
   form or, if the page has a box of {settled} for it, a verdict on the form and the answer in the box.
   What a reader answered stays in this browser (memory.js); nothing is sent anywhere. */
(() => {
  "use strict";
  const { read, write, brief, lasting } = globalThis.ropeMemory;
  const HINT_AFTER = 2; // wrong tries

  const NUMBER = /^([+-]?)(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)?\*?(pi)?$/;

  /** "0.5", "-3/4", "2pi/3", "1e-3", "0,5" as a number; NaN for anything else. */
  function number(text) {
    const plain = text.toLowerCase().replace(/\s+/g, "").replace(/[−–]/g, "-").replace(/π/g, "pi");
    if (/\d,\d{3}(?!\d)/.test(plain)) return NaN; // 1,000: a thousand or one? Better to ask
    const parts = plain
      .replace(",", ".")
      .split("/")
      .map((part) => {
        const [, sign, digits, pi] = part.match(NUMBER) ?? [];
        if (digits === undefined && pi === undefined) return NaN;
        return (sign === "-" ? -1 : 1) * (digits === undefined ? 1 : Number(digits)) * (pi ? Math.PI : 1);
      });
    const value = parts.length === 1 ? parts[0] : parts.length === 2 ? parts[0] / parts[1] : NaN;
    return Number.isFinite(value) ? value : NaN;
  }

  function start(form, changed) {
    const { answer, tolerance, shown } = JSON.parse(atob(form.dataset.key));
    const numeric = tolerance !== null,
      prediction = form.dataset.kind === "prediction";
    const [says, hint, fold, where] = ["says", "hint", "answer", "where"].map((n) => form.querySelector(`.quiz-${n}`));
    const box = document.querySelector(`.quiz-settled[data-form="${form.id}"]`);
    const feedback = [...form.querySelectorAll(".quiz-feedback > [data-for]")];
    const fields = [...form.querySelectorAll('input[name="answer"]')]; // a figure in the form has controls of its own
    const blank = { key: form.dataset.key, tries: 0, given: "", right: false };
    const given = () => (numeric ? fields[0].value.trim() : (fields.find((field) => field.checked)?.value ?? ""));
    const judge = (text) => (numeric ? Math.abs(number(text) - answer) <= tolerance : text === answer);
    const isAnswer = (text) =>
      brief(text) && (numeric ? !Number.isNaN(number(text)) : fields.some(({ value }) => value === text));
    const fits = ({ key, tries, given }) =>
      key === blank.key && Number.isSafeInteger(tries) && (tries > 0 ? isAnswer(given) : tries === 0 && given === "");
    const found = read(form.id, fits) ?? blank; // another key: the question has changed since
    let state = { ...blank, tries: found.tries, given: found.given, right: judge(found.given) };

    /** What there is to say about this wrong answer. Of foreseen numbers, the nearest within the tolerance. */
    function foreseen() {
      if (!state.tries || state.right) return undefined;
      if (!numeric) return feedback.find((text) => text.dataset.for === state.given);
      const gap = (text) => Math.abs(number(state.given) - Number(text.dataset.for));
      return feedback.filter((text) => gap(text) <= tolerance).sort((a, b) => gap(a) - gap(b))[0];
    }

    function verdict() {
      if (!state.tries) return "";
      if (prediction && where) return `You said ${state.given}: ${state.right ? "right." : "not right."}`;
      if (prediction) return `You said ${state.given}. The answer is ${shown}, and why stands below.`;
      if (state.right) return state.tries > 1 ? `Right, after ${state.tries} tries.` : "Right.";
      if (state.tries >= HINT_AFTER) return "Not yet. A hint stands below.";
      return foreseen() ? "Not yet." : "Not yet. Try once more.";
    }

    /** The box where the text settles it: folded until there is a prediction. */
    function settle() {
      const done = state.tries > 0;
      box.dataset.state = done ? "committed" : "open";
      box.querySelector(".settled-says").textContent = !done
        ? "You have not committed to an answer yet. "
        : state.right
          ? `You said ${state.given}, and that is right. `
          : `You said ${state.given}. `;
      box.querySelector("details").open = done;
    }

    function show() {
      const done = prediction ? state.tries > 0 : state.right;
      says.textContent = verdict();
      form.dataset.state = !state.tries ? "open" : prediction ? "committed" : state.right ? "right" : "wrong";
      if (hint) {
        hint.hidden = state.right || state.tries < HINT_AFTER;
        hint.open = !hint.hidden;
      }
      for (const text of feedback) text.hidden = text !== foreseen();
      if (fold) fold.hidden = prediction && !done;
      if (where) where.hidden = !done;
      if (box) settle();
      for (const field of fields) {
        field.disabled = prediction && done;
        field.removeAttribute("aria-invalid");
        const label = field.closest("label");
        if (label) {
          label.classList.toggle("quiz-given", prediction && done && field.value === state.given);
          label.classList.toggle("quiz-right", done && field.value === answer && (!where || state.right));
        }
      }
      form.querySelector("[type=submit]").disabled = prediction && done;
      form.querySelector("[type=reset]").hidden = !state.tries;
      form.dispatchEvent(new CustomEvent("quiz:state")); // a figure in the form waits for it
      changed();
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const now = given();
      if (!isAnswer(now)) {
        says.textContent = numeric ? "Type a number, such as 1.25, -3/4 or pi/6." : "Choose an answer first.";
        if (numeric) {
          fields[0].setAttribute("aria-invalid", "true");
          fields[0].focus();
        }
        return;
      }
      const again = state.tries > 0 && now === state.given; // the same answer once more is no new try
      state = { ...state, tries: state.tries + (again ? 0 : 1), given: now, right: judge(now) };
      write(form.id, state);
      show();
      if (fold) fold.open = state.right || prediction;
      // The button in focus has just been disabled: on to the figure that now moves, or to the answer.
      const figure = form.querySelector(".rope-hero input:is(:checked, [type=range]):not(:disabled)");
      if (prediction) (figure ?? (where ?? fold).querySelector("a, summary")).focus();
    });

    form.addEventListener("reset", () => {
      state = blank;
      write(form.id, state);
      if (fold) fold.open = false;
      show();
      fields[0].focus(); // the button in focus has just gone
      says.textContent = "Cleared.";
    });

    if (numeric) fields[0].value = state.given;
    else for (const field of fields) field.checked = field.value === state.given;
    form.querySelector(".quiz-buttons").hidden = false;
    form.querySelector(".quiz-plain").remove();
    show();
  }

  const forms = [...document.querySelectorAll("form.quiz")];
  const progress = document.createElement("p");
  progress.className = "quiz-progress";
  const count = () => {
    const done = forms.filter((form) => ["right", "committed"].includes(form.dataset.state)).length;
    progress.textContent =
      `${done} of ${forms.length} questions on this page answered. ` +
      (lasting() ? "Your answers stay in this browser." : "This browser keeps no answers: they go with this page.");
  };
  const end = document.querySelector("#exercises > :last-child");
  if (forms.length > 1) (end ?? [...document.querySelectorAll(".quiz, .task")].at(-1)).after(progress);
  forms.forEach((form) => start(form, count));

  // On paper every settled prediction is open.
  const folded = () => document.querySelectorAll('.quiz-settled[data-state="open"] details');
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...folded()].filter((fold) => !fold.open);
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
})();
