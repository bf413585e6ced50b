import type { AlertRun } from '../../domain/index.ts';
import { optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { fullJobName, fullReason } from '../executions/short-text.ts';
import { toId16 } from '../id16.ts';
import { rowsIn } from '../upsert.ts';
import { flagBits, triggerWords } from '../words.ts';

/** Recorded runs as alerts speak of them, by Job UID; those without a row are absent. */
export async function listAlertRuns(db: Db, jobUids: readonly string[]): Promise<ReadonlyMap<string, AlertRun>> {
  const uidOf = new Map([...new Set(jobUids)].map((uid) => [toId16(uid), uid]));
  const found = await rowsIn(
    db,
    [...uidOf.keys()].map((id16) => db.dialect.id16(id16)),
    (marks) =>
      'select e.job_uid, e.job_name, e."trigger", e.scheduled_at, e.started_at, e.finished_at, e.duration_ms, e.exit_code, ' +
      'e.reason, e.job_reason, e.attempts, e.flags, e.fix, c.name as cronjob_name from executions e ' +
      `join cronjobs c on c.id = e.cronjob_id where e.job_uid in (${marks})`,
  );
  return new Map(
    found.map((row) => {
      const id16 = db.dialect.id16Text(row['job_uid']);
      const jobUid = uidOf.get(id16) ?? id16;
      const flags = Number(row['flags']);
      return [
        jobUid,
        {
          jobUid,
          jobName: fullJobName(String(row['job_name']), String(row['cronjob_name'])),
          trigger: triggerWords.toWord(row['trigger']),
          scheduledAt: optionalNumber(row['scheduled_at']),
          startedAt: optionalNumber(row['started_at']),
          finishedAt: optionalNumber(row['finished_at']),
          durationMs: optionalNumber(row['duration_ms']),
          exitCode: optionalNumber(row['exit_code']),
          reason: fullReason(row['reason'] ?? row['job_reason']),
          attempts: optionalNumber(row['attempts']),
          fix: optionalText(row['fix']),
          hasLogs: (flags & flagBits.hasLogs) !== 0,
          hasEvents: (flags & flagBits.hasEvents) !== 0,
        },
      ];
    }),
  );
}
