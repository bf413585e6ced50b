import type { Form } from '@cronjob-monitor/shared/domain';
import type { DeliveryErrorCategory } from '@cronjob-monitor/shared/contract';
import type { SendDeps } from './channel.ts';
import { sendHttp, type OutboundRequest, type HttpAnswer } from './outbound-http.ts';
import { type Outcome, delivered, failed, type NextStep } from './outcome.ts';
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

interface Judgement {
  readonly next: NextStep;
  readonly category: DeliveryErrorCategory;
}

const park = (category: DeliveryErrorCategory): Judgement => ({ next: 'park', category });
const retry = (category: DeliveryErrorCategory): Judgement => ({ next: 'retry', category });

/** Status codes with a meaning of their own: alerting.md section 6. */
const byStatus: Readonly<Record<number, Judgement>> = {
  400: { next: 'reduce', category: 'rejected' },
  401: park('unauthorized'),
  403: park('unauthorized'),
  404: park('notFound'),
  408: retry('timeout'),
  410: park('notFound'),
  413: { next: 'reduce', category: 'rejected' },
  422: { next: 'reduce', category: 'rejected' },
  425: retry('throttled'),
  429: retry('throttled'),
};

/** What an answer over HTTP means for the delivery. A receiver that refuses even the reduced form is not asked again. */
export function judgeAnswer({ status, retryAfterMs }: HttpAnswer, form: Form): Outcome {
  if (status >= 200 && status < 300) return delivered({ httpStatus: status });
  const { next, category } = byStatus[status] ?? judgeClass(status);
  return failed(next === 'reduce' && form === 'reduced' ? 'dead' : next, category, `It answered ${status}`, {
    httpStatus: status,
    retryAfterMs: next === 'retry' ? retryAfterMs : undefined,
    // A 4xx says that the message was not taken; nothing else does.
    maybeSent: status < 400 || status >= 500,
  });
}

function judgeClass(status: number): Judgement {
  if (status >= 300 && status < 400) return park('notFound');
  if (status >= 400 && status < 500) return { next: 'dead', category: 'rejected' };
  return retry('serverError');
}
