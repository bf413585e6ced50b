import type { DecisiveReason } from '../../contract/index.ts';
import { cutEnd, toPlainText } from '../text/cut.ts';
import { maskLine } from '../text/mask-line.ts';
import type { Evidence } from './evidence.ts';
import type { ExitCause } from './exit-cause.ts';

/** The line of a log that says best why its container failed. */
interface DecisiveLine {
  /** Of the log as it is kept, from 1. */
  readonly number: number;
  /** At most 500 characters. */
  readonly text: string;
  readonly by: DecisiveReason;
}

/** That of one attempt: how it is kept with the run. */
export interface DecisiveLineOfPod extends DecisiveLine {
  readonly pod: string;
  readonly container: string;
  /** What stands in the two lines before it; absent: nothing. */
  readonly before?: readonly string[];
}

const longestLine = 500;
/** Of each line no more is searched, characters. */
const longestSearched = 5_000;

const trouble = /error|fatal|panic|exception|\bkilled/i;
/** What programs say of a step that did not work, where no line speaks of an error. */
const mishap =
  /\bfail(?:ed|ure|s)?\b|refused|denied|reset by peer|timed? ?out|unreachable|\bunable to\b|\bcan(?:no|')t\b|no such|not found|unauthorized|forbidden|\babort(?:ed|ing)?\b/i;
/** Says that there is none: `0 errors`, `errors=0`, `no exceptions`. */
const none =
  /\b(?:0|no|without) (?:\w+ )?(?:errors?|exceptions?)\b|\b(?:errors?|exceptions?)["']?[=:] ?["']?(?:0|false|none|null)\b/gi;

/**
 * Where a pattern of a fix was found, the line there; else the last line that speaks of an error, else of what did not work; else the last line
 * that is not empty.
 * Undefined: the log is empty. Time grows with the length of the log alone.
 *
 * @param hitAt where the pattern was found, in characters from the beginning
 */
export function decisiveLine(log: string, hitAt?: number): DecisiveLine | undefined {
  if (hitAt !== undefined && hitAt >= 0 && hitAt < log.length) {
    const from = log.lastIndexOf('\n', hitAt - 1) + 1;
    return lineAt(log, hitAt === 0 ? 0 : from, 'pattern');
  }
  let last: number | undefined;
  let failed: number | undefined;
  for (let end = log.length; end > 0;) {
    const from = log.lastIndexOf('\n', end - 1) + 1;
    const line = log.slice(from, Math.min(end, from + longestSearched));
    if (line.trim() !== '') {
      last ??= from;
      const told = line.replace(none, '');
      if (trouble.test(told)) return lineAt(log, from, 'word');
      if (mishap.test(told)) failed ??= from;
    }
    end = from - 1;
  }
  if (failed !== undefined) return lineAt(log, failed, 'word');
  return last === undefined ? undefined : lineAt(log, last, 'lastLine');
}

function lineAt(log: string, from: number, by: DecisiveReason): DecisiveLine {
  const end = log.indexOf('\n', from);
  let number = 1;
  for (let at = log.indexOf('\n'); at >= 0 && at < from; at = log.indexOf('\n', at + 1)) number++;
  const line = log.slice(from, end < 0 ? undefined : end).slice(0, longestSearched);
  return { number, text: cutEnd(toPlainText(line).trim(), longestLine), by };
}

/**
 * The decisive line of each attempt of a run that failed, in the order of its logs. Of several logs of one pod that of the container that
 * failed counts. A line that says the same as the one that a pattern was found in is marked as such in every attempt.
 *
 * @param hit the log in which a pattern was found, and where
 */
export function decisiveLines(
  logs: readonly Evidence[],
  cause: Pick<ExitCause, 'container'>,
  hit?: { readonly log: string; readonly at: number },
): DecisiveLineOfPod[] {
  const told = logs.filter(({ kind, body }) => kind === 'logs' && body !== undefined && body.trim() !== '');
  const placed = told.map((log) => {
    const [pod = '', container = ''] = log.name.split('/');
    return { pod, container, log };
  });
  const ofPods = [...Map.groupBy(placed, ({ pod }) => pod).values()].flatMap((own) => {
    const named =
      own.find(({ log }) => log.name === hit?.log) ?? own.find(({ container }) => container === cause.container);
    return named ?? own.at(-1) ?? [];
  });
  const found = hit && told.find(({ name }) => name === hit.log);
  const marked = found?.body === undefined ? undefined : maskLine(decisiveLine(found.body, hit?.at)?.text ?? '');
  return ofPods.flatMap(({ pod, container, log }): DecisiveLineOfPod[] => {
    const body = log.body ?? '';
    const line = decisiveLine(body, log === found ? hit?.at : marked ? lastOf(body, marked) : undefined);
    const before = line ? linesBefore(body, line.number) : [];
    return line ? [{ pod, container, ...line, ...(before.length > 0 ? { before } : {}) }] : [];
  });
}

/** Of the two lines before the one of that number, those that say something. */
function linesBefore(log: string, number: number): string[] {
  return log
    .split('\n', number - 1)
    .slice(-2)
    .map((line) => cutEnd(toPlainText(line.slice(0, longestSearched)).trimEnd(), longestLine))
    .filter((line) => line !== '');
}

/** Where the last line begins that says the same as `marked`, which is masked. */
function lastOf(log: string, marked: string): number | undefined {
  for (let end = log.length; end > 0;) {
    const from = log.lastIndexOf('\n', end - 1) + 1;
    const line = log.slice(from, Math.min(end, from + longestSearched));
    if (line.trim() !== '' && maskLine(cutEnd(toPlainText(line).trim(), longestLine)) === marked) return from;
    end = from - 1;
  }
  return undefined;
}

/**
 * The same line in a log that may begin elsewhere, as a live log does or the end of one: where its text stands last. Undefined: it is not
 * in there.
 */
export function findAgain<T extends DecisiveLine>(line: T, log: string): T | undefined {
  const at = lastOf(log, maskLine(line.text));
  if (at === undefined) return undefined;
  const { number } = lineAt(log, at, line.by);
  return { ...line, number };
}
