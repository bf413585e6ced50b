import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { failureCauses } from '../../contract/index.ts';
import type { Transcript } from '../../testing/fault-runs.ts';
import { transcripts } from '../../testing/fault-transcripts.ts';
import { aContainer, anEnd } from '../../testing/facts.ts';
import { hasRun } from './attempts.ts';
import { type Fault, faultInWords, faultOfMiss, faultOfRun } from './fault.ts';

const judge = ({ job, pods, events }: Transcript): Fault | undefined => faultOfRun(job, pods, { events });

/** The evidence says something else than what happened: no rule could know. */
const misleading = new Set([
  'a child process that ran out of memory, told by its parent alone',
  'a volume that two nodes want',
  'a node without network, told by the program alone',
]);

for (const transcript of transcripts.filter(({ says }) => !misleading.has(says))) {
  const { says, truth, scope } = transcript;
  test(`${says}: ${truth ?? 'nothing tells'}`, () => {
    const found = judge(transcript);
    assert.deepEqual([found?.cause ?? null, found?.scope ?? null], [truth, scope]);
  });
}

/** What stands beside the evidence in every cluster, and changes nothing in whose fault it is. */
const besides: Readonly<Record<string, (told: Transcript) => Transcript>> = {
  'among the events of every pod': (told) => ({
    ...told,
    events: [
      { reason: 'SuccessfulCreate', message: 'Created pod: report-29920793-x7k2p' },
      { reason: 'Scheduled', message: 'Successfully assigned prod/report-29920793-x7k2p to node-3' },
      { reason: 'Pulling', message: 'Pulling image "registry.example.com/team/report:1.4"' },
      ...told.events,
      { reason: 'Killing', message: 'Stopping container main' },
    ],
  }),
  // In a pod of which nothing has run, none has ended either.
  'beside a container that ended well': (told) => ({
    ...told,
    pods: told.pods.map((pod) => {
      const end = { ...anEnd(0), startedAt: pod.createdAt, finishedAt: pod.createdAt + 1_000 };
      const helper = aContainer({ name: 'proxy', terminated: end, startedAt: pod.createdAt });
      return pod.containers.some(hasRun) ? { ...pod, containers: [...pod.containers, helper] } : pod;
    }),
  }),
  'after an attempt that was deleted': (told) => ({
    ...told,
    pods: told.pods.flatMap((pod) => [
      { ...pod, uid: `${pod.uid}-0`, name: `${pod.name}-0`, createdAt: pod.createdAt - 60_000 },
      pod,
    ]),
  }),
};

for (const [beside, add] of Object.entries(besides))
  test(`500 transcripts: ${beside} it is the same`, () => {
    const differ = transcripts
      .filter(({ says }) => !misleading.has(says))
      .flatMap((transcript) => {
        const [alone, found] = [judge(transcript), judge(add(transcript))];
        return isDeepStrictEqual(alone, found)
          ? []
          : [`${transcript.says}: ${JSON.stringify(alone)}, ${JSON.stringify(found)}`];
      });
    assert.deepEqual(differ, []);
  });

test('of each class at least 95 of 100 transcripts are found, and at least 9 of 10 that are said to belong to it do', () => {
  assert.ok(transcripts.length >= 500, `${transcripts.length} transcripts`);
  const told = transcripts.map((transcript) => ({ truth: transcript.truth, found: judge(transcript)?.cause ?? null }));
  for (const cause of failureCauses) {
    const right = told.filter(({ truth, found }) => truth === cause && found === cause).length;
    const recall = right / told.filter(({ truth }) => truth === cause).length;
    const precision = right / told.filter(({ found }) => found === cause).length;
    assert.ok(recall >= 0.95 && precision >= 0.9, `${cause}: recall ${recall}, precision ${precision}`);
  }
});

test('a run that was not started is the fault of what refused its Job, or of the cluster when nothing was started at all', () => {
  const refused = (message: string) => faultOfMiss('createRejected', message, 'prod');
  assert.deepEqual(faultOfMiss('controllerSilent', undefined, 'prod'), { cause: 'platform', scope: 'cluster' });
  assert.deepEqual(
    refused(
      'Error creating job: jobs.batch "report-1" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1, used: count/jobs.batch=5, limited: count/jobs.batch=5',
    ),
    { cause: 'capacity', scope: 'namespace prod' },
  );
  assert.deepEqual(
    refused(
      'Error creating job: Internal error occurred: failed calling webhook "jobs.example.com": failed to call webhook: Post "https://jobs.example.svc:443/?timeout=10s": EOF',
    ),
    { cause: 'platform', scope: 'webhook jobs.example.com' },
  );
  assert.deepEqual(
    refused('Error creating job: jobs.batch "report-1" is forbidden: not today')?.cause,
    'configuration',
  );
  assert.equal(faultOfMiss('previousRunning', undefined, 'prod'), undefined);
  assert.equal(faultOfMiss('deadlinePassed', undefined, 'prod'), undefined);
});

test('a fault is said with what else it concerns, where that is known', () => {
  assert.equal(faultInWords({ cause: 'platform', scope: 'node node-3' }), 'platform, node node-3');
  assert.equal(faultInWords({ cause: 'application', scope: undefined }), 'application');
});

test('a text of the greatest length that matches nothing is read in no time to speak of', () => {
  const { events, ...waiting } =
    transcripts.find(({ says }) => says === 'a refusal in words of its own') ?? assert.fail();
  for (const text of [
    '"'.repeat(20_000),
    '500 '.repeat(5_000),
    `admission webhook "${'a'.repeat(20_000)}`,
    'failed '.repeat(3_000),
  ]) {
    assert.equal(judge({ ...waiting, events: [{ reason: events[0]?.reason ?? '', message: text }] }), undefined);
  }
});
