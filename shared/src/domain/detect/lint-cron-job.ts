import { counted } from '../delivery/wording.ts';
import { formatDuration, parseResourceDuration, dayMs, minuteMs, hourMs } from '../duration.ts';
import type { Rhythm } from '../schedule/rhythm.ts';
import { findZoneFault } from '../schedule/zone-fault.ts';
import { lintLevels, type LintCode, type LintedCronJob, type LintFacts, type LintFinding } from './lint-finding.ts';

const shortestTtlS = 300;
/** A log is read within seconds of the end of its Job, and within a minute where the service has much to read or has just started. */
const shortestLogTtlS = 60;
const shortestDeadlineMs = 30_000;
const usualStartingDeadlineMs = 300_000;
const usualTtlS = 3_600;
const shortestEveryMs = 60_000;
/** Kubernetes: six retries unless the Job says otherwise, after 10 s and twice as long each time, at most 10 min. */
const usualBackoffLimit = 6;
const firstBackoffMs = 10_000;
const longestBackoffMs = 600_000;
/** A limit leaves so much room above what is usual. */
const room = 1.5;
/** A window of a rate has so many days at most. */
const mostWindowDays = 365;

/** What of the monitor and the cluster is looked at. */
interface RuleFacts extends Pick<LintFacts, 'skewP99Ms'> {
  readonly monitor: Pick<LintFacts['monitor'], 'deadManSwitch' | 'output'> & {
    readonly sla: Omit<NonNullable<LintFacts['monitor']['sla']>, 'durationRegressionThreshold'> | undefined;
  };
}

/** What is to be said about one CronJob as one monitor watches it. */
export function lintCronJob(cronJob: LintedCronJob, facts: RuleFacts): LintFinding[] {
  const { rhythm } = cronJob;
  if (rhythm === 'ZoneUnknown') {
    const fault = findZoneFault(cronJob.facts);
    // Else it is the default zone of the cluster that is not known.
    const message = fault?.message ?? 'the time zone is not known';
    return [of(cronJob, rhythm, fault?.path ?? 'spec.timeZone', message, fault?.mend)];
  }
  if (typeof rhythm === 'string') {
    const text = {
      ScheduleInvalid: 'the schedule cannot be read',
      ScheduleNeverFires: 'the schedule never comes',
    }[rhythm];
    return [of(cronJob, rhythm, 'spec.schedule', text)];
  }
  return [
    ...lintSchedule(cronJob, rhythm, facts),
    ...lintJob(cronJob, rhythm),
    ...lintLimits(cronJob, rhythm, facts),
    ...lintHistory(cronJob),
    ...lintOutput(cronJob, facts),
  ];
}

function lintSchedule(cronJob: LintedCronJob, rhythm: Rhythm, facts: RuleFacts): LintFinding[] {
  const { deadlineS } = cronJob.facts;
  const findings: LintFinding[] = [];
  const tell = (code: LintCode, path: string, text: string, mend?: LintFinding['mend']): void =>
    void findings.push(of(cronJob, code, path, text, mend));
  const deadlineMs = deadlineS === undefined ? undefined : deadlineS * 1000;
  if (rhythm.kind === 'every' && deadlineMs !== undefined && deadlineMs < rhythm.usualGapMs) {
    const text = `an interval of ${inShort(rhythm.usualGapMs)} never comes with a starting deadline of ${inShort(deadlineMs)}`;
    tell('EveryNeverRuns', 'spec.startingDeadlineSeconds', text, null);
  } else if (deadlineMs !== undefined && deadlineMs < Math.max(shortestDeadlineMs, 3 * facts.skewP99Ms)) {
    const text = `a starting deadline of ${inShort(deadlineMs)} is shorter than starts in this cluster may take`;
    const enoughS = Math.ceil(Math.max(usualStartingDeadlineMs, 3 * facts.skewP99Ms) / 1_000);
    tell('StartingDeadlineTight', 'spec.startingDeadlineSeconds', text, enoughS);
  }
  if (rhythm.kind === 'every' && rhythm.usualGapMs < shortestEveryMs) {
    tell(
      'EveryBelowMinute',
      'spec.schedule',
      `${inShort(rhythm.usualGapMs)} is below a minute, which no cluster keeps`,
      '@every 1m',
    );
  }
  const fault = findZoneFault(cronJob.facts);
  if (fault) tell(fault.code, fault.path, fault.message, fault.mend);
  if (rhythm.meetsClockChange) {
    tell('SlotInDstChange', 'spec.schedule', 'a run of the coming year falls into a change of the clocks');
  }
  return findings;
}

function lintJob(cronJob: LintedCronJob, rhythm: Rhythm): LintFinding[] {
  const { policy, activeDeadlineS, restartPolicy, backoffLimit = usualBackoffLimit } = cronJob.facts;
  const { durations } = cronJob;
  const findings: LintFinding[] = [];
  const tell = (code: LintCode, path: string, text: string, mend?: LintFinding['mend']): void =>
    void findings.push(of(cronJob, code, path, text, mend));
  const template = 'spec.jobTemplate.spec';
  if (policy === 'Forbid' && activeDeadlineS === undefined) {
    tell(
      'ForbidWithoutDeadline',
      `${template}.activeDeadlineSeconds`,
      'one run that hangs stops all later ones',
      deadlineFor(cronJob, rhythm),
    );
  }
  if (durations && durations.p95Ms > rhythm.usualGapMs) {
    const text = `runs take ${inShort(durations.p95Ms)} (95th percentile) and come every ${inShort(rhythm.usualGapMs)}`;
    tell('RunsLongerThanPeriod', 'spec.schedule', text);
  }
  if (restartPolicy === 'OnFailure') {
    tell(
      'LastLogLost',
      `${template}.template.spec.restartPolicy`,
      'the last log goes with the pod at the last retry',
      'Never',
    );
  }
  const retriesMs = retryTimeMs(backoffLimit) + (backoffLimit + 1) * (durations?.p50Ms ?? 0);
  const isCutShort = activeDeadlineS !== undefined && activeDeadlineS * 1000 <= rhythm.usualGapMs;
  if (backoffLimit > 0 && retriesMs > rhythm.usualGapMs && !isCutShort) {
    const retries = backoffLimit === 1 ? 'its retry' : `all ${backoffLimit} retries`;
    const text = `a run with ${retries} takes ${inShort(retriesMs)}, longer than the ${inShort(rhythm.usualGapMs)} to the next run`;
    tell(
      'RetriesOutlastPeriod',
      `${template}.backoffLimit`,
      text,
      fewerRetries(backoffLimit, rhythm.usualGapMs, durations?.p50Ms ?? 0),
    );
  }
  return findings;
}

/** Limits of the monitor that this CronJob cannot meet, or never reaches. */
function lintLimits(cronJob: LintedCronJob, rhythm: Rhythm, { monitor }: RuleFacts): LintFinding[] {
  const findings: LintFinding[] = [];
  const tell = (code: LintCode, path: string, text: string, mend?: LintFinding['mend']): void =>
    void findings.push(of(cronJob, code, path, text, mend));
  const { deadManSwitch: deadMan, sla } = monitor;
  const silenceMs = deadMan?.enabled ? durationOf(deadMan.maxTimeSinceLastSuccess) : undefined;
  if (silenceMs !== undefined && silenceMs <= rhythm.largestGapMs) {
    const period = silenceMs <= rhythm.usualGapMs ? 'its period' : 'the longest pause of its schedule';
    const text = `${deadMan?.maxTimeSinceLastSuccess} is no longer than ${period}, ${inShort(rhythm.largestGapMs)}`;
    const gapMs = rhythm.largestGapMs;
    // A seventh on top: a weekly job has a day to come to its end.
    const mend = gapMs === Infinity ? undefined : goText(gapMs + Math.max(hourMs, gapMs / 7));
    tell('DeadManShorterThanPeriod', 'spec.deadManSwitch.maxTimeSinceLastSuccess', text, mend);
  }
  if (!sla?.enabled) return findings;
  const expected = Math.floor((sla.windowDays * dayMs) / rhythm.usualGapMs);
  if (sla.minSuccessRate !== undefined && expected < sla.minRuns) {
    const text = `about ${counted(expected, 'run')} ${expected === 1 ? 'comes' : 'come'} in ${counted(sla.windowDays, 'day')}, and ${sla.minRuns} are needed for a rate`;
    const enough = Math.ceil((sla.minRuns * rhythm.usualGapMs) / dayMs);
    tell('SlaWindowTooSmall', 'spec.sla.windowDays', text, enough <= mostWindowDays ? enough : undefined);
  }
  const maxMs = durationOf(sla.maxDuration);
  if (maxMs === undefined) return findings;
  const { activeDeadlineS } = cronJob.facts;
  if (activeDeadlineS !== undefined && maxMs > activeDeadlineS * 1000) {
    const text = `${sla.maxDuration} is never reached: the Job is ended after ${inShort(activeDeadlineS * 1000)}`;
    tell('MaxDurationUnreachable', 'spec.sla.maxDuration', text, inShort(activeDeadlineS * 1_000));
  } else if (cronJob.durations && maxMs < cronJob.durations.p50Ms) {
    const text = `${sla.maxDuration} is less than what half of its runs take (${inShort(cronJob.durations.p50Ms)})`;
    tell('MaxDurationUnreachable', 'spec.sla.maxDuration', text, goText(room * cronJob.durations.p95Ms));
  }
  return findings;
}

/** Jobs that go at once leave no evidence, and what ended while the service did not watch cannot be told afterwards. */
function lintHistory(cronJob: LintedCronJob): LintFinding[] {
  const { successLimit, failureLimit, ttlAfterFinishedS } = cronJob.facts;
  const reasons: [path: string, text: string, mend: number][] = [];
  if (successLimit === 0) reasons.push(['spec.successfulJobsHistoryLimit', 'no successful Job is kept', 3]);
  if (failureLimit === 0) reasons.push(['spec.failedJobsHistoryLimit', 'no failed Job is kept', 1]);
  if (ttlAfterFinishedS !== undefined && ttlAfterFinishedS < shortestTtlS) {
    const text = `Jobs go ${inShort(ttlAfterFinishedS * 1000)} after their end`;
    reasons.push(['spec.jobTemplate.spec.ttlSecondsAfterFinished', text, usualTtlS]);
  }
  return reasons.map(([path, text, mend]) => of(cronJob, 'HistoryTooShort', path, text, mend));
}

/** Logs go with the pods of a Job, and what they would have said of its output with them. */
function lintOutput(cronJob: LintedCronJob, { monitor }: RuleFacts): LintFinding[] {
  const { successLimit, ttlAfterFinishedS } = cronJob.facts;
  if (monitor.output?.fromLogs !== true) return [];
  const tell = (path: string, when: string, mend: number): LintFinding[] => {
    const text = `the output is read from the log, which is gone with the Job ${when}: it may not be read in time`;
    return [of(cronJob, 'OutputLogsGone', path, text, mend)];
  };
  if (ttlAfterFinishedS !== undefined && ttlAfterFinishedS < shortestLogTtlS) {
    const when =
      ttlAfterFinishedS === 0 ? 'as soon as it has ended' : `${inShort(ttlAfterFinishedS * 1000)} after its end`;
    return tell('spec.jobTemplate.spec.ttlSecondsAfterFinished', when, usualTtlS);
  }
  return successLimit === 0 ? tell('spec.successfulJobsHistoryLimit', 'a moment after it has succeeded', 3) : [];
}

/** How long Kubernetes waits between all attempts of a Job together. */
function retryTimeMs(backoffLimit: number): number {
  let sum = 0;
  for (let retry = 0, wait = firstBackoffMs; retry < Math.min(backoffLimit, 100_000); retry++) {
    sum += wait;
    wait = Math.min(2 * wait, longestBackoffMs);
  }
  return sum;
}

/** Seconds after which a run hangs: half as much again as what runs take, at least ten minutes; without a run the time to the next one. */
function deadlineFor({ durations }: LintedCronJob, { usualGapMs }: Rhythm): number | undefined {
  const wantedMs = durations ? Math.max(10 * minuteMs, room * durations.p95Ms) : usualGapMs;
  return wantedMs === Infinity ? undefined : Math.ceil(wantedMs / minuteMs) * 60;
}

/** The most retries that are over before the next run; undefined: no fewer would be. */
function fewerRetries(retries: number, gapMs: number, runMs: number): number | undefined {
  for (let fewer = Math.min(retries, usualBackoffLimit + 1) - 1; fewer >= 0; fewer--)
    if (retryTimeMs(fewer) + (fewer + 1) * runMs <= gapMs) return fewer;
  return undefined;
}

function of(
  { facts: { namespace, name } }: LintedCronJob,
  code: LintCode,
  path: string,
  message: string,
  mend?: LintFinding['mend'],
): LintFinding {
  const cronJob = { namespace, name };
  return { code, level: lintLevels[code], path, cronJob, message, ...(mend !== undefined && { mend }) };
}

/** As a resource writes it, rounded up: to whole minutes, above an hour to five of them, above a day to hours. */
export function goText(ms: number): string {
  const step = ms > dayMs ? hourMs : ms > hourMs ? 5 * minuteMs : minuteMs;
  return inShort(Math.ceil(ms / step) * step);
}

/** A duration field, milliseconds; undefined: off, or none that can be read. */
function durationOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseResourceDuration(text);
}

/** `24h` and not `24h0m0s`. */
function inShort(ms: number): string {
  return formatDuration(Math.round(ms / 1000) * 1000 || ms).replace(/(?<=[hm])0[ms](?:0s)?$/, '');
}
