// The state of the page as the fragment of its address. Fragments never reach a server's log.

/** The state in a fragment; parts that are missing or cannot be read are left out. */
export function readFragment(fragment) {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = {};
  if (parameters.has("model")) state.model = parameters.get("model");
  const input = parsed(parameters.get("input"));
  if (input !== undefined) state.input = input;
  const known = parsed(parameters.get("known"));
  if (Array.isArray(known)) state.known = known;
  const lam = parameters.has("lam") ? Number(parameters.get("lam")) : NaN;
  if (Number.isFinite(lam)) state.rule = { lam, rho: Number(parameters.get("rho")) || 0 };
  const step = parsed(parameters.get("step"));
  if (Number.isInteger(step)) state.step = step;
  return state;
}

export function writeFragment({ model, input, known, rule, step }) {
  const parameters = new URLSearchParams({ model });
  if (input !== undefined) parameters.set("input", JSON.stringify(input));
  if (known.length) parameters.set("known", JSON.stringify(known));
  if (rule) {
    parameters.set("lam", rule.lam);
    parameters.set("rho", rule.rho);
  }
  if (step !== undefined) parameters.set("step", step);
  return `#${parameters}`;
}

function parsed(text) {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
