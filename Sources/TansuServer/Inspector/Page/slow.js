// The slow calls of the process that serves the page, as far as it lists them.
import { add, button, el, field, paragraphs, shown, table } from './dom.js';
import { exact, part } from './api.js';
import { count } from './commands.js';
import { simple } from './values.js';

export async function showSlowCalls(view, page) {
  add(view, [el('p', { class: 'crumbs' }, el('a', { href: '#/storage' }, 'Collections')), el('h1', {}, 'Slow calls')]);
  let answer;
  try {
    answer = simple(await exact('GET', '/_slow_calls', undefined, page.signal));
  } catch (error) {
    if (error.status !== 404) throw error;
    add(view, [el('p', {}, 'Slow calls are not listed: the database was opened without that.')]);
    return;
  }
  const from = Number(answer.get('slowCallMS'));
  const calls = answer.get('calls');
  const least = el('input', { type: 'number', min: from, step: 'any', value: from });
  const list = el('div');
  const show = () => {
    const found = calls.filter((one) => Number(one.get('milliseconds')) >= Number(least.value));
    list.replaceChildren(found.length === 0 ? el('p', { class: 'dim' }, calls.length === 0 ? 'No call was slow yet.' : 'No call took as long.')
      : table(null, [['Took', 'number'], ['Call'], ['Plan'], ['Documents read', 'number']], found.map(row)));
  };
  least.addEventListener('input', show);
  show();
  add(view, [
    el('p', { class: 'dim' }, `The newest ${count(answer.get('limit'))} calls that took ${from} ms or longer, made by the process that serves this page. Those of other processes are not known here.`),
    el('div', { class: 'row' }, field('At least so many ms', least), button('Refresh', () => page.reload())), list,
  ]);
}

function row(call) {
  const [kind, collection, query, pipeline, orderBy] = ['kind', 'collection', 'query', 'pipeline', 'orderby'].map((name) => call.get(name));
  const asked = query ?? pipeline;
  const time = new Date(Number(call.get('time')));
  // What is not whole cannot be asked again.
  const members = asked !== undefined && collection !== undefined && !call.has('isCut')
    && new URLSearchParams({ q: asked, h: orderBy === undefined ? '{}' : `{"$orderby": ${orderBy}}`, do: 'explain' });
  const plan = [call.get('plan'), call.get('index'), call.get('sort') && 'sort in memory'].filter(Boolean);
  return el('tr', {},
    el('td', { class: 'number', title: time.toISOString() }, `${Number(call.get('milliseconds')).toLocaleString(undefined, { maximumFractionDigits: 1 })} ms`,
      el('div', { class: 'dim' }, time.toLocaleTimeString())),
    el('td', { class: 'text' }, kind, collection && [' ', el('a', { href: `#/c/${part(collection)}` }, shown(collection, 60))],
      asked && el('div', { class: 'mono' }, shown(asked, 500), orderBy && [' $orderby ', shown(orderBy, 200)]),
      members && el('a', { class: 'explain', href: `#/c/${part(collection)}/query?${members}` }, 'Explain')),
    el('td', {}, plan.map((one) => el('div', {}, shown(one, 100))), call.has('suggestion') && el('div', { class: 'dim' }, 'would help: ', paragraphs(call.get('suggestion'), 400))),
    el('td', { class: 'number' }, count(call.get('documentsExamined'))));
}
