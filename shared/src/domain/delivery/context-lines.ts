import type { ExecutionChange } from '../../contract/index.ts';
import type { DigestedAlert, MessageEvent, MessagePod } from './message.ts';
import { nameFinding } from '../alert-types/traits.ts';

/** `2026-11-21T01:32:42.000Z Warning BackOff: back-off restarting failed container (4 times)` */
export function eventLine({ time, type, reason, message, count }: MessageEvent): string {
  const times = count > 1 ? ` (${count} times)` : '';
  return [time, type, `${reason}: ${message}${times}`].filter((part) => part !== null).join(' ');
}

/** `nightly-29107320-x7k2p Failed OOMKilled on node-3` */
export function podLine({ name, phase, reason, node }: MessagePod): string {
  return [name, phase, reason, node === null ? null : `on ${node}`].filter((part) => part !== null).join(' ');
}

/** `containers.backup.image: repo/backup:1.4 -> repo/backup:1.5` */
export function changeLine({ path, before, after }: ExecutionChange): string {
  return `${path}: ${before ?? '(none)'} -> ${after ?? '(none)'}`;
}

/**
 * `prod/nightly: job failed, warning since 2026-11-21T01:32:42.000Z`; of what is over
 * `prod/nightly: job failed, warning since 2026-11-21T01:32:42.000Z, recovered at 2026-11-21T01:34:00.000Z`
 */
export function digestedLine({
  namespace,
  name,
  type,
  subject,
  severity,
  since,
  state,
  endedAt,
}: DigestedAlert): string {
  const line = `${namespace}/${name}: ${nameFinding(type, subject)}, ${severity} since ${since}`;
  if (endedAt === null) return line;
  return `${line}, ${state === 'expired' ? 'closed' : 'recovered'} at ${endedAt}`;
}
