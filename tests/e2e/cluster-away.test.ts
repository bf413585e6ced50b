import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openBeside } from '../faults/checker/index.ts';
import { startBench, until, type Bench, type BenchOptions } from '../faults/harness/bench.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from '../faults/harness/objects.ts';
import type { MonitorProcess } from '../servers/index.ts';
import { readNumber } from '../store/rows.ts';
import type { Store } from '@cronjob-monitor/shared/store';

/** A way in which the cluster cannot be had at the start, and what mends it. */
interface Trouble {
  readonly options?: BenchOptions;
  readonly begin: (bench: Bench) => () => void;
  /** What readiness must name. */
  readonly said: RegExp;
  /** Lines of its beginning, and of its end: one for each change. */
  readonly lines: readonly [begin: string, end: string, count: number];
  /** So long it is watched for repetitions: several tries. */
  readonly watchedMs: number;
  readonly mendedWithinMs: number;
}

/** What is watched: each kind is refused by itself. */
const kinds = 6;

const troubles: Readonly<Record<string, Trouble>> = {
  'no server listens at its address': {
    begin: ({ proxy }) => {
      proxy.accept(false);
      return () => proxy.accept(true);
    },
    said: /^the API server does not answer \(cannot list \w+: unreachable\): look at it/m,
    lines: ['the cluster does not answer', 'the cluster answers again', 1],
    watchedMs: 6_000,
    mendedWithinMs: 40_000,
  },
  'its token is not known': {
    options: { token: 'of-the-test', user: { token: 'of-the-service' } },
    begin:
      ({ sim }) =>
      () =>
        sim.addToken('of-the-service', { name: 'monitor', uid: 'monitor', groups: ['system:masters'] }),
    said: /^cannot list cronjobs: unauthorized \(list cronjobs\): renew the token/m,
    lines: ['the cluster cannot be watched', 'the cluster is watched again', kinds],
    watchedMs: 6_000,
    mendedWithinMs: 40_000,
  },
  'one resource is forbidden': {
    begin: ({ sim }) => {
      const remove = sim.addAccessRule((_user, deed) =>
        'resource' in deed && deed.resource === 'cronjobs' ? false : undefined,
      );
      return remove;
    },
    said: /^cannot watch cronjobs: forbidden \(watch cronjobs\): give the account/m,
    lines: ['the cluster cannot be watched', 'the cluster is watched again', 1],
    watchedMs: 32_000,
    mendedWithinMs: 40_000,
  },
};

describe('a cluster that cannot be had at the start', { concurrency: true }, () => {
  for (const [title, trouble] of Object.entries(troubles)) {
    test(`${title}: readiness says so, the log once, and it goes on by itself`, async (t) => {
      const bench = await startBench({ controllers: false, ...trouble.options });
      t.after(() => bench.close());
      const [cannot, again, lines] = trouble.lines;
      const mend = trouble.begin(bench);
      const service: MonitorProcess = await bench.prepare({});
      service.start();
      await service.until('it says what is wrong', async () => {
        const { status, body } = await service.readiness();
        return status === 503 && trouble.said.test(body);
      });
      await wait(trouble.watchedMs);
      assert.equal((await fetch(`${service.probes}/healthz`)).status, 200);
      assert.equal(service.said(cannot).length, lines, service.tail());

      const owner = putCronJob(bench.sim, 'late');
      putJob(bench.sim, owner, { slotAt: slotNumber(0), status: completeStatus() });
      mend();
      await service.untilReady(trouble.mendedWithinMs);
      const store = openBeside(bench.sqlite());
      t.after(() => store.close());
      await until('the run is recorded', async () => (await runsIn(store)) === 1);
      await until('the log tells the end', () => service.said(again).length === lines);
      assert.equal(service.said(cannot).length, lines);
      assert.equal(service.said('all caches are filled').length, 1);
    });
  }
});

async function runsIn(store: Store): Promise<number> {
  return readNumber(store, 'select count(*) as n from executions').catch(() => 0); // no schema yet
}
