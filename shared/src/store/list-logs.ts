import type { ExecutionStatus } from '../contract/index.ts';
import type { Evidence, Instant } from '../domain/index.ts';
import { marks, rows } from './ask.ts';
import type { Db } from './database.ts';
import { evidenceColumns, toEvidence } from './evidence.ts';
import { fullJobNameSql } from './executions/short-text.ts';
import { afterRow, orderOf, type OrderKey } from './keyset.ts';
import { quoted } from './upsert.ts';
import { statusWords } from './words.ts';

/** Which kept logs of ended runs are wanted. Empty lists filter nothing. */
export interface LogFilter {
  readonly namespaces: readonly string[];
  /** Names. */
  readonly cronJobs: readonly string[];
  readonly statuses: readonly ExecutionStatus[];
  /** Creation of the Job; inclusive, exclusive. */
  readonly since: Instant;
  readonly until: Instant | undefined;
}

/** Where a list of logs goes on. */
export interface LogPlace {
  readonly createdAt: Instant;
  readonly owner: string;
  /** `pod/container`. */
  readonly name: string;
}

/** A kept log with its run. */
export interface KeptLog extends LogPlace {
  readonly namespace: string;
  readonly cronJobName: string;
  readonly jobName: string;
  readonly status: ExecutionStatus;
  readonly endedAt: Instant;
  readonly text: string;
}

const order: readonly OrderKey[] = [
  { sql: 'v.created_at', descending: true },
  { sql: 'v.owner', descending: true },
  { sql: 'v.name', descending: true },
];

/** Kept logs, those of the newest Jobs first: a part of them, after the place where the part before ended. */
export async function listLogs(
  db: Db,
  filter: LogFilter,
  { after, limit }: { readonly after: LogPlace | undefined; readonly limit: number },
): Promise<KeptLog[]> {
  const parts = ["v.kind = 'logs'", 'v.body is not null', 'v.created_at >= ?'];
  const bindings: unknown[] = [filter.since];
  const add = (sql: string, ...values: readonly unknown[]): void => {
    parts.push(sql);
    bindings.push(...values);
  };
  if (filter.until !== undefined) add('v.created_at < ?', filter.until);
  const { namespaces, cronJobs, statuses } = filter;
  if (namespaces.length > 0) add(`c.namespace in (${marks(namespaces)})`, ...namespaces);
  if (cronJobs.length > 0) add(`c.name in (${marks(cronJobs)})`, ...cronJobs);
  if (statuses.length > 0)
    add(`e.status in (${marks(statuses)})`, ...statuses.map((status) => statusWords.toNumber(status)));
  if (after) {
    const later = afterRow(order, [after.createdAt, db.dialect.id16(after.owner), after.name]);
    add(later.sql, ...later.bindings);
  }
  const found = await rows(
    db,
    `select ${quoted(evidenceColumns, 'v')}, c.uid_text, c.namespace, c.name as cronjob_name, e.status, ` +
      `coalesce(e.finished_at, e.created_at) as ended_at, ${fullJobNameSql} as full_job_name from evidence v ` +
      'join executions e on e.job_uid = v.owner join cronjobs c on c.id = e.cronjob_id ' +
      `where ${parts.join(' and ')} order by ${orderOf(order)} limit ${Math.trunc(limit)}`,
    bindings,
  );
  return Promise.all(
    found.map(async (row): Promise<KeptLog> => {
      const { owner, name, createdAt, body = '' }: Evidence = await toEvidence(db, row);
      return {
        owner,
        name,
        createdAt,
        namespace: String(row['namespace']),
        cronJobName: String(row['cronjob_name']),
        jobName: String(row['full_job_name']),
        status: statusWords.toWord(row['status']),
        endedAt: Number(row['ended_at']),
        text: body,
      };
    }),
  );
}
