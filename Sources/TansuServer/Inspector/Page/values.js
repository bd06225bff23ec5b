// The values of documents: their types, which extended JSON writes as objects, and how one is changed.
import { Literal, Numeral, summary } from './json.js';

const TYPES = {
  $oid: 'object id', $date: 'date', $numberDecimal: 'decimal', $numberLong: 'long', $numberInt: 'int', $numberDouble: 'double', $binary: 'binary',
  $uuid: 'UUID', $timestamp: 'timestamp', $regularExpression: 'regular expression', $minKey: 'least key', $maxKey: 'greatest key', $undefined: 'undefined', $symbol: 'symbol', $code: 'code', $scope: 'code', $dbPointer: 'pointer',
};

/** The type that an object of extended JSON stands for; null for a document. */
function specialType(value) {
  if (!(value instanceof Map) || value instanceof Literal || value.size === 0) return null;
  const [name] = value.keys();
  return Object.hasOwn(TYPES, name) ? TYPES[name] : null;
}

/** Whether a value has members. In plain JSON every object has. */
export const isBranch = (value, isExtended) => Array.isArray(value) || (value instanceof Map && !(isExtended && specialType(value) !== null));

/** Type and text of a value that has no members. */
export function describe(value, isExtended) {
  if (value === null) return ['null', 'null'];
  if (value === true || value === false) return ['boolean', String(value)];
  if (typeof value === 'string') return ['text', value];
  if (!(value instanceof Map)) return [isExtended ? numberType(value) : 'number', String(value)];
  const [[name, inner]] = value;
  const type = specialType(value);
  if (name === '$binary' && inner instanceof Map) return [type, String(inner.get('base64'))];
  if (inner instanceof Map) return [type, [...inner].map(([key, one]) => `${key}: ${one instanceof Map ? [...one.values()].join() : one}`).join(', ')];
  return [type, String(inner)];
}

/** The type as which the engine reads a number. */
function numberType(value) {
  const text = String(value);
  if (!/^-?\d+$/.test(text)) return 'double';
  const number = BigInt(text);
  if (number >= -2147483648n && number <= 2147483647n) return 'int';
  return number >= -9223372036854775808n && number <= 9223372036854775807n ? 'long' : 'double';
}

/** Canonical values as the shorter ones that are read as the same. */
export function simple(value) {
  if (Array.isArray(value)) return value.map(simple);
  if (!(value instanceof Map)) return value;
  if (value.size === 1 && !(value instanceof Literal)) {
    const [[name, text]] = value;
    if (name === '$numberInt') return new Numeral(text);
    if (name === '$numberLong' && numberType(text) === 'long') return new Numeral(text);
    if (name === '$numberDouble' && /^-?\d+\.\d+$/.test(text)) return new Numeral(text);
    if (name === '$date' && text instanceof Map) {
      const time = Number(text.get('$numberLong'));
      // The years that extended JSON writes as text.
      if (time >= 0 && time < 253402300800000) return new Map([['$date', new Date(time).toISOString().replace('.000Z', 'Z')]]);
    }
  }
  return new value.constructor([...value].map(([name, one]) => [name, simple(one)]));
}

/** A value as text for a field: numbers as such, whatever their type. */
export function fieldText(value) {
  if (specialType(value) === 'long') return String([...value.values()][0]);
  return value instanceof Numeral ? value.text : summary(value, Infinity);
}

/** What was written in place of a value: a plain number is one of the former type, where that can be. */
export function kept(former, written) {
  const isPlain = typeof written === 'number' || written instanceof Numeral;
  if (!isPlain || former instanceof Literal) return written;
  const text = String(written);
  const type = former instanceof Map ? specialType(former) : typeof former === 'number' || former instanceof Numeral ? numberType(former) : null;
  if (type === 'decimal') return new Map([['$numberDecimal', text]]);
  if (!/^-?\d+$/.test(text)) return written;
  if (type === 'long') return new Map([['$numberLong', text]]);
  return type === 'double' ? new Numeral(`${text}.0`) : written;
}

/** The members of a document or an array as [name, value]. */
export const members = (branch) => (branch instanceof Map ? [...branch] : branch.map((one, at) => [String(at), one]));

/** A branch of the same kind with other members. A name is never one of a type: those are values without members. */
function made(like, list) {
  if (Array.isArray(like)) return list.map(([, one]) => one);
  return list.length > 0 && Object.hasOwn(TYPES, list[0][0]) ? new Literal(list) : new Map(list);
}

/** The value at a path, which has the positions of members. */
export const valueAt = (branch, path) => path.reduce((value, at) => members(value)[at][1], branch);

/** The branch after `change` of the list of the members at a path. `was` gets each branch on the way, and what it has become. */
export function changed(branch, path, change, was = () => {}) {
  const list = members(branch);
  if (path.length === 0) change(list);
  else list[path[0]] = [list[path[0]][0], changed(list[path[0]][1], path.slice(1), change, was)];
  const result = made(branch, list);
  was(branch, result);
  return result;
}
