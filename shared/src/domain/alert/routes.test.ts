import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collapseKeyOf, dedupKeyOf, fingerprintOf, shortIdOf } from './identity.ts';
import { routesOf } from './routes.ts';

const refs = [
  { name: 'team-chat', severities: ['critical', 'warning'] as const },
  { name: 'on-call', severities: ['critical'] as const },
];
const exists = (name: string) => name !== 'oncal';

test('an alert goes to the channels that take its severity', () => {
  assert.deepEqual(routesOf({ enabled: true, channelRefs: refs }, 'warning', exists), {
    told: [{ name: 'team-chat', afterMs: 0 }],
    unknown: [],
  });
  assert.deepEqual(routesOf({ enabled: true, channelRefs: refs }, 'critical', exists), {
    told: [
      { name: 'team-chat', afterMs: 0 },
      { name: 'on-call', afterMs: 0 },
    ],
    unknown: [],
  });
});

test('no severities means both', () => {
  const channelRefs = [{ name: 'all', severities: [] }];
  assert.deepEqual(routesOf({ enabled: true, channelRefs }, 'warning', exists), {
    told: [{ name: 'all', afterMs: 0 }],
    unknown: [],
  });
});

test('an unknown channel is named, and does not keep the others from hearing', () => {
  const channelRefs = [...refs, { name: 'oncal', severities: [] }];
  assert.deepEqual(routesOf({ enabled: true, channelRefs }, 'warning', exists), {
    told: [{ name: 'team-chat', afterMs: 0 }],
    unknown: ['oncal'],
  });
});

test('a channel that is named twice is told once, at the earlier of its turns', () => {
  const of = { name: 'on-call', severities: [] };
  const channelRefs = [
    { ...of, afterMs: 900_000 },
    { ...of, afterMs: 60_000 },
  ];
  assert.deepEqual(routesOf({ enabled: true, channelRefs }, 'warning', exists), {
    told: [{ name: 'on-call', afterMs: 60_000 }],
    unknown: [],
  });
});

for (const [reason, alerting] of [
  ['alertingDisabled', undefined],
  ['alertingDisabled', { enabled: false, channelRefs: refs }],
  ['noChannel', { enabled: true, channelRefs: [] }],
  ['severityNotRouted', { enabled: true, channelRefs: [{ name: 'on-call', severities: ['critical'] as const }] }],
  ['unknownChannel', { enabled: true, channelRefs: [{ name: 'oncal', severities: [] }] }],
] as const) {
  test(`nobody is told: ${reason}`, () => {
    const routes = routesOf(alerting, 'warning', exists);
    assert.equal('notRouted' in routes && routes.notRouted, reason);
  });
}

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
