// A document as a tree that opens and closes, with the type of each value.
import { add, el, shown } from './dom.js';

/** So many members are shown at once. */
const STEP = 100;
/** Levels that are open at first. */
const OPEN = 1;

const TYPES = {
  $oid: 'object id', $date: 'date', $numberDecimal: 'decimal', $numberLong: 'long', $numberInt: 'int', $numberDouble: 'double', $binary: 'binary',
  $uuid: 'UUID', $timestamp: 'timestamp', $regularExpression: 'regular expression', $minKey: 'least key', $maxKey: 'greatest key', $undefined: 'undefined', $symbol: 'symbol', $code: 'code',
};

/** A value of a type that JSON has not: its type and text; null for a document. */
function special(value) {
  if (!(value instanceof Map) || value.size === 0) return null;
  const [[name, inner]] = value;
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : null;
  if (type === null) return null;
  if (name === '$binary' && inner instanceof Map) return [type, String(inner.get('base64'))];
  if (inner instanceof Map) return [type, [...inner].map(([key, one]) => `${key}: ${one instanceof Map ? [...one.values()].join() : one}`).join(', ')];
  return [type, String(inner)];
}

function describe(value) {
  if (value === null) return ['null', 'null'];
  if (value === true || value === false) return ['boolean', String(value)];
  if (typeof value === 'string') return ['text', value];
  return special(value) ?? ['number', String(value)];
}

export function tree(document) {
  return el('div', { class: 'tree' }, members(document, 0));
}

function members(value, level) {
  const all = value instanceof Map ? [...value] : value.map((one, at) => [String(at), one]);
  const list = el('ul', {});
  let from = 0;
  const more = el('button', { type: 'button', onclick: () => show() });
  const show = () => {
    add(list, all.slice(from, from + STEP).map(([name, one]) => el('li', {}, member(name, one, level))));
    from += STEP;
    more.textContent = `${(all.length - from).toLocaleString()} more`;
    if (from >= all.length) more.remove();
  };
  show();
  return [list, from < all.length && more];
}

function member(name, value, level) {
  const isOpenable = (value instanceof Map && special(value) === null) || Array.isArray(value);
  if (!isOpenable) {
    const [type, text] = describe(value);
    return [el('span', { class: 'key' }, shown(name, 200)), ' ', el('span', { class: `value ${type === 'text' ? 'is-text' : ''}` }, shown(text, 2000)), ' ', type !== 'text' && el('span', { class: 'type' }, type)];
  }
  const size = value instanceof Map ? value.size : value.length;
  const kind = Array.isArray(value) ? 'array' : 'document';
  const box = el('details', { open: level < OPEN && size <= STEP }, el('summary', {}, el('span', { class: 'key' }, shown(name, 200)), ' ', el('span', { class: 'type' }, `${kind} of ${size.toLocaleString()}`)));
  // What nobody opens is not made.
  const fill = () => { if (box.open && box.childElementCount === 1) add(box, [members(value, level + 1)]); };
  box.addEventListener('toggle', fill);
  fill();
  return box;
}
