// What is known about a model: as one line, and as a list.

import { make } from "./dom.js";

/** The question that the model answers, if its author gave one; what it predicts; its rule. */
export function modelLine({ classes, facts, rule, about }) {
  const question = typeof about.question === "string" ? `${about.question} ` : "";
  const number = classes ? ` (${classes.length} labels)` : "";
  return `${question}Predicts ${facts.task}${number}. Rule: ${rule}.`;
}

/** Facts and figures as a list of terms; nested names are joined. */
export function aboutList({ facts, about, lam }) {
  const { image, question, ...others } = about; // the page shows these two elsewhere
  const entries = [...flatten({ ...others, ...facts })];
  if (lam !== null && !("λ" in facts)) entries.push(["λ", text(lam)]);
  return entries.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]);
}

function* flatten(tree, above = "") {
  for (const [name, value] of Object.entries(tree)) {
    const isTree = value !== null && typeof value === "object" && !Array.isArray(value);
    if (isTree) yield* flatten(value, `${above}${name}: `);
    else yield [above + name, text(value)];
  }
}

function text(value) {
  if (Array.isArray(value)) return value.map(text).join(", ");
  const isFraction = typeof value === "number" && !Number.isInteger(value);
  return isFraction ? value.toPrecision(4) : String(value);
}
