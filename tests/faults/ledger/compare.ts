import { listActiveJobs, type Store } from '@cronjob-monitor/shared/store';
import { readRows } from '../../store/rows.ts';
import type { TrueCronJob, TrueJob } from './true-history.ts';
import type { TrueSlot, TrueSlots } from './true-slots.ts';

const outcomes = ['missed', 'skippedForbid', 'skippedDeadline', 'suspended', 'unobserved', 'indeterminate'];
const statuses = ['success', 'failed', 'replaced', 'deleted', 'unobserved'];
const inferredBit = 2;

/** What the ledger says of a slot, in one word: an outcome, or the status of the run that answered it. */
export type Told = string;

/** All that the rows say of the expected runs of a CronJob, by slot; a slot that is told twice is told as such. */
export async function readLedger(store: Store, cronJobUid: string): Promise<Map<number, Told>> {
  const [row] = await readRows(store, 'select id from cronjobs where uid_text = ?', [cronJobUid]);
  const id = Number(row?.['id'] ?? -1);
  const told = new Map<number, Told>();
  const add = (at: unknown, word: Told): void => {
    const known = told.get(Number(at));
    told.set(Number(at), known === undefined ? word : `twice: ${known} and ${word}`);
  };
  for (const slot of await readRows(store, 'select slot_at, outcome from slots where cronjob_id = ?', [id])) {
    add(slot['slot_at'], outcomes[Number(slot['outcome'])] ?? '?');
  }
  const runs = await readRows(
    store,
    'select scheduled_at, status, flags from executions where cronjob_id = ? and scheduled_at is not null',
    [id],
  );
  for (const run of runs) {
    const isInferred = (Number(run['flags']) & inferredBit) !== 0;
    add(run['scheduled_at'], isInferred ? 'run: inferred' : `run: ${statuses[Number(run['status'])]}`);
  }
  for (const job of await listActiveJobs(store, [id])) {
    if (job.scheduledAt !== undefined) add(job.scheduledAt, 'run: going on');
  }
  return told;
}

/** A time in which no controller watched. */
export interface Blindness {
  readonly from: number;
  readonly to: number;
}

/** How the ledger of a CronJob differs from the truth, one sentence each; empty: it is right. */
export function ledgerProblems(
  cronJob: TrueCronJob,
  truth: TrueSlots,
  told: ReadonlyMap<number, Told>,
  blind: readonly Blindness[],
): string[] {
  const problems: string[] = [];
  const left = new Map(told);
  for (const slot of truth.slots) {
    const word = left.get(slot.at);
    left.delete(slot.at);
    const isAdrift = isIn(blind, slot.at) && hasUnknownPhase(cronJob);
    const allowed = [...allowedWords(slot, cronJob, blind), ...(isAdrift ? ['nothing'] : [])];
    if (!allowed.includes(word ?? 'nothing'))
      problems.push(`${timeOf(slot.at)} is told as ${word ?? 'nothing'}, it is ${allowed.join(' or ')}`);
  }
  for (const job of truth.unasked) {
    const word = left.get(job.slotAt);
    left.delete(job.slotAt);
    const allowed = [...wordsOfRun(job, blind), ...(isIn(blind, job.createdAt) ? ['nothing', 'indeterminate'] : [])];
    if (!allowed.includes(word ?? 'nothing'))
      problems.push(
        `${timeOf(job.slotAt)}, by an edit, is told as ${word ?? 'nothing'}, it is ${allowed.join(' or ')}`,
      );
  }
  for (const [at, word] of left) {
    const range = truth.slots.length > 0 && at >= (truth.slots[0]?.at ?? 0) && at <= (truth.slots.at(-1)?.at ?? 0);
    const isAdrift = word === 'unobserved' && isIn(blind, at) && hasUnknownPhase(cronJob);
    if (range && !isAdrift && !(word === 'indeterminate' && isUncertain(at, cronJob, blind)))
      problems.push(`${timeOf(at)} is told as ${word}, and was never due`);
  }
  return problems;
}

function allowedWords(slot: TrueSlot, cronJob: TrueCronJob, blind: readonly Blindness[]): string[] {
  const uncertain = isUncertain(slot.at, cronJob, blind) ? ['indeterminate', 'nothing'] : [];
  if (slot.job) {
    const { job } = slot;
    if (!wasUnseen(job, blind)) return wordsOfRun(job, blind);
    // It was not seen to come, later than a run may: until then it had not come.
    const before = job.createdAt >= slot.at + 30_000 ? [slot.outcome] : [];
    return [...wordsOfRun(job, blind), ...uncertain, ...before];
  }
  // What was decided in the dark, such as by the end of a run that stood in the way, was not seen.
  const unseen = blind.some(({ from, to }) => from < slot.decidedAt && to > slot.at) ? ['unobserved'] : [];
  const maybeBehind = slot.outcome === 'suspended' ? [] : unseen;
  return [slot.outcome, ...uncertain, ...maybeBehind];
}

/** Started and gone, both while no controller watched, or not seen to end. */
function wasUnseen(job: TrueJob, blind: readonly Blindness[]): boolean {
  return blind.some(({ from, to }) => job.goneAt !== undefined && job.goneAt >= from && job.goneAt <= to);
}

function wordsOfRun(job: TrueJob, blind: readonly Blindness[]): string[] {
  if (wasUnseen(job, blind)) {
    return [
      'unobserved',
      'run: unobserved',
      'run: inferred',
      ...(job.status ? [`run: ${job.status}`] : ['run: deleted', 'run: replaced']),
    ];
  }
  if (job.status) return [`run: ${job.status}`];
  return job.goneAt === undefined ? ['run: going on'] : ['run: replaced', 'run: deleted'];
}

/** The spec changed in a gap that covers the slot: when is not known. */
function isUncertain(at: number, { specs }: TrueCronJob, blind: readonly Blindness[]): boolean {
  return blind.some(
    ({ from, to }) => at >= from && at <= to && specs.some(({ fromAt }) => fromAt >= from && fromAt <= to),
  );
}

/** An interval counts from the last start: after an edit in the dark that may be one of which nothing is left. */
function hasUnknownPhase({ specs }: TrueCronJob): boolean {
  return specs.length > 1 && specs.some(({ schedule }) => schedule.startsWith('@every'));
}

function isIn(blind: readonly Blindness[], at: number): boolean {
  return blind.some(({ from, to }) => at >= from && at <= to);
}

function timeOf(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
