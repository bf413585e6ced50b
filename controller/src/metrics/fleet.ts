import {
  coverageStates,
  cronJobStatusFilters,
  healthStates,
  monitorPhases,
  openAlertStates,
  slotOutcomes,
  type CoverageState,
  type CronJobStatusFilter,
  type MonitorPhase,
  type SlotOutcome,
  type StateCounts,
} from '@cronjob-monitor/shared/contract';
import { Counter, Gauge, type Registry } from 'prom-client';

/** The fleet as the API counts it in stats. */
interface FleetCounts {
  /** `suspended` and `running` count beside the health. */
  readonly cronJobs: Readonly<Record<CronJobStatusFilter, number>>;
  /** Each CronJob once. */
  readonly states: StateCounts;
  /** A phase that is absent has none. */
  readonly monitors: ReadonlyMap<MonitorPhase, number>;
  readonly alerts: Readonly<Record<(typeof openAlertStates)[number], number>>;
}

/** CronJobs by whether their alerts would be heard, each once. */
export type CoverageCounts = Readonly<Record<CoverageState, number>>;

/** The fleet in numbers (metrics.md section 4): of the leader alone. */
export class FleetMetrics {
  readonly #cronJobs: Gauge<'status'>;
  readonly #states: Gauge<'state'>;
  readonly #coverage: Gauge<'state'>;
  readonly #monitors: Gauge<'phase'>;
  readonly #alerts: Gauge<'state'>;
  readonly #slots: Counter<'outcome'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#cronJobs = new Gauge({
      name: 'cronjob_monitor_cronjobs',
      help: 'CronJobs that are watched, by status; suspended and running ones count beside their health.',
      labelNames: ['status'],
      registers,
    });
    this.#states = new Gauge({
      name: 'cronjob_monitor_cronjob_states',
      help: 'CronJobs that are watched, by state; each counts once.',
      labelNames: ['state'],
      registers,
    });
    this.#coverage = new Gauge({
      name: 'cronjob_monitor_coverage',
      help: 'CronJobs by whether their alerts would be heard; each counts once, those without a monitor too.',
      labelNames: ['state'],
      registers,
    });
    this.#monitors = new Gauge({
      name: 'cronjob_monitor_monitors',
      help: 'Monitors by phase.',
      labelNames: ['phase'],
      registers,
    });
    this.#alerts = new Gauge({
      name: 'cronjob_monitor_alerts_open',
      help: 'Alerts that are not over, by state.',
      labelNames: ['state'],
      registers,
    });
    this.#slots = new Counter({
      name: 'cronjob_monitor_slots_total',
      help: 'Expected runs that were judged, by outcome.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of slotOutcomes) this.#slots.inc({ outcome }, 0);
  }

  /** As the database has it. */
  counted({ cronJobs, states, monitors, alerts }: FleetCounts): void {
    for (const status of cronJobStatusFilters) this.#cronJobs.set({ status }, cronJobs[status]);
    for (const state of healthStates) this.#states.set({ state }, states[state]);
    for (const phase of monitorPhases) this.#monitors.set({ phase }, monitors.get(phase) ?? 0);
    for (const state of openAlertStates) this.#alerts.set({ state }, alerts[state]);
  }

  covered(counts: CoverageCounts): void {
    for (const state of coverageStates) this.#coverage.set({ state }, counts[state]);
  }

  /** After the commit of these outcomes. */
  judged(outcomes: Iterable<SlotOutcome>): void {
    for (const outcome of outcomes) this.#slots.inc({ outcome });
  }

  /** This replica leads no more: what the database has is told by who does. */
  stopped(): void {
    for (const gauge of [this.#cronJobs, this.#states, this.#coverage, this.#monitors, this.#alerts]) gauge.reset();
  }
}
