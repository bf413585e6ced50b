import assert from 'node:assert/strict';
import { test } from 'node:test';
import { symptomCauses, type SymptomCause } from './problem.ts';
import { symptomsOf, type HealthFigures } from './symptoms.ts';

const minute = 60_000;
const lastAt = Date.parse('2026-11-21T06:49:29.000Z');
const scheduler = (name: string, ageMs: number) => ({ name, lastAt, ageMs, intervalMs: minute });

/** Everything at the very edge of what is well. */
const well: HealthFigures = {
  watchAgesMs: { CronJob: 2 * minute, Job: 0 },
  blindMs: 5 * minute,
  runsDropped: 0,
  runsUnobserved: 0,
  schedulers: [scheduler('dead-man-switch', 3 * minute), scheduler('prune', 3 * minute)],
  queueDepths: { JobHandler: 1_000 },
  recordings: { of: 100, bad: 1 },
  monitorsInError: 0,
  rollupsDiffer: 0,
  eventLoopDelayMs: 1_000,
  fencedWrites: 0,
  volumeFreeBytes: 256 * 1024 * 1024,
  deadMessages: 0,
  outboxAgeMs: 5 * minute,
  messages: { of: 100, bad: 1 },
  channelsNotReady: [],
  channelsHeld: [],
  unroutedMessages: 0,
  leaderlessMs: 2 * minute,
  heartbeatAgeMs: 5 * minute,
  certificateEndsInMs: 7 * 24 * 60 * minute,
  scrapeMs: 200,
  requests: { of: 100, bad: 5 },
};

test('at the very limits all is well, and what is not known is well', () => {
  assert.deepEqual(symptomsOf(well), []);
  assert.deepEqual(symptomsOf({}), []);
});

/** One step past each limit, and how the sentence about it begins. */
const past: readonly (readonly [cause: SymptomCause, changes: HealthFigures, key: string, says: RegExp])[] = [
  ['watchSilent', { watchAgesMs: { Job: 121_400 } }, 'silent Job', /^Nothing was heard of Job for 2m1s$/],
  ['blind', { blindMs: 5 * minute + 1 }, 'blind', /^The cluster has not been seen for 5m0s:/],
  ['runsDropped', { runsDropped: 3 }, 'runsDropped', /^3 ended Jobs were given up/],
  ['runsUnobserved', { runsUnobserved: 2 }, 'runsUnobserved', /^2 runs of the last hour ended unseen/],
  [
    'schedulerLate',
    { schedulers: [scheduler('dead-man-switch', 3 * minute + 1)] },
    'evaluation',
    /^Nothing was evaluated since 2026-11-21T06:49:29.000Z$/,
  ],
  [
    'schedulerLate',
    { schedulers: [scheduler('prune', 3 * minute + 1)] },
    'scheduler prune',
    /^The scheduler prune has not ended a good run since 2026-11-21T06:49:29/,
  ],
  [
    'workQueueDeep',
    { queueDepths: { JobHandler: 1_001 } },
    'queue JobHandler',
    /^1001 keys wait in the queue JobHandler/,
  ],
  ['recordingSlow', { recordings: { of: 100, bad: 2 } }, 'recordingSlow', /^More than one in a hundred runs/],
  ['monitorsInError', { monitorsInError: 1 }, 'monitorsInError', /^1 monitors cannot be evaluated$/],
  ['rollupsDiffer', { rollupsDiffer: 1 }, 'rollupsDiffer', /^1 days were counted anew/],
  ['eventLoopSlow', { eventLoopDelayMs: 1_001 }, 'eventLoopSlow', /^The process is 1s late/],
  ['fenced', { fencedWrites: 1 }, 'fenced', /^1 writes were refused because another controller leads$/],
  ['volumeNearlyFull', { volumeFreeBytes: 256 * 1024 * 1024 - 1 }, 'volumeNearlyFull', /has 255 MiB left/],
  ['messagesDead', { deadMessages: 4 }, 'messagesDead', /^4 messages were given up/],
  ['messagesWait', { outboxAgeMs: 5 * minute + 1 }, 'messagesWait', /^A message that is due has waited for 5m0s/],
  ['messagesSlow', { messages: { of: 100, bad: 2 } }, 'messagesSlow', /^More than one in a hundred messages/],
  ['channelNotReady', { channelsNotReady: ['team'] }, 'channel team', /^The channel team cannot be used/],
  [
    'drillFailed',
    { channelsNotProved: ['team'] },
    'drill team',
    /^The newest drill of the channel team proved nothing/,
  ],
  [
    'channelHeld',
    { channelsHeld: [['team', 'parked']] },
    'held team',
    /^The messages of the channel team are held: parked$/,
  ],
  ['unknownChannel', { unroutedMessages: 1 }, 'unknownChannel', /^1 messages name a channel that does not exist$/],
  ['noLeader', { leaderlessMs: 2 * minute + 1 }, 'leader', /^No controller leads/],
  [
    'heartbeatStopped',
    { heartbeatAgeMs: 5 * minute + 1 },
    'heartbeatStopped',
    /^The address of heartbeat-url .* 5m0s ago$/,
  ],
  [
    'certificateExpires',
    { certificateEndsInMs: 7 * 24 * 60 * minute - 1 },
    'certificateExpires',
    /seven days: renew it$/,
  ],
  ['scrapeSlow', { scrapeMs: 201 }, 'scrapeSlow', /^Writing the metrics takes 201ms$/],
  ['apiErrors', { requests: { of: 100, bad: 6 } }, 'apiErrors', /^More than one in twenty requests/],
];

for (const [cause, changes, key, says] of past) {
  test(`past its limit ${key} is a symptom of ${cause} and of nothing else, and keeps no process from being ready`, () => {
    const [found, ...others] = symptomsOf({ ...well, ...changes });
    assert.deepEqual(others, []);
    assert.deepEqual([found?.cause, found?.key, found?.blocks], [cause, key, false]);
    assert.match(found?.sentence ?? '', says);
  });
}

test('a scheduler that never ended a good run is late where its age is infinite', () => {
  const [found] = symptomsOf({
    schedulers: [{ name: 'dead-man-switch', lastAt: undefined, ageMs: Infinity, intervalMs: 1 }],
  });
  assert.equal(found?.sentence, 'Nothing was evaluated in this term');
});

test('every cause belongs to one of five symptoms, and each symptom has causes', () => {
  const told = new Set(Object.values(symptomCauses).map(({ symptom }) => symptom));
  assert.deepEqual([...told].sort(), ['CannotJudge', 'CannotSee', 'CannotStore', 'CannotTell', 'NotAlive']);
});
