import type { Instant, Silence, SilenceMatcher, MutableAlert } from '../domain/index.ts';
import { change, insertRows, rows, type Row, findById } from './ask.ts';
import { recordChanges } from './changes.ts';
import { cleanText, fromJson, optionalNumber, toJson, optionalText } from './column.ts';
import type { Db, Tx } from './database.ts';
import { updateAll } from './upsert.ts';

/** A silence with what people said about it. */
export interface StoredSilence extends Silence {
  /** Ends also when nothing it holds is open. */
  readonly untilResolved: boolean;
  readonly comment: string;
  readonly createdBy: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

const columns = [
  'id',
  'matcher',
  'starts_at',
  'ends_at',
  'until_resolved',
  'comment',
  'created_by',
  'created_at',
  'updated_at',
  'ended_at',
] as const;
const selected = columns.join(', ');

/** Writes a silence; one of the same id gets another matcher, span and comment, and keeps its author. */
export async function putSilence(tx: Tx, silence: StoredSilence): Promise<void> {
  await insertRows(tx, {
    table: 'silences',
    columns,
    rows: [
      [
        tx.dialect.id16(silence.id),
        toJson(silence.matcher),
        silence.startsAt,
        silence.endsAt,
        Number(silence.untilResolved),
        cleanText(silence.comment, 500),
        cleanText(silence.createdBy, 253),
        silence.createdAt,
        silence.updatedAt,
        silence.endedAt ?? null,
      ],
    ],
    tail: updateAll(tx.dialect, ['id'], ['matcher', 'starts_at', 'ends_at', 'until_resolved', 'comment', 'updated_at']),
  });
  const at = tx.now();
  const state = at < silence.startsAt ? 'scheduled' : at < silence.endsAt ? 'active' : 'expired';
  await recordChanges(tx, [{ kind: 'silence', namespace: undefined, data: { id: silence.id, state } }]);
}

/** Ends a silence before its time. False: no such silence, or it was over. */
export async function updateSilenceEnd(tx: Tx, id: string, at: Instant): Promise<boolean> {
  const ended = await change(
    tx,
    'update silences set ended_at = ?, updated_at = ? where id = ? and ended_at is null and ends_at > ?',
    [at, at, tx.dialect.id16(id), at],
  );
  if (ended === 0) return false;
  await recordChanges(tx, [{ kind: 'silence', namespace: undefined, data: { id, state: 'expired' } }]);
  return true;
}

/** Undefined: no silence has this id. */
export function findSilence(db: Db, id: string): Promise<StoredSilence | undefined> {
  return findById(db, `select ${selected} from silences where id = ?`, id, toSilence);
}

/** Locks and reads the silence of this id; undefined: no such silence. */
export function lockSilence(tx: Tx, id: string): Promise<StoredSilence | undefined> {
  return findById(tx, `select ${selected} from silences where id = ?${tx.dialect.lock.update}`, id, toSilence);
}

/** Every silence that is kept, those that are over too. There are hundreds at most: filters and order are the caller's. */
export async function listKeptSilences(db: Db): Promise<StoredSilence[]> {
  const found = await rows(db, `select ${selected} from silences order by ends_at, id`);
  return found.map((row) => toSilence(db, row));
}

/** Silences that end after `at` and were not ended before: those in force, and those to come. */
export async function listSilences(db: Db, at: Instant): Promise<StoredSilence[]> {
  const found = await rows(
    db,
    `select ${selected} from silences where ends_at > ? and (ended_at is null or ended_at > ?) order by ends_at, id`,
    [at, at],
  );
  return found.map((row) => toSilence(db, row));
}

function toSilence(db: Db, row: Row): StoredSilence {
  return {
    id: db.dialect.id16Text(row['id']),
    matcher: fromJson(row['matcher']) as SilenceMatcher,
    startsAt: Number(row['starts_at']),
    endsAt: Number(row['ends_at']),
    untilResolved: Number(row['until_resolved']) === 1,
    comment: String(row['comment']),
    createdBy: String(row['created_by']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    endedAt: optionalNumber(row['ended_at']),
  };
}

/** Every live alert, as far as a silence is asked about it. */
export async function listMutableAlerts(db: Db): Promise<MutableAlert[]> {
  const found = await rows(
    db,
    'select a.id, a.namespace, a.cronjob_name, a.type, a.severity, m.namespace as monitor_namespace, m.name as monitor_name ' +
      "from alerts a left join monitors m on m.id = a.monitor_id where a.state in ('pending', 'active', 'suppressed') order by a.id",
  );
  return found.map((row) => ({
    id: db.dialect.id16Text(row['id']),
    namespace: String(row['namespace']),
    cronJobName: String(row['cronjob_name']),
    type: String(row['type']),
    severity: String(row['severity']),
    // The row of a monitor stays as long as an alert refers to it.
    monitor: { namespace: optionalText(row['monitor_namespace']) ?? '', name: optionalText(row['monitor_name']) ?? '' },
  }));
}

/** The alerts that silences have held: their namespaces by id, by id of the silence. Undefined: the alert is gone. */
type MutedBySilence = ReadonlyMap<string, ReadonlyMap<string, string | undefined>>;

/** Alerts that each silence has held since `since`, by the ledger; a silence that held no alert is absent. */
export async function listMutedBySilence(db: Db, since: Instant): Promise<MutedBySilence> {
  const found = await rows(
    db,
    'select d.detail, d.alert_id, a.namespace from alert_decisions d left join alerts a on a.id = d.alert_id ' +
      "where d.at >= ? and d.action in ('suppressed', 'held') and d.reason = 'silence' " +
      'and d.alert_id is not null and d.detail is not null',
    [since],
  );
  const muted = new Map<string, Map<string, string | undefined>>();
  for (const row of found) {
    const silenceId = String(row['detail']);
    const alerts = muted.get(silenceId) ?? new Map<string, string | undefined>();
    alerts.set(db.dialect.id16Text(row['alert_id']), optionalText(row['namespace']));
    muted.set(silenceId, alerts);
  }
  return muted;
}
