import { pagingEndpointRefused, type PagingPayload, pagingPayload } from '@cronjob-monitor/shared/domain';
import type { Channel } from '../channel.ts';
import { findRoutingKey, unusable } from '../secret-value.ts';
import { endpointOf, sendPaging, type PagingCredentials } from './send.ts';

/** A service that pages people, by its events endpoint. */
export const paging: Channel<'paging', PagingCredentials, PagingPayload> = {
  type: 'paging',
  paceOf: () => ({ inFlight: 2, gapMs: 0 }),
  credentialsOf: ({ paging: { routingKeySecretRef } }, secrets) => {
    const routingKey = findRoutingKey(routingKeySecretRef, secrets);
    return typeof routingKey === 'string' ? { routingKey } : routingKey;
  },
  hostsOf(target, _credentials, { addresses }) {
    const endpoint = endpointOf(target);
    if (!endpoint) return unusable('spec.paging.endpoint is no usable https URL', 'addressRefused');
    // The author of a channel must not choose where another team's key goes.
    return addresses.takesPages(endpoint) ? [endpoint.hostname] : unusable(pagingEndpointRefused, 'addressRefused');
  },
  payloadOf: pagingPayload,
  send: sendPaging,
};
