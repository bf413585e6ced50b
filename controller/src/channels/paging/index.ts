import { pagingEndpointRefused } from '@cronjob-monitor/shared/domain';
import type { Channel } from '../channel.ts';
import { findRoutingKey, unusable } from '../secret-value.ts';
import { pagingPayload, type PagingPayload } from './payload.ts';
import { endpointOf, sendPaging, type PagingCredentials } from './send.ts';

/** A service that pages people, by its events endpoint. */
export const paging: Channel<'paging', PagingCredentials, PagingPayload> = {
  type: 'paging',
  pace: { inFlight: 2, gapMs: 0 },
  credentialsOf: ({ paging: { routingKeySecretRef } }, secrets) => {
    const routingKey = findRoutingKey(routingKeySecretRef, secrets);
    return typeof routingKey === 'string' ? { routingKey } : routingKey;
  },
  hostOf(target, _credentials, { addresses }) {
    const endpoint = endpointOf(target);
    if (!endpoint) return unusable('spec.paging.endpoint is no usable https URL', 'addressRefused');
    // Who writes a channel must not choose where a key of somebody else goes.
    return addresses.takesPages(endpoint) ? endpoint.hostname : unusable(pagingEndpointRefused, 'addressRefused');
  },
  payloadOf: pagingPayload,
  send: sendPaging,
};
