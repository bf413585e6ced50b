import { createFreeze, raise } from '@cronjob-monitor/controller/alerting';
import type { AlertFinding, CronJobFacts, FindingVerdict } from '@cronjob-monitor/shared/domain';
import { projectCronJob, projectMonitor } from '@cronjob-monitor/shared/store';
import { aCronJob, alertRulesTo } from '@cronjob-monitor/shared/testing';
import type { BenchChannel, OutboxBench } from '../../channels/outbox-bench.ts';

/** Raises what a run says about the CronJob of an outbox, or about another one, as the leader does, in its transaction. */
export async function createRaising(
  bench: OutboxBench,
  channel: BenchChannel,
  facts: CronJobFacts = aCronJob(),
  ownerOf?: () => string | undefined,
): Promise<(verdict: FindingVerdict) => Promise<void>> {
  const monitor = { uid: '5a0f1f5e-6f0e-4d4b-9a43-3b5b2c3f8f10', namespace: 'prod', name: 'everything' };
  const judged = { phase: 'Active', conditions: [], counts: null, evaluatedAt: undefined } as const;
  const { id } = await bench.store.fenced(bench.epoch, (tx) =>
    projectMonitor(tx, { ...monitor, generation: 1, createdAt: 0, spec: {}, ...judged }),
  );
  const seen = { facts, seenAt: bench.clock.now() };
  const { id: cronJobId } = await bench.store.fenced(bench.epoch, (tx) => projectCronJob(tx, seen));
  const { uid, namespace, name } = facts;
  const finding: Omit<AlertFinding, 'verdict'> = {
    monitor: { ...monitor, id },
    cronJob: { id: cronJobId, uid, namespace, name },
    type: 'jobFailed',
    subject: undefined,
    rules: alertRulesTo([channel.name]),
  };
  const known = { clusterName: undefined, externalUrl: undefined, findCronJob: () => undefined };
  const freeze = createFreeze({ ...known, ...(ownerOf && { ownerOf }) });
  return async (verdict) => {
    await bench.store.fenced(bench.epoch, (tx) => raise(tx, [{ ...finding, verdict }], { freeze }));
  };
}

/** A run failed. `occurred` 0: that it did is only asked again. */
export function failedAt(at: number, occurred = 1): FindingVerdict {
  return {
    kind: 'holds',
    sinceAt: at,
    count: 1,
    occurred,
    message: 'The run nightly-1 failed.',
    figures: null,
    context: { jobName: 'nightly-1', exitCode: 1 },
    delayed: false,
  };
}
