import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Condition, Execution, Health, Told, ToldChannel, Verdict } from '@cronjob-monitor/shared/contract';
import { conditionLines, phaseText, problemsText } from './conditions.ts';
import { expectedRunText, foldExpected } from './expected-run.ts';
import { evaluatedText, healthNotice, isJudging } from './health.ts';
import { attemptsText, barText, beginText, outcomeText, stripText, tookText } from './run-sentence.ts';
import { refusingChannel, toldMark } from './told.ts';

const nowMs = Date.parse('2026-11-21T14:03:00.000Z');
const viewer = { nowMs, timeZone: 'UTC' };

describe('Told', () => {
  const channel: ToldChannel = {
    channel: 'ops-chat',
    deliveryId: '019a',
    kind: 'firing',
    state: 'sent',
    attempts: 1,
    at: '2026-11-21T02:15:00.000Z',
    nextAttemptAt: null,
    category: null,
    httpStatus: 200,
    mutedThere: null,
    word: null,
  };
  const told = (changes: Partial<Told>): Told => ({
    state: 'sent',
    reason: null,
    word: null,
    until: null,
    channels: [],
    ...changes,
  });
  const until = '2026-11-21T18:00:00.000Z';

  const rows: readonly (readonly [told: Told, text: string])[] = [
    [told({ channels: [channel] }), 'ops-chat 02:15'],
    [told({ channels: [{ ...channel, attempts: 2 }] }), 'ops-chat 02:15, 2nd try'],
    [
      told({ channels: [channel, { ...channel, channel: 'oncall', at: '2026-11-20T02:16:00.000Z' }] }),
      'ops-chat 02:15; oncall 20 Nov 02:16',
    ],
    [told({ channels: [{ ...channel, state: 'collapsed' }] }), 'ops-chat: joined another message'],
    [told({ state: 'waiting', reason: 'alertDelay', until }), 'Waits before the first message until 18:00'],
    [told({ state: 'waiting' }), 'On its way'],
    [told({ state: 'waiting', until: '2026-11-21T14:00:00.000Z' }), 'On its way'],
    [told({ state: 'waiting', reason: 'circuit', until }), 'Waits: the channel rests after failures until 18:00'],
    [
      told({
        state: 'waiting',
        reason: 'backoff',
        channels: [
          {
            ...channel,
            channel: 'ops-mail',
            state: 'ready',
            nextAttemptAt: '2026-11-21T14:21:00.000Z',
            httpStatus: 500,
          },
        ],
      }),
      'ops-mail: next try 14:21 (500)',
    ],
    [told({ state: 'held', reason: 'silence', word: 'silenced', until }), 'Silenced until 18:00'],
    [told({ state: 'held', reason: 'maintenance', word: 'maintenance' }), 'Maintenance'],
    [told({ state: 'held', reason: 'inhibited', word: 'alreadyTold' }), 'Already told'],
    [told({ state: 'waiting', reason: 'rateLimit', word: 'manyAtOnce', until }), 'Many at once until 18:00'],
    [told({ state: 'held', reason: 'monitorGone' }), 'Held back: monitor deleted'],
    [
      told({
        state: 'held',
        reason: 'parked',
        channels: [{ ...channel, channel: 'billing-hook', state: 'parked', httpStatus: 401 }],
      }),
      'billing-hook: parked until mended (401)',
    ],
    [
      told({
        state: 'held',
        reason: 'parked',
        channels: [channel, { ...channel, channel: 'billing-hook', state: 'parked', httpStatus: 401 }],
      }),
      'ops-chat 02:15; billing-hook: parked until mended (401)',
    ],
    [
      told({ state: 'failed', reason: 'rejected', channels: [{ ...channel, state: 'dead', httpStatus: 400 }] }),
      'ops-chat: refused (400)',
    ],
    [
      told({ state: 'failed', reason: 'expired', channels: [{ ...channel, state: 'dead' }] }),
      'ops-chat: given up after 24 h',
    ],
    [told({ state: 'none', reason: 'severityNotRouted' }), 'No channel takes warning'],
    [told({ state: 'none', reason: 'noChannel' }), 'No channel is named'],
    [told({ state: 'none', reason: 'alertingDisabled' }), 'Alerting is off'],
  ];
  test('names the channel that kept an alert from all, and since when', () => {
    const hook: ToldChannel = { ...channel, channel: 'billing-hook', state: 'parked', httpStatus: 401 };
    const parked = told({ state: 'held', reason: 'parked', channels: [hook] });
    assert.deepEqual(refusingChannel(parked, viewer), {
      channel: 'billing-hook',
      text: 'has taken no message of it since 02:15 (401), and no other channel was told: open it',
    });
    const dead = { ...hook, state: 'dead', httpStatus: 400 } as const;
    const textOf = (given: Told): string | undefined => refusingChannel(given, viewer)?.text;
    assert.equal(
      textOf(told({ state: 'failed', reason: 'rejected', channels: [dead] })),
      'refused it at 02:15 (400), and no other channel was told: open it',
    );
    assert.equal(
      textOf(told({ state: 'failed', reason: 'expired', channels: [{ ...dead, httpStatus: null }] })),
      'took no message of it until 02:15, when it was given up, and no other channel was told: open it',
    );
    assert.equal(textOf(told({ state: 'held', reason: 'silence', channels: [hook] })), undefined, 'it is silenced');
    // Another one has heard; it goes out yet; none was asked.
    assert.equal(textOf(told({ state: 'failed', reason: 'rejected', channels: [channel, dead] })), undefined);
    assert.equal(textOf(told({ state: 'waiting', channels: [{ ...hook, state: 'ready' }] })), undefined);
    assert.equal(textOf(told({ state: 'none', reason: 'noChannel' })), undefined);
    assert.equal(refusingChannel(null, viewer), undefined);
  });

  for (const [given, text] of rows) {
    test(`says "${text}"`, () => assert.equal(toldMark({ told: given, severity: 'warning' }, viewer).word, text));
  }

  test('names channels that heard alike in one breath', () => {
    const heard = (name: string, at: string): ToldChannel => ({ ...channel, channel: name, at });
    const word = (channels: readonly ToldChannel[]): string =>
      toldMark({ told: told({ channels: [...channels] }), severity: 'warning' }, viewer).word;
    const two = [heard('on-call', '2026-11-21T14:01:00Z'), heard('chat', '2026-11-21T14:01:00Z')];
    assert.equal(word(two), 'on-call, chat 14:01');
    assert.equal(word([...two, heard('mail', '2026-11-21T14:02:00Z')]), 'on-call, chat 14:01; mail 14:02');
  });

  test('names those who hear in the place of the owner, with the id by which people speak of it', () => {
    const given = told({
      reason: 'instead',
      channels: [{ ...channel, channel: 'platform-team', state: 'digested' }],
    });
    const id = '019ab2c4-0000-7000-8000-00009f3c21aa';
    assert.equal(toldMark({ told: given, severity: 'warning', id }, viewer).word, 'Told to platform-team, #9f3c21aa');
    assert.equal(toldMark({ told: given, severity: 'warning' }, viewer).word, 'Told to platform-team');
  });

  test('looks like what it says', () => {
    assert.deepEqual(
      (['sent', 'waiting', 'held', 'failed', 'none'] as const).map(
        (state) => toldMark({ told: told({ state }), severity: 'warning' }, viewer).shape,
      ),
      ['check', 'hourglass', 'bar', 'cross', 'exclamation'],
    );
  });
});

describe('a run', () => {
  const run: Execution = {
    id: 'uid',
    namespace: 'prod',
    cronJobName: 'backup',
    cronJobUid: 'uid',
    jobName: 'backup-1',
    status: 'failed',
    verdict: {} as Verdict, // nothing of it is read
    trigger: 'scheduled',
    scheduledTime: '2026-11-21T02:00:00.000Z',
    createdAt: '2026-11-21T02:00:00.000Z',
    startTime: '2026-11-21T02:00:04.000Z',
    completionTime: '2026-11-21T02:03:16.000Z',
    duration: '3m12s',
    durationSeconds: 192,
    exitCode: 137,
    reason: 'OOMKilled',
    jobReason: 'BackoffLimitExceeded',
    cause: null,
    scope: null,
    attempts: 3,
    failedIndexes: null,
    isRetry: false,
    retryOf: null,
    delayed: false,
    inferred: false,
    inMaintenance: false,
    hasLogs: true,
    hasEvents: true,
    facts: {},
    suggestedFix: null,
  };

  test('says how it ended, and why', () => {
    assert.equal(outcomeText(run), 'Failed after 3 min 12 s: exit code 137, OOMKilled');
    assert.equal(
      outcomeText({ ...run, exitCode: null, reason: null }),
      'Failed after 3 min 12 s: BackoffLimitExceeded',
    );
    assert.equal(outcomeText({ ...run, status: 'success' }), 'Succeeded in 3 min 12 s');
    assert.equal(
      outcomeText({ ...run, status: 'replaced', durationSeconds: null }),
      'Replaced by the next run (Replace)',
    );
    assert.match(outcomeText({ ...run, status: 'success', inferred: true }), /known only from the CronJob/);
  });

  test('says when it was due, when it began, and how long it took beside how long it usually takes', () => {
    assert.equal(beginText(run, 'UTC'), 'Scheduled 02:00:00, started 4 s later');
    assert.equal(tookText(run, 120), ', took 3 min 12 s (p95 2 min)');
    assert.equal(tookText({ durationSeconds: null }, 120), '');
    assert.equal(beginText({ ...run, startTime: null }, 'UTC'), 'Scheduled 02:00:00, never started');
    assert.equal(beginText({ ...run, scheduledTime: null, trigger: 'manual' }, 'UTC'), 'Manual, started 02:00:04');
    assert.equal(
      beginText({ ...run, scheduledTime: null, trigger: 'rerun', isRetry: true, retryOf: 'backup-0' }, 'UTC'),
      'Retry of backup-0, started 02:00:04',
    );
    assert.equal(attemptsText(run), 'all 3 attempts failed');
    assert.equal(attemptsText({ ...run, attempts: 1 }), '1 attempt');
    assert.equal(attemptsText({ ...run, failedIndexes: '0' }), '3 pods');
  });

  test('is a bar with a name', () => {
    const bar = {
      at: '2026-11-24T02:00:00.000Z',
      outcome: 'matched',
      status: 'failed',
      durationSeconds: 180,
      jobName: 'backup-1',
      exitCode: 137,
    } as const;
    assert.equal(barText(bar, 'UTC'), 'Tue 02:00, failed after 3 min, exit code 137');
    assert.equal(
      stripText([bar, { ...bar, status: 'success' }, { ...bar, status: 'success' }]),
      '3 expected runs: 2 succeeded, 1 failed',
    );
  });
});

describe('an expected run', () => {
  const slot = { outcome: null, cause: null, message: null, delaySeconds: null } as const;
  const rows = [
    [{ ...slot, outcome: 'matched', delaySeconds: 4 }, 'Started 4 s after its time'],
    [
      { ...slot, outcome: 'skippedForbid', message: 'the run of 01:00 was still active' },
      'Skipped: the run of 01:00 was still active (Forbid)',
    ],
    [{ ...slot, outcome: 'skippedDeadline' }, 'Could not start within 3 min 20 s (startingDeadlineSeconds)'],
    [{ ...slot, outcome: 'missed', cause: 'controllerSilent' }, 'Did not start: the CronJob controller was silent'],
    [{ ...slot, outcome: 'unobserved' }, 'It ran; its outcome could not be seen'],
    [{ ...slot, outcome: 'indeterminate' }, 'Cannot be told: the schedule changed while the service did not watch'],
    [slot, 'Due, not judged yet'],
  ] as const;
  for (const [given, text] of rows) test(`says "${text}"`, () => assert.equal(expectedRunText(given, 200), text));

  test('folds neighbours that came to nothing alike, from three on', () => {
    const at = (minute: number, outcome: 'skippedForbid' | 'missed' = 'skippedForbid') => ({
      outcome,
      cause: null,
      message: null,
      delaySeconds: null,
      inMaintenance: false,
      scheduledFor: new Date(Date.UTC(2026, 10, 21, 14, minute)).toISOString(),
    });
    const slots = [at(59), at(40, 'missed'), at(35), at(30), at(25), at(5), at(0)];
    assert.deepEqual(
      foldExpected(slots).map((group) => group.length),
      [1, 1, 3, 1, 1],
    );
    assert.deepEqual(foldExpected([]), []);
  });
});

describe('the health of the service', () => {
  const health: Health = {
    status: 'healthy',
    storage: 'connected',
    ready: true,
    leader: true,
    version: 'v0.1.0',
    uptime: '3h',
    analyzerEnabled: true,
    schedulersRunning: ['dead-man-switch'],
    problems: [],
    lastEvaluation: '2026-11-21T14:02:48.000Z',
    schemaVersion: 1,
    cluster: null,
    defaultTimeZone: 'UTC',
    timeZoneData: '2026a',
    controller: null,
  };

  test('says when it evaluated last, or why it did not', () => {
    assert.equal(evaluatedText(health, viewer), 'Evaluated 12 s ago');
    assert.equal(evaluatedText({ ...health, lastEvaluation: null, leader: false }, viewer), 'No controller evaluates');
    assert.equal(evaluatedText({ ...health, lastEvaluation: null }, viewer), 'Not evaluated yet');
    const recordsOnly = { ...health, lastEvaluation: null, schedulersRunning: [] };
    assert.equal(evaluatedText(recordsOnly, viewer), 'Recorded, not judged');
    assert.equal(isJudging(recordsOnly), false);
  });

  test('is no news while it is well', () => assert.equal(healthNotice(health, viewer), undefined));

  test('tells first why no controller leads, then since when nothing was evaluated', () => {
    const notice = healthNotice(
      { ...health, status: 'degraded', leader: false, ready: false, problems: ['No controller leads.'] },
      viewer,
    );
    assert.deepEqual(notice, {
      tone: 'crit',
      headline: 'No controller leads',
      problems: ['Nothing was evaluated since 14:02'],
      isOfBefore: true,
    });
  });

  test('says that stored data is shown only where there is some, and nothing newer', () => {
    const isOfBefore = (changes: Partial<Health>): unknown =>
      healthNotice({ ...health, status: 'unhealthy', ready: false, problems: ['No'], ...changes }, viewer)?.isOfBefore;
    assert.equal(isOfBefore({ storage: 'unwritable' }), true);
    assert.equal(isOfBefore({ storage: 'unreachable' }), false);
    assert.equal(isOfBefore({ storage: 'migrating' }), false);
    assert.equal(isOfBefore({ status: 'degraded', ready: true }), false, 'it does its work');
  });

  test('tells the instants of the service in the zone of the view', () => {
    const problems = ['Nothing was evaluated since 2026-11-21T13:58:00.000Z'];
    const notice = healthNotice({ ...health, status: 'degraded', problems }, { nowMs, timeZone: 'Europe/Zurich' });
    assert.equal(notice?.headline, 'Nothing was evaluated since 14:58');
    assert.equal(notice?.tone, 'warn');
  });
});

describe('the conditions of a monitor', () => {
  const condition = (changes: Partial<Condition>): Condition => ({
    type: 'Ready',
    status: 'True',
    reason: 'Evaluated',
    message: '',
    lastTransitionTime: null,
    observedGeneration: 1,
    ...changes,
  });
  const missing = condition({
    type: 'ChannelsResolved',
    status: 'False',
    reason: 'ChannelNotFound',
    message: 'No AlertChannel is named "oncal"',
  });

  test('tell what is wrong first, and what to change', () => {
    const [first, second] = conditionLines([condition({}), missing]);
    assert.equal(first?.says, 'No AlertChannel is named "oncal"');
    assert.match(first?.change ?? '', /correct spec\.alerting\.channelRefs/);
    assert.deepEqual([second?.isWell, second?.says], [true, 'It is evaluated']);
  });

  test('stand without codes, and with durations in words', () => {
    const problems = [
      'SchedulesUnderstood: prod/backup: its schedule cannot be read',
      'ChannelsResolved: oncal: there is no such channel; mail: not ready, SecretNotFound',
      'ConfigurationSound: LimitTooShort: maxTimeSinceLastSuccess is 25h, and it fires every 168h',
    ];
    assert.equal(
      problemsText({ problems, findings: 0 }),
      'prod/backup: its schedule cannot be read; ' +
        'oncal: there is no such channel; mail: not ready, its Secret does not exist; ' +
        'maxTimeSinceLastSuccess is 25 h, and it fires every 7 d',
    );
    assert.doesNotMatch(problemsText({ problems, findings: 1 }), /fires/, 'its findings tell of them');
    const [line] = conditionLines([
      condition({ type: 'ConfigurationSound', status: 'False', message: 'LimitTooShort: it is 25h' }),
    ]);
    assert.equal(line?.says, 'it is 25 h');
  });

  test('become the verdict of the monitor', () => {
    assert.equal(phaseText('Degraded', [missing]), 'It works, but no AlertChannel is named "oncal"');
    assert.equal(phaseText('Pending', []), 'It was not evaluated yet');
    assert.match(phaseText('Active', [condition({})]), /^It works/);
  });
});
