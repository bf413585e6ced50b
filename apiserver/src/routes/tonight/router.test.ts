import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tonight, TonightItem } from '@cronjob-monitor/shared/contract';
import { lastNight, dayMs, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { cronJobIdsOf, judgeForecasts, keepForecasts, putActiveJobs } from '@cronjob-monitor/shared/store';
import { addAlert, addChannel } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';

/** To a channel that accepted a message an hour ago. */
const heard = { alerting: { enabled: true, channelRefs: [{ name: 'team-chat' }] } };

async function tonight(fleet: TestFleet, query = ''): Promise<Tonight> {
  const answer = await fleet.ask(`/api/v1/tonight${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as Tonight;
}

async function withChannel(): Promise<TestFleet> {
  const fleet = await startFleet();
  await addChannel(fleet, { name: 'team-chat' });
  await fleet.store.sql('channels').update({ last_sent_at: testNow - hourMs });
  return fleet;
}

const wordsOf = ({ items }: Tonight): Record<string, readonly string[]> =>
  Object.fromEntries(
    items.map(({ cronjob, risks }) => [
      cronjob.name,
      risks.map(({ code, level, words }) => `${code} ${level}: ${words}`),
    ]),
  );

test('looks until 06:00 from 18:00 on and until 22:00 from 06:00 on, of the zone that was asked for', async () => {
  await using fleet = await startFleet();
  const ends = async (at: string, query = ''): Promise<string> => {
    fleet.clock.stepWall(Date.parse(at) - fleet.clock.now());
    const { from, until, span } = await tonight(fleet, query);
    assert.equal(from, new Date(Date.parse(at)).toISOString());
    return `${span} ${until}`;
  };
  assert.equal(await ends('2026-11-24T17:59:00Z'), 'day 2026-11-24T22:00:00.000Z');
  assert.equal(await ends('2026-11-24T18:00:00Z'), 'night 2026-11-25T06:00:00.000Z');
  assert.equal(await ends('2026-11-25T05:59:00Z'), 'night 2026-11-25T06:00:00.000Z');
  assert.equal(await ends('2026-11-25T06:00:00Z'), 'day 2026-11-25T22:00:00.000Z');
  assert.equal(await ends('2026-11-25T17:30:00Z', '?zone=Europe/Berlin'), 'night 2026-11-26T05:00:00.000Z');
  assert.equal(await ends('2026-11-25T17:30:00Z', '?until=2026-11-25T18:00:00Z'), 'asked 2026-11-25T18:00:00.000Z');
  for (const query of ['?until=2026-11-25T17:30:00Z', '?until=2026-11-28T00:00:00Z', '?zone=Mars/North', '?limit=0'])
    assert.equal((await fleet.ask(`/api/v1/tonight${query}`)).status, 400, query);
});

test('counts what runs, and draws the starts without what comes more often than each 15 minutes', async () => {
  await using fleet = await withChannel();
  const cronJobs = await Promise.all([
    fleet.addCronJob({ name: 'hourly', schedule: '0 * * * *' }),
    fleet.addCronJob({ name: 'same-hour', schedule: '0 * * * *' }),
    fleet.addCronJob({ name: 'busy', schedule: '*/5 * * * *' }),
    fleet.addCronJob({ name: 'weekly', schedule: '0 0 * * 0' }),
    fleet.addCronJob({ name: 'paused', schedule: '30 8 * * *', suspended: true }),
  ]);
  await fleet.addMonitor({ spec: heard }, cronJobs);
  const told = await tonight(fleet, '?until=2026-11-21T09:00:00Z');
  assert.equal(told.from, '2026-11-21T06:52:00.000Z');
  assert.deepEqual([told.cronjobs, told.runs, told.atRisk, told.calm], [3, 29, 1, 3]);
  assert.equal(told.starts.length, 9, 'from 06:45 on');
  assert.deepEqual(
    told.starts.filter(({ runs }) => runs > 0),
    [
      { at: '2026-11-21T07:00:00.000Z', runs: 2 },
      { at: '2026-11-21T08:00:00.000Z', runs: 2 },
    ],
  );
  assert.deepEqual(told.items, [
    {
      cronjob: { namespace: 'prod', name: 'paused' },
      at: ['2026-11-21T08:30:00.000Z'],
      runs: 1,
      expectedSeconds: null,
      p95Seconds: null,
      risks: [{ code: 'cannot', level: 'possible', words: 'Suspended: its run does not start' }],
      told: { state: 'reached', channels: ['team-chat'], words: 'team-chat hears it' },
    } satisfies TonightItem,
  ]);
});

test('names what failed alike, and calls it possible once its template was changed', async () => {
  await using fleet = await withChannel();
  const template = (name: string, hash: string, at: number) =>
    fleet.addCronJob({ name, schedule: '0 2 * * *', templateHash: hash }, { seenAt: at });
  const same = await template('same', 'template-1', testNow - 30 * dayMs);
  const other = await template('other', 'template-1', testNow - 30 * dayMs);
  const once = await template('once', 'template-1', testNow - 30 * dayMs);
  await fleet.addMonitor({ spec: heard }, [same, other, once]);
  const bad = { status: 'failed', exitCode: 3, reason: 'Error' } as const;
  for (const cronJob of [same, other]) {
    await fleet.addRuns(
      cronJob,
      { createdAt: testNow - 3 * dayMs, ...bad, exitCode: 1 },
      { createdAt: testNow - 2 * dayMs, ...bad },
      { createdAt: testNow - dayMs, ...bad },
    );
  }
  await fleet.addRuns(once, { createdAt: testNow - 2 * dayMs }, { createdAt: testNow - dayMs, ...bad });
  await fleet.store
    .sql('cronjobs')
    .where({ name: 'other' })
    .update({ template_at: testNow - hourMs });
  const told = await tonight(fleet, '?until=2026-11-22T06:00:00Z');
  assert.deepEqual(wordsOf(told), {
    same: ['repeats likely: Failed the last 2 runs: exit code 3, Error; nothing changed since'],
    other: ['repeats possible: Failed the last 2 runs: exit code 3, Error; its job template was changed since'],
  });
  assert.deepEqual(
    told.items.map(({ cronjob }) => cronjob.name),
    ['same', 'other'],
    'likely before possible',
  );
});

test('a run that no image came for keeps the next ones from starting', async () => {
  await using fleet = await withChannel();
  const cronJob = await fleet.addCronJob({ name: 'reindex', schedule: '*/30 * * * *' });
  await fleet.addMonitor({ spec: heard }, [cronJob]);
  await fleet.addRuns(cronJob, { status: 'failed', reason: 'ImagePullBackOff' });
  assert.deepEqual(wordsOf(await tonight(fleet, '?until=2026-11-21T09:00:00Z')), {
    reindex: ['cannot likely: Its image cannot be pulled: 4 runs cannot start'],
  });
});

test('a Job that no node takes, and of which an alert tells, keeps the next runs from starting', async () => {
  await using fleet = await withChannel();
  const backup = await fleet.addCronJob({ name: 'backup', schedule: '0 * * * *' });
  await fleet.addMonitor({ spec: heard }, [backup]);
  const at = { scheduledAt: testNow - hourMs, createdAt: testNow - hourMs, startedAt: testNow - hourMs };
  const waits = { waitingReason: 'Unschedulable', waitingMessage: '0/3 nodes are available: 3 Insufficient cpu.' };
  const pod = { podName: 'p', podPhase: 'Pending', ready: '0/1', finishing: false, ...waits };
  const job = { jobUid: 'j', cronJobUid: backup.uid, jobName: 'backup-1', trigger: 'scheduled' } as const;
  await fleet.store.fenced(fleet.epoch, (tx) => putActiveJobs(tx, [{ ...job, ...at, ...pod }]));
  assert.equal(wordsOf(await tonight(fleet))['backup'], undefined, 'it may start at any moment');
  await addAlert(fleet, { type: 'jobStuck', subject: 'notStarted', context: { jobName: 'backup-1' } });
  const [risk] = wordsOf(await tonight(fleet))['backup'] ?? [];
  assert.match(risk ?? '', /^cannot likely: 0\/3 nodes are available: 3 Insufficient cpu: \d+ runs cannot start$/);
});

test('measures limits, overlaps and times of day by the last 20 successes', async () => {
  await using fleet = await withChannel();
  const slow = await fleet.addCronJob({ name: 'slow', schedule: '0 * * * *', policy: 'Allow' });
  const covers = await fleet.addCronJob({ name: 'covers', schedule: '0 * * * *', policy: 'Forbid' });
  const morning = await fleet.addCronJob({ name: 'morning', schedule: '30 8 * * *' });
  await fleet.addMonitor({ name: 'limit', spec: { ...heard, sla: { maxDuration: '25m', minSuccessRate: 1 } } }, [slow]);
  await fleet.addMonitor({ name: 'none', spec: heard }, [covers]);
  const finishBy = { time: '09:00', timezone: 'UTC' };
  await fleet.addMonitor({ name: 'by', spec: { ...heard, sla: { finishBy, minSuccessRate: 1 } } }, [morning]);
  const took = (days: number, minutes: number) => {
    const createdAt = testNow - days * dayMs;
    return {
      createdAt,
      startedAt: createdAt,
      finishedAt: createdAt + minutes * minuteMs,
      durationMs: minutes * minuteMs,
    };
  };
  for (const cronJob of [slow, covers, morning])
    await fleet.addRuns(cronJob, took(4, 20), took(3, 69), took(2, 69), took(1.5, 69));
  // It took longer from week to week.
  const grows = await fleet.addCronJob({ name: 'grows', schedule: '0 * * * *', policy: 'Forbid' });
  await fleet.addMonitor({ name: 'grown', spec: heard }, [grows]);
  await fleet.addRuns(grows, ...Array.from({ length: 60 }, (_, age) => took(2 + age / 12, age < 20 ? 63 : 40)));
  const told = await tonight(fleet, '?until=2026-11-21T10:00:00Z');
  assert.deepEqual(wordsOf(told), {
    slow: ['limit likely: Takes 1 h 9 min, at most 25 min allowed'],
    covers: [
      'overlap likely: Runs of 1 h 9 min cover the next start: 3 late; start them less often or make them shorter',
    ],
    grows: [
      'overlap likely: Runs of 1 h 3 min cover the next start: 3 late; start them less often or make them shorter',
    ],
    morning: ['limit likely: Takes 1 h 9 min, to be done by {at:2026-11-21T09:00:00.000Z}'],
  });
  const [first] = told.items;
  assert.deepEqual([first?.expectedSeconds, first?.p95Seconds], [69 * 60, 69 * 60]);
  // A success since the time of day before has met this one already.
  await fleet.addRuns(morning, took(0.2, 69));
  assert.equal('morning' in wordsOf(await tonight(fleet, '?until=2026-11-21T10:00:00Z')), false);
});

test('expects the share of failures of the window that the success rate has', async () => {
  await using fleet = await withChannel();
  const cronJob = await fleet.addCronJob({ name: 'export', schedule: '*/10 * * * *' });
  await fleet.addMonitor({ spec: heard }, [cronJob]);
  const runs = Array.from({ length: 24 }, (_, index) => ({
    createdAt: testNow - (index + 1) * hourMs,
    status: index % 6 === 5 ? ('failed' as const) : ('success' as const),
  }));
  await fleet.addRuns(cronJob, ...runs);
  assert.deepEqual(wordsOf(await tonight(fleet, '?until=2026-11-21T09:00:00Z')), {
    export: ['rate possible: About 1 of 6 runs fails: expect 2 of 12'],
  });
});

test('tells which runs a change of the clocks moves, and lets what runs each hour alone', async () => {
  await using fleet = await withChannel();
  const timeZone = 'Europe/Berlin';
  const cronJobs = await Promise.all([
    fleet.addCronJob({ name: 'daily', schedule: '30 2 * * *', timeZone }),
    fleet.addCronJob({ name: 'hourly', schedule: '30 * * * *', timeZone }),
  ]);
  await fleet.addMonitor({ spec: heard }, cronJobs);
  const at = async (instant: string): Promise<Tonight> => {
    fleet.clock.stepWall(Date.parse(instant) - fleet.clock.now());
    await fleet.store.sql('channels').update({ last_sent_at: fleet.clock.now() });
    return tonight(fleet, '?zone=Europe/Berlin');
  };
  const spring = await at('2027-03-27T20:00:00Z');
  assert.deepEqual(wordsOf(spring), {
    daily: ['lint possible: 02:30 does not exist that day: the clocks go forward'],
  });
  assert.deepEqual(spring.items[0]?.at, []);
  assert.deepEqual(wordsOf(await at('2027-10-30T20:00:00Z')), {
    daily: ['lint possible: 02:30 comes twice that day: the clocks go back'],
  });
  assert.deepEqual(wordsOf(await at('2027-10-29T20:00:00Z')), {});
});

test('tells of a failure that no channel would hear, and cuts the list, not the counts', async () => {
  await using fleet = await startFleet();
  const cronJobs = await Promise.all(
    ['a', 'b', 'c'].map((name, index) => fleet.addCronJob({ name, schedule: `${50 - index} 7 * * *` })),
  );
  await fleet.addMonitor({ spec: { alerting: { enabled: true, channelRefs: [{ name: 'gone' }] } } }, cronJobs);
  const told = await tonight(fleet, '?limit=2');
  assert.deepEqual([told.cronjobs, told.atRisk, told.calm], [3, 3, 0]);
  assert.deepEqual(wordsOf(told), {
    c: ['deaf possible: If it fails, no channel is told: its channels do not exist'],
    b: ['deaf possible: If it fails, no channel is told: its channels do not exist'],
  });
});

test('scores the judged nights of 30 days, of the namespaces that were asked for', async () => {
  await using fleet = await startFleet();
  const [right, wrong] = [await fleet.addCronJob({ name: 'right' }), await fleet.addCronJob({ name: 'wrong' })];
  const night = lastNight('UTC', testNow);
  await fleet.addRuns(right, { createdAt: night.fromAt + hourMs, status: 'failed' });
  const ids = await cronJobIdsOf(fleet.store, [right.uid, wrong.uid]);
  const likely = [...ids.values()].map((cronJobId) => ({ cronJobId, code: 'repeats', level: 'likely' }) as const);
  assert.deepEqual((await tonight(fleet)).score, { nights: 0, failures: 0, foreseen: 0, false: 0 });
  for (const { fromAt, untilAt } of [night, lastNight('UTC', testNow - 31 * dayMs)])
    await fleet.store.transaction(async (tx) => {
      await keepForecasts(tx, { nightAt: fromAt, keptAt: fromAt }, likely);
      await judgeForecasts(tx, { fromAt, untilAt });
    });
  fleet.clock.stepWall(minuteMs);
  assert.deepEqual((await tonight(fleet)).score, { nights: 1, failures: 1, foreseen: 1, false: 1 });
  const { score } = await tonight(fleet, '?namespace=elsewhere');
  assert.deepEqual(score, { nights: 1, failures: 0, foreseen: 0, false: 0 });
});
