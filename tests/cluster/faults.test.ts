import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { faultOfRun, refusalIn, type Fault, type JobFacts, type StartEvent } from '@cronjob-monitor/shared/domain';
import { createCluster } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { startRealCluster, type RealCluster } from '../realcluster/real-cluster.ts';
import { prepare, raw, until, type ContractCluster, type Subject } from './contract-cluster.ts';
import { aCronJob, jobSpec, paths, type JobShape } from './kube-objects.ts';
import { observeRuns, type ObservedRuns } from './observed-runs.ts';

const started = await startRealCluster({ podBackOff: '1s' });

describe(
  'whose fault it is, in the words of a real control plane',
  {
    skip: 'skipped' in started && started.skipped,
  },
  () => {
    const cluster = started as RealCluster; // else the suite is skipped
    let subject: Subject;
    before(() => {
      const limits = { requestsPerSecond: 1000, burst: 1000 };
      const { kubeconfig } = cluster;
      const client = createCluster({ kubeconfig, clock: systemClock, logger: new RecordingLogger(), ...limits });
      const nothing = async (): Promise<void> => {};
      const contract: ContractCluster = {
        address: cluster,
        client,
        forgetHistory: nothing,
        untilUsable: nothing,
        stop: () => client.close(),
      };
      subject = () => contract;
    });
    after(async () => {
      await subject().stop();
      await cluster.stop();
    });

    /** A namespace and a run in it that was started by hand. */
    async function aRun(
      namespace: string,
      shape: JobShape,
      labels: Readonly<Record<string, string>> = {},
      quota?: object,
    ) {
      await prepare(subject, 'POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } });
      await until(`service account of ${namespace}`, async () =>
        (await raw(subject, 'GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`)).status === 200
          ? true
          : undefined,
      );
      if (quota) {
        const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
        await prepare(subject, 'POST', quotas, { metadata: { name: 'compute' }, spec: { hard: quota } });
        await until('the quota is counted', async () =>
          (await raw(subject, 'GET', `${quotas}/compute`)).body.status.hard === undefined ? undefined : true,
        );
      }
      const runs = await observeRuns(subject, namespace);
      const paused = aCronJob('report', { cron: { suspend: true } });
      const { metadata } = await prepare(subject, 'POST', paths.cronJobs(namespace), paused);
      const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'report', uid: metadata.uid, controller: true };
      await prepare(subject, 'POST', paths.jobs(namespace), {
        metadata: { name: 'report-1', ownerReferences: [owner] },
        spec: jobSpec(shape),
      });
      const job = await until('the Job', async () => runs.jobsOf('report')[0]);
      return { runs, job };
    }

    /** As the reconciler sees it: the refusal of its pods is read from the events of the Job. */
    async function faultOf(runs: ObservedRuns, { uid, namespace }: JobFacts): Promise<Fault | undefined> {
      const events = await subject().client.listEvents(namespace, uid, new AbortController().signal);
      const refusal = refusalIn(events);
      const known: StartEvent[] = refusal ? [{ reason: 'FailedCreate', message: refusal.message }] : [];
      const job = runs.jobs().find((one) => one.uid === uid);
      return job && faultOfRun(job, runs.podsOf(job), { events: known });
    }

    test('a pod above a quota is a lack of capacity of its namespace', async () => {
      const { runs, job } = await aRun('with-quota', {}, {}, { pods: '0' });
      const fault = await until('a fault', () => faultOf(runs, job));
      assert.deepEqual(fault, { cause: 'capacity', scope: 'namespace with-quota' });
      await runs.stop();
    });

    test('a pod that Pod Security forbids is a matter of configuration', async () => {
      const { runs, job } = await aRun('restricted', {}, { 'pod-security.kubernetes.io/enforce': 'restricted' });
      const fault = await until('a fault', () => faultOf(runs, job));
      assert.deepEqual(fault, { cause: 'configuration', scope: undefined });
      await runs.stop();
    });

    test('a pod that the Eviction API took is the fault of the platform, on its node', async () => {
      const { runs, job } = await aRun('drained', { play: { outcome: 'hang' } });
      const pod = await until('its pod runs', async () => runs.podsOf(job).find(({ phase }) => phase === 'Running'));
      await prepare(subject, 'POST', `${paths.pods('drained', pod.name)}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: pod.name, namespace: 'drained' },
      });
      const ended = await until('its end', async () => runs.jobs().find(({ outcome }) => outcome === 'failed'));
      assert.deepEqual(await faultOf(runs, ended), { cause: 'platform', scope: `node ${pod.node}` });
      await runs.stop();
    });

    test('an image that the registry does not have is a matter of configuration', async () => {
      const play = { outcome: 'imagepull' };
      const { runs, job } = await aRun('without-image', { play });
      const waiting = await until('a fault', () => faultOf(runs, job));
      assert.deepEqual(waiting, { cause: 'configuration', scope: undefined });
      await runs.stop();
    });

    test('a program that fails is the fault of the application', async () => {
      const { runs } = await aRun('failing', { play: { outcome: 'exit:3' } });
      const ended = await until('its end', async () => runs.jobs().find(({ outcome }) => outcome === 'failed'));
      assert.deepEqual(await faultOf(runs, ended), { cause: 'application', scope: undefined });
      await runs.stop();
    });
  },
);
