import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '@cronjob-monitor/shared/store';
import { expectedRuns, type Gap, type Script } from './expected-runs.ts';
import type { JobReader, ReadJob } from './job-reader.ts';
import { differences, listStoredRuns, miscounts } from './stored-runs.ts';

export { assertEpochsInOrder } from './epoch-order.ts';
export { type Script } from './expected-runs.ts';
export { JobReader, type ReadJob } from './job-reader.ts';
export { listStoredRuns, miscounts, openBeside } from './stored-runs.ts';
export { untilAllTold } from './told-messages.ts';

interface Agreement {
  readonly scriptOf?: (job: ReadJob) => Script;
  readonly gaps?: readonly Gap[];
  /** How many Jobs have ended or gone by then: the reader hears of them later than the test that ends them. */
  readonly over?: number;
  /** How many runs may be recorded as unobserved. None by default. */
  readonly unobserved?: number;
  /** How long the rows may take to become what they must be. */
  readonly withinMs: number;
}

/**
 * Nothing lost, nothing twice, nothing invented: each Job that ended has one row that says what its conditions say, no other row is
 * there, and the counts beside the rows are theirs (invariants I4 and I5). Returns after how many milliseconds it was so.
 */
export async function untilAllRecorded(reader: JobReader, store: Store, agreement: Agreement): Promise<number> {
  const { scriptOf = () => ({}), gaps, withinMs } = agreement;
  const askedAt = performance.now();
  for (;;) {
    const jobs = reader.jobs();
    const rows = await listStoredRuns(store).catch(() => undefined); // the database may be away, or new
    const unseen = new Set(rows?.filter(({ status }) => status === 'unobserved').map(({ jobUid }) => jobUid));
    const mayLack = unseen.size <= (agreement.unobserved ?? 0) ? unseen : new Set<string>();
    const found = rows && [
      ...differences(
        expectedRuns(jobs, scriptOf, gaps).filter(({ job }) => !mayLack.has(job.uid)),
        rows.filter(({ jobUid }) => !mayLack.has(jobUid)),
      ),
      ...(await miscounts(store)),
    ];
    const tookMs = performance.now() - askedAt;
    const over = jobs.filter(({ end, goneAt }) => end ?? goneAt).length;
    if (found?.length === 0 && over >= (agreement.over ?? 0)) return tookMs;
    if (tookMs > withinMs) {
      assert.deepEqual(found?.slice(0, 20), [], `${found?.length} differences`);
      assert.fail(`the reader knows of ${over} Jobs that are over`);
    }
    await wait(250);
  }
}
