// The branches of a trace as nodes with their prefix and depth.

/** The root, the nodes of each level (the root has level 0), and those that end a sequence. */
export function makeTree({ branches, more, result }) {
  const spell = speller(branches, result);
  const root = { choice: "start", prefix: "", depth: 0, status: "root", below: [], more };
  const levels = [[root]];
  const finished = [];

  function grow(parent, tokens, children) {
    parent.below = children.map((branch) => {
      const path = branch.end ? tokens : [...tokens, branch.choice];
      const node = { ...branch, prefix: spell(path), depth: parent.depth + 1 };
      (levels[node.depth] ??= []).push(node);
      if (branch.end && branch.status !== "rejected") finished.push(node);
      grow(node, path, branch.below);
      return node;
    });
    parent.kept = parent.below.filter(leadsToElement);
    parent.others = parent.below.filter((node) => !leadsToElement(node));
  }
  grow(root, [], branches);
  return { root, levels, finished };
}

/** Rejected branches end at once; followed ones were explored, but hold no element of the set. */
export const leadsToElement = ({ status }) => status !== "rejected" && status !== "followed";

/** Tokens may be characters or words; the result shows how they are joined. */
function speller(branches, result) {
  const first = someSequence(branches);
  const gap = first && !result.includes(first.join("")) && first.length > 1 ? " " : "";
  return (tokens) => tokens.join(gap);
}

function someSequence(branches, tokens = []) {
  for (const branch of branches) {
    if (!leadsToElement(branch)) continue;
    if (branch.end && tokens.length > 1) return tokens;
    const longer = someSequence(branch.below, [...tokens, branch.choice]);
    if (longer) return longer;
  }
  return undefined;
}
