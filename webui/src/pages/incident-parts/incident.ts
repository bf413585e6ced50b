import { tick } from 'svelte';
import type { CronJob, Incident, RecentRun, Ref, Verdict } from '@cronjob-monitor/shared/contract';
import { addressOf } from '../../router.svelte.ts';
import type { Choosable } from '../../state/selection.svelte.ts';

/** An incident as a row: a CronJob that is not well, with all its open alerts. */
export interface IncidentRow {
  /** `namespace/name`. */
  readonly key: string;
  readonly ref: Ref;
  readonly verdict: Verdict;
  /** Where its name leads. */
  readonly href: string;
  /** Its worst alert; undefined: it has none. */
  readonly alertHref: string | undefined;
  /** Open ones, held ones too, worst first. */
  readonly alerts: Incident['alerts'];
  readonly runs: readonly RecentRun[];
  /** Undefined: it is expected and not there. */
  readonly cronJob: ActedOn | undefined;
  /** By what others fail as well; null: its own, or not known. */
  readonly sharedCause: string | null;
  /** Rows that it stands for, as all of them fail by one thing; none: it is one incident. */
  readonly members: readonly IncidentRow[];
}

type ActedOn = NonNullable<Incident['actedOn']> &
  Pick<CronJob, 'namespace' | 'name' | 'nextRun' | 'deletedAt' | 'activeAlerts' | 'heldAlerts'>;

/** One that is not there has no page of its own: its name leads to its alert. */
export function rowOf({ cronjob, verdict, alerts, recentRuns, nextRun, actedOn, sharedCause }: Incident): IncidentRow {
  const { namespace, name } = cronjob;
  const [worst] = alerts;
  const alertHref = worst && addressOf('alert', { id: worst.id });
  const activeAlerts = alerts.filter(({ state }) => state === 'active').length;
  const heldAlerts = alerts.length - activeAlerts;
  return {
    key: `${namespace}/${name}`,
    ref: { namespace, name },
    verdict,
    href: (actedOn ? undefined : alertHref) ?? addressOf('cronjob', { namespace, name }),
    alertHref,
    alerts,
    runs: recentRuns,
    cronJob: actedOn ? { ...actedOn, namespace, name, nextRun, deletedAt: null, activeAlerts, heldAlerts } : undefined,
    // A service of an older version tells none.
    sharedCause: sharedCause ?? null,
    members: [],
  };
}

/**
 * Those that fail by one thing as one row, where the first of them stood, since the first of them fails. Its step is that of the first, and what
 * changed and a command are those of all, or none.
 */
export function together(rows: readonly IncidentRow[]): IncidentRow[] {
  const byCause = Map.groupBy(rows, ({ key, sharedCause }) => sharedCause ?? key);
  return [...byCause.values()].flatMap((members) => {
    const [first, second] = members;
    if (!first || !second) return members;
    const { step, told, change } = first.verdict;
    const all = members.map(({ verdict }) => verdict);
    const isOfAll = step?.command == null || all.every((one) => one.step?.command === step.command);
    // What all are to do: of some a Job waits, which is to be deleted then.
    const words = all.map((one) => one.step?.words ?? '').toSorted((a, b) => a.length - b.length)[0] ?? '';
    const isAlike = words !== '' && all.every((one) => one.step?.words.startsWith(words));
    const own = {
      words: first.sharedCause ?? '',
      cause: null,
      change: all.every((one) => one.change === change) ? change : null,
      since: all.flatMap(({ since }) => since ?? []).toSorted()[0] ?? null,
      // What to look at is true of all, though each has a command of its own.
      step: isOfAll ? step : isAlike && step.action === 'openRun' ? { ...step, words, command: null } : null,
      told: all.every((one) => toldTo(one.told) === toldTo(told)) ? told : null,
    };
    return {
      ...first,
      key: `${own.words} ${first.key}`,
      verdict: { ...first.verdict, ...own },
      cronJob: undefined,
      members,
    };
  });
}

function toldTo(told: Verdict['told']): string {
  return [told?.state, ...(told?.channels ?? []).map(({ channel }) => channel)].join();
}

/** As it is chosen with others; none: nothing can be done with what is not there. */
export function toChoosable({ key, ref, cronJob, members }: IncidentRow): Choosable[] {
  return cronJob ? [{ key, ref }] : members.flatMap(toChoosable).map((member) => ({ ...member, group: key }));
}

/** A row that moves, into another group too, takes the focus along: the keys go on from it. For an effect that runs before rows are drawn anew. */
export function keepFocus(): void {
  const key = document.activeElement?.closest('main [data-row]')?.getAttribute('data-row');
  if (key == null) return;
  void tick().then(() => {
    if (document.activeElement !== document.body) return;
    const row = document.querySelector(`main [data-row="${CSS.escape(key)}"]`);
    row?.querySelector<HTMLElement>('[data-row-link]')?.focus({ preventScroll: true });
  });
}
