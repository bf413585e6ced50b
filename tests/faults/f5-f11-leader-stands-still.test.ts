import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { getLeader } from '@cronjob-monitor/shared/store';
import { usualLease } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases } from './harness/database-servers.ts';
import { cutOff, renewalOf } from './harness/replicas.ts';
import { shiftOfSuite, type Shift } from './harness/shift.ts';
import { watchProcessors } from './harness/taken-time.ts';

const leaseMs = 2_000;
const exitsWithinMs = 1_000;
const stallMs = 12_000;
/** The watchdog looks each 250 ms for a beat that is 10 s old, and a beat comes each second. */
const watchdogMs = 11_500;

/** F5 and F11: the process of the leader stops for a while, or its event loop does. */
for (const database of killableDatabases().filter(({ name }) => name === 'postgres')) {
  describe('the leader stands still', () => {
    const shift = shiftOfSuite(database);

    const stops = timesOf({ ci: 3, soak: 30 });
    for (let time = 1; time <= stops; time++) {
      // One to five leases, each part of that span in its turn.
      const leases = (fraction: number): number => 1 + (4 * (time - 1 + fraction)) / stops;
      test(`F5, stopped for some leases it ends within 1 s after it wakes, and another has led (${time})`, async (t) => {
        const { bench, random } = shift();
        const incidents = await shift().alerts(60, 15);
        const leader = await bench.untilLed();
        await wait(500 + random.fraction() * 1_000);
        const stoppedMs = leases(random.fraction()) * leaseMs;
        leader.process.signal('SIGSTOP');
        shift().senderGone();
        await wait(stoppedMs);
        const takenMs = watchProcessors([leader.process]);
        leader.process.signal('SIGCONT');
        const wokeAt = performance.now();
        const { code, signal } = await leader.process.ended();
        const tookMs = performance.now() - wokeAt;
        t.diagnostic(`stopped for ${Math.round(stoppedMs)} ms, ended ${Math.round(tookMs)} ms after it woke`);
        // By itself with 1, or by its watchdog after more than 10 s.
        assert.ok(code === 1 || signal === 'SIGKILL', leader.process.tail());
        assert.ok(tookMs - takenMs() <= exitsWithinMs, `${tookMs} ms\n${leader.process.tail()}`);
        await shift().untilSuccessorSends(leader);
        await shift().untilAllReady();
        await incidents.over();
      });
    }

    for (let time = 1; time <= timesOf({ ci: 2, soak: 10 }); time++) {
      test(`F11, its event loop stalls: the watchdog ends it, another leads meanwhile (${time})`, async (t) => {
        const { bench } = shift();
        const incidents = await shift().alerts(60, 6);
        const leader = await bench.untilLed();
        await wait(1_000);
        const stalledAt = Date.now();
        const takenMs = watchProcessors([leader.process]);
        leader.order({ stallMs });
        // It is started again soon after.
        const ending = leader.process.ended().then(({ signal }) => ({ signal, tookMs: Date.now() - stalledAt }));
        shift().senderGone();
        const sentAt = await shift().untilSuccessorSends(leader);
        const { signal, tookMs } = await ending;
        t.diagnostic(`another sent after ${sentAt - stalledAt} ms, the watchdog came after ${tookMs} ms`);
        assert.equal(signal, 'SIGKILL');
        assert.ok(tookMs - takenMs() < watchdogMs, `${tookMs} ms`);
        assert.ok(leader.process.otherOutput.includes('the event loop stood still, the process is ended'));
        await shift().untilAllReady();
        await incidents.over();
      });
    }

    test('nothing is lost, nothing doubled but what was on its way', async (t) => {
      await shift().settle(t);
    });
  });
}

/** Longer than a candidate with the lock watches, and than it waits after it gave the lock back. */
const settlesMs = 5_000;
/** A renewal is stored before its answer is read: cut off in between, the leader counts from the renewal before it, 2 s earlier. */
const answeredMs = 300;
const apiServerAwayMs = 8_000;

/** What takes one of the two witnesses away, or keeps both from speaking while the session of the leader lives. */
const disturbances: readonly { readonly what: string; readonly run: (shift: Shift) => Promise<void> }[] = [
  {
    what: 'stopped for a while that is shorter than its Lease',
    async run({ bench, random }) {
      const leader = await bench.untilLed();
      leader.process.signal('SIGSTOP');
      await wait(1_000 + random.fraction() * 7_000);
      leader.process.signal('SIGCONT');
    },
  },
  {
    what: 'without its sessions, as all others',
    async run({ bench }) {
      for (const { database } of bench.replicas) database.reset();
    },
  },
  {
    what: 'in front of a database that is restarted',
    async run({ server }) {
      await server.kill();
      await server.restart();
    },
  },
  {
    what: 'without an API server for 8 s, as all others',
    async run({ bench }) {
      const mends = bench.replicas.map(({ api }) => cutOff(api));
      await wait(apiServerAwayMs);
      for (const mend of mends) mend();
    },
  },
];

for (const database of killableDatabases()) {
  describe(`F5, a leader that lives keeps its lead, ${database.name}`, { skip: database.skip }, () => {
    const shift = shiftOfSuite(database, { config: usualLease });

    for (const { what, run } of disturbances) {
      test(`${what}: no other takes over`, async () => {
        const { bench } = shift();
        const incidents = await shift().alerts(40, 4);
        const leader = await bench.untilLed();
        const { epoch } = await getLeader(bench.store);
        await renewalOf(bench.sim);
        await wait(answeredMs);
        await run(shift());
        await wait(settlesMs);
        assert.ok(leader.process.running, leader.process.tail());
        assert.equal((await getLeader(bench.store)).epoch, epoch);
        await incidents.over();
      });
    }

    test('nothing is lost and nothing comes twice', async (t) => {
      await shift().settle(t);
    });
  });
}
