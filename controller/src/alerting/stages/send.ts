import type { FrozenMessage } from '@cronjob-monitor/shared/domain';
import type { ClaimedDelivery } from '@cronjob-monitor/shared/store';
import {
  getChannel,
  type ChannelTarget,
  type Outcome,
  type Progress,
  type Secrets,
  type SendDeps,
} from '../../channels/index.ts';

/** One attempt: the same bytes under the same key as any before, but for the reduced form. */
export function send(
  delivery: ClaimedDelivery,
  of: {
    readonly payload: FrozenMessage;
    readonly target: ChannelTarget;
    readonly secrets: Secrets;
    readonly source: string;
  },
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { id: deliveryId, streamId, createdAt } = delivery;
  return getChannel(of.target.type).send(
    {
      target: of.target,
      secrets: of.secrets,
      outgoing: { ...of.payload, deliveryId, streamId, createdAt, source: of.source },
      form: delivery.reduced ? 'reduced' : 'full',
      attempt: delivery.attempts,
      progress: delivery.progress as Progress | undefined, // as an earlier attempt left it
    },
    deps,
    signal,
  );
}
