import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Cluster } from '@cronjob-monitor/shared/contract';
import { clusterMark, clusterNote, silentText } from './clusters.ts';
import { stateMarks } from './marks.ts';

const viewer = { nowMs: Date.parse('2026-11-21T14:15:00Z'), timeZone: 'UTC' };
const none = { critical: 0, warning: 0, failing: 0, unknown: 0, suspended: 0, healthy: 0 };
const cluster: Cluster = {
  name: 'eu-west',
  uid: null,
  home: false,
  schema: 'eu_west',
  schemaVersion: 12,
  lastSeenAt: '2026-11-21T14:14:48Z',
  live: true,
  actions: true,
  problem: null,
  states: { ...none, failing: 1, critical: 2, healthy: 30 },
  activeAlerts: 3,
};
const silent: Cluster = { ...cluster, live: false, lastSeenAt: '2026-11-21T14:03:00Z' };

describe('a cluster', () => {
  test('is as its worst CronJob, and what cannot be read is not known', () => {
    assert.equal(clusterMark(cluster), stateMarks.critical);
    assert.equal(clusterMark({ ...cluster, states: { ...none, suspended: 1, healthy: 3 } }), stateMarks.suspended);
    assert.equal(clusterMark({ ...cluster, states: none }).word, 'No CronJob');
    assert.deepEqual(clusterMark({ ...cluster, problem: 'x', states: none }), {
      ...stateMarks.unknown,
      word: 'Cannot be read',
    });
  });

  test('is told with what is wrong in it and when its controller was seen', () => {
    assert.equal(clusterNote(cluster, viewer), '2 critical, 1 failing; seen 12 s ago');
    assert.equal(
      clusterNote({ ...cluster, states: { ...none, healthy: 3 } }, viewer),
      '3 CronJobs, nothing wrong; seen 12 s ago',
    );
    assert.equal(clusterNote(silent, viewer), '2 critical, 1 failing; silent since 14:03 UTC');
    assert.match(clusterNote({ ...silent, lastSeenAt: null }, viewer), /its controller was never seen$/);
    assert.equal(
      clusterNote({ ...cluster, problem: 'its schema is of version 9.' }, viewer),
      'eu-west cannot be read: its schema is of version 9.',
    );
  });

  test('that is silent says of when all is that a page shows, and one that lives says nothing', () => {
    assert.equal(silentText(cluster, viewer), undefined);
    assert.equal(
      silentText(silent, viewer),
      'The controller of eu-west was last seen 14:03 UTC, 12 min ago; what is shown is of then.',
    );
    assert.equal(
      silentText({ ...silent, lastSeenAt: '2026-11-20T02:00:00Z' }, { ...viewer, timeZone: 'Europe/Zurich' }),
      'The controller of eu-west was last seen 20 Nov 03:00 Europe/Zurich, 36 h ago; what is shown is of then.',
    );
    assert.match(silentText({ ...silent, lastSeenAt: null }, viewer) ?? '', /never seen: nothing is known/);
  });
});
