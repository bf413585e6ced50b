import type { Instant } from '../../domain/index.ts';
import { firstRow, type Row } from '../ask.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { toId16 } from '../id16.ts';

/** What deliveries made of a channel: moved in the transactions that settle them. */
export interface StoredChannelFigures {
  readonly sentTotal: number;
  readonly failedTotal: number;
  readonly failuresInRow: number;
  readonly lastSentAt: Instant | undefined;
  readonly lastFailedAt: Instant | undefined;
  readonly lastError: string | undefined;
  readonly lastTestAt: Instant | undefined;
  readonly lastTest: { readonly success: boolean; readonly message: string; readonly generation?: number } | undefined;
}

export const channelFigureColumns = [
  'sent_total',
  'failed_total',
  'failures_in_row',
  'last_sent_at',
  'last_failed_at',
  'last_error',
  'last_test_at',
  'last_test',
] as const;

/** Undefined when the channel has no row yet. */
export async function findChannelFigures(db: Db, uid: string): Promise<StoredChannelFigures | undefined> {
  const row = await firstRow(db, `select ${channelFigureColumns.join(', ')} from channels where uid = ?`, [
    db.dialect.id16(toId16(uid)),
  ]);
  return row && toChannelFigures(row);
}

export function toChannelFigures(row: Row): StoredChannelFigures {
  return {
    sentTotal: Number(row['sent_total'] ?? 0),
    failedTotal: Number(row['failed_total'] ?? 0),
    failuresInRow: Number(row['failures_in_row'] ?? 0),
    lastSentAt: optionalNumber(row['last_sent_at']),
    lastFailedAt: optionalNumber(row['last_failed_at']),
    lastError: optionalText(row['last_error']),
    lastTestAt: optionalNumber(row['last_test_at']),
    // Written by whoever settles a test.
    lastTest: fromJson(row['last_test']) as StoredChannelFigures['lastTest'],
  };
}
