import type { Instant } from '../domain/index.ts';
import { change, insertRows, rows, type Row } from './ask.ts';
import { fromJson, optionalNumber, toJson } from './column.ts';
import type { Db, Tx } from './database.ts';
import { quoted, updateAll } from './upsert.ts';

/** The heartbeat that a controller replica writes every third of the lease time. Holders are pod name + `_` + random. */
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

/** How often a leader that elections know writes that it lives. */
export const leaderBeatMs = 1_000;

/** Writes that the leader lives, under its epoch: what is acknowledged came before the epoch of any other. */
export async function beatAsLeader(tx: Tx, holder: string): Promise<void> {
  await change(tx, 'update heartbeats set beat_at = ? where holder = ?', [tx.now(), holder]);
}

/** The last sign of life of a replica that leads, or led. */
export interface LeaderBeat {
  readonly holder: string;
  readonly beatAt: Instant;
  /** A replica beats each second: one without a beat for longer has died, or does not reach the database. */
  readonly isSteady: boolean;
  /** UID of the cluster that it watches; undefined: it could not read it. */
  readonly clusterUid: string | undefined;
}

/** Of the replica that took the epoch last; undefined: it has not said yet that it leads. */
export async function findLeaderBeat(db: Db): Promise<LeaderBeat | undefined> {
  const [row] = await rows(
    db,
    `select h.holder, h.beat_at, h.figures from leader l
     join heartbeats h on h.holder = l.holder and h.epoch = l.epoch and h."leading" = 1 where l.id = 1`,
  );
  if (row === undefined) return undefined;
  const { beatEveryMs, clusterUid } = fromJson(row['figures']) as Record<'beatEveryMs' | 'clusterUid', unknown>;
  return {
    holder: String(row['holder']),
    beatAt: Number(row['beat_at']),
    isSteady: typeof beatEveryMs === 'number' && beatEveryMs <= leaderBeatMs,
    clusterUid: typeof clusterUid === 'string' ? clusterUid : undefined,
  };
}

/**
 * The last sign of life of the process that took the epoch last: its beat as the leader, or that it took the epoch while it has not beaten
 * since. Undefined: nothing has, or it ended in order.
 */
export async function findLastWriter(db: Db): Promise<Pick<LeaderBeat, 'holder' | 'beatAt'> | undefined> {
  const [row] = await rows(
    db,
    `select l.holder, l.since_at, h.beat_at, case when h."leading" = 1 and h.epoch = l.epoch then 1 else 0 end as leads
     from leader l left join heartbeats h on h.holder = l.holder where l.id = 1 and l.epoch > 0`,
  );
  if (row === undefined) return undefined;
  const takenAt = Number(row['since_at']);
  const beatAt = optionalNumber(row['beat_at']) ?? takenAt;
  const hasEnded = beatAt > takenAt && Number(row['leads']) === 0;
  return hasEnded ? undefined : { holder: String(row['holder']), beatAt: Math.max(takenAt, beatAt) };
}

/** The last beat as leader of any other replica; undefined: no other replica has led. */
export async function findLastBeatOfOthers(db: Db, holder: string): Promise<Instant | undefined> {
  const [row] = await rows(db, 'select max(beat_at) as at from heartbeats where "leading" = 1 and holder <> ?', [
    holder,
  ]);
  return optionalNumber(row?.['at']);
}

/** All replicas that have beaten and are not forgotten, newest beat first. */
export async function listHeartbeats(db: Db): Promise<Heartbeat[]> {
  const found = await rows(db, `select ${quoted(columns)} from heartbeats order by beat_at desc, holder`);
  return found.map(toHeartbeat);
}

/** The newest beat that says it leads and is at most `leaseMs` old; undefined when no replica leads. */
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
