// A plan as a picture: what is read, from which index and between which bounds, and what happens to it, from the bottom up.
import { el, facts, shown } from './dom.js';
import { count, number } from './commands.js';
import { summary } from './json.js';

const KINDS = {
  none: 'Nothing can match', scan: 'Scan of the collection', index: 'Index', union: 'Union of indexes', intersection: 'Intersection of indexes', text: 'Index of words',
};

/** The picture of what `$explain` says of a query or a pipeline. */
export function planPicture(plan) {
  if (plan.has('stages')) return pipeline(plan);
  return el('div', { class: 'plan' }, queryBoxes(plan));
}

function box(title, entries, ...children) {
  const given = entries.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return el('div', { class: 'box' }, el('strong', {}, title), given.length > 0 && facts(given), children);
}

/** Boxes from the result down to what is read. */
function queryBoxes(explained) {
  const plan = explained.get('plan');
  const chosen = (explained.get('candidates') ?? []).find((one) => one.get('chosen') === true);
  const read = number(explained.get('documentsExamined'));
  const boxes = [box('Result', [['documents', count(explained.get('returned'))], ['time', `${number(explained.get('milliseconds')).toFixed(2)} ms`]])];
  if (plan.get('sort') === 'memory') boxes.push(box('Sort in memory', []));
  if (plan.get('exact') === false) boxes.push(box('Test of each document', [['read', count(read)], ['kept', count(explained.get('returned'))]]));
  else if (read > 0) boxes.push(box('Documents', [['read', count(read)]]));
  boxes.push(access(plan, explained, chosen));
  const others = (explained.get('candidates') ?? []).filter((one) => one.get('chosen') !== true);
  return [
    el('ol', { class: 'steps', 'aria-label': 'Plan, the result first' }, boxes.map((one) => el('li', {}, one))),
    explained.has('suggestion') && el('p', { class: 'warning' }, 'An index on ', el('code', {}, summary(explained.get('suggestion'))), ' would serve this query.'),
    others.length > 0 && el('p', { class: 'dim' }, 'Not chosen: ', others.map((one, at) => [
      at > 0 && ', ', one.get('kind') === 'scan' ? 'a scan' : shown(String(one.get('index') ?? one.get('kind'))), ` (cost ${Math.round(number(one.get('cost'))).toLocaleString()})`]), '.'),
    (explained.get('subqueries') ?? []).map((one) => el('div', { class: 'box' },
      el('strong', {}, 'Before it: subquery of ', shown(String(one.get('collection')))), facts([['path', shown(String(one.get('path')))], ['values', count(one.get('values'))]]),
      one.get('plan') instanceof Map && one.has('keysExamined') && queryBoxes(one))),
  ];
}

/** What is read, with its bounds. */
function access(plan, explained, chosen) {
  const kind = plan.get('kind');
  const estimated = chosen && kind !== 'scan' ? [['estimated entries', count(chosen.get('keys'))]] : [];
  const cost = chosen ? [['cost', Math.round(number(chosen.get('cost'))).toLocaleString()]] : [];
  const title = plan.has('index') && kind === 'index' ? ['Index ', shown(plan.get('index'))] : (KINDS[kind] ?? kind);
  const covered = plan.has('covered') ? [['covers the query', 'no document is read']] : [];
  return box(title, [
    ...(kind === 'scan' || kind === 'none' ? [] : [['entries read', count(explained.get('keysExamined'))]]), ...estimated, ...cost, ...covered,
    ['direction', plan.get('direction') === 'backward' ? 'backward' : ''], ['merged streams', plan.get('merged') && count(plan.get('merged'))],
  ], bounds(plan), plan.get('intersected') instanceof Map && box(['with index ', shown(String(plan.get('intersected').get('index')))], [], bounds(plan.get('intersected'))),
  plan.get('search') instanceof Map && el('p', { class: 'mono' }, el('bdi', {}, summary(plan.get('search'), 600))));
}

/** The ranges of each path. */
function bounds(access) {
  const ranges = access.get('ranges');
  if (!(ranges instanceof Map) || ranges.size === 0) return null;
  return el('ul', { class: 'bounds' }, [...ranges].map(([path, list]) => el('li', {}, shown(path, 100), ': ',
    list.slice(0, 6).map((one, at) => [at > 0 && ' or ', el('code', {}, el('bdi', {}, summary(one, 120)))]), list.length > 6 && ` or ${count(list.length - 6)} more`)));
}

/** The stages of a pipeline, each below the one that takes its documents. */
function pipeline(plan) {
  const stages = plan.get('stages').filter((one) => one.get('by') !== 'query').reverse();
  const byQuery = plan.get('stages').filter((one) => one.get('by') === 'query').map((one) => one.get('stage'));
  return el('div', { class: 'plan' },
    facts([['time', `${number(plan.get('milliseconds')).toFixed(2)} ms`], ['written to the disk meanwhile', number(plan.get('spilledBytes')) > 0 ? count(plan.get('spilledBytes')) : 'nothing']]),
    el('ol', { class: 'steps', 'aria-label': 'Stages, the last one first' }, stages.map((one) => el('li', {}, box(shown(String(one.get('stage'))), [
      ['documents', count(one.get('returned'))], ['own time', one.has('milliseconds') ? `${number(one.get('milliseconds')).toFixed(2)} ms` : ''],
      ['memory', one.has('bytes') ? count(one.get('bytes')) : ''], ['from', one.has('from') ? shown(String(one.get('from'))) : '']])))),
    plan.get('plan') instanceof Map && el('section', {}, byQuery.length > 0 && el('p', { class: 'dim' }, 'Done by the query: ', byQuery.join(', ')), queryBoxes(plan.get('plan'))));
}
