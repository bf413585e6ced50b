import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
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
  removeJob,
  slotNumber,
} from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';

/** A tenth of ten minutes; the controller is killed after a third and after two thirds of it. */
const awayMs = 60_000;
const kills = 2;
const everyMs = 500;
const exitCode = 4;

/** F32: what ends and is cleaned up while the database is away stands on disk, whatever becomes of the process. */
for (const { name, skip, start } of killableDatabases().filter((one) => one.name === 'postgres')) {
  describe('F32, the database is away and the controller restarted', { skip }, () => {
    let server: KillableServer;
    const spool = mkdtempSync(join(tmpdir(), 'cronjob-monitor-spool-'));
    const bench = benchOfSuite({ controllers: false }, async () => {
      server = await start();
      const config = { 'storage.spool-path': spool };
      return { entryPoint: 'controller', storage: server.settings, settings: server.settings, config };
    });
    after(async () => {
      await server.remove();
      rmSync(spool, { recursive: true, force: true });
    });
    let slots = 0;
    let over = 0;

    for (let time = 1; time <= timesOf({ ci: 1, soak: 5 }); time++) {
      test(`no run that ended is lost, though its Job is gone, ${name} (${time})`, async (t) => {
        const { sim, service, reader, store } = bench();
        const owners = Array.from({ length: 5 }, (_, number) => putCronJob(sim, `spooled-${time}-${number}`));
        await wait(2_000); // their rows are written, and instants of runs are whole seconds
        await server.kill();
        const away = 'the database is away, work waits for it';
        await service.until('it notices', () => service.saidOfLate(away).length > 0);
        const awayAt = performance.now();
        let spooled = 0;
        for (let part = 0; part <= kills; part++) {
          while (performance.now() - awayAt < (awayMs * (part + 1)) / (kills + 1)) {
            const owner = owners[slots % owners.length] ?? assert.fail();
            const fails = slots % 3 === 0;
            const status = fails ? failedStatus() : completeStatus();
            const job = putJob(sim, owner, { slotAt: slotNumber(++slots), status });
            if (fails) putPod(sim, job, { name: `${job.metadata.name}-x`, status: endedPodStatus(exitCode) });
            over++;
            const { uid } = job.metadata;
            await until('it is on disk', () => linesOf(spool).includes(uid), 10_000);
            spooled++;
            await wait(everyMs);
            removeJob(sim, job.metadata.name);
          }
          if (part === kills) break;
          await service.kill();
          service.start();
          await service.until('it watches again', () => service.saidOfLate('all caches are filled').length > 0);
        }
        await server.restart();
        const tookMs = await untilAllRecorded(reader, store, {
          over,
          // The Job is on disk, its pods are not: what they said is known to the process that saw them alone.
          scriptOf: () => ({ exitCodes: [exitCode, undefined], reasons: ['Error', 'BackoffLimitExceeded'] }),
          withinMs: 30_000,
        });
        t.diagnostic(`${spooled} runs from disk, all recorded ${Math.round(tookMs)} ms after the database came back`);
        await until('nothing is left on disk', () => linesOf(spool) === '', 10_000);
      });
    }
  });
}

/** All lines that are on disk now. */
function linesOf(folder: string): string {
  return readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('');
}
