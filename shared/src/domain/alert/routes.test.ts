import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { severities, type Severity } from '../../contract/index.ts';
import type { Fault } from '../execution/fault.ts';
import { collapseKeyOf, dedupKeyOf, fingerprintOf, shortIdOf } from './keys.ts';
import { routesOf, type Admitting, type OpenRoute, type Routing } from './routes.ts';

const refs = [
  { name: 'team-chat', severities: ['critical', 'warning'] as const },
  { name: 'on-call', severities: ['critical'] as const },
];
const channelOf = (name: string) => (name === 'oncal' ? undefined : {});
const warning = { type: 'jobFailed', severity: 'warning' } as const;
const critical = { type: 'jobFailed', severity: 'critical' } as const;

test('an alert goes to the channels that take its severity', () => {
  assert.deepEqual(routesOf({ enabled: true, channelRefs: refs }, warning, channelOf), {
    told: [{ name: 'team-chat', afterMs: 0, via: 'channelRefs' }],
    refused: [],
  });
  assert.deepEqual(routesOf({ enabled: true, channelRefs: refs }, critical, channelOf), {
    told: [
      { name: 'team-chat', afterMs: 0, via: 'channelRefs' },
      { name: 'on-call', afterMs: 0, via: 'channelRefs' },
    ],
    refused: [],
  });
});

test('no severities means both', () => {
  const channelRefs = [{ name: 'all', severities: [] }];
  assert.deepEqual(routesOf({ enabled: true, channelRefs }, warning, channelOf), {
    told: [{ name: 'all', afterMs: 0, via: 'channelRefs' }],
    refused: [],
  });
});

test('an unknown channel is named, and does not keep the others from hearing', () => {
  const channelRefs = [...refs, { name: 'oncal', severities: [] }];
  assert.deepEqual(routesOf({ enabled: true, channelRefs }, warning, channelOf), {
    told: [{ name: 'team-chat', afterMs: 0, via: 'channelRefs' }],
    refused: [{ name: 'oncal', reason: 'unknownChannel' }],
  });
});

test('a channel that is named twice is told once, at the earlier of its turns', () => {
  const of = { name: 'on-call', severities: [] };
  const channelRefs = [
    { ...of, afterMs: 900_000 },
    { ...of, afterMs: 60_000 },
  ];
  assert.deepEqual(routesOf({ enabled: true, channelRefs }, warning, channelOf), {
    told: [{ name: 'on-call', afterMs: 60_000, via: 'channelRefs' }],
    refused: [],
  });
});

for (const [reason, alerting] of [
  ['alertingDisabled', undefined],
  ['alertingDisabled', { enabled: false, channelRefs: refs }],
  ['noChannel', { enabled: true, channelRefs: [] }],
  ['severityNotRouted', { enabled: true, channelRefs: [{ name: 'on-call', severities: ['critical'] as const }] }],
  ['unknownChannel', { enabled: true, channelRefs: [{ name: 'oncal', severities: [] }] }],
] as const) {
  test(`no channel is told: ${reason}`, () => {
    const routes = routesOf(alerting, warning, channelOf);
    assert.equal('notRouted' in routes && routes.notRouted, reason);
  });
}

const noFault = undefined;
const platform = { cause: 'platform', scope: 'node node-3' } as const;
const open = (name: string, more: Partial<OpenRoute> = {}): OpenRoute => ({
  name,
  causes: [],
  types: [],
  severities: [],
  channels: [{ name, isOwned: false }],
  isChosen: false,
  instead: false,
  fold: false,
  ...more,
});
const routing = (more: Partial<Routing>): Routing => ({
  enabled: true,
  channelRefs: [{ name: 'refs', severities: [] }],
  monitorNamespace: 'platform',
  cronJobNamespace: 'prod',
  ...more,
});
const all = { allowedNamespaces: ['*'] };
const told = (
  of: Routing,
  fault: Fault | undefined = noFault,
  channelOf: (name: string) => Admitting | undefined = () => all,
) => {
  const routes = routesOf(of, { ...warning, fault }, channelOf);
  return 'told' in routes ? routes.told.map(({ name, via }) => `${name} (${via})`) : [routes.notRouted];
};

test('besides channelRefs the first route hears that matches and of which a channel exists', () => {
  const routes = [open('gone'), open('late', { types: ['missedSchedule'] }), open('team'), open('later')];
  const exists = (name: string) => (name === 'gone' ? undefined : all);
  assert.deepEqual(told(routing({ routes }), noFault, exists), ['refs (channelRefs)', 'team (route team)']);
});

test('the annotation stands in the place of routes, but not of those that ask for the cause', () => {
  const routes = [open('team'), open('node', { causes: ['platform'] })];
  const of = routing({ routes, annotation: ['own'] });
  assert.deepEqual(told(of), ['refs (channelRefs)', 'own (annotation)']);
  assert.deepEqual(told(of, platform), ['refs (channelRefs)', 'node (route node)', 'own (annotation)']);
});

test('an annotation of which no channel can be told leaves the routes as they are', () => {
  const of = routing({ routes: [open('team')], annotation: ['typo'] });
  assert.deepEqual(
    told(of, noFault, (name) => (name === 'typo' ? undefined : all)),
    ['refs (channelRefs)', 'team (route team)'],
  );
});

test('instead leaves out channelRefs, and a route that asks for the cause leaves out the owner too', () => {
  const ofTeam = open('team', { instead: true });
  assert.deepEqual(told(routing({ routes: [ofTeam] })), ['team (route team)']);
  const ofNode = open('node', { causes: ['platform'], instead: true });
  const of = routing({ routes: [ofNode, open('team')], annotation: ['own'] });
  assert.deepEqual(told(of, platform), ['node (route node)']);
  const isInstead = (fault: Fault | undefined) => {
    const routes = routesOf(of, { ...warning, fault }, () => all);
    return 'told' in routes && routes.isInstead === true;
  };
  assert.deepEqual([isInstead(platform), isInstead(noFault)], [true, false]);
  assert.deepEqual(told(of), ['refs (channelRefs)', 'own (annotation)']);
  const isGone = (name: string) => (name === 'node' ? undefined : all);
  assert.deepEqual(
    told(of, platform, isGone),
    ['refs (channelRefs)', 'own (annotation)'],
    'what is not told stands for nothing',
  );
});

test('whom a channel admits: absent, monitors of all namespaces and no word of a CronJob', () => {
  const of = routing({
    routes: [
      open('plain', { causes: ['platform'] }),
      open('chosen', { causes: ['platform'], isChosen: true }),
      open('owned', { causes: ['platform'], channels: [{ name: 'owned', isOwned: true }] }),
    ],
    annotation: ['own'],
  });
  const reached = (allowedNamespaces: readonly string[] | undefined) =>
    told(of, platform, () => ({ allowedNamespaces }));
  const [refs, plain, chosen] = ['refs (channelRefs)', 'plain (route plain)', 'chosen (route chosen)'];
  assert.deepEqual(reached(undefined), [refs, plain, chosen]);
  assert.deepEqual(reached(['platform']), [refs, plain], 'the CronJob has chosen, and it is not admitted');
  assert.deepEqual(reached(['prod']), ['own (annotation)']);
  assert.deepEqual(reached(['plat*', 'prod']), [refs, plain, chosen, 'owned (route owned)', 'own (annotation)']);
  assert.deepEqual(reached([]), ['channelNotAllowed']);
});

test('a route that folds says of which cause and scope, also where another reason tells the channel', () => {
  const routes = [open('refs', { causes: ['platform'], fold: true })];
  const folded = routesOf(routing({ routes }), { ...warning, fault: platform }, () => all);
  assert.deepEqual('told' in folded && folded.told, [
    { name: 'refs', afterMs: 0, via: 'channelRefs', foldBy: { cause: 'platform', scope: 'node node-3' } },
  ]);
  const unscoped = routesOf(
    routing({ routes }),
    { ...warning, fault: { cause: 'platform', scope: undefined } },
    () => all,
  );
  assert.equal(
    'told' in unscoped && unscoped.told[0]?.foldBy,
    undefined,
    'what has no scope has nothing to be told with',
  );
});

const channelNames = ['a', 'b', 'c', 'd'] as const;
const anyRoute = fc.record({
  causes: fc.subarray(['platform', 'application'] as const),
  types: fc.subarray(['jobFailed', 'jobStuck'] as const),
  severities: fc.subarray([...severities]),
  channels: fc.array(fc.record({ name: fc.constantFrom(...channelNames), isOwned: fc.boolean() }), { maxLength: 2 }),
  isChosen: fc.boolean(),
  instead: fc.boolean(),
  fold: fc.boolean(),
});
const anyWorld = fc.record({
  refs: fc.array(fc.record({ name: fc.constantFrom(...channelNames), severities: fc.subarray([...severities]) }), {
    maxLength: 3,
  }),
  routes: fc.array(anyRoute, { maxLength: 4 }),
  annotation: fc.subarray([...channelNames]),
  channels: fc.dictionary(
    fc.constantFrom(...channelNames),
    fc.record({ allowedNamespaces: fc.option(fc.subarray(['platform', 'prod', 'pro*', 'dev']), { nil: undefined }) }),
  ),
  severity: fc.constantFrom(...severities),
  cause: fc.option(fc.constantFrom('platform', 'application'), { nil: undefined }),
});

test('10,000 random monitors: precedence and admission hold, whatever is named', () => {
  fc.assert(
    fc.property(anyWorld, ({ refs, routes, annotation, channels, severity, cause }) => {
      const named = routes.map((route, index) => ({ ...route, name: `r${index}` }));
      const fault = cause && ({ cause, scope: undefined } as const);
      const answer = routesOf(
        routing({ channelRefs: refs, routes: named, annotation }),
        { type: 'jobFailed', severity, fault },
        (name) => channels[name],
      );
      const heard = (name: string, words: readonly ('platform' | 'prod')[], needsList: boolean): boolean => {
        const channel = channels[name];
        if (!channel) return false;
        const list = channel.allowedNamespaces;
        if (!list) return !needsList;
        return words.every((word) => list.includes(word) || (word === 'prod' && list.includes('pro*')));
      };
      const takes = (wanted: readonly Severity[]) => wanted.length === 0 || wanted.includes(severity);
      const ofRoute = ({ channels: of, isChosen, name }: (typeof named)[number]): string[] =>
        of
          .filter((one) => heard(one.name, one.isOwned || isChosen ? ['platform', 'prod'] : ['platform'], one.isOwned))
          .map((one) => `${one.name} route ${name}`);
      const open = named.filter(
        (route) => (route.types.length === 0 || route.types.includes('jobFailed')) && takes(route.severities),
      );
      const about = open.filter((route) => cause !== undefined && route.causes.includes(cause));
      const takesOver = about.some((route) => route.instead && ofRoute(route).length > 0);
      const own = annotation.filter((name) => heard(name, ['prod'], true)).map((name) => `${name} annotation`);
      const other = open.find((route) => route.causes.length === 0 && ofRoute(route).length > 0);
      const stands = own.length === 0 && other?.instead === true;
      const ofRefs = refs
        .filter(({ name, severities: taken }) => takes(taken) && heard(name, ['platform'], false))
        .map(({ name }) => `${name} channelRefs`);
      const expected = [
        ...(takesOver || stands ? [] : ofRefs),
        ...about.flatMap(ofRoute),
        ...(takesOver ? [] : own.length > 0 ? own : other ? ofRoute(other) : []),
      ];
      const names = [...new Set(expected.map((one) => one.split(' ')[0]))];
      const found = 'told' in answer ? answer.told : [];
      assert.deepEqual(found.map(({ name }) => name).toSorted(), names.toSorted());
      for (const { name, via } of found) assert.ok(expected.includes(`${name} ${via}`), `${name} is told via ${via}`);
      for (const { name, reason } of answer.refused)
        assert.equal(reason === 'unknownChannel', channels[name] === undefined);
    }),
    { numRuns: 10_000 },
  );
});

const identity = { monitorUid: 'm', cronJobUid: 'c', type: 'slaBreached', subject: 'maxDuration' } as const;
test('each of the four parts of an identity tells alerts apart', () => {
  const others = [
    { ...identity, monitorUid: 'n' },
    { ...identity, cronJobUid: 'd' },
    { ...identity, type: 'jobStuck' as const, subject: 'notStarted' as const },
    { ...identity, subject: 'minDuration' as const },
    { ...identity, subject: undefined },
  ];
  const prints = [identity, ...others].map(fingerprintOf);
  assert.equal(new Set(prints).size, prints.length);
  assert.equal(fingerprintOf({ ...identity }), prints[0]);
});

test('two monitors that tell one channel of one condition share a collapse key', () => {
  assert.equal(collapseKeyOf('ch', identity), collapseKeyOf('ch', { ...identity }));
  assert.notEqual(collapseKeyOf('ch', identity), collapseKeyOf('other', identity));
});

test('a decision to tell has one key, however often it is replayed', () => {
  const decision = { alertId: 'a', kind: 'firing', notifyNo: 1, channelUid: 'ch' };
  assert.equal(dedupKeyOf(decision), dedupKeyOf({ ...decision }));
  assert.notEqual(dedupKeyOf(decision), dedupKeyOf({ ...decision, notifyNo: 2 }));
});

test('people know an alert by its last eight digits', () =>
  assert.equal(shortIdOf('019ab2c4-0000-7000-8000-00009f3c21aa'), '9f3c21aa'));
