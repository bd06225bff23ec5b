// Queries and pipelines in the engine's own language, and how they are run.
import { add, el, facts, field, form, longText, shown } from './dom.js';
import { part } from './api.js';
import { command, count, number } from './commands.js';
import { collectionHead, records } from './collections.js';
import { format, parse } from './json.js';
import { planPicture } from './plan.js';

const SAMPLE = 50;
const OPERATORS = [
  '$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists', '$and', '$or', '$not', '$begin', '$regex', '$text', '$elemMatch',
  '$match', '$group', '$sort', '$project', '$unwind', '$lookup', '$limit', '$count', '$sum', '$avg', '$orderby', '$fields', '$max',
];

export async function showNativeQuery(view, page) {
  const { database: collection, query, signal } = page;
  const text = query.get('q') ?? '{}';
  const area = el('textarea', { rows: '6', spellcheck: 'false', autocapitalize: 'none', dir: 'ltr' });
  area.value = text;
  const hints = el('textarea', { rows: '2', spellcheck: 'false', autocapitalize: 'none', dir: 'ltr' });
  hints.value = query.get('h') ?? '{}';
  const asking = form({}, async (submitter) => {
    parse(area.value);
    parse(hints.value);
    const members = new URLSearchParams({ q: area.value, h: hints.value, do: submitter?.value ?? 'find' });
    const target = `#/c/${part(collection)}/query?${members}`;
    if (location.hash === target) await page.reload();
    else location.hash = target.slice(1);
  },
  field('An object is a query, an array a pipeline', area), names(collection, area, signal),
  field('Hints: $orderby, $fields, $max, $index \u2026', hints),
  el('div', { class: 'row' }, el('button', { value: 'find', class: 'primary' }, 'Run'), el('button', { value: 'explain' }, 'Explain'), el('button', { value: 'count' }, 'Count')));
  for (const one of [area, hints]) {
    one.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); asking.requestSubmit(); }
    });
  }
  const result = el('section', { 'aria-label': 'Result' });
  add(view, [collectionHead(collection, '/query'), asking, result]);
  const action = query.get('do');
  if (action === null) return;
  const wanted = parse(text);
  const given = parse(query.get('h') ?? '{}');
  if (!(given instanceof Map)) throw new Error('Hints are a JSON object');
  if (!(wanted instanceof Map) && !Array.isArray(wanted)) throw new Error('A query is a JSON object, a pipeline an array of them');
  const start = performance.now();
  if (action === 'explain') await explain(result, collection, wanted, given, signal);
  else if (action === 'count' && wanted instanceof Map) {
    const answer = await command({ op: 'count', collection, query: wanted, hints: given }, signal);
    add(result, [facts([['found', count(answer.get('count'))], ['time', time(start)]])]);
  } else {
    if (action === 'count') wanted.push(new Map([['$count', 'count']]));
    const answer = await (Array.isArray(wanted)
      ? command({ op: 'aggregate', collection, pipeline: wanted, hints: given }, signal)
      : command({ op: 'find', collection, query: wanted, hints: given }, signal));
    const documents = answer.get('documents');
    const whole = el('details', {}, el('summary', {}, 'Answer as JSON'));
    whole.addEventListener('toggle', () => whole.append(longText(format(documents))), { once: true });
    add(result, [
      facts([['documents', answer.get('complete') ? count(documents.length) : `the first ${count(documents.length)}`], ['time with the way here', time(start)]]),
      documents.length === 0 ? el('p', { class: 'dim' }, 'Nothing was found.') : records(collection, documents.slice(0, 200)),
      documents.length > 200 && el('p', { class: 'dim' }, 'The table has the first 200.'), documents.length > 0 && whole,
    ]);
  }
}

const time = (start) => `${(performance.now() - start).toFixed(0)} ms`;

async function explain(view, collection, wanted, hints, signal) {
  let plan;
  if (Array.isArray(wanted)) {
    const answer = await command({ op: 'aggregate', collection, pipeline: wanted, hints: new Map([...hints, ['$explain', true]]) }, signal);
    [plan] = answer.get('documents');
  } else plan = (await command({ op: 'explain', collection, query: wanted, hints }, signal)).get('plan');
  const whole = el('details', {}, el('summary', {}, 'Plan as JSON'));
  whole.addEventListener('toggle', () => whole.append(longText(format(plan))), { once: true });
  add(view, [planPicture(plan), whole]);
}

/** Names of fields, of some documents, and operators: each is put where the text is edited. */
function names(collection, area, signal) {
  const list = el('div', { class: 'names' });
  const insert = (name) => {
    area.setRangeText(`"${name.replace(/["\\]/g, '\\$&')}"`, area.selectionStart, area.selectionEnd, 'end');
    area.focus();
  };
  const buttons = (all) => all.map((name) => el('button', { type: 'button', class: 'name', onclick: () => insert(name) }, shown(name, 60)));
  const box = el('details', {}, el('summary', {}, 'Fields and operators'), list);
  box.addEventListener('toggle', async () => {
    const found = new Set();
    try {
      const answer = await command({ op: 'find', collection, hints: new Map([['$max', SAMPLE]]) }, signal);
      for (const document of answer.get('documents')) collect(document, '', found, 0);
    } catch (error) {
      if (error.name === 'AbortError') return;
    }
    add(list, [el('p', { class: 'dim' }, `Fields of ${SAMPLE} documents`), buttons([...found].sort().slice(0, 200)), el('p', { class: 'dim' }, 'Operators'), buttons(OPERATORS)]);
  }, { once: true });
  return box;
}

/** The paths of a document, three levels deep. */
function collect(document, prefix, found, depth) {
  for (const [name, value] of document) {
    if (name.startsWith('$')) return;
    found.add(prefix + name);
    const inner = Array.isArray(value) ? value.find((one) => one instanceof Map) : value;
    if (inner instanceof Map && depth < 2 && number(inner.size) > 0) collect(inner, `${prefix}${name}.`, found, depth + 1);
  }
}
