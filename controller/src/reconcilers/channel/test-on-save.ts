import { createHash } from 'node:crypto';
import { headingOf, type Message } from '@cronjob-monitor/shared/domain';
import { insertDelivery, newId, type Tx } from '@cronjob-monitor/shared/store';
import type { ChannelSeen } from '../../selection/index.ts';

/** A test that cannot go out within this time says nothing of the channel any more. */
const testMs = 15_000;

export interface TestLinks {
  /** `cluster.name`. */
  readonly clusterName: string | undefined;
  /** `ui.external-url`. */
  readonly externalUrl: string | undefined;
}

/**
 * Leaves a test for a channel that asks for one whenever it is saved: one for each generation, as soon as its Secrets can be used. It goes
 * the way of every message. `tested`: the generation that was tested last; undefined: none was.
 */
export async function testOnSave(
  tx: Tx,
  of: { readonly uid: string; readonly channel: ChannelSeen; readonly tested: number | undefined },
  links: TestLinks | undefined,
): Promise<void> {
  const { uid, channel, tested } = of;
  const { name, generation } = channel;
  if (channel.decoded.spec?.testOnSave !== true || (tested !== undefined && tested >= generation)) return;
  const now = tx.now();
  const id = newId(now);
  const base = links?.externalUrl?.replace(/\/+$/, '');
  const message: Message = {
    kind: 'test',
    data: {
      cluster: links?.clusterName ?? null,
      channel: name,
      message: `The channel ${name} was saved. If you read this, alerts arrive here.`,
      links: { channel: base === undefined ? null : `${base}/channels/${encodeURIComponent(name)}` },
    },
  };
  await insertDelivery(tx, {
    id,
    streamId: id,
    seq: 1,
    alertId: undefined,
    channel: { uid, name },
    kind: 'test',
    severity: 'info',
    state: 'ready',
    dedupKey: createHash('sha256')
      .update(['testOnSave', uid, String(generation)].join('\n'))
      .digest('hex'),
    notifyNo: 1,
    nextAt: now,
    createdAt: now,
    expiresAt: now + testMs,
    payload: { message, heading: headingOf(message), place: null },
  });
}
