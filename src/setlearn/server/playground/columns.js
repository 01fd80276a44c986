// How the kinds of columns are written into a field, and read back.

/** Each kind: the value that a text stands for, and the text that a value is shown as. */
export const KINDS = {
  number: { rows: 1, mode: "decimal", read: readNumber, write: String },
  category: { rows: 1, read: (text) => text, write: String },
  text: { rows: 3, read: (text) => text, write: String },
  tokens: { rows: 2, hint: "tokens, with spaces between", read: readTokens, write: writeTokens },
  vector: { rows: 4, hint: "numbers, with spaces or commas", read: readVector, write: writeVector },
  bag: { rows: 3, hint: 'weights, as {"name": 1.5, …}', read: readBag, write: JSON.stringify },
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
  return text.trim().startsWith("[") ? listOf(text) : words(text);
}

function writeTokens(tokens) {
  const plain = tokens.every((one) => typeof one === "string" && one !== "" && !/\s/.test(one));
  return plain && !tokens[0]?.startsWith("[") ? tokens.join(" ") : JSON.stringify(tokens);
}

function readVector(text) {
  return words(text.replace(/[[\],;]/g, " ")).map(readNumber);
}

function writeVector(numbers) {
  return numbers.join(" ");
}

function words(text) {
  return text.split(/\s+/).filter(Boolean);
}

function readBag(text) {
  try {
    const bag = JSON.parse(text || "{}");
    if (bag !== null && typeof bag === "object" && !Array.isArray(bag)) return bag;
  } catch {
    // said below
  }
  throw new FieldProblem('this is no bag of weights; write it as {"name": 1.5, "other": 2}');
}

// A text that merely begins with a bracket is a text.
function readTextOrTokens(text) {
  try {
    return text.trim().startsWith("[") ? listOf(text) : text;
  } catch {
    return text;
  }
}

function writeTextOrTokens(value) {
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

function listOf(text) {
  try {
    const list = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch {
    // said below
  }
  throw new FieldProblem('this is no list; write it as ["one", "two"]');
}
