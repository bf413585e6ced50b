import { isPlaceholder } from '../catalog/cron-job-filter.ts';
import { channelScope, criticalScope } from '../rate-limits.ts';
import { type Instant, retentionRuleOf, type RetentionRule } from '../../domain/index.ts';
import { change, marks, rows } from '../ask.ts';
import type { Batches } from './batches.ts';
import { fromJson, optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';

interface RemovedObjects {
  readonly cronJobs: number;
  readonly monitors: number;
  readonly channels: number;
}

/** What else is kept about a CronJob and nowhere shown without it. */
const ofCronJob = [
  'monitor_targets',
  'cronjob_list',
  'due',
  'spec_epochs',
  'templates',
  'active_jobs',
  'run_facts',
  'fact_names',
] as const;

/** Removes rows of CronJobs, monitors and channels that were deleted before `before` and to which nothing refers any more. */
export async function pruneCatalog(batches: Batches, before: Instant): Promise<RemovedObjects> {
  return {
    cronJobs: await pruneCronJobs(batches, before),
    monitors: await pruneMonitors(batches, before),
    channels: await pruneChannels(batches, before),
  };
}

/** The rows of deleted CronJobs, or of this one. One stays while an alert tells that its name is missing: it says who expected it. */
export async function pruneCronJobs(batches: Batches, before: Instant, cronJobId?: number): Promise<number> {
  const only = cronJobId === undefined ? '' : ' and id = ?';
  const referring = ['executions', 'slots', 'rollups', 'alerts', 'alert_decisions'];
  const unreferred = referring
    .map((table) => `not exists (select 1 from ${table} r where r.cronjob_id = cronjobs.id)`)
    .join(' and ');
  const missed =
    "select 1 from alerts m where m.type = 'absent' and m.subject = 'disappeared' and m.state in ('pending', 'active', 'suppressed') " +
    'and m.namespace = cronjobs.namespace and m.cronjob_name = cronjobs.name';
  return batches.repeat(
    async (tx, limit) => {
      const found = await rows(
        tx,
        `select id from cronjobs where deleted_at < ?${only} and ${unreferred} and not exists (${missed}) order by id limit ${limit}${tx.dialect.lock.update}`,
        cronJobId === undefined ? [before] : [before, cronJobId],
      );
      const ids = found.map((row) => row['id']);
      if (ids.length === 0) return 0;
      for (const table of ofCronJob) {
        await change(tx, `delete from ${table} where cronjob_id in (${marks(ids)})`, ids);
      }
      return change(tx, `delete from cronjobs where id in (${marks(ids)})`, ids);
    },
    { most: 200 },
  );
}

/** A monitor stays while an alert names it, and while a deleted CronJob that it selected waits for what the monitor says of it. */
async function pruneMonitors(batches: Batches, before: Instant): Promise<number> {
  return batches.repeat(
    async (tx, limit) => {
      const found = await rows(
        tx,
        `select id from monitors where deleted_at < ? and not exists (select 1 from alerts a where a.monitor_id = monitors.id)
           and not exists (select 1 from monitor_targets t join cronjobs c on c.id = t.cronjob_id
             where t.monitor_id = monitors.id and t.removed_at >= c.deleted_at - ${deletionSeenTogetherMs})
         order by id limit ${limit}`,
        [before],
      );
      const ids = found.map((row) => row['id']);
      if (ids.length === 0) return 0;
      for (const table of ['monitor_targets', 'due']) {
        await change(tx, `delete from ${table} where monitor_id in (${marks(ids)})`, ids);
      }
      return change(tx, `delete from monitors where id in (${marks(ids)})`, ids);
    },
    { most: 100 },
  );
}

async function pruneChannels(batches: Batches, before: Instant): Promise<number> {
  return batches.repeat(
    async (tx, limit) => {
      const found = await rows(
        tx,
        `select uid from channels where deleted_at < ?
           and not exists (select 1 from deliveries d where d.channel_uid = channels.uid)
           and not exists (select 1 from alert_decisions a where a.channel_uid = channels.uid) order by uid limit ${limit}`,
        [before],
      );
      const uids = found.map((row) => row['uid']);
      if (uids.length === 0) return 0;
      const scopes = uids
        .map((uid) => channelScope(tx.dialect.id16Text(uid)))
        .flatMap((scope) => [scope, criticalScope(scope)]);
      await change(tx, `delete from rate_limits where scope in (${marks(scopes)})`, scopes);
      return change(tx, `delete from channels where uid in (${marks(uids)})`, uids);
    },
    { most: 100 },
  );
}

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
const deletionSeenTogetherMs = 60_000;

/** Every CronJob that has a row, deleted ones too. Three statements. */
export async function listRetentionOwners(db: Db): Promise<RetentionOwner[]> {
  const monitors = await rows(db, 'select id, spec from monitors');
  const rules = new Map(monitors.map((row) => [Number(row['id']), retentionRuleOf(fromJson(row['spec']))]));
  const targets = await rows(db, 'select cronjob_id, monitor_id, removed_at from monitor_targets');
  const targetsOf = Map.groupBy(targets, (row) => Number(row['cronjob_id']));
  const cronJobs = await rows(
    db,
    `select id, namespace, name, deleted_at from cronjobs c where not (${isPlaceholder('c')}) order by id`,
  );
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
