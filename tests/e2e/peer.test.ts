import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import { namespace, putMonitor, until } from '../faults/harness/bench.ts';
import { completeStatus, failedStatus, putCronJob, putJob, timeText } from '../faults/harness/objects.ts';
import { putChannel, putSecret, putWebhook, tells, told } from '../faults/harness/receiver.ts';
import { readNumber, readRows } from '../store/rows.ts';
import { openBeside } from '../faults/checker/stored-runs.ts';
import { SmallCluster } from './peer/small-cluster.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

/** The namespace of the service itself. */
const own = 'default';
const ago = (ms: number): string => timeText(Date.now() - ms);

describe('where others fail', { concurrency: true }, () => {
  describe('one by one', { concurrency: 30 }, () => {
    let cluster: SmallCluster;
    let missing: KubeObject;
    let resume: () => void;
    before(async () => {
      cluster = await SmallCluster.start({ 'channels.secret-namespaces': `${namespace},${own}` });
      missing = cluster.watch('misses', { missedSchedule: { grace: '1s' } }, { cron: { schedule: '@every 15s' } });
      resume = cluster.sim.pauseCronJobs();
    });
    after(() => cluster.close());

    test('the controllers of the cluster stand still: the runs that did not come are told, and their return', async () => {
      await cluster.untilHeard(missing, ['firing missedSchedule'], { withinMs: 60_000 });
      resume();
      await cluster.untilHeard(missing, ['firing missedSchedule', 'resolved missedSchedule'], { withinMs: 40_000 });
    });

    test('Jobs whose first pod fails and whose second succeeds are five successes and nothing to tell', async () => {
      const retries = cluster.watch('retries', { sla: { minSuccessRate: 99 } });
      await cluster.untilWatched(retries);
      for (let number = 1; number <= 5; number++)
        cluster.run(retries, number, 'fail-first:1', { spec: { backoffLimit: 2 } });
      await cluster.untilRecorded(retries, 5, 40_000);
      assert.deepEqual(new Set((await cluster.runs(retries)).map(({ status }) => status)), new Set(['success']));
      const { successRate } = await cluster.service.ask<{ successRate: number }>(
        `/api/v1/cronjobs/${namespace}/retries`,
      );
      assert.equal(successRate, null); // no monitor watched these slots
      await wait(2_000);
      assert.deepEqual([cluster.heard(retries), await cluster.openAlerts(retries)], [[], []]);
    });

    test('a receiver that answers 500 once gets the same message again, and hears of what comes after', async () => {
      const once = cluster.watch('once');
      await cluster.untilWatched(once);
      let answered = 0;
      cluster.sink.answerAlways(({ path }) => ({ status: path === '/once' && answered++ === 0 ? 500 : 200 }));
      cluster.run(once, 1, 'exit:1');
      await cluster.untilHeard(once, ['firing jobFailed']);
      const attempts = told(cluster.sink, 'once');
      assert.deepEqual(
        attempts.map(({ answered: status }) => status),
        [500, 200],
      );
      assert.equal(attempts[0]?.key, attempts[1]?.key);
      cluster.run(once, 2, 'success');
      await cluster.untilHeard(once, ['firing jobFailed', 'resolved jobFailed']);
    });

    test('a suspended CronJob whose monitor says nothing of suspension harms no other', async () => {
      const rests = cluster.watch('rests', {}, { cron: { suspend: true } });
      await cluster.untilWatched(rests);
      await wait(3_000);
      assert.ok(cluster.service.running);
      assert.deepEqual([cluster.heard(rests), await cluster.openAlerts(rests)], [[], []]);
    });

    test('one that is suspended for longer than alertIfSuspendedFor is told', async () => {
      const sleeps = cluster.watch(
        'sleeps',
        { suspendedHandling: { alertIfSuspendedFor: '2s' } },
        { cron: { suspend: true } },
      );
      await cluster.untilHeard(sleeps, ['firing jobSuspended']);
    });

    test('a duration of days is understood, and one that cannot be read concerns its own field alone', async () => {
      const durations = { days: '8d', odd: '8 days' };
      const watched = Object.entries(durations).map(([name, maxTimeSinceLastSuccess]) =>
        cluster.watch(name, { deadManSwitch: { enabled: true, maxTimeSinceLastSuccess } }),
      );
      const other = cluster.watch('other');
      await cluster.untilWatched(...watched, other);
      for (const cronJob of [...watched, other]) cluster.run(cronJob, 1, 'exit:1');
      for (const cronJob of [...watched, other]) await cluster.untilHeard(cronJob, ['firing jobFailed']);
      const conditionsOf = async (name: string): Promise<string> => {
        const body = await cluster.service.ask<{ conditions: unknown }>(`/api/v1/monitors/${namespace}/${name}`);
        return JSON.stringify(body.conditions);
      };
      assert.match(await conditionsOf('odd'), /maxTimeSinceLastSuccess/);
      assert.doesNotMatch(await conditionsOf('days'), /maxTimeSinceLastSuccess/);
    });

    test('a CronJob that always fails is also told to be without a success', async () => {
      const fails = cluster.watch('fails', { deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '4s' } });
      await cluster.untilWatched(fails);
      cluster.run(fails, 1, 'success');
      await cluster.untilRecorded(fails, 1);
      cluster.run(fails, 2, 'exit:1');
      const both = ['firing deadManTriggered', 'firing jobFailed'];
      await until('both are told', () => cluster.heard(fails).length === both.length);
      assert.deepEqual(cluster.heard(fails).sort(), both);
    });

    test('two monitors with two channels both tell every failure of the one CronJob', async () => {
      const shared = cluster.watch('shared', { alerting: { suppressDuplicatesFor: '0s' } });
      putWebhook(cluster.sim, cluster.sink, 'second');
      putMonitor(cluster.sim, 'shared-too', {
        selector: { matchNames: ['shared'] },
        alerting: tells('second', { suppressDuplicatesFor: '0s' }),
      });
      await cluster.untilWatched(shared);
      await until('both watch it', async () => {
        const path = `/api/v1/cronjobs/${namespace}/shared`;
        return (await cluster.service.ask<{ monitors: readonly unknown[] }>(path)).monitors.length === 2;
      });
      for (const number of [1, 2]) {
        cluster.run(shared, number, 'exit:1');
        await cluster.untilRecorded(shared, number);
      }
      for (const channel of ['shared', 'second'])
        await cluster.untilHeard(shared, ['firing jobFailed', 'firing jobFailed'], { channel });
    });

    test('Jobs that go as they end are all recorded, each with its exit code', async () => {
      const vanish = cluster.watch('vanish');
      await cluster.untilWatched(vanish);
      for (let number = 1; number <= 40; number++) {
        cluster.run(vanish, number, 'exit:7', { spec: { ttlSecondsAfterFinished: 0 } });
        await wait(100);
      }
      await cluster.untilRecorded(vanish, 40);
      const codes = (await cluster.runs(vanish)).map(({ status, exitCode }) => `${status} ${exitCode}`);
      assert.deepEqual(new Set(codes), new Set(['failed 7']));
    });

    test('an image that cannot be pulled is told with its reason', async () => {
      const pulls = cluster.watch('pulls', { stuckJobs: { notStartedAfter: '3s' } });
      await cluster.untilWatched(pulls);
      cluster.run(pulls, 1, 'imagepull');
      await cluster.untilHeard(pulls, ['firing jobStuck/notStarted']);
      assert.match(JSON.stringify(told(cluster.sink, 'pulls')[0]?.data), /ImagePullBackOff|ErrImagePull/);
    });

    test('a channel that names the Secret of another namespace, or that of the database beside the service, is refused, and their values stand nowhere', async () => {
      const canary = 'canary-58d1f0';
      // What it holds could be sent to: nothing but the missing label keeps it here.
      const password = Buffer.from(`${cluster.sink.url}/${canary}`).toString('base64');
      const database = { namespace: own, name: 'database' };
      cluster.sim.objects.put({ apiVersion: 'v1', kind: 'Secret', metadata: database, data: { password } });
      const reader = cluster.watch('reader');
      putChannel(cluster.sim, 'reader', {
        type: 'webhook',
        webhook: { urlSecretRef: { ...database, key: 'password' } },
      });
      cluster.sim.objects.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'vault' } });
      putSecret(cluster.sim, 'vault', { url: `not a url: ${canary}` }, 'vault');
      const thief = cluster.watch('thief');
      putChannel(cluster.sim, 'thief', {
        type: 'webhook',
        webhook: { urlSecretRef: { name: 'vault', namespace: 'vault', key: 'url' } },
      });
      await cluster.untilWatched(thief, reader);
      for (const one of [thief, reader]) cluster.run(one, 1, 'exit:1');
      const channel = { apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'AlertChannel' };
      const status = (name = 'thief'): string =>
        JSON.stringify(cluster.sim.objects.find({ ...channel, name })?.['status'] ?? {});
      await until('the channel is refused', () => /"status":"False"/.test(status()));
      const lacks = `Secret ${own}/database lacks the label cronjob-monitor.io/channel-secret`;
      await until('the channel beside the service is refused', () => status('reader').includes(lacks));
      await until('the messages wait', async () => {
        const body = await cluster.service.ask<{ items: { channel: string | { name: string } }[] }>(
          '/api/v1/deliveries?state=parked',
        );
        const parked = JSON.stringify(body.items);
        return parked.includes('thief') && parked.includes('reader');
      });
      const { service } = cluster;
      const asked = [
        '/api/v1/channels',
        '/api/v1/channels/thief',
        '/api/v1/channels/reader',
        '/api/v1/deliveries',
        '/api/v1/alerts',
        '/api/v1/config',
      ];
      const answers = await Promise.all(asked.map(async (path) => (await fetch(service.api + path)).text()));
      const metrics = await (await fetch(`${service.metrics}/metrics`)).text();
      const rows = await dumpOf(cluster);
      for (const text of [status(), status('reader'), ...answers, metrics, rows, JSON.stringify(service.log)])
        assert.ok(!text.includes(canary) && !text.includes(Buffer.from(canary).toString('base64').slice(0, 12)));
      assert.deepEqual([told(cluster.sink, 'thief'), told(cluster.sink, 'reader')], [[], []]);
      assert.ok(cluster.sink.arrivals.every(({ path }) => !path.includes(canary)));
    });

    test('a Job that ended before its monitor existed is recorded when it does, and no channel is told', async () => {
      const early = putCronJob(cluster.sim, 'early');
      putJob(cluster.sim, early, { name: 'early-1', status: failedStatus(Date.now() - 60_000) });
      putJob(cluster.sim, early, { name: 'early-2', status: completeStatus(Date.now() - 120_000) });
      await wait(1_000);
      putWebhook(cluster.sim, cluster.sink, 'early');
      putMonitor(cluster.sim, 'early', { selector: { matchNames: ['early'] }, alerting: tells('early') });
      await cluster.untilWatched(early);
      await cluster.untilRecorded(early, 2);
      await wait(2_000);
      assert.deepEqual(cluster.heard(early), []);
    });
  });

  describe('all at once', () => {
    for (const [storms, title] of [
      [0, 'each in a message of its own'],
      [20, 'all of them by name in a digest'],
    ] as const) {
      test(`forty CronJobs that are overdue are told, ${title}`, async (t) => {
        const cluster = await SmallCluster.start({ 'rate-limits.storm-threshold': storms });
        t.after(() => cluster.close());
        // What the first look over an empty database finds is a digest of its own.
        await until('the first look is over', async () => {
          const asked = cluster.service.ask<{ lastEvaluation: string | null }>('/api/v1/stats');
          return ((await asked.catch(() => undefined))?.lastEvaluation ?? null) !== null;
        });
        const names = Array.from({ length: 40 }, (_, number) => `overdue-${number}`);
        putWebhook(cluster.sim, cluster.sink, 'all');
        for (const name of names) {
          const made = putCronJob(cluster.sim, name);
          cluster.sim.objects.put({
            ...made,
            status: { lastSuccessfulTime: ago(2 * hourMs), lastScheduleTime: ago(2 * hourMs) },
          });
        }
        putMonitor(cluster.sim, 'overdue', {
          deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '1h' },
          alerting: tells('all'),
        });
        const toldOf = (): Set<string> => {
          const { alone, inDigests } = cluster.namesTold('all');
          return storms === 0 ? alone : inDigests;
        };
        await until(
          () => `all are told, not only ${toldOf().size}`,
          () => toldOf().size === names.length,
        );
        assert.deepEqual([...toldOf()].sort(), [...names].sort());
        const { alone, inDigests } = cluster.namesTold('all');
        assert.equal(storms === 0 ? inDigests.size : alone.size, 0);
      });
    }

    test('a restart repeats no message and no row', async (t) => {
      const cluster = await SmallCluster.start();
      t.after(() => cluster.close());
      const steady = cluster.watch('steady');
      await cluster.untilWatched(steady);
      for (let number = 1; number <= 30; number++)
        cluster.run(steady, number, number % 10 === 0 ? 'exit:1' : 'success');
      await cluster.untilRecorded(steady, 30);
      cluster.run(steady, 31, 'exit:1');
      await cluster.untilRecorded(steady, 31);
      await until(
        'the failure is told',
        () => cluster.heard(steady).at(-1) === 'firing jobFailed' || cluster.heard(steady).length > 0,
      );
      await wait(1_500);
      const before = { heard: cluster.heard(steady), rows: await countRows(cluster) };
      for (const end of ['SIGTERM', 'SIGKILL'] as const) {
        await cluster.service.end(end);
        await cluster.service.startReady();
        await wait(3_000);
        assert.deepEqual({ heard: cluster.heard(steady), rows: await countRows(cluster) }, before);
      }
      cluster.run(steady, 32, 'success');
      await cluster.untilRecorded(steady, 32);
    });
  });
});

async function countRows({ bench }: SmallCluster): Promise<Record<string, number>> {
  const store = openBeside(bench.sqlite());
  try {
    const counts: Record<string, number> = {};
    for (const table of ['executions', 'alerts', 'deliveries', 'slots'])
      counts[table] = await readNumber(store, `select count(*) as n from ${table}`);
    return counts;
  } finally {
    await store.close();
  }
}

async function dumpOf({ bench }: SmallCluster): Promise<string> {
  const store = openBeside(bench.sqlite());
  try {
    const tables = await readRows(store, "select name from sqlite_master where type = 'table'");
    const dumps: string[] = [];
    for (const { name } of tables) {
      const rows = await readRows(store, `select * from "${String(name)}"`);
      dumps.push(
        JSON.stringify(rows, (_key, value: unknown) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
        ),
      );
    }
    return dumps.join('\n');
  } finally {
    await store.close();
  }
}
