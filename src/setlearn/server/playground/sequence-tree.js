// How a set of sequences was built: a tree that grows level by level.

import { listed, make, number } from "./dom.js";
import { nodeScores } from "./node-scores.js";
import { leadsToElement, makeTree } from "./tree-nodes.js";

const NEAR_MISS = 0.05; // other choices above it are shown from the start
const MOST_NEAR = 2;
const MOST_OTHERS = 30;

/** Step k shows the first k levels; at the last level all sequences have ended. */
export function sequenceSteps(trace, { known }) {
  const { root, levels, finished } = makeTree(trace);
  const depth = levels.length - 1;
  const appears = levels.map(() => []); // the elements of each level
  const scores = make("div", { className: "node-scores" });
  let selected;

  function select(node, chip) {
    selected?.removeAttribute("aria-current");
    chip.setAttribute("aria-current", "true");
    selected = chip;
    scores.replaceChildren(nodeScores(node));
  }

  const top = make("ul", { className: "tree" }, branch(root, appears, select));
  const frame = { className: "scroller", tabIndex: 0, role: "group", ariaLabel: "The tree" };
  const scroller = make("div", frame, top);
  const hint = make("p", { className: "hint" },
    "Click a node to see its scores, or +n to see the best of n other choices.");
  select(root, top.querySelector(".node"));
  const whole = [...new Set([...known, ...trace.result])]; // what is known comes first
  const endedBy = (step) => finished.filter((node) => node.depth <= step).map(spelled);

  return {
    element: make("div", {}, scroller, hint, scores),
    last: depth,
    memory: (step) => (step === depth ? whole : endedBy(step)),
    reason: (step) => (step === depth ? ending(trace, finished.length) : ""),
    describe: (step) => sentence(levels, finished, step),
    figures: () => "", // each node shows its own
    show(step) {
      appears.forEach((elements, level) => {
        for (const element of elements) element.hidden = level > step;
      });
    },
  };
}

/** A node with everything below it; `appears` collects the elements of each level. */
function branch(node, appears, select) {
  const chip = makeChip(node);
  chip.addEventListener("click", () => select(node, chip));
  const element = make("li", { className: node.status }, make("div", { className: "row" }, chip));
  appears[node.depth].push(element);
  if (!leadsToElement(node)) {
    const why = node.reason || "followed, but nothing below is in the set";
    element.firstChild.append(make("span", { className: "why" }, why));
  }
  if (!node.below.length) return element;

  const near = node.others.filter(({ probability }) => probability >= NEAR_MISS).slice(0, MOST_NEAR);
  const far = node.others.filter((choice) => !near.includes(choice));
  const shown = [...node.kept, ...near];
  const below = make("ul", {}, ...shown.map((child) => branch(child, appears, select)));
  element.append(below);
  if (far.length) {
    const more = moreButton(node, far, below, appears, select);
    appears[node.depth + 1].push(more);
    element.firstChild.append(more);
  }
  return element;
}

function makeChip(node) {
  const end = node.end ? " end" : "";
  const chip = make("button", { type: "button", className: `node${end}` },
    make("span", { className: "token" }, node.end ? "■ end" : node.choice));
  if (node.status !== "root") {
    chip.append(make("span", { className: "probability" }, number(node.probability)));
    chip.ariaLabel = `${node.choice}, ${number(node.probability)}, ${node.status}`;
  }
  return chip;
}

/** Less probable other choices are drawn only on request; the trace has the best of them. */
function moreButton(node, far, below, appears, select) {
  const nOthers = far.length + node.more;
  const button = make("button", { type: "button", className: "more" }, `+${nOthers}`);
  button.ariaExpanded = "false";
  button.ariaLabel = `${nOthers} more choices that were not kept`;
  let items;
  button.addEventListener("click", () => {
    items ??= far.slice(0, MOST_OTHERS).map((node) => branch(node, appears, select));
    const opens = button.ariaExpanded === "false";
    button.ariaExpanded = String(opens);
    button.textContent = opens ? "−" : `+${nOthers}`;
    if (opens) below.append(...items);
    else items.forEach((item) => item.remove());
  });
  return button;
}

function sentence(levels, finished, step) {
  if (step === 0) return "start: nothing is chosen yet";
  const nGrowing = count(levels[step], (node) => node.below.length > 0);
  const nCutOff = count(levels[step], (node) => node.status === "truncated");
  const ended = finished.filter((node) => node.depth === step).map(spelled);
  const parts = [];
  if (nGrowing) parts.push(`${nGrowing} ${nGrowing === 1 ? "branch grows" : "branches grow"}`);
  if (nCutOff) parts.push(`${nCutOff} cut off`);
  if (ended.length) parts.push(`${listed(ended)} ${ended.length === 1 ? "ends" : "end"} here`);
  if (step === levels.length - 1) parts.push("stop");
  return `step ${step}: ${parts.join("; ")}`;
}

const spelled = (node) => node.prefix || "(empty)";
const count = (nodes, holds) => nodes.filter(holds).length;

function ending({ truncated }, nFinished) {
  if (truncated) return "a limit of the model cut the search off, so sequences may be missing";
  if (nFinished === 0) return "the rule kept no branch to its end";
  return "every branch has ended";
}
