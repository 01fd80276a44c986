// What is known of a model: in a line, and in a list.

import { make } from "./dom.js";

/** What it answers, if whoever saved it told a question; what it predicts, and by which rule. */
export function modelLine({ task, classes, rule, about }) {
  const question = typeof about.question === "string" ? `${about.question} ` : "";
  const labels = () => `sets of labels, ${classes.length} of them`;
  const what = task === "labels" ? labels() : "sets of sequences";
  return `${question}Predicts ${what}. Its rule: ${rule}.`;
}

/** Facts and figures as a list of terms; nested ones are told by both names. */
export function aboutList({ facts, about, lam }) {
  const { image, question, ...told } = about; // which are shown elsewhere
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
  const isFraction = typeof value === "number" && !Number.isInteger(value);
  return isFraction ? value.toPrecision(4) : String(value);
}
