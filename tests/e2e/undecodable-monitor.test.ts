import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { SimCluster } from '@cronjob-monitor/simcluster';
import { namespace, putMonitor, until } from '../faults/harness/bench.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from '../faults/harness/objects.ts';
import { benchOfSuite } from '../faults/harness/service-bench.ts';
import { untilAllRecorded } from '../faults/checker/index.ts';

interface MonitorStatus {
  readonly phase?: string;
  readonly totalCronJobs?: number;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

/** Specs that the API server would refuse today: stored before a rule was made, or written around it. */
const specs: Readonly<
  Record<string, { readonly spec: unknown; readonly phase: string; readonly reason: string; readonly names: RegExp }>
> = {
  'a text': { spec: 'all of them', phase: 'Error', reason: 'Undecodable', names: /./ },
  'a list': { spec: [1, 2], phase: 'Error', reason: 'Undecodable', names: /./ },
  'a number in place of the selector': {
    spec: { selector: 7 },
    phase: 'Degraded',
    reason: 'InvalidField',
    names: /selector/,
  },
  'a retention of words': {
    spec: { dataRetention: { retentionDays: 'long' } },
    phase: 'Degraded',
    reason: 'InvalidField',
    names: /dataRetention\.retentionDays/,
  },
};

/** As before there were rules: anything is a monitor. */
function forgetRules(sim: SimCluster): void {
  const name = 'cronjobmonitors.cronjob-monitor.io';
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  sim.objects.update(
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name },
    (definition) => {
      const spec = definition.spec as { versions: object[] };
      const versions = spec.versions.map((version) => ({ ...version, schema: { openAPIV3Schema: anything } }));
      return { ...definition, spec: { ...spec, versions } };
    },
  );
}

for (const rules of ['no rules', 'rules that forbid it']) {
  describe(`a CronJobMonitor that cannot be understood, on a server with ${rules}`, () => {
    const bench = benchOfSuite({ controllers: false });
    const mayBeWritten = rules === 'no rules';
    const statusOf = (name: string): MonitorStatus => {
      const monitor = { apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor', namespace, name };
      return bench().sim.objects.find(monitor)?.status ?? {};
    };
    before(() => {
      if (mayBeWritten) forgetRules(bench().sim);
    });
    let over = 0;

    for (const [number, [what, { spec, phase, reason, names }]] of Object.entries(specs).entries()) {
      test(`its spec is ${what}: it says so itself, the others record on`, async () => {
        const { sim, service, reader, store } = bench();
        const name = `broken-${number}`;
        putMonitor(sim, name, spec);
        const shown = async (): Promise<string | undefined> =>
          (await service.ask<{ phase: string }>(`/api/v1/monitors/${namespace}/${name}`).catch(() => undefined))?.phase;
        await until('the API shows its phase', async () => (await shown()) === phase);
        if (mayBeWritten) {
          await until(
            () => `its status: ${JSON.stringify(statusOf(name))}`,
            () => statusOf(name).phase === phase,
          );
          const condition = statusOf(name).conditions?.find(({ type }) => type === 'SpecValid');
          assert.deepEqual([condition?.status, condition?.reason], ['False', reason]);
          assert.match(condition?.message ?? '', names);
        }

        const owner = putCronJob(sim, `beside-${number}`);
        putJob(sim, owner, { slotAt: slotNumber(number), status: completeStatus() });
        await untilAllRecorded(reader, store, { over: ++over, withinMs: 20_000 });
        await until('the good one counts it', () => statusOf('everything').totalCronJobs === over, 40_000);
        assert.equal(statusOf('everything').phase, 'Active');
        assert.equal((await service.readiness()).status, 200);

        const told = service.log.filter(({ object }) => object === `cronjobmonitors ${namespace}/${name}`);
        assert.equal(told.length, mayBeWritten ? 0 : 1, service.tail());
        const failed = service.log.filter(({ msg }) => msg.includes('could not be reconciled'));
        assert.deepEqual(failed, []);
      });
    }
  });
}
