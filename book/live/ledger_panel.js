/* The whole ledger, run in the page, with a bar and a count. */
(() => {
  const live = globalThis.ropeLive;
  const { make, button } = globalThis.ropeButtons;
  const { busy } = globalThis.ropePanels;

  const { read, write } = globalThis.ropeMemory;
  const KEY = "ledger-here";

  globalThis.ropePanels.ledger = async (bar) => {
    const { claims, mark } = await live.known();
    const waiting = Object.keys(claims).filter((id) => !claims[id].why && document.getElementById(`claim-${id}`));
    // Claim -> whether it came out as it should: what has run stays when one stops, and as long as the tab.
    const isRun = ([id, ran]) => waiting.includes(id) && typeof ran === "boolean";
    const done = new Map(read(KEY, (kept) => kept.mark === mark && kept.done.every(isRun), sessionStorage)?.done);
    const meter = make("progress", { max: waiting.length });
    meter.setAttribute("aria-label", "Checks that have run");
    bar.querySelector(".live-status").before(meter);
    const show = () => {
      meter.value = done.size;
      for (const [id, good] of done) document.getElementById(`claim-${id}`).dataset.ran = good ? "yes" : "no";
    };
    const run = () =>
      busy(bar, async (tell) => {
        if (done.size === waiting.length) done.clear();
        const begin = performance.now();
        const first = done.size;
        const left = waiting.filter((id) => !done.has(id));
        const work = async (engine) => {
          for (let id = left.shift(); id; id = left.shift()) {
            const found = await live.check(id, null, done.size > first ? () => {} : tell, engine);
            done.set(id, Boolean(found.outcome && !found.failed));
            show();
            write(KEY, { mark, done: [...done] }, sessionStorage);
            if (done.size % 10 === 0 || done.size === first + 1) tell(`${done.size} of ${waiting.length}`);
          }
        };
        await live.together(work).finally(() => left.splice(0));
        const bad = [...done].filter(([, good]) => !good).map(([id]) => claims[id].id);
        const seconds = Math.round((performance.now() - begin) / 1000);
        tell(
          bad.length
            ? `${bad.length} of ${done.size} do not come out as the book says: ${bad.join(", ")}.`
            : `All ${done.size} came out as the book says, and the check of each rejected its control. It took ${seconds} seconds here.`,
        );
      });
    show();
    const old = bar.querySelector("button");
    old.replaceWith(button(old.textContent, run));
    return run();
  };
})();
