import { outputRunsNeeded, type OutputHistory } from '@cronjob-monitor/shared/domain';
import { listOutputRuns, type Tx } from '@cronjob-monitor/shared/store';
import type { Subject, Watch } from './subject.ts';

/** As many as are read of other runs, so that each that was recorded unwatched is judged. */
const fewestRuns = 40;

/** What successes of these CronJobs said of their output; nothing is read of those of which no monitor asserts anything. */
export async function gatherOutput(
  tx: Tx,
  subjects: readonly Subject[],
): Promise<(subject: Subject, watch: Watch) => OutputHistory> {
  const asserted = subjects.filter(({ watches }) => watches.some(hasAssertions));
  const rules = asserted.flatMap(({ watches }) => watches.flatMap(({ rules }) => rules.detection.output ?? []));
  const count = Math.max(fewestRuns, ...rules.map(outputRunsNeeded));
  const runs = await listOutputRuns(
    tx,
    asserted.map(({ row }) => row.id),
    count,
  );
  return ({ row }, { judgesFromAt }) => {
    const known = runs.get(row.id) ?? [];
    return { runs: known, judgesFromAt, isCut: known.length === count };
  };
}

export function hasAssertions({ rules }: { readonly rules: Pick<Watch['rules'], 'detection'> }): boolean {
  return (rules.detection.output?.assertions.length ?? 0) > 0;
}
