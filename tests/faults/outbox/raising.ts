import { createFreeze, raise } from '@cronjob-monitor/controller/alerting';
import type { AlertFinding, AlertRules, CronJobFacts, FindingVerdict } from '@cronjob-monitor/shared/domain';
import { projectCronJob, projectMonitor } from '@cronjob-monitor/shared/store';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import type { BenchChannel, OutboxBench } from '../../channels/outbox-bench.ts';

const rulesOf = (channel: BenchChannel): AlertRules => ({
  severityOverrides: undefined,
  alertDelayMs: 0,
  suppressDuplicatesForMs: 3_600_000,
  remindEveryMs: 86_400_000,
  renotifyOnChangedError: false,
  alerting: { enabled: true, channelRefs: [{ name: channel.name, severities: [] }] },
  windows: [],
  recoveryMs: 0,
});

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
    rules: rulesOf(channel),
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
