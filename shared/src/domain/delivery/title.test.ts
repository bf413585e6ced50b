import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertSubject, AlertType } from '../../contract/index.ts';
import { alertTypes, alertTypeTable } from '../../contract/index.ts';
import { aDigestMessage, anAlertMessage, aTestMessage } from '../../testing/messages.ts';
import { describeFinding } from '../alert-types/index.ts';
import { nameFinding } from '../alert-types/traits.ts';
import type { Finding } from '../alert-types/finding.ts';
import {
  closingTitleOf,
  firstNoticeTitleOf,
  headingOf,
  titleOf,
  titleOfMessage,
  type Closing,
  type FirstNotice,
} from './title.ts';
import { spanInWords, rateInWords } from './wording.ts';

const hour = 3_600;
const day = 24 * hour;
const slot = (time: string): number => Date.parse(`2026-11-${time}Z`);

type Row = Partial<Omit<Finding, 'figures'>> & { type: AlertType; says: string } & Partial<Finding['figures']>;

/** Figures stand beside the other fields of a finding. */
const rows: Row[] = [
  {
    type: 'jobFailed',
    count: 3,
    detail: { exitCode: 137, reason: 'OOMKilled' },
    says: 'run failed, exit 137 (OOMKilled), 3rd in a row',
  },
  { type: 'jobFailed', detail: { exitCode: 1 }, says: 'run failed, exit 1' },
  { type: 'jobFailed', detail: { exitCode: 0 }, says: 'run failed, exit 0' },
  { type: 'jobFailed', detail: { reason: 'DeadlineExceeded' }, says: 'run failed: DeadlineExceeded' },
  { type: 'jobFailed', count: 11, detail: {}, says: 'run failed, 11th in a row' },
  {
    type: 'missedSchedule',
    count: 3,
    timeZone: 'Europe/Berlin',
    detail: { firstSlotAt: slot('20T23:00:00'), lastSlotAt: slot('21T01:00:00') },
    says: 'no run for 02:00 Europe/Berlin (3 missed since 00:00)',
  },
  {
    type: 'missedSchedule',
    detail: { firstSlotAt: slot('21T01:00:00'), lastSlotAt: slot('21T01:00:00') },
    says: 'no run for 01:00 UTC',
  },
  {
    type: 'missedSchedule',
    count: 2,
    detail: { firstSlotAt: slot('20T01:00:00'), lastSlotAt: slot('21T01:00:00') },
    says: 'no run for 01:00 UTC (2 missed since 2026-11-20 01:00)',
  },
  {
    type: 'missedSchedule',
    reason: 'skipped',
    count: 4,
    timeZone: 'Nowhere/City',
    detail: { firstSlotAt: slot('21T00:00:00'), lastSlotAt: slot('21T03:00:00') },
    says: '4 runs skipped since 00:00 UTC',
  },
  {
    type: 'absent',
    subject: 'disappeared',
    detail: { absence: { cause: 'deleted', deletedUntilAt: slot('20T01:00:00') } },
    says: 'deleted 2026-11-20 01:00 UTC',
  },
  {
    type: 'absent',
    subject: 'neverSucceeded',
    measured: 26 * hour,
    limit: 25 * hour,
    timeZone: 'Europe/Berlin',
    detail: { firstSlotAt: slot('20T01:00:00') },
    says: 'never succeeded, first due 2026-11-20 02:00 Europe/Berlin (limit 25 h)',
  },
  { type: 'deadManTriggered', measured: 26 * hour + 700, limit: 25 * hour, says: 'no success for 26 h (limit 25 h)' },
  {
    type: 'slaBreached',
    subject: 'successRate',
    measured: 91.38,
    limit: 95,
    detail: { windowDays: 7 },
    says: 'success rate 91.3 % over 7 d (minimum 95 %)',
  },
  {
    type: 'slaBreached',
    subject: 'maxDuration',
    reason: 'runningTooLong',
    measured: 52 * 60,
    limit: 45 * 60,
    says: 'running for 52 min (maximum 45 min)',
  },
  {
    type: 'slaBreached',
    subject: 'maxDuration',
    reason: 'tookTooLong',
    measured: 3_120,
    limit: 2_700,
    says: 'took 52 min (maximum 45 min)',
  },
  {
    type: 'slaBreached',
    subject: 'maxDuration',
    reason: 'tookTooLong',
    measured: 410,
    limit: 390,
    says: 'took 6 min 50 s (maximum 6 min 30 s)',
  },
  { type: 'deadManTriggered', measured: 420, limit: 414, says: 'no success for 7 min (limit 6 min 54 s)' },
  { type: 'slaBreached', subject: 'minDuration', measured: 3.2, limit: 30, says: 'took 3 s (minimum 30 s)' },
  {
    type: 'slaBreached',
    subject: 'finishBy',
    detail: { time: '06:00', timeZone: 'Europe/Berlin' },
    says: 'no success by 06:00 Europe/Berlin',
  },
  {
    type: 'durationRegression',
    measured: 700,
    limit: 150,
    says: 'slower than before, 95th percentile 11 min (limit 2 min 30 s)',
  },
  { type: 'jobSuspended', measured: 8 * day + 2 * hour, limit: 7 * day, says: 'suspended for 8 d 2 h (limit 7 d)' },
  {
    type: 'jobStuck',
    subject: 'notStarted',
    measured: 14 * 60 + 20,
    limit: 600,
    detail: { reason: 'ImagePullBackOff' },
    says: 'not started for 14 min: ImagePullBackOff',
  },
  { type: 'jobStuck', subject: 'notStarted', measured: 840, count: 2, says: 'not started for 14 min (2 Jobs)' },
  {
    type: 'jobStuck',
    subject: 'overrunning',
    measured: 13 * hour + 60,
    limit: 12 * hour,
    says: 'running for 13 h 1 min (limit 12 h)',
  },
  {
    type: 'jobStuck',
    subject: 'overrunning',
    measured: 3 * hour,
    limit: hour,
    detail: { reason: 'Unschedulable' },
    says: 'not ended for 3 h (limit 1 h): Unschedulable',
  },
  {
    type: 'jobStuck',
    subject: 'overrunning',
    measured: 6,
    limit: 6,
    detail: { neverRan: true },
    says: 'not started for 6 s (limit 6 s)',
  },
  { type: 'jobStuck', subject: 'terminating', measured: 720, says: 'not ended for 12 min after its end was decided' },
];

for (const { says, measured, limit, ...given } of rows) {
  test(`${given.type}: ${says}`, () => {
    const finding: Finding = {
      subject: undefined,
      reason: '',
      count: 1,
      detail: {},
      timeZone: 'UTC',
      ...given,
      figures: { measured, limit, unit: undefined },
    };
    assert.equal(describeFinding(finding), says);
    const title = titleOf('critical', { namespace: 'prod', name: 'nightly' }, finding);
    assert.equal(title, `CRITICAL prod/nightly: ${says}`);
  });
}

test('every type and subject has a name of its own', () => {
  const names = alertTypes.flatMap((type) => {
    const subjects: (AlertSubject | null)[] = [...alertTypeTable[type].subjects];
    return (subjects.length > 0 ? subjects : [null]).map((subject) => nameFinding(type, subject));
  });
  assert.equal(new Set(names).size, names.length);
});

const closed: Closing = {
  cronjob: { namespace: 'prod', name: 'nightly' },
  type: 'jobFailed',
  subject: null,
  state: 'resolved',
  closeCause: null,
  sinceAt: slot('21T01:00:00'),
  endedAt: slot('21T04:12:30'),
};

for (const { says, change } of [
  { says: 'RESOLVED prod/nightly: job failed, after 3 h 12 min', change: {} },
  {
    says: 'CLOSED prod/nightly: job failed, CronJob deleted',
    change: { state: 'expired', closeCause: 'cronJobDeleted' },
  },
  { says: 'CLOSED prod/nightly: job failed, somethingNew', change: { state: 'expired', closeCause: 'somethingNew' } },
  { says: 'CLOSED prod/nightly: job failed', change: { state: 'expired' } },
] as { says: string; change: Partial<Closing> }[]) {
  test(`a closing says: ${says}`, () => assert.equal(closingTitleOf({ ...closed, ...change }), says));
}

test('the heading of a stream is the same for its opening and its closing', () => {
  const heading = headingOf({ kind: 'firing', data: anAlertMessage() });
  assert.deepEqual(heading, { severity: 'warning', text: 'prod/nightly: job failed' });
  const closing = anAlertMessage({
    alert: { state: 'resolved', title: 'RESOLVED prod/nightly: job failed, after 1 h' },
  });
  assert.deepEqual(headingOf({ kind: 'closing', data: closing }), heading);
});

test('digests and tests have titles too', () => {
  const title = (...digest: Parameters<typeof aDigestMessage>): string =>
    titleOfMessage({ kind: 'digest', data: aDigestMessage(...digest) });
  assert.equal(title(34), 'WARNING alert storm: 34 alerts');
  assert.equal(title(1, { ended: true }), 'WARNING alert storm over: 1 alert still holds');
  assert.equal(title(5, { before: 30 }), 'WARNING alert storm: 5 more alerts');
  assert.equal(title(3, { ended: true, recovered: 2 }), 'WARNING alert storm over: 1 alert still holds, 2 recovered');
  assert.equal(title(0, { ended: true, counts: [] }), 'INFO alert storm over: nothing holds any more');
  assert.equal(title(13, { cause: 'firstPass' }), 'WARNING 13 CronJobs were failing when watching began');
  const gone = aDigestMessage(3, { cause: 'firstPass', recovered: 2 });
  const first = gone.digest.alerts.map((alert, index) => (index < 2 ? { ...alert, endedAt: alert.since } : alert));
  const firstOf = (alerts: typeof first): string =>
    titleOfMessage({ kind: 'digest', data: { ...gone, digest: { ...gone.digest, alerts } } });
  assert.equal(firstOf(first), 'WARNING 1 CronJob was failing when watching began, 2 alerts were over');
  assert.equal(firstOf(first.slice(0, 2)), 'WARNING 2 alerts were over when watching began');
  const scope = { cause: 'scope', scope: 'node node-3' } as const;
  assert.equal(title(12, scope), 'WARNING node node-3: 12 CronJobs failed');
  assert.equal(title(3, { ...scope, before: 12 }), 'WARNING node node-3: 3 more CronJobs failed');
  assert.equal(title(12, { cause: 'rateLimit' }), 'WARNING 12 alerts held back by the rate limit');
  const waited = { cause: 'rateLimit', recovered: 5 } as const;
  assert.equal(title(12, waited), 'WARNING 12 alerts held back by the rate limit, 5 recovered');
  assert.equal(titleOfMessage({ kind: 'test', data: aTestMessage() }), 'TEST of channel team-chat');
});

test('a title without a word is replaced by what the alert is called', () => {
  const data = anAlertMessage({ alert: { title: '' } });
  assert.equal(titleOfMessage({ kind: 'firing', data }), 'WARNING prod/nightly: job failed');
});

test('a digest is as severe as the worst it stands for, listed or counted', () => {
  const counts = [{ type: 'deadManTriggered', severity: 'critical', count: 1 }] as const;
  assert.equal(headingOf({ kind: 'digest', data: aDigestMessage(2, { counts }) }).severity, 'critical');
});

for (const [seconds, words] of [
  [0, '0 s'],
  [59.9, '59 s'],
  [61, '1 min 1 s'],
  [300, '5 min'],
  [3_599, '59 min'],
  [11_520, '3 h 12 min'],
  [86_399, '23 h 59 min'],
  [47 * hour, '47 h'],
  [2 * day, '2 d'],
] as const) {
  test(`${seconds} seconds are ${words}`, () => assert.equal(spanInWords(seconds), words));
}

test('a rate below its minimum never reads like the minimum', () => {
  assert.equal(rateInWords(94.96), '94.9 %');
  assert.equal(rateInWords(0.3 * 100), '30.0 %');
});

const aNotice = (finding: Partial<Finding>, changes: Partial<FirstNotice> = {}): FirstNotice => ({
  cronjob: { namespace: 'prod', name: 'backup' },
  type: finding.type ?? 'jobFailed',
  subject: finding.subject,
  state: 'resolved',
  closeCause: undefined,
  sinceAt: Date.parse('2026-11-21T22:50:00Z'),
  endedAt: Date.parse('2026-11-21T22:53:00Z'),
  failedAt: undefined,
  succeededAt: Date.parse('2026-11-21T22:51:00Z'),
  timeZone: 'UTC',
  finding: {
    type: 'jobFailed',
    subject: undefined,
    reason: '',
    count: 1,
    figures: { measured: 60, limit: 30, unit: 'seconds' },
    detail: { exitCode: 3 },
    timeZone: 'UTC',
    ...finding,
  },
  ...changes,
});

for (const [notice, says] of [
  [aNotice({}), 'RESOLVED prod/backup: run failed at 22:50, exit 3; succeeded again at 22:51 UTC'],
  [
    aNotice({ count: 4 }, { failedAt: Date.parse('2026-11-21T22:50:30Z'), timeZone: 'Europe/Berlin' }),
    'RESOLVED prod/backup: run failed at 23:50, exit 3, 4th in a row; succeeded again at 23:51 Europe/Berlin',
  ],
  [
    aNotice({}, { sinceAt: Date.parse('2026-11-20T22:50:00Z'), succeededAt: undefined }),
    'RESOLVED prod/backup: run failed at 2026-11-20 22:50, exit 3; over at 22:53 UTC',
  ],
  [
    aNotice({}, { state: 'expired', closeCause: 'cronJobDeleted', succeededAt: undefined }),
    'CLOSED prod/backup: run failed at 22:50, exit 3; CronJob deleted at 22:53 UTC',
  ],
  [
    aNotice({ type: 'deadManTriggered', detail: {} }),
    'RESOLVED prod/backup: had no success for 1 min (limit 30 s), from 22:50; succeeded again at 22:51 UTC',
  ],
  [
    aNotice({ type: 'absent', subject: 'neverSucceeded', detail: { firstSlotAt: Date.parse('2026-11-21T22:00:00Z') } }),
    'RESOLVED prod/backup: had never succeeded, first due 2026-11-21 22:00 UTC (limit 30 s), from 22:50; succeeded at 22:51 UTC',
  ],
  [
    aNotice({ type: 'jobStuck', subject: 'overrunning', detail: {} }, { succeededAt: undefined }),
    'RESOLVED prod/backup: was running for 1 min (limit 30 s), from 22:50; over at 22:53 UTC',
  ],
  [
    aNotice({ type: 'slaBreached', subject: 'maxDuration', reason: 'tookTooLong', detail: {} }),
    'RESOLVED prod/backup: run took 1 min (maximum 30 s), from 22:50; well again at 22:51 UTC',
  ],
  [
    aNotice({ type: 'slaBreached', subject: 'successRate', detail: { windowDays: 7 } }),
    'RESOLVED prod/backup: missed its target: success rate 60.0 % over 7 d (minimum 30 %), from 22:50; well again at 22:51 UTC',
  ],
  [aNotice({}, { finding: undefined }), 'RESOLVED prod/backup: job failed at 22:50; succeeded again at 22:51 UTC'],
] as const) {
  test(`what is told with both of its times: ${says}`, () => assert.equal(firstNoticeTitleOf(notice), says));
}
