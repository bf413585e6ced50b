import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Execution } from '@cronjob-monitor/shared/domain';
import {
  aCronJob,
  aFailedJob,
  decodedMonitor,
  FakeClock,
  RecordingLogger,
  settle,
} from '@cronjob-monitor/shared/testing';
import { createEvidenceTaking } from './evidence-taking.ts';
import { anAlertingFixture } from './testing/alerting-fixture.ts';

const job = aFailedJob();
const endedAt = job.endedAt ?? 0;
const execution = { jobUid: job.uid, status: 'failed', finishedAt: endedAt, attempts: 1 } as Execution;

async function aTaking(context: TestContext, of: { readonly workedUntilAt?: number } = {}) {
  const { store, epoch } = await anAlertingFixture(context);
  const read: string[] = [];
  const decoded = { ok: true, ...decodedMonitor({ selector: {} }) };
  const taking = createEvidenceTaking(
    {
      cluster: {
        listEvents: (namespace: string) => {
          read.push(namespace);
          return Promise.resolve([]);
        },
      } as never,
      store,
      selection: { monitorsOf: () => [{ decoded, namespace: 'prod', name: 'backups' }] } as never,
      caches: { jobs: { find: () => job } } as never,
      intake: { pods: { podsOf: () => [] } } as never,
      settings: {
        evidence: { concurrency: 2, perNode: 2, readTimeoutMs: 1_000, maxAttempts: 3, redactPatterns: [] },
      },
      clock: new FakeClock(endedAt + 300_000),
      logger: new RecordingLogger(),
      background: (_name, work) => void work,
      workedUntilAt: () => of.workedUntilAt,
    },
    { epoch, signal: context.signal },
  );
  return { taking, store, read };
}

/** Whether the events of a run that has its row already are read, where a leader worked until then. */
async function areEventsRead(context: TestContext, of: { readonly workedUntilAt?: number }): Promise<boolean> {
  const { taking, read } = await aTaking(context, of);
  const cronJob = aCronJob({ uid: job.cronJobUid });
  const snapshot = { job, gone: undefined };
  taking.take({ snapshot, held: undefined, pods: [], cronJob, siblings: [], monitored: true }, execution, 'known');
  await settle();
  return read.length > 0;
}

test('a message waits for evidence by the clock of the database, however far ours is off', async (context) => {
  const { taking, store } = await aTaking(context);
  taking.expect(execution);
  assert.equal(taking.contextDueAt(job.uid), store.now() + 10_000);
});

test('what ended in the last minute of a leader is taken once more by the next, for that may have ended over it', async (context) => {
  assert.equal(await areEventsRead(context, { workedUntilAt: endedAt + 59_000 }), true);
});

test('what had ended a minute before a leader did is taken: a start reads nothing of it again', async (context) => {
  assert.equal(await areEventsRead(context, { workedUntilAt: endedAt + 61_000 }), false);
});

test('where no leader was before, everything is taken', async (context) => {
  assert.equal(await areEventsRead(context, {}), true);
});
