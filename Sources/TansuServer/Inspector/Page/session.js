// Who uses the page: the cookie session.
import { add, button, el, field, form, shown } from './dom.js';
import { call, send, useSecret } from './api.js';

const area = document.getElementById('session');
const nav = document.querySelector('header nav');

/** Of the inspector of a database alone: what it may do. Null on a server. */
let inspection = null;
let admin = false;

/** Whether documents may be changed by commands. */
export const isWritable = () => inspection?.writable === true;
export const isOfDatabase = () => inspection !== null;
export const isAdmin = () => admin;

/** Lets in whoever has the address that the inspector was started with. */
export async function open(token) {
  const { secret } = await (await send('POST', '/_session', { body: JSON.stringify({ token }) })).json();
  useSecret(secret);
}

export async function loadSession(signal) {
  const { userCtx, inspection: found } = await call('GET', '/_session', undefined, signal);
  admin = userCtx.roles.includes('_admin');
  inspection = found ?? null;
  area.replaceChildren();
  showLinks();
  if (inspection !== null) {
    if (!admin) throw new Error('This page was opened by another address than the inspector has printed, or its address was used before. Start the inspector again.');
    add(area, [el('span', {}, shown(inspection.database, 60), el('span', { class: 'mark' }, inspection.writable ? 'can be changed' : 'read only'))]);
    return userCtx;
  }
  if (userCtx.name !== null) {
    add(area, [el('span', {}, shown(userCtx.name, 40), admin && el('span', { class: 'mark' }, 'admin')), button('Log out', logOut)]);
  } else if (admin) {
    add(area, ['Without users: everyone is admin']);
  } else {
    add(area, [el('a', { class: 'button', href: '#/login' }, 'Log in')]);
  }
  return userCtx;
}

/** What the links of the page lead to. */
function showLinks() {
  const links = inspection === null ? [['#/', 'Databases'], ['#/replication', 'Replication']] : [];
  if (admin) links.push(['#/storage', inspection === null ? 'Storage' : 'Collections']);
  if (nav.childElementCount === links.length && nav.lastElementChild?.hash === links.at(-1)?.[0]) return;
  nav.replaceChildren(...links.map(([href, name]) => el('a', { href }, name)));
}

async function logOut() {
  await send('DELETE', '/_session');
  goTo('/login');
}

/** Goes to a page of the inspector, and loads it again when it is the one that is shown. */
function goTo(path) {
  if (location.hash === `#${path}`) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = path;
}

export async function showLogin(view, page) {
  const name = el('input', { autocomplete: 'username', required: true, autocapitalize: 'none', spellcheck: 'false' });
  const password = el('input', { type: 'password', autocomplete: 'current-password' });
  add(view, [
    el('h1', {}, 'Log in'),
    form({ class: 'narrow' }, async () => {
      await send('POST', '/_session', { body: JSON.stringify({ name: name.value, password: password.value }) });
      const next = page.query.get('next');
      goTo(next?.startsWith('/') ? next : '/');
    }, field('Name', name), field('Password', password), el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Log in'))),
  ]);
}