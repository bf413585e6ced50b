import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInForce, matches, silenceOf, type MutableAlert, type Silence, type SilenceMatcher } from './silence.ts';

const none: SilenceMatcher = {
  namespaces: [],
  cronjobs: [],
  types: [],
  severities: [],
  monitor: null,
  alertId: null,
  all: false,
};
const alert: MutableAlert = {
  id: 'a1',
  namespace: 'prod',
  cronJobName: 'backup',
  type: 'jobFailed',
  severity: 'warning',
  monitor: { namespace: 'prod', name: 'dr' },
};
const silence = (id: string, endsAt: number, more: Partial<Silence> = {}): Silence => ({
  id,
  matcher: { ...none, namespaces: ['prod'] },
  startsAt: 100,
  endsAt,
  endedAt: undefined,
  ...more,
});

for (const { says, matcher, mutes } of [
  {
    says: 'all criteria that are given must hold',
    matcher: { namespaces: ['prod'], types: ['jobFailed'] },
    mutes: true,
  },
  {
    says: 'one criterion that does not hold is enough to let it pass',
    matcher: { namespaces: ['prod'], types: ['jobStuck'] },
    mutes: false,
  },
  { says: 'values of one criterion are alternatives', matcher: { cronjobs: ['etl', 'backup'] }, mutes: true },
  {
    says: 'a ref is a namespace and a name, both of one CronJob',
    matcher: {
      refs: [
        { namespace: 'prod', name: 'etl' },
        { namespace: 'dev', name: 'backup' },
      ],
    },
    mutes: false,
  },
  {
    says: 'refs are alternatives',
    matcher: {
      refs: [
        { namespace: 'dev', name: 'x' },
        { namespace: 'prod', name: 'backup' },
      ],
    },
    mutes: true,
  },
  { says: 'names are exact', matcher: { cronjobs: ['back'] }, mutes: false },
  {
    says: 'a monitor is named by namespace and name',
    matcher: { monitor: { namespace: 'ops', name: 'dr' } },
    mutes: false,
  },
  { says: 'one alert can be meant', matcher: { alertId: 'a1' }, mutes: true },
  { says: 'nothing given mutes nothing', matcher: {}, mutes: false },
  { says: 'the whole fleet is asked for by name', matcher: { all: true }, mutes: true },
]) {
  test(`silence: ${says}`, () => assert.equal(matches({ ...none, ...matcher }, alert), mutes));
}

test('a silence is in force from its start until just before its end, or until it was ended', () => {
  assert.deepEqual(
    [99, 100, 199, 200].map((at) => isInForce(silence('s', 200), at)),
    [false, true, true, false],
  );
  assert.equal(isInForce(silence('s', 200, { endedAt: 150 }), 150), false);
});

test('of several silences the one that lasts longest is named', () => {
  assert.equal(silenceOf(alert, [silence('short', 200), silence('long', 300), silence('over', 120)], 150)?.id, 'long');
  assert.equal(silenceOf(alert, [silence('short', 200)], 250), undefined);
});
