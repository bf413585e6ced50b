import type { Channel } from '../channel.ts';
import { findSecretValue, unusable } from '../secret-value.ts';
import { pagingPayload, type PagingPayload } from './payload.ts';
import { endpointOf, sendPaging, type PagingCredentials } from './send.ts';

/** A service that pages people, by its events endpoint. */
export const paging: Channel<'paging', PagingCredentials, PagingPayload> = {
  type: 'paging',
  pace: { inFlight: 2, gapMs: 0 },
  credentialsOf: ({ paging: { routingKeySecretRef } }, secrets) => {
    const routingKey = findSecretValue(routingKeySecretRef, secrets);
    return typeof routingKey === 'string' ? { routingKey } : routingKey;
  },
  hostOf: (target) =>
    endpointOf(target)?.hostname ?? unusable('spec.paging.endpoint is no usable https URL', 'addressRefused'),
  payloadOf: pagingPayload,
  send: sendPaging,
};
