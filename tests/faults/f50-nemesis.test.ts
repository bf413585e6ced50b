import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { namespace } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases } from './harness/database-servers.ts';
import { failedStatus, putJob } from './harness/objects.ts';
import { putWebhook, tells, told } from './harness/receiver.ts';
import { shiftOfSuite, type Shift } from './harness/shift.ts';
import { disturbances } from './nemesis/disturbances.ts';

const kept = JSON.parse(readFileSync(join(import.meta.dirname, 'seeds', 'f50.json'), 'utf8')) as number[];
/** 30 s, 2 min in CI, 2 h in a soak; or as long as is asked for by hand. */
const usualSeconds = 30;
const seconds = Number(process.env['NEMESIS_SECONDS'] ?? Math.max(usualSeconds, timesOf({ ci: 120, soak: 7_200 })));
const seedOfToday = Number(process.env['SEED'] ?? Math.floor(Date.now() / 86_400_000));
const alertsPerSecond = 4;
const quiet = 'quiet';

/** A build must not depend on the date: it takes the seeds that failed once, and a run by hand that of today. */
const isBuild = process.env['CI'] === 'true' && process.env['SEED'] === undefined;
const courses = [
  ...(isBuild ? [] : [{ seed: seedOfToday, lasts: seconds, why: 'today' }]),
  ...(process.env['SEED'] === undefined ? kept : []).map((seed) => ({
    seed,
    lasts: isBuild ? 2 * usualSeconds : usualSeconds,
    why: 'it failed once',
  })),
];

/** F50: everything that can go wrong, by chance, one after the other and together. */
for (const database of killableDatabases().filter(({ name }) => name === 'postgres')) {
  for (const { seed, lasts, why } of courses) {
    describe(`F50, the nemesis with seed ${seed} (${why})`, () => {
      const shift = shiftOfSuite(database, { seed });

      test(`${lasts} s of trouble: nothing is lost, doubled, out of order or told in a window`, async (t) => {
        const { bench } = shift();
        putQuietTeam(shift());
        const incidents = await shift().alerts(lasts * alertsPerSecond, alertsPerSecond);
        const history: string[] = [];
        t.diagnostic(`SEED=${seed}`);
        try {
          await disturb(shift(), lasts * 1_000, history);
          await shift().untilAllReady();
          await incidents.over();
          await shift().settle(t);
          assert.deepEqual(told(bench.sink, quiet), []);
        } finally {
          t.diagnostic(history.join('; '));
        }
      });
    });
  }
}

/** Strikes until the time is over, now and then twice at once. Everything is mended when it resolves. */
async function disturb(shift: Shift, forMs: number, history: string[]): Promise<void> {
  const { bench, random } = shift;
  const beganAt = performance.now();
  const running = new Set<Promise<void>>();
  const busy = new Set<unknown>();
  while (performance.now() - beganAt < forMs) {
    const disturbance = random.one(disturbances);
    const replica = random.one(bench.replicas);
    const ms = random.whole(500, 5_000);
    const pauseMs = random.whole(300, 2_500);
    const target = disturbance.of === 'all' ? 'all' : replica;
    const isPossible = disturbance.of === 'all' || replica.process.running;
    if (isPossible && running.size < 2 && !busy.has(target)) {
      busy.add(target);
      history.push(
        `${Math.round((performance.now() - beganAt) / 100) / 10} s: ${disturbance.name}${target === 'all' ? '' : ` ${replica.pod}${replica === bench.leader() ? ' (leads)' : ''}`} ${ms} ms`,
      );
      if (disturbance.of === 'all' || replica === bench.leader()) shift.senderGone();
      const strike = disturbance.run(shift, replica, ms).finally(() => {
        running.delete(strike);
        busy.delete(target);
      });
      running.add(strike);
    }
    await wait(pauseMs);
  }
  await Promise.all(running);
}

/** A team in a maintenance window that never ends: it fails, and no channel may hear of it. */
function putQuietTeam({ bench }: Shift): void {
  const { sim, sink } = bench;
  putWebhook(sim, sink, quiet);
  sim.objects.put({
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'CronJobMonitor',
    metadata: { name: quiet, namespace },
    spec: {
      selector: { matchLabels: { team: quiet } },
      alerting: tells(quiet),
      maintenanceWindows: [{ name: 'always', schedule: '* * * * *', duration: '10m' }],
    },
  });
  for (let number = 0; number < 20; number++) {
    const owner = sim.objects.put({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: `${quiet}-${number}`, namespace, labels: { team: quiet } },
      spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: { spec: {} } } } },
    });
    putJob(sim, owner, { name: `${quiet}-${number}-1`, status: failedStatus(Date.now() + 5_000) });
  }
}
