import type { ExecutionStatus, Risk, SlotOutcome, WallCell, WallOutcome } from '../../contract/index.ts';
import { durationInWords } from '../../contract/wording.ts';
import type { Instant } from '../instant.ts';
import { exitInWords } from '../execution/fault.ts';

/** Ended runs of one column that ended alike. */
export interface RunsOfColumn {
  /** Where the column begins. */
  readonly at: Instant;
  readonly status: ExecutionStatus;
  /** Their Jobs were created later than a start may be. */
  readonly isLate: boolean;
  readonly count: number;
  /** The newest of them; undefined where many CronJobs are told of together. */
  readonly newest:
    | {
        readonly createdAt: Instant;
        readonly jobName: string;
        readonly exitCode: number | undefined;
        readonly reason: string | undefined;
        readonly jobReason?: string | undefined;
        readonly durationMs: number | undefined;
      }
    | undefined;
}

/** Expected runs of one column that came to nothing. */
export interface SlotsOfColumn {
  readonly at: Instant;
  readonly outcome: Exclude<SlotOutcome, 'matched' | 'late'>;
  readonly count: number;
}

/** What is known of one CronJob, or of several together, within the columns. */
export interface RowFacts {
  readonly runs: readonly RunsOfColumn[];
  readonly slots: readonly SlotsOfColumn[];
  /** Jobs that have not ended, by when they were due. */
  readonly running: readonly { readonly at: Instant; readonly jobName: string | undefined }[];
  /** Expected, and not there yet. */
  readonly due: readonly Instant[];
  /** The worst that may become of those that are due. */
  readonly risk: Risk | undefined;
}

type Kind = Exclude<WallOutcome, 'atRisk'> | 'ok';
type Counts = Record<Kind | 'running' | 'due', number>;

/** The kind of run that a cell is about, worst first. */
const worstFirst: readonly Kind[] = ['failed', 'late', 'unseen', 'skipped', 'ok', 'missed'];

const kindOfSlot: Readonly<Record<SlotsOfColumn['outcome'], Kind>> = {
  missed: 'missed',
  skippedForbid: 'skipped',
  skippedDeadline: 'skipped',
  suspended: 'skipped',
  unobserved: 'unseen',
  indeterminate: 'unseen',
};

/** What a run or an expected run that was no ordinary one is called in a cell. */
const words: Readonly<Record<SlotsOfColumn['outcome'] | Exclude<ExecutionStatus, 'success' | 'failed'>, string>> = {
  missed: 'missed',
  skippedForbid: 'skipped',
  skippedDeadline: 'too late to start',
  suspended: 'suspended',
  indeterminate: 'of which nothing tells',
  unobserved: 'not seen',
  replaced: 'replaced',
  deleted: 'deleted',
};

type Newest = NonNullable<RunsOfColumn['newest']>;

interface Draft {
  readonly counts: Counts;
  /** How many there are of what has a word of its own. */
  readonly named: Map<string, number>;
  readonly newest: Map<Kind, Newest>;
  runningJob: string | undefined;
}

/**
 * The cells of one CronJob, rising by column: how many of its runs succeeded, failed and so on, the words that say it, and the run that is
 * meant first. Each run counts once: one that failed is no late one. What lies outside the columns is left out.
 */
export function cellsOf(span: WallSpan, { runs, slots, running, due, risk }: RowFacts): WallCell[] {
  const drafts = new Map<number, Draft>();
  const draftAt = (at: Instant): Draft | undefined => {
    const column = columnAt(span, at);
    if (column === undefined) return undefined;
    const draft = drafts.get(column) ?? emptyDraft();
    drafts.set(column, draft);
    return draft;
  };
  for (const group of runs) {
    const draft = draftAt(group.at);
    if (draft) addRuns(draft, group);
  }
  for (const { at, outcome, count } of slots) {
    const draft = draftAt(at);
    if (draft) addNamed(draft, kindOfSlot[outcome], words[outcome], count);
  }
  for (const { at, jobName } of running) {
    const draft = draftAt(at);
    if (!draft) continue;
    draft.counts.running++;
    draft.runningJob = jobName;
  }
  for (const at of due) {
    const draft = draftAt(at);
    if (draft) draft.counts.due++;
  }
  return [...drafts].sort(([a], [b]) => a - b).map(([column, draft]) => toCell(column, draft, risk));
}

function addRuns(draft: Draft, { status, isLate, count, newest }: RunsOfColumn): void {
  const kind = kindOfRun(status, isLate);
  if (status === 'success' || status === 'failed') draft.counts[kind] += count;
  else addNamed(draft, kind, words[status], count);
  const known = draft.newest.get(kind);
  if (newest && (!known || known.createdAt < newest.createdAt)) draft.newest.set(kind, newest);
}

function addNamed({ counts, named }: Draft, kind: Kind, word: string, count: number): void {
  counts[kind] += count;
  named.set(word, (named.get(word) ?? 0) + count);
}

function kindOfRun(status: ExecutionStatus, isLate: boolean): Kind {
  switch (status) {
    case 'success':
      return isLate ? 'late' : 'ok';
    case 'failed':
      return 'failed';
    case 'unobserved':
      return 'unseen';
    default:
      return 'skipped';
  }
}

function emptyDraft(): Draft {
  return {
    counts: { ok: 0, failed: 0, late: 0, missed: 0, skipped: 0, unseen: 0, running: 0, due: 0 },
    named: new Map(),
    newest: new Map(),
    runningJob: undefined,
  };
}

function toCell(c: number, draft: Draft, risk: Risk | undefined): WallCell {
  const { counts, newest, runningJob } = draft;
  const told = worstFirst.map((kind) => newest.get(kind)).find((run) => run !== undefined);
  const isRunFirst = runningJob !== undefined && !newest.has('failed');
  return {
    c,
    ...counts,
    risk: counts.due > 0 && risk ? risk.level : null,
    jobName: (isRunFirst ? runningJob : told?.jobName) ?? null,
    words: cellWords(draft, risk),
  };
}

/** `2 runs, 1 failed: DeadlineExceeded after 25 min; 1 late; 1 expected`. */
function cellWords({ counts, named, newest }: Draft, risk: Risk | undefined): string {
  const { ok, failed, late, running, due } = counts;
  const parts = [
    failed > 0 ? failedWords(ok + failed + late, failed, newest.get('failed')) : succeededWords(ok, late),
    late > 0 && failed > 0 ? `${late} late` : '',
    ...[...named].map(([word, count]) => `${count} ${word}`),
    running > 0 ? `${running} running` : '',
    due > 0 ? `${due} expected${risk ? `: ${risk.words}` : ''}` : '',
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function succeededWords(ok: number, late: number): string {
  const runs = ok + late;
  if (runs === 0) return '';
  return `${countWords(runs)} succeeded${late === 0 ? '' : runs === 1 ? ', late' : `, ${late} late`}`;
}

function failedWords(runs: number, failed: number, newest: RunsOfColumn['newest']): string {
  const share = runs === 1 ? 'failed' : failed === runs ? 'all failed' : `${failed} failed`;
  const cause = newest ? exitInWords(newest) : '';
  const after = newest?.durationMs === undefined ? '' : ` after ${durationInWords(newest.durationMs / 1_000)}`;
  const head = runs === 1 ? `${countWords(runs)} ${share}` : `${countWords(runs)}, ${share}`;
  return `${head}${cause === '' ? '' : `: ${cause}`}${after}`;
}

function countWords(runs: number): string {
  return runs === 1 ? '1 run' : `${runs} runs`;
}

/** Columns of one width. Both ends lie on a multiple of it, counted from the epoch. */
export interface WallSpan {
  /** Inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly until: Instant;
  readonly stepMs: number;
}

/** Where each column begins. */
export function columnsOf({ from, until, stepMs }: WallSpan): Instant[] {
  return Array.from({ length: Math.ceil((until - from) / stepMs) }, (_, index) => from + index * stepMs);
}

/** Which column an instant lies in; undefined: none of them. */
function columnAt({ from, until, stepMs }: WallSpan, at: Instant): number | undefined {
  return at < from || at >= until ? undefined : Math.floor((at - from) / stepMs);
}

/** The column that an instant lies in, as one that begins at a multiple of its width. */
export function floorTo(stepMs: number, at: Instant): Instant {
  return Math.floor(at / stepMs) * stepMs;
}

/** What comes more often than this is a texture: single starts of it would hide all others. */
const textureBelowMs = 15 * 60_000;

/** Whether runs come too often to be told apart in columns of this width. */
export function isTexture(shortestGapMs: number, stepMs: number): boolean {
  return shortestGapMs < Math.min(textureBelowMs, stepMs);
}

/** Starts in each column. Those with one list of slots are counted once. */
export function countStarts(span: WallSpan, lists: Iterable<readonly Instant[]>): number[] {
  const sharing = new Map<readonly Instant[], number>();
  for (const slots of lists) sharing.set(slots, (sharing.get(slots) ?? 0) + 1);
  const counts = columnsOf(span).map(() => 0);
  for (const [slots, cronJobs] of sharing) {
    for (const at of slots) {
      const column = columnAt(span, at);
      if (column !== undefined) counts[column] = (counts[column] ?? 0) + cronJobs;
    }
  }
  return counts;
}
