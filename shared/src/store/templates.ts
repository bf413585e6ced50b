import { randomBytes } from 'node:crypto';
import { firstRow, insertRows } from './ask.ts';
import { cronJobIdsOf } from './catalog/cron-job-ids.ts';
import { findClusterState, putClusterState } from './cluster-state.ts';
import { fromJson, toJson } from './column.ts';
import type { Db, Tx } from './database.ts';

/** A Job's spec as it is to be kept: made safe before. */
export interface NewTemplate {
  readonly cronJobUid: string;
  readonly hash: string;
  readonly body: unknown;
}

/**
 * Keeps Jobs' specs, each once for its CronJob and hash, so that a run can say what changed since the last success. Those of unknown
 * CronJobs are left out. Returns how many were new.
 */
export async function recordTemplates(tx: Tx, templates: readonly NewTemplate[]): Promise<number> {
  const ids = await cronJobIdsOf(
    tx,
    templates.map(({ cronJobUid }) => cronJobUid),
  );
  const at = tx.now();
  return insertRows(tx, {
    table: 'templates',
    columns: ['cronjob_id', 'hash', 'body', 'first_at'],
    rows: templates.flatMap(({ cronJobUid, hash, body }) => {
      const id = ids.get(cronJobUid);
      return id === undefined ? [] : [[id, tx.dialect.id16(hash), toJson(body), at]];
    }),
    tail: tx.dialect.ifAbsent(['cronjob_id', 'hash']),
  });
}

/** The key of this installation by which secrets in templates are hashed; made when it is asked for first. */
export async function getTemplateKey(tx: Tx): Promise<string> {
  const known = await findClusterState(tx, 'templateKey');
  if (typeof known === 'string') return known;
  const key = randomBytes(32).toString('hex');
  await putClusterState(tx, 'templateKey', key);
  return key;
}

/** A Job's spec as kept; undefined when this hash was never seen. */
export async function findTemplate(db: Db, cronJobId: number, hash: string): Promise<unknown> {
  const row = await firstRow(db, 'select body from templates where cronjob_id = ? and hash = ?', [
    cronJobId,
    db.dialect.id16(hash),
  ]);
  return fromJson(row?.['body']);
}

/** A hash as it was given: 32 hexadecimal digits, kept as the 16 bytes they are. */
export function toTemplateHash(db: Db, value: unknown): string {
  return db.dialect.id16Text(value).replaceAll('-', '');
}
