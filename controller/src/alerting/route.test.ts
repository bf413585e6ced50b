import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { alertTypes, severities } from '@cronjob-monitor/shared/contract';
import {
  CoverageJudge,
  follow,
  outcomeOf,
  routeOf,
  type ReachFacts,
  type RouteRules,
  hourMs,
  minuteMs,
} from '@cronjob-monitor/shared/domain';
import { listChannelHolds, listDecisions, listSilences, putSilence } from '@cronjob-monitor/shared/store';
import { anAlertingFixture } from '../testing/alerting-fixture.ts';
import { aJobFailedRule } from '@cronjob-monitor/shared/testing';

const ref = fc.record({
  name: fc.constantFrom('team-chat', 'on-call', 'gone'),
  severities: fc.subarray([...severities]),
});
const route = fc.record({
  name: fc.constantFrom('one', 'two'),
  causes: fc.constant([]),
  types: fc.subarray([...alertTypes]),
  severities: fc.subarray([...severities]),
  channels: fc.array(fc.record({ name: fc.constantFrom('team-chat', 'on-call', 'gone'), isOwned: fc.boolean() }), {
    maxLength: 2,
  }),
  isChosen: fc.boolean(),
  instead: fc.boolean(),
  fold: fc.constant(false),
});
const monitor = fc.record({
  alerting: fc.option(
    fc.record({
      enabled: fc.boolean(),
      channelRefs: fc.array(ref, { maxLength: 3 }),
      routes: fc.array(route, { maxLength: 2 }),
      annotation: fc.subarray(['team-chat', 'on-call', 'gone']),
      monitorNamespace: fc.constant('platform'),
      cronJobNamespace: fc.constant('prod'),
    }),
    { nil: undefined },
  ),
  severityOverrides: fc.dictionary(fc.constantFrom(...alertTypes), fc.constantFrom(...severities)),
  alertDelayMs: fc.constantFrom(0, 0, 10 * minuteMs),
  hasWindow: fc.boolean(),
});
const fleet = fc.record({
  first: monitor,
  second: monitor,
  type: fc.constantFrom(...alertTypes.filter((type) => type !== 'slaBreached' && type !== 'jobStuck')),
  isSilenced: fc.boolean(),
  isReady: fc.boolean(),
  isHeld: fc.boolean(),
  allowed: fc.option(fc.subarray(['platform', 'prod']), { nil: undefined }),
});

const silence = {
  id: '019a5b3c-8000-7000-8000-0000000000aa',
  matcher: {
    namespaces: [],
    cronjobs: [],
    types: [],
    severities: ['warning'],
    monitor: null,
    alertId: null,
    all: false,
  },
  untilResolved: false,
  comment: 'storage move',
  createdBy: 'ana',
  createdAt: 0,
  updatedAt: 0,
  endedAt: undefined,
};

function rulesOf({ hasWindow, ...said }: typeof monitor extends fc.Arbitrary<infer T> ? T : never): RouteRules {
  const window = { name: 'always', schedule: '* * * * *', durationMs: hourMs, timeZone: 'UTC' };
  return {
    ...said,
    looksFor: alertTypes,
    looksForInGroups: [],
    jobFailed: aJobFailedRule(),
    missedSchedule: { enabled: true, threshold: 1, skipWarnAfter: undefined },
    pausesSuspended: true,
    fromCreation: true,
    expects: undefined,
    suppressDuplicatesForMs: hourMs,
    remindEveryMs: 24 * hourMs,
    renotifyOnChangedError: false,
    recoveryMs: 0,
    windows: hasWindow ? [{ ...window, suppressAlerts: true, excludeFromSla: false }] : [],
  };
}

test('in random fleets the route of an alert, its coverage and the messages that are written agree', async (t) => {
  const { store, clock, finding, fails, stillHolds, rows } = await anAlertingFixture(t);
  const numRuns = 200;
  const written = async (alertId: string): Promise<unknown[]> => {
    const found = await rows('select channel_name from deliveries where alert_id = ? order by channel_name', [
      store.dialect.id16(alertId),
    ]);
    return found.map((row) => row['channel_name']);
  };
  await fc.assert(
    fc.asyncProperty(fleet, async ({ first, second, type, isSilenced, isReady, isHeld, allowed }) => {
      const now = clock.now();
      for (const table of ['alerts', 'deliveries', 'silences']) await store.sql(table).delete();
      await store
        .sql('channels')
        .where({ name: 'on-call' })
        .update({ ready: Number(isReady), spec: JSON.stringify({ sendResolved: true, allowedNamespaces: allowed }) });
      await store
        .sql('channels')
        .where({ name: 'team-chat' })
        .update({ hold: isHeld ? 'circuit' : null });
      const span = { startsAt: now, endsAt: now + hourMs };
      if (isSilenced) await store.transaction((tx) => putSilence(tx, { ...silence, ...span }));

      const channels = await listChannelHolds(store);
      const facts: ReachFacts = {
        channels: new Map(channels.map((channel) => [channel.name, channel])),
        acceptedSinceAt: now - hourMs,
      };
      const monitors = [rulesOf(first), rulesOf(second)] as const;
      const coverage = new CoverageJudge([type], facts).judge(monitors);
      const silences = await listSilences(store, now);
      const told = new Set<string>();
      const waiting: (() => Promise<void>)[] = [];
      for (const [index, which] of (['first', 'second'] as const).entries()) {
        const rules = monitors[index];
        assert.ok(rules);
        const route = routeOf(rules, type, facts);
        const about = finding({ kind: 'quiet' }, { monitor: which });
        const outcome = outcomeOf(route, rules, {
          ...about,
          cronJob: { ...about.cronJob, suspended: false, lastSuccessAt: undefined },
          silences,
          parents: [],
          last: undefined,
          runs: [],
          slots: [],
          now,
        });
        assert.equal(outcome.quiet, undefined);
        const followed = follow(rules, type, {
          ...about,
          at: now,
          silences,
          parents: [],
          channelOf: (name) => facts.channels.get(name),
          last: undefined,
          others: [],
        });
        const [raised] = await fails({ type, monitor: which, rules: { ...rules, renotifyOnChangedError: false } });
        assert.ok(raised);
        const { alert } = raised;
        const [hold] = outcome.holds;
        const expected = hold === undefined ? 'active' : hold.reason === 'alertDelay' ? 'pending' : 'suppressed';
        assert.deepEqual([alert.state, alert.severity], [expected, route.severity]);
        if (hold) assert.equal(alert.dueAt, hold.untilAt);
        assert.deepEqual(
          followed.waits.slice(0, 1).map(({ reason, untilAt }) => [reason, untilAt]),
          outcome.holds.slice(0, 1).map(({ reason, untilAt }) => [reason, untilAt]),
          'the tracer waits first for what holds it now',
        );
        const isHeldForEver = followed.toldAt === undefined;
        assert.deepEqual(
          followed.channels.map(({ name }) => name).toSorted(),
          isHeldForEver ? [] : route.channels.map(({ name }) => name).toSorted(),
        );
        const names = route.channels.map(({ name }) => name).toSorted();
        assert.deepEqual(await written(alert.id), hold ? [] : names);
        for (const name of names) told.add(name);
        if (hold && rules.windows.length === 0)
          waiting.push(async () => {
            await stillHolds({ type, monitor: which, rules: { ...rules, renotifyOnChangedError: false } });
            assert.deepEqual(await written(alert.id), names, 'what was held is told when the hold is over');
          });
      }
      const [covered] = coverage.types;
      assert.deepEqual(covered?.channels, [...told].toSorted());
      const canHear = channels.some(({ name, ready, hold }) => told.has(name) && ready && hold === undefined);
      assert.equal(coverage.state === 'unproved' || coverage.state === 'reached', canHear);
      clock.stepWall(2 * hourMs);
      for (const ask of waiting) await ask();
      if (coverage.state === 'nobody')
        assert.deepEqual(
          await rows('select id from deliveries'),
          [],
          'nothing is sent where coverage says that no channel is told',
        );
    }),
    { numRuns },
  );
});

test('that a route tells others of a fault in the place of the owner is in the ledger, with their names', async (t) => {
  const { store, fails, ledger, messages } = await anAlertingFixture(t);
  const node = { name: 'node', causes: ['platform'], channels: [{ name: 'on-call', isOwned: false }] } as const;
  const routes = [{ ...node, types: [], severities: [], isChosen: false, instead: true, fold: false }];
  const rules = { alerting: { enabled: true, channelRefs: [{ name: 'team-chat', severities: [] }], routes } };
  const [raised] = await fails({ rules, fault: { cause: 'platform', scope: 'node node-3' } });
  assert.ok(raised);
  assert.deepEqual(await messages(), ['on-call firing ready']);
  assert.deepEqual(raised.withheld, []);
  assert.ok((await ledger(raised.alert.id)).includes('notRouted instead'));
  const decisions = await listDecisions(store, raised.alert.id);
  assert.equal(decisions.find(({ action }) => action === 'notRouted')?.detail, 'on-call');
});
