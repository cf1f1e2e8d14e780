/* An exercise in code, answered on its page and judged by the check of the labs. The text stays in this browser. */
(() => {
  const live = globalThis.ropeLive;
  const { make, button } = globalThis.ropeButtons;
  const { text, busy, editor } = globalThis.ropePanels;

  const { read, write: keep } = globalThis.ropeMemory;

  /** A sentence in which `code` stands between backticks. */
  const sentence = (words) =>
    make("p", {}, ...words.split("`").map((part, at) => (at % 2 ? make("code", { textContent: part }) : part)));

  function rows(found) {
    const list = make("dl", { className: "live-rows" });
    for (const [name, value] of found)
      list.append(make("dt", { textContent: name }), make("dd", {}, make("pre", { textContent: value.trimEnd() })));
    return found.length ? [list] : [];
  }

  globalThis.ropePanels.task = (bar, task) => {
    const key = task.id;
    const stub = `${text(task.querySelector(".highlight pre"))}\n`;
    const hint = task.querySelector(".task-hint");
    const mistakes = [...task.querySelectorAll(".task-mistakes > div")];
    const out = make("div", { className: "live-output", hidden: true });
    out.setAttribute("role", "status");
    const run = () =>
      busy(bar, async (tell) => {
        out.hidden = true;
        for (const one of mistakes) one.hidden = true;
        const found = await live.answer(task.id, field.value, tell);
        tell("");
        if (found.error) {
          out.replaceChildren(make("pre", { className: "live-error", textContent: found.error, tabIndex: 0 }));
          bar.dataset.verdict = "error";
        } else {
          const more = [found.hint && "A hint stands below.", found.solution && "Below it stands the solution."];
          out.replaceChildren(sentence(found.says), ...rows(found.rows), ...more.filter(Boolean).map(sentence));
          bar.dataset.verdict = found.ok ? "right" : "wrong";
          if (found.mistake >= 0) mistakes[found.mistake].hidden = false;
          if (found.hint) hint.open = true;
        }
        out.hidden = false;
      });
    const field = editor("Your answer, Python, with numpy as np", run);
    const write = (words) => {
      field.value = words;
      field.rows = Math.max(6, words.split("\n").length + 2);
      keep(key, words);
    };
    let other = stub; // what the second button puts back: nothing that was written is lost
    const again = button("Start again", () => {
      const now = field.value;
      write(other);
      other = other === stub ? now : stub;
      again.textContent = other === stub ? "Start again" : "Put my text back";
      field.focus();
    });
    field.addEventListener("input", () => {
      keep(key, field.value);
      other = stub;
      again.textContent = "Start again";
    });
    write(read(key, (words) => typeof words === "string") || stub);
    bar.querySelector("button").replaceWith(button("Check", run), again);
    bar.before(field);
    bar.after(out);
    field.focus();
    const status = bar.querySelector(".live-status");
    live.warm(task.id, (words) => {
      if (bar.dataset.state !== "runs") status.textContent = words;
    });
  };
})();
