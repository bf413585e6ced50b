import type { SlaTargetVerdict } from '@cronjob-monitor/shared/contract';
import { listChannels } from '../api/channels.ts';
import { listCronJobs } from '../api/cronjobs.ts';
import { listMonitors } from '../api/monitors.ts';
import { listTargets } from '../api/sla.ts';
import { channelMark } from '../format/channels.ts';
import { plural } from '../format/figures.ts';
import { phaseMarks, targetMark } from '../format/marks.ts';
import { verdictMark } from '../format/verdict.ts';
import { bestOf, inOrder, type PaletteEntry } from './palette-entry.ts';
import { addressOf } from '../router.svelte.ts';
import { clusterMark } from '../format/clusters.ts';
import { clusters } from '../state/clusters.svelte.ts';
import { live } from '../state/live.svelte.ts';
import { session } from '../state/session.svelte.ts';
import { preferences } from '../state/preferences.svelte.ts';
import { after } from '../state/timer.ts';
import { actionsOf } from '../pages/cronjob-parts/actions.svelte.ts';
import { hands, silenceOf } from '../pages/alert-parts/alert-actions.svelte.ts';
import { describeCronJob } from '../format/kubectl.ts';
import { copy } from '../kit/copy/copy.ts';
import { toasts } from '../kit/toast/toasts.svelte.ts';
import { readCommand, sayCommand, type Command, type Verb } from './command.ts';
import { shownPages } from './navigation.ts';
import { showCluster } from './show-cluster.ts';

const mostEach = 8;
const pauseMs = 120;

/** What stands behind this is sought among pages and settings alone. */
const ownSign = /^>\s*/;

/** A word that lists CronJobs looks at so many of those that are not well. */
const mostLookedAt = 100;

/**
 * What the palette finds. A name finds CronJobs, monitors and channels of the server, by nearly that name where none has it; a verb before it
 * makes each CronJob a command; a word such as `oom` lists what it is true of. Pages and actions come from here.
 */
export class Search {
  #found = $state.raw<readonly PaletteEntry[]>([]);
  #typed = $state('');
  isSearching = $state(false);
  #abort: AbortController | undefined;
  #cancel = (): void => {};
  /** Newest first, as they were when the palette opened. */
  readonly #recent = preferences.recent;

  readonly entries: readonly PaletteEntry[] = $derived.by(() => {
    const own = ownSign.test(this.#typed);
    const typed = this.#typed.replace(ownSign, '');
    const recent = typed === '' && !own ? this.#recent.flatMap((id) => recentEntry(id) ?? []) : [];
    const others = [...this.#found, ...bestOf(ownEntries(), typed, own ? Infinity : mostEach)];
    return [...recent, ...inOrder(others, typed, this.#recent)];
  });

  type(typed: string): void {
    this.#typed = typed.trim();
    this.#cancel();
    this.#abort?.abort();
    this.isSearching = this.#typed !== '' && !ownSign.test(this.#typed);
    if (this.isSearching) this.#cancel = after(pauseMs, () => void this.#ask(this.#typed));
    else this.#found = [];
  }

  /** It comes sooner the next time. */
  keep({ id }: PaletteEntry): void {
    preferences.recent = [id, ...this.#recent.filter((one) => one !== id)].slice(0, mostEach);
  }

  stop(): void {
    this.#cancel();
    this.#abort?.abort();
  }

  async #ask(typed: string): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    const command = readCommand(typed);
    try {
      this.#found = await (command.verb || command.list
        ? commandsFor(command, abort.signal)
        : placesFor(typed, abort.signal));
    } catch {
      if (abort.signal.aborted) return;
      this.#found = []; // pages and actions stay; the shell says that the service does not answer
    } finally {
      if (this.#abort === abort) this.isSearching = false;
    }
  }
}

/** A CronJob that was chosen lately, by its name alone. */
function recentEntry(id: string): PaletteEntry | undefined {
  const [, namespace, name] = /^cronjob ([^/]+)\/(.+)$/.exec(id) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  const href = addressOf('cronjob', { namespace, name });
  return { id: `recent ${id}`, name: `${namespace}/${name}`, group: 'Recent', href };
}

/** Where a name leads. */
async function placesFor(typed: string, signal: AbortSignal): Promise<PaletteEntry[]> {
  const [cronJobs, monitors, channels] = await Promise.all([
    findCronJobs(typed, signal),
    listMonitors(scopesOf(typed)[0], signal),
    session.right('readChannels').isAllowed ? listChannels({}, signal) : undefined,
  ]);
  return [
    ...cronJobs.map(cronJobEntry),
    ...monitors.value.items.slice(0, mostEach).map((item) => monitorEntry(item)),
    ...(channels?.value.items ?? [])
      .filter(({ name }) => name.includes(typed))
      .slice(0, mostEach)
      .map((item) => channelEntry(item)),
  ];
}

/** CronJobs of this name, of this namespace, or of nearly this name; without a name the worst. */
async function findCronJobs(typed: string, signal: AbortSignal): Promise<CronJob[]> {
  const asked = { sort: 'status', limit: mostEach } as const;
  const lists = await Promise.all(scopesOf(typed).map((scope) => listCronJobs({ ...asked, ...scope }, signal)));
  const found = lists.flatMap(({ value }) => value.items);
  const unique = [...new Map(found.map((item) => [`${item.namespace}/${item.name}`, item])).values()];
  if (unique.length > 0 || typed === '') return unique.slice(0, mostEach);
  return (await listCronJobs({ ...asked, search: typed, similar: true }, signal)).value.items.slice();
}

/** The server searches names and filters by whole namespaces: `prod/back` and `prod back` name a namespace first, `prod` may be either. */
function scopesOf(typed: string): [Scope, ...Scope[]] {
  const [first = '', ...rest] = typed.split(/[/\s]+/).filter(Boolean);
  if (rest.length > 0) return [{ search: rest.join('-'), namespace: [first] }];
  return first === '' ? [{}] : [{ search: first }, { namespace: [first] }];
}

interface Scope {
  readonly search?: string;
  readonly namespace?: readonly string[];
}

/** A line for each CronJob that the command is for. */
async function commandsFor({ verb = 'open', list, object }: Command, signal: AbortSignal): Promise<PaletteEntry[]> {
  if (list === undefined) return (await findCronJobs(object, signal)).map((item) => commandEntry(verb, item));
  const { word, by } = list;
  const those = typeof by === 'string' ? await byTarget(by, signal) : await notWell(by, signal);
  return those.map((entry) => ({ ...entry, group: `CronJobs: ${word}` }));
}

async function notWell(holds: (item: CronJob) => boolean, signal: AbortSignal): Promise<PaletteEntry[]> {
  const state = ['critical', 'warning', 'failing'] as const;
  const { items } = (await listCronJobs({ sort: 'status', state, limit: mostLookedAt }, signal)).value;
  return items.filter(holds).map(cronJobEntry);
}

/** Once each, however many of its targets stand so; those with the least margin first. */
async function byTarget(verdict: SlaTargetVerdict, signal: AbortSignal): Promise<PaletteEntry[]> {
  const query = { verdict: [verdict], sort: 'margin', limit: mostLookedAt, offset: 0 };
  const entries = (await listTargets(query, signal)).value.items.map((target) => ({
    ...cronJobEntry({ ...target.cronjob, verdict: target.judged }),
    mark: targetMark(target),
  }));
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}

type CronJob = Awaited<ReturnType<typeof listCronJobs>>['value']['items'][number];
type Channel = Awaited<ReturnType<typeof listChannels>>['value']['items'][number];
type Monitor = Awaited<ReturnType<typeof listMonitors>>['value']['items'][number];

function cronJobEntry({ namespace, name, verdict }: Pick<CronJob, 'namespace' | 'name' | 'verdict'>): PaletteEntry {
  return {
    id: `cronjob ${namespace}/${name}`,
    name: `${namespace}/${name}`,
    group: 'CronJobs',
    href: addressOf('cronjob', { namespace, name }),
    mark: verdictMark(verdict),
  };
}

function commandEntry(verb: Verb, cronJob: CronJob): PaletteEntry {
  const { namespace, name, verdict, lastExecution } = cronJob;
  if (verb === 'open') return cronJobEntry(cronJob);
  const words = sayCommand(verb, `${namespace}/${name}`);
  const entry = {
    id: `${verb} ${namespace}/${name}`,
    name: words,
    group: 'Commands',
    mark: verdictMark(verdict),
    does: words.charAt(0).toLowerCase() + words.slice(1),
  };
  const refuse = (missing: string): PaletteEntry => ({ ...entry, ...runOrSay({ missing, run: () => {} }) });
  const action = actionsOf(cronJob).find(({ id }) => id === verb);
  if (action) return { ...entry, ...runOrSay(action) };
  switch (verb) {
    case 'silence': {
      const { missing, run } = silenceOf({ namespace, name });
      const does = `choose for how long ${namespace}/${name} is silenced`;
      // The popover stands at its row, else under the name of the page, once the palette is gone.
      const open = (): void => {
        const row = document.querySelector<HTMLElement>(`main [data-row="${CSS.escape(`${namespace}/${name}`)}"] a`);
        const place = row ?? document.querySelector<HTMLElement>('main h1');
        if (place) run(place);
      };
      return missing === undefined ? { ...entry, does, run: () => void after(0, open) } : refuse(missing);
    }
    case 'acknowledge': {
      const count = cronJob.activeAlerts + cronJob.heldAlerts;
      if (count === 0) return refuse('It has no open alert');
      const { missing } = session.right('acknowledge', namespace);
      const row = { key: `${namespace}/${name}`, ref: { namespace, name } };
      const does = `acknowledge ${plural(count, 'alert')} of ${namespace}/${name}`;
      const run = (): void => void hands().then((together) => together.acknowledge([row]));
      return missing === undefined ? { ...entry, does, run } : refuse(missing);
    }
    case 'logs':
    case 'compare': {
      if (!lastExecution) return refuse('It has no run yet');
      const href = addressOf('run', { namespace, name, jobName: lastExecution.jobName });
      return { ...entry, href: verb === 'logs' ? href : `${href}#compare` };
    }
    case 'who hears':
      return { ...entry, href: addressOf('cronjob', { namespace, name }, { part: 'rules' }) };
    case 'copy':
      return { ...entry, run: () => void copy(describeCronJob(cronJob)) };
    default:
      return refuse('It is so already');
  }
}

/** What cannot be done says why, in the line and when it is chosen. */
function runOrSay({ missing, run }: { readonly missing: string | undefined; readonly run: () => void }) {
  if (missing === undefined) return { run };
  return { run: () => toasts.say(missing), mark: undefined, note: missing };
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
  const pages = shownPages().map(({ page, word, key }) => ({
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
  const others = clusters.isSeveral ? clusters.all.filter((cluster) => cluster !== clusters.shown) : [];
  return [
    ...pages,
    ...others.map((cluster) => ({
      id: `cluster ${cluster.name}`,
      name: `Cluster ${cluster.name}`,
      group: 'Clusters',
      mark: clusterMark(cluster),
      does: `show the cluster ${cluster.name}`,
      run: () => void showCluster(cluster.name),
    })),
    {
      id: 'action silence',
      name: 'New silence',
      group: 'Actions',
      href: addressOf('silences', {}, { form: 'new' }),
    },
    { id: 'page search', name: 'Search in logs', group: 'Pages', href: addressOf('search') },
    action('Check now', () => void live.reloadAll()),
    action('Light theme', () => void (preferences.theme = 'light')),
    action('Dark theme', () => void (preferences.theme = 'dark')),
    action('Theme of the system', () => void (preferences.theme = 'system')),
    action('Times in UTC', () => void (preferences.zone = 'utc')),
    action('Times in the zone of this browser', () => void (preferences.zone = 'browser')),
    action('Times in the zone of the cluster', () => void (preferences.zone = 'cluster')),
  ];
}
