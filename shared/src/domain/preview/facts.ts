import { nearestRank } from '../stats/percentile.ts';
import { dailyInstants } from '../schedule/daily-instants.ts';
import { expectedSlots, nthExpectedAfter } from '../slots/expected.ts';
import { epochAt, slotGapMs } from '../slots/tolerance.ts';
import type { SpecEpoch } from '../slots/epoch.ts';
import { failureReason } from '../execution/fault.ts';
import { hopelessFrom, isHopelessReason } from '../execution/hopeless-wait.ts';
import type { Instant } from '../instant.ts';
import type { DetectionFacts, DetectionRules } from '../detect/chain.ts';
import type { Baseline, DurationRegressionFacts } from '../detect/duration-regression.ts';
import { factsReach, p95Duration, slotsReach, suspendedSince, suspensionsIn } from '../detect/facts-reach.ts';
import { runsNeeded } from '../detect/job-failed.ts';
import { outputRunsNeeded } from '../detect/output.ts';
import type { UnfinishedJob } from '../detect/job-stuck.ts';
import type { EndedPreviewRun, OrderedHistory, PreviewedRun } from './history.ts';
import { ShiftOverTime } from './shift-over-time.ts';
import { dayMs } from '../duration.ts';

type StartedRun = PreviewedRun & { readonly startedAt: Instant; readonly finishedAt: Instant };

/** What is open about the CronJob, as far as facts ask. */
export interface OpenNow {
  readonly isTold: (type: 'jobFailed' | 'successRate') => boolean;
  readonly regression: { readonly baseline: Baseline; readonly sinceAt: Instant } | undefined;
}

/** The facts of one CronJob as they were known at any instant, asked in the order of time. */
export class FactsOverTime {
  readonly #history: OrderedHistory;
  readonly #rules: DetectionRules;
  /** What ended before opens nothing. */
  readonly #sinceAt: Instant;
  /** How many of `ended` and `outcomes` are known. */
  #ended = 0;
  #outcomes = 0;
  #lastSuccessAt: Instant | undefined;
  #failed = 0;
  readonly #byStart: readonly StartedRun[];
  #started = 0;
  readonly #goingOn = new Set<StartedRun>();
  /** Runs that count in a rate, those that left its window, and how many of the first so many succeeded. */
  readonly #counted: EndedPreviewRun[] = [];
  #left = 0;
  readonly #successes: number[] = [0];
  /** Durations of scheduled successes, the newest last. */
  readonly #successMs: number[] = [];
  #usual: { readonly of: number; readonly p99Ms: number | undefined } | undefined;
  readonly #shift = new ShiftOverTime();
  /** What the last passed time of day of `finishBy` was about: it changes once a day. */
  #promised: { readonly lastAt: Instant; readonly expectedSlots: number } | undefined;

  constructor(history: OrderedHistory, rules: DetectionRules, sinceAt: Instant) {
    this.#history = history;
    this.#rules = rules;
    this.#sinceAt = sinceAt;
    this.#lastSuccessAt = history.of.lastSuccessBeforeAt;
    this.#byStart = history.of.runs
      .filter((run): run is StartedRun => run.startedAt !== undefined && run.finishedAt !== undefined)
      .sort((a, b) => a.startedAt - b.startedAt);
  }

  /** What was known at `now`, which never goes back, as far as these parts ask: the others cost nothing. */
  at(now: Instant, open: OpenNow, parts: readonly (keyof DetectionFacts)[]): DetectionFacts {
    this.#learn(now);
    const epoch = this.#epochAt(now);
    const suspended = epoch?.suspended ?? false;
    const makers: { readonly [Part in keyof DetectionFacts]-?: () => DetectionFacts[Part] } = {
      jobFailed: () => ({ runs: this.#judgedRuns(), isOpen: open.isTold('jobFailed') }),
      missedSchedule: () => ({
        slots: this.#recentSlots(),
        paused: suspended && this.#rules.pauseMonitoring,
        pauses: this.#rules.pauseMonitoring
          ? suspensionsIn(this.#history.of.epochs.filter(({ fromAt }) => fromAt < now))
          : [],
      }),
      deadMan: () => this.#deadMan(now, epoch),
      durations: () => ({
        lastEnded: this.#newest(isCounted),
        lastSuccess: this.#newest((run) => isCounted(run) && run.status === 'success'),
        running: this.#running().filter(({ isScheduled }) => isScheduled),
      }),
      stuck: () => this.#stuck(now, epoch),
      successRate: () => this.#rate(now, open),
      finishBy: () => this.#finishBy(now),
      regression: () => this.#regression(now, open.regression),
      output: () => this.#output(),
      suspended: () => ({
        suspendedSinceAt: suspended
          ? suspendedSince(this.#history.of.epochs.filter(({ fromAt }) => fromAt < now))
          : undefined,
      }),
    };
    return Object.fromEntries(parts.map((part) => [part, makers[part]()]));
  }

  /** When the last run that has ended was made; undefined: none has. */
  get ranAt(): Instant | undefined {
    return this.#history.ended[this.#ended - 1]?.createdAt;
  }

  /** How many runs failed at this very instant, which is the newest that is known. */
  failedAt(now: Instant): number {
    let failed = 0;
    for (const { finishedAt, status } of this.#endedRuns()) {
      if (finishedAt !== now) break;
      if (status === 'failed') failed++;
    }
    return failed;
  }

  #running(): { readonly jobName: string; readonly startedAt: Instant; readonly isScheduled: boolean }[] {
    return [...this.#goingOn].map(({ jobName, startedAt, trigger }) => {
      return { jobName, startedAt, isScheduled: trigger === 'scheduled' };
    });
  }

  #deadMan(now: Instant, epoch: SpecEpoch | undefined): DetectionFacts['deadMan'] {
    const { createdAt, epochs, timeZone } = this.#history.of;
    // What it asks for later is not known yet.
    const asked = epochs.slice(0, epoch && epochs.indexOf(epoch)).concat(epoch ? { ...epoch, toAt: undefined } : []);
    return {
      suspended: epoch?.suspended ?? false,
      lastSuccessAt: this.#lastSuccessAt,
      originAt: Math.max(createdAt, this.#sinceAt),
      resumedAt: epochs.findLast(({ suspended: was, toAt }) => was && toAt !== undefined && toAt <= now)?.toAt,
      p95DurationMs: p95Duration(this.#successMs.slice(-factsReach.durationsForP95)),
      nthSlotAfter: (after, n) => epoch && nthExpectedAfter(asked, timeZone, after, n),
      unsuccessful: { failed: this.#failed, running: this.#goingOn.size },
    };
  }

  #stuck(now: Instant, epoch: SpecEpoch | undefined): DetectionFacts['stuck'] {
    const jobs = [...this.#goingOn].map((run) => this.#unfinished(run, epoch, now));
    const runs = Math.min(this.#successMs.length, factsReach.durationsForP99);
    // It judges what runs, and nothing does most of the time.
    const p99DurationMs = jobs.length === 0 ? undefined : this.#p99();
    return { jobs, p99DurationMs, runs };
  }

  /** It stays until another run succeeds. */
  #p99(): number | undefined {
    const of = this.#successMs.length;
    if (this.#usual?.of !== of) {
      const rising = this.#successMs.slice(-factsReach.durationsForP99).sort((a, b) => a - b);
      this.#usual = { of, p99Ms: nearestRank(rising, 0.99) };
    }
    return this.#usual.p99Ms;
  }

  #learn(now: Instant): void {
    const { ended, outcomes } = this.#history;
    for (let run = ended[this.#ended]; run && run.finishedAt <= now; run = ended[++this.#ended]) {
      if (run.status === 'failed' && run.finishedAt >= this.#sinceAt) this.#failed++;
      if (run.status === 'success') this.#lastSuccessAt = Math.max(this.#lastSuccessAt ?? 0, run.finishedAt);
      if (run.status === 'success' && run.trigger === 'scheduled' && run.durationMs !== undefined)
        this.#successMs.push(run.durationMs);
      if (!isCounted(run)) continue;
      if (run.status === 'success' && run.durationMs !== undefined)
        this.#shift.learn(run.createdAt, run.finishedAt, run.durationMs);
      this.#counted.push(run);
      this.#successes.push((this.#successes.at(-1) ?? 0) + Number(run.status === 'success'));
    }
    for (let run = this.#byStart[this.#started]; run && run.startedAt <= now; run = this.#byStart[++this.#started])
      this.#goingOn.add(run);
    for (const run of this.#goingOn) if (run.finishedAt <= now) this.#goingOn.delete(run);
    while ((outcomes[this.#outcomes]?.knownAt ?? Infinity) <= now) this.#outcomes++;
  }

  /** Of what became of pods nothing is stored but what the end of the run told: one that never began to run says what it waited for. */
  #unfinished(run: StartedRun, epoch: SpecEpoch | undefined, now: Instant): UnfinishedJob {
    const { jobName, createdAt, startedAt, reason, exitCode, status } = run;
    const isWait = status === 'failed' && exitCode === undefined && isHopelessReason(reason);
    const wait = isWait ? reason : undefined;
    return {
      jobName,
      createdAt,
      startedAt,
      suspended: false,
      waitingSinceAt: wait === undefined ? undefined : startedAt,
      hopelessSinceAt: wait !== undefined && now >= hopelessFrom(wait, startedAt) ? startedAt : undefined,
      waitingReason: wait,
      endingSinceAt: undefined,
      slotGapMs:
        epoch &&
        slotGapMs(epoch.schedule, epoch.timeZone ?? this.#history.of.timeZone, { slotAt: run.scheduledAt, createdAt }),
    };
  }

  /** Runs that are known to have ended, newest first. */
  *#endedRuns(): Generator<EndedPreviewRun, undefined> {
    for (let index = this.#ended - 1; index >= 0; index--) {
      const run = this.#history.ended[index];
      if (run) yield run;
    }
  }

  #judgedRuns(): NonNullable<DetectionFacts['jobFailed']>['runs'] {
    const rule = this.#rules.jobFailed;
    const count = Math.max(factsReach.runs, runsNeeded(rule));
    return this.#endedRuns()
      .filter(({ trigger }) => rule.includeManual || trigger === 'scheduled')
      .take(count)
      .filter(({ finishedAt }) => finishedAt >= this.#sinceAt)
      .map(({ jobName, status, finishedAt, exitCode, reason, jobReason, fault }) => ({
        jobName,
        status,
        endedAt: finishedAt,
        exitCode,
        reason: failureReason({ reason, jobReason }),
        jobReason,
        fault,
      }))
      .toArray();
  }

  #recentSlots(): NonNullable<DetectionFacts['missedSchedule']>['slots'] {
    const reach = slotsReach([this.#rules.missedSchedule]);
    const known = this.#history.outcomes.slice(Math.max(0, this.#outcomes - 2 * reach), this.#outcomes);
    return known
      .filter(({ at }) => at >= this.#sinceAt)
      .sort((a, b) => b.at - a.at)
      .slice(0, reach);
  }

  #newest(fits: (run: EndedPreviewRun) => boolean):
    | {
        readonly jobUid: string;
        readonly jobName: string;
        readonly endedAt: Instant;
        readonly durationMs: number | undefined;
      }
    | undefined {
    const run = this.#endedRuns().find(fits);
    if (!run || run.finishedAt < this.#sinceAt) return undefined;
    const { jobUid, jobName, finishedAt: endedAt, durationMs } = run;
    return { jobUid, jobName, endedAt, durationMs };
  }

  #rate(now: Instant, open: OpenNow): DetectionFacts['successRate'] {
    const rule = this.#rules.successRate;
    const lastRunAt = this.#newest(isCounted)?.endedAt;
    const from = now - (rule?.windowDays ?? 0) * dayMs;
    // What left the window never comes back: time goes on.
    while ((this.#counted[this.#left]?.createdAt ?? Infinity) < from) this.#left++;
    let success = 0;
    let failed = 0;
    // History alone, from before the service watched, opens nothing.
    if (rule && lastRunAt !== undefined) {
      success = this.#successesBefore(this.#counted.length) - this.#successesBefore(this.#left);
      failed = this.#counted.length - this.#left - success;
      if (rule.countMissed) {
        const known = this.#history.outcomes.slice(0, this.#outcomes);
        failed += known.filter(({ outcome, at }) => outcome === 'missed' && at >= from).length;
      }
    }
    return { success, failed, lastRunAt, openGoodEvaluations: open.isTold('successRate') ? 1 : undefined };
  }

  #successesBefore(index: number): number {
    return this.#successes[index] ?? 0;
  }

  #finishBy(now: Instant): DetectionFacts['finishBy'] {
    const rule = this.#rules.finishBy;
    const none = { last: undefined, nextDeadlineAt: undefined };
    if (!rule) return none;
    let around: ReturnType<typeof dailyInstants>;
    try {
      around = dailyInstants(rule.time, rule.timeZone, now);
    } catch {
      return none; // told as a finding of its own
    }
    const { beforeLastAt, lastAt, nextAt } = around;
    const count = this.#expectedBetween(beforeLastAt, lastAt);
    let finishedAt: Instant | undefined;
    // The first of them: a run that was due since then has ended since then.
    for (const run of this.#endedRuns()) {
      if (run.finishedAt <= beforeLastAt) break;
      const { status, scheduledAt } = run;
      if (status === 'success' && scheduledAt !== undefined && scheduledAt > beforeLastAt && scheduledAt <= lastAt)
        finishedAt = run.finishedAt;
    }
    const isPromised = count > 0 && lastAt >= this.#sinceAt;
    const last = isPromised ? { deadlineAt: lastAt, expectedSlots: count, finishedAt } : undefined;
    return { last, nextDeadlineAt: nextAt };
  }

  #expectedBetween(afterAt: Instant, lastAt: Instant): number {
    if (this.#promised?.lastAt !== lastAt) {
      const { epochs, createdAt, timeZone: defaultZone } = this.#history.of;
      const { slots } = expectedSlots(epochs, { afterAt, createdAt, anchorAt: undefined, defaultZone }, lastAt);
      this.#promised = { lastAt, expectedSlots: slots.filter(({ epoch }) => !epoch.suspended).length };
    }
    return this.#promised.expectedSlots;
  }

  #regression(now: Instant, open: OpenNow['regression']): DurationRegressionFacts {
    const rule = this.#rules.regression;
    const none = { recentMs: [], newestEndAt: undefined, baseline: { runs: 0, p25: 0, p75: 0, p95: 0 } };
    const { recentMs, newestEndAt, baseline } = rule ? this.#shift.at(now, rule.baselineWindowMs) : none;
    const isNews = newestEndAt !== undefined && newestEndAt >= this.#sinceAt;
    return {
      recentMs: isNews ? recentMs : [],
      newestEndAt,
      baseline,
      open: open && { ...open, goodEvaluations: 1 },
    };
  }

  #output(): DetectionFacts['output'] {
    const rule = this.#rules.output;
    if (!rule) return undefined;
    const runs = this.#endedRuns()
      .filter(({ status, values }) => status === 'success' && values !== undefined)
      .take(outputRunsNeeded(rule))
      .map(({ jobUid, jobName, finishedAt: endedAt, durationMs, trigger, values = new Map() }) => {
        return { jobUid, jobName, endedAt, durationMs, isScheduled: trigger === 'scheduled', values };
      })
      .toArray()
      .reverse();
    return { runs, judgesFromAt: this.#sinceAt };
  }

  /** Of a deleted CronJob the last one. */
  #epochAt(now: Instant): SpecEpoch | undefined {
    return epochAt(this.#history.of.epochs, now) ?? this.#history.of.epochs.findLast(({ fromAt }) => fromAt < now);
  }
}

function isCounted({ trigger, inMaintenance }: EndedPreviewRun): boolean {
  return trigger === 'scheduled' && !inMaintenance;
}
