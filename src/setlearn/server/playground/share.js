// What the page shows, as the fragment of its address. A fragment never reaches a server's log.

/** The state that a fragment tells; what it does not tell, or tells badly, is left out. */
export function readFragment(fragment) {
  const told = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = {};
  if (told.has("model")) state.model = told.get("model");
  const input = parsed(told.get("input"));
  if (input !== undefined) state.input = input;
  const known = parsed(told.get("known"));
  if (Array.isArray(known)) state.known = known;
  const lam = told.has("lam") ? Number(told.get("lam")) : NaN;
  if (Number.isFinite(lam)) state.rule = { lam, rho: Number(told.get("rho")) || 0 };
  const step = parsed(told.get("step"));
  if (Number.isInteger(step)) state.step = step;
  return state;
}

export function writeFragment({ model, input, known, rule, step }) {
  const told = new URLSearchParams({ model });
  if (input !== undefined) told.set("input", JSON.stringify(input));
  if (known.length) told.set("known", JSON.stringify(known));
  if (rule) {
    told.set("lam", rule.lam);
    told.set("rho", rule.rho);
  }
  if (step !== undefined) told.set("step", step);
  return `#${told}`;
}

function parsed(text) {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
