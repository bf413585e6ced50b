import type { Form, SendDeps } from './channel.ts';
import { judgeAnswer } from './judge-status.ts';
import { sendHttp, type OutboundRequest } from './outbound-http.ts';
import type { Outcome } from './outcome.ts';
import { failedInTransport } from './transport-failure.ts';

/** One request and what its answer, or the lack of one, means. */
export async function sendAndJudge(
  request: OutboundRequest,
  form: Form,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const result = await sendHttp(request, deps, signal);
  return 'failure' in result ? failedInTransport(result.failure) : judgeAnswer(result.answer, form);
}

/** Headers of every request that carries JSON. */
export const jsonHeaders = { 'content-type': 'application/json', 'user-agent': 'cronjob-monitor' } as const;
