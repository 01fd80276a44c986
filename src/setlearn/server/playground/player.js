// Going through steps with buttons and keys: forward, back, play.

import { byId } from "./dom.js";

const SECONDS_PER_STEP = 1.1;

/** `show(step)` is called for each step to show. */
export function makePlayer(show) {
  let step = 0;
  let last = 0;
  let ticking;

  function go(target) {
    step = Math.max(0, Math.min(last, target));
    byId("where").textContent = `step ${step} of ${last}`;
    for (const id of ["first", "back"]) setDisabled(byId(id), step === 0);
    for (const id of ["step", "last"]) setDisabled(byId(id), step === last);
    show(step);
  }

  function pause() {
    clearInterval(ticking);
    ticking = undefined;
    byId("play").textContent = "Play";
    byId("play").ariaPressed = "false";
  }

  function play() {
    if (ticking !== undefined) return pause();
    if (step === last) go(0);
    byId("play").textContent = "Pause";
    byId("play").ariaPressed = "true";
    ticking = setInterval(() => {
      go(step + 1);
      if (step === last) pause();
    }, 1000 * SECONDS_PER_STEP);
  }

  const by = (move) => () => {
    pause();
    go(move());
  };
  const back = by(() => step - 1);
  const forward = by(() => step + 1);
  byId("first").addEventListener("click", by(() => 0));
  byId("back").addEventListener("click", back);
  byId("play").addEventListener("click", play);
  byId("step").addEventListener("click", forward);
  byId("last").addEventListener("click", by(() => last));
  document.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: back, ArrowRight: forward, " ": play }[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey || isTaken(event)) return;
    event.preventDefault();
    move();
  });

  return {
    /** Take other steps, and show one of them; by default the last. */
    load(lastStep, at = lastStep) {
      pause();
      last = lastStep;
      go(at);
    },
  };
}

// A disabled button would lose the focus, and keyboard users their place.
function setDisabled(button, disabled) {
  button.ariaDisabled = String(disabled);
}

function isTaken({ key, target }) {
  const fields = "input, textarea, select, dialog";
  return target.closest(key === " " ? `${fields}, button, summary, a` : fields) !== null;
}
