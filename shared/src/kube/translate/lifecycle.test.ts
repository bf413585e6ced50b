import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  judgeVanished,
  nextSnapshot,
  slotOf,
  toExecution,
  type CronJobFacts,
  type Execution,
  type JobFacts,
  type JobSnapshot,
  type PodFacts,
} from '../../domain/index.ts';
import { goldenCases, watchedLines, type GoldenCase } from '../../testing/index.ts';
import { createTranslator } from './translator.ts';

type Raw = Readonly<Record<string, unknown>>;

const cases = new Map(goldenCases('cronjob-lifecycle').map((scenario) => [scenario.name, scenario]));

interface Watched {
  readonly jobs: ReadonlyMap<string, JobSnapshot>;
  readonly pods: readonly PodFacts[];
  readonly cronJobs: ReadonlyMap<string, CronJobFacts>;
}

/** What a watcher knows in the end: the last state of every Job and pod, gone ones included. */
function watched(scenario: GoldenCase): Watched {
  const translate = createTranslator();
  const epoch = Date.parse(scenario.epoch);
  const jobs = new Map<string, JobSnapshot>();
  for (const { at, type, object } of watchedLines(scenario, 'jobs')) {
    const { uid } = object['metadata'] as { uid: string };
    const job = translate.job(object, jobs.get(uid)?.job);
    if (!job) continue;
    const gone = type === 'DELETED' ? { at: epoch + at, seen: true } : undefined;
    jobs.set(job.uid, nextSnapshot(jobs.get(job.uid), { job, gone }));
  }
  const pods = new Map<string, PodFacts>();
  for (const { object } of watchedLines(scenario, 'pods')) {
    const pod = translate.pod(object);
    if (pod) pods.set(pod.uid, pod);
  }
  const cronJobs = new Map<string, CronJobFacts>();
  for (const { type, object } of watchedLines(scenario, 'cronjobs')) {
    const cronJob = translate.cronJob(object);
    if (cronJob && type !== 'DELETED') cronJobs.set(cronJob.uid, cronJob);
  }
  return { jobs, pods: [...pods.values()], cronJobs };
}

/** The executions of a scenario in the order of their Jobs, two minutes after its last event. */
function executionsOf(scenario: GoldenCase): Execution[] {
  const { jobs, pods, cronJobs } = watched(scenario);
  const all = [...jobs.values()].map(({ job }) => job);
  const now = Date.parse(scenario.epoch) + 10 * 60_000;
  return [...jobs.values()].flatMap(({ job, gone }) => {
    const policy = cronJobs.get(job.cronJobUid)?.policy;
    const vanishing = gone && judgeVanished(job, gone, all, { policy, now });
    const vanished = gone && vanishing && 'status' in vanishing ? { status: vanishing.status, at: gone.at } : undefined;
    const otherClaims = all.flatMap((other) => {
      const slotAt = slotOf(other);
      return other.uid === job.uid || slotAt === undefined
        ? []
        : [{ jobUid: other.uid, jobName: other.name, slotAt, createdAt: other.createdAt }];
    });
    const own = pods.filter((pod) => pod.jobUid === job.uid);
    const run = toExecution(job, own, { otherClaims, vanished, delayed: false, inMaintenance: false });
    return run ? [run] : [];
  });
}

/** [scenario, its runs: trigger, status, exit code, reason, reason of the Job, pods, failed indexes] */
type Run = [string, string, number | undefined, string | undefined, string | undefined, number, string?];
const ok: Run = ['scheduled', 'success', undefined, undefined, 'CompletionsReached', 1];
const scenarios: [string, Run[]][] = [
  ['success', [ok, ok]],
  ['retry-then-success', [['scheduled', 'success', undefined, undefined, 'CompletionsReached', 2]]],
  ['retry-twice-then-success', [['scheduled', 'success', undefined, undefined, 'CompletionsReached', 3]]],
  ['backoff-limit-exceeded', [['scheduled', 'failed', 3, 'Error', 'BackoffLimitExceeded', 3]]],
  ['deadline-exceeded', [['scheduled', 'failed', undefined, 'DeadlineExceeded', 'DeadlineExceeded', 1]]],
  ['pod-failure-policy-failjob', [['scheduled', 'failed', 42, 'Error', 'PodFailurePolicy', 1]]],
  ['indexed-success', [['scheduled', 'success', undefined, undefined, 'CompletionsReached', 3]]],
  ['indexed-success-policy', [['scheduled', 'success', undefined, undefined, 'SuccessPolicy', 4, '0']]],
  ['indexed-success-policy-lost', [['scheduled', 'failed', 1, 'Error', 'FailedIndexes', 3, '0']]],
  ['indexed-failed-indexes', [['scheduled', 'failed', 1, 'Error', 'FailedIndexes', 3, '0']]],
  ['indexed-max-failed-indexes', [['scheduled', 'failed', 1, 'Error', 'MaxFailedIndexesExceeded', 3, '0-2']]],
  ['job-suspend-resume', [['scheduled', 'success', undefined, undefined, 'CompletionsReached', 2]]],
  ['oom', [['scheduled', 'failed', 137, 'OOMKilled', 'BackoffLimitExceeded', 1]]],
  [
    'config-error-then-deadline',
    [['scheduled', 'failed', undefined, 'CreateContainerConfigError', 'DeadlineExceeded', 1]],
  ],
  ['evicted', [['scheduled', 'failed', undefined, 'Evicted', 'BackoffLimitExceeded', 1]]],
  ['replace-policy', [['scheduled', 'replaced', undefined, undefined, undefined, 1]]],
  ['forbid-long-run', [ok]],
  ['allow-overlap', [ok]],
  ['delete-orphan', []],
  ['history-limit-zero-failed', [['scheduled', 'failed', 1, 'Error', 'BackoffLimitExceeded', 1]]],
  ['history-limit-zero-success', [ok]],
  ['manual-job', [['manual', 'success', undefined, undefined, 'CompletionsReached', 1]]],
  ['resume-catches-up', [ok]],
  ['suspend-while-running', [ok]],
  ['delete-foreground', [['scheduled', 'deleted', undefined, undefined, undefined, 1]]],
  ['delete-job-while-running', [['scheduled', 'deleted', undefined, undefined, undefined, 1]]],
  ['recreate-same-name', [ok]],
  ['too-many-missed', [ok]],
  ['edited-schedule', [ok]],
  ['time-zone', [ok]],
  ['quota-blocked', []],
  ['starts-suspended-job', [ok]],
  ['long-name', [ok]],
];

for (const [name, runs] of scenarios) {
  test(`a real cluster: ${name}`, () => {
    const scenario = cases.get(name);
    assert.ok(scenario, 'the scenario is recorded');
    const found = executionsOf(scenario).map(
      ({ trigger, status, exitCode, reason, jobReason, attempts, failedIndexes }): Run =>
        failedIndexes === undefined
          ? [trigger, status, exitCode, reason, jobReason, attempts]
          : [trigger, status, exitCode, reason, jobReason, attempts, failedIndexes],
    );
    assert.deepEqual(found, runs);
  });
}

/** The last state of each Job as an independent reader sees it: its raw conditions. */
function rawEnds(scenario: GoldenCase): Map<string, { status: string; endedAt: number }> {
  const ends = new Map<string, { status: string; endedAt: number }>();
  for (const { object } of watchedLines(scenario, 'jobs')) {
    const { metadata, status } = object as { metadata: { uid: string }; status: Raw };
    for (const condition of (status['conditions'] ?? []) as {
      type: string;
      status: string;
      lastTransitionTime: string;
    }[]) {
      if (condition.status !== 'True') continue;
      if (condition.type === 'Complete') {
        ends.set(metadata.uid, { status: 'success', endedAt: Date.parse(status['completionTime'] as string) });
      }
      if (condition.type === 'Failed') {
        ends.set(metadata.uid, { status: 'failed', endedAt: Date.parse(condition.lastTransitionTime) });
      }
    }
  }
  return ends;
}

test('in every recorded scenario outcome and end are those of the terminal condition, once per Job', () => {
  let compared = 0;
  for (const scenario of cases.values()) {
    const ends = rawEnds(scenario);
    const runs = executionsOf(scenario).filter(({ status }) => status === 'success' || status === 'failed');
    assert.deepEqual(
      new Map(runs.map((run) => [run.jobUid, { status: run.status, endedAt: run.finishedAt }])),
      ends,
      scenario.name,
    );
    compared += ends.size;
  }
  assert.ok(compared >= 25, `${compared} ends`);
});

test('a Job that lost its CronJob is one of a group, unless it was known as a run before', () => {
  const scenario = cases.get('delete-orphan');
  assert.ok(scenario);
  const translate = createTranslator();
  const lines = watchedLines(scenario, 'jobs');
  const [first, last] = [lines[0], lines.at(-1)];
  assert.ok(first && last);
  assert.match(translate.job(last.object)?.cronJobName ?? '', /^~/);
  const known = translate.job(first.object);
  assert.equal(translate.job(last.object, known)?.cronJobUid, known?.cronJobUid);
  assert.ok(known);
  assert.match(translate.job(last.object, { ...known, uid: 'another' })?.cronJobName ?? '', /^~/);
});

test('a Job and the template of its CronJob have one hash, and its runs share it', () => {
  for (const scenario of cases.values()) {
    const { jobs, cronJobs } = watched(scenario);
    for (const { job } of jobs.values()) {
      const cronJob = cronJobs.get(job.cronJobUid);
      if (cronJob && !job.manual) assert.equal(job.templateHash, cronJob.templateHash, scenario.name);
    }
  }
});

test('the slot of every scheduled Job lies in its annotation and in its name', () => {
  for (const scenario of cases.values()) {
    for (const { job } of watched(scenario).jobs.values()) {
      if (job.manual) continue;
      const byAnnotation = slotOf(job);
      assert.ok(byAnnotation !== undefined, scenario.name);
      const byName = slotOf({ ...job, slotAt: undefined });
      assert.equal(byName, Math.floor(byAnnotation / 60_000) * 60_000, scenario.name);
    }
  }
});

test('a Job read from a list is the Job that the watch brought', () => {
  for (const scenario of cases.values()) {
    const last = [...watched(scenario).jobs.values()].filter(({ gone }) => !gone).map(({ job }) => job);
    const translate = createTranslator();
    const list = scenario.steps.findLast(({ request }) => request.method === 'GET' && request.path.endsWith('/jobs'));
    const items = (list?.response.body as { items?: Raw[] } | undefined)?.items ?? [];
    const known = new Map<unknown, JobFacts>(last.map((job) => [job.uid, job]));
    const uidOf = (item: Raw): unknown => (item['metadata'] as { uid?: unknown } | undefined)?.uid;
    const listed = new Map(items.map((item) => [uidOf(item), translate.job(item, known.get(uidOf(item)))]));
    for (const job of last) if (listed.has(job.uid)) assert.deepEqual(listed.get(job.uid), job, scenario.name);
  }
});
