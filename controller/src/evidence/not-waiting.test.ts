import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Evidence } from '@cronjob-monitor/shared/domain';
import {
  aContainer,
  aFailedJob,
  anEnd,
  aPod,
  FakeClock,
  RecordingLogger,
  settle,
} from '@cronjob-monitor/shared/testing';
import { anAlertingFixture } from '../testing/alerting-fixture.ts';
import { createEvidenceBook } from './book.ts';
import { createCapture } from './capture.ts';
import { createReadPool } from './read-pool.ts';
import { createTemplateKeeping } from './template-keeping.ts';

test('what explains a run is there before the database has taken it', async (context) => {
  const job = aFailedJob();
  const pods = [
    aPod({ jobUid: job.uid, phase: 'Failed', containers: [aContainer({ name: 'main', terminated: anEnd(1) })] }),
  ];
  const book = createEvidenceBook();
  const database = Promise.withResolvers<void>();
  const kept: Evidence[] = [];
  const capture = createCapture({
    cluster: {
      readLog: async () =>
        (async function* () {
          yield Buffer.from('no space left on device\n');
        })(),
    } as never,
    pool: createReadPool({ concurrency: 2, perNode: 2 }),
    eventReader: { read: async () => [] },
    clock: new FakeClock(),
    logger: new RecordingLogger(),
    readTimeoutMs: 1_000,
    maxAttempts: 3,
    redaction: {
      log: async (bytes) => ({ text: Buffer.from(bytes).toString(), truncated: false }),
      messages: async (messages) => [...messages],
    },
    keep: async (pieces) => {
      await database.promise;
      kept.push(...pieces);
    },
    book,
    onRead: () => {},
    background: (_name, work) => void work.catch(() => {}),
    signal: context.signal,
  });
  const wishes = { logs: true, events: true, explain: true, maxLogBytes: 1_024, container: undefined };
  capture.request({
    job,
    pods,
    execution: { jobUid: job.uid, status: 'failed', finishedAt: job.endedAt, attempts: 1 } as never,
    wishes: { ...wishes, initContainers: false },
  });
  let isQuiet = false;
  void book.whenQuiet(job.uid).then(() => (isQuiet = true));
  await settle();
  assert.equal(isQuiet, true);
  const known = book.take(job.uid).map(({ kind, body }) => `${kind} ${body}`);
  assert.ok(known.includes('logs no space left on device\n'), known.join());
  assert.deepEqual(kept, []);
  let areKept = false;
  const whenKept = capture.whenKept(job.uid).then(() => (areKept = true));
  await settle();
  assert.equal(areKept, false);
  database.resolve();
  await whenKept;
  assert.ok(kept.some(({ kind }) => kind === 'logs'));
});

test('what explains some runs waits for the specs of these alone', async (context) => {
  const { store, epoch } = await anAlertingFixture(context);
  const written: string[] = [];
  const keeping = createTemplateKeeping({
    store,
    epoch,
    redaction: {
      templates: async (templates) => {
        written.push(...templates);
        return [...templates];
      },
    },
  });
  for (const name of ['one', 'two', 'three'])
    keeping.add(aFailedJob({ cronJobUid: `cron-job-${name}`, templateHash: `hash-${name}`, template: name }));
  await keeping.flush(new Set(['cron-job-two']));
  assert.deepEqual(written, ['two']);
  await keeping.flush();
  assert.deepEqual(written, ['two', 'one', 'three']);
});
