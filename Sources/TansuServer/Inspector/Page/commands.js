// JSON commands: what the engine is asked, beside the API of CouchDB.
import { exact } from './api.js';
import { format } from './json.js';
import { simple } from './values.js';

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

/** The member of the answer that is named as the command. */
export const told = async (op, members, signal) => (await command({ op, ...members }, signal)).get(op);

/** A document with the types of its numbers, null if there is none. */
export async function readRecord(collection, id, signal) {
  const document = (await command({ op: 'get', collection, id, canonical: true }, signal)).get('document');
  return document instanceof Map ? simple(document) : null;
}

/** A member of a document as the engine reads it. @throws What the engine says of it. */
export async function checked(member, signal) {
  const stages = [new Map([['$documents', [new Map([['$literal', member]])]]])];
  try {
    const [found] = (await command({ op: 'aggregate', pipeline: stages, canonical: true }, signal)).get('documents');
    return simple(found);
  } catch (error) {
    // What is wrong in the member, without where in this command.
    if (error.status === 400) throw new Error(error.reason.replace(/^[^:]*: | \(line \d+, column \d+\)$/g, ''));
    throw error;
  }
}

export const number = (value) => Number(value ?? 0);
export const count = (value) => (value === undefined || value === null ? '\u2013' : number(value).toLocaleString());
