import {
  pagingEndpointRefused,
  type PagingPayload,
  pagingPayload,
  type PagingTarget,
  receiverUrlProblem,
} from '@cronjob-monitor/shared/domain';
import { type Channel, type SendDeps, type SendRequest, sendLimitMs } from './channel.ts';
import { findRoutingKey, unusable } from './secret-value.ts';
import type { Outcome } from './outcome.ts';
import { jsonHeaders, sendAndJudge } from './send-and-judge.ts';
import { startTimeLimit } from '@cronjob-monitor/shared/process';
import { failedInTransport, toTransportFailure } from './transport-failure.ts';

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

/** The region of most accounts; others name theirs in the spec. */
const defaultEndpoint = 'https://events.pagerduty.com/v2/enqueue';

interface PagingCredentials {
  readonly routingKey: string;
}

/** Where events go; undefined when the spec names no usable https URL. */
function endpointOf({ paging }: PagingTarget): URL | undefined {
  const endpoint = paging.endpoint ?? defaultEndpoint;
  const url = receiverUrlProblem(endpoint) === undefined ? URL.parse(endpoint) : null;
  return url?.protocol === 'https:' ? url : undefined;
}

/**
 * Its events one after the other, within one time for all; the first that is not taken ends it. Accepted is any 2xx, 202 by the
 * documentation.
 */
async function sendPaging(
  { outgoing, target, credentials, form }: SendRequest<PagingTarget, PagingCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const url = endpointOf(target) ?? new URL(defaultEndpoint);
  const whole = startTimeLimit(deps.clock, sendLimitMs, signal);
  const send = async (event: object): Promise<Outcome> => {
    const body = JSON.stringify({ routing_key: credentials.routingKey, ...event });
    return sendAndJudge({ url, method: 'POST', headers: jsonHeaders, body }, form, deps, whole.signal);
  };
  try {
    const [first, ...others] = pagingPayload(outgoing, target, form);
    let outcome = await send(first);
    for (const event of others) {
      if (outcome.kind === 'failed') break;
      outcome = await send(event); // A resolve must not overtake its trigger.
    }
    return outcome;
  } catch (error) {
    signal.throwIfAborted();
    if (!whole.passed) throw error;
    return failedInTransport(toTransportFailure({ phase: 'exchange', timedOut: true }));
  } finally {
    whole.end();
  }
}
