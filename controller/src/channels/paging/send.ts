import { pagingPayload, type PagingTarget, receiverUrlProblem } from '@cronjob-monitor/shared/domain';
import type { SendDeps, SendRequest } from '../channel.ts';
import type { Outcome } from '../outcome.ts';
import { sendLimitMs } from '../limits.ts';
import { jsonHeaders, sendAndJudge } from '../send-and-judge.ts';
import { startTimeLimit } from '@cronjob-monitor/shared/process';
import { failedInTransport, toTransportFailure } from '../transport-failure.ts';

/** The region of most accounts; others name theirs in the spec. */
const defaultEndpoint = 'https://events.pagerduty.com/v2/enqueue';

export interface PagingCredentials {
  readonly routingKey: string;
}

/** Where events go; undefined when the spec names no usable https URL. */
export function endpointOf({ paging }: PagingTarget): URL | undefined {
  const endpoint = paging.endpoint ?? defaultEndpoint;
  const url = receiverUrlProblem(endpoint) === undefined ? URL.parse(endpoint) : null;
  return url?.protocol === 'https:' ? url : undefined;
}

/**
 * Its events one after the other, within one time for all; the first that is not taken ends it. Accepted is any 2xx, 202 by the
 * documentation.
 */
export async function sendPaging(
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
