import type { Ref } from '../../contract/index.ts';
import { type CronJobKind, type SlaVerdict, slaVerdicts } from '../../contract/vocabulary.ts';
import { marks } from '../ask.ts';
import { stateWords } from '../words.ts';

/** Which CronJobs a list is about. Empty lists filter nothing; all that is given must hold. */
export interface CronJobFilter {
  /** Absent: CronJobs, and groups of Jobs too. */
  readonly kinds?: readonly CronJobKind[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  /** Part of the name, case ignored. */
  readonly search?: string | undefined;
  /** Only these, by name. */
  readonly refs?: readonly Ref[] | undefined;
  /** Only those of these. */
  readonly ids?: readonly number[] | undefined;
  /** Selected by this monitor. */
  readonly monitor?: Ref | undefined;
  /** Whether the rate meets the target of the leading monitor. */
  readonly verdicts?: readonly SlaVerdict[] | undefined;
  /** Also deleted or no longer selected ones, as long as a run of theirs is kept. */
  readonly includeRemoved?: boolean | undefined;
  /** Only those. */
  readonly onlyRemoved?: boolean | undefined;
}

/** What rows of the catalog stand for beside CronJobs of the cluster, whose kind is null: a group of Jobs, or a name that a monitor expects. */
export const catalogKinds = { group: 1, placeholder: 2 } as const;

/** Condition on a row called by this name: it is a group of Jobs. */
export const isGroup = (cronJob: string): string => `coalesce(${cronJob}.kind, 0) = ${catalogKinds.group}`;

/** Condition on a row called by this name: it is no CronJob that ever was. */
export const isPlaceholder = (cronJob: string): string => `coalesce(${cronJob}.kind, 0) = ${catalogKinds.placeholder}`;

/** A piece of SQL with the values of its placeholders. */
export interface Condition {
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

/** What a row is in lists: twice its kind, and one more while a monitor selects it; a placeholder is in none. */
const shownAs = { removed: 0, selected: 1, removedGroup: 2, selectedGroup: 3 } as const;

/** No row of the list that stands for a name alone, and none that no monitor selects. */
export const isSelected = `l.shown in (${shownAs.selected}, ${shownAs.selectedGroup})`;

/** A run of it is kept, and no later object of its name stands in its place. */
const hasHistory =
  'exists (select 1 from executions e where e.cronjob_id = l.cronjob_id) and not exists ' +
  '(select 1 from cronjobs later where later.namespace = l.namespace and later.name = l.name and later.id > l.cronjob_id ' +
  `and not (${isPlaceholder('later')}))`;

/** As it was decided when a fact of the CronJob was written last, worst first. Before the first time nothing is known. */
export const stateRank = `coalesce(c.state, ${stateWords.toNumber('unknown')})`;

/** The WHERE of a list of CronJobs. The row in the list is called `l`. */
export function conditionOf(filter: CronJobFilter): Condition {
  const parts: string[] = [shownIn(filter)];
  const bindings: unknown[] = [];
  const { namespaces = [], refs = [], search, ids, monitor, verdicts = [] } = filter;
  if (namespaces.length > 0) {
    parts.push(`l.namespace in (${marks(namespaces)})`);
    bindings.push(...namespaces);
  }
  if (refs.length > 0) {
    parts.push(`(${refs.map(() => '(l.namespace = ? and l.name = ?)').join(' or ')})`);
    bindings.push(...refs.flatMap(({ namespace, name }) => [namespace, name]));
  }
  if (search !== undefined) {
    parts.push(`l.name like ? escape '!'`); // names of Kubernetes are lower case
    bindings.push(`%${search.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`);
  }
  if (ids) parts.push(ids.length === 0 ? '1 = 0' : `l.cronjob_id in (${ids.join(', ')})`);
  if (monitor) {
    parts.push(
      'exists (select 1 from monitor_targets t join monitors m on m.id = t.monitor_id where t.cronjob_id = l.cronjob_id ' +
        'and t.removed_at is null and m.deleted_at is null and m.namespace = ? and m.name = ?)',
    );
    bindings.push(monitor.namespace, monitor.name);
  }
  if (verdicts.length > 0)
    parts.push(`l.verdict_rank in (${verdicts.map((verdict) => slaVerdicts.indexOf(verdict)).join(', ')})`);
  return { sql: parts.join(' and '), bindings };
}

function shownIn({ kinds = [], includeRemoved, onlyRemoved }: CronJobFilter): string {
  const asked = (['CronJob', 'Jobs'] as const).filter((kind) => kinds.length === 0 || kinds.includes(kind));
  const isIn = (places: Readonly<Record<CronJobKind, number>>): string => {
    const [only, ...others] = asked.map((kind) => places[kind]);
    // One place is one walk of an index in its order.
    return others.length === 0 ? `l.shown = ${only}` : `l.shown in (${[only, ...others].join(', ')})`;
  };
  const selected = isIn({ CronJob: shownAs.selected, Jobs: shownAs.selectedGroup });
  const removed = `(${isIn({ CronJob: shownAs.removed, Jobs: shownAs.removedGroup })} and ${hasHistory})`;
  if (onlyRemoved) return removed;
  return includeRemoved ? `(${selected} or ${removed})` : selected;
}
