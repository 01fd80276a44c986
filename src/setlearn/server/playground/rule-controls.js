// The switch between the model's own rule and a margin, and the sliders for λ and ρ.

import { byId } from "./dom.js";

const MOST_ON_LOG_SCALE = 12;
const LAM_TO_START_WITH = 0.5; // for rules that have none

/** `changed()` is called at every move. */
export function makeRuleControls(changed) {
  const [own, margin, lam, rho] = ["rule-own", "rule-margin", "lam", "rho"].map(byId);

  function tell() {
    byId("lam-value").textContent = Number(lam.value).toFixed(2);
    byId("rho-value").textContent = Number(rho.value).toFixed(2);
  }

  for (const slider of [lam, rho]) {
    slider.addEventListener("input", () => {
      margin.checked = true; // who moves a slider wants to see what it does
      tell();
      changed();
    });
  }
  for (const choice of [own, margin]) choice.addEventListener("change", changed);

  return {
    /** Begin with a model's λ, where it has one, and its own rule. */
    reset(model) {
      own.checked = true;
      const onLogScale = model.rule.includes("space='log'");
      const [first] = [model.lam ?? LAM_TO_START_WITH].flat(); // sequences have one a position
      lam.max = onLogScale ? Math.max(MOST_ON_LOG_SCALE, Math.ceil(first)) : 1;
      lam.step = onLogScale ? 0.1 : 0.01;
      lam.value = first;
      rho.value = 0;
      tell();
    },
    read: () => (margin.checked ? { lam: Number(lam.value), rho: Number(rho.value) } : null),
    write(rule) {
      if (!rule) return;
      margin.checked = true;
      lam.value = rule.lam;
      rho.value = rule.rho;
      tell();
    },
  };
}
