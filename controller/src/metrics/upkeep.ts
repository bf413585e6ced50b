import { Counter, type Registry } from 'prom-client';

/** Figures of what the leader does beside its work: what it read of runs and removed, and whether daily figures are right. */
export class UpkeepMetrics {
  readonly #pruned: Counter<'kind'>;
  readonly #mismatches: Counter;
  readonly #captures: Counter<'result'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#pruned = new Counter({
      name: 'cronjob_monitor_prune_rows_total',
      help: 'Rows removed because they were past their retention, by kind.',
      labelNames: ['kind'],
      registers,
    });
    this.#mismatches = new Counter({
      name: 'cronjob_monitor_rollup_mismatches_total',
      help: 'Daily figures that were not what their rows say; they are computed again.',
      registers,
    });
    this.#captures = new Counter({
      name: 'cronjob_monitor_evidence_captures_total',
      help: 'Logs of runs that were read: ok, or why there was nothing to read.',
      labelNames: ['result'],
      registers,
    });
    for (const result of ['ok', 'podGone', 'containerWaiting', 'forbidden', 'timeout', 'nodeUnreachable', 'empty'])
      this.#captures.inc({ result }, 0);
    for (const kind of ['executions', 'slots', 'logs', 'events', 'alerts']) this.#pruned.inc({ kind }, 0);
  }

  pruned(kind: string, rows: number): void {
    this.#pruned.inc({ kind }, rows);
  }

  /** `ok`, or why nothing was read. */
  captured(result: string): void {
    this.#captures.inc({ result });
  }

  mismatched(days: number): void {
    this.#mismatches.inc(days);
  }
}
