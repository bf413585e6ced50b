import type { Instant } from '../domain/index.ts';
import { change, insertRows, rows, type Row } from './ask.ts';
import { fromJson, optionalNumber, toJson } from './column.ts';
import type { Db } from './database.ts';
import { quoted, updateAll } from './upsert.ts';

/** What one controller replica says of itself, every third of the lease time. Holders are pod name + `_` + random. */
export interface Heartbeat {
  readonly holder: string;
  readonly version: string;
  readonly leading: boolean;
  /** The epoch it leads with; undefined while it does not. */
  readonly epoch: number | undefined;
  readonly startedAt: Instant;
  readonly beatAt: Instant;
  /** Names of the schedulers that run in it. */
  readonly schedulers: readonly string[];
  /** End of its last full evaluation; undefined before the first. */
  readonly evaluatedAt: Instant | undefined;
  /** Watch ages, loop p99 and the like; JSON values only. */
  readonly figures: Readonly<Record<string, unknown>>;
}

const columns = [
  'holder',
  'version',
  'leading',
  'epoch',
  'started_at',
  'beat_at',
  'schedulers',
  'evaluated_at',
  'figures',
] as const;

/** Writes the row of one replica. */
export async function beat(db: Db, heartbeat: Heartbeat): Promise<void> {
  const { holder, version, leading, epoch, startedAt, beatAt, schedulers, evaluatedAt, figures } = heartbeat;
  await insertRows(db, {
    table: 'heartbeats',
    columns,
    rows: [
      [holder, version, Number(leading), epoch, startedAt, beatAt, toJson(schedulers), evaluatedAt, toJson(figures)],
    ],
    tail: updateAll(db.dialect, ['holder'], columns.slice(1)),
  });
}

/** All replicas that have beaten and are not forgotten, newest beat first. */
export async function listHeartbeats(db: Db): Promise<Heartbeat[]> {
  const found = await rows(db, `select ${quoted(columns)} from heartbeats order by beat_at desc, holder`);
  return found.map(toHeartbeat);
}

/** The newest beat that says it leads and is at most `leaseMs` old; undefined when nobody leads. */
export async function findLiveLeader(db: Db, now: Instant, leaseMs: number): Promise<Heartbeat | undefined> {
  const found = await rows(
    db,
    `select ${quoted(columns)} from heartbeats where "leading" = 1 and beat_at >= ?
     order by epoch desc, beat_at desc, holder limit 1`,
    [now - leaseMs],
  );
  return found.map(toHeartbeat)[0];
}

/** Removes the rows whose last beat is before `before`. Returns how many. */
export async function forgetHeartbeats(db: Db, before: Instant): Promise<number> {
  return change(db, 'delete from heartbeats where beat_at < ?', [before]);
}

function toHeartbeat(row: Row): Heartbeat {
  return {
    holder: String(row['holder']),
    version: String(row['version']),
    leading: Number(row['leading']) === 1,
    epoch: optionalNumber(row['epoch']),
    startedAt: Number(row['started_at']),
    beatAt: Number(row['beat_at']),
    schedulers: fromJson(row['schedulers']) as string[],
    evaluatedAt: optionalNumber(row['evaluated_at']),
    figures: fromJson(row['figures']) as Record<string, unknown>,
  };
}
