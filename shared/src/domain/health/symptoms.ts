import { formatDuration, minuteMs } from '../duration.ts';
import type { Instant } from '../instant.ts';
import { toldProblems, type Problem, type SymptomCause } from './problem.ts';

/** How many of how many. */
export interface Share {
  readonly of: number;
  readonly bad: number;
}

/** What a process knows of itself; what it does not know is absent. Durations in milliseconds. */
export interface HealthFigures {
  /** Since the last event, bookmark or list of each kind that is watched. */
  readonly watchAgesMs?: Readonly<Record<string, number>>;
  /** For how long the absence of a run has proved nothing. */
  readonly blindMs?: number | undefined;
  /** Ended Jobs that were given up, in the last 15 minutes. */
  readonly runsDropped?: number;
  /** Runs that were not seen to end, in the last hour. */
  readonly runsUnobserved?: number;
  /** When each scheduler last ended a good run, and how often it runs. */
  readonly schedulers?: readonly SchedulerFigures[];
  /** Keys that wait, by queue. */
  readonly queueDepths?: Readonly<Record<string, number>>;
  /** Runs that were recorded in the last 10 minutes; bad: more than 2 s after their end. */
  readonly recordings?: Share;
  readonly monitorsInError?: number | undefined;
  /** Days that were counted anew and came out differently, in the last hour. */
  readonly rollupsDiffer?: number;
  /** 99th percentile of the last minute. */
  readonly eventLoopDelayMs?: number | undefined;
  /** Writes that were refused because another leads, in the last 15 minutes. */
  readonly fencedWrites?: number;
  readonly volumeFreeBytes?: number | undefined;
  readonly deadMessages?: number | undefined;
  /** Since the oldest message that is not sent was due. */
  readonly outboxAgeMs?: number | undefined;
  /** Messages of the last 10 minutes; bad: sent more than 5 s after what they tell was found. */
  readonly messages?: Share;
  readonly channelsNotReady?: readonly string[];
  /** Those whose newest drill was not acknowledged or not delivered. */
  readonly channelsNotProved?: readonly string[];
  /** Channels whose messages are held, with what holds them. */
  readonly channelsHeld?: readonly (readonly [channel: string, hold: string])[];
  /** Messages whose channel does not exist, in the last 15 minutes. */
  readonly unroutedMessages?: number;
  /** Since this replica last led, or saw another lead. */
  readonly leaderlessMs?: number;
  /** Since the heartbeat URL was last called with success. */
  readonly heartbeatAgeMs?: number | undefined;
  readonly certificateEndsInMs?: number | undefined;
  readonly scrapeMs?: number | undefined;
  /** Requests to the API in the last 5 minutes; bad: those that failed on our side. */
  readonly requests?: Share;
}

interface SchedulerFigures {
  readonly name: string;
  /** Undefined: it has not ended a good run in this term. */
  readonly lastAt: Instant | undefined;
  /** Since then; infinite without one. */
  readonly ageMs: number;
  readonly intervalMs: number;
}

/** A watch that heard nothing for so long may have missed something. */
const maxWatchAgeMs = 2 * minuteMs;
const maxBlindMs = 5 * minuteMs;
/** A scheduler is late after so many of its intervals. */
const lateIntervals = 3;
const maxQueueDepth = 1_000;
const maxEventLoopDelayMs = 1_000;
const leastFreeBytes = 256 * 1024 * 1024;
const maxOutboxAgeMs = 5 * minuteMs;
const maxLeaderlessMs = 2 * minuteMs;
const maxHeartbeatAgeMs = 5 * minuteMs;
const certificateWarningMs = 7 * 24 * 60 * minuteMs;
const maxScrapeMs = 200;
/** Of runs and messages that may be late. */
const maxLateShare = 0.01;
const maxFailedShare = 0.05;

/**
 * What is wrong by the figures of a process, each with its cause; empty: all is well. It decides from the figures alone: what has to last
 * before it is told is the patience of its cause. None of it keeps the process from being ready.
 */
export function symptomsOf(figures: HealthFigures): Problem[] {
  return toldProblems([
    ...blindness(figures),
    ...lateness(figures),
    ...storageTrouble(figures),
    ...silence(figures),
    ...weakness(figures),
  ]);
}

function problem(cause: SymptomCause, key: string, sentence: string): Problem {
  return { key, sentence, cause, blocks: false };
}

/** A problem while the condition holds. */
function when(holds: boolean, cause: SymptomCause, sentence: () => string): Problem[] {
  return holds ? [problem(cause, cause, sentence())] : [];
}

function blindness({ watchAgesMs = {}, blindMs = 0, runsDropped = 0, runsUnobserved = 0 }: HealthFigures): Problem[] {
  const silent = Object.entries(watchAgesMs).filter(([, ageMs]) => ageMs > maxWatchAgeMs);
  return [
    ...silent.map(([kind, ageMs]) =>
      problem('watchSilent', `silent ${kind}`, `Nothing was heard of ${kind} for ${words(ageMs)}`),
    ),
    ...when(
      blindMs > maxBlindMs,
      'blind',
      () => `The cluster has not been seen for ${words(blindMs)}: a run that is missed is found later`,
    ),
    ...when(
      runsDropped > 0,
      'runsDropped',
      () => `${runsDropped} ended Jobs were given up because more waited than may wait: their runs are lost`,
    ),
    ...when(
      runsUnobserved > 0,
      'runsUnobserved',
      () => `${runsUnobserved} runs of the last hour ended unseen: their outcome is unknown`,
    ),
  ];
}

function lateness(figures: HealthFigures): Problem[] {
  const { schedulers = [], queueDepths = {}, recordings, monitorsInError = 0, rollupsDiffer = 0 } = figures;
  const { eventLoopDelayMs = 0 } = figures;
  const late = schedulers.filter(({ ageMs, intervalMs }) => ageMs > lateIntervals * intervalMs);
  const deep = Object.entries(queueDepths).filter(([, depth]) => depth > maxQueueDepth);
  return [
    ...late.map(({ name, lastAt }) => lateScheduler(name, lastAt)),
    ...deep.map(([name, depth]) =>
      problem(
        'workQueueDeep',
        `queue ${name}`,
        `${depth} keys wait in the queue ${name}: look at database and processor`,
      ),
    ),
    ...when(
      isLargeShare(recordings, maxLateShare),
      'recordingSlow',
      () => 'More than one in a hundred runs is recorded over 2 s after its end: look at the database',
    ),
    ...when(monitorsInError > 0, 'monitorsInError', () => `${monitorsInError} monitors cannot be evaluated`),
    ...when(
      rollupsDiffer > 0,
      'rollupsDiffer',
      () => `${rollupsDiffer} days were counted anew and came out differently`,
    ),
    ...when(
      eventLoopDelayMs > maxEventLoopDelayMs,
      'eventLoopSlow',
      () => `The process is ${words(eventLoopDelayMs)} late with its work: give it more processor`,
    ),
  ];
}

/** The scheduler of the dead-man's switch is the one that evaluates. */
function lateScheduler(name: string, lastAt: Instant | undefined): Problem {
  const since = lastAt === undefined ? ' in this term' : ` since ${new Date(lastAt).toISOString()}`;
  if (name === 'dead-man-switch') return problem('schedulerLate', 'evaluation', `Nothing was evaluated${since}`);
  return problem('schedulerLate', `scheduler ${name}`, `The scheduler ${name} has not ended a good run${since}`);
}

function storageTrouble({ fencedWrites = 0, volumeFreeBytes }: HealthFigures): Problem[] {
  return [
    ...when(fencedWrites > 0, 'fenced', () => `${fencedWrites} writes were refused because another controller leads`),
    ...when(
      volumeFreeBytes !== undefined && volumeFreeBytes < leastFreeBytes,
      'volumeNearlyFull',
      () => `The volume of the database has ${Math.floor((volumeFreeBytes ?? 0) / 1024 / 1024)} MiB left: make room`,
    ),
  ];
}

function silence(figures: HealthFigures): Problem[] {
  const {
    deadMessages = 0,
    outboxAgeMs = 0,
    messages,
    channelsNotReady = [],
    channelsHeld = [],
    channelsNotProved = [],
  } = figures;
  const { unroutedMessages = 0 } = figures;
  return [
    ...when(deadMessages > 0, 'messagesDead', () => `${deadMessages} messages were given up: send them again`),
    ...when(
      outboxAgeMs > maxOutboxAgeMs,
      'messagesWait',
      () => `A message that is due has waited for ${words(outboxAgeMs)}: look at its channel`,
    ),
    ...when(
      isLargeShare(messages, maxLateShare),
      'messagesSlow',
      () => 'More than one in a hundred messages goes out over 5 s after what it tells was found',
    ),
    ...channelsNotReady.map((name) =>
      problem('channelNotReady', `channel ${name}`, `The channel ${name} cannot be used: its conditions say why`),
    ),
    ...channelsHeld.map(([name, hold]) =>
      problem('channelHeld', `held ${name}`, `The messages of the channel ${name} are held: ${hold}`),
    ),
    ...channelsNotProved.map((name) =>
      problem(
        'drillFailed',
        `drill ${name}`,
        `The newest drill of the channel ${name} proved nothing: its messages may reach no person`,
      ),
    ),
    ...when(
      unroutedMessages > 0,
      'unknownChannel',
      () => `${unroutedMessages} messages name a channel that does not exist`,
    ),
  ];
}

function weakness(figures: HealthFigures): Problem[] {
  const { leaderlessMs = 0, heartbeatAgeMs = 0, certificateEndsInMs, scrapeMs = 0, requests } = figures;
  return [
    ...(leaderlessMs > maxLeaderlessMs ? [noLeader(false)] : []),
    ...when(
      heartbeatAgeMs > maxHeartbeatAgeMs,
      'heartbeatStopped',
      () => `The address of heartbeat-url was last called with success ${words(heartbeatAgeMs)} ago`,
    ),
    ...when(
      certificateEndsInMs !== undefined && certificateEndsInMs < certificateWarningMs,
      'certificateExpires',
      () => 'The certificate of the metrics port ends within seven days: renew it',
    ),
    ...when(scrapeMs > maxScrapeMs, 'scrapeSlow', () => `Writing the metrics takes ${words(scrapeMs)}`),
    ...when(
      isLargeShare(requests, maxFailedShare),
      'apiErrors',
      () => 'More than one in twenty requests to the API fails on our side',
    ),
  ];
}

/** `blocks`: for a process that has nothing to do without a leader. */
export function noLeader(blocks: boolean): Problem {
  const sentence = 'No controller leads: nothing is recorded, evaluated or sent';
  return { ...problem('noLeader', 'leader', sentence), blocks };
}

function isLargeShare(share: Share | undefined, most: number): boolean {
  return share !== undefined && share.bad > most * share.of;
}

/** Whole seconds where there are any. */
function words(ms: number): string {
  return formatDuration(ms < 1_000 ? Math.round(ms) : Math.floor(ms / 1_000) * 1_000);
}
