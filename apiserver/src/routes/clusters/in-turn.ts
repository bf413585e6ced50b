import { TimeLimitError, withinLimit, type Clock } from '@cronjob-monitor/shared/process';
import { StoreError } from '@cronjob-monitor/shared/store';
import type { Silence } from './silence.ts';

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
