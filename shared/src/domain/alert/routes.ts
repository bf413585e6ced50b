import type { Severity } from '../../contract/index.ts';

/** One channel a monitor names, with the severities it takes; none named means both. */
export interface ChannelRef {
  readonly name: string;
  readonly severities: readonly Severity[];
}

export type Routes =
  | { readonly told: readonly string[]; readonly unknown: readonly string[] }
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
  const told = wanted.filter(({ name }) => exists(name)).map(({ name }) => name);
  return told.length === 0 ? { notRouted: 'unknownChannel', unknown } : { told, unknown };
}
