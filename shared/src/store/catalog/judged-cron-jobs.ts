import type { BrokenTarget, Instant } from '../../domain/index.ts';
import { fromJson, optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import { type StoredWords, toStoredWords } from './own-settings.ts';
import { judgesFrom } from './cron-job-ids.ts';
import type { LastRun } from './run-columns.ts';

/** A CronJob whose verdicts are asked, as its row knows it. */
export interface JudgedCronJob {
  readonly id: number;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly deletedAt: Instant | undefined;
  readonly lastSuccessAt: Instant | undefined;
  /** Runs that ended until then may have been removed from its history, by a person or by age; undefined: none was. */
  readonly baselineAt: Instant | undefined;
  /** The newest scheduled run that failed, while none has succeeded since: also when it was removed. */
  readonly failedRun: LastRun | undefined;
  /** When the newest run that has ended was made; undefined: none has. */
  readonly ranAt: Instant | undefined;
  /** It waits for other CronJobs. */
  readonly isDependent: boolean;
  /** Promises that the figures broke when they were judged last. */
  readonly broken: readonly BrokenTarget[];
  /** What its annotations and those of its Namespace said when its row was written last, and before. */
  readonly said: StoredWords;
  /** When its row was written last. */
  readonly seenAt: Instant;
  /** Every monitor that selects it or did. */
  readonly monitors: readonly JudgingMonitor[];
}

/** A monitor of a CronJob, or one that was. */
export interface JudgingMonitor {
  readonly id: number;
  /** What its alerts are known by, as 16 bytes in UUID text: the UID of the first of all objects of this name that count as one. */
  readonly id16: string;
  readonly namespace: string;
  readonly name: string;
  /** From when on it judges the CronJob: what ended before opens nothing. Of facts of the cluster alone. */
  readonly judgesFromAt: Instant;
  /** Runs that were recorded before its row were judged; false: they never were. */
  readonly wasJudged: boolean;
  /** What ended since then was not judged for this monitor, which was away; undefined: it was not. */
  readonly newsFromAt: Instant | undefined;
  readonly selects: boolean;
  /** When it selected the CronJob last; undefined: it does. */
  readonly removedAt: Instant | undefined;
  /** Of the spec in its row. */
  readonly generation: number;
  /** Since when it asks what that says; undefined: it never asked anything else. */
  readonly respecifiedAt: Instant | undefined;
  readonly isDeleted: boolean;
  /** When it went; undefined: it is there. */
  readonly deletedAt: Instant | undefined;
}

/** These CronJobs with their monitors; unknown ids are absent. Two statements for 500 of them. */
export async function listJudgedCronJobs(db: Db, ids: readonly number[]): Promise<JudgedCronJob[]> {
  const cronJobs = await rowsIn(
    db,
    ids,
    (marks) =>
      `select id, uid_text, namespace, name, deleted_at, last_success_at, baseline_at, last_run, failed_run, depends_on, broken, declared, earlier_words, first_seen_at, seen_at ` +
      `from cronjobs where id in (${marks})`,
  );
  const targets = await rowsIn(
    db,
    ids,
    (marks) =>
      `select t.cronjob_id, t.monitor_id, ${judgesFrom('t', 'c')} as judges_from_at, t.judged_at, t.news_from_at, t.removed_at, ` +
      'coalesce(m.first_uid, m.uid) as uid, m.namespace, m.name, m.deleted_at, m.generation, m.respecified_at ' +
      `from monitor_targets t join monitors m on m.id = t.monitor_id join cronjobs c on c.id = t.cronjob_id where t.cronjob_id in (${marks}) order by t.monitor_id`,
  );
  const monitorsOf = Map.groupBy(targets, (row) => Number(row['cronjob_id']));
  return cronJobs.map((row) => ({
    id: Number(row['id']),
    uid: String(row['uid_text']),
    namespace: String(row['namespace']),
    name: String(row['name']),
    deletedAt: optionalNumber(row['deleted_at']),
    lastSuccessAt: optionalNumber(row['last_success_at']),
    baselineAt: optionalNumber(row['baseline_at']),
    failedRun: fromJson(row['failed_run']) as LastRun | undefined,
    ranAt: (fromJson(row['last_run']) as LastRun | undefined)?.createdAt,
    isDependent: row['depends_on'] !== null,
    broken: (fromJson(row['broken']) as readonly BrokenTarget[] | undefined) ?? [],
    said: toStoredWords(row),
    seenAt: Number(row['seen_at'] ?? row['first_seen_at']),
    monitors: (monitorsOf.get(Number(row['id'])) ?? []).map((target) => ({
      id: Number(target['monitor_id']),
      id16: db.dialect.id16Text(target['uid']),
      namespace: String(target['namespace']),
      name: String(target['name']),
      judgesFromAt: Number(target['judges_from_at']),
      wasJudged: target['judged_at'] !== null,
      newsFromAt: optionalNumber(target['news_from_at']),
      selects: target['removed_at'] === null && target['deleted_at'] === null,
      removedAt: optionalNumber(target['removed_at']),
      generation: Number(target['generation']),
      respecifiedAt: optionalNumber(target['respecified_at']),
      isDeleted: target['deleted_at'] !== null,
      deletedAt: optionalNumber(target['deleted_at']),
    })),
  }));
}
