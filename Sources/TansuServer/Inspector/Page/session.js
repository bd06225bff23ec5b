// Who uses the page: the cookie session.
import { add, button, el, field, form, shown } from './dom.js';
import { call, send } from './api.js';

const area = document.getElementById('session');

export async function loadSession(signal) {
  const { userCtx } = await call('GET', '/_session', undefined, signal);
  const isAdmin = userCtx.roles.includes('_admin');
  area.replaceChildren();
  if (userCtx.name !== null) {
    add(area, [el('span', {}, shown(userCtx.name, 40), isAdmin && el('span', { class: 'mark' }, 'admin')), button('Log out', logOut)]);
  } else if (isAdmin) {
    add(area, ['Without users: everyone is admin']);
  } else {
    add(area, [el('a', { class: 'button', href: '#/login' }, 'Log in')]);
  }
  return userCtx;
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