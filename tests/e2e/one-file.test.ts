import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Store } from '@cronjob-monitor/shared/store';
import { openBeside } from '../faults/checker/index.ts';
import { startBench, until, type Bench } from '../faults/harness/bench.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from '../faults/harness/objects.ts';
import type { MonitorProcess } from '../servers/index.ts';
import { readNumber } from '../store/rows.ts';

const leaseMs = 15_000;
/** The default: a heartbeat is trusted for so long. */
const lease = {
  'leader-election.lease-duration': `${leaseMs}ms`,
  'leader-election.renew-deadline': '10s',
  'leader-election.retry-period': '2s',
};
const refused = 'the term as leader is over, the process ends';

describe('two processes on one database file', () => {
  let bench: Bench;
  let store: Store;
  let first: MonitorProcess;
  let slots = 0;
  before(async () => {
    bench = await startBench({ controllers: false });
    store = openBeside(bench.sqlite());
    first = await bench.prepare({ config: lease });
    await first.startReady();
    await first.untilLeading();
  });
  after(async () => {
    await store.close();
    await bench.close();
  });

  async function recordsARun(): Promise<void> {
    const owner = putCronJob(bench.sim, `file-${++slots}`);
    putJob(bench.sim, owner, { slotAt: slotNumber(slots), status: completeStatus() });
    await until(
      'the run is recorded',
      async () => (await readNumber(store, 'select count(*) as n from executions')) === slots,
    );
  }

  test('the second is refused with a sentence while the first lives, which does not notice', async () => {
    await recordsARun();
    const second = await bench.prepare({ config: lease });
    second.start();
    const end = await second.ended(60_000);
    assert.equal(end.code, 1);
    const [line] = second.said(refused);
    assert.match(
      String(line?.['why']),
      /another process \(.+\) writes to this database file; end it first, or give this one a file of its own \(storage\.sqlite\.path\)/,
    );
    assert.equal(second.said('this replica leads').length, 0);
    await recordsARun();
    assert.equal(first.said('this replica leads').length, 1);
    assert.equal(first.said(refused).length, 0);
  });

  test('after a kill -9 it works again within the lease time', async () => {
    await first.kill();
    const startedAt = performance.now();
    await first.startReady();
    const readyMs = performance.now() - startedAt;
    await first.untilLeading(2 * leaseMs);
    const leadsMs = performance.now() - startedAt;
    assert.ok(leadsMs - readyMs <= leaseMs, `it led ${leadsMs - readyMs} ms after it was ready`);
    await recordsARun();
  });

  test('after an orderly end it waits for nothing', async () => {
    await first.end();
    await first.startReady();
    const readyAt = performance.now();
    await first.untilLeading();
    assert.ok(performance.now() - readyAt < leaseMs / 3);
    await recordsARun();
  });

  test('of two that start at the same moment one stays', async () => {
    // Their file is another one: that of the first would be another installation on this cluster.
    await first.end();
    const storage = bench.sqlite('fresh.db');
    const both = [await bench.prepare({ config: lease, storage }), await bench.prepare({ config: lease, storage })];
    for (const one of both) one.start();
    await until('one has ended', () => both.some(({ running }) => !running), 60_000);
    const [stays] = both.filter(({ running }) => running);
    assert.ok(stays, 'they have ended each other');
    await stays.untilLeading();
    const fresh = openBeside(storage);
    await until(
      'it records',
      async () => (await readNumber(fresh, 'select count(*) as n from executions').catch(() => 0)) === slots,
    );
    await fresh.close();
  });
});
