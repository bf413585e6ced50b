import { isOpenAlert } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import {
  findAlert,
  lockAlert,
  putAcknowledgement,
  recordChanges,
  recordDecisions,
  updateAcknowledgementEnd,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { ApiError, notFound } from '../errors.ts';

/** The words of a person who acknowledges an alert. */
export interface AcknowledgeWish {
  readonly alertId: string;
  readonly by: string;
  readonly note: string | undefined;
  readonly expiresAt: Instant | undefined;
}

/** Takes note of a live alert, in place of an earlier note. Throws ALERT_ENDED for one of history. */
export async function acknowledge(store: Store, wish: AcknowledgeWish): Promise<void> {
  const { alertId, by, note, expiresAt } = wish;
  await store.transaction(async (tx) => {
    const { cronJobId } = await lockOpenAlert(tx, alertId);
    await putAcknowledgement(tx, alertId, { byWhom: by, at: tx.now(), note, expiresAt });
    await recordDecisions(tx, [
      { alertId, cronJobId, action: 'acknowledged', byWhom: by, untilAt: expiresAt, detail: note },
    ]);
    await tellOf(tx, alertId);
  });
}

/** Takes the note back; false: there was none, and nothing has happened. */
export async function unacknowledge(store: Store, alertId: string, by: string): Promise<boolean> {
  return store.transaction(async (tx) => {
    const { cronJobId } = await lockOpenAlert(tx, alertId);
    if (!(await updateAcknowledgementEnd(tx, alertId, tx.now()))) return false;
    await recordDecisions(tx, [{ alertId, cronJobId, action: 'unacknowledged', byWhom: by }]);
    await tellOf(tx, alertId);
    return true;
  });
}

async function lockOpenAlert(tx: Tx, id: string): Promise<{ readonly cronJobId: number }> {
  const alert = await lockAlert(tx, id);
  if (!alert) throw notFound('Alert', id, 'expired'); // it was there a moment ago
  if (!isOpenAlert(alert.state)) {
    throw new ApiError('ALERT_ENDED', `The alert has ended, it is ${alert.state}: it needs no acknowledgement`, {
      details: { state: alert.state },
    });
  }
  return alert;
}

/** Tells readers of the event stream that the alert changed. */
async function tellOf(tx: Tx, id: string): Promise<void> {
  const alert = await findAlert(tx, id);
  if (!alert) return;
  const { state, type, subject = null, severity, cronJob, monitor } = alert;
  await recordChanges(tx, [
    {
      kind: 'alert',
      namespace: cronJob.namespace,
      data: { id, state, type, subject, severity, cronjob: cronJob, monitor },
    },
  ]);
}
