import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { usualLease } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases } from './harness/database-servers.ts';
import { ledSince } from './harness/replicas.ts';
import { shiftOfSuite } from './harness/shift.ts';
import { watchProcessors } from './harness/taken-time.ts';

/** Alerts come all the time: 500 for these kills, and some at least. */
const killsAtMost = 8;
const alertsFor = (kills: number): number => Math.max(100, Math.ceil((500 * kills) / killsAtMost));
const alertsPerSecond = 12;
/** Lease, the longest wait between two attempts to take it, and the takeover. */
const sendsWithinMs = 2_000 + 2.2 * 400 + 2_000;
/** Two witnesses that are silent for 2.5 s, and the takeover: far below the 15 s of the Lease. */
const witnessedWithinMs = 5_000;
const counts = { postgres: { ci: 5, soak: 60 }, mysql: { ci: 2, soak: 60 } } as const;

/** F4: the leader is killed at random times while it records and tells. */
for (const database of killableDatabases()) {
  describe(`F4, the leader of three replicas is killed, ${database.name}`, { skip: database.skip }, () => {
    const shift = shiftOfSuite(database);
    const times = timesOf(counts[database.name]);

    for (let done = 0; done < times; done += killsAtMost) {
      const kills = Math.min(killsAtMost, times - done);
      const alerts = alertsFor(kills);
      test(`killed ${kills} times within ${alerts} alerts: nothing is lost, and others send soon`, async (t) => {
        const { bench, random } = shift();
        await shift().alerts(alerts, alertsPerSecond);
        const gaps: { readonly sentMs: number; readonly takenMs: number }[] = [];
        for (let kill = 0; kill < kills; kill++) {
          const leader = await bench.untilLed();
          await wait(1_000 + random.fraction() * 2_000);
          await leader.process.kill();
          const killedAt = Date.now();
          const takenMs = watchProcessors(bench.replicas.map(({ process }) => process));
          shift().senderGone();
          const sentMs = (await shift().untilSuccessorSends(leader)) - killedAt;
          gaps.push({ sentMs, takenMs: Math.round(takenMs()) });
          await shift().untilAllReady();
        }
        const told = gaps.map(({ sentMs, takenMs }) => `${sentMs} (others had the processors for ${takenMs})`);
        t.diagnostic(`kill to next send ${told.join(', ')} ms`);
        await shift().settle(t);
        const late = gaps.filter(({ sentMs, takenMs }) => sentMs - takenMs > sendsWithinMs);
        assert.deepEqual(late, [], 'the next send comes in time');
      });
    }
  });
}

/** F4 as an installation has it: the Lease lasts for 15 s, and two silent witnesses end it. */
for (const database of killableDatabases()) {
  describe(`F4, the leader is killed long before its Lease expires, ${database.name}`, { skip: database.skip }, () => {
    const shift = shiftOfSuite(database, { config: usualLease });
    const kills = timesOf({ ci: 2, soak: 60 });

    test(`killed ${kills} times: another sends within 5 s, and nothing is lost`, async (t) => {
      const { bench } = shift();
      const incidents = await shift().alerts(60 * kills, 4);
      const gaps: { readonly ledMs: number; readonly sentMs: number; readonly takenMs: number }[] = [];
      for (let kill = 0; kill < kills; kill++) {
        await shift().untilAllReady();
        const leader = await bench.untilLed();
        await wait(2_000);
        const takenMs = watchProcessors(bench.replicas.map(({ process }) => process));
        const killedAt = Date.now();
        shift().senderGone();
        await leader.process.kill();
        const sentMs = (await shift().untilSuccessorSends(leader)) - killedAt;
        const ledMs = ledSince(await bench.untilLed(leader)) - killedAt;
        gaps.push({ ledMs, sentMs, takenMs: Math.round(takenMs()) });
      }
      incidents.stop();
      t.diagnostic(JSON.stringify(gaps));
      await shift().settle(t);
      const late = gaps.filter(({ sentMs, takenMs }) => sentMs - takenMs > witnessedWithinMs);
      assert.deepEqual(late, []);
    });
  });
}
