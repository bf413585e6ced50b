import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startBench, until } from '../../faults/harness/bench.ts';
import { failedStatus, putCronJob, putJob, slotNumber } from '../../faults/harness/objects.ts';
import { builtUi, startBrowser, whyNoBrowser } from '../ui/fixtures/browser.ts';
import { askHealth, untilOnlyCause, untilShown } from './told.ts';

const another =
  /^another installation, ".+" \(its database is of .+Z\), watches this cluster too: remove one of the two/;
/** The same as a page words it, whose times are those of its reader. */
const shown =
  /Another installation, ".+" \(its database is of .+\), watches this cluster too: remove one of the two, or set /;

describe('two installations on one cluster', () => {
  test('the younger one is not ready, says which one is there, and neither judges nor writes; it may be allowed', async (t) => {
    const bench = await startBench({ controllers: false });
    t.after(() => bench.close());
    const older = await bench.prepare({});
    await older.startReady(120_000);
    await older.untilLeading();
    const writer = () => {
      const [monitor] = bench.sim.objects.list({ apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor' });
      return (monitor?.['status'] as { writtenBy?: { since: string } } | undefined)?.writtenBy?.since;
    };
    await until('the status says who wrote it', () => writer() !== undefined);
    const since = writer();

    const younger = await bench.prepare({ storage: bench.sqlite('younger.db') });
    // Both run on this host, so the name is the same, and what was written before could be an earlier life: what the older one writes from
    // now on gives it away.
    const owner = putCronJob(bench.sim, 'shared');
    const enough = new AbortController();
    const load = (async () => {
      for (let slot = 1; !enough.signal.aborted; slot++) {
        putJob(bench.sim, owner, { slotAt: slotNumber(slot), status: failedStatus() });
        await wait(500);
      }
    })();
    t.after(async () => {
      enough.abort();
      await load;
    });
    younger.start();
    await until(
      'it is not ready',
      async () => {
        if (!younger.running) younger.start(); // it led before it knew, and gave way: it is started again, as by Kubernetes
        const { status, body } = await younger.readiness();
        const hasLed = younger.saidOfLate('this replica leads').length > 0; // and is about to end
        return !hasLed && status === 503 && body.split('\n').some((line) => another.test(line));
      },
      120_000,
    );
    await wait(3_000);
    assert.ok(younger.running, 'it waits');
    const { health } = await askHealth(younger);
    assert.equal(health.ready, false);
    assert.ok(
      health.problems.some((problem) => another.test(problem)),
      health.problems.join('\n'),
    );
    await younger.until('its log says so', () =>
      younger.saidOfLate('the service is not ready').some(({ problem }) => another.test(String(problem))),
    );
    await untilOnlyCause(younger, 'secondInstallation', 1);
    assert.equal(younger.saidOfLate('this replica leads').length, 0);
    assert.equal((await older.readiness()).status, 200, 'the older one works on');
    await until('the older one writes', () => writer() === since);
    if (whyNoBrowser() === undefined) {
      await builtUi();
      const browser = await startBrowser();
      t.after(() => browser.close());
      await untilShown(browser, younger, shown);
    }

    const allowed = await bench.prepare({
      storage: bench.sqlite('allowed.db'),
      config: { 'cluster.shared-with-another': true },
    });
    await allowed.startReady(120_000);
    await allowed.untilLeading();
  });
});
