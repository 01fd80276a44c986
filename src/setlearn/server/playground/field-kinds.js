// The kinds of columns: how a value is written in a field, and read back from it.

/** For each kind, the value that a text stands for, and the text that shows a value. */
export const KINDS = {
  number: { rows: 1, mode: "decimal", read: readNumber, write: String },
  category: { rows: 1, read: (text) => text, write: String },
  text: { rows: 3, read: (text) => text, write: String },
  tokens: { rows: 2, hint: "tokens, separated by spaces", read: readTokens, write: writeTokens },
  vector: {
    rows: 4, hint: "numbers, separated by spaces or commas", read: readVector, write: writeVector,
  },
  bag: { rows: 3, hint: 'weights, as {"name": 1.5, …}', read: readBag, write: JSON.stringify },
  candidates: {
    rows: 8, hint: "one candidate per line, or a JSON list", read: readCandidates,
    write: writeCandidates,
  },
  "text or tokens": { rows: 3, read: readTextOrTokens, write: writeTextOrTokens },
};

export class FieldProblem extends Error {}

function readNumber(text) {
  if (text.trim() === "") return null;
  const value = Number(text.trim().replace(",", "."));
  if (!Number.isFinite(value)) throw new FieldProblem(`“${text.trim()}” is not a number`);
  return value;
}

function readTokens(text) {
  return text.trim().startsWith("[") ? readList(text) : splitAtSpaces(text);
}

function writeTokens(tokens) {
  const isPlain = (token) => typeof token === "string" && token !== "" && !/\s/.test(token);
  const canBeSplit = tokens.every(isPlain) && !tokens[0]?.startsWith("[");
  return canBeSplit ? tokens.join(" ") : JSON.stringify(tokens);
}

function readVector(text) {
  return splitAtSpaces(text.replace(/[[\],;]/g, " ")).map(readNumber);
}

function writeVector(numbers) {
  return numbers.join(" ");
}

function splitAtSpaces(text) {
  return text.split(/\s+/).filter(Boolean);
}

function readBag(text) {
  try {
    const bag = JSON.parse(text || "{}");
    if (bag !== null && typeof bag === "object" && !Array.isArray(bag)) return bag;
  } catch {
    // reported below
  }
  throw new FieldProblem('weights must be written as {"name": 1.5, "other": 2}');
}

function readCandidates(text) {
  if (text.trim().startsWith("[")) return readList(text);
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

function writeCandidates(candidates) {
  const isLine = (each) => typeof each === "string" && each.trim() === each && /^[^\n]+$/.test(each);
  const areLines = candidates.every(isLine) && !candidates[0]?.startsWith("[");
  return areLines ? candidates.join("\n") : JSON.stringify(candidates);
}

// A text that merely begins with a bracket is a text.
function readTextOrTokens(text) {
  try {
    return text.trim().startsWith("[") ? readList(text) : text;
  } catch {
    return text;
  }
}

function writeTextOrTokens(value) {
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

function readList(text) {
  try {
    const list = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch {
    // reported below
  }
  throw new FieldProblem('a list must be written as ["first", "second"]');
}
