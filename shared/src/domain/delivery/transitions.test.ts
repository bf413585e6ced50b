import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryState } from '../../contract/index.ts';
import { nextDeliveryState, statesBefore, type DeliveryEvent } from './transitions.ts';

const moves: readonly [says: string, from: DeliveryState, event: DeliveryEvent, to: DeliveryState][] = [
  ['a sender takes it', 'ready', 'claim', 'claimed'],
  ['its claim ran out', 'claimed', 'claim', 'claimed'],
  ['the receiver accepts it', 'claimed', 'deliver', 'sent'],
  ['it is tried again', 'claimed', 'retry', 'ready'],
  ['the channel must be mended', 'claimed', 'park', 'parked'],
  ['the channel it waits for must be mended', 'ready', 'park', 'parked'],
  ['the channel is mended', 'parked', 'mend', 'ready'],
  ['a final answer', 'claimed', 'giveUp', 'dead'],
  ['its time is over', 'parked', 'giveUp', 'dead'],
  ['it is closed before it left', 'ready', 'cancel', 'cancelled'],
  ['a digest replaces it', 'ready', 'digest', 'digested'],
  ['a person wants it again', 'dead', 'redrive', 'ready'],
  ['its twin is taken back', 'collapsed', 'promote', 'ready'],
];
for (const [says, from, event, to] of moves) {
  test(`${from} to ${to}: ${says}`, () => assert.equal(nextDeliveryState(from, event), to));
}

test('what is over stays over', () => {
  for (const state of ['sent', 'cancelled', 'digested'] as const) {
    for (const event of ['claim', 'cancel', 'redrive', 'promote'] as const) {
      assert.throws(() => nextDeliveryState(state, event), /knows no/);
    }
  }
});

test('an event names the states it leads from', () => {
  assert.deepEqual(statesBefore('promote'), ['collapsed']);
  assert.deepEqual(statesBefore('deliver'), ['claimed']);
});
