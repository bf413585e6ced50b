import type { ChannelType, DeliveryKind } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { foldWaiting, type ClaimedDelivery, type Store } from '@cronjob-monitor/shared/store';
import { wordDigest } from '../word-digest.ts';
import { pass, type StageAnswer } from './stage.ts';

const waitedMs = 60_000;

export interface FoldDigestDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly claimedBy: string;
  /** `cluster.name`. */
  readonly clusterName: string | undefined;
  /** `ui.external-url`. */
  readonly externalUrl: string | undefined;
  /** Messages of a channel that go out in a digest: how many of each kind. */
  readonly onFolded: (channel: string, kinds: ReadonlyMap<DeliveryKind, number>) => void;
}

/**
 * When more wait for a channel's rate limit than it takes at once, one digest goes out in the place of all of them: it has the token of
 * the message that was claimed. Critical messages never wait for it, and on a paging channel each event needs its own end.
 */
export async function foldDigest(
  delivery: ClaimedDelivery,
  channel: { readonly type: ChannelType; readonly burst: number },
  deps: FoldDigestDeps,
): Promise<StageAnswer<ClaimedDelivery>> {
  const { store } = deps;
  if (!mayFold(delivery, channel.type, store.now())) return pass(delivery);
  const folded = await store.fenced(deps.epoch, (tx) =>
    foldWaiting(tx, delivery, {
      claimedBy: deps.claimedBy,
      channel,
      freeze: (id, alerts) => wordDigest({ id, cause: 'rateLimit', ended: false, alerts }, deps),
    }),
  );
  if (folded === undefined) return pass(delivery);
  deps.onFolded(delivery.channelName, folded.kinds);
  return pass(folded.digest);
}

/** Without asking the database: of most messages it is clear that they do not. */
function mayFold({ kind, severity, heldBy, createdAt }: ClaimedDelivery, type: ChannelType, now: Instant): boolean {
  if (type === 'paging' || kind === 'test' || kind === 'digest' || severity === 'critical') return false;
  return heldBy === 'rateLimit' && now - createdAt > waitedMs;
}
