import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchedKinds } from '@cronjob-monitor/shared/kube';
import { Exceptions } from './exceptions.ts';
import { hourMs, minuteMs, type CronJobStory, type Fate, type History, type Observation } from './history.ts';
import { playKubernetes } from './kubernetes.ts';
import type { Verdict } from './verdicts.ts';
import { World } from './world.ts';

const startAt = Date.UTC(2026, 10, 21);
const createdAt = startAt + minuteMs;
const dueAt = startAt + 3 * hourMs;

/** A CronJob whose first run ends so, whose second one is a success after the switch came due, and whose Jobs leave by themselves. */
function clusterAfter(
  fate: Fate,
  leaves: Pick<CronJobStory, 'ttlSeconds' | 'successLimit' | 'failureLimit'>,
): unknown[] {
  const run = { seconds: 60, exitCode: 1 };
  const cronJob: CronJobStory = {
    uid: '00000000-0000-4000-8000-000000000001',
    namespace: 'prod',
    name: 'first',
    tier: 'a',
    rhythm: { everyHours: 4, minute: 30 },
    policy: 'Forbid',
    suspend: false,
    createdAt,
    deletedAt: undefined,
    edits: [],
    runs: [
      { ...run, slotAt: startAt + 30 * minuteMs, fate },
      { ...run, slotAt: startAt + 30 * minuteMs + 4 * hourMs, fate: 'success' },
    ],
    ...leaves,
  };
  const history: History = {
    seed: 0,
    startAt,
    endAt: startAt + 6 * hourMs,
    namespaces: [],
    cronJobs: [cronJob],
    monitors: [],
  };
  const { changes, runs } = playKubernetes(history);
  assert.ok(runs.some(({ endedAt, outcome }) => outcome === 'success' && (endedAt ?? 0) > dueAt));
  const world = new World();
  for (const { apply } of changes.toSorted((a, b) => a.at - b.at)) apply(world);
  return watchedKinds.flatMap((kind) =>
    world.list(kind).map(({ metadata: { resourceVersion: _, ...metadata }, ...object }) => ({ ...object, metadata })),
  );
}

/**
 * Why `Exceptions` lets a dead-man's switch differ that came due before a CronJob had succeeded: `status.lastSuccessfulTime` names the newest
 * success alone. Whether one came before, so that nothing was to be told, is kept by its Job and by nothing else.
 */
test('a first success whose Job has left leaves the cluster that a failure leaves', () => {
  const atOnce = { ttlSeconds: 0, successLimit: 3, failureLimit: 3 };
  assert.deepEqual(clusterAfter('success', atOnce), clusterAfter('failure', atOnce));
  const newestOnly = { ttlSeconds: undefined, successLimit: 1, failureLimit: 0 };
  assert.deepEqual(clusterAfter('success', newestOnly), clusterAfter('failure', newestOnly));
});

test('a first success whose Job is kept can be told from a failure', () => {
  const kept = { ttlSeconds: undefined, successLimit: 3, failureLimit: 3 };
  assert.notDeepEqual(clusterAfter('success', kept), clusterAfter('failure', kept));
});

/**
 * A CronJob runs each week, with a success on the day before the monitor is made anew, and is deleted on the day after. `lostUntil`: the database is lost then.
 */
function allowsSilence(lostUntil: number, succeedsAgain = false): boolean {
  const seen = { expects: { seen: true } };
  const remadeAt = startAt + 30 * hourMs;
  const cronJob: CronJobStory = {
    uid: '00000000-0000-4000-8000-000000000001',
    namespace: 'prod',
    name: 'weekly',
    tier: 'a',
    rhythm: { everyHours: 168, minute: 60 },
    policy: 'Forbid',
    suspend: false,
    successLimit: 3,
    failureLimit: 1,
    ttlSeconds: undefined,
    createdAt: startAt - 24 * hourMs,
    deletedAt: startAt + 60 * hourMs,
    edits: succeedsAgain ? [{ at: startAt + 20 * hourMs, rhythm: { everyHours: 24, minute: 0 } }] : [],
    runs: [],
  };
  const monitor = { namespace: 'prod', name: 'by-tier', spec: seen, edits: [] };
  const history: History = {
    seed: 0,
    startAt,
    endAt: startAt + 72 * hourMs,
    namespaces: [],
    cronJobs: [cronJob],
    monitors: [
      {
        ...monitor,
        uid: '00000000-0000-4000-8000-000000000002',
        createdAt: startAt - 24 * hourMs,
        deletedAt: remadeAt,
      },
      { ...monitor, uid: '00000000-0000-4000-8000-000000000003', createdAt: remadeAt + minuteMs, deletedAt: undefined },
    ],
  };
  const disturbance = { kind: 'emptyDatabase', at: lostUntil - hourMs, untilAt: lostUntil } as const;
  const observation: Observation = { startsAt: startAt, disturbances: [disturbance] };
  const disappeared: Verdict = {
    identity: 'prod/by-tier prod/weekly absent/disappeared',
    monitor: 'prod/by-tier',
    cronJobUid: 'prod/weekly',
    type: 'absent',
    subject: 'disappeared',
    openedAt: startAt + 60 * hourMs,
    ended: 'open',
    endedAt: undefined,
    isTold: true,
  };
  return new Exceptions(history, playKubernetes(history), observation).allows(disappeared);
}

test('a database that is lost after a monitor was made anew takes with it what the monitor had seen succeed', () => {
  assert.equal(allowsSilence(startAt + 40 * hourMs), true);
  assert.equal(allowsSilence(startAt + 40 * hourMs, true), false, 'a success after that is seen by all');
  assert.equal(allowsSilence(startAt + 20 * hourMs), false, 'a monitor that is made anew later goes on');
});
