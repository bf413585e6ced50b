import type { Severity } from '../../contract/index.ts';

/** One channel a monitor names, with the severities it takes; none named means both. */
export interface ChannelRef {
  readonly name: string;
  readonly severities: readonly Severity[];
  /** It is told so long after the others, if the alert is open then. Absent: at once. */
  readonly afterMs?: number | undefined;
  /** With `afterMs`: a person's acknowledgement until then keeps it from being told. Absent: it does. */
  readonly unlessAcknowledged?: boolean | undefined;
}

/** A channel that hears of an alert. */
export interface ToldTo {
  readonly name: string;
  /** 0: at once. */
  readonly afterMs: number;
}

export type Routes =
  /** Each channel once. */
  | { readonly told: readonly ToldTo[]; readonly unknown: readonly string[] }
  /** It is not told, and why. */
  | {
      readonly notRouted: 'alertingDisabled' | 'noChannel' | 'severityNotRouted' | 'unknownChannel';
      readonly unknown: readonly string[];
    };

/** The channels that hear of an alert of this severity. */
export function routesOf(
  alerting: { readonly enabled: boolean; readonly channelRefs: readonly ChannelRef[] } | undefined,
  severity: Severity,
  exists: (channel: string) => boolean,
): Routes {
  if (!alerting?.enabled) return { notRouted: 'alertingDisabled', unknown: [] };
  if (alerting.channelRefs.length === 0) return { notRouted: 'noChannel', unknown: [] };
  const wanted = alerting.channelRefs.filter(
    ({ severities }) => severities.length === 0 || severities.includes(severity),
  );
  if (wanted.length === 0) return { notRouted: 'severityNotRouted', unknown: [] };
  const unknown = wanted.filter(({ name }) => !exists(name)).map(({ name }) => name);
  const told = new Map<string, ToldTo>();
  for (const { name, afterMs = 0 } of wanted)
    if (exists(name)) told.set(name, { name, afterMs: Math.min(afterMs, told.get(name)?.afterMs ?? Infinity) });
  return told.size === 0 ? { notRouted: 'unknownChannel', unknown } : { told: [...told.values()], unknown };
}
