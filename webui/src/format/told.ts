import {
  alertTypeTable,
  toldWords,
  type Alert,
  type AlertWaitsFor,
  type Severity,
  type Told,
  type ToldChannel,
  type ToldReason,
} from '@cronjob-monitor/shared/contract';
import type { Mark } from '../kit/icon/shapes.ts';
import { ordinal } from './figures.ts';
import { shortId } from './short-id.ts';
import { shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** Was an alert told, and if not, why: one mark whose word is the whole sentence. */
export function toldMark(alert: Pick<Alert, 'told' | 'severity'> & Partial<Pick<Alert, 'id'>>, viewer: Viewer): Mark {
  const { told } = alert;
  switch (told.state) {
    case 'sent':
      return { word: sentText(told, viewer, alert.id), shape: 'check', tone: 'ok' };
    case 'waiting':
      return { word: afterHeard(told, waitingText(told, viewer), viewer), shape: 'hourglass', tone: 'off' };
    case 'held':
      return { word: afterHeard(told, heldText(told, viewer), viewer), shape: 'bar', tone: 'held' };
    case 'failed':
      return { word: afterHeard(told, failedText(told), viewer), shape: 'cross', tone: 'crit' };
    default:
      return { word: noneText(told.reason, alert.severity), shape: 'exclamation', tone: 'warn' };
  }
}

const heardStates: ReadonlySet<ToldChannel['state']> = new Set(['sent', 'collapsed', 'digested']);

function sentText({ channels, reason }: Told, viewer: Viewer, id: string | undefined): string {
  // Others heard in the place of the owner: by the id people speak with them.
  const of = id === undefined ? '' : `, #${shortId(id)}`;
  if (reason === 'instead') return `Told to ${channels.map(({ channel }) => channel).join(', ')}${of}`;
  const sent = channels.filter(({ state }) => heardStates.has(state));
  if (sent.length === 0) return 'Told';
  // Those are told some time after the others, if it is open then.
  const next = channels.flatMap(({ channel, state, nextAttemptAt: at }) => {
    const isNext = state === 'ready' && at !== null && Date.parse(at) > viewer.nowMs;
    return isNext ? `next ${channel} ${shortTimeText(at, viewer.timeZone, viewer.nowMs)}` : [];
  });
  // Channels that heard alike stand together: `on-call, team-chat 21:29`.
  const alike = Map.groupBy(sent, (channel) => howText(channel, viewer));
  return [...[...alike].map(([how, of]) => `${of.map(({ channel }) => channel).join(', ')}${how}`), ...next].join('; ');
}

const ofChannel: readonly (ToldReason | null)[] = ['backoff', 'circuit', 'parked', 'invalid', 'rejected', 'expired'];

function afterHeard(told: Told, text: string, viewer: Viewer): string {
  const channels = told.channels.filter(({ state }) => heardStates.has(state));
  if (channels.length === 0 || !ofChannel.includes(told.reason)) return text;
  return `${sentText({ ...told, reason: null, channels }, viewer, undefined)}; ${text}`;
}

function howText({ state, at, attempts, mutedThere }: ToldChannel, { timeZone, nowMs }: Viewer): string {
  const muted = mutedThere === null ? '' : `, ${mutedThere}`;
  if (state === 'collapsed') return `: joined another message${muted}`;
  if (state === 'digested') return `: in a digest${muted}`;
  const tries = attempts > 1 ? `, ${ordinal(attempts)} try` : '';
  return ` ${shortTimeText(at, timeZone, nowMs)}${tries}${muted}`;
}

const waits: Readonly<Partial<Record<ToldReason, string>>> = {
  alertDelay: 'Waits before the first message',
  startupGrace: 'Waits for the startup grace',
  circuit: 'Waits: the channel rests after failures',
  order: 'Waits for the message before it',
  after: 'Waits for its turn after the other channels',
};

function waitingText(told: Told, viewer: Viewer): string {
  const retried = told.channels.find(({ nextAttemptAt, attempts }) => nextAttemptAt !== null && attempts > 0);
  if (told.reason === 'backoff' && retried?.nextAttemptAt && Date.parse(retried.nextAttemptAt) > viewer.nowMs) {
    const next = shortTimeText(retried.nextAttemptAt, viewer.timeZone, viewer.nowMs);
    return `${retried.channel}: next try ${next}${answer(retried)}`;
  }
  const why = wordText(told) ?? (told.reason === null ? undefined : waits[told.reason]) ?? 'On its way';
  return `${why}${untilText(told, viewer)}`;
}

function heldText(told: Told, viewer: Viewer): string {
  if (told.reason === 'parked' || told.reason === 'invalid') {
    const parked = told.channels.find(({ state }) => state === 'parked');
    return `${parked?.channel ?? 'Its channel'}: parked until mended${parked ? answer(parked) : ''}`;
  }
  const why = wordText(told) ?? (told.reason === 'monitorGone' ? 'Held back: monitor deleted' : 'Held back');
  return `${why}${untilText(told, viewer)}`;
}

function wordText({ word }: Told): string | undefined {
  return word === null ? undefined : toldWords[word];
}

function failedText({ reason, channels }: Told): string {
  const dead = channels.find(({ state }) => state === 'dead');
  const who = dead?.channel ?? 'Its channel';
  return reason === 'rejected' ? `${who}: refused${dead ? answer(dead) : ''}` : `${who}: given up after 24 h`;
}

/** The channel that kept an alert from being told to any, and since when: its page says what it answers. */
interface RefusingChannel {
  readonly channel: string;
  readonly text: string;
}

/** Undefined: a channel has heard of it, or none has refused it. */
export function refusingChannel(told: Told | null | undefined, viewer: Viewer): RefusingChannel | undefined {
  const isHeard = told?.channels.some(({ state }) => heardStates.has(state)) ?? false;
  const stopped = told?.channels.find(({ state }) => state === 'dead' || state === 'parked');
  const isRefused = told?.state === 'failed' || told?.reason === 'parked' || told?.reason === 'invalid';
  if (!told || !stopped || isHeard || !isRefused) return undefined;
  const at = shortTimeText(stopped.at, viewer.timeZone, viewer.nowMs);
  const how =
    stopped.state === 'parked'
      ? `has taken no message of it since ${at}`
      : told.reason === 'expired'
        ? `took no message of it until ${at}, when it was given up`
        : `refused it at ${at}`;
  return { channel: stopped.channel, text: `${how}${answer(stopped)}, and no other channel was told: open it` };
}

const silentReasons: Readonly<Partial<Record<ToldReason, string>>> = {
  alertingDisabled: 'Alerting is off',
  noChannel: 'No channel is named',
  unknownChannel: 'Its channel does not exist',
  channelNotAllowed: 'Its channel does not admit its namespace',
  clearedBeforeSent: 'Cleared before it was sent',
  acknowledged: 'Acknowledged before it was sent',
  channelDeleted: 'Its channel was deleted',
};

function noneText(reason: ToldReason | null, severity: Severity): string {
  if (reason === 'severityNotRouted') return `No channel takes ${severity}`;
  return (reason === null ? undefined : silentReasons[reason]) ?? 'No channel is told';
}

function untilText({ until }: Told, { timeZone, nowMs }: Viewer): string {
  // What has passed since the page was read is no time to wait for.
  return until === null || Date.parse(until) <= nowMs ? '' : ` until ${shortTimeText(until, timeZone, nowMs)}`;
}

function answer({ httpStatus, category }: ToldChannel): string {
  const said = httpStatus ?? category;
  return said === null ? '' : ` (${said})`;
}

/** What holds the message back, and who heard of that: stands after a link to its CronJob. */
export function waitsForText({ type, since, channels }: AlertWaitsFor, viewer: Viewer): string {
  const told = channels.length === 0 ? '' : `, told to ${channels.join(', ')}`;
  return `, ${alertTypeTable[type].sinceWhen} ${shortTimeText(since, viewer.timeZone, viewer.nowMs)}${told}`;
}
