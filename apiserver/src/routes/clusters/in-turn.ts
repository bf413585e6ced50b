import { TimeLimitError, withinLimit, type Clock } from '@cronjob-monitor/shared/process';
import { StoreError } from '@cronjob-monitor/shared/store';

/** So long one of several clusters is waited for, from when it is asked. */
const patienceMs = 3_000;
/** More at once would wait for connections, and not for a cluster. */
const atOnce = 8;

/** What came of asking one of several clusters: its answer, or why there is none. */
type Asked<Answer> = { readonly answer: Answer } | { readonly failure: StoreError | TimeLimitError };

/** Asks each, some of them at a time, in the order given. One that does not answer in time costs the others that time at most. */
export async function askInTurn<Of, Answer>(
  all: readonly Of[],
  clock: Clock,
  ask: (one: Of) => Promise<Answer>,
): Promise<Asked<Answer>[]> {
  const answers: Asked<Answer>[] = [];
  const waiting = all.entries();
  const askSome = async (): Promise<void> => {
    for (const [index, one] of waiting) answers[index] = await askOne(clock, () => ask(one));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, askSome));
  return answers;
}

async function askOne<Answer>(clock: Clock, ask: () => Promise<Answer>): Promise<Asked<Answer>> {
  try {
    return { answer: await withinLimit({ clock, ms: patienceMs }, ask) };
  } catch (failure) {
    if (failure instanceof TimeLimitError || failure instanceof StoreError) return { failure };
    throw failure;
  }
}

/** For people, behind the name of the cluster. */
export function whyUnread(failure: StoreError | TimeLimitError): string {
  if (failure instanceof TimeLimitError) return 'its rows did not come in time';
  if (failure.code === 'schema') return 'its schema is not one that this version reads: bring both to the same version';
  return 'its rows cannot be read now';
}
