import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { StoredExecution } from '@cronjob-monitor/shared/store';
import { listStoredRuns } from './checker/index.ts';
import { namespace, until } from './harness/bench.ts';
import { failedStatus, nameOfSlot, putCronJob, putJob, putPod, setJobStatus, slotNumber } from './harness/objects.ts';
import { podsBegin, state, toRawPod, type PodOfTable } from './harness/pod-statuses.ts';
import { startServiceBench, type ServiceBench } from './harness/service-bench.ts';

const { ended, waits, runs, unknown } = state;

/** One failed Job: its pods in the order in which they are told, each again when it changes, and what its record must say. */
interface Case {
  readonly pods: readonly (PodOfTable & { readonly named?: string; readonly thenGone?: true })[];
  readonly exitCode: number | undefined;
  readonly reason: string;
  readonly jobReason?: string;
  readonly job?: Readonly<Record<string, unknown>>;
}

/** A pod with one container that ended so. */
const plain = (exitCode: number, reason?: string): Case => ({
  pods: [{ containers: [{ state: ended(exitCode, reason) }] }],
  exitCode,
  reason: reason ?? 'Error',
});
/** A pod that never got its container to run. */
const stuck = (reason: string): Case => ({
  pods: [{ phase: 'Pending', containers: [{ state: waits(reason) }] }],
  exitCode: undefined,
  reason,
  jobReason: 'DeadlineExceeded',
});
/** A pod that was taken away for a reason of the cluster, its container ended so. */
const disrupted = (disruption: string, exitCode?: number): Case => ({
  pods: [{ disruption, containers: [{ state: exitCode === undefined ? runs() : ended(exitCode) }] }],
  exitCode,
  reason: disruption,
});

const matrix: Readonly<Record<string, Case>> = {
  'exit 1': plain(1),
  'exit 2': plain(2),
  'exit 126': plain(126),
  'exit 127': plain(127),
  'exit 139, a segmentation fault': plain(139),
  'exit 143, a signal to end': plain(143),
  'exit 255': plain(255),
  '137 by memory': plain(137, 'OOMKilled'),
  '137 without a reason of memory is a kill': plain(137),
  'a command that is not there': plain(127, 'ContainerCannotRun'),
  'a container that could not be started': plain(128, 'StartError'),

  'a helper that ended well beside it': {
    pods: [
      {
        containers: [
          { name: 'helper', state: ended(0, undefined, 20) },
          { name: 'main', state: ended(3) },
        ],
      },
    ],
    exitCode: 3,
    reason: 'Error',
  },
  'the first of two to fail is the cause': {
    pods: [
      {
        containers: [
          { name: 'a', state: ended(137, 'Error', 30) },
          { name: 'b', state: ended(9, 'Error', 5) },
        ],
      },
    ],
    exitCode: 9,
    reason: 'Error',
  },
  'of two within a second memory is the cause': {
    pods: [
      {
        containers: [
          { name: 'a', state: ended(1) },
          { name: 'b', state: ended(137, 'OOMKilled') },
        ],
      },
    ],
    exitCode: 137,
    reason: 'OOMKilled',
  },
  'a sidecar that was ended with the pod': {
    pods: [
      {
        init: [{ name: 'proxy', state: ended(143, 'Error', 5) }],
        sidecars: ['proxy'],
        containers: [{ state: ended(5) }],
      },
    ],
    exitCode: 5,
    reason: 'Error',
  },
  'a sidecar alone that failed tells nothing': {
    pods: [
      {
        phase: 'Running',
        init: [{ name: 'proxy', state: ended(1) }],
        sidecars: ['proxy'],
        containers: [{ state: runs() }],
        deletedAt: 40,
      },
    ],
    exitCode: undefined,
    reason: 'DeadlineExceeded',
    jobReason: 'DeadlineExceeded',
  },

  'an init container': {
    pods: [{ init: [{ state: ended(6) }], containers: [{ state: waits('PodInitializing') }] }],
    exitCode: 6,
    reason: 'Error',
  },
  'the second init container': {
    pods: [
      {
        init: [
          { name: 'one', state: ended(0) },
          { name: 'two', state: ended(7, 'Error', 20) },
        ],
        containers: [{ state: waits('PodInitializing') }],
      },
    ],
    exitCode: 7,
    reason: 'Error',
  },
  'init containers that ended well': {
    pods: [{ init: [{ state: ended(0) }], containers: [{ state: ended(9) }] }],
    exitCode: 9,
    reason: 'Error',
  },
  'an init container in a crash loop': {
    pods: [
      {
        phase: 'Pending',
        init: [{ state: waits('CrashLoopBackOff'), lastState: ended(8), restartCount: 2 }],
        containers: [{ state: waits('PodInitializing') }],
      },
    ],
    exitCode: 8,
    reason: 'Error',
  },

  'a crash loop shows its end before the restart': {
    pods: [
      { phase: 'Running', containers: [{ state: waits('CrashLoopBackOff'), lastState: ended(4), restartCount: 3 }] },
    ],
    exitCode: 4,
    reason: 'Error',
  },
  'a crash loop by memory': {
    pods: [
      {
        phase: 'Running',
        containers: [{ state: waits('CrashLoopBackOff'), lastState: ended(137, 'OOMKilled'), restartCount: 1 }],
      },
    ],
    exitCode: 137,
    reason: 'OOMKilled',
  },
  'running again after a failed life': {
    pods: [{ phase: 'Running', containers: [{ state: runs(), lastState: ended(11), restartCount: 1 }] }],
    exitCode: 11,
    reason: 'Error',
    jobReason: 'DeadlineExceeded',
  },
  'the last life counts before the one before': {
    pods: [{ containers: [{ state: ended(2, 'Error', 30), lastState: ended(1), restartCount: 1 }] }],
    exitCode: 2,
    reason: 'Error',
  },

  'evicted, nothing known of its containers': {
    pods: [{ reason: 'Evicted' }],
    exitCode: undefined,
    reason: 'Evicted',
  },
  'evicted, its container killed': {
    pods: [{ reason: 'Evicted', containers: [{ state: ended(137) }] }],
    exitCode: 137,
    reason: 'Evicted',
  },
  'out of memory weighs more than evicted': {
    pods: [{ reason: 'Evicted', containers: [{ state: ended(137, 'OOMKilled') }] }],
    exitCode: 137,
    reason: 'OOMKilled',
  },
  'its node is lost': {
    pods: [{ phase: 'Unknown', reason: 'NodeLost', containers: [{ state: runs() }] }],
    exitCode: undefined,
    reason: 'NodeLost',
  },
  preempted: disrupted('PreemptionByScheduler', 143),
  drained: disrupted('EvictionByEvictionAPI', 137),
  'taken by a taint': disrupted('DeletionByTaintManager'),
  'ended by its node': disrupted('TerminationByKubelet', 137),
  'collected with its node': disrupted('DeletionByPodGC'),
  'a deadline of the pod itself': {
    pods: [{ reason: 'DeadlineExceeded', containers: [{ state: ended(143) }] }],
    exitCode: 143,
    reason: 'DeadlineExceeded',
  },

  'an image that cannot be pulled': stuck('ImagePullBackOff'),
  'an image that is refused': stuck('ErrImagePull'),
  'a name that is no image': stuck('InvalidImageName'),
  'a missing Secret': stuck('CreateContainerConfigError'),
  'no node has room': {
    pods: [{ phase: 'Pending', unscheduled: 'Unschedulable' }],
    exitCode: undefined,
    reason: 'Unschedulable',
    jobReason: 'DeadlineExceeded',
  },
  'an ordinary start that the deadline cut short': {
    ...stuck('ContainerCreating'),
    reason: 'DeadlineExceeded',
  },

  'no pod is left': { pods: [], exitCode: undefined, reason: 'BackoffLimitExceeded' },
  'of three failed pods the one that ended last': {
    pods: [
      { named: 'a', containers: [{ state: ended(1, 'Error', 10) }] },
      { named: 'b', createdAt: 30, containers: [{ state: ended(3, 'Error', 40) }] },
      { named: 'c', createdAt: 20, containers: [{ state: ended(2, 'Error', 25) }] },
    ],
    exitCode: 3,
    reason: 'Error',
  },
  'a failed pod before one that still runs': {
    pods: [
      { named: 'a', containers: [{ state: ended(12) }] },
      { named: 'b', phase: 'Running', createdAt: 30, containers: [{ state: runs() }] },
    ],
    exitCode: 12,
    reason: 'Error',
  },
  'the lowest failed index': {
    pods: [
      { named: 'five', index: 5, containers: [{ state: ended(5, 'Error', 40) }] },
      { named: 'two', index: 2, containers: [{ state: ended(22) }] },
    ],
    job: { failedIndexes: '2,5' },
    exitCode: 22,
    reason: 'Error',
    jobReason: 'FailedIndexes',
  },

  'memory that the kubelet knows of a moment after the end': {
    pods: [
      { phase: 'Running', containers: [{ state: ended(137) }] },
      { containers: [{ state: ended(137, 'OOMKilled') }] },
    ],
    exitCode: 137,
    reason: 'OOMKilled',
  },

  'a pod that is gone by the end of the Job': {
    pods: [{ containers: [{ state: ended(15) }], thenGone: true }],
    exitCode: 15,
    reason: 'Error',
  },
  'a pod that failed, and was killed with its other containers afterwards': {
    pods: [
      {
        phase: 'Running',
        containers: [
          { name: 'a', state: ended(16) },
          { name: 'b', state: runs() },
        ],
      },
      {
        deletedAt: 60,
        containers: [
          { name: 'a', state: ended(16) },
          { name: 'b', state: ended(137, 'Error', 5) },
        ],
        thenGone: true,
      },
    ],
    exitCode: 16,
    reason: 'Error',
    jobReason: 'DeadlineExceeded',
  },
  'an ordinary start that was killed with its pod': {
    pods: [
      { phase: 'Pending', containers: [{ state: waits('ContainerCreating') }] },
      { deletedAt: 60, containers: [{ state: unknown() }], thenGone: true },
    ],
    exitCode: undefined,
    reason: 'DeadlineExceeded',
    jobReason: 'DeadlineExceeded',
  },
  'a pod that waited for its image until it was taken away': {
    pods: [
      { phase: 'Pending', containers: [{ state: waits('ImagePullBackOff') }] },
      { deletedAt: 60, containers: [{ state: unknown() }], thenGone: true },
    ],
    exitCode: undefined,
    reason: 'ImagePullBackOff',
    jobReason: 'DeadlineExceeded',
  },
};

/** F22: exit code and reason of failed Jobs, from what the cluster says of their pods. */
describe('F22, the matrix of exit codes', () => {
  let bench: ServiceBench;
  const rows = new Map<string, StoredExecution>();

  before(async () => {
    bench = await startServiceBench({ controllers: false });
    const { sim, store } = bench;
    const owner = putCronJob(sim, 'matrix');
    for (const [number, one] of Object.values(matrix).entries()) {
      const indexed = one.job?.['failedIndexes'] !== undefined;
      const job = putJob(sim, owner, {
        slotAt: slotNumber(number),
        ...(indexed && { spec: { completionMode: 'Indexed', completions: 6 } }),
      });
      for (const { named = 'pod', thenGone, ...pod } of one.pods) {
        const name = `${job.metadata.name}-${named}`;
        putPod(sim, job, { name, ...toRawPod(pod) });
        if (thenGone) sim.objects.remove({ apiVersion: 'v1', kind: 'Pod', namespace, name });
      }
    }
    // The pods are told before their Jobs, as a cluster does it; which of the two streams is read first is another matter.
    for (const [number, one] of Object.values(matrix).entries()) {
      const status = { ...failedStatus(podsBegin + 100_000, podsBegin, one.jobReason), ...one.job };
      setJobStatus(sim, nameOfSlot(owner, slotNumber(number)), status);
    }
    const names = new Map(Object.keys(matrix).map((title, number) => [nameOfSlot(owner, slotNumber(number)), title]));
    const isRight = (title: string, row: StoredExecution | undefined): boolean =>
      row?.exitCode === matrix[title]?.exitCode && row?.reason === matrix[title]?.reason;
    // A row may be there a moment before its exit code is.
    await until(
      'all are recorded',
      async () => {
        for (const row of await listStoredRuns(store)) rows.set(names.get(row.jobName) ?? '', row);
        return Object.keys(matrix).every((title) => isRight(title, rows.get(title)));
      },
      10_000,
    ).catch(() => {}); // each case tells what is wrong
  });
  after(() => bench.close());

  for (const [title, { exitCode, reason, jobReason = 'BackoffLimitExceeded' }] of Object.entries(matrix)) {
    test(title, () => {
      const row = rows.get(title);
      assert.deepEqual(
        { status: row?.status, exitCode: row?.exitCode, reason: row?.reason, jobReason: row?.jobReason },
        { status: 'failed', exitCode, reason, jobReason },
      );
    });
  }

  test('there are 40 cases and more, each with one row', async () => {
    assert.ok(Object.keys(matrix).length >= 40);
    assert.equal((await listStoredRuns(bench.store)).length, Object.keys(matrix).length);
  });

  test('that memory ran out is recorded too when the pod says so after its run was recorded without it', async () => {
    const { sim, store } = bench;
    const job = putJob(sim, putCronJob(sim, 'late-word'), { slotAt: slotNumber(1) });
    const tell = (reason: string): void => {
      putPod(sim, job, { name: `${job.metadata.name}-pod`, ...toRawPod(plain(137, reason).pods[0] ?? {}) });
    };
    const recordedAs = (reason: string): Promise<void> =>
      until(
        `it is recorded as ${reason}`,
        async () =>
          (await listStoredRuns(store)).find(({ jobName }) => jobName === job.metadata.name)?.reason === reason,
        10_000,
      );
    tell('Error');
    setJobStatus(sim, job.metadata.name, failedStatus(podsBegin + 100_000, podsBegin));
    await recordedAs('Error');
    tell('OOMKilled');
    await recordedAs('OOMKilled');
  });
});
