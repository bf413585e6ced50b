import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findExitCause, type JobFacts } from '@cronjob-monitor/shared/domain';
import { aNamespace, prepare, raw, until, type Subject } from '../contract-cluster.ts';
import { aCronJob, paths, jobSpec } from '../kube-objects.ts';
import { observeRuns, type ObservedRuns } from '../observed-runs.ts';
import { fates } from './fates.ts';

const twoSlotsMs = 190_000;
const everyMinute = '* * * * *';

/** CronJobs that run by themselves, once or twice, and what becomes of their Jobs. All start with the same minute. */
export function lifeCycleContract(subject: Subject): void {
  describe('life cycles', () => {
    let namespace = '';
    let runs: ObservedRuns;

    before(async () => {
      namespace = await aNamespace(subject);
      runs = await observeRuns(subject, namespace);
      const create = (name: string, shape: Parameters<typeof aCronJob>[1]): Promise<unknown> =>
        prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob(name, { schedule: everyMinute, ...shape }));
      for (const [name, { shape }] of Object.entries(fates)) await create(name, shape);
      const hang = { outcome: 'hang' };
      await create('replacing', { play: hang, cron: { concurrencyPolicy: 'Replace' } });
      await create('forbidding', { play: hang, cron: { concurrencyPolicy: 'Forbid' } });
      await create('paused', { cron: { suspend: true } });
    });
    after(() => runs.stop());

    const ended = (name: string): Promise<JobFacts> =>
      until(`end of a run of ${name}`, async () => runs.jobsOf(name).find(({ outcome }) => outcome), twoSlotsMs);

    for (const [name, fate] of Object.entries(fates)) {
      test(`a run that ${fate.says}`, async () => {
        const job = await ended(name);
        assert.deepEqual([job.outcome, job.jobReason], [fate.outcome, fate.jobReason]);
        assert.equal(job.slotAt !== undefined && job.slotAt % 60_000, 0);
        assert.equal(job.name, `${name}-${(job.slotAt ?? 0) / 60_000}`);
        const pods = runs.podsOf(job);
        assert.equal(pods.length, fate.pods);
        const cause = findExitCause(job, pods);
        if (fate.outcome === 'failed' && !(fate.mayBeUntold && cause.exitCode === undefined)) {
          if (fate.exitCode !== undefined) assert.equal(cause.exitCode, fate.exitCode);
          if (fate.reason !== undefined) assert.equal(cause.reason, fate.reason);
        }
        if (fate.failedIndexes !== undefined) assert.equal(job.failedIndexes, fate.failedIndexes);
        assert.ok(job.startedAt !== undefined && job.endedAt !== undefined && job.endedAt >= job.startedAt);
        if (fate.vanishes) {
          await until(`${name} is removed`, async () => (runs.isGone(job.uid) ? true : undefined));
          const { body } = await raw(subject, 'GET', paths.cronJobs(namespace, name));
          assert.equal(body.status.lastSuccessfulTime !== undefined, fate.outcome === 'success');
        }
      });
    }

    test('a CronJob tells its last slot and its last success', async () => {
      const job = await ended('success');
      const { status } = await until('lastSuccessfulTime', async () => {
        const { body } = await raw(subject, 'GET', paths.cronJobs(namespace, 'success'));
        return body.status.lastSuccessfulTime === undefined ? undefined : body;
      });
      assert.ok(Date.parse(status.lastScheduleTime) >= (job.slotAt ?? Infinity));
      assert.ok(Date.parse(status.lastSuccessfulTime) >= (job.endedAt ?? Infinity));
    });

    test('a manual run of a suspended CronJob owns no slot and ends like any other', async () => {
      const { body: owner } = await raw(subject, 'GET', paths.cronJobs(namespace, 'paused'));
      const job = await subject().client.createJob(
        namespace,
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: {
            name: 'paused-by-hand',
            annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
            ownerReferences: [
              { apiVersion: 'batch/v1', kind: 'CronJob', name: 'paused', uid: owner.metadata.uid, controller: true },
            ],
          },
          spec: jobSpec(),
        },
        new AbortController().signal,
      );
      const { uid } = job['metadata'] as { uid: string };
      const facts = await until('end of the manual run', async () =>
        runs.jobs().find((one) => one.uid === uid && one.outcome !== undefined),
      );
      assert.deepEqual([facts.manual, facts.slotAt, facts.outcome], [true, undefined, 'success']);
      assert.equal(runs.jobsOf('paused').length, 1);
    });

    test('a Job that a person deletes ends without an outcome, and the CronJob says that it is missing', async () => {
      const job = await until('a run to delete', async () => runs.jobsOf('forbidding')[0], twoSlotsMs);
      await until('its pod', async () => runs.podsOf(job).find(({ phase }) => phase === 'Running'));
      const others = runs.jobsOf('forbidding').length;
      await prepare(subject, 'DELETE', `${paths.jobs(namespace, job.name)}?propagationPolicy=Background`, {});
      await until('the Job is gone', async () => (runs.isGone(job.uid) ? true : undefined));
      assert.deepEqual([runs.jobsOf('forbidding')[0]?.outcome, others], [undefined, 1]);
      await until('event MissingJob', async () => {
        const events = await subject().client.listEvents(namespace, job.cronJobUid, new AbortController().signal);
        return events.find(({ reason }) => reason === 'MissingJob');
      });
    });

    test('Replace removes a run without an outcome when the next slot comes', async () => {
      const [first] = await until(
        'two runs',
        async () => (runs.jobsOf('replacing').length >= 2 ? runs.jobsOf('replacing') : undefined),
        twoSlotsMs,
      );
      assert.ok(first);
      await until('the first is gone', async () => (runs.isGone(first.uid) ? true : undefined));
      assert.equal(first.outcome, undefined);
    });
  });
}
