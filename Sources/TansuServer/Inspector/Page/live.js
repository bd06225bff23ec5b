// The changes of collections as they are committed, by whichever process.
import { add, button, el, shown } from './dom.js';
import { lines, part } from './api.js';
import { collectionHead, named, recordLink } from './collections.js';
import { Feed } from './changes.js';
import { parse, summary } from './json.js';
import { simple } from './values.js';

/** The newest ones are shown. */
const LIMIT = 1000;
const KINDS = {
  insert: 'inserted', update: 'changed', remove: 'removed', createCollection: 'collection created', dropCollection: 'collection dropped', renameCollection: 'collection renamed',
};

/** Those of the collection that the page names, or of all. */
export async function showLive(view, page) {
  const collection = page.database ?? null;
  // After which commit it goes on, and how many changes were shown of the last commit that had some.
  let since = null;
  let last = { sequence: 0, count: 0 };
  const feed = new Feed(page, {
    limit: LIMIT, columns: [['Commit', 'number wide'], ['Time', 'wide'], ['Change'], ['Id'], ['']], running: 'Shown as they are committed', goes: 'Pause', stopped: 'Paused', starts: 'Resume',
    row: (change) => row(change, collection),
    async* changes(signal) {
      const members = new URLSearchParams({ ...(collection === null ? {} : { collection }), ...(since === null ? {} : { since }) });
      const former = last;
      let at = { sequence: -1, count: 0 };
      for await (const line of lines(`/_command/changes?${members}`, signal)) {
        const change = simple(parse(line));
        if (change.has('position')) { since = change.get('position'); continue; }
        if (change.has('error')) {
          since = null;
          throw new Error(`${change.get('error').get('message')}. What was committed meanwhile is not shown.`);
        }
        const sequence = Number(change.get('sequence'));
        at = { sequence, count: at.sequence === sequence ? at.count + 1 : 1 };
        // A commit that was shown in part comes again from its beginning.
        if (sequence < former.sequence || (sequence === former.sequence && at.count <= former.count)) continue;
        last = at;
        yield change;
      }
    },
  });
  if (collection === null) {
    add(view, [el('p', { class: 'crumbs' }, el('a', { href: '#/storage' }, 'Collections')), el('h1', {}, 'Changes of all collections')]);
  } else add(view, collectionHead(collection, '/changes'));
  add(view, [el('div', { class: 'row middle' }, feed.toggle, button('Clear', () => feed.clear())), feed.state, feed.problem, feed.table]);
  feed.start();
}

function row(change, collection) {
  const [kind, name, id, document] = ['kind', 'collection', 'id', 'after'].map((member) => change.get(member));
  const content = document instanceof Map ? new Map(document) : null;
  content?.delete('_id');
  return el('tr', {},
    el('td', { class: 'number wide' }, Number(change.get('sequence')).toLocaleString()), el('td', { class: 'wide nowrap dim' }, new Date().toLocaleTimeString()),
    el('td', {}, KINDS[kind] ?? kind, collection === null && [' ', el('a', { href: `#/c/${part(name)}` }, shown(name, 60))]),
    el('th', { scope: 'row', class: 'id' }, id === undefined ? change.has('to') && ['to ', shown(change.get('to'), 60)]
      : kind === 'remove' ? shown(named(id)) : el('a', { href: recordLink(name, id) }, shown(named(id)))),
    el('td', { class: 'text mono' }, content ? el('bdi', {}, summary(content)) : change.has('bytes') && `${Number(change.get('bytes')).toLocaleString()} bytes`));
}
