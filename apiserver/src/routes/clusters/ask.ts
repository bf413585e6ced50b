import type { ApiContext } from '../../context.ts';
import type { Caller } from '../../auth/authentication.ts';
import { TimeLimitError, withinLimit, type Clock } from '@cronjob-monitor/shared/process';
import { StoreError } from '@cronjob-monitor/shared/store';
import type { Silence } from './silence.ts';
import { callerOf } from '../../middleware/guard.ts';

/** A request as the service of another cluster is to answer it. */
export interface AskedCall {
  /** Name of the operation. */
  readonly id: string;
  readonly method: string;
  /** As it was sent, with its escapes. */
  readonly path: string;
  readonly query: string;
  readonly body: string | null;
}

export interface AskedAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Path of what was made. */
  readonly location?: string;
}

/** Has the service of another cluster act. */
export interface Elsewhere {
  /** Whether one is there now that would. */
  isTaken(): Promise<boolean>;
  /**
   * Throws what that service refuses, and CLUSTER_SILENT, which says what is known, when none answers. `mostMs`: until the call is taken, 15 s
   * without it.
   */
  ask(call: AskedCall, caller: Caller, mostMs?: number): Promise<AskedAnswer>;
}

/** Has the service of the other cluster answer a request whose form has been checked; `query` and `body` in place of those of the request. */
export async function askElsewhere(
  elsewhere: Elsewhere,
  ctx: ApiContext,
  {
    id,
    query = ctx.querystring,
    body = ctx.state.bodyText,
  }: { readonly id: string; readonly query?: string; readonly body?: string | undefined },
): Promise<unknown> {
  const { permission, cluster = '' } = ctx.state;
  // The service that answers asks for the right, of whatever it is about.
  if (permission) permission.isAsked = true;
  const { method, path } = ctx;
  const answer = await elsewhere.ask({ id, method, path, query, body: body ?? null }, callerOf(ctx));
  ctx.status = answer.status;
  if (answer.location) ctx.set('Location', `${answer.location}?cluster=${encodeURIComponent(cluster)}`);
  return answer.body;
}

/** So long one of several clusters is waited for, from when it is asked. */
const patienceMs = 3_000;
/** Asked in the same turn, their questions travel together. More at once would have one patience for what a busy server needs longer for. */
const atOnce = 32;

/** What came of asking one of several clusters: its answer, or why there is none, for people, behind the name of the cluster. */
type Asked<Answer> = { readonly answer: Answer } | { readonly problem: string };

/**
 * Asks each, some of them at a time, in the order given. One that does not answer in time costs the others that time at most, and once: while
 * its silence lasts it is not asked. Without a silence it is asked each time.
 */
export async function askInTurn<Of, Answer>(
  all: readonly Of[],
  { clock, silenceOf }: { readonly clock: Clock; readonly silenceOf?: (one: Of) => Silence | undefined },
  ask: (one: Of) => Promise<Answer>,
): Promise<Asked<Answer>[]> {
  const answers: Asked<Answer>[] = [];
  const waiting = all.entries();
  const askSome = async (): Promise<void> => {
    for (const [index, one] of waiting) answers[index] = await askOne(clock, silenceOf?.(one), () => ask(one));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, askSome));
  return answers;
}

async function askOne<Answer>(
  clock: Clock,
  silence: Silence | undefined,
  ask: () => Promise<Answer>,
): Promise<Asked<Answer>> {
  if (silence?.sinceAt !== undefined) {
    const since = new Date(silence.sinceAt).toISOString();
    return { problem: `it has answered nothing since ${since}, and is shown again as soon as it does` };
  }
  const askedAt = clock.now();
  try {
    return { answer: await withinLimit({ clock, ms: patienceMs }, ask) };
  } catch (failure) {
    if (failure instanceof StoreError) return { problem: whyUnread(failure) };
    if (!(failure instanceof TimeLimitError)) throw failure;
    silence?.begin(askedAt);
    return { problem: 'its rows did not come in time' };
  }
}

function whyUnread({ code }: StoreError): string {
  if (code === 'schema') return 'its schema is not one that this version reads: bring both to the same version';
  return 'its rows cannot be read now';
}
