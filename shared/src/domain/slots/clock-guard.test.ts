import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postponementOf, type ClockReadings } from './clock-guard.ts';
import { hourMs } from '../duration.ts';

const fine: ClockReadings = {
  synced: true,
  sinceLastTick: { wallMs: 60_000, monotonicMs: 60_000 },
  serverOffsetMs: 900,
  databaseOffsetMs: -2_000,
};

for (const { says, clocks, expected } of [
  { says: 'clocks that agree give verdicts', clocks: {}, expected: undefined },
  { says: 'nothing is judged before everything was seen', clocks: { synced: false }, expected: 'notSynced' },
  { says: 'the first tick has nothing to compare with', clocks: { sinceLastTick: undefined }, expected: undefined },
  {
    says: 'a clock that was set forward',
    clocks: { sinceLastTick: { wallMs: hourMs + 60_000, monotonicMs: 60_000 } },
    expected: 'clockStepped',
  },
  {
    says: 'a clock that was set back',
    clocks: { sinceLastTick: { wallMs: 60_000 - hourMs, monotonicMs: 60_000 } },
    expected: 'clockStepped',
  },
  {
    says: 'a clock that is slewed by a time server',
    clocks: { sinceLastTick: { wallMs: 64_900, monotonicMs: 60_000 } },
    expected: undefined,
  },
  { says: 'half a minute off the API server', clocks: { serverOffsetMs: -30_001 }, expected: 'clockOff' },
  { says: 'half a minute off the database', clocks: { databaseOffsetMs: 30_001 }, expected: 'clockOff' },
  { says: 'just not so far', clocks: { serverOffsetMs: 30_000, databaseOffsetMs: undefined }, expected: undefined },
] as const) {
  test(`clock guard: ${says}`, () => assert.equal(postponementOf({ ...fine, ...clocks }), expected));
}
