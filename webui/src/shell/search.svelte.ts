import { listChannels } from '../api/channels.ts';
import { listCronJobs } from '../api/cronjobs.ts';
import { listMonitors } from '../api/monitors.ts';
import { channelMark } from '../format/channels.ts';
import { phaseMarks } from '../format/marks.ts';
import { verdictMark } from '../format/verdict.ts';
import { bestOf, type PaletteEntry } from '../kit/palette/palette-entry.ts';
import { addressOf } from '../router.svelte.ts';
import { live } from '../state/live.svelte.ts';
import { session } from '../state/session.svelte.ts';
import { preferences } from '../state/preferences.svelte.ts';
import { after } from '../state/timer.ts';
import { navigation } from './navigation.ts';

const mostEach = 8;
const pauseMs = 120;

/** What the palette finds: CronJobs, monitors and channels from the server, pages and actions from here. */
export class Search {
  #found = $state.raw<readonly PaletteEntry[]>([]);
  #typed = $state('');
  isSearching = $state(false);
  #abort: AbortController | undefined;
  #cancel = (): void => {};

  readonly entries: readonly PaletteEntry[] = $derived([
    ...this.#found,
    ...bestOf(ownEntries(), this.#typed, mostEach),
  ]);

  type(typed: string): void {
    this.#typed = typed.trim();
    this.#cancel();
    this.#abort?.abort();
    if (this.#typed === '') {
      this.#found = [];
      this.isSearching = false;
      return;
    }
    this.isSearching = true;
    this.#cancel = after(pauseMs, () => void this.#ask(this.#typed));
  }

  stop(): void {
    this.#cancel();
    this.#abort?.abort();
  }

  async #ask(typed: string): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    // `prod/back` and `prod back` name a namespace first; the server searches names, and filters by whole namespaces.
    const [first = '', ...rest] = typed.split(/[/\s]+/).filter(Boolean);
    const last = rest.join('-');
    const asked = { sort: 'status', limit: mostEach } as const;
    const questions = [
      listCronJobs({ ...asked, search: last || first, ...(last ? { namespace: [first] } : {}) }, abort.signal),
      ...(last ? [] : [listCronJobs({ ...asked, namespace: [first] }, abort.signal)]),
    ];
    try {
      const [lists, monitors, channels] = await Promise.all([
        Promise.all(questions),
        listMonitors({ search: last || first, ...(last ? { namespace: [first] } : {}) }, abort.signal),
        session.right('readChannels').isAllowed ? listChannels({}, abort.signal) : undefined,
      ]);
      const cronJobs = lists.flatMap(({ value }) => value.items).map((item) => cronJobEntry(item));
      const unique = [...new Map(cronJobs.map((entry) => [entry.id, entry])).values()];
      this.#found = [
        ...unique.slice(0, mostEach),
        ...monitors.value.items.slice(0, mostEach).map((item) => monitorEntry(item)),
        ...(channels?.value.items ?? [])
          .filter(({ name }) => name.includes(typed))
          .slice(0, mostEach)
          .map((item) => channelEntry(item)),
      ];
    } catch {
      if (abort.signal.aborted) return;
      this.#found = []; // pages and actions stay; the shell says that the service does not answer
    } finally {
      if (this.#abort === abort) this.isSearching = false;
    }
  }
}

type CronJob = Awaited<ReturnType<typeof listCronJobs>>['value']['items'][number];
type Channel = Awaited<ReturnType<typeof listChannels>>['value']['items'][number];
type Monitor = Awaited<ReturnType<typeof listMonitors>>['value']['items'][number];

function cronJobEntry({ namespace, name, verdict }: CronJob): PaletteEntry {
  return {
    id: `cronjob ${namespace}/${name}`,
    name: `${namespace}/${name}`,
    group: 'CronJobs',
    href: addressOf('cronjob', { namespace, name }),
    mark: verdictMark(verdict),
  };
}

function monitorEntry({ namespace, name, phase }: Monitor): PaletteEntry {
  return {
    id: `monitor ${namespace}/${name}`,
    name: `${namespace}/${name}`,
    group: 'Monitors',
    href: addressOf('monitor', { namespace, name }),
    mark: phaseMarks[phase],
  };
}

function channelEntry({ name, ready, reason }: Channel): PaletteEntry {
  return {
    id: `channel ${name}`,
    name,
    group: 'Channels',
    href: addressOf('channel', { name }),
    mark: channelMark({ ready, reason }),
  };
}

function ownEntries(): PaletteEntry[] {
  const pages = navigation.map(({ page, word, key }) => ({
    id: `page ${page}`,
    name: word,
    group: 'Pages',
    href: addressOf(page),
    note: `g ${key}`,
  }));
  const action = (name: string, run: () => void): PaletteEntry => ({
    id: `action ${name}`,
    name,
    group: 'Actions',
    run,
  });
  return [
    ...pages,
    {
      id: 'action silence',
      name: 'New silence',
      group: 'Actions',
      href: addressOf('silences', {}, { form: 'new' }),
    },
    action('Check now', () => void live.reloadAll()),
    action('Light theme', () => void (preferences.theme = 'light')),
    action('Dark theme', () => void (preferences.theme = 'dark')),
    action('Theme of the system', () => void (preferences.theme = 'system')),
    action('Times in UTC', () => void (preferences.zone = 'utc')),
    action('Times in the zone of this browser', () => void (preferences.zone = 'browser')),
    action('Times in the zone of the cluster', () => void (preferences.zone = 'cluster')),
  ];
}
