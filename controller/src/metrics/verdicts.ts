import { refText, severities, type Ref, type SchedulerName, type Severity } from '@cronjob-monitor/shared/contract';
import { Gauge, type Registry } from 'prom-client';

/** An alert as far as it is counted. */
export interface CountedAlert {
  readonly id: string;
  readonly namespace: string;
  readonly cronJobName: string;
  readonly severity: Severity;
  readonly isActive: boolean;
}

/** Figures of what was judged (metrics.md sections 2 and 4): of the leader alone, set after the commit of what they tell. */
export class VerdictMetrics {
  readonly #active: Gauge<'namespace' | 'cronjob' | 'severity'>;
  readonly #ran: Gauge<'scheduler'>;
  /** Active alerts by id: many may stand behind one series. */
  readonly #counted = new Map<string, CountedAlert>();
  /** CronJobs that have a series. */
  readonly #shown = new Map<string, Ref>();
  /** Told of each CronJob that has an alert less. */
  onNamed: ((cronJob: Ref) => void) | undefined;

  constructor(registry: Registry, of: { readonly blindSeconds: () => number }) {
    const registers = [registry];
    this.#active = new Gauge({
      name: 'cronjob_monitor_active_alerts',
      help: 'Active alerts by CronJob and severity; 0 when the last one has ended.',
      labelNames: ['namespace', 'cronjob', 'severity'],
      registers,
    });
    this.#ran = new Gauge({
      name: 'cronjob_monitor_scheduler_last_success_timestamp_seconds',
      help: 'When a scheduler last ended a good run, seconds since 1970; of the leader alone.',
      labelNames: ['scheduler'],
      registers,
    });
    const blind = new Gauge({
      name: 'cronjob_monitor_blind_seconds',
      help: 'For how long nothing is known of what did not come; 0 while the watches bring news.',
      registers: [],
      collect() {
        this.set(of.blindSeconds());
      },
    });
    registry.registerMetric(blind);
  }

  /** What is active as a term begins. */
  begin(alerts: readonly CountedAlert[]): void {
    for (const alert of alerts) this.moved(alert);
  }

  /** An alert is what it is now. */
  moved(alert: CountedAlert): void {
    const before = this.#counted.get(alert.id);
    if (before) this.#add(before, -1);
    if (alert.isActive) {
      this.#counted.set(alert.id, alert);
      this.#add(alert, 1);
    } else {
      this.#counted.delete(alert.id);
    }
  }

  ran(scheduler: SchedulerName, at: number): void {
    this.#ran.set({ scheduler }, at / 1_000);
  }

  /** CronJobs with series. */
  named(): Iterable<Ref> {
    return this.#shown.values();
  }

  /** The CronJob is gone, or not watched: its gauge ends, but not while an alert tells that it is missing. */
  forget({ namespace, name }: Ref): void {
    if (this.#counted.values().some((alert) => alert.namespace === namespace && alert.cronJobName === name)) return;
    this.#shown.delete(refText({ namespace, name }));
    for (const severity of severities) this.#active.remove({ namespace, cronjob: name, severity });
  }

  #add({ namespace, cronJobName, severity }: CountedAlert, change: 1 | -1): void {
    const cronJob = { namespace, name: cronJobName };
    this.#shown.set(`${namespace}/${cronJobName}`, cronJob);
    this.#active.inc({ namespace, cronjob: cronJobName, severity }, change);
    if (change < 0) this.onNamed?.(cronJob);
  }
}
