import type { Health } from '@cronjob-monitor/shared/contract';
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

export function removeDefinitions({ sim }: Bench): void {
  for (const { metadata } of sim.objects.list(definition)) sim.objects.remove({ ...definition, name: metadata.name });
}
