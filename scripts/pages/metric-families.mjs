// Every family of metrics that a process of ours can have, as its own classes define them.
import { createApiMetrics } from '../../apiserver/src/metrics.ts';
import * as classes from '../../controller/src/metrics/index.ts';
import {
  createNeighbourMetrics,
  createProcessMetrics,
  systemClock,
  watchSymptoms,
} from '../../shared/src/process/index.ts';

/** Families that are made without the library say their labels with their series alone, and these have none so early. */
const labelsOfRuntime = {
  cronjob_monitor_build_info: ['version', 'entry_point'],
  cronjob_monitor_event_loop_delay_seconds: ['percentile'],
  go_gc_duration_seconds: ['quantile'],
};

/** What a class asks for besides the registry. */
const others = { VerdictMetrics: { blindSeconds: () => 0 }, SnapshotMetrics: () => 0 };

/** Name, type, labels and help of each, in the order in which they are made here. */
export async function readFamilies() {
  const own = createProcessMetrics({ entryPoint: 'standalone', version: '', clock: systemClock });
  const { registry } = own;
  const neighbours = createNeighbourMetrics({ registry, clock: systemClock });
  neighbours.watchPool(() => ({ used: 0, idle: 0, waiting: 0 }));
  neighbours.watchVolume({ freeBytes: () => undefined, isWritable: () => undefined });
  watchSymptoms(
    { metrics: own, problems: { add() {}, current: () => [] }, intervalsMs: {}, clock: systemClock },
    AbortSignal.abort(),
  );
  createApiMetrics({ registry, clock: systemClock });
  classes.exposeClocks(registry, { apiserver: () => undefined, database: () => undefined });
  for (const [name, Metrics] of Object.entries(classes).filter(([name]) => name.endsWith('Metrics'))) {
    Reflect.construct(Metrics, [registry, others[name]]);
  }
  let text = '';
  for await (const piece of own.render()) text += piece;
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(([, name, help, type]) => ({
    name,
    help,
    type,
    labels: registry.getSingleMetric(name)?.labelNames ?? labelsOfRuntime[name] ?? [],
  }));
}
