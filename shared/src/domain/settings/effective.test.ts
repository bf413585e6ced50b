import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { alertTypes, overrideWords, type OverrideWord } from '../../contract/index.ts';
import {
  annotationProblemsOf,
  effectiveOf,
  ownerOf,
  type OverridableSpec,
  type OwnSettings,
  type WrittenRoute,
} from './effective.ts';
import type { Annotations } from './words.ts';

const now = Date.UTC(2026, 10, 24, 12);
const spec: OverridableSpec = {
  missedSchedule: { grace: '3m' },
  sla: undefined,
  allowOverrides: overrideWords,
  alerting: { severityOverrides: { jobFailed: 'warning', jobStuck: 'critical' }, routes: [] },
};
const own = (
  cronJob: Annotations,
  ofNamespace: Annotations = {},
  labels: Record<string, string> = {},
): OwnSettings => ({
  namespace: 'prod',
  name: 'backup',
  timeZone: 'Europe/Berlin',
  cronJob: { labels, annotations: cronJob },
  ofNamespace: { labels: { team: 'ops' }, annotations: ofNamespace },
});
const inForce = (said: OwnSettings, changes: Partial<OverridableSpec> = {}, ownerLabel?: string) =>
  effectiveOf({ namespace: 'platform', name: 'all', spec: { ...spec, ...changes } }, said, ownerLabel);
const setting = (said: OwnSettings, field: string, changes: Partial<OverridableSpec> = {}) => {
  const one = inForce(said, changes).settings.find((each) => each.field === field);
  return one && [one.value, one.source, one.object];
};

test('the word of the CronJob wins over that of its Namespace, that over the monitor, that over the default', () => {
  assert.deepEqual(setting(own({ grace: '5m' }, { grace: '9m' }), 'missedSchedule.grace'), [
    '5m',
    'CronJob',
    'prod/backup',
  ]);
  assert.deepEqual(setting(own({}, { grace: '9m' }), 'missedSchedule.grace'), ['9m', 'Namespace', 'prod']);
  assert.deepEqual(setting(own({}), 'missedSchedule.grace'), ['3m', 'CronJobMonitor', 'platform/all']);
  const usual = { missedSchedule: { grace: '2m' } };
  assert.deepEqual(setting(own({}), 'missedSchedule.grace', usual), ['2m', 'default', undefined]);
});

test('a limit of its own needs no sla block, and switches on nothing else of it', () => {
  const { sla } = inForce(own({ 'max-duration': '45m' })).spec;
  assert.deepEqual(
    [sla?.enabled, sla?.maxDuration, sla?.minSuccessRate, sla?.durationRegressionThreshold, sla?.finishBy],
    [true, '45m', undefined, 0, undefined],
  );
  const ofMonitor = { ...sla, enabled: false, minSuccessRate: 95 } as NonNullable<OverridableSpec['sla']>;
  const { sla: switched } = inForce(own({ 'finish-by': '06:00' }), { sla: ofMonitor }).spec;
  assert.deepEqual([switched?.enabled, switched?.minSuccessRate, switched?.maxDuration], [true, undefined, undefined]);
  assert.deepEqual(switched?.finishBy, { time: '06:00', timezone: undefined });
  const off = inForce(own({ 'max-duration': 'off' }), { sla: { ...ofMonitor, enabled: true, maxDuration: '10m' } });
  assert.deepEqual([off.spec.sla?.maxDuration, off.spec.sla?.minSuccessRate], [undefined, 95]);
});

test('a severity is that of every type, or of those that are named', () => {
  const every = inForce(own({ severity: 'critical' }));
  assert.deepEqual(every.severityOverrides, Object.fromEntries(alertTypes.map((type) => [type, 'critical'])));
  assert.equal(every.severitySourceOf('absent'), 'CronJob');
  const one = inForce(own({}, { severity: 'jobFailed=critical, missedSchedule=warning' }));
  assert.deepEqual(one.severityOverrides, { jobFailed: 'critical', missedSchedule: 'warning', jobStuck: 'critical' });
  const sources = (['jobFailed', 'jobStuck', 'absent'] as const).map(one.severitySourceOf);
  assert.deepEqual(sources, ['Namespace', 'CronJobMonitor', 'default']);
});

for (const [word, text, message] of [
  ['grace', '5', 'grace: 5 is no duration; such as 5m'],
  ['grace', '0s', 'grace: 0s is no duration; such as 5m'],
  ['max-duration', 'never', 'max-duration: never is no duration; such as 45m, or off'],
  ['finish-by', '6:00', 'finish-by: 6:00 is no time of day; such as 06:00, 06:00 Europe/Berlin, or off'],
  [
    'finish-by',
    '06:00 Mars/Base',
    'finish-by: 06:00 Mars/Base is no time of day; such as 06:00, 06:00 Europe/Berlin, or off',
  ],
  [
    'severity',
    'jobFailed=loud',
    'severity: jobFailed=loud is no severity; such as critical, or jobFailed=critical,missedSchedule=warning',
  ],
  ['mute-until', '2026-02-31', 'mute-until: 2026-02-31 is no time; such as 2026-12-01 or 2026-12-01T08:00:00Z'],
  ['mute-until', '2027-12-01', 'mute-until: 2027-11-30T23:00:00.000Z is more than 30 days ahead'],
  [
    'channel',
    'a,b,c,d,e,f',
    'channel: a,b,c,d,e,f is no list of 1 to 5 names of AlertChannels; such as team-chat, on-call',
  ],
  ['channel', '', 'channel: an empty text is no list of 1 to 5 names of AlertChannels; such as team-chat, on-call'],
  ['ignore', 'yes', 'ignore: yes is not true'],
] as const) {
  test(`${word} "${text}" counts as absent, and is named`, () => {
    const said = own({ [word]: text }, word === 'grace' ? { grace: '9m' } : {});
    assert.deepEqual(annotationProblemsOf(said, now), [{ source: 'CronJob', object: 'prod/backup', word, message }]);
    if (word === 'grace') assert.equal(inForce(said).spec.missedSchedule.grace, '9m', 'the next one speaks');
  });
}

test('a date is the beginning of the day where the CronJob is', () => {
  const until = (text: string) => inForce(own({ 'mute-until': text })).mutedUntilAt;
  assert.equal(until('2026-12-01'), Date.UTC(2026, 10, 30, 23));
  assert.equal(until('2026-12-01T08:00:00+02:00'), Date.UTC(2026, 11, 1, 6));
});

test('who owns it: annotations before the label, and the CronJob before its Namespace', () => {
  const owner = (said: OwnSettings, label?: string) => ownerOf(said, label);
  assert.equal(owner(own({ owner: 'ana' }, { owner: 'data' }, { team: 'web' }), 'team'), 'ana');
  assert.equal(owner(own({}, { owner: 'data' }, { team: 'web' }), 'team'), 'data');
  assert.equal(owner(own({}, {}, { team: 'web' }), 'team'), 'web');
  assert.equal(owner(own({}), 'team'), 'ops');
  assert.equal(owner(own({})), undefined);
});

const route = (changes: Partial<WrittenRoute>): WrittenRoute => ({
  name: 'r',
  when: { owners: [], labels: {}, causes: [], types: [] },
  channels: ['chat'],
  severities: [],
  instead: false,
  fold: false,
  ...changes,
});
const routesFor = (said: OwnSettings, written: WrittenRoute) =>
  inForce(said, { alerting: { severityOverrides: {}, routes: [written] } }).routing.routes;

test('a route asks for owners, which may end in *, and for labels of the CronJob, else of its Namespace', () => {
  const when = { owners: ['team-*', 'ops'], labels: {}, causes: [], types: [] };
  assert.equal(routesFor(own({ owner: 'team-data' }), route({ when }))?.length, 1);
  assert.equal(routesFor(own({ owner: 'web' }), route({ when }))?.length, 0);
  assert.equal(routesFor(own({}), route({ when }))?.length, 0, 'without an owner it is not open');
  const labelled = route({ when: { ...when, owners: [], labels: { team: 'ops' } } });
  assert.equal(routesFor(own({}), labelled)?.[0]?.isChosen, true);
  assert.equal(routesFor(own({}, {}, { team: 'web' }), labelled)?.length, 0);
});

test('the owner stands in the name of a channel; without one there is no such channel', () => {
  const written = route({ channels: ['{{ .Owner }}-chat', 'all'] });
  assert.deepEqual(routesFor(own({ owner: 'data' }), written)?.[0]?.channels, [
    { name: 'data-chat', isOwned: true },
    { name: 'all', isOwned: false },
  ]);
  assert.deepEqual(routesFor(own({}), written)?.[0]?.channels, [{ name: 'all', isOwned: false }]);
});

const good: Readonly<Record<OverrideWord, string>> = {
  channel: 'chat',
  severity: 'critical',
  grace: '7m',
  'max-duration': '1h',
  'finish-by': '06:00',
  'mute-until': '2026-12-01T00:00:00Z',
  ignore: 'true',
};
const fields: Readonly<Record<OverrideWord, string>> = {
  channel: 'alerting.routes',
  severity: 'alerting.severityOverrides',
  grace: 'missedSchedule.grace',
  'max-duration': 'sla.maxDuration',
  'finish-by': 'sla.finishBy',
  'mute-until': 'muteUntil',
  ignore: 'ignore',
};

test('10,000 random CronJobs: each word alone, and none that the monitor does not allow', () => {
  const words = fc.subarray([...overrideWords]);
  fc.assert(
    fc.property(words, words, words, words, (mine, shared, bad, allowOverrides) => {
      const written = (of: readonly OverrideWord[]): Annotations =>
        Object.fromEntries(of.map((word) => [word, good[word]]));
      const broken = Object.fromEntries(bad.map((word) => [word, '?!']));
      const said = own({ ...written(mine), ...broken }, written(shared));
      const { settings, passedOver } = inForce(said, { allowOverrides });
      for (const word of overrideWords) {
        const speaks =
          mine.includes(word) && !bad.includes(word) ? 'CronJob' : shared.includes(word) ? 'Namespace' : undefined;
        const source = settings.find(({ field }) => field === fields[word])?.source;
        const isOwn = source === 'CronJob' || source === 'Namespace';
        assert.equal(isOwn ? source : undefined, allowOverrides.includes(word) ? speaks : undefined, word);
        assert.equal(passedOver.includes(word), speaks !== undefined && !allowOverrides.includes(word), word);
      }
      assert.deepEqual(
        annotationProblemsOf(said, now)
          .map(({ word }) => word)
          .toSorted(),
        bad.toSorted(),
      );
    }),
    { numRuns: 10_000 },
  );
});
