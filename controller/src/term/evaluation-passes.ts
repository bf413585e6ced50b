import type { Part } from '@cronjob-monitor/shared/domain';
import type { Digests } from '../outbox/index.ts';
import { evaluate, partsOf, type EvaluateDeps } from '../evaluate/index.ts';

/** Who asks about many CronJobs at once asks here. */
interface Passes {
  /** `slotsOnly`: of these no more than their slots, unless one of those has moved. */
  readonly evaluate: (
    ids: readonly number[],
    parts: ReadonlySet<Part>,
    slotsOnly?: ReadonlySet<number>,
  ) => Promise<void>;
  /** The first pass over an empty database: what it finds is older than the watch, and told together. */
  readonly evaluateFirst: (ids: readonly number[], parts: ReadonlySet<Part>) => Promise<void>;
  /** The parts that a scheduler asks about. */
  readonly evaluateFor: (
    scheduler: keyof typeof partsOf,
    ids: readonly number[],
    slotsOnly?: ReadonlySet<number>,
  ) => Promise<void>;
}

/** One pass after the other: whether many CronJobs fail at once is asked of a whole pass. */
export function createPasses(judging: EvaluateDeps, digests: Digests, signal: () => AbortSignal): Passes {
  let last: Promise<unknown> = Promise.resolve();
  return {
    evaluate: inTurn,
    evaluateFirst: firstOfAll,
    evaluateFor: (scheduler, ids, slotsOnly) => inTurn(ids, new Set<Part>(partsOf[scheduler]), slotsOnly),
  };

  function inTurn(ids: readonly number[], parts: ReadonlySet<Part>, slotsOnly?: ReadonlySet<number>): Promise<void> {
    const pass = last.then(() => onePass(ids, parts, slotsOnly));
    last = pass.catch(() => {}); // its caller hears of it
    return pass;
  }

  async function firstOfAll(ids: readonly number[], parts: ReadonlySet<Part>): Promise<void> {
    const raised = await evaluate(ids, { parts, firstHold: digests.holdFirst(judging.store.now()) }, judging, signal());
    const alone = await digests.settleFirst(raised, judging.store.now());
    if (alone.length > 0) await evaluate(alone, { parts }, judging, signal());
  }

  async function onePass(
    ids: readonly number[],
    parts: ReadonlySet<Part>,
    slotsOnly: ReadonlySet<number> | undefined,
  ): Promise<void> {
    const stormHold = digests.holdDuring(ids.length, judging.store.now());
    const raised = await evaluate(ids, { parts, stormHold, slotsOnly }, judging, signal());
    if (stormHold === undefined) return;
    const toldAfterAll = await digests.settle(raised, judging.store.now());
    if (toldAfterAll.length > 0) await evaluate(toldAfterAll, { parts }, judging, signal());
  }
}
