import { createHash } from 'node:crypto';
import type { AlertSubject, AlertType } from '../../contract/index.ts';

/** What makes two findings the same alert: the same condition of the same CronJob, seen by the same monitor. */
interface AlertIdentity {
  readonly monitorUid: string;
  readonly cronJobUid: string;
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
}

/** SHA-256 of the identity, hexadecimal: unique among live alerts. */
export function fingerprintOf(identity: AlertIdentity): string {
  return digest(identity.monitorUid, identity.cronJobUid, identity.type, identity.subject ?? '');
}

/** In place of the UID of a CronJob: a name that is expected, whatever objects come and go under it. SHA-256, hexadecimal. */
export function expectedUid({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return digest(`expects/${namespace}/${name}`);
}

/** The same for all monitors: two that tell one channel of one condition make one message. */
export function collapseKeyOf(channelUid: string, identity: Omit<AlertIdentity, 'monitorUid'>): string {
  return digest(channelUid, identity.cronJobUid, identity.type, identity.subject ?? '');
}

/** One decision to tell one channel: a replay of it writes nothing. */
export function dedupKeyOf(of: { alertId: string; kind: string; notifyNo: number; channelUid: string }): string {
  return digest(of.alertId, of.kind, String(of.notifyNo), of.channelUid);
}

/** The last 8 digits of an alert's id, for people and searches. */
export function shortIdOf(alertId: string): string {
  return alertId.replaceAll('-', '').slice(-8);
}

function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}
