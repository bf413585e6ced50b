import type { AlertTimelineEntry, AlertTimelineKind, Execution } from '@cronjob-monitor/shared/contract';
import type { Sign } from '../kit/icon/drawings.ts';
import type { Shape, Tone } from '../kit/icon/shapes.ts';
import { spelledOut } from './duration.ts';
import { reasonText } from './alert-reasons.ts';
import { outcomeText } from './run-sentence.ts';
import { executionMarks, triggerWords } from './runs.ts';
import { clockText, shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

export const lineGroups = ['runs', 'decisions', 'deliveries'] as const;
type LineGroup = (typeof lineGroups)[number];

/** One line of the history of an alert: what happened, told first, and what there is to know besides. */
export interface TimelineLine {
  readonly key: string;
  readonly at: string;
  readonly group: LineGroup;
  readonly shape?: Shape;
  readonly sign?: Sign;
  readonly tone: Tone | undefined;
  readonly says: string;
  readonly why: string | undefined;
  /** The run that it tells of. */
  readonly jobName: string | undefined;
}

type Entry = AlertTimelineEntry;
interface Teller {
  readonly group: LineGroup;
  readonly shape?: Shape;
  readonly sign?: Sign;
  readonly tone?: Tone;
  readonly says: (entry: Entry) => string;
  /** `quoted`: what stands behind the colon of the server's sentence tells it, such as a note. Else the reason does. */
  readonly from?: 'quoted';
}

const channelOf = ({ channel }: Entry): string => channel ?? 'The channel';
const byOf = ({ by }: Entry): string => (by === null ? '' : ` by ${by}`);

const tellers: Readonly<Record<AlertTimelineKind, Teller>> = {
  detected: { group: 'decisions', sign: 'alerts', tone: 'crit', says: () => 'Found' },
  pending: { group: 'decisions', shape: 'hourglass', says: () => 'Waits before a channel is told' },
  activated: { group: 'decisions', sign: 'alerts', tone: 'crit', says: () => 'Active' },
  suppressed: { group: 'decisions', shape: 'bar', tone: 'held', says: () => 'Held back' },
  released: { group: 'decisions', shape: 'triangle', says: () => 'Held back no more' },
  occurrence: { group: 'decisions', shape: 'cross', tone: 'crit', says: () => 'Once more' },
  severityChanged: {
    group: 'decisions',
    shape: 'exclamation',
    tone: 'warn',
    says: () => 'The severity changed',
  },
  held: {
    group: 'decisions',
    shape: 'bar',
    tone: 'held',
    says: ({ channel }) => (channel === null ? 'No message' : `No message to ${channel}`),
  },
  queued: {
    group: 'deliveries',
    shape: 'hourglass',
    says: ({ channel }) => (channel === null ? 'A message is on its way' : `A message to ${channel} is on its way`),
  },
  notRouted: {
    group: 'decisions',
    shape: 'dash',
    says: ({ channel, reason }) =>
      channel === null && reason !== 'instead' ? 'No channel is asked' : `${channel ?? 'The owner'} is not asked`,
  },
  collapsed: { group: 'deliveries', shape: 'merge', says: (entry) => `${channelOf(entry)}: joined another message` },
  rateLimited: { group: 'deliveries', shape: 'hourglass', says: (entry) => `${channelOf(entry)} waits` },
  digested: { group: 'deliveries', shape: 'list', says: (entry) => `${channelOf(entry)}: told in a digest` },
  attemptFailed: {
    group: 'deliveries',
    shape: 'exclamation',
    tone: 'warn',
    says: (entry) => `${channelOf(entry)} did not take it`,
    from: 'quoted',
  },
  parked: {
    group: 'deliveries',
    shape: 'bar',
    tone: 'held',
    says: (entry) => `${channelOf(entry)}: parked until it is mended`,
  },
  dead: {
    group: 'deliveries',
    shape: 'cross',
    tone: 'crit',
    says: (entry) => `${channelOf(entry)}: given up`,
  },
  redriven: {
    group: 'deliveries',
    sign: 'reload',
    says: (entry) => `Sent again to ${channelOf(entry)}${byOf(entry)}`,
  },
  sent: {
    group: 'deliveries',
    sign: 'channels',
    tone: 'ok',
    says: (entry) => `Told ${channelOf(entry)}`,
  },
  acknowledged: { group: 'decisions', sign: 'user', says: (entry) => `Acknowledged${byOf(entry)}`, from: 'quoted' },
  unacknowledged: {
    group: 'decisions',
    sign: 'clock',
    says: (entry) => `The acknowledgement ended${byOf(entry)}`,
  },
  mutedThere: {
    group: 'decisions',
    shape: 'bar',
    tone: 'held',
    says: (entry) => `${channelOf(entry)} keeps it from people`,
    from: 'quoted',
  },
  unmutedThere: {
    group: 'decisions',
    shape: 'triangle',
    says: (entry) => `${channelOf(entry)} keeps it from people no more`,
  },
  resolved: { group: 'decisions', shape: 'check', tone: 'ok', says: () => 'Resolved', from: 'quoted' },
  expired: { group: 'decisions', shape: 'dash', says: () => 'Expired' },
  cancelled: { group: 'decisions', shape: 'dash', says: () => 'Never sent' },
};

/** The history of an alert with the runs of its time, newest first. */
export function timelineLines(
  entries: readonly AlertTimelineEntry[],
  runs: readonly Execution[],
  viewer: Viewer,
): TimelineLine[] {
  const decisions = entries.map((entry, index) => toLine(entry, index, viewer));
  const lines = [...decisions, ...runs.map((run) => runLine(run, viewer.timeZone))];
  // Of what happened at one instant the later entry of the server stands above.
  return lines
    .map((line, index) => ({ line, index }))
    .sort((a, b) => (a.line.at === b.line.at ? b.index - a.index : a.line.at < b.line.at ? 1 : -1))
    .map(({ line }) => line);
}

function toLine(entry: AlertTimelineEntry, index: number, viewer: Viewer): TimelineLine {
  const { group, shape, sign, tone, says } = tellers[entry.kind];
  return {
    key: `${index} ${entry.kind}`,
    at: entry.at,
    group,
    ...(shape ? { shape } : {}),
    ...(sign ? { sign } : {}),
    tone,
    says: says(entry),
    why: whyOf(entry, viewer),
    jobName: undefined,
  };
}

/** The reason in our words, and what only the server's sentence knows: a note, until when, how often. */
function whyOf(entry: AlertTimelineEntry, { timeZone, nowMs }: Viewer): string | undefined {
  const message = spelledOut(entry.message).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) =>
    shortTimeText(at, timeZone, nowMs),
  );
  const [, sentence = '', times] = /^(.*?)(?: \((\d+ times, last [^)]+)\))?$/s.exec(message) ?? [];
  const until = /, (until [^,]+)$/.exec(sentence)?.[1];
  const { from } = tellers[entry.kind];
  const namesIt = ['unknownChannel', 'channelNotAllowed', 'instead'];
  const isNameless = entry.kind === 'notRouted' && namesIt.includes(entry.reason ?? '');
  const quoted = from === 'quoted' ? sentence.split(': ').slice(1).join(': ') : '';
  const told = isNameless ? sentence : quoted || reasonText(entry.reason);
  const parts = [told, from === undefined ? until : undefined, times].filter(
    (part) => part !== undefined && part !== '',
  );
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** A run of the time of an alert: `Run of 02:00 failed after 3 min: exit code 137`. */
function runLine(run: Execution, timeZone: string): TimelineLine {
  const mark = executionMarks[run.status];
  const which =
    run.scheduledTime === null
      ? `${triggerWords[run.trigger]} run of ${clockText(run.createdAt, timeZone).slice(0, 5)}`
      : `Run of ${clockText(run.scheduledTime, timeZone).slice(0, 5)}`;
  return {
    key: run.id,
    at: run.completionTime ?? run.startTime ?? run.createdAt,
    group: 'runs',
    shape: mark.shape,
    tone: mark.tone,
    says: which,
    why: outcomeText(run),
    jobName: run.jobName,
  };
}
