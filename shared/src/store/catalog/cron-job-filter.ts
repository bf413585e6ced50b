import { isPlaceholder } from './expected.ts';
import { isGroup } from './job-groups.ts';
import type { CronJobKind, CronJobStatusFilter, HealthState, Ref } from '../../contract/index.ts';
import { marks } from '../ask.ts';
import { stateWords } from '../words.ts';

/** Which CronJobs a list is about. Empty lists filter nothing; all that is given must hold. */
export interface CronJobFilter {
  /** Absent: CronJobs, and groups of Jobs too. */
  readonly kinds?: readonly CronJobKind[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  /** Part of the name, case ignored. */
  readonly search?: string | undefined;
  /** Selected by this monitor. */
  readonly monitor?: Ref | undefined;
  /** Also deleted or no longer selected ones, as long as a run of theirs is kept. */
  readonly includeRemoved?: boolean | undefined;
  /** Only those. */
  readonly onlyRemoved?: boolean | undefined;
}

/** A piece of SQL with the values of its placeholders. */
export interface Condition {
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

/** Selected now by a monitor. The row of the CronJob is called `c`. */
export const isSelected =
  'c.deleted_at is null and exists (select 1 from monitor_targets t where t.cronjob_id = c.id and t.removed_at is null)';

/** A run of it is kept, and no later object of its name stands in its place. */
const hasHistory =
  'exists (select 1 from executions e where e.cronjob_id = c.id) and not exists ' +
  '(select 1 from cronjobs later where later.namespace = c.namespace and later.name = c.name and later.id > c.id ' +
  `and not (${isPlaceholder('later')}))`;

/** As it was decided when a fact of the CronJob was written last, worst first. Before the first time nothing is known. */
export const stateRank = `coalesce(c.state, ${stateWords.toNumber('unknown')})`;

const isIn = (...states: readonly HealthState[]): string =>
  `${stateRank} in (${states.map((state) => stateWords.toNumber(state)).join(', ')})`;

/** The condition of one word of the status filter: `suspended` and `running` are overlays. */
export const statusConditions: Readonly<Record<CronJobStatusFilter, string>> = {
  healthy: isIn('healthy'),
  warning: isIn('warning', 'failing'),
  critical: isIn('critical'),
  suspended: 'c.suspended = 1',
  running: 'c.running > 0',
  unknown: isIn('unknown'),
};

/** The WHERE of a list of CronJobs. */
export function conditionOf(filter: CronJobFilter): Condition {
  const parts: string[] = [kindOf(filter)];
  const bindings: unknown[] = [];
  const { namespaces = [], search, monitor, kinds = [] } = filter;
  if (kinds.length > 0 && !kinds.includes('Jobs')) parts.push(`not (${isGroup('c')})`);
  if (kinds.length > 0 && !kinds.includes('CronJob')) parts.push(isGroup('c'));
  if (namespaces.length > 0) {
    parts.push(`c.namespace in (${marks(namespaces)})`);
    bindings.push(...namespaces);
  }
  if (search !== undefined) {
    parts.push(`c.name like ? escape '!'`); // names of Kubernetes are lower case
    bindings.push(`%${search.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`);
  }
  if (monitor) {
    parts.push(
      'exists (select 1 from monitor_targets t join monitors m on m.id = t.monitor_id where t.cronjob_id = c.id ' +
        'and t.removed_at is null and m.deleted_at is null and m.namespace = ? and m.name = ?)',
    );
    bindings.push(monitor.namespace, monitor.name);
  }
  return { sql: parts.join(' and '), bindings };
}

function kindOf({ includeRemoved, onlyRemoved }: CronJobFilter): string {
  if (onlyRemoved) return `(not (${isSelected}) and ${hasHistory})`;
  return includeRemoved ? `((${isSelected}) or (${hasHistory}))` : `(${isSelected})`;
}

/** The condition of several words, ORed; none given lets everything through. */
export function statusConditionOf(statuses: readonly CronJobStatusFilter[]): string {
  if (statuses.length === 0) return '1 = 1';
  return `(${statuses.map((status) => statusConditions[status]).join(' or ')})`;
}
