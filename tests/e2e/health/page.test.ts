import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { Browser } from 'playwright-core';
import { namespace, startBench, type Bench } from '../../faults/harness/bench.ts';
import { putCronJob } from '../../faults/harness/objects.ts';
import { builtUi, startBrowser, whyNoBrowser } from '../ui/fixtures/browser.ts';
import { mountVolume, whyNoVolume } from './small-volume.ts';
import { removeDefinitions, untilShown } from './told.ts';

const noVolume = whyNoVolume() ?? false;

/** The banner of the page says in the sentences of readiness and health what keeps the service from its work. */
describe('the page of a service that is not well', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser;
  before(async () => {
    await builtUi();
    browser = await startBrowser();
  });
  after(() => browser.close());

  async function aBench(t: TestContext): Promise<Bench> {
    const bench = await startBench({ controllers: false });
    t.after(() => bench.close());
    return bench;
  }

  /** One that leads, with its SQLite file on a volume of its own. */
  async function aServiceOnVolume(t: TestContext) {
    const bench = await aBench(t);
    const volume = mountVolume(24);
    t.after(() => volume.remove());
    const path = join(volume.folder, 'monitor.db');
    const service = await bench.prepare({ storage: { type: 'sqlite', path } });
    await service.startReady();
    await service.untilLeading();
    putCronJob(bench.sim, 'kept');
    return { volume, path, service };
  }

  test('a full volume, and one that has become read-only', { skip: noVolume }, async (t) => {
    const { volume, path, service } = await aServiceOnVolume(t);
    volume.fill();
    assert.match(
      await untilShown(browser, service, / is full /),
      new RegExp(
        `^The volume of ${path} is full \\(0 MB free\\): make room on it, or enlarge it\\. Stored data is shown\\.$`,
      ),
    );
    volume.empty();
    await service.untilReady();
    volume.fail();
    assert.match(
      await untilShown(browser, service, / is read-only /),
      new RegExp(`^The volume of ${path} is read-only \\(\\d+ MB free\\): mount it.* Stored data is shown\\.$`),
    );
    await service.end();
  });

  test('a file that may not be written', { skip: noVolume }, async (t) => {
    const { volume, path, service } = await aServiceOnVolume(t);
    const files = [path, `${path}-wal`];
    for (const file of files) volume.setImmutable(file, true);
    try {
      assert.match(
        await untilShown(browser, service, / is read-only /),
        new RegExp(`^The file ${path} is read-only \\(\\d+ MB free\\): let the account.* Stored data is shown\\.$`),
      );
    } finally {
      for (const file of files) volume.setImmutable(file, false);
    }
  });

  test('definitions that were removed', async (t) => {
    const bench = await aBench(t);
    const service = await bench.prepare({});
    await service.startReady();
    await service.untilLeading();
    removeDefinitions(bench);
    const command = 'kubectl apply -f charts/cronjob-monitor/crds/';
    assert.equal(
      await untilShown(browser, service, /definition of CronJobMonitor .* definition of AlertChannel /),
      `The definition of CronJobMonitor is not in the cluster: ${command}. ` +
        `The definition of AlertChannel is not in the cluster: ${command}. Stored data is shown.`,
    );
  });

  test('a Lease that may not be read', async (t) => {
    const bench = await aBench(t);
    bench.sim.addAccessRule((_user, deed) => ('resource' in deed && deed.resource === 'leases' ? false : undefined));
    const service = await bench.prepare({
      config: { 'leader-election.enabled': true, 'leader-election.namespace': namespace },
    });
    service.start();
    const text = await untilShown(browser, service, /^The Lease /);
    assert.match(
      text,
      new RegExp(
        `^The Lease ${namespace}/cronjob-monitor-controller cannot be read or written \\(forbidden\\): give the account`,
      ),
    );
    assert.doesNotMatch(text, /Stored data/, 'there is none before the first leader');
  });

  test('a status that may not be written', async (t) => {
    const bench = await aBench(t);
    bench.sim.addAccessRule((_user, deed) =>
      'resource' in deed && deed.resource === 'cronjobmonitors' && deed.subresource === 'status' ? false : undefined,
    );
    const service = await bench.prepare({});
    await service.startReady();
    assert.match(
      await untilShown(browser, service, /may not patch/),
      /^The service may not patch cronjobmonitors\/status \(shop\/everything\): give its account the right to \([^)]*\)\.$/,
      'all else is done, and shown',
    );
  });
});
