import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { timesOf } from './harness/counts.ts';
import { killableDatabases } from './harness/database-servers.ts';
import { ledSince } from './harness/replicas.ts';
import { shiftOfSuite } from './harness/shift.ts';
import { watchProcessors } from './harness/taken-time.ts';

/** The longest wait between two attempts to take a Lease that was given back, and the takeover. */
const gapWithinMs = 2.2 * 400 + 600;

/** F10: all replicas are restarted one after the other, as a rollout does it. */
for (const database of killableDatabases().filter(({ name }) => name === 'postgres')) {
  describe('F10, a rolling restart of three replicas', () => {
    const shift = shiftOfSuite(database);

    for (let time = 1; time <= timesOf({ ci: 2, soak: 20 }); time++) {
      test(`another leads at once, nothing is lost and nothing comes twice (${time})`, async (t) => {
        const { bench } = shift();
        const incidents = await shift().alerts(100, 12);
        const releases: number[] = [];
        const stopObserving = bench.sim.observe(({ type, object }) => {
          if (type !== 'MODIFIED' || object.kind !== 'Lease') return;
          const { holderIdentity } = object['spec'] as { readonly holderIdentity?: string };
          if (!holderIdentity) releases.push(Date.now());
        });
        const gaps: { readonly gapMs: number; readonly takenMs: number }[] = [];
        await shift().untilAllReady();
        for (const replica of bench.replicas) {
          const led = (await bench.untilLed()) === replica;
          const takenMs = watchProcessors(bench.replicas.map(({ process }) => process));
          const { code } = await replica.process.end('SIGTERM');
          assert.equal(code, 0, replica.process.tail());
          if (led) {
            const successor = await bench.untilLed(replica);
            const gapMs = ledSince(successor) - (releases.at(-1) ?? NaN);
            gaps.push({ gapMs, takenMs: Math.round(takenMs()) });
          }
          await shift().untilAllReady();
        }
        stopObserving();
        await incidents.over();
        await shift().settle(t);
        const told = gaps.map(({ gapMs, takenMs }) => `${gapMs} (others had the processors for ${takenMs})`);
        t.diagnostic(`no replica led for ${told.join(', ')} ms`);
        assert.ok(gaps.length > 0);
        const long = gaps.filter(({ gapMs, takenMs }) => !(gapMs - takenMs <= gapWithinMs));
        assert.deepEqual(long, []);
      });
    }
  });
}
