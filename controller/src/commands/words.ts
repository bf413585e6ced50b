import {
  type AlertRoute,
  type CoverageReason,
  type Told,
  type ToldReason,
  toldWords,
} from '@cronjob-monitor/shared/contract';

/** `2026-11-21 06:52Z`: to the minute, in UTC. */
export function timeText(instant: string): string {
  return `${instant.slice(0, 16).replace('T', ' ')}Z`;
}

const reasons: Readonly<Record<ToldReason, string>> = {
  alertingDisabled: 'alerting is off in the monitor',
  noChannel: 'the monitor names no channel',
  severityNotRouted: 'no channel takes this severity',
  unknownChannel: 'the channel does not exist',
  channelNotAllowed: 'the channel does not admit who names it',
  instead: 'a route tells these in the place of the owner',
  clearedBeforeSent: 'it cleared before it was sent',
  acknowledged: 'it was acknowledged before its turn',
  channelDeleted: 'the channel was deleted',
  expired: 'its time was over before it could be sent',
  rejected: 'the receiver refused it',
  maintenance: 'a maintenance window',
  monitorGone: 'its monitor was deleted',
  silence: 'a silence',
  storm: 'a storm of alerts that is told in a digest',
  inhibited: 'a worse alert of the same CronJob was told',
  dependsOn: 'a CronJob that it depends on',
  parked: 'the channel has to be mended first',
  invalid: 'the channel is not valid',
  duplicate: 'it was told a short while ago',
  flapping: 'it comes and goes',
  alertDelay: 'alertDelay of the monitor',
  startupGrace: 'the service has just started',
  scope: 'alerts of one cause are told together',
  rateLimit: 'the rate limit',
  backoff: 'the receiver failed, and is tried again',
  circuit: 'the channel rests after failures',
  order: 'the message before it',
  after: 'its turn comes after the other channels',
};

/** Was it told, and if not, why. */
export function toldText({ state, reason, word, until, channels }: Told): string {
  const inAWord = word === null ? '' : `, ${toldWords[word].toLowerCase()}`;
  const why = reason === null ? '' : `${inAWord}: ${reasons[reason]}`;
  const end = until === null ? '' : ` until ${timeText(until)}`;
  const names = [...new Set(channels.map(({ channel }) => channel))].join(', ');
  switch (state) {
    case 'sent':
      return `told to ${names}`;
    case 'waiting':
      return `the message waits${why}${end}`;
    case 'held':
      return `held back${why}${end}`;
    case 'failed':
      return `it could not be told to ${names}${why}`;
    default:
      return `no channel is told${why}`;
  }
}

/** Why an alert would not be heard. */
export const routeReasons: Readonly<Record<CoverageReason, string>> = {
  alertingDisabled: reasons.alertingDisabled,
  noChannel: reasons.noChannel,
  severityNotRouted: reasons.severityNotRouted,
  unknownChannel: 'its channels do not exist',
  channelNotAllowed: 'its channels do not admit who names them',
  channelNotReady: 'the channel is not ready',
  channelHeld: 'the channel is held after failures',
  nothingAccepted: 'it has accepted nothing of late',
  noDrillAcknowledged: 'no drill of it was acknowledged of late',
};

/** `jobFailed, warning: told to team-chat`. */
export function toldLine({
  type,
  severity,
  reason,
  channels,
}: Pick<AlertRoute, 'type' | 'severity' | 'reason'> & {
  readonly channels: readonly { readonly name: string }[];
}): string {
  const names = channels.map(({ name }) => name).join(', ');
  const nobody = reason === null ? '' : `: ${routeReasons[reason]}`;
  return `${type}, ${severity}: ${channels.length > 0 ? `told to ${names}` : `no channel is told${nobody}`}`;
}
