// How a set of labels was built: one bar per label, with what the rule looked at.

import { make, number, short, written } from "./dom.js";
import { isIn, knownButton, same } from "./set-view.js";

const BEST_SHOWN = 20;
const LONG_NAME = 40; // names of more characters get more room

/** Step 0 is the start; step k shows pick k, and the last one why the set ended there. */
export function labelSteps(trace, { toggle }) {
  const { steps, labels, known } = trace;
  const shown = shownLabels(trace);
  const scale = makeScale(trace, shown);
  const rows = shown.map((index) => makeRow(labels[index], known, toggle));
  const list = make("ol", { className: "bars" }, ...rows.map((row) => row.element));
  list.classList.toggle("with-figures", !isSequential(trace));
  list.classList.toggle("long", shown.some((index) => String(labels[index]).length > LONG_NAME));
  const element = make("div", {}, list, legend(trace));
  const nHidden = labels.length - shown.length;
  if (nHidden) {
    const text = `… and ${nHidden} more ${trace.kind}s with lower scores`;
    element.append(make("p", { className: "hint" }, text));
  }
  if (!steps.length) list.remove();

  return {
    element,
    last: steps.length,
    memory: (step) => memoryAt(trace, step),
    reason: (step) => (step === steps.length ? trace.reason : ""),
    describe: (step) => sentence(trace, step),
    figures: (step) => (step > 0 && !isSequential(trace) ? figuresText(steps[step - 1].figures) : ""),
    show(step) {
      if (!steps.length) return; // all scores are below the floor, or there is nothing to score
      const pick = steps[Math.max(0, step - 1)];
      const after = memoryAt(trace, step);
      const mark = markedScore(trace, step);
      shown.forEach((index, row) => {
        const label = labels[index];
        const isWinner = step > 0 && same(pick.winner, label);
        rows[row].draw(scale, pick.scores[index], penalty(pick, index), mark, {
          kept: isIn(after, label),
          winner: isWinner,
          refused: isWinner && !pick.kept,
        });
        rows[row].note(noteFor(trace, index, step));
      });
    },
  };
}

/** Whether the set was built pick by pick, with penalties. Other rules decide at once. */
const isSequential = ({ steps }) => steps.some(({ penalties }) => penalties !== null);

const penalty = (pick, index) => pick.penalties?.[index] ?? 0;

const rawScore = (pick, index) => pick.scores[index] + penalty(pick, index);

function memoryAt({ steps, known }, step) {
  return step > 0 ? steps[step - 1].memory : known;
}

function shownLabels({ steps, labels, known, result }) {
  const raw = labels.map((_, i) => (steps.length ? rawScore(steps[0], i) : 0));
  const order = labels.map((_, i) => i).sort((i, j) => raw[j] - raw[i] || i - j);
  const mentioned = [...known, ...result, ...steps.map((pick) => pick.winner)];
  return order.filter((index, rank) => rank < BEST_SHOWN || isIn(mentioned, labels[index]));
}

/** From scores to shares of a bar's length. Scores on a log scale are below 0. */
function makeScale({ steps }, shown) {
  const raw = shown.map((index) => (steps.length ? rawScore(steps[0], index) : 0));
  const onLogScale = raw.some((score) => score < 0);
  const penalised = steps.flatMap((pick) => shown.map((index) => pick.scores[index]));
  const least = onLogScale ? Math.min(...penalised) : 0;
  const width = Math.max(...raw, onLogScale ? -Infinity : 0) - least || 1;
  return (score) => Math.max(0, Math.min(1, (score - least) / width));
}

/**
 * The score that a new label must exceed: with penalties the best score in Z, otherwise the
 * rule's cut, if it compares the cut with the scores that the bars show.
 */
function markedScore(trace, step) {
  const pick = trace.steps[Math.max(0, step - 1)];
  if (isSequential(trace)) {
    const before = memoryAt(trace, step - 1);
    const scores = pick.scores.filter((_, index) => isIn(before, trace.labels[index]));
    return scores.length ? Math.max(...scores) : undefined;
  }
  return cutOnScores(trace, pick);
}

function cutOnScores({ labels }, { figures, scores, winner }) {
  const { cut, ...others } = figures;
  const score = scores[labels.findIndex((label) => same(label, winner))];
  const areScores = Object.values(others).every((value) => Math.abs(value - score) < 1e-9);
  return areScores ? cut : undefined;
}

/** The penalty of a label; or, once a rule without penalties has come to it, its figures. */
function noteFor(trace, index, step) {
  const pick = trace.steps[Math.max(0, step - 1)];
  const cost = penalty(pick, index);
  if (cost) return `${number(rawScore(pick, index))} − ${number(cost)}`;
  if (isSequential(trace)) return "";
  const own = trace.steps.slice(0, step).find((past) => same(past.winner, trace.labels[index]));
  return own ? figuresText(own.figures, [own.scores[index], cutOnScores(trace, own)]) : "";
}

/** Figures in words, such as "expected F1 0.873", without those that the bars show. */
function figuresText(figures, shown = []) {
  return Object.entries(figures)
    .filter(([, value]) => typeof value === "number" && !shown.includes(value))
    .map(([name, value]) => `${name} ${Number.isInteger(value) ? value : number(value)}`)
    .join(", ");
}

function makeRow(label, known, toggle) {
  const left = make("span", { className: "left" });
  const charged = make("span", { className: "charged" });
  const mark = make("span", { className: "to-exceed" });
  const track = make("span", { className: "track" }, charged, left, mark);
  track.ariaHidden = "true";
  const score = make("span", { className: "score" });
  const noteCell = make("span", { className: "note" });
  const name = make("span", { className: "label" }, knownButton(label, known, toggle));
  const element = make("li", {}, name, track, score, noteCell);

  return {
    element,
    draw(scale, penalised, cost, marked, is) {
      left.style.width = `${100 * scale(penalised)}%`;
      charged.style.width = `${100 * scale(penalised + cost)}%`;
      mark.hidden = marked === undefined;
      mark.style.left = `${100 * scale(marked ?? 0)}%`;
      score.textContent = number(penalised);
      element.className = Object.keys(is).filter((name) => is[name]).join(" ");
    },
    note(text) {
      noteCell.textContent = text;
    },
  };
}

function legend(trace) {
  const swatch = (name) => make("span", { className: `swatch ${name}` });
  if (isSequential(trace)) {
    return make("p", { className: "legend hint" },
      swatch("left"), "score  ",
      swatch("charged"), `penalty, for ${trace.kind}s in Z  `,
      swatch("to-exceed"), `score that a new ${trace.kind} must exceed`);
  }
  if (!trace.steps.length) return "";
  const parts = [swatch("left"), "score  "];
  const cut = cutOnScores(trace, trace.steps[0]);
  if (cut !== undefined) parts.push(swatch("to-exceed"), `cut ${number(cut)}`);
  return make("div", { className: "legend" }, make("p", { className: "hint" }, ...parts),
    make("p", { className: "hint" },
      `This rule decides about all ${trace.kind}s at once. The steps list those that it keeps, best ` +
      "first, then the best one that it does not keep."));
}

function sentence({ steps, known }, step) {
  if (step === 0) {
    const start = known.length ? `known: ${written(known)}` : "Z is empty";
    return steps.length ? `start: ${start}` : `start and end: ${start}`;
  }
  const { winner, kept, memory } = steps[step - 1];
  const repeats = isIn(memory, winner);
  const what = kept ? "is kept" : repeats ? "is picked again" : "is not kept";
  const ends = step === steps.length ? "; stop" : "";
  return `step ${step}: ${short(winner)} ${what}${ends}; ${written(memory)}`;
}
