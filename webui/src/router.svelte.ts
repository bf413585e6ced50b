/** Every page and its address. A name may hold dots and slashes' escapes: a segment is what stands between two slashes, decoded. */
export const routes = {
  dashboard: '/',
  cronjobs: '/cronjobs',
  cronjob: '/cronjobs/:namespace/:name',
  run: '/cronjobs/:namespace/:name/runs/:jobName',
  monitors: '/monitors',
  monitor: '/monitors/:namespace/:name',
  alerts: '/alerts',
  alert: '/alerts/:id',
  silences: '/silences',
  channels: '/channels',
  channel: '/channels/:name',
  drill: '/drills/:id',
  wall: '/wall',
  sla: '/sla',
  slaReport: '/sla/report',
  coverage: '/coverage',
  advice: '/advice',
  search: '/search',
  settings: '/settings',
  clusters: '/clusters',
} as const;
export type PageName = keyof typeof routes;

export interface Place {
  readonly page: PageName | 'unknown';
  readonly params: Readonly<Record<string, string>>;
}

/** Addresses of pages that another one has taken the place of. */
const moved: Readonly<Record<string, string>> = { '/timeline': routes.wall };

/** Which page an address names. */
export function placeOf(pathname: string): Place {
  const segments = segmentsOf(pathname);
  for (const [page, pattern] of Object.entries(routes) as [PageName, string][]) {
    const params = match(segmentsOf(pattern), segments);
    if (params) return { page, params };
  }
  return { page: 'unknown', params: {} };
}

/** The address of a page, in the cluster that is shown unless the query names one; segments are escaped. Query values that are undefined or empty are left out. */
export function addressOf(
  page: PageName,
  params: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const path = routes[page].replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) search.set(key, value);
  const text = search.toString();
  return inCluster(text === '' ? path : `${path}?${text}`);
}

/** An address of ours that names no cluster leads to where the reader is: whom the link is sent sees the same. */
export function inCluster(address: string, cluster = router.cluster): string {
  if (cluster === '' || !isPage(address)) return address;
  const [beforeHash = '', hash] = address.split('#', 2);
  const [path = '', text = ''] = beforeHash.split('?', 2);
  const query = new URLSearchParams(text);
  if (query.has('cluster')) return address;
  query.set('cluster', cluster);
  return `${path}?${query.toString()}${hash === undefined ? '' : `#${hash}`}`;
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith(':')) {
      const value = decoded(segment);
      if (value === undefined) return undefined;
      params[part.slice(1)] = value;
    } else if (part !== segment) return undefined;
  }
  return params;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // a broken escape names no page
  }
}

const storageKey = 'cronjob-monitor.scroll';
const mostEntries = 50;
/** So many frames a page may take until it is high enough to be scrolled to where it was. */
const mostFrames = 90;

/**
 * Where each step of the history was scrolled to. The browser forgets it for pages whose content arrives later, so it is kept here, per
 * entry of the history, and through a reload in the session's storage.
 */
class ScrollMemory {
  readonly #positions = new Map<string, number>();
  #entry = '';
  #frame = 0;

  /** Takes over from the browser; brings back the position after a reload. Returns what gives it back. */
  start(): () => void {
    history.scrollRestoration = 'manual';
    this.#entry = entryOf(history.state) ?? this.#mark();
    this.#read();
    this.#restore();
    const keep = (): void => {
      this.leave();
      this.#write();
    };
    const stop = (): void => cancelAnimationFrame(this.#frame);
    addEventListener('pagehide', keep);
    addEventListener('wheel', stop, { passive: true });
    addEventListener('touchstart', stop, { passive: true });
    addEventListener('keydown', stop);
    return () => {
      history.scrollRestoration = 'auto';
      stop();
      removeEventListener('pagehide', keep);
      removeEventListener('wheel', stop);
      removeEventListener('touchstart', stop);
      removeEventListener('keydown', stop);
    };
  }

  /** Before another entry: where this one stands. */
  leave(): void {
    cancelAnimationFrame(this.#frame);
    this.#positions.delete(this.#entry);
    this.#positions.set(this.#entry, scrollY);
    for (const entry of this.#positions.keys()) {
      if (this.#positions.size <= mostEntries) break;
      this.#positions.delete(entry);
    }
  }

  /** The state of a new entry of the history, which is the one we are at from now on. */
  newEntry(): { readonly entry: string } {
    this.#entry = freshEntry();
    return { entry: this.#entry };
  }

  /** After back or forward. */
  arrive(): void {
    this.leave(); // the window still stands where the page before stood
    this.#entry = entryOf(history.state) ?? this.#mark();
    this.#restore();
  }

  #mark(): string {
    const entry = freshEntry();
    history.replaceState({ entry }, '');
    return entry;
  }

  #restore(): void {
    const wanted = this.#positions.get(this.#entry) ?? 0;
    let frames = 0;
    const attempt = (): void => {
      scrollTo(0, wanted);
      if (Math.abs(scrollY - wanted) > 1 && frames++ < mostFrames) this.#frame = requestAnimationFrame(attempt);
    };
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(attempt);
  }

  #read(): void {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '[]');
      if (!Array.isArray(kept)) return;
      for (const [entry, position] of kept as [string, number][])
        // as written below
        this.#positions.set(entry, position);
    } catch {
      // Nothing kept, storage off, or not ours: pages begin at their top.
    }
  }

  #write(): void {
    try {
      sessionStorage.setItem(storageKey, JSON.stringify([...this.#positions]));
    } catch {
      // Storage is off or full: a reload begins at the top.
    }
  }
}

function entryOf(state: unknown): string | undefined {
  const entry = typeof state === 'object' && state !== null && 'entry' in state ? state.entry : undefined;
  return typeof entry === 'string' ? entry : undefined;
}

function freshEntry(): string {
  return Math.random().toString(36).slice(2, 10);
}

/** Where the browser is. Links inside the page change it without a reload; back and forward work and bring back the scroll. */
class Router {
  readonly #scroll = new ScrollMemory();
  #path = $state('/');
  #search = $state('');
  #hash = $state('');
  /** Raised by each visit of another page, so that focus can go to its heading. */
  visits = $state(0);

  readonly place: Place = $derived(placeOf(this.#path));
  /** A copy at each reading: changes go through `setQuery`. */
  readonly query: URLSearchParams = $derived(new URLSearchParams(this.#search));

  /** The cluster that the address names; empty: it names none. */
  readonly cluster: string = $derived(this.query.get('cluster') ?? '');

  /** A part of the address, such as `name`; empty where the page has none of that name. */
  param(key: string): string {
    return this.place.params[key] ?? '';
  }

  /** The path as it stands in the address bar. */
  get path(): string {
    return this.#path;
  }

  /** `L120` of `#L120`. */
  get hash(): string {
    return this.#hash;
  }

  /** Begins to follow the address bar and clicks on links. Returns what ends it. */
  start(): () => void {
    const onPop = (): void => {
      const before = this.#path;
      this.#follow();
      if (this.#path !== before) this.visits++;
      this.#scroll.arrive();
    };
    const onClick = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? (event.target.closest('a') ?? rowLinkOf(event.target)) : null;
      if (!link || !isPlainClick(event) || !isOurs(link)) return;
      event.preventDefault();
      this.go(link.pathname + link.search + link.hash);
    };
    this.#follow();
    const forget = this.#scroll.start();
    addEventListener('popstate', onPop);
    document.addEventListener('click', onClick);
    return () => {
      forget();
      removeEventListener('popstate', onPop);
      document.removeEventListener('click', onClick);
    };
  }

  /** To another page, or another view of this one. The same address once more leaves no second step behind. */
  go(to: string): void {
    const address = inCluster(to);
    const before = this.#path;
    const isSame = address === this.#path + this.#search + this.#hash;
    this.#scroll.leave();
    if (isSame) history.replaceState(this.#scroll.newEntry(), '', address);
    else history.pushState(this.#scroll.newEntry(), '', address);
    this.#follow();
    if (this.#path !== before || isSame) this.visits++;
    if (this.#hash === '') scrollTo(0, 0);
  }

  /** Filters and the like: the same page in another view. `replace` leaves no step behind, for what is typed. */
  setQuery(changes: Readonly<Record<string, string | undefined>>, how: 'push' | 'replace' = 'push'): void {
    const query = new URLSearchParams(this.#search);
    for (const [key, value] of Object.entries(changes)) {
      if (value) query.set(key, value);
      else query.delete(key);
    }
    const text = query.toString();
    if (text === this.#search.replace(/^\?/, '')) return;
    const address = text === '' ? this.#path : `${this.#path}?${text}`;
    this.#scroll.leave();
    if (how === 'push') history.pushState(this.#scroll.newEntry(), '', address);
    else history.replaceState(history.state, '', address);
    this.#follow();
  }

  /** Marks a line or a part of this page, without a step. */
  setHash(hash: string): void {
    history.replaceState(history.state, '', `${this.#path}${this.#search}${hash === '' ? '' : `#${hash}`}`);
    this.#follow();
  }

  #follow(): void {
    const now = moved[location.pathname];
    if (now !== undefined)
      history.replaceState(
        history.state,
        '',
        inCluster(now, new URLSearchParams(location.search).get('cluster') ?? ''),
      );
    this.#path = location.pathname;
    this.#search = location.search;
    this.#hash = location.hash.slice(1);
  }
}

export const router = new Router();

/** A click anywhere on a row is one on its link; controls and text that was just selected keep their meaning. */
function rowLinkOf(target: Element): HTMLAnchorElement | null {
  if (target.closest('button, input, label, select, summary, [role="slider"]') || getSelection()?.isCollapsed === false)
    return null;
  const line = target.closest('[data-line]')?.querySelector<HTMLAnchorElement>('a[data-line-link]');
  return line ?? target.closest('[data-row]')?.querySelector<HTMLAnchorElement>('a[data-row-link]') ?? null;
}

function isPlainClick(event: MouseEvent): boolean {
  return (
    event.button === 0 &&
    !event.defaultPrevented &&
    !event.metaKey &&
    !event.ctrlKey &&
    !event.shiftKey &&
    !event.altKey
  );
}

/** Files, the API and its description are the server's; a link into this very page is the browser's. */
function isOurs(link: HTMLAnchorElement): boolean {
  const isElsewhere = link.origin !== location.origin || link.target !== '' || link.hasAttribute('download');
  const isInside = link.hash !== '' && link.pathname === location.pathname && link.search === location.search;
  return !isElsewhere && !isInside && isPage(link.pathname);
}

/** The API, its description and files are no pages, nor is what another host has. */
function isPage(address: string): boolean {
  return /^\/(?!\/|(api|swagger|assets)(\/|$))/.test(address);
}
