// One document: the editor of it, its revisions, conflicts and attachments.
import { add, ask, button, bytes, el, errorBox, field, form, notice, shown, table } from './dom.js';
import { Failure, call, deleteDocument, documentPath, part, readDocument, saveDocument, send, url } from './api.js';
import { documentLink } from './documents.js';
import { Conflict, Editor } from './editor.js';

export async function showDocument(view, page) {
  if (page.parts[2] === 'new') await showNew(view, page);
  else await showStored(view, page);
}

function head(database, title) {
  return [
    el('p', { class: 'crumbs' }, el('a', { href: '#/' }, 'Databases'), ' / ',
      el('a', { href: `#/db/${part(database)}` }, shown(database, 120))),
    el('h1', {}, title),
  ];
}

async function showNew(view, page) {
  const id = page.query.get('id') ?? (await call('GET', '/_uuids', undefined, page.signal)).uuids[0];
  add(view, head(page.database, 'New document'));
  editor(view, page, new Map([['_id', id]]), null).show();
}

async function showStored(view, page) {
  const { database, signal } = page;
  const id = page.parts[3];
  const rev = page.query.get('rev');
  add(view, head(database, shown(id, 2000)));
  let document;
  try {
    document = await readDocument(
      database, id, rev === null ? { conflicts: 'true', revs_info: 'true' } : { rev, revs_info: 'true' }, signal);
  } catch (error) {
    if (error.status !== 404) throw error;
    const root = `#/db/${part(database)}`;
    add(view, [errorBox(error, el('p', {}, rev === null
      ? el('a', { href: `${root}/new?${new URLSearchParams({ id })}` }, 'Make a document with this id')
      : el('a', { href: documentLink(database, id) }, 'Show the current revision')))]);
    return;
  }
  const conflicts = document.get('_conflicts') ?? [];
  const revisions = document.get('_revs_info') ?? [];
  for (const name of ['_conflicts', '_revs_info']) document.delete(name);
  const current = document.get('_rev');
  add(view, [el('p', { class: 'dim' }, 'Revision ', el('span', { class: 'mono' }, current),
    document.get('_deleted') === true && el('span', { class: 'mark' }, 'deleted'))]);
  if (rev !== null) {
    add(view, [el('div', { class: 'warning' }, el('p', {}, 'This is the revision that the address names. ',
      el('a', { href: documentLink(database, id) }, 'Show the current one')))]);
  }
  if (conflicts.length > 0) add(view, [conflictWarning(page, id, conflicts)]);
  editor(view, page, document, id).show();
  add(view, attachments(page, id, document));
  if (revisions.length > 0) add(view, [revisionList(database, id, revisions, current)]);
}

function conflictWarning(page, id, conflicts) {
  return el('div', { class: 'warning', role: 'alert' },
    el('p', {}, el('strong', {}, 'This document is in conflict. '),
      'What is shown is the winner. Merge what is needed of the others into it, save, and delete the others.'),
    el('ul', {}, conflicts.map((rev) => el('li', { class: 'row middle' },
      el('a', { class: 'mono', href: documentLink(page.database, id, `?${new URLSearchParams({ rev })}`) }, rev),
      button('Delete this revision', async () => {
        page.requireSaved();
        if (!await ask('Delete a revision', `Revision ${rev} is deleted, the winner stays.`, 'Delete')) return;
        await deleteDocument(page.database, id, rev);
        notice('Deleted revision ', rev);
        await page.reload();
      }, 'danger')))));
}

function revisionList(database, id, revisions, current) {
  return el('details', {}, el('summary', {}, `${revisions.length.toLocaleString()} revision${revisions.length === 1 ? '' : 's'} of this branch`),
    el('ul', { class: 'revisions' }, revisions.slice(0, 1000).map((revision) => {
      const rev = revision.get('rev');
      const isThere = revision.get('status') === 'available';
      return el('li', {},
        isThere && rev !== current
          ? el('a', { class: 'mono', href: documentLink(database, id, `?${new URLSearchParams({ rev })}`) }, rev)
          : el('span', { class: 'mono' }, rev),
        el('span', { class: 'mark' }, rev === current ? 'shown' : revision.get('status')));
    })));
}

/** The editor of a document; `id` is null for a new one. */
function editor(view, page, document, id) {
  const { database, signal } = page;
  const rev = document.get('_rev') ?? null;
  const path = id === null ? null : documentPath(database, id, { rev });
  const address = (mine) => documentLink(database, mine.get('_id') ?? id);
  return new Editor(view, page, document, {
    isNew: id === null, label: 'Document as JSON', name: id, locked: id === null ? [] : ['_id', '_rev'], download: path && url(path), address,
    async save(mine, text) {
      const wanted = mine.get('_id') ?? id;
      if (wanted !== null && typeof wanted !== 'string') throw new Error('The "_id" must be a string');
      if (wanted === '') throw new Error('The "_id" must not be empty');
      if (id !== null && wanted !== id) throw new Error('The "_id" is that of another document; copy the text into a new document instead');
      try {
        return documentLink(database, (await saveDocument(database, wanted, text)).id);
      } catch (error) {
        if (!(error instanceof Failure) || error.status !== 409) throw error;
        throw new Conflict(error.message);
      }
    },
    async stored(mine) {
      try {
        return await readDocument(database, mine.get('_id') ?? id, {}, signal);
      } catch (problem) {
        if (problem.status !== 404) throw problem;
        return null;
      }
    },
    over(mine, stored) {
      if (stored === null) mine.delete('_rev');
      else mine.set('_rev', stored.get('_rev'));
    },
    remove: id === null || rev === null ? null : async () => {
      await deleteDocument(database, id, rev);
      return `#/db/${part(database)}`;
    },
  });
}

function attachments(page, id, document) {
  const { database } = page;
  const rev = document.get('_rev');
  const isLocal = id.startsWith('_local/');
  if (isLocal || documentPath(database, id) === null) return [];
  const rows = [...document.get('_attachments') ?? []].map(([name, stub]) => {
    const path = documentPath(database, id, { rev }, name);
    return el('tr', {},
      el('th', { scope: 'row', class: 'id' }, path === null ? shown(name) : el('a', { href: url(path), download: name }, shown(name))),
      el('td', {}, shown(String(stub.get('content_type') ?? ''), 80)),
      el('td', { class: 'number' }, bytes(Number(stub.get('length') ?? 0))),
      el('td', { class: 'actions' }, path !== null && button('Delete', async () => {
        page.requireSaved();
        if (!await ask('Delete an attachment', [el('strong', {}, shown(name, 120)), ' is removed from the document.'], 'Delete')) return;
        await call('DELETE', path);
        notice('Deleted ', shown(name, 60));
        await page.reload();
      }, 'danger')));
  });
  const file = el('input', { type: 'file' });
  return [
    el('h2', {}, 'Attachments'),
    rows.length > 0 && table(null, [['Name'], ['Type'], ['Length', 'number'], ['']], rows),
    form({}, async () => {
      page.requireSaved();
      const [chosen] = file.files;
      if (!chosen) throw new Error('Choose a file');
      const path = documentPath(database, id, { rev }, chosen.name);
      if (path === null) throw new Error('A file of this name cannot be sent');
      await send('PUT', path, { body: chosen, type: chosen.type || 'application/octet-stream' });
      notice('Added ', shown(chosen.name, 60));
      await page.reload();
    }, el('div', { class: 'row' }, field('Add a file', file, 'grow'), el('button', {}, 'Attach'))),
  ];
}