// The story of a set of labels: a bar a label, with what its score has been charged.

import { make, number, written } from "./dom.js";
import { isIn, knownButton, same } from "./set-view.js";

const BEST_SHOWN = 20;

/** Step 0 is the start; step k shows pick k, and the last one why it ended there. */
export function labelStory(trace, { toggle }) {
  const { steps, labels, known } = trace;
  const shown = shownLabels(trace);
  const scale = scaleOf(trace, shown);
  const rows = shown.map((index) => makeRow(labels[index], known, toggle));
  const list = make("ol", { className: "bars" }, ...rows.map((row) => row.element));
  const element = make("div", {}, list, legend(steps));
  const hidden = labels.length - shown.length;
  if (hidden) {
    const told = `… and ${hidden} more labels with lower scores`;
    element.append(make("p", { className: "hint" }, told));
  }
  if (!steps.length) list.remove();

  return {
    element,
    last: steps.length,
    memory: (step) => memoryAt(trace, step),
    reason: (step) => (step === steps.length ? trace.reason : ""),
    tell: (step) => sentence(trace, step),
    show(step) {
      const pick = steps[Math.max(0, step - 1)];
      const before = memoryAt(trace, step - 1);
      const after = memoryAt(trace, step);
      const toBeat = bar(trace, pick, before);
      shown.forEach((index, row) => {
        const label = labels[index];
        rows[row].draw(scale, pick.scores[index], pick.penalties[index], toBeat, {
          kept: isIn(after, label),
          winner: step > 0 && same(pick.winner, label),
          refused: step > 0 && !pick.kept && same(pick.winner, label),
        });
      });
    },
  };
}

function memoryAt({ steps, known }, step) {
  return step > 0 ? steps[step - 1].memory : known;
}

function shownLabels({ steps, labels, known, result }) {
  const raw = steps.length ? labels.map((_, i) => rawScore(steps[0], i)) : labels.map(() => 0);
  const order = labels.map((_, i) => i).sort((i, j) => raw[j] - raw[i] || i - j);
  const told = [...known, ...result, ...steps.map((pick) => pick.winner)];
  return order.filter((index, rank) => rank < BEST_SHOWN || isIn(told, labels[index]));
}

const rawScore = (pick, index) => pick.scores[index] + pick.penalties[index];

/** From scores to shares of a bar's length. Those on a log scale lie below 0, and fall further. */
function scaleOf({ steps }, shown) {
  const raw = shown.map((index) => (steps.length ? rawScore(steps[0], index) : 0));
  const onLogScale = raw.some((score) => score < 0);
  const fallen = steps.flatMap((pick) => shown.map((index) => pick.scores[index]));
  const least = onLogScale ? Math.min(...fallen) : 0;
  const width = Math.max(...raw, onLogScale ? -Infinity : 0) - least || 1;
  return (score) => Math.max(0, Math.min(1, (score - least) / width));
}

/** The best score in the memory: a new label has to be above it, or the story ends. */
function bar({ labels }, pick, memory) {
  if (!pick.penalties.some((penalty) => penalty > 0)) return undefined;
  const scores = pick.scores.filter((_, index) => isIn(memory, labels[index]));
  return scores.length ? Math.max(...scores) : undefined;
}

function makeRow(label, known, toggle) {
  const left = make("span", { className: "left" });
  const charged = make("span", { className: "charged" });
  const mark = make("span", { className: "to-beat" });
  const track = make("span", { className: "track" }, charged, left, mark);
  track.ariaHidden = "true";
  const score = make("span", { className: "score" });
  const penalty = make("span", { className: "penalty" });
  const name = make("span", { className: "label" }, knownButton(label, known, toggle));
  const element = make("li", {}, name, track, score, penalty);

  function draw(scale, penalised, cost, toBeat, is) {
    const raw = scale(penalised + cost);
    left.style.width = `${100 * scale(penalised)}%`;
    charged.style.width = `${100 * raw}%`;
    mark.hidden = toBeat === undefined;
    mark.style.left = `${100 * scale(toBeat ?? 0)}%`;
    score.textContent = number(penalised);
    penalty.textContent = cost ? `${number(penalised + cost)} − ${number(cost)}` : "";
    element.className = Object.keys(is).filter((name) => is[name]).join(" ");
  }
  return { element, draw };
}

function legend(steps) {
  if (!steps.some((pick) => pick.penalties.some((penalty) => penalty > 0))) return "";
  return make("p", { className: "legend hint" },
    make("span", { className: "swatch left" }), "score  ",
    make("span", { className: "swatch charged" }), "charged, for it is in Z  ",
    make("span", { className: "swatch to-beat" }), "what a new label has to beat");
}

function sentence({ steps, known }, step) {
  if (step === 0) {
    const start = known.length ? `known: Z = ${written(known)}` : "Z is empty";
    return steps.length ? `start: ${start}` : `start and end: ${start}`;
  }
  const { winner, kept, memory } = steps[step - 1];
  const repeats = isIn(memory, winner);
  const what = kept ? "is kept" : repeats ? "wins again" : "is not kept";
  const ends = step === steps.length ? "; stop" : "";
  return `step ${step}: ${String(winner)} ${what}${ends}; Z = ${written(memory)}`;
}
