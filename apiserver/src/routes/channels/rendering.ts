import type { ChannelRendering } from '@cronjob-monitor/shared/contract';
import { exampleOutgoing } from '@cronjob-monitor/shared/domain';
import { findNewestMessage, type CatalogChannelState } from '@cronjob-monitor/shared/store';
import { toWireInstant } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';

const example = {
  monitor: { namespace: 'example', name: 'backups' },
  cronJob: { namespace: 'example', name: 'nightly' },
};

/** The newest message that the caller may see and an example, as the channel sends them. */
export async function readRendering(
  { store, actions, settings: { clusterName: cluster, externalUrl } }: RouteDeps,
  { uid: channelUid, spec }: CatalogChannelState,
  namespaces: readonly string[],
): Promise<ChannelRendering> {
  const newest = await findNewestMessage(store, { channelUid, namespaces });
  const { deliveryId = '', streamId = '', createdAt = 0 } = newest ?? {};
  const made = exampleOutgoing({
    ...example,
    cluster,
    externalUrl,
    type: 'jobFailed',
    severity: 'warning',
    at: store.now(),
  });
  const [shown = null, ofNewest = null] = await actions.renderMessages(spec, [
    made,
    ...(newest ? [{ ...newest.payload, deliveryId, streamId, createdAt, source: made.source }] : []),
  ]);
  return {
    newest: newest && ofNewest ? { ...ofNewest, deliveryId, createdAt: toWireInstant(createdAt) } : null,
    example: shown,
  };
}
