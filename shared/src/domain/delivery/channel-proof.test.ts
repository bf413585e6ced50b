import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeProof, type DrillProof } from './channel-proof.ts';

for (const { says, proof, expected } of [
  { says: 'no drill has ended', proof: {}, expected: ['Unknown', 'NeverDrilled'] },
  { says: 'a drill was acknowledged', proof: { provedAt: 1, provedBy: 'ana' }, expected: ['True', 'Acknowledged'] },
  {
    says: 'the newest drill was not acknowledged',
    proof: { provedAt: 1, missed: { outcome: 'reached', dueAt: 2 } },
    expected: ['False', 'NotAcknowledged'],
  },
  {
    says: 'the newest drill was not delivered',
    proof: { missed: { outcome: 'failed', dueAt: 2 } },
    expected: ['False', 'NotDelivered'],
  },
] satisfies { says: string; proof: Partial<DrillProof>; expected: [string, string] }[]) {
  test(`when ${says}, Proved is ${expected.join(' ')}`, () => {
    const { type, status, reason, message } = judgeProof({
      provedAt: undefined,
      provedBy: undefined,
      missed: undefined,
      ...proof,
    });
    assert.deepEqual([type, status, reason], ['Proved', ...expected]);
    assert.equal(message.includes('ana'), proof.provedBy === 'ana');
  });
}
