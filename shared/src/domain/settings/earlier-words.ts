import type { OwnerWord } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import { instantOfWrite, type FieldWrite } from '../watch/judges-from.ts';
import type { Annotations } from './words.ts';

/**
 * By these a run or a slot is judged, or muted: as they were when it came. What the others say decides at the instant at which it is asked:
 * how bad it is, and who hears of it, is up to who owns the CronJob now.
 */
export const judgingWords = [
  'grace',
  'max-duration',
  'finish-by',
  'mute-until',
] as const satisfies readonly OwnerWord[];

/** What a CronJob and its Namespace say about how it is judged: nothing but `judgingWords`. */
export interface JudgingWords {
  readonly cronJob: Annotations;
  readonly ofNamespace: Annotations;
}

/** What they said until then: what happened before that instant is judged by it. */
export interface EarlierWords {
  readonly untilAt: Instant;
  readonly words: JudgingWords;
}

/** An object that may say something, and who wrote that when. */
interface Saying {
  readonly annotations?: Annotations | undefined;
  readonly wordWrites?: readonly FieldWrite[] | undefined;
}

/** Of all that a CronJob and its Namespace say. */
export function judgingWordsOf(cronJob: Saying | undefined, namespace: Saying | undefined): JudgingWords {
  return { cronJob: judgingIn(cronJob), ofNamespace: judgingIn(namespace) };
}

function judgingIn({ annotations = {} }: Saying = {}): Annotations {
  return Object.fromEntries(
    judgingWords.flatMap((word) => (annotations[word] === undefined ? [] : [[word, annotations[word]]])),
  );
}

/** Which words differ. */
export function changedWords(a: JudgingWords, b: JudgingWords): (typeof judgingWords)[number][] {
  return judgingWords.filter(
    (word) => a.cronJob[word] !== b.cronJob[word] || a.ofNamespace[word] !== b.ofNamespace[word],
  );
}

/**
 * What is to be added to the earlier words of a row, oldest first: the changes that were seen since, and before them what the row says, if it
 * is another thing. Of that nothing was seen: it counts until something that says how the CronJob is judged was written, else until the row
 * was looked at last.
 */
export function unwrittenWords(
  row: { readonly words: JudgingWords; readonly earlier: readonly EarlierWords[]; readonly seenAt: Instant },
  seen: readonly EarlierWords[],
  present: { readonly words: JudgingWords; readonly writes: readonly FieldWrite[]; readonly now: Instant },
): readonly EarlierWords[] {
  const fresh = notIn(row.earlier, seen);
  const [first] = fresh;
  const changed = changedWords(row.words, first?.words ?? present.words);
  if (changed.length === 0) return fresh;
  const writes = { before: [], after: present.writes };
  // A write that what was seen tells of is not the one that was not seen.
  const receivedAt = first ? first.untilAt - 1 : present.now;
  const untilAt = instantOfWrite(changed, writes, { receivedAt, unwatchedSinceAt: row.seenAt });
  return [{ untilAt: Math.min(untilAt, receivedAt), words: row.words }, ...fresh];
}

/** Changes that are newer than those of a row. */
function notIn(earlier: readonly EarlierWords[], seen: readonly EarlierWords[]): readonly EarlierWords[] {
  const newestAt = Math.max(...earlier.map(({ untilAt }) => untilAt));
  return seen.filter(({ untilAt }) => untilAt > newestAt);
}

const mostKept = 8;
/** What was said longer than this before the last change is asked about no more. */
const keptMs = 7 * 86_400_000;

/** The earlier words of a row with those that came since, oldest first; so many are kept as may still be asked about. */
export function withEarlierWords(
  earlier: readonly EarlierWords[],
  added: readonly EarlierWords[],
): readonly EarlierWords[] {
  const all = [...earlier, ...notIn(earlier, added)];
  const lastAt = all.at(-1)?.untilAt ?? 0;
  return all.filter(({ untilAt }) => untilAt >= lastAt - keptMs).slice(-mostKept);
}
