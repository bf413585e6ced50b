import {
  alertTypes,
  openAlertStates,
  severities,
  type AlertHistory,
  type AlertType,
  type IncidentList,
  type Severity,
  type StateCounts,
} from '@cronjob-monitor/shared/contract';
import { listAlertHistory, type AlertFilters } from '../../api/alerts.ts';
import type { Query } from '../../api/client.ts';
import { listIncidents } from '../../api/overview.ts';
import type { Hint } from '../../api/stream.ts';
import { wrongStates } from '../../format/verdict.ts';
import { router } from '../../router.svelte.ts';
import { hasSameStates } from '../../state/concerns.ts';
import { countIn, listIn, wordIn, wordsIn } from '../../state/filters.ts';
import { now } from '../../state/now.svelte.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { rowOf, together, type IncidentRow } from '../incident-parts/incident.ts';

export const incidentsPerPage = 100;
export const alertsPerPage = 50;
/** Under the incidents stand the newest alone. */
const newestEnded = 10;
const views = ['active', 'history'] as const;
const yesOrNo = ['any', 'yes', 'no'] as const;
/** Changes that may change a row, or which there are. */
const kinds: ReadonlySet<Hint['kind']> = new Set(['overview', 'alert', 'delivery', 'silence']);
const everyMs = 60_000;

/** CronJobs with open alerts in their groups, and alerts that have ended. The view is in the address. */
export class AlertsState {
  readonly view = $derived(wordIn(router.query, 'view', views, 'active'));
  readonly severities: readonly Severity[] = $derived(wordsIn(router.query, 'severity', severities));
  readonly types: readonly AlertType[] = $derived(wordsIn(router.query, 'type', alertTypes));
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'ns'));
  /** Names of CronJobs. */
  readonly cronJobs: readonly string[] = $derived(listIn(router.query, 'cronjob'));
  /** `namespace/name`. */
  readonly monitor: string = $derived(router.query.get('monitor') ?? '');
  readonly states: readonly (typeof wrongStates)[number][] = $derived(wordsIn(router.query, 'state', wrongStates));
  readonly owners: readonly string[] = $derived(listIn(router.query, 'owner'));
  readonly acknowledged = $derived(wordIn(router.query, 'acknowledged', yesOrNo, 'any'));
  readonly held = $derived(wordIn(router.query, 'held', yesOrNo, 'any'));
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));
  /** Filters that incidents alone have, and that stand behind a button. */
  readonly inForce: number = $derived(
    [this.states.length > 0, this.owners.length > 0, this.acknowledged !== 'any', this.held !== 'any'].filter(Boolean)
      .length,
  );
  readonly isFiltered: boolean = $derived(
    this.severities.length + this.types.length + this.namespaces.length + this.cronJobs.length + this.inForce > 0 ||
      this.monitor !== '',
  );

  readonly #about: AlertFilters = $derived({
    severity: this.severities,
    type: this.types,
    namespace: this.namespaces,
    cronjob: this.cronJobs,
    monitor: this.monitor,
  });

  readonly #ofOpen: AlertFilters = $derived({
    ...this.#about,
    ...(this.acknowledged === 'any' ? {} : { acknowledged: this.acknowledged === 'yes' }),
  });

  readonly #heldOrNot = $derived(this.held === 'any' ? {} : { held: this.held === 'yes' });

  readonly #ended: AlertFilters = $derived({ ...this.#about, state: ['resolved', 'expired', 'cancelled'] });

  readonly open: Resource<IncidentList> = $derived.by(() => {
    const question = {
      ...this.#ofOpen,
      state: this.states,
      owner: this.owners,
      ...this.#heldOrNot,
      limit: incidentsPerPage,
      offset: this.view === 'history' ? 0 : this.offset,
    };
    const resource: Resource<IncidentList> = new Resource((signal) => listIncidents(question, signal), {
      concerns: ({ kind }) => kinds.has(kind),
      merge: (list, hint) => (this.#isAsBefore(hint, resource) ? list : undefined),
      fleetPauseMs: everyMs,
    });
    return resource;
  });

  readonly history: Resource<AlertHistory> = $derived.by(() => {
    const isAlone = this.view === 'history';
    const page = isAlone ? { limit: alertsPerPage, offset: this.offset } : { limit: newestEnded };
    const question = { ...this.#ended, ...page };
    return new Resource((signal) => listAlertHistory(question, signal), {
      concerns: ({ kind }) => kind === 'alert',
      fleetPauseMs: everyMs,
    });
  });

  readonly groups: readonly { readonly name: string; readonly rows: readonly IncidentRow[] }[] = $derived.by(() => {
    const groups = Map.groupBy((this.open.value?.items ?? []).map(rowOf), groupOf);
    return groupNames.flatMap((name) => {
      const rows = groups.get(name);
      return rows ? [{ name, rows: together(rows) }] : [];
    });
  });

  /** What an export of the view asks for: its alerts. */
  readonly exported: Query = $derived(
    this.view === 'history'
      ? { ...this.#ended }
      : {
          ...this.#ofOpen,
          state: openAlertStates,
          cronjobState: this.states,
          owner: this.owners,
          ...this.#heldOrNot,
        },
  );

  readonly knownNamespaces: readonly string[] = $derived(
    this.#known(
      this.namespaces,
      ({ cronjob }) => cronjob.namespace,
      ({ cronjob }) => cronjob.namespace,
    ),
  );

  readonly knownCronJobs: readonly string[] = $derived(
    this.#known(
      this.cronJobs,
      ({ cronjob }) => cronjob.name,
      ({ cronjob }) => cronjob.name,
    ),
  );

  readonly knownOwners: readonly string[] = $derived(
    this.#known(
      this.owners,
      ({ owner }) => owner ?? '',
      () => '',
    ),
  );

  readonly knownMonitors: readonly string[] = $derived(
    this.#known(
      [this.monitor],
      ({ actedOn }) => (actedOn?.monitorRef ? `${actedOn.monitorRef.namespace}/${actedOn.monitorRef.name}` : ''),
      ({ monitor }) => `${monitor.namespace}/${monitor.name}`,
    ),
  );

  change(changes: Readonly<Record<string, string | undefined>>): void {
    router.setQuery({ offset: undefined, ...changes });
  }

  /** What is chosen already, and what stands in a row. */
  #known(
    chosen: readonly string[],
    ofIncident: (incident: IncidentList['items'][number]) => string,
    ofAlert: (alert: AlertHistory['items'][number]) => string,
  ): readonly string[] {
    const seen = [...(this.open.value?.items ?? []).map(ofIncident), ...(this.history.value?.items ?? []).map(ofAlert)];
    return [...new Set([...chosen, ...seen])].filter((name) => name !== '').sort();
  }

  /** CronJobs in each state, as the stream told last. */
  #states: StateCounts | undefined;

  /** Runs that begin and end change no incident. A minute later it is asked all the same: one may have become well as another broke. */
  #isAsBefore(hint: Hint, { answeredAt = 0 }: Resource<IncidentList>): boolean {
    if (hint.kind !== 'overview') return false;
    const { states } = hint.data.stats;
    const isSame = this.#states !== undefined && hasSameStates(this.#states, states);
    this.#states = states;
    return isSame && now.ms - answeredAt < everyMs;
  }
}

const groupNames = ['Open', 'Failing', 'Held back'] as const;

/** Held back are those of which every alert is: by a silence, or a window, from its first second on, also when its message went out before. */
export function groupOf({ verdict, alerts }: Pick<IncidentRow, 'verdict' | 'alerts'>): (typeof groupNames)[number] {
  const told = alerts.filter(({ state }) => state !== 'pending');
  const isHeld = ({ state, verdict: { holds } }: (typeof told)[number]): boolean =>
    state === 'suppressed' || holds.some(({ kind }) => kind === 'silenced' || kind === 'maintenance');
  const judged = told.length > 0 ? told : alerts;
  if (judged.length > 0 && judged.every(isHeld)) return 'Held back';
  return verdict.state === 'failing' ? 'Failing' : 'Open';
}
