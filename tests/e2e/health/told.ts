import type { Health } from '@cronjob-monitor/shared/contract';
import type { SymptomCause } from '@cronjob-monitor/shared/domain';
import type { Bench } from '../../faults/harness/bench.ts';
import type { MonitorProcess } from '../../servers/index.ts';

/** What health answers, whatever its status. */
export async function askHealth(
  service: MonitorProcess,
): Promise<{ readonly status: number; readonly health: Health }> {
  const answer = await fetch(`${service.api}/api/v1/health`);
  return { status: answer.status, health: (await answer.json()) as Health };
}

const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

/** `cronjob_monitor_symptom` is as high for this cause, and 0 for every other one but the schema that no leader has made yet. */
export async function untilOnlyCause(service: MonitorProcess, cause: SymptomCause, height: 1 | 2): Promise<void> {
  const heightOf = async (labels = {}) => (await service.metric('cronjob_monitor_symptom', labels)) ?? NaN;
  let told: readonly number[] = [];
  await service.until(
    () => `the metric says ${cause}: ${told.join()}`,
    async () => {
      told = [await heightOf({ cause }), (await heightOf()) - (await heightOf({ cause: 'schemaDiffers' }))];
      return told.every((value) => value === height);
    },
  );
}

export function removeDefinitions({ sim }: Bench): void {
  for (const { metadata } of sim.objects.list(definition)) sim.objects.remove({ ...definition, name: metadata.name });
}
