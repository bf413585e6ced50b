import {
  insertAlerts,
  insertNewDeliveries,
  recordChanges,
  recordDecisions,
  type AlertDecision,
  type AlertRecord,
  type Change,
  type NewDelivery,
  type Tx,
} from '@cronjob-monitor/shared/store';

/**
 * Rows of alerts that are new, and of which nothing in the database can speak yet: many that are raised in one transaction are written
 * by a few statements.
 */
export class Births {
  #alerts: AlertRecord[] = [];
  #deliveries: NewDelivery[] = [];
  #decisions: AlertDecision[] = [];
  #changes: Change[] = [];

  addDelivery(delivery: NewDelivery): void {
    this.#deliveries.push(delivery);
  }

  add(alert: AlertRecord, decisions: readonly AlertDecision[], change: Change): void {
    this.#alerts.push(alert);
    this.#decisions.push(...decisions);
    this.#changes.push(change);
  }

  /** Writes what was added since the last time. */
  async write(tx: Tx): Promise<void> {
    const [alerts, deliveries, decisions, changes] = [this.#alerts, this.#deliveries, this.#decisions, this.#changes];
    if (alerts.length === 0) return;
    [this.#alerts, this.#deliveries, this.#decisions, this.#changes] = [[], [], [], []];
    await insertNewDeliveries(tx, deliveries);
    await insertAlerts(tx, alerts);
    await recordDecisions(tx, decisions);
    await recordChanges(tx, changes);
  }
}
