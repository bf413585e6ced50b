import { retentionRuleOf, type Instant, type RetentionRule } from '../../domain/index.ts';
import { rows } from '../ask.ts';
import { fromJson, optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';

/** A CronJob of the catalog, and what its monitors say about keeping. */
export interface RetentionOwner {
  readonly cronJobId: number;
  readonly namespace: string;
  readonly name: string;
  /** Undefined while it exists. */
  readonly deletedAt: Instant | undefined;
  /** Of the monitors that select it; of a deleted one, of those that selected it when it was deleted. */
  readonly rules: readonly RetentionRule[];
}

/** A deletion takes a CronJob from its monitors as well, and the monitor may write that first: it counts as selected so long. */
export const deletionSeenTogetherMs = 60_000;

/** Every CronJob that has a row, deleted ones too. Three statements. */
export async function listRetentionOwners(db: Db): Promise<RetentionOwner[]> {
  const monitors = await rows(db, 'select id, spec from monitors');
  const rules = new Map(monitors.map((row) => [Number(row['id']), retentionRuleOf(fromJson(row['spec']))]));
  const targets = await rows(db, 'select cronjob_id, monitor_id, removed_at from monitor_targets');
  const targetsOf = Map.groupBy(targets, (row) => Number(row['cronjob_id']));
  const cronJobs = await rows(db, 'select id, namespace, name, deleted_at from cronjobs order by id');
  return cronJobs.map((row) => {
    const cronJobId = Number(row['id']);
    const deletedAt = optionalNumber(row['deleted_at']);
    // A selector that changed before is another matter: it never deletes anything.
    const heldFrom = deletedAt === undefined ? Infinity : deletedAt - deletionSeenTogetherMs;
    const selecting = (targetsOf.get(cronJobId) ?? []).filter(
      (target) => (optionalNumber(target['removed_at']) ?? Infinity) >= heldFrom,
    );
    return {
      cronJobId,
      namespace: String(row['namespace']),
      name: String(row['name']),
      deletedAt,
      rules: selecting.flatMap((target) => rules.get(Number(target['monitor_id'])) ?? []),
    };
  });
}
