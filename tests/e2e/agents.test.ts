import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type ServerSettings, type Store } from '@cronjob-monitor/shared/store';
import { schemas } from '../api/schemas.ts';
import { seedCluster } from '../api/seed.ts';
import { namespace, startBench, until, type Bench } from '../faults/harness/bench.ts';
import { putCronJob } from '../faults/harness/objects.ts';
import type { MonitorProcess } from '../servers/index.ts';
import { testDatabases } from '../store/databases.ts';

/** What an action may take, and a second or two for a busy machine. */
const answersWithinMs = 20_000;
/** Whose time is taken. */
const actions = 100;

for (const database of testDatabases().filter(({ name }) => name !== 'sqlite')) {
  describe(
    `an API server that serves nothing and acts for other clusters, ${database.name}`,
    { skip: database.skip ?? false },
    () => {
      const stores: Store[] = [];
      const benches: Bench[] = [];
      let eu: MonitorProcess;
      let agent: MonitorProcess;
      /** A second one of us. */
      let other: MonitorProcess;
      let us: Bench;

      before(async () => {
        const settings = await schemas(database, 'eu', 'us');
        for (const [index, name] of ['eu', 'us'].entries()) {
          // As a monitor selects it in the rows.
          const { store } = await seedCluster(settings[index] as ServerSettings, name);
          stores.push(store);
          const bench = await startBench({ controllers: false });
          benches.push(bench);
          putCronJob(bench.sim, 'backup');
          bench.sim.objects.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' } });
          const [seen] = bench.sim.objects.list({ apiVersion: 'batch/v1', kind: 'CronJob', namespace });
          bench.sim.objects.put({ ...seen, metadata: { name: 'backup', namespace: 'prod' } });
        }
        const prepare = (
          bench: Bench,
          name: string,
          config: Record<string, string | boolean>,
        ): Promise<MonitorProcess> => {
          const key = join(bench.folder, 'key');
          writeFileSync(key, 'a key of more than thirty-two bytes');
          const around = {
            'cluster.name': name,
            'cluster.actions-key-file': key,
            'api.costly-requests-per-minute': 10_000,
            ...(database.name === 'postgres' && { 'storage.postgres.schema': name }),
          };
          const storage = settings[name === 'eu' ? 0 : 1] as ServerSettings;
          return bench.prepare({ entryPoint: 'apiserver', storage, config: { ...around, ...config } });
        };
        const [first, second] = benches as [Bench, Bench];
        us = second;
        eu = await prepare(first, 'eu', { 'cluster.show-others': true });
        agent = await prepare(second, 'us', { 'ui.enabled': false });
        other = await prepare(second, 'us', { 'ui.enabled': false });
        await Promise.all([eu.startReady(), agent.startReady()]);
        await untilPresent(1);
        await until('eu shows us', async () => (await fetch(`${eu.api}/api/v1/stats?cluster=us`)).ok);
      });
      after(async () => {
        for (const bench of benches) await bench.close();
        for (const store of stores) await store.close();
        await database.remove();
      });

      const rowsOf = (kind: string): Promise<Record<string, unknown>[]> =>
        (stores[1] as Store).sql('actions').where({ kind }).select();
      const untilPresent = (count: number): Promise<void> =>
        until('the agent says that it is there', async () => (await rowsOf('agent')).length >= count);
      const jobsIn = (bench: Bench | undefined): number =>
        bench?.sim.objects.list({ apiVersion: 'batch/v1', kind: 'Job', namespace: 'prod' }).length ?? NaN;
      const trigger = async (): Promise<{
        readonly status: number;
        readonly text: string;
        readonly tookMs: number;
      }> => {
        const startedAt = performance.now();
        const url = `${eu.api}/api/v1/cronjobs/prod/backup/trigger?cluster=us&force=true`;
        const answer = await fetch(url, { method: 'POST' });
        return { status: answer.status, text: await answer.text(), tookMs: performance.now() - startedAt };
      };

      test('does what is asked, there alone, and listens to nothing but probes and metrics', async () => {
        const answer = await trigger();
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual([jobsIn(benches[0]), jobsIn(us)], [0, 1]);
        await assert.rejects(fetch(`${agent.api}/api/v1/health`));
      });

      test('killed amid two actions: both callers hear within seconds that they may have been done, and nothing is done twice', async () => {
        const [jobs, agents, claimed] = [
          jobsIn(us),
          (await rowsOf('agent')).length,
          (await rowsOf('triggerCronJob')).length,
        ];
        const target = { verb: 'create', path: '/jobs' };
        const slow = us.sim.fault({ target, effect: { kind: 'slow', delayMs: 3_000 }, times: 1 });
        const done = trigger();
        await until('the first is under way', () => slow.hits > 0);
        const lost = us.sim.fault({ target, effect: { kind: 'hang' }, times: 1 });
        const undone = trigger();
        await until('the second is under way', () => lost.hits > 0);
        await agent.kill();
        agent.start();
        await untilPresent(agents + 1);
        for (const answer of await Promise.all([done, undone])) {
          assert.equal(answer.status, 503, answer.text);
          assert.match(answer.text, /CLUSTER_SILENT.*may have been done: look there/);
          assert.ok(answer.tookMs < answersWithinMs, `${Math.round(answer.tookMs)} ms`);
        }
        await wait(2_000); // The next agent has looked several times.
        assert.ok(jobsIn(us) - jobs <= 1, `${jobsIn(us) - jobs} Jobs: the second was never made`);
        assert.equal((await rowsOf('triggerCronJob')).length, claimed + 2);
        const again = await trigger();
        assert.equal(again.status, 200, again.text);
        assert.ok(again.tookMs < 5_000, `${Math.round(again.tookMs)} ms: what is claimed holds nothing up`);
      });

      test('one action after another takes a quarter of a second or two', async (t) => {
        const took: number[] = [];
        for (let at = 0; at < actions; at++) {
          const answer = await trigger();
          assert.equal(answer.status, 200, answer.text);
          took.push(answer.tookMs);
        }
        const ordered = took.toSorted((a, b) => a - b);
        const [half = NaN, most = NaN] = [0.5, 0.99].map((part) => ordered[Math.ceil(part * actions) - 1]);
        t.diagnostic(`${actions} actions: p50 ${Math.round(half)} ms, p99 ${Math.round(most)} ms`);
        assert.ok(half <= 500, `p50 ${Math.round(half)} ms`);
      });

      test('of two that work side by side one is killed amid many actions: each is done once at most, and what is answered is so', async () => {
        const agents = (await rowsOf('agent')).length;
        await other.startReady();
        await untilPresent(agents + 1);
        const slow = us.sim.fault({
          target: { verb: 'create', path: '/jobs' },
          effect: { kind: 'slow', delayMs: 300 },
        });
        const before = jobsIn(us);
        const all = Array.from({ length: 32 }, () => trigger());
        await until('some are under way', () => slow.hits >= 8);
        await agent.kill();
        const answers = await Promise.all(all);
        slow.remove();
        const done = answers.filter(({ status }) => status === 200);
        const names = new Set(done.map(({ text }) => (JSON.parse(text) as { jobName: string }).jobName));
        assert.equal(names.size, done.length, 'no two callers are told of one Job');
        assert.ok(done.length > 0);
        for (const { status, text } of answers)
          if (status !== 200) assert.match(text, /CLUSTER_SILENT.*may have been done/);
        const made = jobsIn(us) - before;
        assert.ok(
          made >= done.length && made <= all.length,
          `${made} Jobs of ${all.length} wishes, ${done.length} answered`,
        );
      });
    },
  );
}
