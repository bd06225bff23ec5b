// JSON without loss. JavaScript rounds numbers beyond 2^53, writes 1.0 as 1, and moves members that look like indexes to
// the front. A document that is shown, edited and saved must not change so: objects are Maps here, and a number that
// JavaScript would write in another way stays the text that it is.

/** A number as it is written. */
export class Numeral {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
}

/** A document whose first name begins with `$` and is a name all the same, not one of a type: it is written escaped. */
export class Literal extends Map {}

/** @throws SyntaxError for what is not JSON, with the browser's words, and for a member that an object has twice. */
export function parse(text) {
  JSON.parse(text);
  return new Reader(text).value();
}

/** Reads what JSON.parse has accepted. */
class Reader {
  constructor(text) { this.text = text; this.at = 0; }

  skip() { while (' \t\n\r'.includes(this.text[this.at]) && this.at < this.text.length) this.at += 1; }

  value() {
    this.skip();
    const { text } = this;
    switch (text[this.at]) {
    case '{': return this.members();
    case '[': return this.elements();
    case '"': return this.string();
    case 't': this.at += 4; return true;
    case 'f': this.at += 5; return false;
    case 'n': this.at += 4; return null;
    default: return this.number();
    }
  }

  number() {
    const start = this.at;
    while (this.at < this.text.length && '+-.0123456789eE'.includes(this.text[this.at])) this.at += 1;
    const text = this.text.slice(start, this.at);
    return String(Number(text)) === text ? Number(text) : new Numeral(text);
  }

  string() {
    const start = this.at;
    for (;;) {
      const quote = this.text.indexOf('"', this.at + 1);
      this.at = quote;
      let slashes = 0;
      while (this.text[quote - 1 - slashes] === '\\') slashes += 1;
      if (slashes % 2 === 0) break;
    }
    this.at += 1;
    return JSON.parse(this.text.slice(start, this.at));
  }

  elements() {
    const found = [];
    this.list(']', () => found.push(this.value()));
    return found;
  }

  members() {
    let found = new Map();
    this.list('}', () => {
      this.skip();
      if (found.size === 0 && this.text.startsWith('"\\u0024', this.at)) found = new Literal();
      const name = this.string();
      this.skip();
      this.at += 1;
      // Of two members of one name a server keeps one.
      if (found.has(name)) throw new SyntaxError(`An object has the member ${quoted(name)} twice`);
      found.set(name, this.value());
    });
    return found;
  }

  list(end, element) {
    this.at += 1;
    this.skip();
    if (this.text[this.at] === end) { this.at += 1; return; }
    for (;;) {
      element();
      this.skip();
      this.at += 1;
      if (this.text[this.at - 1] === end) return;
    }
  }
}

// What is not seen, or changes the order in which its surroundings are seen: controls, marks of direction, separators,
// spaces without width, tags, halves of surrogate pairs.
const HIDDEN = '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff'
  + '\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}\\ud800-\\udfff]';
const hidden = new RegExp(HIDDEN, 'gu');

const escaped = (character) => {
  let text = '';
  for (let unit = 0; unit < character.length; unit += 1) {
    text += '\\u' + character.charCodeAt(unit).toString(16).padStart(4, '0');
  }
  return text;
};

/** A JSON string in which nothing is hidden; it stands for the same text. */
const quoted = (text) => JSON.stringify(text).replace(hidden, escaped);

/** The parts of a text: [text, is an escape that stands for what would be hidden]. */
export function visibleParts(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(hidden)) {
    if (found.index > end) parts.push([text.slice(end, found.index), false]);
    parts.push([escaped(found[0]), true]);
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push([text.slice(end), false]);
  return parts;
}

/** JSON text with a line for each member. */
export function format(value, indent = '') {
  const inner = indent + '  ';
  const lines = (open, parts, close) =>
    parts.length === 0 ? open + close : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
  if (value instanceof Map) {
    const key = (name, at) => (at === 0 && value instanceof Literal ? quoted(name).replace(/^"\$/, '"\\u0024') : quoted(name));
    return lines('{', [...value].map(([name, member], at) => `${key(name, at)}: ${format(member, inner)}`), '}');
  }
  if (Array.isArray(value)) return lines('[', value.map((element) => format(element, inner)), ']');
  if (typeof value === 'string') return quoted(value);
  return value instanceof Numeral ? value.text : JSON.stringify(value);
}

/** The beginning of the JSON text on one line. What is beyond `limit` characters is not even made. */
export function summary(value, limit = 240) {
  let text = '';
  const write = (value) => {
    if (text.length > limit) return;
    if (value instanceof Map) {
      text += '{';
      let first = true;
      for (const [name, member] of value) {
        if (text.length > limit) return;
        text += (first ? '' : ', ') + quoted(name.slice(0, limit)) + ': ';
        first = false;
        write(member);
      }
      text += '}';
    } else if (Array.isArray(value)) {
      text += '[';
      for (let index = 0; index < value.length && text.length <= limit; index += 1) {
        if (index > 0) text += ', ';
        write(value[index]);
      }
      text += ']';
    } else if (typeof value === 'string') {
      text += quoted(value.slice(0, limit));
    } else {
      text += value instanceof Numeral ? value.text : JSON.stringify(value);
    }
  };
  write(value);
  return text.length > limit ? text.slice(0, limit) + '\u2026' : text;
}