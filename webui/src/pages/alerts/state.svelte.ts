import {
  alertTypes,
  severities,
  type Alert,
  type AlertHistory,
  type AlertList,
  type AlertType,
  type Severity,
} from '@cronjob-monitor/shared/contract';
import { listAlertHistory, listAlerts, type AlertFilters } from '../../api/alerts.ts';
import { router } from '../../router.svelte.ts';
import { alertRowKinds } from '../../state/concerns.ts';
import { countIn, listIn, wordIn, wordsIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

export const alertsPerPage = 50;
const views = ['active', 'history'] as const;
export const acknowledgedWords = ['any', 'yes', 'no'] as const;

/** Open alerts in their three groups, or those that have ended. The view is in the address. */
export class AlertsState {
  readonly view = $derived(wordIn(router.query, 'view', views, 'active'));
  readonly severities: readonly Severity[] = $derived(wordsIn(router.query, 'severity', severities));
  readonly types: readonly AlertType[] = $derived(wordsIn(router.query, 'type', alertTypes));
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'ns'));
  /** Names of CronJobs. */
  readonly cronJobs: readonly string[] = $derived(listIn(router.query, 'cronjob'));
  /** `namespace/name`. */
  readonly monitor: string = $derived(router.query.get('monitor') ?? '');
  readonly acknowledged = $derived(wordIn(router.query, 'acknowledged', acknowledgedWords, 'any'));
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));
  readonly isFiltered: boolean = $derived(
    this.severities.length + this.types.length + this.namespaces.length + this.cronJobs.length > 0 ||
      this.monitor !== '' ||
      this.acknowledged !== 'any',
  );

  readonly #about: AlertFilters = $derived({
    severity: this.severities,
    type: this.types,
    namespace: this.namespaces,
    cronjob: this.cronJobs,
    monitor: this.monitor,
  });

  readonly #openFilters: AlertFilters = $derived({
    ...this.#about,
    ...(this.acknowledged === 'any' ? {} : { acknowledged: this.acknowledged === 'yes' }),
    state: ['active', 'pending', 'suppressed'],
  });

  readonly #endedFilters: AlertFilters = $derived({ ...this.#about, state: ['resolved', 'expired', 'cancelled'] });

  /** What the view in sight asks for: an export asks for the same. */
  readonly filters: AlertFilters = $derived(this.view === 'history' ? this.#endedFilters : this.#openFilters);

  readonly open: Resource<AlertList> = $derived.by(() => {
    const question = this.#openFilters;
    return new Resource((signal) => listAlerts(question, signal), {
      concerns: ({ kind }) => alertRowKinds.has(kind),
      fleetPauseMs: 60_000,
    });
  });

  readonly history: Resource<AlertHistory> = $derived.by(() => {
    const question = { ...this.#endedFilters, limit: alertsPerPage, offset: this.offset };
    return new Resource((signal) => listAlertHistory(question, signal), {
      concerns: ({ kind }) => kind === 'alert',
      fleetPauseMs: 60_000,
    });
  });

  readonly groups: readonly { readonly name: string; readonly alerts: readonly Alert[] }[] = $derived.by(() => {
    const groups = Map.groupBy(this.open.value?.items ?? [], groupOf);
    return groupNames.map((name) => ({ name, alerts: groups.get(name) ?? [] }));
  });

  readonly #seen: readonly Alert[] = $derived([
    ...(this.open.value?.items ?? []),
    ...(this.history.value?.items ?? []),
  ]);

  readonly knownNamespaces: readonly string[] = $derived.by(() => {
    return [...new Set([...this.namespaces, ...this.#seen.map(({ cronjob }) => cronjob.namespace)])].sort();
  });

  readonly knownCronJobs: readonly string[] = $derived(
    [...new Set([...this.cronJobs, ...this.#seen.map(({ cronjob }) => cronjob.name)])].sort(),
  );

  readonly knownMonitors: readonly string[] = $derived.by(() => {
    const names = this.#seen.map(({ monitor }) => `${monitor.namespace}/${monitor.name}`);
    return [...new Set([...(this.monitor === '' ? [] : [this.monitor]), ...names])].sort();
  });

  change(changes: Readonly<Record<string, string | undefined>>): void {
    router.setQuery({ offset: undefined, ...changes });
  }
}

const groupNames = ['Active', 'Waiting', 'Held back'] as const;

/** A silence or a window holds an alert from its first second on, also one whose message went out before. */
export function groupOf({ state, verdict }: Pick<Alert, 'state' | 'verdict'>): (typeof groupNames)[number] {
  const isHeld = verdict?.holds.some(({ kind }) => kind === 'silenced' || kind === 'maintenance');
  if (state === 'suppressed' || isHeld) return 'Held back';
  return state === 'pending' ? 'Waiting' : 'Active';
}
