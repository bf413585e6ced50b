import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anAlertRecord } from '../../testing/index.ts';
import type { AlertRecord, AlertRules } from './alert.ts';
import { follow, type Followed, type FollowFacts } from './follow.ts';
import { minuteMs, hourMs } from '../duration.ts';
import { alertRulesTo } from '../../testing/rules.ts';

const now = Date.UTC(2026, 10, 24, 12);

const rules = alertRulesTo(['chat']);
const facts: FollowFacts = {
  monitor: { namespace: 'prod', name: 'dr' },
  cronJob: { namespace: 'prod', name: 'backup' },
  at: now,
  silences: [],
  parents: [],
  channelOf: () => ({}),
  last: undefined,
  others: [],
};
const silence = (fromAt: number, toAt: number): FollowFacts['silences'][number] => ({
  id: 's1',
  matcher: {
    namespaces: ['prod'],
    cronjobs: [],
    types: [],
    severities: [],
    monitor: null,
    alertId: null,
    all: false,
  },
  startsAt: fromAt,
  endsAt: toAt,
  endedAt: undefined,
});
const window = (schedule: string, durationMs: number): AlertRules['windows'][number] => ({
  name: 'backup',
  schedule,
  durationMs,
  timeZone: 'UTC',
  suppressAlerts: true,
  excludeFromSla: false,
});
const alert = (changes: Partial<AlertRecord>): AlertRecord => anAlertRecord(now - 2 * hourMs, changes);
const short = ({ waits, toldAt }: Followed): unknown => [
  ...waits.map(({ kind, untilAt, isEnd }) => [
    kind,
    untilAt === undefined ? undefined : (untilAt - now) / minuteMs,
    ...(isEnd ? ['end'] : []),
  ]),
  toldAt === undefined ? undefined : (toldAt - now) / minuteMs,
];

test('without anything in its way a failure is told at once', () => {
  assert.deepEqual(short(follow(rules, 'jobFailed', facts)), [0]);
});

test('a delay, a silence and a window hold one after the other, each asked when the one before is over', () => {
  const delayed = { ...rules, alertDelayMs: 10 * minuteMs, windows: [window('30 12 * * *', hourMs)] };
  const silences = [silence(now, now + 40 * minuteMs)];
  assert.deepEqual(short(follow(delayed, 'jobFailed', { ...facts, silences })), [
    ['delay', 10],
    ['silence', 40],
    ['window', 90],
    90,
  ]);
  const over = [silence(now, now + 5 * minuteMs)];
  assert.deepEqual(
    short(follow({ ...rules, alertDelayMs: 10 * minuteMs }, 'jobFailed', { ...facts, silences: over })),
    [['delay', 10], 10],
  );
});

test('a silence to come holds what is asked about within it', () => {
  const silences = [silence(now + hourMs, now + 2 * hourMs)];
  assert.deepEqual(short(follow(rules, 'jobFailed', { ...facts, silences })), [0]);
  const at = now + 90 * minuteMs;
  assert.deepEqual(short(follow(rules, 'jobFailed', { ...facts, silences, at })), [['silence', 120], 120]);
});

test('one more failure of an alert that was told is counted, and no message is made of it', () => {
  const last = alert({ type: 'jobFailed', state: 'active', lastNotifiedAt: now - 20 * minuteMs, notifyNo: 1 });
  assert.deepEqual(short(follow(rules, 'jobFailed', { ...facts, last })), [['duplicate', 40, 'end'], undefined]);
  const later = { ...facts, last, at: now + hourMs };
  assert.deepEqual(short(follow(rules, 'jobFailed', later)), [60]);
});

test('a return soon after the end is told when the duplicate window is over', () => {
  const last = alert({
    type: 'jobFailed',
    state: 'resolved',
    endedAt: now - 10 * minuteMs,
    lastNotifiedAt: now - 20 * minuteMs,
    notifyNo: 1,
  });
  assert.deepEqual(short(follow(rules, 'jobFailed', { ...facts, last })), [['duplicate', 40], 40]);
});

test('a level that goes on is told again as a reminder', () => {
  const last = alert({ type: 'jobStuck', state: 'active', lastNotifiedAt: now - hourMs, notifyNo: 1 });
  assert.deepEqual(short(follow(rules, 'jobStuck', { ...facts, last })), [['duplicate', 23 * 60, 'end'], undefined]);
});

test('an alert of a CronJob that it depends on holds it, until an instant that is not known', () => {
  const parents = [{ id: 'p', type: 'jobFailed', severity: 'critical', toldAt: now }] as const;
  assert.deepEqual(short(follow(rules, 'jobFailed', { ...facts, parents })), [['inhibition', undefined], undefined]);
});

test('a missed run that was told holds the dead-man’s switch for one duplicate window', () => {
  const others = [alert({ type: 'missedSchedule', severity: 'critical', state: 'active', activatedAt: now })];
  assert.deepEqual(short(follow(rules, 'deadManTriggered', { ...facts, others })), [['inhibition', 60], 60]);
});

test('without a channel nothing is told, and nothing is waited for', () => {
  const deaf = { ...rules, alerting: { enabled: true, channelRefs: [] } };
  assert.deepEqual(short(follow(deaf, 'jobFailed', facts)), [undefined]);
});

test('windows without an end are not followed for ever', () => {
  const always = { ...rules, windows: [window('* * * * *', hourMs)] };
  const { waits, toldAt } = follow(always, 'jobFailed', facts);
  assert.ok(waits.length <= 32);
  assert.equal(toldAt, undefined);
});
