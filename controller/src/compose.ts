import type { LoadedConfig } from '@cronjob-monitor/shared/config';
import type { SchedulerName } from '@cronjob-monitor/shared/contract';
import type { Lifecycle } from '@cronjob-monitor/shared/process';
import { listenBeside, openParts, type Parts, type Surroundings } from '@cronjob-monitor/shared/start';
import { type Controller, createController } from './replica/create-controller.ts';
import { settingsOf } from './settings/settings.ts';

/** Work in flight, queues and the Lease: within what Kubernetes leaves a pod to end. */
const controllerStopMs = 25_000;

/** Wires the controller process: what is started last is stopped first. Nothing here waits for a database or a cluster. */
export async function composeController(
  loaded: LoadedConfig,
  around: Surroundings,
  lifecycle: Lifecycle,
): Promise<void> {
  const { parts, controller } = wireController(loaded, around, lifecycle);
  await listenBeside(loaded, parts, lifecycle);
  begin(controller, lifecycle);
}

/** Makes a controller that has not begun, on the parts that it shares with what else is in the process. */
export function wireController(
  loaded: LoadedConfig,
  around: Surroundings,
  lifecycle: Lifecycle,
): { readonly parts: Parts; readonly controller: Controller } {
  const { config } = loaded;
  const parts = openParts(loaded, around, lifecycle, {
    intervalsMs: intervalsOf(config),
    evidencePerSecond: config['evidence.requests-per-second'],
  });
  const controller = createController({
    ...parts,
    settings: settingsOf(loaded, parts.cluster.ownNamespace ?? 'default'),
    exit: (code) => process.exit(code),
    background: (name, work) => lifecycle.background(name, work),
  });
  return { parts, controller };
}

/** How often each scheduler runs, by its name. */
function intervalsOf(config: LoadedConfig['config']): Readonly<Record<SchedulerName, number>> {
  return {
    'dead-man-switch': config['scheduler.dead-man-switch-interval'],
    'sla-recalculation': config['scheduler.sla-recalculation-interval'],
    'stuck-job-check': config['scheduler.stuck-job-check-interval'],
    prune: config['scheduler.prune-interval'],
  };
}

/** From here on the controller works; its stop is the longest, for work in flight ends first. */
export function begin(controller: Controller, lifecycle: Lifecycle): void {
  controller.start();
  lifecycle.onStop('controller', () => controller.stop(), { stopMs: controllerStopMs });
}
