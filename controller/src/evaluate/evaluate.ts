import type { SlotOutcome } from '@cronjob-monitor/shared/contract';
import type { Execution, Instant, MessageHold, Part } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import { type CountedRunOf, lockCronJobs, type Store, type Tx } from '@cronjob-monitor/shared/store';
import type { RaisedAlert } from '../alerting/index.ts';
import { judgeCronJobs, type JudgeDeps } from './judge.ts';
import type { Occasion } from './subject.ts';

/** What a run that ended may change by itself; what is open about its CronJob is asked besides. */
const partsOfRun: readonly Part[] = ['jobFailed', 'deadMan', 'durations', 'output'];

/** Slots up to now get their outcomes, inside the transaction. */
export type SettleSlots = (
  tx: Tx,
  cronJobIds: readonly number[],
  now: Instant,
  findCronJob: JudgeDeps['sources']['findCronJob'],
) => Promise<ReadonlyMap<number, { readonly moved: boolean; readonly outcomes: readonly SlotOutcome[] }>>;

export interface EvaluateDeps extends JudgeDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly clock: Clock;
  readonly settleSlots: SettleSlots;
  /** After each commit that gave slots their outcomes. `missing`: CronJobs of which one was missed. */
  readonly onSettled: (outcomes: readonly SlotOutcome[], missing: readonly number[]) => void;
  /** After each commit that changed alerts. */
  readonly onRaised: (raised: readonly RaisedAlert[]) => void;
}

/** One transaction is short enough that a recording waits for it, and long enough that ten thousand CronJobs are a few dozen of them. */
const batchSize = 100;
/** Where most need no more than a look at their slots. */
const slotBatchSize = 500;

/** Asks about many CronJobs: a fenced transaction for each batch, and room for others between them. */
export async function evaluate(
  ids: readonly number[],
  occasion: Occasion,
  deps: EvaluateDeps,
  signal: AbortSignal,
): Promise<RaisedAlert[]> {
  const all: RaisedAlert[] = [];
  const { slotsOnly } = occasion;
  const size = slotsOnly && slotsOnly.size > 0 ? slotBatchSize : batchSize;
  for (let from = 0; from < ids.length && !signal.aborted; from += size) {
    const batch = ids.slice(from, from + size);
    // One after the other: all of them want the same few connections, and recording wants one too.
    const { raised, outcomes, missing } = await deps.store.fenced(deps.epoch, async (tx) => {
      await lockCronJobs(tx, batch);
      const now = occasion.asOfAt ?? tx.now();
      const isOfSlots = occasion.parts.has('missedSchedule');
      const settled = isOfSlots ? await deps.settleSlots(tx, batch, now, deps.sources.findCronJob) : undefined;
      const asked = batch.filter((id) => !slotsOnly?.has(id) || settled?.get(id)?.moved);
      const outcomes = [...(settled?.values() ?? [])].flatMap((ofOne) => ofOne.outcomes);
      const missing = batch.filter((id) => settled?.get(id)?.outcomes.includes('missed'));
      return { raised: asked.length === 0 ? [] : await judgeCronJobs(tx, asked, occasion, deps), outcomes, missing };
    });
    if (outcomes.length > 0) deps.onSettled(outcomes, missing);
    if (raised.length > 0) deps.onRaised(raised);
    all.push(...raised);
    await deps.clock.sleep(0);
  }
  return all;
}

const ofRun: ReadonlySet<Part> = new Set(partsOfRun);
const ofSuccess: ReadonlySet<Part> = new Set(partsOfRun.filter((part) => part !== 'jobFailed'));

/** Asks what runs that were recorded in this transaction ask for by themselves. Their CronJobs are locked. */
export async function judgeRecorded(
  tx: Tx,
  counted: readonly CountedRunOf[],
  deps: JudgeDeps,
  stormHold?: MessageHold,
): Promise<RaisedAlert[]> {
  const recorded = new Map<number, Execution[]>();
  for (const { run, cronJobId } of counted) {
    const runs = recorded.get(cronJobId) ?? [];
    recorded.set(cronJobId, runs);
    // What was replaced, deleted or not seen to end is neutral; its CronJob may tell of a success, which the dead-man's switch counts from.
    if (run.status === 'success' || run.status === 'failed') runs.push(run);
  }
  if (recorded.size === 0) return [];
  const hasFailed = counted.some(({ run }) => run.status === 'failed');
  return judgeCronJobs(tx, [...recorded.keys()], { parts: hasFailed ? ofRun : ofSuccess, recorded, stormHold }, deps);
}
