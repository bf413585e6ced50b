import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronJobFacts, Instant } from '@cronjob-monitor/shared/domain';
import type { CronJobSeen } from '@cronjob-monitor/shared/store';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { toEdits } from './reconcile.ts';
import { SpecSightings } from './unwritten-edits.ts';
import { watchCronJobs } from './watches.ts';

const hourly = aCronJob({ schedule: '0 * * * *', generation: 3 });
const paused = { ...hourly, suspended: true, generation: 4 };
const resumed = { ...hourly, generation: 5 };
const sighting = (before: CronJobFacts, facts: CronJobFacts, at: Instant, unwatchedSinceAt?: Instant) => ({
  before,
  facts,
  at,
  unwatchedSinceAt,
});
const toSeen = (facts: CronJobFacts, at: Instant): CronJobSeen => ({ facts, seenAt: at });
const summary = (edits: readonly CronJobSeen[]): unknown[] =>
  edits.map(({ facts, seenAt, changedAt, uncertainFrom }) => [facts.suspended, seenAt, changedAt, uncertainFrom]);

test('edits are kept in their order until they are written, each by the instant of its news', () => {
  const sightings = new SpecSightings();
  const [first, second] = [sighting(hourly, paused, 1_000), sighting(paused, resumed, 2_000)];
  sightings.note(first);
  sightings.note(sighting(paused, { ...paused, generation: 9, lastScheduleAt: 7 }, 1_500));
  sightings.note(second);
  const { uid } = hourly;
  assert.deepEqual(sightings.listOf(uid), [first, second], 'what moves no slot is no edit');
  assert.deepEqual(summary(toEdits(sightings.listOf(uid), undefined, toSeen)), [
    [false, 999, undefined, undefined],
    [true, 1_000, 1_000, undefined],
    [false, 2_000, 2_000, undefined],
  ]);
  sightings.written(uid, first);
  assert.equal(sightings.has(uid), true, 'what came while the first was written waits for its turn');
  sightings.written(uid, second);
  assert.equal(sightings.has(uid), false);
});

test('an edit that came over a watch that was silent for long may be as old as the silence', () => {
  const edits = toEdits([sighting(hourly, paused, 9_000, 2_000)], undefined, toSeen);
  assert.deepEqual(summary(edits).at(-1), [true, 9_000, 9_000, 2_000]);
  const signed = { ...paused, specWrites: [{ manager: 'kubectl', at: 4_000, fields: ['suspend'] }] };
  const told = toEdits([sighting(hourly, signed, 9_000, 2_000)], undefined, toSeen);
  assert.deepEqual(summary(told).at(-1), [true, 9_000, 4_000, undefined], 'unless the write tells its time');
});

test('what the leader before has written down is no news', () => {
  const openEpoch = { ...paused, fromAt: 1_000, toAt: undefined, certain: true };
  const said = { words: { cronJob: {}, ofNamespace: {} }, earlier: [] };
  const marks = { id: 1, deletedAt: undefined, firstSeenAt: 0, seenAt: 1_000, said, generation: 4, openEpoch };
  const edits = toEdits([sighting(hourly, paused, 1_000), sighting(paused, resumed, 2_000)], marks, toSeen);
  assert.deepEqual(
    edits.map(({ facts }) => facts.suspended),
    [true, false],
  );
});

test('the watch notes the edits that it tells of', () => {
  const sightings = new SpecSightings();
  const handler = watchCronJobs({
    queue: () => {},
    queueMonitorsAround: () => {},
    departed: () => {},
    sightings,
    unwatchedSinceAt: () => 500,
    clock: { now: () => 1_000 } as Parameters<typeof watchCronJobs>[0]['clock'],
  });
  handler({ type: 'added', item: hourly });
  assert.equal(sightings.has(hourly.uid), false);
  handler({ type: 'updated', before: hourly, item: paused });
  assert.deepEqual(sightings.listOf(hourly.uid), [sighting(hourly, paused, 1_000, 500)]);
});
