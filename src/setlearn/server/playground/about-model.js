// What is known of a model: in a line, and in a list.

import { make } from "./dom.js";

export function modelLine({ task, classes, rule }) {
  const what = task === "labels" ? `sets of labels, ${classes.length} of them` : "sets of sequences";
  return `Predicts ${what}. Its rule: ${rule}.`;
}

/** Facts and figures as a list of terms; nested ones are told by both names. */
export function aboutList({ facts, about, lam }) {
  const { image, ...told } = about;
  const entries = [...flat({ ...told, ...facts })];
  if (lam !== null && !("λ" in facts)) entries.push(["λ", text(lam)]);
  return entries.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]);
}

function* flat(tree, above = "") {
  for (const [name, value] of Object.entries(tree)) {
    const isTree = value !== null && typeof value === "object" && !Array.isArray(value);
    if (isTree) yield* flat(value, `${above}${name}: `);
    else yield [above + name, text(value)];
  }
}

function text(value) {
  if (Array.isArray(value)) return value.map(text).join(", ");
  return typeof value === "number" && !Number.isInteger(value) ? value.toPrecision(4) : String(value);
}
