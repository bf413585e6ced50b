import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aJob, eventsOf, jobsOf, startTrial } from './trial-cluster.ts';
import type { Job, Pod } from './controllers/batch-objects.ts';
import type { SimCluster } from './index.ts';

const jobOf = ({ objects }: SimCluster, name = 'run'): Job =>
  objects.find({ apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name }) as Job;
const podsOf = ({ objects }: SimCluster): Pod[] => objects.list({ apiVersion: 'v1', kind: 'Pod' }) as Pod[];
const endedBy = (pod: Pod | undefined): string => {
  const terminated = pod?.status.containerStatuses?.[0]?.state.terminated;
  return `${terminated?.exitCode} ${terminated?.reason}`;
};

describe('Jobs', () => {
  test('wait 10 s after a failed pod and twice as long after the next', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aJob('run', { play: { outcome: 'fail-first:2' }, job: { backoffLimit: 3 } }));
    clock.advanceBy(60_000);
    assert.deepEqual(jobsOf(cluster), ['run Complete']);
    const births = podsOf(cluster)
      .map(({ metadata }) => Date.parse(metadata.creationTimestamp))
      .toSorted((a, b) => a - b);
    assert.deepEqual(
      births.map((at) => Math.round((at - (births[0] ?? 0)) / 1_000)),
      [0, 11, 32],
    );
    assert.deepEqual([jobOf(cluster).status.succeeded, jobOf(cluster).status.failed], [1, 2]);
  });

  test('wait as long as the cluster is told to', async (t) => {
    const { cluster, clock } = await startTrial(t, { podBackOffMs: 1_000 });
    cluster.objects.put(aJob('run', { play: { outcome: 'fail-first:1', seconds: '0' } }));
    clock.advanceBy(6_000);
    assert.deepEqual(jobsOf(cluster), ['run Complete']);
  });

  test('are removed when their time to live is over', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aJob('run', { job: { ttlSecondsAfterFinished: 30 } }));
    clock.advanceBy(20_000);
    assert.deepEqual(jobsOf(cluster), ['run Complete']);
    clock.advanceBy(30_000);
    assert.deepEqual([jobsOf(cluster), podsOf(cluster)], [[], []]);
  });

  test('restart containers in place when the pod says so, and count it against their limit', async (t) => {
    const { cluster, clock } = await startTrial(t);
    const pod = { restartPolicy: 'OnFailure' };
    cluster.objects.put(
      aJob('well', { play: { outcome: 'fail-first:2', log: 'life {attempt}\n' }, job: { backoffLimit: 4 }, pod }),
    );
    cluster.objects.put(aJob('badly', { play: { outcome: 'exit:3' }, job: { backoffLimit: 1 }, pod }));
    clock.advanceBy(120_000);
    assert.deepEqual(jobsOf(cluster), ['badly Failed', 'well Complete']);
    const [well] = podsOf(cluster).filter(({ metadata }) => metadata.name.startsWith('well'));
    assert.equal(well?.status.containerStatuses?.[0]?.restartCount, 2);
    const log = cluster.logs.find('default', well?.metadata.name ?? '', 'main');
    assert.equal(Buffer.concat((log?.pieces ?? []).map(({ bytes }) => bytes)).toString(), 'life 3\n');
    assert.equal(Buffer.concat((log?.previous ?? []).map(({ bytes }) => bytes)).toString(), 'life 2\n');
  });

  test('play what one index is told apart from the others', async (t) => {
    const { cluster, clock } = await startTrial(t);
    const job = { completionMode: 'Indexed', completions: 3, parallelism: 3, backoffLimitPerIndex: 0 };
    cluster.objects.put(aJob('run', { play: { 'outcome-of-index.1': 'exit:7' }, job }));
    clock.advanceBy(20_000);
    assert.equal(jobOf(cluster).status.failedIndexes, '1');
    assert.equal(jobOf(cluster).status.completedIndexes, '0,2');
  });

  test('give up a pod that hangs at their deadline, and its node ends it by a signal', async (t) => {
    const { cluster, clock, ask, untilWatches } = await startTrial(t);
    cluster.objects.put(aJob('run', { play: { outcome: 'hang' }, job: { activeDeadlineSeconds: 5 } }));
    clock.advanceBy(3_000);
    const { metadata } = podsOf(cluster)[0] ?? { metadata: { name: '' } };
    const states: string[] = [];
    const answer = ask(
      'GET',
      `/api/v1/namespaces/default/pods?watch=1&timeoutSeconds=20&fieldSelector=metadata.name%3D${metadata.name}`,
    );
    await untilWatches(1);
    clock.advanceBy(30_000);
    for (const line of (await answer).text.trim().split('\n')) {
      const { type, object } = JSON.parse(line) as { type: string; object: Pod };
      states.push(`${type} ${object.status.phase} ${endedBy(object)}`);
    }
    assert.equal(states.at(-1), 'DELETED Failed 143 Error');
    assert.deepEqual(jobsOf(cluster), ['run Failed']);
    assert.match(eventsOf(cluster).join(), /Killing Stopping container main/);
  });

  test('have pods that a deletion finds waiting: they end as lost, and nothing is stopped', async (t) => {
    const { cluster, clock, ask, untilWatches } = await startTrial(t);
    cluster.objects.put(aJob('run', { play: { outcome: 'configerror' }, job: { backoffLimit: 0 } }));
    clock.advanceBy(2_000);
    const [pod] = podsOf(cluster);
    const path = `/api/v1/namespaces/default/pods`;
    const answer = ask('GET', `${path}?watch=true&timeoutSeconds=20`);
    await untilWatches(1);
    await ask('DELETE', `${path}/${pod?.metadata.name}`);
    clock.advanceBy(30_000);
    const [last] = (await answer).text.trim().split('\n').slice(-1);
    const { type, object } = JSON.parse(last ?? '{}') as { type: string; object: Pod };
    assert.deepEqual(
      [type, object.status.phase, object.status.containerStatuses?.[0]?.state],
      [
        'DELETED',
        'Failed',
        {
          terminated: {
            exitCode: 137,
            reason: 'ContainerStatusUnknown',
            message: 'The container could not be located when the pod was terminated',
            startedAt: null,
            finishedAt: null,
          },
        },
      ],
    );
    assert.deepEqual(jobsOf(cluster), ['run Failed']);
    assert.doesNotMatch(eventsOf(cluster).join(), /Killing/);
  });

  test('have containers whose command is not in their image: no process of them ever began', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aJob('once', { play: { outcome: 'starterror' }, job: { backoffLimit: 0 } }));
    const pod = { restartPolicy: 'OnFailure' };
    cluster.objects.put(aJob('again', { play: { outcome: 'starterror' }, job: { backoffLimit: 2 }, pod }));
    clock.advanceBy(15_000);
    const [again, once] = podsOf(cluster).map(({ status }) => status.containerStatuses?.[0]);
    assert.match(once?.state.terminated?.message ?? '', /\/opt\/run: no such file or directory/);
    assert.deepEqual(
      [once?.state.terminated?.exitCode, once?.state.terminated?.reason, once?.state.terminated?.startedAt],
      [128, 'StartError', '1970-01-01T00:00:00Z'],
    );
    assert.deepEqual([again?.restartCount, again?.lastState.terminated?.reason], [1, 'StartError']);
    assert.match(eventsOf(cluster).join('\n'), /Failed Error: failed to create containerd task/);
    assert.doesNotMatch(eventsOf(cluster).join('\n'), /Started/);
    clock.advanceBy(60_000);
    assert.deepEqual(jobsOf(cluster), ['again Failed', 'once Failed']);
  });

  test('have pods whose nodes tell what they do', async (t) => {
    const { cluster, clock } = await startTrial(t);
    cluster.objects.put(aJob('runs', { play: { seconds: '1' } }));
    cluster.objects.put(aJob('pulls', { play: { outcome: 'imagepull' } }));
    cluster.objects.put(aJob('named', { play: { outcome: 'imagename' } }));
    cluster.objects.put(aJob('waits', { play: { outcome: 'unschedulable' } }));
    clock.advanceBy(40_000);
    const events = eventsOf(cluster).join('\n');
    for (const told of [
      /Scheduled Successfully assigned default\/runs-\w+ to node-1/,
      /Started Container started/,
      /BackOff Back-off pulling image "busybox:1"/,
      /Failed Error: ImagePullBackOff/,
      /InspectFailed Failed to apply default image tag "busybox:1": couldn't parse image name/,
      /FailedScheduling 0\/1 nodes are available/,
    ]) {
      assert.match(events, told);
    }
    const phases = podsOf(cluster).map(({ metadata, status }) => `${metadata.name.split('-')[0]} ${status.phase}`);
    assert.deepEqual(phases, ['named Pending', 'pulls Pending', 'runs Succeeded', 'waits Pending']);
  });

  test('stay as they are put while the cluster does not run', async (t) => {
    const { cluster, clock } = await startTrial(t, { controllers: false });
    cluster.objects.put({ ...aJob('run'), status: { succeeded: 1 } });
    clock.advanceBy(60_000);
    assert.deepEqual([jobOf(cluster).status, podsOf(cluster)], [{ succeeded: 1 }, []]);
  });
});
