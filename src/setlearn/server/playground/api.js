// Asking the server, and its problems in words.

export class ServerProblem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let token = "";

export function useToken(given) {
  token = given;
}

export const hasToken = () => token !== "";

export const listModels = () => ask("v1/models");
export const describeModel = (name) => ask(`v1/model?name=${encodeURIComponent(name)}`);
export const trace = async (request) => (await ask("v1/trace", request)).traces[0];

async function ask(path, body) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  const options = { headers };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new ServerProblem(0, "the server does not answer; is it still running?");
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  const told = answer?.error?.message ?? `the server answered with ${response.status}`;
  throw new ServerProblem(response.status, told);
}
