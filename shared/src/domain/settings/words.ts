import {
  type AlertType,
  alertTypes,
  type OwnerWord,
  ownerWords,
  severities,
  type Severity,
} from '../../contract/vocabulary.ts';
import { dayMs, parseResourceDuration } from '../duration.ts';
import type { Instant } from '../instant.ts';
import { dayBegins } from '../schedule/daily-instants.ts';
import { isZoneName } from '../schedule/zone-names.ts';
import { cutEnd } from '../text/cut.ts';
import { type FieldWrite, instantOfWrite } from '../watch/judges-from.ts';

/** Annotations `cronjob-monitor.io/<word>` of a CronJob or a Namespace, as written; those that are not there are absent. */
export type Annotations = Readonly<Partial<Record<OwnerWord, string>>>;

/** What they say. Absent: nothing, or nothing that can be used. */
export interface OwnWords {
  readonly channel?: readonly string[];
  /** One for every type, or some types each with its own. */
  readonly severity?: Severity | Readonly<Partial<Record<AlertType, Severity>>>;
  readonly grace?: string;
  readonly 'max-duration'?: string;
  readonly 'finish-by'?: { readonly time: string; readonly timezone: string | undefined } | 'off';
  readonly 'mute-until'?: Instant;
  readonly ignore?: true;
  readonly owner?: string;
}

/** An annotation that counts as absent, and why. */
export interface WordProblem {
  readonly word: OwnerWord;
  /** `grace: 5 is no duration; such as 5m` */
  readonly message: string;
}

export interface ReadWords {
  readonly words: OwnWords;
  readonly problems: readonly WordProblem[];
}

const mostOwnChannels = 5;
export const longestMuteMs = 30 * dayMs;
/** So much of a value is shown of one that cannot be used. */
const shownChars = 60;

/** Reads annotations. `timeZone`: in which a date begins. A bad value is named and counts as absent. Throws nothing. */
export function readWords(annotations: Annotations, timeZone: string): ReadWords {
  const words: Record<string, unknown> = {};
  const problems: WordProblem[] = [];
  for (const word of ownerWords) {
    const text = annotations[word]?.trim();
    if (text === undefined) continue;
    const value = readers[word](text, timeZone);
    if (value !== undefined) words[word] = value;
    else problems.push({ word, message: `${word}: ${shown(text)} ${allowed[word]}` });
  }
  return { words, problems };
}

const allowed: Readonly<Record<OwnerWord, string>> = {
  channel: 'is no list of 1 to 5 names of AlertChannels; such as team-chat, on-call',
  severity: `is no severity; such as critical, or jobFailed=critical,missedSchedule=warning`,
  grace: 'is no duration; such as 5m',
  'max-duration': 'is no duration; such as 45m, or off',
  'finish-by': 'is no time of day; such as 06:00, 06:00 Europe/Berlin, or off',
  'mute-until': 'is no time; such as 2026-12-01 or 2026-12-01T08:00:00Z',
  ignore: 'is not true',
  owner: 'names no owner',
};

type Reader<W extends OwnerWord> = (text: string, timeZone: string) => OwnWords[W];

const readers: { readonly [W in OwnerWord]: Reader<W> } = {
  channel: readChannels,
  severity: readSeverity,
  grace: (text) => (isDuration(text) ? text : undefined),
  'max-duration': (text) => (text === 'off' || isDuration(text) ? text : undefined),
  'finish-by': readTimeOfDay,
  'mute-until': readInstant,
  ignore: (text) => (text === 'true' ? true : undefined),
  owner: (text) => (text === '' ? undefined : text),
};

const channelName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

function readChannels(text: string): readonly string[] | undefined {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  return names.length <= mostOwnChannels && names.every((name) => channelName.test(name)) ? names : undefined;
}

function readSeverity(text: string): OwnWords['severity'] {
  const alone = severities.find((severity) => severity === text);
  if (alone) return alone;
  const ofTypes: Partial<Record<AlertType, Severity>> = {};
  for (const part of text.split(',')) {
    const [left, right, ...more] = part.split('=').map((side) => side.trim());
    const type = alertTypes.find((one) => one === left);
    const severity = severities.find((one) => one === right);
    if (!type || !severity || more.length > 0) return undefined;
    ofTypes[type] = severity;
  }
  return ofTypes;
}

function isDuration(text: string): boolean {
  return (parseResourceDuration(text) ?? 0) > 0;
}

const timeOfDay = /^((?:[01]\d|2[0-3]):[0-5]\d)(?: +(\S+))?$/;

function readTimeOfDay(text: string): OwnWords['finish-by'] {
  if (text === 'off') return 'off';
  const [, time, timezone] = timeOfDay.exec(text) ?? [];
  if (time === undefined) return undefined;
  const isKnown = timezone === undefined || ((timezone === 'UTC' || timezone.includes('/')) && isZoneName(timezone));
  return isKnown ? { time, timezone } : undefined;
}

const date = /^\d{4}-\d{2}-\d{2}$/;
const time = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

function readInstant(text: string, timeZone: string): Instant | undefined {
  if (!date.test(text) && !time.test(text)) return undefined;
  const at = Date.parse(text.toUpperCase());
  // 30 February is read as a day of March.
  const isReal =
    Number.isFinite(at) && new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10));
  if (!isReal) return undefined;
  return date.test(text) ? dayBegins(text, isZoneName(timeZone) ? timeZone : 'UTC') : at;
}

function shown(text: string): string {
  if (text === '') return 'an empty text';
  return cutEnd(text, shownChars);
}

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
const keptMs = 7 * dayMs;

/** The earlier words of a row with those that came since, oldest first; so many are kept as may still be asked about. */
export function withEarlierWords(
  earlier: readonly EarlierWords[],
  added: readonly EarlierWords[],
): readonly EarlierWords[] {
  const all = [...earlier, ...notIn(earlier, added)];
  const lastAt = all.at(-1)?.untilAt ?? 0;
  return all.filter(({ untilAt }) => untilAt >= lastAt - keptMs).slice(-mostKept);
}
