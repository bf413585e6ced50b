import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRandom } from '../random.ts';
import type { Job, Pod } from './batch-objects.ts';
import { Counters, isPlayed, scriptOf } from './pod-script.ts';

const metadata = { namespace: 'n', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const owner = (kind: string, uid: string): object => ({
  apiVersion: 'batch/v1',
  kind,
  name: 'o',
  uid,
  controller: true,
});
const jobOf = (uid: string): Job =>
  ({
    kind: 'Job',
    metadata: { ...metadata, name: uid, uid, ownerReferences: [owner('CronJob', 'c')] },
  }) as unknown as Job;
const podOf = (uid: string, job: string, notes: Record<string, string>, prefix = 'sim.cronjob-monitor.io/'): Pod =>
  ({
    kind: 'Pod',
    metadata: {
      ...metadata,
      name: uid,
      uid,
      annotations: Object.fromEntries(Object.entries(notes).map(([name, value]) => [prefix + name, value])),
      ownerReferences: [owner('Job', job)],
    },
    spec: { containers: [{ name: 'main' }] },
    status: { phase: 'Pending' },
  }) as unknown as Pod;

function aPlayer(): (pod: Pod, job: string) => string {
  const deps = { runs: new Counters(), pods: new Counters(), random: createRandom(1) };
  return (pod, job) => {
    const { outcome } = scriptOf(pod, jobOf(job), deps);
    return outcome.kind === 'exit' ? `${outcome.code} ${outcome.reason}` : outcome.kind;
  };
}

describe('the script of a pod', () => {
  test('has another log for a pod that does not succeed', () => {
    const deps = { runs: new Counters(), pods: new Counters(), random: createRandom(1) };
    const logOf = (outcome: string, notes: Record<string, string>): string | undefined =>
      scriptOf(podOf(outcome, 'j', { outcome, ...notes }), jobOf('j'), deps).log;
    const both = { log: 'done', 'log-of-failure': 'error' };
    assert.deepEqual([logOf('success', both), logOf('exit:0', both), logOf('exit:1', both)], ['done', 'done', 'error']);
    assert.deepEqual([logOf('oom', both), logOf('oom', { log: 'done' })], ['error', 'done']);
  });

  test('says how it ends, under either prefix', () => {
    const play = aPlayer();
    const ends = {
      success: '0 Completed',
      'exit:7': '7 Error',
      oom: '137 OOMKilled',
      starterror: 'start-error',
      hang: 'hang',
      evicted: 'evicted',
      imagepull: 'waiting',
      imagename: 'waiting',
      unschedulable: 'unschedulable',
    };
    for (const [outcome, end] of Object.entries(ends)) {
      assert.equal(play(podOf('p', 'j', { outcome }), 'j'), end);
      assert.equal(play(podOf('p', 'j', { outcome }, 'bar/'), 'j'), end);
    }
    assert.equal(play(podOf('p', 'j', {}), 'j'), '0 Completed');
  });

  test('takes turns from run to run, not from pod to pod', () => {
    const play = aPlayer();
    const outcome = 'success, exit:1';
    const ends = ['j1', 'j1', 'j2', 'j3'].map((job, index) => play(podOf(`p${index}`, job, { outcome }), job));
    assert.deepEqual(ends, ['0 Completed', '0 Completed', '1 Error', '0 Completed']);
  });

  test('fails in the first pods of a Job when told so', () => {
    const play = aPlayer();
    const ends = ['a', 'b', 'c'].map((pod) => play(podOf(pod, 'j', { outcome: 'retrythen:2' }), 'j'));
    assert.deepEqual(ends, ['1 Error', '1 Error', '0 Completed']);
  });

  test('picks a length from a range', () => {
    const deps = { runs: new Counters(), pods: new Counters(), random: createRandom(1) };
    const lengths = Array.from(
      { length: 50 },
      () => scriptOf(podOf('p', 'j', { seconds: '20-40' }), undefined, deps).seconds,
    );
    assert.ok(lengths.every((seconds) => seconds >= 20 && seconds <= 40));
    assert.ok(new Set(lengths).size > 10);
    assert.equal(scriptOf(podOf('p', 'j', { seconds: '3' }), undefined, deps).seconds, 3);
    assert.equal(scriptOf(podOf('p', 'j', {}), undefined, deps).seconds, 1);
  });

  test('is played for pods of Jobs and for pods that have one', () => {
    const bare = { kind: 'Pod', metadata, spec: {}, status: {} } as unknown as Pod;
    assert.equal(isPlayed(bare), false);
    assert.equal(isPlayed(podOf('p', 'j', {})), true);
    assert.equal(isPlayed({ ...bare, metadata: { ...bare.metadata, annotations: { 'bar/log': 'x' } } }), true);
  });
});
