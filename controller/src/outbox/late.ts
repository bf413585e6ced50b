import type { Hold } from '@cronjob-monitor/shared/contract';
import { isAboutAlert, type FrozenMessage } from '@cronjob-monitor/shared/domain';

/** A message that was held longer says by what and for how long (alerting.md section 8). */
export const lateAfterMs = 60_000;

/** The message, saying what held it until now; as it is where it says so already, or is about no alert. */
export function sayHeld(
  frozen: FrozenMessage,
  held: { readonly by: Hold; readonly ms: number; readonly notification?: number | undefined },
): FrozenMessage {
  const { message } = frozen;
  if (!isAboutAlert(message)) return frozen;
  const { alert } = message.data;
  const notification = held.notification ?? alert.notification;
  const saysAlready = alert.heldBy !== null && alert.heldSeconds * 1_000 >= held.ms;
  const heldBy = saysAlready ? alert.heldBy : held.by;
  const heldSeconds = saysAlready ? alert.heldSeconds : Math.floor(held.ms / 1_000);
  const data = { ...message.data, alert: { ...alert, notification, heldBy, heldSeconds } };
  return { ...frozen, message: { kind: message.kind, data } };
}
