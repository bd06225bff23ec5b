// JSON commands: what the engine is asked, beside the API of CouchDB.
import { exact } from './api.js';
import { format } from './json.js';

/** An answer of the engine that is an error. */
export class Refusal extends Error {
  constructor(error) {
    const path = error.get('path');
    super(`${error.get('code')}: ${error.get('message')}${path ? ` (${path})` : ''}`);
  }
}

/** Runs a command; its members are plain values, Maps and arrays. Objects of the answer are Maps. */
export async function command(members, signal) {
  const answer = await exact('POST', '/_command', format(new Map(Object.entries(members).filter(([, value]) => value !== undefined))), signal);
  if (answer.get('ok') !== true) throw new Refusal(answer.get('error'));
  return answer;
}

export const number = (value) => Number(value ?? 0);
export const count = (value) => (value === undefined || value === null ? '\u2013' : number(value).toLocaleString());
