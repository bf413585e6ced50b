import { randomUUID } from 'node:crypto';
import {
  insertAlerts,
  listCronJobs,
  migrate,
  projectChannel,
  projectCronJobs,
  projectMonitor,
  relistAll,
  setTargets,
  takeEpoch,
  insertDelivery,
  type CatalogCronJob,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { aDelivery, anAlert } from '../store/alert-facts.ts';
import { minuteMs, dayMs } from '@cronjob-monitor/shared/domain';

/** What a database of the benchmark holds. */
export interface FilledFleet {
  readonly cronJobs: number;
  readonly executions: number;
  /** The CronJob with the most runs: one each minute. */
  readonly minutely: { readonly namespace: string; readonly name: string };
  readonly hourly: { readonly namespace: string; readonly name: string };
  readonly openAlerts: number;
}

const days = 30;
const runsOfMinutely = (days * dayMs) / minuteMs;
const namespaces = 20;
const openAlerts = 200;
const alertsInHistory = 2_000;
/** Rows of one transaction of ours. */
const batch = 500;

/**
 * A fleet of `cronJobs` with `executions` ended runs of the last 30 days before `now`, in the order in which they would have come: a
 * fifth of them of CronJobs that run every minute, the others spread evenly. Daily figures, last runs and open alerts agree with them.
 */
export async function fillFleet(
  store: Store,
  size: { readonly cronJobs: number; readonly executions: number },
  now: number,
): Promise<FilledFleet> {
  await migrate(store, { version: 'bench' });
  const epoch = await takeEpoch(store, 'bench');
  await fillCatalog(store, epoch, size.cronJobs, now);
  const executions = await fillExecutions(store, size, now);
  await fillRollups(store, now);
  await fillLastRuns(store, now);
  const listed = await listCronJobs(store, {});
  await fillAlerts(store, epoch, listed, now);
  await relistAll(store); // rows were written by hand
  await analyse(store);
  const at = (index: number): { namespace: string; name: string } => ({
    namespace: namespaceOf(index),
    name: nameOf(index),
  });
  return { cronJobs: size.cronJobs, executions, minutely: at(0), hourly: at(1), openAlerts };
}

const namespaceOf = (index: number): string => `bench-${String(index % namespaces).padStart(2, '0')}`;
export const benchNamespaces: readonly string[] = Array.from({ length: namespaces }, (_, index) => namespaceOf(index));
const nameOf = (index: number): string => `job-${String(index).padStart(5, '0')}`;

async function fillCatalog(store: Store, epoch: number, cronJobs: number, now: number): Promise<void> {
  const uids = Array.from({ length: cronJobs }, () => randomUUID());
  for (let start = 0; start < cronJobs; start += batch) {
    const seen = uids.slice(start, start + batch).map((uid, offset) => {
      const index = start + offset;
      return {
        facts: aCronJob({
          uid,
          namespace: namespaceOf(index),
          name: nameOf(index),
          schedule: `${index % 60} ${index % 24} * * *`,
          suspended: index % 50 === 0,
          createdAt: now - 90 * dayMs,
        }),
        seenAt: now,
        nextRunAt: now + ((index * 613) % 1_440) * minuteMs + minuteMs,
      };
    });
    await store.fenced(epoch, (tx) => projectCronJobs(tx, seen));
  }
  for (let number = 0; number < namespaces; number++) {
    const uid = randomUUID();
    // Two windows, so that a list asks for both.
    const sla = { enabled: true, minSuccessRate: 97, windowDays: number % 10 === 0 ? 30 : 7 };
    await store.fenced(epoch, async (tx) => {
      await projectMonitor(tx, {
        uid,
        namespace: namespaceOf(number),
        name: 'all',
        generation: 1,
        createdAt: now - 90 * dayMs,
        spec: { sla },
        phase: 'Active',
        conditions: [],
        counts: {},
        evaluatedAt: now,
      });
      const targets = uids.flatMap((cronJobUid, index) =>
        index % namespaces === number ? [{ cronJobUid, leading: true }] : [],
      );
      await setTargets(tx, uid, targets, now);
    });
  }
}

async function fillExecutions(
  store: Store,
  { cronJobs, executions }: { readonly cronJobs: number; readonly executions: number },
  now: number,
): Promise<number> {
  const minutely = Math.min(cronJobs, Math.max(1, Math.round((executions * 0.2) / runsOfMinutely)));
  const each = Math.max(1, Math.floor((executions - minutely * runsOfMinutely) / Math.max(1, cronJobs - minutely)));
  const spacing = Math.floor((days * dayMs) / each / 1_000) * 1_000;
  const isPostgres = store.dialect.name === 'postgres';
  const ask = (sql: string): Promise<unknown> => store.sql.raw(sql);
  const rebuild = await dropIndexes(store);
  await ask('create table bench_numbers (i integer primary key)');
  await ask(
    'insert into bench_numbers with recursive n(i) as (select 0 union all select i + 1 from n where i < ' +
      `${Math.max(each, runsOfMinutely) - 1}) select i from n`,
  );
  await ask('create table bench_fleet (id bigint primary key, every_ms bigint, first_at bigint, runs integer)');
  // Ids count from 1 in the order of the catalog.
  await ask(
    `insert into bench_fleet select id, every_ms, ${now} - 5000 - (id * 7919000) % every_ms, runs from (select id, ` +
      `case when id <= ${minutely} then ${minuteMs} else ${spacing} end as every_ms, ` +
      `case when id <= ${minutely} then ${runsOfMinutely} else ${each} end as runs from cronjobs) c`,
  );
  await analyse(store);
  const uid = isPostgres ? "md5(id || '-' || i)::uuid" : 'randomblob(16)';
  const hash = isPostgres ? 'md5(id::text)::uuid' : "cast('0123456789abcdef' as blob)";
  // Day by day, oldest first, each in the order of time: so the rows lie on the disk as they would have come.
  for (let daysAgo = days + 1; daysAgo >= 0; daysAgo--) {
    const [from, until] = [now - (daysAgo + 1) * dayMs, now - daysAgo * dayMs];
    await ask(
      'insert into executions (cronjob_id, created_at, job_uid, scheduled_at, started_at, finished_at, duration_ms, recorded_at, ' +
        'exit_code, attempts, status, "trigger", flags, job_name, reason, job_reason, node, template_hash) ' +
        `select id, created_at, ${uid}, case when i % 41 = 7 then null else created_at - 500 end, created_at + 1000, ` +
        'created_at + 1000 + took_ms, took_ms, created_at + 1200 + took_ms, case when is_failed = 1 then 1 end, 1, is_failed, ' +
        `case when i % 41 = 7 then 1 else 0 end, is_failed * 24, '-' || (created_at / ${minuteMs}), ` +
        `case when is_failed = 1 then '#7' end, case when is_failed = 1 then '#1' else '#0' end, 'node-' || (id % 40), ${hash} from (` +
        'select f.id, n.i, f.first_at - n.i * f.every_ms as created_at, 2000 + (f.id * 37 + n.i * 613) % 400 * 100 as took_ms, ' +
        'case when (f.id + n.i * 31) % 50 = 0 then 1 else 0 end as is_failed from bench_fleet f cross join bench_numbers n ' +
        // The second pair says the same to the key of the numbers, one run more on each side.
        `where n.i < f.runs and f.first_at - n.i * f.every_ms >= ${from} and f.first_at - n.i * f.every_ms < ${until} ` +
        `and n.i >= (f.first_at - ${until}) / f.every_ms and n.i <= (f.first_at - ${from}) / f.every_ms + 1) r order by created_at`,
    );
  }
  await ask('drop table bench_numbers');
  await ask('drop table bench_fleet');
  for (const statement of rebuild) await ask(statement);
  const [counted] = await rowsOf(store, 'select count(*) as n from executions');
  return Number(counted?.['n']);
}

/** An index is made ten times faster over rows that are there; the statements that make them. */
async function dropIndexes(store: Store): Promise<string[]> {
  if (store.dialect.name === 'sqlite') {
    const found = await rowsOf(
      store,
      "select name, sql from sqlite_master where type = 'index' and tbl_name = 'executions' and sql is not null",
    );
    for (const { name } of found) await store.sql.raw(`drop index ${String(name)}`);
    return found.map(({ sql }) => String(sql));
  }
  const found = await rowsOf(store, "select indexname, indexdef from pg_indexes where tablename = 'executions'");
  const others = found.filter(({ indexname }) => indexname !== 'executions_pkey');
  for (const { indexname } of others) await store.sql.raw(`drop index ${String(indexname)}`);
  await store.sql.raw('alter table executions drop constraint executions_pkey');
  // It is thrown away anyway, and written without a log in a third of the time.
  await store.sql.raw('alter table executions set unlogged');
  return [
    'alter table executions add constraint executions_pkey primary key (job_uid)',
    ...others.map(({ indexdef }) => String(indexdef)),
  ];
}

async function fillRollups(store: Store, now: number): Promise<void> {
  const today = Math.floor(now / dayMs);
  const counts = (condition: string): string => `sum(case when ${condition} then 1 else 0 end)`;
  const success = 'status = 0 and "trigger" = 0';
  const durations = `case when ${success} then duration_ms end`;
  await store.sql.raw(
    'insert into rollups (cronjob_id, day, success, failed, manual, duration_n, duration_sum, duration_min, duration_max) ' +
      `select cronjob_id, created_at / ${dayMs}, ${counts(success)}, ${counts('status = 1 and "trigger" = 0')}, ` +
      `${counts('"trigger" = 1')}, ${counts(success)}, coalesce(sum(${durations}), 0), min(${durations}), max(${durations}) ` +
      'from executions group by 1, 2',
  );
  await store.sql('rollups').where('day', '<', today).update({ sealed_at: now });
}

/** The newest run stands on the row of its CronJob; those that fail last have an alert. */
async function fillLastRuns(store: Store, now: number): Promise<void> {
  const newest = await rowsOf(
    store,
    'select e.cronjob_id, e.job_uid, e.job_name, e.status, e.scheduled_at, e.created_at, e.started_at, e.finished_at, e.duration_ms, ' +
      'l.oldest_at, c.name from (select cronjob_id, max(created_at) as newest_at, min(created_at) as oldest_at from executions ' +
      'group by cronjob_id) l join executions e on e.cronjob_id = l.cronjob_id and e.created_at = l.newest_at ' +
      'join cronjobs c on c.id = e.cronjob_id',
  );
  for (let start = 0; start < newest.length; start += batch) {
    await store.transaction(async (tx) => {
      for (const row of newest.slice(start, start + batch)) {
        const number = (column: string): number | undefined => (row[column] === null ? undefined : Number(row[column]));
        const isFailed = Number(row['status']) === 1;
        const lastRun = {
          jobUid: store.dialect.id16Text(row['job_uid']),
          jobName: `${String(row['name'])}${String(row['job_name'])}`,
          status: isFailed ? 'failed' : 'success',
          trigger: row['scheduled_at'] === null ? 'manual' : 'scheduled',
          scheduledAt: number('scheduled_at'),
          createdAt: number('created_at'),
          startedAt: number('started_at'),
          finishedAt: number('finished_at'),
          durationMs: number('duration_ms'),
          exitCode: isFailed ? 1 : undefined,
          reason: isFailed ? 'Error' : undefined,
        };
        await tx
          .sql('cronjobs')
          .where({ id: row['cronjob_id'] })
          .update({
            last_run: JSON.stringify(lastRun),
            failed_run: isFailed ? JSON.stringify(lastRun) : null,
            state: isFailed ? 2 : 5,
            last_success_at: isFailed ? now - dayMs : lastRun.finishedAt,
            last_failure_at: isFailed ? lastRun.finishedAt : null,
            oldest_run_at: row['oldest_at'],
            evaluated_through_at: now,
          });
      }
    });
  }
}

async function fillAlerts(store: Store, epoch: number, listed: readonly CatalogCronJob[], now: number): Promise<void> {
  const channel = { uid: randomUUID(), name: 'ops' };
  const facts = { type: 'webhook', generation: 1, spec: {}, ready: true, reason: 'Validated', message: '' } as const;
  await store.fenced(epoch, (tx) => projectChannel(tx, { ...channel, ...facts, secretVersion: undefined }, now));
  const monitors = await rowsOf(store, 'select monitor_id, cronjob_id from monitor_targets');
  const monitorOf = new Map(monitors.map((row) => [Number(row['cronjob_id']), Number(row['monitor_id'])]));
  const total = openAlerts + alertsInHistory;
  for (let start = 0; start < total; start += batch) {
    await store.fenced(epoch, async (tx) => {
      for (let number = start; number < Math.min(total, start + batch); number++) {
        const cronJob = listed[(number * 37) % listed.length];
        if (!cronJob) continue;
        const isOpen = number < openAlerts;
        const at = now - (number + 1) * 4 * minuteMs;
        const severity = number % 4 === 0 ? 'critical' : 'warning';
        const alert = anAlert(cronJob.id, at, {
          monitorId: monitorOf.get(cronJob.id) ?? 0,
          namespace: cronJob.namespace,
          cronJobName: cronJob.name,
          severity,
          ...(isOpen ? {} : { state: 'resolved', endedAt: at + minuteMs }),
          context: {
            jobName: cronJob.lastRun?.jobName ?? '',
            exitCode: 1,
            reason: 'Error',
            suggestedFix: 'Look at its log.',
          },
        });
        await insertAlerts(tx, [alert]);
        await insertDelivery(
          tx,
          aDelivery(store, channel, { createdAt: at, streamId: alert.id, alertId: alert.id, severity }),
        );
        if (isOpen)
          await tx
            .sql('cronjobs')
            .where({ id: cronJob.id })
            .update({ worst_severity: severity, active_alerts: 1, state: severity === 'critical' ? 0 : 1 });
      }
    });
  }
  await store.sql('deliveries').update({ state: 'sent', ended_at: now, attempts: 1, payload: null });
}

async function analyse(store: Store): Promise<void> {
  await store.sql.raw(store.dialect.name === 'postgres' ? 'vacuum analyze' : 'analyze');
}

async function rowsOf(store: Store, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return store.dialect.rowsOf(await store.sql.raw(sql));
}
