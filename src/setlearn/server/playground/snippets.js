// The request behind the story, as something to run elsewhere.

/** For a POSIX shell. The token itself never leaves the page: a variable stands for it. */
export function asCurl(url, request, withToken) {
  const lines = [`curl -sS ${shell(url)}`, `-H 'Content-Type: application/json'`];
  if (withToken) lines.push(`-H "Authorization: Bearer $SETLEARN_TOKEN"`);
  lines.push(`--data-raw ${shell(JSON.stringify(request))}`);
  return lines.join(" \\\n  ");
}

/** For Python's standard library alone. */
export function asPython(url, request, withToken) {
  const headers = [`"Content-Type": "application/json"`];
  if (withToken) headers.push(`"Authorization": f"Bearer {os.environ['SETLEARN_TOKEN']}"`);
  return `import json
${withToken ? "import os\n" : ""}from urllib.request import Request, urlopen

question = ${python(request)}
request = Request(
    ${python(url)},
    data=json.dumps(question).encode(),
    headers={${headers.join(", ")}},
)
with urlopen(request) as response:
    print(json.dumps(json.load(response), indent=2, ensure_ascii=False))
`;
}

function shell(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function python(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${python(one)}`);
  return `{${items.join(", ")}}`;
}
