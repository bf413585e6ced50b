import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { toAlertFacts } from '@cronjob-monitor/shared/domain';
import { listAlerts } from '@cronjob-monitor/shared/store';
import { HttpSink } from '../sinks/index.ts';
import { readNumber } from '../store/rows.ts';
import { untilAllRecorded } from './checker/index.ts';
import { until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases, type KillableServer } from './harness/database-servers.ts';
import {
  completeStatus,
  endedPodStatus,
  failedStatus,
  putCronJob,
  putJob,
  putPod,
  runningStatus,
  setJobStatus,
  slotNumber,
} from './harness/objects.ts';
import { putWebhook, tellsLoopback, untilHeard } from './harness/receiver.ts';
import { benchOfSuite } from './harness/service-bench.ts';

const jobsPerSecond = 25;
const goesOnWithinMs = 10_000;
const exitCode = 5;
const counts = { postgres: { ci: 3, soak: 20 }, mysql: { ci: 1, soak: 20 } } as const;

/** F31: the database is killed while runs are written to it, and started again. */
for (const { name, skip, start } of killableDatabases()) {
  describe(`F31, ${name} killed under load`, { skip }, () => {
    let server: KillableServer;
    const bench = benchOfSuite({ controllers: false }, async () => {
      server = await start();
      return { entryPoint: 'controller', storage: server.settings, settings: server.settings };
    });
    after(() => server.remove());
    let slots = 0;
    let over = 0;

    for (let time = 1; time <= timesOf(counts[name]); time++) {
      test(`every Job is recorded once, and work goes on within 10 s (${time})`, async (t) => {
        const { sim, service, reader, store } = bench();
        const owners = Array.from({ length: 10 }, (_, number) => putCronJob(sim, `killed-${time}-${number}`));
        const enough = new AbortController();
        const load = (async () => {
          for (; !enough.signal.aborted; await wait(1_000 / jobsPerSecond)) {
            const owner = owners[slots % owners.length];
            if (!owner) continue;
            const job = putJob(sim, owner, { slotAt: slotNumber(++slots), status: runningStatus() });
            const fails = slots % 3 === 0;
            if (fails) putPod(sim, job, { name: `${job.metadata.name}-x`, status: endedPodStatus(exitCode) });
            setJobStatus(sim, job.metadata.name, fails ? failedStatus() : completeStatus());
            over++;
          }
        })();
        const recorded = (): Promise<number> =>
          readNumber(store, 'select count(*) as n from executions').catch(() => NaN); // it is away
        const before = over;
        await until('the load is being recorded', async () => (await recorded()) > before + jobsPerSecond);

        await server.kill();
        await wait(3_000);
        await server.restart();
        const upAt = performance.now();
        let seen = await recorded();
        await until('it answers', async () => !Number.isNaN((seen = await recorded())));
        await until('work goes on', async () => (await recorded()) > seen, 30_000);
        const tookMs = performance.now() - upAt;
        enough.abort();
        await load;

        const caughtUpMs = await untilAllRecorded(reader, store, {
          over,
          scriptOf: () => ({ exitCodes: [exitCode], reasons: ['Error'] }),
          withinMs: 30_000,
        });
        t.diagnostic(
          `work went on after ${Math.round(tookMs)} ms, all was recorded ${Math.round(caughtUpMs)} ms later`,
        );
        assert.ok(tookMs <= goesOnWithinMs);
        assert.equal(service.said('this replica leads').length, 1, 'the lead is kept');
      });
    }
  });
}

const standsStillMs = 5_000;

/** A database that answers nothing for some seconds, its connections alive: a disk that hangs, a machine that moves. */
for (const { name, skip, start } of killableDatabases()) {
  describe(`F31, ${name} stands still`, { skip }, () => {
    let server: KillableServer;
    const alerting = { channelRefs: [{ name: 'hook' }] };
    const bench = benchOfSuite({ monitor: { alerting } }, async () => {
      server = await start();
      const config = { ...tellsLoopback, 'rate-limits.storm-threshold': 0 };
      return { entryPoint: 'controller', storage: server.settings, settings: server.settings, config };
    });
    after(() => server.remove());

    test('what fails meanwhile is recorded and told once, with its log and what is suggested', async (t) => {
      const { sim, service, reader, store } = bench();
      const sink = await HttpSink.start();
      t.after(() => sink.stop());
      putWebhook(sim, sink, 'hook');
      const owners = Array.from({ length: 10 }, (_, number) => putCronJob(sim, `still-${number}`));
      const targets = 'select count(*) as n from monitor_targets';
      await until('they are watched', async () => (await readNumber(store, targets)) === owners.length, 120_000);
      await wait(1_000); // instants of runs are whole seconds

      server.pause();
      for (const [number, owner] of owners.entries()) {
        const play = { outcome: 'exit:137', seconds: '0.5', log: `last words of ${number}` };
        putJob(sim, owner, { slotAt: slotNumber(number), play });
      }
      await wait(standsStillMs);
      server.resume();

      await untilAllRecorded(reader, store, {
        over: owners.length,
        scriptOf: () => ({ exitCodes: [137], reasons: ['Error', 'OOMKilled'] }),
        withinMs: 120_000,
      });
      for (const { metadata } of owners)
        await untilHeard(sink, { channel: 'hook', cronJob: metadata.name }, ['firing jobFailed'], 120_000);
      const explained = async (): Promise<unknown[]> => {
        const alerts = await listAlerts(store, { states: ['active'] }, { sort: { key: 'since', descending: false } });
        return alerts.map(({ context }) => {
          const { hasLogs, suggestedFix } = toAlertFacts(context);
          return [hasLogs, suggestedFix !== undefined];
        });
      };
      const all = JSON.stringify(owners.map(() => [true, true]));
      let last: unknown[] = [];
      await until(
        () => `each alert is explained: ${JSON.stringify(last)}`,
        async () => JSON.stringify((last = await explained())) === all,
        120_000,
      );
      assert.equal(service.said('this replica leads').length, 1, 'the lead is kept');
      assert.equal(service.said('evidence of a run could not be kept').length, 0);
    });
  });
}
