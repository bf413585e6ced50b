import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { CronJobFacts } from '@cronjob-monitor/shared/domain';
import { ClusterError, type CronJobWarning } from '@cronjob-monitor/shared/kube';
import { aCronJob, FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { createAnnotationEvents } from './annotation-events.ts';

type Annotations = CronJobFacts['annotations'];

/** CronJobs whose owner says what is no grace, `c0` and so on; `next` is the next second. */
function aScene(t: TestContext, count: number) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const cronJobs = new Map<string, CronJobFacts>();
  const written: CronJobWarning[] = [];
  const scene = {
    clock,
    logger,
    written,
    refused: undefined as ClusterError['code'] | undefined,
    monitored: true,
    annotate(uid: string, annotations: Annotations): void {
      cronJobs.set(uid, { ...aCronJob({ uid, name: uid }), annotations });
      events.ask([uid]);
    },
    async next(): Promise<string[]> {
      await clock.advance(1_000);
      return written.splice(0).map(({ message }) => message);
    },
  };
  const events = createAnnotationEvents({
    cluster: {
      createWarning: async (warning) => {
        if (scene.refused) throw new ClusterError(scene.refused, { verb: 'create', resource: 'events', message: 'no' });
        written.push(warning);
      },
    },
    cronJobs: { find: (uid) => cronJobs.get(uid) },
    selection: {
      isMonitored: () => scene.monitored,
      ownOf: ({ namespace, name, annotations }) => ({
        namespace,
        name,
        timeZone: 'UTC',
        cronJob: { annotations: annotations ?? {}, labels: {} },
        ofNamespace: { annotations: { severity: 'high' }, labels: {} },
      }),
    },
    clock,
    logger,
  });
  const over = new AbortController();
  t.after(() => over.abort(new Error('the test is over')));
  events.begin(over.signal);
  for (let index = 0; index < count; index++) scene.annotate(`c${index}`, { grace: '5' });
  return scene;
}

const ofGrace = 'The annotation cronjob-monitor.io/grace: 5 is no duration; such as 5m. It counts as absent.';

test('a value that cannot be used is told once on its CronJob, and the next one again', async (t) => {
  const scene = aScene(t, 1);
  await scene.clock.advance(1_000);
  const [{ cronJob, reason, message, name } = assert.fail()] = scene.written.splice(0);
  assert.deepEqual([cronJob.name, cronJob.uid, reason, message], ['c0', 'c0', 'InvalidAnnotation', ofGrace]);
  assert.match(name, /^c0\.[0-9a-f]{16}$/);
  scene.annotate('c0', { grace: '5', owner: 'team-data' });
  assert.deepEqual(await scene.next(), [], 'it says the same');
  scene.annotate('c0', { grace: '6' });
  assert.deepEqual(await scene.next(), [ofGrace.replace('5', '6')]);
  scene.annotate('c0', { grace: '6m' });
  assert.deepEqual(await scene.next(), []);
  scene.annotate('c0', { grace: '6' });
  assert.deepEqual(await scene.next(), [ofGrace.replace('5', '6')], 'it was mended meanwhile');
});

test('five are written in a second, each once', async (t) => {
  const scene = aScene(t, 12);
  const counts = [(await scene.next()).length, (await scene.next()).length, (await scene.next()).length];
  assert.deepEqual([...counts, (await scene.next()).length], [5, 5, 2, 0]);
  scene.annotate('many', { grace: '5', severity: 'high', ignore: 'yes', channel: '', owner: '', 'finish-by': '25:00' });
  assert.deepEqual([(await scene.next()).length, (await scene.next()).length], [5, 1]);
});

test('what no monitor selects is told nothing', async (t) => {
  const scene = aScene(t, 1);
  scene.monitored = false;
  assert.deepEqual(await scene.next(), []);
});

test('what the cluster has from an earlier leader counts as told', async (t) => {
  const scene = aScene(t, 1);
  scene.refused = 'alreadyExists';
  await scene.next();
  scene.refused = undefined;
  scene.annotate('c0', { grace: '5' });
  scene.annotate('c1', { grace: '5' });
  assert.deepEqual(await scene.next(), [ofGrace], 'of c1');
  assert.deepEqual(scene.logger.lines, []);
});

test('without the right it is tried once a minute, and the log says so once', async (t) => {
  const scene = aScene(t, 2);
  scene.refused = 'forbidden';
  await scene.next();
  for (let minute = 0; minute < 3; minute++) await scene.clock.advance(60_000);
  assert.equal(scene.logger.lines.length, 1);
  scene.refused = undefined;
  await scene.clock.advance(60_000);
  assert.equal(scene.written.length, 2);
});
