import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Health } from '@cronjob-monitor/shared/contract';
import { startBench } from '../../faults/harness/bench.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from '../../faults/harness/objects.ts';
import type { MonitorProcess } from '../../servers/index.ts';
import { mountVolume, whyNoVolume, type SmallVolume } from './small-volume.ts';
import { askHealth, untilOnlyCause } from './told.ts';

const skip = whyNoVolume() ?? process.env['DATABASES']?.split(',').includes('sqlite') === false;
const notReady = 'the service is not ready';
const over = 'a problem of the service is over';

interface Stage {
  readonly volume: SmallVolume;
  readonly path: string;
  readonly service: MonitorProcess;
}

/** A service whose file lies on a volume of its own, and a run every 200 ms. */
async function startOnVolume(t: TestContext, before: (volume: SmallVolume) => void = () => {}): Promise<Stage> {
  const volume = mountVolume(24);
  const bench = await startBench({ controllers: false });
  const enough = new AbortController();
  const path = join(volume.folder, 'monitor.db');
  const service = await bench.prepare({ storage: { type: 'sqlite', path } });
  const owner = putCronJob(bench.sim, 'busy');
  const load = (async () => {
    for (let slot = 1; !enough.signal.aborted; slot++) {
      putJob(bench.sim, owner, { slotAt: slotNumber(slot), status: completeStatus() });
      await wait(200);
    }
  })();
  t.after(async () => {
    enough.abort();
    await load;
    await bench.close();
    volume.remove();
  });
  before(volume);
  service.start();
  return { volume, path, service };
}

/** A leader whose work cannot begin ends, for another one to try: the disk fails after that. */
async function untilAtWork(service: MonitorProcess): Promise<void> {
  await service.until(
    'its work has begun',
    () => service.said('what this start found is judged, messages go out').length > 0,
  );
}

async function untilTold(service: MonitorProcess, sentence: RegExp): Promise<Health> {
  let told: Awaited<ReturnType<MonitorProcess['readiness']>> | undefined;
  await service.until(
    () => `it is not ready: ${JSON.stringify(told)}`,
    async () => {
      told = await service.readiness();
      return told.status === 503 && sentence.test(told.body);
    },
  );
  await service.until('the log says so', () =>
    service.said(notReady).some(({ problem }) => sentence.test(String(problem))),
  );
  const { status, health } = await askHealth(service);
  assert.equal(status, 503);
  assert.deepEqual([health.status, health.ready], ['unhealthy', false]);
  assert.match(health.problems[0] ?? '', sentence);
  await untilOnlyCause(service, 'volumeFull', 2);
  return health;
}

describe('the volume of the database file', { skip }, () => {
  test('full: not ready, one sentence everywhere, metrics, few lines; ready again with the room', async (t) => {
    const { volume, path, service } = await startOnVolume(t);
    await service.untilReady();
    await service.untilLeading();
    assert.equal(await service.metric('cronjob_monitor_storage_writable'), 1);
    assert.ok(Number(await service.metric('cronjob_monitor_storage_volume_free_bytes')) > 5 * 1024 ** 2);
    const linesBefore = service.log.length;
    volume.fill();
    const health = await untilTold(service, new RegExp(`^the volume of ${path} is full \\(0 MB free\\): make room`));
    assert.equal(health.storage, 'unwritable');
    assert.equal(health.problems.length, 1, 'nothing that follows from it is told as another problem');
    assert.equal(await service.metric('cronjob_monitor_storage_writable'), 0);
    assert.ok(Number(await service.metric('cronjob_monitor_storage_volume_free_bytes')) < 1024 ** 2);
    assert.equal((await fetch(`${service.probes}/healthz`)).status, 200);
    assert.equal((await fetch(`${service.api}/api/v1/cronjobs`)).status, 200, 'what is stored is served');
    await wait(10_000);
    const lines = service.log.slice(linesBefore);
    assert.ok(lines.length <= 6, `${lines.length} lines\n${service.tail()}`);
    assert.equal(lines.filter(({ msg }) => msg === notReady).length, 1);
    volume.empty();
    await service.untilReady();
    await service.until('it is told', () => service.said(over).length === 1);
    await service.until('it is healthy', async () => (await askHealth(service)).health.status === 'healthy');
    assert.equal(service.said('this replica leads').length, 1, 'it is the same term');
  });

  test('full at the start: it says so, logs no migration that was rolled back, and begins when there is room', async (t) => {
    const { volume, path, service } = await startOnVolume(t, (full) => full.fill());
    await untilTold(service, new RegExp(`^the volume of ${path} is full \\(0 MB free\\)`));
    assert.equal(service.said('The schema was brought forward').length, 0);
    volume.empty();
    await service.untilLeading();
    assert.ok(service.said('The schema was brought forward').length > 0);
  });

  test('made read-only by the kernel, as when a disk fails: not ready', async (t) => {
    const { volume, path, service } = await startOnVolume(t);
    await service.untilReady();
    await untilAtWork(service);
    volume.fail();
    await untilTold(service, new RegExp(`^the volume of ${path} is read-only \\(\\d+ MB free\\): mount it`));
    assert.equal(await service.metric('cronjob_monitor_storage_writable'), 0);
  });

  test('a file that cannot be written: not ready, until it can', async (t) => {
    const { volume, path, service } = await startOnVolume(t);
    await service.untilReady();
    await untilAtWork(service);
    const files = [path, `${path}-wal`];
    for (const file of files) volume.setImmutable(file, true);
    try {
      await untilTold(service, new RegExp(`^the file ${path} is read-only \\(\\d+ MB free\\): let the account`));
      assert.equal(await service.metric('cronjob_monitor_storage_writable'), 0);
    } finally {
      for (const file of files) volume.setImmutable(file, false);
    }
    await service.untilReady();
  });
});
