// JSON commands: what the engine is asked, beside the API of CouchDB.
import { exact } from './api.js';
import { Numeral, format } from './json.js';

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

/** A document with the types of its numbers, null if there is none. */
export async function readRecord(collection, id, signal) {
  const document = (await command({ op: 'get', collection, id, canonical: true }, signal)).get('document');
  return document instanceof Map ? simple(document) : null;
}

/** Numbers as plain ones where those are read as the same type. */
function simple(value) {
  if (Array.isArray(value)) return value.map(simple);
  if (!(value instanceof Map)) return value;
  if (value.size === 1) {
    const [[name, text]] = value;
    if (name === '$numberInt') return new Numeral(text);
    if (name === '$numberLong' && (BigInt(text) > 2147483647n || BigInt(text) < -2147483648n)) return new Numeral(text);
    if (name === '$numberDouble' && /^-?\d+\.\d+$/.test(text)) return new Numeral(text);
  }
  return new Map([...value].map(([name, one]) => [name, simple(one)]));
}

export const number = (value) => Number(value ?? 0);
export const count = (value) => (value === undefined || value === null ? '\u2013' : number(value).toLocaleString());
