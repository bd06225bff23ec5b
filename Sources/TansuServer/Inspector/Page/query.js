// Queries in Mango: what they find, and how they are run.
import { add, el, facts, field, form, longText, paragraphs, shown, table } from './dom.js';
import { databasePath, exact, part } from './api.js';
import { format, parse, summary } from './json.js';
import { databaseHead, documentLink } from './documents.js';

const EXAMPLE = '{\n  "selector": {},\n  "fields": [],\n  "limit": 25\n}';

export async function showQuery(view, page) {
  const { database, query } = page;
  const text = query.get('q') ?? EXAMPLE;
  const area = el('textarea', { rows: '8', spellcheck: 'false', autocapitalize: 'none', dir: 'ltr' });
  area.value = text;
  const go = async (action, bookmark) => {
    parse(area.value);
    const members = new URLSearchParams({ q: area.value, do: action });
    if (bookmark) members.set('bookmark', bookmark);
    const target = `#/db/${part(database)}/query?${members}`;
    if (location.hash === target) await page.reload();
    else location.hash = target.slice(1);
  };
  const result = el('section', { 'aria-label': 'Result' });
  const asking = form({}, (submitter) => go(submitter?.value ?? 'find'),
    field('Query as JSON: selector, fields, sort, limit, skip, use_index', area),
    el('div', { class: 'row' }, el('button', { value: 'find', class: 'primary' }, 'Run'), el('button', { value: 'explain' }, 'Explain')));
  area.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); asking.requestSubmit(); }
  });
  add(view, [databaseHead(database, '/query'), asking, result]);
  const action = query.get('do');
  if (action === null) return;
  const body = parse(text);
  if (!(body instanceof Map)) throw new Error('A query is a JSON object');
  // None means all of them here, so that the example can show where they go.
  if (Array.isArray(body.get('fields')) && body.get('fields').length === 0) body.delete('fields');
  if (action === 'explain') {
    showPlan(result, await exact('POST', `${databasePath(database)}/_explain`, format(body), page.signal));
    return;
  }
  if (!body.has('execution_stats')) body.set('execution_stats', true);
  if (query.has('bookmark')) body.set('bookmark', query.get('bookmark'));
  const answer = await exact('POST', `${databasePath(database)}/_find`, format(body), page.signal);
  showResult(result, database, answer, body, (bookmark) => go('find', bookmark));
}

function showResult(view, database, answer, body, next) {
  const documents = answer.get('docs');
  const statistics = answer.get('execution_stats');
  const warning = answer.get('warning');
  add(view, [
    warning && el('div', { class: 'warning' }, paragraphs(warning, 2000)),
    statistics && facts([
      ['found', count(statistics.get('results_returned'))], ['documents read', count(statistics.get('total_docs_examined'))],
      ['keys read', count(statistics.get('total_keys_examined'))],
      ['time', `${Number(statistics.get('execution_time_ms')).toFixed(1)} ms`],
    ]),
  ]);
  if (documents.length === 0) add(view, [el('p', { class: 'dim' }, 'Nothing was found.')]);
  else {
    add(view, [table(null, [['Id'], ['Document']], documents.map((document) => {
      const id = document.get('_id');
      const content = new Map(document);
      content.delete('_id');
      return el('tr', {},
        el('th', { scope: 'row', class: 'id' }, typeof id === 'string' && el('a', { href: documentLink(database, id) }, shown(id))),
        el('td', { class: 'text mono' }, el('bdi', {}, summary(content, 500))));
    }))]);
  }
  const bookmark = answer.get('bookmark');
  const isFull = documents.length > 0 && documents.length >= Number(body.get('limit') ?? 25);
  const whole = el('details', {}, el('summary', {}, 'Answer as JSON'));
  whole.addEventListener('toggle', () => whole.append(longText(format(answer))), { once: true });
  const more = el('button', { type: 'button', onclick: () => next(bookmark) }, 'Next page');
  add(view, [isFull && bookmark && bookmark !== 'nil' && el('div', { class: 'row' }, more), whole]);
}

const count = (value) => Number(value ?? 0).toLocaleString();

function showPlan(view, plan) {
  const index = plan.get('index');
  add(view, [
    index instanceof Map && facts([
      ['index', shown(String(index.get('name')))], ['type', shown(String(index.get('type')))],
      ['design document', shown(String(index.get('ddoc') ?? 'none'))],
    ]),
    longText(format(plan)),
  ]);
}