import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { alertTypes, coverageStates, severities, type AlertType, type Severity } from '../../contract/index.ts';
import { lint } from '../detect/lint.ts';
import type { LintedMonitor } from '../detect/lint-finding.ts';
import { routesOf } from './routes.ts';
import { aCronJob } from '../../testing/index.ts';
import {
  CoverageJudge,
  outcomeOf,
  routeOf,
  type ChannelReach,
  type ReachFacts,
  type RouteMoment,
  type RouteRules,
} from './route.ts';
import { hourMs } from '../duration.ts';
import { aJobFailedRule, alertRulesTo } from '../../testing/rules.ts';

const now = Date.UTC(2026, 10, 24, 12);
const names = ['a', 'b', 'c', 'd'] as const;

const rules: RouteRules = {
  looksFor: alertTypes,
  looksForInGroups: [],
  jobFailed: aJobFailedRule({ includeManual: false }),
  missedSchedule: { enabled: true, threshold: 1, skipWarnAfter: undefined },
  pausesSuspended: true,
  fromCreation: true,
  expects: undefined,
  ...alertRulesTo(['a']),
};
const moment: RouteMoment = {
  monitor: { namespace: 'prod', name: 'dr' },
  cronJob: { namespace: 'prod', name: 'backup', suspended: false, lastSuccessAt: undefined },
  silences: [],
  parents: [],
  last: undefined,
  runs: [],
  slots: [],
  now,
};
const reach: ReachFacts = {
  channels: new Map([['a', { ready: true, hold: undefined, acceptedAt: now }]]),
  acceptedSinceAt: now - hourMs,
};

const channel: fc.Arbitrary<ChannelReach> = fc.record({
  ready: fc.boolean(),
  hold: fc.constantFrom(undefined, undefined, 'circuit', 'parked', 'invalid'),
  acceptedAt: fc.constantFrom(undefined, now - 2 * hourMs, now),
  allowedNamespaces: fc.option(fc.subarray(['platform', 'prod', 'dev']), { nil: undefined }),
});
const route = fc.record({
  name: fc.constantFrom('one', 'two'),
  causes: fc.constantFrom([], ['platform'] as const),
  types: fc.subarray([...alertTypes]),
  severities: fc.subarray([...severities]),
  channels: fc.array(fc.record({ name: fc.constantFrom(...names), isOwned: fc.boolean() }), { maxLength: 2 }),
  isChosen: fc.boolean(),
  instead: fc.boolean(),
  fold: fc.boolean(),
});
const channelRef = fc.record({ name: fc.constantFrom(...names), severities: fc.subarray([...severities]) });
const monitor: fc.Arbitrary<RouteRules> = fc
  .record({
    looksFor: fc.subarray([...alertTypes]),
    alerting: fc.option(
      fc.record({
        enabled: fc.boolean(),
        channelRefs: fc.array(channelRef, { maxLength: 3 }),
        routes: fc.array(route, { maxLength: 2 }),
        annotation: fc.subarray([...names]),
        monitorNamespace: fc.constant('platform'),
        cronJobNamespace: fc.constant('prod'),
      }),
      { nil: undefined },
    ),
    severityOverrides: fc.dictionary(fc.constantFrom(...alertTypes), fc.constantFrom(...severities)),
  })
  .map((changes) => ({ ...rules, ...changes }));
const fleet = fc.record({
  channels: fc.dictionary(fc.constantFrom(...names), channel),
  monitors: fc.array(monitor, { maxLength: 3 }),
  types: fc.subarray([...alertTypes], { minLength: 1 }),
});

const lintedTypes = ['jobFailed', 'missedSchedule', 'deadManTriggered', 'jobStuck'] as const;
const linted: LintedMonitor = {
  selector: undefined,
  deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: undefined },
  missedSchedule: { enabled: true },
  jobFailed: { enabled: true },
  sla: undefined,
  stuckJobs: { enabled: true },
  suspendedHandling: { alertIfSuspendedFor: undefined },
  alerting: undefined,
  dataRetention: { retentionDays: 30 },
};

const usual: Readonly<Partial<Record<AlertType, Severity>>> = { deadManTriggered: 'critical', absent: 'critical' };

test('10,000 random fleets: an alert is heard where some monitor looks, its channel takes the severity and can be reached', () => {
  fc.assert(
    fc.property(fleet, ({ channels, monitors, types }) => {
      const facts: ReachFacts = { channels: new Map(Object.entries(channels)), acceptedSinceAt: now - hourMs };
      const coverage = new CoverageJudge(types, facts).judge(monitors);
      if (monitors.length === 0) return assert.equal(coverage.state, 'unwatched');
      for (const { type, state, channels: told } of coverage.types) {
        const looking = monitors.filter(({ looksFor }) => looksFor.includes(type));
        // Who is told, and in which order of precedence, is asked of what sends the messages: routes.test.ts judges it.
        const sent = looking.map(({ alerting, severityOverrides }) => {
          const severity = severityOverrides?.[type] ?? usual[type] ?? 'warning';
          return routesOf(alerting, { type, severity }, (name) => channels[name]);
        });
        const named = sent.flatMap((routes) => [...('told' in routes ? routes.told : []), ...routes.refused]);
        const heard = sent.flatMap((routes) => ('told' in routes ? routes.told : []));
        const usable = heard.flatMap(({ name }) => {
          const found = channels[name];
          return found?.ready && found.hold === undefined ? [found] : [];
        });
        const isProved = usable.some(({ acceptedAt }) => acceptedAt === now);
        assert.deepEqual(
          [state === 'off', state === 'nobody', state === 'unreachable', state === 'unproved', state === 'reached'],
          [
            looking.length === 0,
            looking.length > 0 && named.length === 0,
            named.length > 0 && usable.length === 0,
            usable.length > 0 && !isProved,
            isProved,
          ],
        );
        assert.deepEqual(told, [...new Set(heard.map(({ name }) => name))].toSorted());
      }
      const standings = coverage.types.map(({ state }) => coverageStates.indexOf(state));
      assert.equal(coverageStates.indexOf(coverage.state), Math.min(...standings), 'the worst type counts');
      assert.deepEqual(
        coverage.types.map(({ type }) => type),
        alertTypes.filter((type) => types.includes(type)),
      );
      for (const ofOne of monitors) {
        assertLintAgrees(ofOne, facts);
        const routes = types.map((type) => routeOf(ofOne, type, facts));
        const single = new CoverageJudge(types, facts).judge([ofOne]);
        assert.deepEqual(
          new Map(single.types.map(({ type, state, reason }) => [type, [state, reason]])),
          new Map(routes.map(({ type, state, reason }) => [type, [state, reason]])),
          'of one monitor coverage is its route',
        );
      }
      return undefined;
    }),
    { numRuns: 10_000 },
  );
});

/** The lint says that no channel takes a type exactly where its route says so, if every channel is there and admits all. */
function assertLintAgrees(of: RouteRules, facts: ReachFacts): void {
  const admitting = [...facts.channels].map(([name, one]) => [name, { ...one, allowedNamespaces: ['*'] }] as const);
  const missing = names.map(
    (name) => [name, { ready: true, hold: undefined, acceptedAt: now, allowedNamespaces: ['*'] }] as const,
  );
  const open: ReachFacts = { ...facts, channels: new Map([...missing, ...admitting]) };
  const problems = ['grace: 5 is no duration; such as 5m'];
  const own = { monitor: linted, routing: of.alerting, severityOverrides: of.severityOverrides, problems };
  const found = lint({
    monitor: linted,
    cronJobs: [
      {
        facts: aCronJob({ name: 'backup' }),
        rhythm: 'ScheduleInvalid',
        durations: undefined,
        nextRunAt: undefined,
        own,
      },
    ],
    channelFaults: [],
    skewP99Ms: 0,
    isDefaultZoneGiven: true,
  });
  const unrouted = found.find(({ code }) => code === 'SeverityNotRouted')?.message ?? '';
  for (const type of lintedTypes) {
    const { reason } = routeOf({ ...of, looksFor: alertTypes }, type, open);
    const isUntold = reason === 'severityNotRouted' || reason === 'noChannel';
    assert.equal(unrouted.includes(`${type} (`), isUntold && of.alerting?.enabled === true, `${type}: ${unrouted}`);
  }
  assert.ok(found.some(({ code }) => code === 'AnnotationInvalid'));
}

test('a route names severity and source, each channel once, and those that do not exist', () => {
  const alerting = {
    enabled: true,
    channelRefs: [
      { name: 'a', severities: [] },
      { name: 'a', severities: ['critical'] },
      { name: 'gone', severities: [] },
    ],
  } as const;
  const route = routeOf({ ...rules, alerting, severityOverrides: { jobFailed: 'critical' } }, 'jobFailed', reach);
  assert.deepEqual(route, {
    type: 'jobFailed',
    severity: 'critical',
    severitySource: 'CronJobMonitor',
    channels: [{ name: 'a', via: 'channelRefs', afterMs: 0, state: 'reached', reason: undefined }],
    refused: [{ name: 'gone', reason: 'unknownChannel' }],
    state: 'reached',
    reason: undefined,
  });
});

const outcome = (type: AlertType, changes: Partial<RouteRules>, at: Partial<RouteMoment> = {}) => {
  const asked = { ...rules, ...changes };
  return outcomeOf(routeOf(asked, type, reach), asked, { ...moment, ...at });
};
const window = {
  name: 'night',
  schedule: '0 11 * * *',
  durationMs: 2 * hourMs,
  timeZone: 'UTC',
  suppressAlerts: true,
  excludeFromSla: false,
};

test('one more failure or missed run opens an alert when it reaches the threshold', () => {
  const failed = { jobName: 'x', status: 'failed', endedAt: now - 1, exitCode: 1, reason: undefined } as const;
  const twice = { jobFailed: { ...rules.jobFailed, failureThreshold: 2 } };
  assert.equal(outcome('jobFailed', twice).quiet, 'belowThreshold');
  assert.equal(outcome('jobFailed', twice, { runs: [failed] }).quiet, undefined);
  const misses = { missedSchedule: { ...rules.missedSchedule, threshold: 2 } };
  assert.equal(outcome('missedSchedule', misses).quiet, 'belowThreshold');
  const missed = { at: now - hourMs, outcome: 'missed', cause: undefined } as const;
  assert.equal(outcome('missedSchedule', misses, { slots: [missed] }).quiet, undefined);
  assert.equal(outcome('jobStuck', { looksFor: [] }).quiet, 'typeOff');
});

test('what cannot happen to the CronJob as it is opens nothing', () => {
  const suspended = { cronJob: { ...moment.cronJob, suspended: true } };
  for (const type of ['missedSchedule', 'deadManTriggered', 'absent'] as const)
    assert.equal(outcome(type, {}, suspended).quiet, 'suspended', type);
  assert.equal(outcome('jobFailed', {}, suspended).quiet, undefined, 'a Job of before may still fail');
  const goesOn = { pausesSuspended: false };
  assert.equal(outcome('missedSchedule', goesOn, suspended).quiet, 'suspended', 'nothing is due');
  assert.equal(outcome('deadManTriggered', goesOn, suspended).quiet, undefined);

  const succeeded = { cronJob: { ...moment.cronJob, lastSuccessAt: now } };
  const absent = (expects: RouteRules['expects'], at: Partial<RouteMoment> = succeeded) =>
    outcome('absent', { expects }, at).quiet;
  assert.equal(absent(undefined, moment), undefined);
  assert.equal(absent(undefined), 'hasSucceeded');
  assert.equal(absent({ names: [], seen: true, except: [] }), undefined, 'it is missed when it goes');
  assert.equal(absent({ names: ['backup'], seen: false, except: [] }), undefined);
  assert.equal(absent({ names: ['prod/backup'], seen: false, except: [] }), undefined);
  assert.equal(absent({ names: ['dev/backup'], seen: false, except: [] }), 'hasSucceeded');
  assert.equal(absent({ names: [], seen: true, except: ['backup'] }), 'hasSucceeded');
  const open = { id: 'x', state: 'active', lastNotifiedAt: undefined, dueAt: undefined } as const;
  assert.equal(outcome('absent', {}, { ...succeeded, last: open }).quiet, undefined, 'one is open');
});

test('a delay comes first, then what a person muted, then what was told a short while ago', () => {
  const reasons = (type: AlertType, changes: Partial<RouteRules>, at: Partial<RouteMoment> = {}): string[] =>
    outcome(type, changes, at).holds.map(({ reason, untilAt }) => `${reason} ${((untilAt ?? 0) - now) / hourMs}`);
  const last = { id: 'x', state: 'active', lastNotifiedAt: now - hourMs / 2, dueAt: undefined } as const;
  assert.deepEqual(reasons('jobFailed', {}), []);
  assert.deepEqual(reasons('jobFailed', { alertDelayMs: hourMs, windows: [window] }), [
    'alertDelay 1',
    'maintenance 1',
  ]);
  assert.deepEqual(reasons('jobFailed', {}, { last }), ['duplicate 0.5']);
  assert.deepEqual(reasons('jobFailed', {}, { last: { ...last, state: 'resolved' } }), ['duplicate 0.5']);
  assert.deepEqual(reasons('jobFailed', {}, { last: { ...last, state: 'cancelled' } }), []);
  assert.deepEqual(reasons('deadManTriggered', {}, { last }), ['duplicate 23.5'], 'a level is reminded of');
  const pending = { ...last, state: 'pending', lastNotifiedAt: undefined, dueAt: now + hourMs } as const;
  assert.deepEqual(reasons('jobFailed', { alertDelayMs: 3 * hourMs }, { last: pending }), ['alertDelay 1']);
  assert.deepEqual(reasons('slaBreached', {}, { last }), [], 'each subject has an alert of its own');
});
