import { isInForce, matches, type MutableAlert, type SilenceMatcher } from '@cronjob-monitor/shared/domain';
import {
  listMutableAlerts,
  lockSilence,
  updateSilenceEnd,
  type StoredSilence,
  type Tx,
} from '@cronjob-monitor/shared/store';

/** A silence that says so ends with the last alert that it holds, in the transaction that ends it (alerting.md section 9). */
export async function endSilencesOf(
  tx: Tx,
  ended: readonly MutableAlert[],
  silences: readonly StoredSilence[],
): Promise<void> {
  const now = tx.now();
  const candidates = silences.filter(
    (silence) => silence.untilResolved && isInForce(silence, now) && holdsAny(silence.matcher, ended),
  );
  // Few, if any; locked one after the other and always in one order, so that of two alerts that end at once the later one is the last.
  for (const { id } of candidates.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const silence = await lockSilence(tx, id);
    if (!silence?.untilResolved || !isInForce(silence, now)) continue;
    if (!holdsAny(silence.matcher, await listMutableAlerts(tx))) await updateSilenceEnd(tx, id, now);
  }
}

function holdsAny(matcher: SilenceMatcher, alerts: readonly MutableAlert[]): boolean {
  return alerts.some((alert) => matches(matcher, alert));
}
