import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { Browser } from 'playwright-core';
import type { ServerSettings } from '@cronjob-monitor/shared/store';
import { namespace, startBench, type Bench } from '../../faults/harness/bench.ts';
import { putCronJob } from '../../faults/harness/objects.ts';
import { findFreePort, type MonitorProcess } from '../../servers/index.ts';
import { testDatabases } from '../../store/databases.ts';
import { builtUi, openPage, startBrowser, whyNoBrowser } from '../ui/fixtures/browser.ts';
import { mountVolume, whyNoVolume } from './small-volume.ts';
import { removeDefinitions } from './told.ts';

const postgres = testDatabases().find(({ name }) => name === 'postgres');
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

  /** Opens the first page and waits until a banner says it. */
  async function untilShown(service: MonitorProcess, sentence: RegExp): Promise<string> {
    await using opened = await openPage(browser);
    let texts: string[] = [];
    await service.until(
      () => `the page says it: ${JSON.stringify(texts)}`,
      async () => {
        await opened.page.goto(`${service.api}/`).catch(() => {}); // not listening yet
        await opened.page.waitForTimeout(1_000);
        texts = await opened.page
          .locator('.banner')
          .allInnerTexts()
          .catch(() => []); // it is being loaded
        return texts.some((text) => sentence.test(text));
      },
      90_000,
    );
    return texts.find((text) => sentence.test(text)) ?? '';
  }

  test('a full volume, and one that has become read-only', { skip: noVolume }, async (t) => {
    const bench = await aBench(t);
    const volume = mountVolume(24);
    t.after(() => volume.remove());
    const path = join(volume.folder, 'monitor.db');
    const service = await bench.prepare({ storage: { type: 'sqlite', path } });
    await service.startReady();
    await service.untilLeading();
    putCronJob(bench.sim, 'kept');
    volume.fill();
    assert.match(
      await untilShown(service, / is full /),
      new RegExp(
        `^The volume of ${path} is full \\(0 MB free\\): make room on it, or enlarge it\\. Stored data is shown\\.$`,
      ),
    );
    volume.empty();
    await service.untilReady();
    volume.fail();
    assert.match(
      await untilShown(service, / is read-only /),
      new RegExp(`^The volume of ${path} is read-only \\(\\d+ MB free\\): mount it.* Stored data is shown\\.$`),
    );
    await service.end();
  });

  test('definitions that were removed', async (t) => {
    const bench = await aBench(t);
    const service = await bench.prepare({});
    await service.startReady();
    await service.untilLeading();
    removeDefinitions(bench);
    const command = 'kubectl apply -f charts/cronjob-monitor/crds/';
    assert.equal(
      await untilShown(service, /definition of CronJobMonitor .* definition of AlertChannel /),
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
    const text = await untilShown(service, /^The Lease /);
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
      await untilShown(service, /may not patch/),
      /^The service may not patch cronjobmonitors\/status \(shop\/everything\): give its account the right to \([^)]*\)\.$/,
      'all else is done, and shown',
    );
  });

  test(
    'a database that nothing listens for, and one that refuses the password',
    { skip: postgres?.skip ?? false },
    async (t) => {
      const bench = await aBench(t);
      assert.ok(postgres);
      const settings = (await postgres.fresh()) as ServerSettings;
      t.after(() => postgres.remove());
      const port = await findFreePort();
      const refusals: readonly (readonly [Partial<ServerSettings>, RegExp])[] = [
        [{ port }, new RegExp(`^Nothing listens at \\S+:${port}, where database `)],
        [
          { password: 'not-this-one' },
          /^The database server at \S+ refuses the password of account .*: correct storage\.postgres\.password/,
        ],
      ];
      for (const [change, sentence] of refusals) {
        const service = await bench.prepare({
          storage: { ...settings, ...change },
          config: { 'storage.postgres.ssl-mode': settings.sslMode },
        });
        service.start();
        assert.doesNotMatch(await untilShown(service, sentence), /Stored data|not-this-one/);
        await service.end();
      }
    },
  );
});
