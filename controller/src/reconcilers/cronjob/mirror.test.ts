import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { CronJobFacts } from '@cronjob-monitor/shared/domain';
import { ClusterError, type MirroredHealth } from '@cronjob-monitor/shared/kube';
import { projectCronJobs } from '@cronjob-monitor/shared/store';
import { aCronJob, FakeClock, RecordingLogger, aTestStore } from '@cronjob-monitor/shared/testing';
import { createMirror, type Mirror } from './mirror.ts';

interface Fixture {
  readonly clock: FakeClock;
  readonly cronJobs: Map<string, CronJobFacts>;
  readonly mirror: Mirror;
  /** `name health: message`, in order; empties it. */
  readonly written: () => string[];
  readonly project: (facts: CronJobFacts) => Promise<void>;
  /** So many looks, a second apart. */
  readonly looks: (count: number) => Promise<void>;
  refused: ClusterError | undefined;
  monitored: boolean;
}

async function aMirror(
  t: TestContext,
  count: number,
  untried: 'Progressing' | 'Healthy' = 'Progressing',
): Promise<Fixture> {
  const clock = new FakeClock();
  const { store, epoch } = await aTestStore(t, { clock });
  const cronJobs = new Map<string, CronJobFacts>();
  let writes: string[] = [];
  const stopping = new AbortController();
  let run: Promise<void> | undefined;
  let sleeps = 0;
  const counting = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    every: clock.every.bind(clock),
    sleep: (ms: number, signal?: AbortSignal) => {
      sleeps++;
      return clock.sleep(ms, signal);
    },
  };
  const fixture: Fixture = {
    clock,
    cronJobs,
    refused: undefined,
    monitored: true,
    written: () => writes.splice(0),
    async project(facts) {
      cronJobs.set(facts.uid, { ...facts, health: cronJobs.get(facts.uid)?.health });
      await store.fenced(epoch, (tx) => projectCronJobs(tx, [{ facts, seenAt: clock.now() }]));
    },
    looks: async (many) => {
      const begun = sleeps;
      const hasSlept = (times: number): boolean => sleeps >= begun + times;
      for (let look = 0; look < many; look++) {
        if (run) await clock.advance(1_000);
        else run = fixture.mirror.run(stopping.signal);
        // After each look it sleeps.
        while (!hasSlept(look + 1)) await new Promise((resolve) => setImmediate(resolve));
      }
    },
    mirror: createMirror({
      untried,
      store,
      cronJobs: { find: (uid) => cronJobs.get(uid), values: () => cronJobs.values() },
      cluster: {
        applyHealth: async ({ uid, name }, health: MirroredHealth | undefined) => {
          if (fixture.refused) throw fixture.refused;
          const facts = cronJobs.get(uid);
          if (facts) cronJobs.set(uid, { ...facts, health });
          writes.push(`${name} ${health === undefined ? 'nothing' : `${health.health}: ${health.message}`}`);
        },
      },
      isMonitored: () => fixture.monitored,
      isAway: () => false,
      clock: counting,
      logger: new RecordingLogger(),
    }),
  };
  for (let index = 0; index < count; index++)
    await fixture.project(
      aCronJob({ uid: `77aa21c0-0c1d-4a8e-9b37-${String(index).padStart(12, '0')}`, name: `c${index}` }),
    );
  t.after(async () => {
    stopping.abort(new Error('the test is over'));
    await run;
    await store.close();
  });
  return fixture;
}

test('says state and generation once, and again when one of them changes, after ten seconds at the earliest', async (t) => {
  const { cronJobs, mirror, written, project, looks } = await aMirror(t, 1);
  await looks(1);
  const [uid = '', facts] = [...cronJobs][0] ?? [];
  assert.ok(facts);
  const [first] = written();
  assert.match(first ?? '', new RegExp(`^c0 Progressing/${facts.generation}: No run with this job template has ended`));
  mirror.ask([uid]);
  await looks(3);
  assert.deepEqual(written(), []);
  await project({ ...facts, suspended: true, generation: facts.generation + 1 });
  mirror.ask([uid]);
  await looks(5);
  assert.deepEqual(written(), [], 'it was written less than ten seconds ago');
  await looks(3);
  assert.deepEqual(written(), [`c0 Suspended/${facts.generation + 1}: It is suspended.`]);
});

test('a generation whose row is not written yet is not judged', async (t) => {
  const { cronJobs, mirror, written, looks } = await aMirror(t, 1);
  await looks(1);
  written();
  const [uid = '', facts] = [...cronJobs][0] ?? [];
  assert.ok(facts);
  cronJobs.set(uid, { ...facts, generation: facts.generation + 1, suspended: true });
  mirror.ask([uid]);
  await looks(12);
  assert.deepEqual(written(), []);
});

test('five are written in a second, and what has changed goes before what is looked through', async (t) => {
  const { cronJobs, mirror, written, looks } = await aMirror(t, 12, 'Healthy');
  mirror.ask([[...cronJobs.keys()].at(-1) ?? '']);
  await looks(1);
  const names = written().map((line) => line.split(':')[0]);
  assert.deepEqual([names.length, names[0]], [5, 'c11 Healthy/1'], 'a template that has not run is healthy');
  await looks(1);
  assert.equal(written().length, 5);
  await looks(1);
  assert.equal(written().length, 2);
});

test('what an unmonitored CronJob said is taken away, and one that said nothing is left alone', async (t) => {
  const fixture = await aMirror(t, 2);
  const { cronJobs, mirror, written, looks } = fixture;
  await looks(1);
  written();
  fixture.monitored = false;
  const [entry] = cronJobs;
  assert.ok(entry);
  const [uid, facts] = entry;
  cronJobs.set(uid, { ...facts, health: undefined });
  mirror.ask(cronJobs.keys());
  await looks(12);
  assert.deepEqual(written(), ['c1 nothing']);
});

test('without the right it is a problem of the service, and tried again each minute', async (t) => {
  const fixture = await aMirror(t, 1);
  const { mirror, written, looks } = fixture;
  fixture.refused = new ClusterError('forbidden', {
    message: 'cronjobs is forbidden',
    verb: 'patch',
    resource: 'cronjobs',
  });
  await looks(1);
  assert.deepEqual(
    mirror.problems().map(({ key }) => key),
    ['forbidden cronjobs'],
  );
  fixture.refused = undefined;
  await looks(30);
  assert.deepEqual(written(), []);
  await looks(32);
  assert.equal(written().length, 1);
  assert.deepEqual(mirror.problems(), []);
});
