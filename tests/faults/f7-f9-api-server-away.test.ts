import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { FaultEffect } from '@cronjob-monitor/simcluster';
import { timesOf } from './harness/counts.ts';
import { killableDatabases } from './harness/database-servers.ts';
import { cutOff, renewalOf } from './harness/replicas.ts';
import { shiftOfSuite } from './harness/shift.ts';
import { watchProcessors } from './harness/taken-time.ts';

const renewDeadlineMs = 1_500;
const leasePath = '/leases/cronjob-monitor-controller';
/** What becomes of calls about the Lease. A conflict is an answer to a write alone. */
const troubles: readonly { readonly verb: readonly string[]; readonly effect: FaultEffect }[] = [
  { verb: ['update'], effect: { kind: 'answer', code: 409 } },
  { verb: ['get', 'update'], effect: { kind: 'answer', code: 500 } },
  { verb: ['get', 'update'], effect: { kind: 'hang' } },
];

/** F7 and F9: the leader cannot reach the API server, or only the Lease cannot be had for a while. */
for (const database of killableDatabases().filter(({ name }) => name === 'postgres')) {
  describe('the API server is away for the leader', () => {
    const shift = shiftOfSuite(database);

    const tries = timesOf({ ci: troubles.length, soak: 20 });
    for (let time = 0; time < tries; time++) {
      const { verb, effect } = troubles[time % troubles.length] ?? assert.fail();
      const what = effect.kind === 'answer' ? String(effect.code) : effect.kind;
      test(`F9, ${what} for 80 % of the renew deadline: leadership is kept (${time + 1})`, async (t) => {
        const { bench } = shift();
        const leader = await bench.untilLed();
        const terms = leader.process.said('this replica leads').length;
        await renewalOf(bench.sim);
        const takenMs = watchProcessors([leader.process]);
        const fault = bench.sim.fault({ target: { verb, path: leasePath }, effect });
        await wait(0.8 * renewDeadlineMs);
        fault.remove();
        assert.ok(fault.hits > 0);
        const othersHadMs = takenMs();
        t.diagnostic(`others had the processors for ${Math.round(othersHadMs)} ms`);
        // What is left of the deadline is a tenth and a tenth: a machine that is not ours has no say here.
        if (othersHadMs > renewDeadlineMs / 10 && !leader.process.running) return shift().untilAllReady();
        await renewalOf(bench.sim);
        // Longer than another candidate needs to take it.
        await wait(3_000);
        assert.equal(bench.leader(), leader);
        assert.equal(leader.process.said('this replica leads').length, terms);
      });
    }

    for (let time = 1; time <= timesOf({ ci: 3, soak: 20 }); time++) {
      test(`F7, cut off from the API server it ends within its deadline, and another acts (${time})`, async (t) => {
        const { bench } = shift();
        const incidents = await shift().alerts(60, 10);
        const leader = await bench.untilLed();
        await wait(1_000 + shift().random.fraction() * 500);
        const takenMs = watchProcessors([leader.process]);
        const mend = cutOff(leader.api);
        const cutAt = Date.now();
        const { code } = await leader.process.ended();
        const endedMs = Date.now() - cutAt;
        const limitMs = renewDeadlineMs + 1_000 + takenMs();
        shift().senderGone();
        const sentMs = (await shift().untilSuccessorSends(leader)) - cutAt;
        t.diagnostic(`it ended after ${endedMs} ms, another sent after ${sentMs} ms`);
        assert.equal(code, 1, leader.process.tail());
        assert.ok(endedMs <= limitMs, `${endedMs} ms`);
        mend();
        await shift().untilAllReady();
        await incidents.over();
      });
    }

    test('nothing is lost, nothing doubled but what was on its way', async (t) => {
      await shift().settle(t);
    });
  });
}
