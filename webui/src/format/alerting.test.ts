import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AlertTimelineEntry, Execution, ToldChannel } from '@cronjob-monitor/shared/contract';
import { alertTimelineKinds } from '@cronjob-monitor/shared/contract';
import { reasonText } from './alert-reasons.ts';
import { resolvesWhen } from './resolves-when.ts';
import { timelineLines } from './alert-timeline.ts';
import { shortId } from './short-id.ts';
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
    [entry('detected', { message: 'No success for 25h' }), 'Found'],
    [
      entry('pending', {
        reason: 'alertDelay',
        message: 'No channel is told yet: alertDelay, until 2026-11-21T02:05:00.000Z',
      }),
      'Waits before a channel is told: the delay that its monitor sets, until 02:05',
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
      'No channel is asked: No channel is named oncal',
    ],
    [
      entry('notRouted', { reason: 'instead', message: 'Told to platform-team alone' }),
      'The owner is not asked: Told to platform-team alone',
    ],
    [entry('notRouted', { reason: 'noChannel' }), 'No channel is asked: its monitor names no channel'],
    [
      entry('attemptFailed', { channel: 'ops', reason: 'timeout', message: 'ops did not take it: no answer: 15 s' }),
      'ops did not take it: no answer: 15 s',
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
    mutedThere: null,
    word: null,
  };
  const linesOf = (channels: readonly ToldChannel[], timeline: readonly AlertTimelineEntry[] = []) =>
    toldLines({ told: { state: 'sent', reason: null, word: null, until: null, channels }, timeline }, viewer);

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

test('an unknown reason stands for itself', () => {
  assert.equal(reasonText('someday'), 'someday');
  assert.equal(reasonText(null), undefined);
  assert.equal(reasonText('nodeUnreachable'), 'its node could not be reached', 'of a log, on a run and on an alert');
});

describe('an alert', () => {
  test('says what ends it, by its subject where it has one', () => {
    const calm = { flappingUntil: null };
    assert.equal(
      resolvesWhen({ ...calm, type: 'slaBreached', subject: 'successRate' }, viewer),
      'the rate is back at its target',
    );
    assert.equal(resolvesWhen({ ...calm, type: 'deadManTriggered', subject: null }, viewer), 'a run succeeds');
  });

  test('that comes and goes ends when nothing has changed for an hour besides', () => {
    assert.equal(
      resolvesWhen({ type: 'jobFailed', subject: null, flappingUntil: at('15:00:00') }, viewer),
      'a run succeeds and nothing has changed for an hour: not before 15:00',
    );
  });

  test('has a short name for people, as in messages', () => {
    assert.equal(shortId('019ab2c4-0000-7000-8000-00009f3c21aa'), '9f3c21aa');
  });
});
