// The switch between the model's own rule and a margin, and the sliders for λ and ρ.

import { byId } from "./dom.js";

const MOST_ON_LOG_SCALE = 12;
const DEFAULT_LAM = 0.5; // for rules without λ

/** `changed()` is called whenever the rule changes. */
export function makeRuleControls(changed) {
  const [own, margin, lam, rho] = ["rule-own", "rule-margin", "lam", "rho"].map(byId);

  function showValues() {
    byId("lam-value").textContent = Number(lam.value).toFixed(2);
    byId("rho-value").textContent = Number(rho.value).toFixed(2);
  }

  for (const slider of [lam, rho]) {
    slider.addEventListener("input", () => {
      margin.checked = true; // moving a slider switches to the margin
      showValues();
      changed();
    });
  }
  for (const choice of [own, margin]) choice.addEventListener("change", changed);

  return {
    /** Start with the model's own rule, and with its λ if it has one. */
    reset({ lam: learned, lam_space: space }) {
      own.checked = true;
      const onLogScale = space === "log";
      const [first] = [learned ?? DEFAULT_LAM].flat(); // sequences have one λ per position
      lam.max = onLogScale ? Math.max(MOST_ON_LOG_SCALE, Math.ceil(first)) : 1;
      lam.step = onLogScale ? 0.1 : 0.01;
      lam.value = first;
      rho.value = 0;
      showValues();
      byId("rule-hint").textContent = learned === null
        ? "This model’s rule has no λ. The sliders show the answer under a margin instead."
        : "This model’s rule is a margin. The sliders change its λ and ρ.";
    },
    read: () => (margin.checked ? { lam: Number(lam.value), rho: Number(rho.value) } : null),
    write(rule) {
      if (!rule) return;
      margin.checked = true;
      lam.value = rule.lam;
      rho.value = rule.rho;
      showValues();
    },
  };
}
