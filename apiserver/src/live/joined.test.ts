import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joined } from './joined.ts';

test('questions that come while work runs get the next run, one for all of them, also after one that failed', async () => {
  const gates: PromiseWithResolvers<number>[] = [];
  const work = joined(() => {
    const gate = Promise.withResolvers<number>();
    gates.push(gate);
    return gate.promise;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const first = work();
  const [second, third] = [work(), work()];
  await turn();
  assert.equal(gates.length, 1, 'one at a time');
  gates[0]?.reject(new Error('away'));
  await assert.rejects(first, /away/);
  await turn();
  assert.equal(gates.length, 2);
  gates[1]?.resolve(2);
  assert.deepEqual(await Promise.all([second, third]), [2, 2]);
  const fourth = work();
  gates[2]?.resolve(3);
  assert.equal(await fourth, 3);
});
