import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  AlertTimelineEntry,
  Delivery,
  Execution,
  Silence,
  SlaTarget,
  ToldChannel,
} from '@cronjob-monitor/shared/contract';
import { alertTimelineKinds } from '@cronjob-monitor/shared/contract';
import { reasonText } from './alert-reasons.ts';
import { alertSentence, resolvesWhen } from './alert-sentence.ts';
import { timelineLines } from './alert-timeline.ts';
import { channelConfigLines } from './channel-config.ts';
import {
  channelKindText,
  channelMark,
  deliveryAbout,
  deliveryAnswer,
  nextStep,
  readyText,
  testText,
} from './channels.ts';
import { endAt } from './ends.ts';
import { shortId } from './short-id.ts';
import { endingText, endsSoonText, matcherText } from './silences.ts';
import { changeText, marginText, slaCurrentText, slaTargetText } from './sla.ts';
import { toldLines } from './told-lines.ts';

const nowMs = Date.parse('2026-11-21T14:03:00.000Z');
const viewer = { nowMs, timeZone: 'UTC' };
const at = (clock: string): string => `2026-11-21T${clock}.000Z`;

describe('the timeline of an alert', () => {
  const entry = (kind: AlertTimelineEntry['kind'], changes: Partial<AlertTimelineEntry> = {}): AlertTimelineEntry => ({
    at: at('02:00:00'),
    kind,
    reason: null,
    channel: null,
    deliveryId: null,
    by: null,
    message: '',
    ...changes,
  });
  const told = (entries: readonly AlertTimelineEntry[], runs: readonly Execution[] = []): string[] =>
    timelineLines(entries, runs, viewer).map(({ says, why }) => `${says}${why === undefined ? '' : `: ${why}`}`);

  test('stands newest first, and of one instant the later decision above', () => {
    const entries = [entry('detected'), entry('pending'), entry('sent', { at: at('02:01:00'), channel: 'ops' })];
    assert.deepEqual(
      timelineLines(entries, [], viewer).map(({ key }) => key),
      ['2 sent', '1 pending', '0 detected'],
    );
  });

  const rows: readonly (readonly [entry: AlertTimelineEntry, text: string])[] = [
    [entry('detected', { message: 'No success for 25h' }), 'Found: No success for 25h'],
    [
      entry('pending', {
        reason: 'alertDelay',
        message: 'Nobody is told yet: alertDelay, until 2026-11-21T02:05:00.000Z',
      }),
      'Waits before anybody is told: alertDelay, until 02:05',
    ],
    [entry('suppressed', { reason: 'silence', message: 'Held back: silence' }), 'Held back: a silence'],
    [
      entry('occurrence', {
        reason: 'counted',
        message: `It happened again: counted (3 times, last ${at('05:00:00')})`,
      }),
      'Once more: counted, 3 times, last 05:00',
    ],
    [
      entry('notRouted', { reason: 'severityNotRouted', channel: 'mail' }),
      'mail is not asked: it does not take this severity',
    ],
    [
      entry('notRouted', { reason: 'unknownChannel', message: 'No channel is named oncal' }),
      'Nobody is asked: No channel is named oncal',
    ],
    [entry('notRouted', { reason: 'noChannel' }), 'Nobody is asked: its monitor names no channel'],
    [
      entry('attemptFailed', { channel: 'ops', reason: 'timeout', message: 'ops did not take it: no answer: 15s' }),
      'ops did not take it: no answer: 15s',
    ],
    [
      entry('attemptFailed', { channel: 'ops', reason: 'timeout', message: 'ops did not take it' }),
      'ops did not take it: no answer in time',
    ],
    [
      entry('dead', { channel: 'ops', reason: 'rejected', message: 'Given up for ops: rejected' }),
      'ops: given up: it was refused',
    ],
    [entry('redriven', { channel: 'ops', by: 'ana', message: 'Queued again for ops' }), 'Sent again to ops by ana'],
    [entry('acknowledged', { by: 'ana', message: 'Acknowledged: on it' }), 'Acknowledged by ana: on it'],
    [entry('held', { channel: 'ops', reason: 'storm' }), 'No message to ops: a storm of alerts'],
    [entry('resolved', { reason: 'run', message: 'Resolved: backup-1' }), 'Resolved: backup-1'],
    [entry('expired', { reason: 'aNewReason' }), 'Expired: aNewReason'],
  ];
  for (const [line, text] of rows) test(`says ${text}`, () => assert.deepEqual(told([line]), [text]));

  test('has words for every kind of decision', () => {
    const lines = timelineLines(
      alertTimelineKinds.map((kind) => entry(kind)),
      [],
      viewer,
    );
    assert.equal(
      lines.filter(({ says, shape, sign }) => says !== '' && (shape ?? sign)).length,
      alertTimelineKinds.length,
    );
  });

  test('tells of the runs of its time, each with its end', () => {
    const run = {
      id: 'r',
      jobName: 'backup-1',
      status: 'failed',
      trigger: 'scheduled',
      scheduledTime: at('02:00:00'),
      createdAt: at('02:00:04'),
      startTime: at('02:00:04'),
      completionTime: at('02:03:04'),
      durationSeconds: 180,
      exitCode: 137,
      reason: 'OOMKilled',
    } as Execution; // the fields that a line is made of
    assert.deepEqual(told([entry('detected')], [run]), [
      'Run of 02:00: Failed after 3 min: exit code 137, OOMKilled',
      'Found',
    ]);
    assert.equal(timelineLines([], [run], viewer)[0]?.jobName, 'backup-1');
  });
});

describe('who was told of an alert', () => {
  const channel: ToldChannel = {
    channel: 'ops',
    deliveryId: 'd1',
    kind: 'firing',
    state: 'sent',
    attempts: 1,
    at: at('02:15:00'),
    nextAttemptAt: null,
    category: null,
    httpStatus: 200,
  };
  const linesOf = (channels: readonly ToldChannel[], timeline: readonly AlertTimelineEntry[] = []) =>
    toldLines({ told: { state: 'sent', reason: null, until: null, channels }, timeline }, viewer);

  test('is a line per channel with its answer', () => {
    const words = linesOf([
      { ...channel, attempts: 2 },
      { ...channel, channel: 'hook', state: 'dead', category: 'rejected', httpStatus: 400 },
      { ...channel, channel: 'mail', state: 'parked', category: 'smtp', httpStatus: null },
      { ...channel, channel: 'page', state: 'ready', nextAttemptAt: at('14:10:00'), httpStatus: 500 },
    ]).map(({ mark }) => mark.word);
    assert.deepEqual(words, [
      'Sent 02:15, 2nd try (200)',
      'Given up: it answered 400',
      'Parked: the mail server refused',
      'Queued, next try 14:10 (500)',
    ]);
  });

  test('offers to send again what is parked or given up, and nothing else', () => {
    const lines = linesOf([
      channel,
      { ...channel, channel: 'hook', state: 'dead' },
      { ...channel, channel: 'mail', state: 'parked' },
    ]);
    assert.deepEqual(
      lines.map(({ redrive }) => redrive !== undefined),
      [false, true, true],
    );
  });

  test('names the channels that were not asked, once, and why', () => {
    const not = {
      at: at('02:00:00'),
      kind: 'notRouted',
      reason: 'severityNotRouted',
      deliveryId: null,
      by: null,
      message: '',
    } as const;
    const lines = linesOf(
      [channel],
      [
        { ...not, channel: 'mail' },
        { ...not, channel: 'mail' },
        { ...not, channel: 'ops' },
      ],
    );
    assert.deepEqual(
      lines.map(({ channel: name, mark }) => [name, mark.word]),
      [
        ['ops', 'Sent 02:15 (200)'],
        ['mail', 'Not asked: it does not take this severity'],
      ],
    );
  });
});

test('a reason that nobody knows stands for itself', () => {
  assert.equal(reasonText('someday'), 'someday');
  assert.equal(reasonText(null), undefined);
});

describe('an alert', () => {
  const alert = {
    type: 'slaBreached',
    subject: 'successRate',
    endedAt: at('03:00:00'),
    message: 'As it was found',
    title: 'A title',
  } as Parameters<typeof alertSentence>[0]; // the fields that an ended one is told by

  test('that has ended is told as it was found', () => {
    assert.equal(alertSentence(alert, undefined, viewer), 'As it was found');
    assert.equal(alertSentence({ ...alert, message: '' }, undefined, viewer), 'A title');
  });

  test('that is open grows with the time, by itself and by its CronJob', () => {
    const context = { measured: 90_100, limit: 90_000, unit: 'seconds', exitCode: null, reason: null };
    const open = { ...alert, type: 'deadManTriggered', endedAt: null, since: at('10:03:00'), context } as typeof alert;
    assert.equal(alertSentence(open, undefined, viewer), 'No success for 29 h (limit 25 h)');
    const unlimited = { ...open, context: { ...open.context, limit: null } };
    assert.equal(alertSentence(unlimited, undefined, viewer), 'No success for 1 d 1 h');
    assert.equal(alertSentence({ ...open, type: 'jobFailed' }, undefined, viewer), 'As it was found');
  });

  test('says what ends it, by its subject where it has one', () => {
    assert.equal(resolvesWhen(alert), 'the rate is back at its target');
    assert.equal(resolvesWhen({ type: 'deadManTriggered', subject: null }), 'a run succeeds');
  });

  test('has a short name for people, as in messages', () => {
    assert.equal(shortId('019ab2c4-0000-7000-8000-00009f3c21aa'), '9f3c21aa');
  });
});

describe('a silence', () => {
  const rows: readonly (readonly [Parameters<typeof matcherText>[0], string])[] = [
    [{ all: true }, 'Every alert of the whole fleet'],
    [{ namespaces: ['prod'], cronjobs: ['backup'] }, 'Alerts of prod/backup'],
    [{ namespaces: ['prod'], cronjobs: ['a', 'b'] }, 'Alerts of prod/a and prod/b'],
    [{ namespaces: ['prod', 'data'], cronjobs: ['a'] }, 'Alerts of a in prod and data'],
    [{ namespaces: ['prod'] }, 'Alerts in prod'],
    [{ types: ['jobFailed'], severities: ['warning'] }, 'Warning jobFailed'],
    [{ monitor: { namespace: 'prod', name: 'dr' } }, 'Alerts of monitor prod/dr'],
    [{ alertId: '0-9f3c21aa' }, 'Alerts that are the one alert #9f3c21aa'],
  ];
  for (const [matcher, text] of rows) test(`holds: ${text}`, () => assert.equal(matcherText(matcher), text));

  const silence = { state: 'active', endsAt: at('14:15:00'), mutedNow: 2 } as Silence; // what the warning looks at

  test('that ends soon over what still holds is warned of', () => {
    assert.equal(endsSoonText(silence, nowMs), 'over 2 alerts that still hold');
    assert.equal(endsSoonText({ ...silence, mutedNow: 1 }, nowMs), 'over 1 alert that still holds');
  });
  for (const [title, changes] of [
    ['later', { endsAt: at('14:34:00') }],
    ['over nothing', { mutedNow: 0 }],
    ['but has not begun', { state: 'scheduled' }],
    ['and is over', { endsAt: at('14:00:00') }],
  ] as const)
    test(`that ends ${title} is not`, () => assert.equal(endsSoonText({ ...silence, ...changes }, nowMs), undefined));

  test('says what its early end brings', () => {
    assert.match(endingText(silence), /^2 alerts that it holds are told now/);
    assert.match(endingText({ ...silence, mutedNow: 0 }), /nothing is sent/);
    assert.match(endingText({ ...silence, state: 'scheduled' }), /has not begun/);
  });
});

describe('the end of what a person sets', () => {
  const instant = (text: string): number => Date.parse(text);
  const rows: readonly (readonly [string, string, string])[] = [
    ['2026-11-21T14:03:20Z', 'UTC', '2026-11-22T08:00:00Z'],
    ['2026-11-21T06:00:00Z', 'UTC', '2026-11-21T08:00:00Z'],
    ['2026-11-21T08:00:00Z', 'UTC', '2026-11-22T08:00:00Z'],
    ['2026-11-21T06:30:00Z', 'Europe/Zurich', '2026-11-21T07:00:00Z'],
    // The night in which the clocks go forward, and the one in which they go back.
    ['2026-03-28T20:00:00Z', 'Europe/Zurich', '2026-03-29T06:00:00Z'],
    ['2026-10-24T20:00:00Z', 'Europe/Zurich', '2026-10-25T07:00:00Z'],
  ];
  for (const [now, timeZone, end] of rows)
    test(`is the next 08:00 of ${timeZone} after ${now}`, () =>
      assert.equal(endAt('morning', { nowMs: instant(now), timeZone }), instant(end)));

  test('or some hours away', () => assert.equal(endAt('4h', viewer) - nowMs, 4 * 3_600_000));
});

describe('a channel', () => {
  test('says what it is', () => {
    assert.equal(channelKindText({ type: 'chat', config: { channel: '#ops' } }), 'chat, #ops');
    assert.equal(channelKindText({ type: 'email', config: { to: ['a@x', 'b@x'] } }), 'email, to a@x, b@x');
    assert.equal(channelKindText({ type: 'paging', config: { severity: null } }), 'paging');
  });

  test('says how it stands and what to do', () => {
    assert.equal(readyText({ reason: 'SecretNotFound', message: '' }), 'Its Secret does not exist');
    assert.equal(readyText({ reason: 'Unauthorized', message: 'It answered 401' }), 'It answered 401');
    assert.match(nextStep({ ready: false, reason: 'Unauthorized' }) ?? '', /^Renew the credentials/);
    assert.equal(nextStep({ ready: true, reason: 'Validated' }), undefined);
    assert.equal(channelMark({ ready: false, reason: 'NotChecked' }).word, 'Not checked');
    assert.equal(channelMark({ ready: false, reason: 'Gone' }).word, 'Not ready');
  });

  const test200 = { success: true, message: '', deliveryId: 'd', category: null, httpStatus: 200 } as const;
  const rows: readonly (readonly [Partial<Parameters<typeof testText>[0]>, string])[] = [
    [{}, 'Accepted'],
    [{ success: false, category: 'unauthorized', httpStatus: 401 }, 'Refused: the receiver answered 401'],
    [{ success: false, category: 'noController', httpStatus: null }, 'No controller took it: nobody leads'],
    [
      { success: false, category: 'waitExceeded', httpStatus: null },
      'Not known: no answer within 15 s. It may still arrive',
    ],
    [{ success: false, category: 'tls', httpStatus: null }, 'Failed: no secure connection'],
    [
      { success: false, category: 'secret', httpStatus: null, message: 'Secret a/b is gone' },
      'Failed: Secret a/b is gone',
    ],
  ];
  for (const [result, text] of rows)
    test(`tested: ${text}`, () => assert.equal(testText({ ...test200, ...result }), text));

  test('shows where its Secrets are, and marks the one that cannot be used', () => {
    const lines = channelConfigLines({
      urlSecretRef: { name: 'hooks', namespace: 'ops', key: 'url', usable: false },
      headers: { 'X-Team': '***' },
      to: [],
      payloadTemplate: null,
      newField: 3,
    });
    assert.deepEqual(
      lines.map(({ name, says, isWrong }) => [name, says, isWrong]),
      [
        ['Address', 'Secret ops/hooks, key url: it cannot be used', true],
        ['Headers', 'X-Team: ***', false],
        ['To', 'none', false],
        ['Payload template', 'not set', false],
        ['NewField', '3', false],
      ],
    );
  });
});

describe('a delivery', () => {
  const delivery = {
    state: 'sent',
    kind: 'firing',
    type: 'jobFailed',
    attempts: 2,
    lastError: null,
    nextAttemptAt: null,
    stateReason: null,
    sentAt: at('09:51:00'),
  } as Delivery; // what its sentence is made of
  const refused = { category: 'rejected', message: 'It answered 400', httpStatus: 400, at: at('09:50:00') } as const;
  const rows: readonly (readonly [Partial<Delivery>, string])[] = [
    [{}, '09:51, 2nd try'],
    [{ state: 'dead', lastError: refused }, 'It answered 400'],
    [{ state: 'dead' }, 'Its time ran out'],
    [{ state: 'parked' }, 'Waits until the channel is mended'],
    [{ state: 'ready', nextAttemptAt: at('14:10:00'), stateReason: 'rateLimit' }, 'Next try 14:10: the rate limit'],
    [{ state: 'claimed' }, 'On its way'],
    [{ state: 'digested' }, 'Told inside a digest'],
  ];
  for (const [changes, text] of rows)
    test(`says ${text}`, () => assert.equal(deliveryAnswer({ ...delivery, ...changes }, viewer), text));

  test('is about an alert, or it is a test or a digest', () => {
    assert.equal(deliveryAbout(delivery), 'jobFailed');
    assert.equal(deliveryAbout({ type: null, kind: 'test' }), 'A test');
    assert.equal(deliveryAbout({ type: null, kind: 'digest' }), 'A digest of several alerts');
  });
});

describe('a target', () => {
  const rate: SlaTarget = {
    cronjob: { namespace: 'prod', name: 'backup' },
    monitor: { namespace: 'prod', name: 'dr' },
    subject: 'successRate',
    verdict: 'met',
    target: 95,
    current: 91.23,
    unit: 'percent',
    finishBy: null,
    windowDays: 7,
    success: 52,
    runs: 57,
    previous: 95.2,
    previousSuccess: 50,
    previousRuns: 52,
    failuresLeft: 2,
    alertId: null,
  };
  const seconds: SlaTarget = {
    ...rate,
    subject: 'minDuration',
    unit: 'seconds',
    target: 120,
    current: 4,
    success: null,
    runs: null,
  };
  const rows: readonly (readonly [Partial<SlaTarget>, string, string, string | undefined])[] = [
    [{}, '95 %', '91.2 % (52 of 57)', '3 more failures breach'],
    [{ failuresLeft: 0, verdict: 'atRisk' }, '95 %', '91.2 % (52 of 57)', 'The next failure breaches'],
    [{ failuresLeft: null, verdict: 'breached' }, '95 %', '91.2 % (52 of 57)', 'Breached'],
    [{ current: null, runs: 0, verdict: 'noData' }, '95 %', 'no data', 'No run yet'],
    [{ ...seconds }, 'at least 2 min', '4 s', undefined],
    [{ ...seconds, subject: 'maxDuration' }, 'at most 2 min', '4 s', undefined],
    [
      { ...seconds, subject: 'finishBy', target: null, current: null, unit: null, finishBy: '06:00 Europe/Berlin' },
      'by 06:00 Europe/Berlin',
      'in time',
      undefined,
    ],
  ];
  for (const [changes, wanted, now, margin] of rows)
    test(`of ${wanted} stands at ${now}${margin === undefined ? '' : `: ${margin}`}`, () => {
      const target = { ...rate, ...changes };
      assert.deepEqual([slaTargetText(target), slaCurrentText(target), marginText(target)], [wanted, now, margin]);
    });

  test('is compared with the window before, where both have data', () => {
    assert.equal(changeText(rate), '−4.0 points');
    assert.equal(changeText({ ...rate, previous: 91.2 }), 'as before');
    assert.equal(changeText({ ...rate, previous: 90 }), '+1.2 points');
    assert.equal(changeText({ ...rate, previous: null }), undefined);
  });
});
