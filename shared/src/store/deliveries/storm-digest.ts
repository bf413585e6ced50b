import { createHash } from 'node:crypto';
import type { MessageSeverity } from '../../contract/index.ts';
import { dedupKeyOf, type FrozenMessage } from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { firstRow } from '../ask.ts';
import type { Tx } from '../database.ts';
import { newId } from '../id16.ts';
import { keptMs } from './delivery-record.ts';
import { insertDelivery } from './insert-delivery.ts';
import { findStreamEnd } from './streams.ts';

/** An alert of a storm that one channel routes. */
export interface StormChild {
  readonly alertId: string;
  readonly cronJobId: number;
  readonly notifyNo: number;
  readonly severity: Exclude<MessageSeverity, 'info'>;
}

export interface StormDigest {
  readonly stormId: string;
  /** `begin`: in the place of messages of their own. `end`: names those that still hold. */
  readonly phase: 'begin' | 'end';
  readonly channel: { readonly uid: string; readonly name: string };
  readonly children: readonly StormChild[];
  /** `firstLook`: no storm, but what the first evaluation over an empty database found. */
  readonly cause: 'storm' | 'firstLook';
  readonly payload: FrozenMessage;
}

/**
 * One message to one channel about a storm, in the stream of the storm; its children are told in it, so that the end of the last of them
 * closes the stream. A storm begins once for each channel and ends once: told again it writes nothing. Undefined then.
 */
export async function insertStormDigest(tx: Tx, digest: StormDigest): Promise<string | undefined> {
  const { stormId, phase, channel, children, cause, payload } = digest;
  const now = tx.now();
  const dedupKey = createHash('sha256').update([stormId, 'storm', phase, channel.uid].join('\n')).digest('hex');
  if ((await firstRow(tx, 'select id from deliveries where dedup_key = ?', [dedupKey])) !== undefined) return undefined;
  const severity = children.some((child) => child.severity === 'critical') ? 'critical' : 'warning';
  const id = newId(now);
  const of = { streamId: stormId, stormId, channel, severity, createdAt: now, nextAt: now } as const;
  const expiresAt = now + keptMs(severity);
  let { nextSeq: seq } = await findStreamEnd(tx, stormId, channel.uid);
  const written = await insertDelivery(tx, {
    ...of,
    id,
    seq: seq++,
    alertId: undefined,
    kind: 'digest',
    cause,
    state: 'ready',
    dedupKey,
    notifyNo: 1,
    expiresAt,
    payload,
  });
  if (!written) return undefined;
  for (const child of children) {
    const childId = newId(now);
    // Each has a place of its own in the stream; a storm is written once.
    const isNew = await insertDelivery(tx, {
      ...of,
      id: childId,
      seq: seq++,
      alertId: child.alertId,
      kind: phase === 'begin' ? 'firing' : 'reminder',
      severity: child.severity,
      state: 'digested',
      mergedInto: id,
      dedupKey: dedupKeyOf({
        alertId: child.alertId,
        kind: `storm ${phase}`,
        notifyNo: child.notifyNo,
        channelUid: channel.uid,
      }),
      notifyNo: child.notifyNo,
      expiresAt,
      payload,
    });
    if (!isNew) continue;
    await recordDecisions(tx, [
      {
        action: 'digested',
        reason: 'storm',
        detail: id,
        alertId: child.alertId,
        cronJobId: child.cronJobId,
        deliveryId: childId,
        channelUid: channel.uid,
      },
    ]);
  }
  return id;
}
