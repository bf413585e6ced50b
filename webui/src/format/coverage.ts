import type { CoverageList, CoverageReason, CoverageState, TypeCoverage } from '@cronjob-monitor/shared/contract';
import type { Mark } from '../kit/icon/shapes.ts';
import { alertTypeWords } from './alert-words.ts';
import { plural } from './figures.ts';

/** Whether alerts of a CronJob would be heard. */
export const coverageMarks: Readonly<Record<CoverageState, Mark>> = {
  unwatched: { word: 'Unwatched', shape: 'cross', tone: 'crit' },
  off: { word: 'Off', shape: 'dash', tone: 'warn' },
  nobody: { word: 'No channel is told', shape: 'exclamation', tone: 'warn' },
  unreachable: { word: 'Unreachable', shape: 'exclamation', tone: 'warn' },
  unproved: { word: 'Unproved', shape: 'question', tone: 'off' },
  reached: { word: 'Reached', shape: 'check', tone: 'ok' },
};

/** States in which an alert reaches none: a channel that is not proved is tried all the same. */
export const unheardStates = ['unwatched', 'off', 'nobody', 'unreachable'] as const;

const reasons: Readonly<Record<CoverageReason, string>> = {
  alertingDisabled: 'alerting is off in the monitor, or not set',
  noChannel: 'the monitor names no channel',
  severityNotRouted: 'no channel takes this severity',
  unknownChannel: 'its channels do not exist',
  channelNotAllowed: 'its channels do not admit its namespace',
  channelNotReady: 'the channel is not ready',
  channelHeld: 'the channel rests after failures',
  noDrillAcknowledged: 'no drill of the channel was acknowledged in 30 days; drill it',
  nothingAccepted: 'the channel has accepted nothing in 30 days; test it',
};

/** Why alerts of a CronJob would not be heard: types with one reason stand together. */
export function coverageText(types: readonly TypeCoverage[]): string {
  if (types.length === 0) return 'No monitor selects it: widen a selector, or create a monitor';
  const amiss = types.filter(({ state }) => state !== 'reached');
  if (amiss.length === 0) return `Told to ${[...new Set(types.flatMap(({ channels }) => channels))].join(', ')}`;
  const byReason = Map.groupBy(amiss, ({ reason }) =>
    reason === null ? 'no monitor looks for it; switch it on' : reasons[reason],
  );
  return [...byReason]
    .map(([why, of]) => `${of.map(({ type }) => alertTypeWords[type]).join(', ')}: ${why}`)
    .join('; ');
}

/** Of how many some alert would not be heard. A narrowed list cannot tell that it is so of every CronJob. */
export function unheardText({ cronJobs, byState }: CoverageList['summary'], isNarrowed: boolean): string {
  if (byState.nobody === cronJobs && !isNarrowed)
    return 'All CronJobs are watched. No channel is told: set defaultMonitor.channels';
  const unheard = unheardStates.reduce((sum, state) => sum + byState[state], 0);
  return `${unheard || 'None'} of ${plural(cronJobs, 'CronJob')} can fail in a way that reaches no channel`;
}
