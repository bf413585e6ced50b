import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import { systemClock } from '@cronjob-monitor/shared/process';
import { migrate, openStore } from '@cronjob-monitor/shared/store';
import { RecordingLogger, testsNeeding } from '@cronjob-monitor/shared/testing';
import { serveApi } from './api-under-test.ts';
import { aClusterOfOne } from './cluster.ts';
import { runSchemathesis, whyNoSchemathesis } from './schemathesis.ts';
import { seedFleet } from './seed.ts';

/** At least so many requests have to be made for the run to say anything. */
const fewestRequests = 2_000;
const limitMs = 10 * 60_000;

const needing = testsNeeding('schemathesis', whyNoSchemathesis());

needing.test(
  'thousands of generated requests find no fault of ours and no answer that is not written down',
  async (context) => {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    context.diagnostic(`SEED=${seed}`);
    const folder = mkdtempSync(join(tmpdir(), 'generated-'));
    context.after(() => rmSync(folder, { recursive: true }));
    const deps = { clock: systemClock, log: new RecordingLogger() };
    const store = openStore({ type: 'sqlite', path: join(folder, 'monitor.db') }, deps);
    context.after(() => store.close());
    await migrate(store, { version: 'test' });
    await seedFleet(store);
    const settings = { ...testSettings, costlyRequestsPerMinute: 1_000_000 };
    const faults: string[] = [];
    let requests = 0;
    await using api = await serveApi({
      store,
      cluster: aClusterOfOne(),
      clock: systemClock,
      settings,
      seen: (request, status) => {
        requests += 1;
        if (status === 500) faults.push(`${request.method ?? ''} ${request.url ?? ''}`);
      },
    });
    const run = await runSchemathesis(api.port, { seed, examples: 20, limitMs });
    context.diagnostic(`${requests} requests`);
    assert.deepEqual(faults, []);
    assert.equal(run.status, 0, run.output.slice(-6_000));
    assert.ok(requests >= fewestRequests, `only ${requests} requests were made`);
  },
);
