import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError, type Cluster } from '@cronjob-monitor/shared/kube';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { manualJobName, triggerCronJob } from './trigger.ts';

test('a manual name keeps within 63 characters and ends its base well', () => {
  assert.equal(manualJobName('backup', 1_795_243_921), 'backup-manual-1795243921');
  const long = manualJobName('a'.repeat(52), 1_795_243_921);
  assert.equal(long.length, 63);
  const cut = manualJobName(`${'a'.repeat(43)}.-${'b'.repeat(9)}`, 1_795_243_921);
  assert.equal(cut, `${'a'.repeat(43)}-manual-1795243921`);
});

test('of several calls at once one makes a Job where the policy allows no second one, and all do by force', async () => {
  const made = new Set<string>();
  const cluster = {
    findCronJob: () =>
      Promise.resolve({
        metadata: { namespace: 'prod', name: 'backup', uid: 'u' },
        spec: { concurrencyPolicy: 'Forbid', jobTemplate: { spec: {} } },
      }),
    createJob: (_namespace: string, { metadata: { name } }: { readonly metadata: { readonly name: string } }) => {
      const message = 'is there already';
      if (made.has(name))
        return Promise.reject(
          new ClusterError('alreadyExists', { verb: 'create', resource: 'jobs', message, status: 409 }),
        );
      made.add(name);
      return Promise.resolve({});
    },
  } as unknown as Cluster; // of it nothing else is asked
  const deps = { cluster, clock: new FakeClock(1_795_243_921_000) };
  const { signal } = new AbortController();
  const wish = { cronJob: { namespace: 'prod', name: 'backup' }, activeJobs: [], by: 'ana' };
  const ask = (force: boolean) => triggerCronJob(deps, { ...wish, force }, signal);
  const answers = await Promise.allSettled([1, 2, 3, 4].map(() => ask(false)));
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? 'made' : (answer.reason as { code: string }).code)),
    ['made', 'CONCURRENCY_REFUSED', 'CONCURRENCY_REFUSED', 'CONCURRENCY_REFUSED'],
  );
  await Promise.all([ask(true), ask(true)]);
  assert.equal(made.size, 3);
});
