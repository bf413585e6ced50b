import { systemClock } from '@cronjob-monitor/shared/process';
import {
  listExecutions,
  openStore,
  type Store,
  type StoredExecution,
  type StoreSettings,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { readNumber, readRows } from '../../store/rows.ts';
import type { ExpectedRun } from './expected-runs.ts';

/** Another look at the rows of a service, beside it. */
export function openBeside(settings: StoreSettings): Store {
  return openStore(settings, { clock: systemClock, log: new RecordingLogger() });
}

/** Every run in the database, oldest first. */
export async function listStoredRuns(store: Store): Promise<StoredExecution[]> {
  const ids = (await readRows(store, 'select id from cronjobs')).map(({ id }) => Number(id));
  const page = { limit: 100_000, offset: 0 };
  return listExecutions(store, { cronJobIds: ids }, { sort: { key: 'time', descending: false }, page });
}

/** How the rows differ from what must be there, one sentence each; empty: they are equal. */
export function differences(expected: readonly ExpectedRun[], stored: readonly StoredExecution[]): string[] {
  const rows = new Map<string, StoredExecution>();
  const found: string[] = [];
  for (const row of stored) {
    if (rows.has(row.jobUid)) found.push(`${nameOf(row)}: recorded twice`);
    rows.set(row.jobUid, row);
  }
  for (const run of expected) {
    const row = rows.get(run.job.uid);
    rows.delete(run.job.uid);
    if (row) found.push(...differencesOf(run, row));
    else if (!run.mayBeMissing) found.push(`${run.job.namespace}/${run.job.name}: missing, it is ${run.statuses[0]}`);
  }
  for (const row of rows.values()) found.push(`${nameOf(row)}: ${row.status} is recorded, and its end was not seen`);
  return found;
}

function differencesOf(run: ExpectedRun, row: StoredExecution): string[] {
  const { job } = run;
  const compared: [what: string, right: readonly unknown[] | undefined, got: unknown][] = [
    ['namespace', [job.namespace], row.namespace],
    ['CronJob', [job.cronJob], row.cronJobName],
    ['UID of the CronJob', [job.cronJobUid], row.cronJobUid],
    ['Job', [job.name], row.jobName],
    ['status', run.statuses, row.status],
    ['trigger', [run.trigger], row.trigger],
    ['scheduled instant', [job.slotAt], row.scheduledAt],
    ['reason of the Job', run.jobReasons, row.jobReason],
    ['exit code', run.exitCodes, row.exitCode],
    ['reason', run.reasons, row.reason],
    ['failed indexes', run.failedIndexes, row.failedIndexes],
    ['start', [job.startedAt], row.startedAt],
    ['end', run.ends, row.finishedAt],
  ];
  return compared.flatMap(([what, right, got]) =>
    right === undefined || right.includes(got)
      ? []
      : [`${nameOf(row)}: ${what} is ${String(got)}, not ${right.map(String).join(' or ')}`],
  );
}

function nameOf({ namespace, jobName }: StoredExecution): string {
  return `${namespace}/${jobName}`;
}

/** Counts that are kept beside the rows, against the rows themselves: invariant I5, and no row for a UID twice. */
export async function miscounts(store: Store): Promise<string[]> {
  const count = (sql: string): Promise<number> => readNumber(store, sql);
  const rows = await count('select count(*) as n from executions');
  const found: string[] = [];
  const distinct = await count('select count(distinct job_uid) as n from executions');
  if (distinct !== rows) found.push(`${rows} rows of ${distinct} Jobs`);
  const counted = await count(
    'select coalesce(sum(success + failed + replaced + deleted + unobserved + manual), 0) as n from rollups',
  );
  if (counted !== rows) found.push(`the days count ${counted} runs, there are ${rows}`);
  const alsoActive = await count(
    'select count(*) as n from active_jobs a where exists (select 1 from executions e where e.job_uid = a.job_uid)',
  );
  if (alsoActive > 0) found.push(`${alsoActive} recorded runs are shown as going on`);
  return found;
}
