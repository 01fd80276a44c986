// The scores at one node of the tree.

import { make, number } from "./dom.js";
import { leadsToElement } from "./tree-nodes.js";

const MOST_SHOWN = 50;

export function nodeScores(node) {
  const parts = [make("h3", {}, ...heading(node))];
  if (node.status !== "root") {
    parts.push(make("p", {}, `${number(node.probability)} – ${node.reason || node.status}`));
  }
  if (node.below.length) {
    const best = Math.max(...node.below.map(({ probability }) => probability)) || 1;
    const shown = node.below.slice(0, MOST_SHOWN);
    parts.push(make("ol", { className: "bars" }, ...shown.map((choice) => row(choice, best))));
    const nHidden = node.below.length - shown.length + node.more;
    const others = `… and ${nHidden} more with lower scores`;
    if (nHidden) parts.push(make("p", { className: "hint" }, others));
  }
  return make("div", {}, ...parts);
}

function heading(node) {
  const prefix = make("b", {}, node.prefix || "the empty sequence");
  if (node.status === "root") return ["First tokens"];
  if (node.end) return ["The end of ", prefix];
  return node.below.length ? ["What can follow ", prefix] : ["", prefix];
}

function row(node, best) {
  const left = make("span", { className: "left" });
  left.style.width = `${(100 * node.probability) / best}%`;
  const track = make("span", { className: "track", ariaHidden: "true" }, left);
  return make("li", { className: leadsToElement(node) ? "kept" : "refused" },
    make("span", { className: "label" }, node.end ? "■ end" : node.choice),
    track,
    make("span", { className: "score" }, number(node.probability)),
    make("span", { className: "why" }, node.reason || node.status));
}
