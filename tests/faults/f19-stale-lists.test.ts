import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { listAlerts } from '@cronjob-monitor/shared/store';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import type { MonitorProcess } from '../servers/index.ts';
import { HttpSink } from '../sinks/index.ts';
import { testDatabases } from '../store/databases.ts';
import { readRows } from '../store/rows.ts';
import { listStoredRuns, openBeside } from './checker/stored-runs.ts';
import { startBench, until, usualLease, type Bench } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { completeStatus, keepTalking, putCronJob, putJob, runningStatus, setJobStatus } from './harness/objects.ts';
import { putWebhook, tells, tellsLoopback, told, untilHeard } from './harness/receiver.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

/** A slot without a run is judged so long after it at the earliest (detection.md 2.2). */
const toleranceMs = 30_000;
/** What a start finds false it finds within this time. */
const judgedWithinMs = 10_000;
const monitor = {
  alerting: tells('hook'),
  missedSchedule: { grace: '1s' },
  stuckJobs: { overrunningAfter: '6s' },
};

/**
 * F19: caches of the API server that lag behind, while another replica takes over. What a list at version 0 would tell is as things were
 * before a run ended, before another was stuck, and before a slot was started.
 */
for (const database of testDatabases().filter(({ name }) => name === 'postgres')) {
  describe('F19, stale answers at version 0 during a failover', () => {
    let bench: Bench;
    let sink: HttpSink;
    const pulse = new AbortController();
    before(async () => {
      sink = await HttpSink.start();
      bench = await startBench({ controllers: false, monitor });
      putWebhook(bench.sim, sink, 'hook');
      keepTalking(bench.sim, pulse.signal);
    });
    after(async () => {
      pulse.abort();
      await bench.close();
      await sink.stop();
      await database.remove();
    });

    for (let time = 1; time <= timesOf({ ci: 2, soak: 20 }); time++) {
      test(`nothing is missed, stuck or resolved that is not (${time})`, async () => {
        const { sim, proxy } = bench;
        const settings = await database.fresh();
        assert.notEqual(settings.type, 'sqlite');
        const options = {
          entryPoint: 'controller',
          storage: settings as Exclude<typeof settings, { type: 'sqlite' }>,
          config: {
            ...usualLease,
            ...tellsLoopback,
            'leader-election.enabled': true,
            'leader-election.namespace': 'shop',
          },
        } as const;
        const first = await bench.prepare(options);
        const second = await bench.prepare(options);
        const store = openBeside(settings);
        const lists: string[] = [];
        const made: KubeObject[] = [];
        try {
          const ends = putCronJob(sim, `ends-${time}`);
          const hangs = putCronJob(sim, `hangs-${time}`);
          made.push(ends, hangs);
          await first.startReady();
          await first.untilLeading();
          // Its first slot is the one that is played: what is made in a minute has to be watched within it.
          const leftMs = minuteMs - (Date.now() % minuteMs);
          if (leftMs < 25_000) await wait(leftMs);
          const slotAt = (Math.floor(Date.now() / minuteMs) + 1) * minuteMs;
          // It has this one slot today: however long the rest takes, no later one is missed meanwhile.
          const slot = new Date(slotAt);
          const schedule = `${slot.getUTCMinutes()} ${slot.getUTCHours()} * * *`;
          const daily = putCronJob(sim, `daily-${time}`, { cron: { schedule, timeZone: 'Etc/UTC' } });
          made.push(daily);
          await until('all of them are watched', async () => {
            const [row] = await readRows(store, 'select count(*) as n from monitor_targets').catch(() => []);
            return Number(row?.['n']) >= 4;
          });
          const passTo = (at: number): Promise<void> => wait(Math.max(0, at - Date.now()));
          const runs = (owner: KubeObject): string => {
            const job = putJob(sim, owner, { name: `${owner.metadata.name}-1`, status: runningStatus() });
            made.push(job);
            return job.metadata.name;
          };

          await passTo(slotAt - 9_000);
          const ending = runs(ends);
          await passTo(slotAt - 8_000);
          const stale = sim.fault({ target: { verb: 'list' }, effect: { kind: 'stale' } });
          setJobStatus(sim, ending, completeStatus());
          runs(hangs);
          await passTo(slotAt);
          const started = putJob(sim, daily, { slotAt, status: runningStatus() });
          made.push(started);
          sim.objects.update(
            { apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'shop', name: daily.metadata.name },
            (object) => ({
              ...object,
              status: { lastScheduleTime: new Date(slotAt).toISOString().replace('.000Z', 'Z') },
            }),
          );
          setJobStatus(sim, started.metadata.name, completeStatus());
          // A slow machine tells late: the slot has its Job in time all the same.
          const about = { channel: 'hook', cronJob: hangs.metadata.name };
          await untilHeard(sink, about, ['firing jobStuck/overrunning'], 60_000);
          // What is on its way when its sender is killed is told again; here nothing is.
          let messages: Record<string, unknown>[] = [];
          await until(
            () => `the answer to its message is written, of ${JSON.stringify(messages)}`,
            async () => {
              messages = await readRows(
                store,
                'select kind, state, state_reason, attempts, last_error from deliveries',
              );
              return messages.length > 0 && messages.every(({ state }) => state === 'sent');
            },
          );

          proxy.inspect(({ direction, bytes }) => {
            const [, path] = direction === 'toServer' ? (/^GET (\S+) HTTP/.exec(bytes.toString('latin1')) ?? []) : [];
            if (path !== undefined && !/[?&]resourceVersion=[1-9]/.test(path)) lists.push(path);
            return 'pass';
          });
          await first.kill();
          await second.startReady();
          await second.untilLeading();
          await untilJudged(second, Math.max(slotAt + toleranceMs + 5_000, Date.now() + judgedWithinMs));

          const alerts = await listAlerts(
            store,
            { states: ['pending', 'active', 'suppressed', 'resolved', 'expired', 'cancelled'] },
            { sort: { key: 'since', descending: false } },
          );
          assert.deepEqual(
            alerts.map(({ cronJob, type, subject, state }) => [cronJob.name, type, subject, state]),
            [[hangs.metadata.name, 'jobStuck', 'overrunning', 'active']],
          );
          const heard = told(sink, 'hook').filter(({ cronJob }) => cronJob.endsWith(`-${time}`));
          assert.deepEqual(
            heard.map(({ words }) => words),
            ['firing jobStuck/overrunning'],
          );
          const recorded = await listStoredRuns(store);
          assert.deepEqual(
            recorded.map(({ jobName, status }) => `${jobName} ${status}`).sort(),
            [`${ending} success`, `${started.metadata.name} success`].sort(),
          );
          assert.ok(
            lists.some((path) => path.startsWith('/apis/batch/v1/jobs?')),
            'the successor listed',
          );
          assert.deepEqual(
            lists.filter((path) => /[?&]resourceVersion=0(&|$)/.test(path)),
            [],
          );
          assert.equal(stale.hits, 0);
          stale.remove();
        } finally {
          proxy.inspect(undefined);
          await second.remove();
          await store.close();
          // The next time begins with an empty database: what is left here would be news to it.
          for (const { apiVersion, kind, metadata } of made)
            sim.objects.remove({ apiVersion, kind, name: metadata.name, namespace: 'shop' });
        }
      });
    }

    /** Each scheduler has run after this instant: what it could find false, it would have found. */
    async function untilJudged(service: MonitorProcess, at: number): Promise<void> {
      await wait(Math.max(0, at - Date.now()));
      const text = await (await fetch(`${service.metrics}/metrics`)).text();
      assert.match(text, /cronjob_monitor_leader\b.* 1/);
    }
  });
}
