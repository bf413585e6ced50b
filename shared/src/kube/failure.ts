import { createRedactor, objectOf } from '../domain/index.ts';
import type { Clock } from '../process/index.ts';
import { ClusterError, type ClusterErrorCode } from './cluster.ts';
import { textOf, cutAt, toLine } from './translate/fields.ts';

/** What was asked, in the words of messages: `list`, `cronjobs`. */
export interface Asked {
  readonly verb: string;
  readonly resource: string;
}

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Longest part of the server's sentence in a message. */
const maxSentence = 200;
/** And so much of it is looked at: a secret that the cut would halve is not recognised. */
const lookedAtSentence = 8 * 1024;
const redact = createRedactor();

const codes: Readonly<Record<number, ClusterErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  408: 'timeout',
  409: 'conflict',
  410: 'gone',
  429: 'throttled',
};

/**
 * An answer that is not a success, as an error. Its code follows from the status and the `reason` of the Status object; the body may be
 * plain text, as that of a proxy or of a server that is full. Of the body only the server's own sentence enters the message, cut.
 */
export function toAnswerError(
  asked: Asked,
  answer: { readonly status: number; readonly headers: AnswerHeaders; readonly body: string },
  clock: Clock,
): ClusterError {
  const status = statusOf(answer.body);
  const reason = textOf(status['reason']);
  const sentence = toLine(
    redact(cutAt(textOf(status['message']) ?? plainText(answer), lookedAtSentence)),
    maxSentence,
  ).trim();
  const head = `${asked.verb} ${asked.resource}: ${answer.status}${reason === undefined ? '' : ` ${toLine(reason, 100)}`}`;
  return new ClusterError(codeOf(answer.status, reason), {
    ...asked,
    message: sentence === '' ? head : `${head}: ${sentence}`,
    status: answer.status,
    reason,
    retryAfterMs: retryAfterMs(answer.headers, clock),
  });
}

function statusOf(body: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(body));
  } catch {
    return {}; // plain text
  }
}

/** The body as the sentence, unless it is a page or an object of another server. */
function plainText({ body }: { readonly body: string }): string {
  const text = body.trimStart();
  return text.startsWith('<') || text.startsWith('{') || text.startsWith('[') ? '' : text.slice(0, 4 * maxSentence);
}

function codeOf(status: number, reason: string | undefined): ClusterErrorCode {
  if (reason === 'Expired' || reason === 'Gone') return 'gone';
  if (status === 409 && reason === 'AlreadyExists') return 'alreadyExists';
  const known = codes[status];
  if (known !== undefined) return known;
  if (status >= 500) return 'unavailable';
  return status >= 400 ? 'invalid' : 'badAnswer';
}

/** `Retry-After` in milliseconds: seconds, or a date, which is taken against the answer's own `Date`. Undefined: none that makes sense. */
export function retryAfterMs(headers: AnswerHeaders, clock: Clock): number | undefined {
  const value = firstOf(headers['retry-after'])?.trim();
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const until = Date.parse(value);
  if (Number.isNaN(until) || /^[-+\d.]+$/.test(value)) return undefined;
  return Math.max(0, until - (answeredAt(headers) ?? clock.now()));
}

/** The server's clock when it answered; undefined when it does not tell. */
export function answeredAt(headers: AnswerHeaders): number | undefined {
  const at = Date.parse(firstOf(headers['date']) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Codes with which the connection layer says that time ran out. */
const timeOuts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);

/**
 * A call without an answer, as an error. The message names the code that the connection layer gives, such as ECONNREFUSED, and none of its
 * words: those may hold addresses and headers.
 */
export function toConnectionError(asked: Asked, cause: unknown): ClusterError {
  if (cause instanceof ClusterError) return cause;
  const code = errorCode(cause);
  const timedOut = code !== undefined && timeOuts.has(code);
  const what = timedOut ? 'no answer in time' : 'the connection failed';
  return new ClusterError(timedOut ? 'timeout' : 'unreachable', {
    ...asked,
    message: `${asked.verb} ${asked.resource}: ${what}${code === undefined ? '' : ` (${code})`}`,
  });
}

/** The `code` of an error or of what caused it. */
export function errorCode(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string' && /^[A-Za-z0-9_]{1,60}$/.test(code)) return code;
  }
  return undefined;
}
