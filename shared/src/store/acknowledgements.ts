import type { AlertSubject, AlertType } from '../contract/index.ts';
import type { Instant } from '../domain/index.ts';
import { change, insertRows, rows, type Row } from './ask.ts';
import { cleanText, optionalCleanText, optionalNumber, optionalText } from './column.ts';
import type { Db, Tx } from './database.ts';
import { updateAll, rowsByUid } from './upsert.ts';

export interface StoredAcknowledgement {
  readonly byWhom: string;
  readonly at: Instant;
  readonly note: string | undefined;
  readonly expiresAt: Instant | undefined;
}

/** Takes note of an alert, in place of an earlier note. */
export async function putAcknowledgement(tx: Tx, alertId: string, note: StoredAcknowledgement): Promise<void> {
  await insertRows(tx, {
    table: 'acknowledgements',
    columns: ['alert_id', 'by_whom', 'at', 'note', 'expires_at', 'ended_at'],
    rows: [
      [
        tx.dialect.id16(alertId),
        cleanText(note.byWhom, 253),
        note.at,
        optionalCleanText(note.note, 500),
        note.expiresAt ?? null,
        null,
      ],
    ],
    tail: updateAll(tx.dialect, ['alert_id'], ['by_whom', 'at', 'note', 'expires_at', 'ended_at']),
  });
}

function toStoredAcknowledgement(row: Row): StoredAcknowledgement {
  return {
    byWhom: String(row['by_whom']),
    at: Number(row['at']),
    note: optionalText(row['note']),
    expiresAt: optionalNumber(row['expires_at']),
  };
}

/** The notes taken of these alerts and not ended, by id of the alert. */
export async function listAcknowledgements(
  db: Db,
  alertIds: readonly string[],
): Promise<ReadonlyMap<string, StoredAcknowledgement>> {
  const found = await rowsByUid(
    db,
    alertIds,
    'alert_id',
    (marks) =>
      `select alert_id, by_whom, at, note, expires_at from acknowledgements where alert_id in (${marks}) and ended_at is null`,
  );
  return new Map([...found].map(([id, row]) => [id, toStoredAcknowledgement(row)]));
}

/** Ends the note taken of an alert. False: there was none. */
export async function updateAcknowledgementEnd(tx: Tx, alertId: string, at: Instant): Promise<boolean> {
  const ended = await change(tx, 'update acknowledgements set ended_at = ? where alert_id = ? and ended_at is null', [
    at,
    tx.dialect.id16(alertId),
  ]);
  return ended > 0;
}

/** Live alerts whose note is past its `expiresAt` and not ended, in no order. */
export async function listAlertsWithExpiredNote(
  db: Db,
  at: Instant,
): Promise<
  readonly { readonly cronJobId: number; readonly type: AlertType; readonly subject: AlertSubject | undefined }[]
> {
  const found = await rows(
    db,
    'select a.cronjob_id, a.type, a.subject from acknowledgements k join alerts a on a.id = k.alert_id ' +
      "where k.ended_at is null and k.expires_at <= ? and a.state in ('pending', 'active', 'suppressed')",
    [at],
  );
  // The words of the columns are those of the vocabulary: the leader alone writes them.
  return found.map((row) => ({
    cronJobId: Number(row['cronjob_id']),
    type: String(row['type']) as AlertType,
    subject: optionalText(row['subject']) as AlertSubject | undefined,
  }));
}
