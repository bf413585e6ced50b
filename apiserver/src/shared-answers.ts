import type { Clock } from '@cronjob-monitor/shared/process';

/** Answers that cost much, read once for all who ask the same at about the same time. */
export interface SharedAnswers {
  /**
   * The answer of `make`, or the one that was kept of this question while nothing has changed since. The question is values of JSON, which
   * tell apart all that the answer depends on besides the database and the time: with the namespaces to which its caller was cut. The
   * answer is never to be changed. One that `mayLag` is kept beside changes too, for as long as time alone lets it.
   */
  read<T extends object>(
    question: readonly unknown[],
    make: () => Promise<T>,
    how?: { readonly mayLag: boolean },
  ): Promise<T>;
  /** What is kept is of no use any more: something was changed through this process. */
  forget(): void;
}

/** What takes less is asked anew each time. */
const leastTookMs = 10;
/** With no change in the database only time moves an answer: its windows are cut to the minute. */
const mostFreshMs = 5_000;
/** An answer is fresh for this many times as long as it took. */
const freshTimes = 10;
/** While it is being renewed the old one is given, but none that was made longer ago than this. */
const mostStaleMs = 10_000;
/** Items of all answers that are kept: two lists of a whole large fleet, its rows and its figures. */
const mostItems = 45_000;

interface Kept {
  /** What had changed when it was begun. */
  readonly mark: string;
  readonly answer: Promise<object>;
  /** When it was read, and how long that took; undefined while it is being read. */
  made: { readonly atMs: number; readonly tookMs: number } | undefined;
  items: number;
}

export function createSharedAnswers(deps: {
  readonly clock: Clock;
  /** A text that is another one after every change of the database. */
  readonly findMark: () => Promise<string>;
}): SharedAnswers {
  const { clock } = deps;
  const answers = new Map<string, Kept>();
  const renewed = new Set<string>();
  let generation = 0;

  function madeNow(begunMs: number): NonNullable<Kept['made']> {
    const atMs = clock.monotonicMs();
    return { atMs, tookMs: atMs - begunMs };
  }

  function begin(key: string, mark: string, make: () => Promise<object>): Promise<object> {
    const begunMs = clock.monotonicMs();
    const kept: Kept = { mark, answer: make(), made: undefined, items: 0 };
    answers.delete(key);
    answers.set(key, kept);
    kept.answer.then(
      (answer) => {
        kept.made = madeNow(begunMs);
        kept.items = itemsOf(answer);
        if (kept.made.tookMs < leastTookMs && answers.get(key) === kept) answers.delete(key);
        dropOldest(answers, clock.monotonicMs());
      },
      () => {
        // the caller meets the error; the next one asks anew.
        if (answers.get(key) === kept) answers.delete(key);
      },
    );
    return kept.answer;
  }

  /** Reads anew what is about to grow old, while the old one is still good. */
  function renew(key: string, mark: string, make: () => Promise<object>): void {
    if (renewed.has(key)) return;
    renewed.add(key);
    const before = answers.get(key);
    const over = (): void => {
      renewed.delete(key);
    };
    const begunMs = clock.monotonicMs();
    const answer = make();
    answer.then((made) => {
      over();
      if (answers.get(key) !== before) return;
      answers.delete(key);
      answers.set(key, { mark, answer, made: madeNow(begunMs), items: itemsOf(made) });
      dropOldest(answers, clock.monotonicMs());
    }, over);
  }

  return {
    async read<T extends object>(question: readonly unknown[], make: () => Promise<T>, how = { mayLag: false }) {
      const key = JSON.stringify(question);
      const mark = `${generation} ${how.mayLag ? '' : await deps.findMark()}`;
      const kept = answers.get(key);
      if (kept?.mark === mark) {
        if (kept.made === undefined) return kept.answer as Promise<T>;
        const ageMs = clock.monotonicMs() - kept.made.atMs;
        const fresh = Math.min(mostFreshMs, freshTimes * kept.made.tookMs);
        // One that was not asked for in a while is not given any more: its windows are of another minute.
        const isGiven = ageMs < 2 * fresh || (renewed.has(key) && ageMs < mostStaleMs);
        if (isGiven && ageMs >= fresh) renew(key, mark, make);
        if (isGiven) return kept.answer as Promise<T>;
      }
      return begin(key, mark, make) as Promise<T>;
    },
    forget() {
      generation++;
      answers.clear();
    },
  };
}

/** Oldest first, until the rest is small enough; what is being read stays. */
function dropOldest(answers: Map<string, Kept>, nowMs: number): void {
  let items = [...answers.values()].reduce((sum, kept) => sum + kept.items, 0);
  for (const [key, kept] of answers) {
    if (kept.made === undefined) continue;
    if (items <= mostItems && nowMs - kept.made.atMs < mostStaleMs) continue;
    answers.delete(key);
    items -= kept.items;
  }
}

function itemsOf(answer: object): number {
  if (Array.isArray(answer)) return answer.length;
  if (answer instanceof Map) return answer.size;
  const list = 'items' in answer ? answer.items : 'rows' in answer ? answer.rows : undefined;
  return Array.isArray(list) ? Math.max(1, list.length) : 1;
}
