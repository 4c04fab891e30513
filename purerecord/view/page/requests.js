// What the page asks of its server. Addresses are relative: the page lives below a secret path.

const TRIES = 4;

export class Refused extends Error {}

// The answer to a question, or an error in words for people.
export async function ask(path, parameters = {}, signal = undefined) {
  for (let attempt = 1; ; attempt += 1) {
    let answer;
    try {
      answer = await fetch(address(path, parameters), { signal });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not answer. Is `purerecord view` still running?");
    }
    const body = await answer.json().catch(() => ({ error: `The server's answer cannot be read (status ${answer.status}).` }));
    if (answer.ok) return body;
    if (answer.status !== 503 || attempt === TRIES) throw new Refused(body.error || `The server says ${answer.status}.`);
    await pause(200 * attempt);
  }
}

// A list gives its parameter several times; null and "" are left out.
export function address(path, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== null && one !== undefined && one !== "") query.append(name, one);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
