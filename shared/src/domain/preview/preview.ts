import type { AlertSubject, AlertType, Severity } from '../../contract/index.ts';
import type { AlertRules, AlertWorld } from '../alert/alert.ts';
import { isOverWindow } from '../alert-types/traits.ts';
import type { MessageHold } from '../alert/holds.ts';
import { type HoldingVerdict, toHolding } from '../delivery/to-holding.ts';
import { type DetectionRules, judge, type Judged, judgedKinds, type Part, partOf } from '../detect/chain.ts';
import type { Baseline } from '../detect/duration-regression.ts';
import { jobNamesOf } from '../detect/facts-reach.ts';
import { inhibitionOf, type PossibleCause } from '../detect/inhibition.ts';
import { failureReason } from '../execution/fault.ts';
import { earliest, type Instant } from '../instant.ts';
import { AlertsOverTime, type PreviewedRow } from './alerts-over-time.ts';
import { FactsOverTime, type OpenNow } from './facts.ts';
import { type OrderedHistory, orderHistory, type PreviewedCronJob, type PreviewedRun } from './history.ts';
import { dayMs } from '../duration.ts';

/** What a monitor asks of its CronJobs and does with the answers. */
interface PreviewRules {
  readonly detection: DetectionRules;
  readonly alerts: AlertRules;
  /** Absent: every channel that is named is there. */
  readonly channelOf?: AlertWorld['channelOf'] | undefined;
}

export interface PreviewRange {
  /** What ended before opens nothing. */
  readonly fromAt: Instant;
  readonly toAt: Instant;
  /** How late the cluster starts Jobs: 99th percentile. */
  readonly skewP99Ms: number;
}

/** An alert that could have been told. */
export interface PreviewedAlert {
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  readonly sinceAt: Instant;
  /** When it became active first, and last: one that flaps is active several times. */
  readonly openedAt: Instant;
  readonly activatedAt: Instant;
  /** Undefined: it is open still. */
  readonly endedAt: Instant | undefined;
  readonly message: string;
  /** Channels that were told. */
  readonly channels: readonly string[];
}

const tickMs = 60_000;
const slaTickMs = 300_000;
/** No history makes more looks necessary; a schedule of seconds over a month stays below. */
const mostLooks = 500_000;

const ofRun: readonly Part[] = ['jobFailed', 'deadMan', 'durations', 'output'];
const ofTick: readonly Part[] = ['missedSchedule', 'deadMan', 'suspended', 'stuck', 'durations', 'finishBy'];
const ofSlaTick: readonly Part[] = ['successRate', 'regression'];

/**
 * The alerts that a monitor with these rules would have made of the stored history of one CronJob: the same questions in the same order,
 * asked at every instant at which a run or time could change an answer. What is not stored is not replayed: Jobs that never started or do
 * not end, silences, storms. detection.md section 9.
 */
export function previewCronJob(rules: PreviewRules, cronJob: PreviewedCronJob, range: PreviewRange): PreviewedAlert[] {
  return new Replay(rules, orderHistory(cronJob, range.skewP99Ms), range).play();
}

/**
 * The same of a group of Jobs, of which a monitor lets go when no Job of it has run for so long: what is open then has ended, and the next Job
 * begins anew. What is usual of its durations stays known.
 */
export function previewGroup(
  rules: PreviewRules,
  group: PreviewedCronJob,
  range: PreviewRange,
  forgetAfterMs: number,
): PreviewedAlert[] {
  const spells = spellsOf(group.runs, forgetAfterMs);
  const ended = (alert: PreviewedAlert, forgottenAt: Instant | undefined): PreviewedAlert =>
    forgottenAt === undefined || forgottenAt > range.toAt || (alert.endedAt ?? Infinity) <= forgottenAt
      ? alert
      : { ...alert, endedAt: forgottenAt };
  const ofSpells = spells.flatMap(({ runs, fromAt, forgottenAt }) => {
    const within = { ...range, fromAt: Math.max(range.fromAt, fromAt), toAt: Math.min(range.toAt, forgottenAt) };
    const found = within.toAt > within.fromAt ? previewCronJob(rules, { ...group, runs }, within) : [];
    return found.filter(({ type }) => type !== 'durationRegression').map((alert) => ended(alert, forgottenAt));
  });
  const regressions = previewCronJob(rules, group, range)
    .filter(({ type }) => type === 'durationRegression')
    .map((alert) => ended(alert, spells.find(({ forgottenAt }) => forgottenAt > alert.sinceAt)?.forgottenAt));
  return [...ofSpells, ...regressions];
}

interface Spell {
  readonly runs: PreviewedCronJob['runs'][number][];
  readonly fromAt: Instant;
  forgottenAt: Instant;
}

/** Runs of which each began before the ones before it were forgotten. */
function spellsOf(runs: PreviewedCronJob['runs'], forgetAfterMs: number): readonly Spell[] {
  const spells: Spell[] = [];
  for (const run of runs.toSorted((a, b) => a.createdAt - b.createdAt)) {
    const forgottenAt = (run.finishedAt ?? run.createdAt) + forgetAfterMs;
    const last = spells.at(-1);
    if (last && run.createdAt <= last.forgottenAt) {
      last.runs.push(run);
      last.forgottenAt = Math.max(last.forgottenAt, forgottenAt);
    } else spells.push({ runs: [run], fromAt: run.createdAt, forgottenAt });
  }
  return spells;
}

class Replay {
  readonly #rules: PreviewRules;
  readonly #history: OrderedHistory;
  readonly #range: PreviewRange;
  readonly #facts: FactsOverTime;
  readonly #lives: readonly AlertsOverTime[];
  /** Instants of runs that ended, in order, and where we are. */
  readonly #runEnds: readonly Instant[];
  #nextRun = 0;
  /** Instants after which a tick may find something, in order. */
  readonly #tickCauses: readonly Instant[];
  #nextCause = 0;
  readonly #slaCauses: readonly Instant[];
  #nextSlaCause = 0;
  /** The next instant at which an answer may change by time alone, by type and subject. */
  readonly #dueAt = new Map<string, Instant | undefined>();
  #slaDueAt: Instant | undefined;
  /** The first run of each name. */
  readonly #runOf: ReadonlyMap<string, PreviewedRun>;
  #countedSlotAt = 0;
  #failedRuns = 0;

  constructor(rules: PreviewRules, history: OrderedHistory, range: PreviewRange) {
    this.#rules = rules;
    this.#history = history;
    this.#range = range;
    this.#facts = new FactsOverTime(history, rules.detection, range.fromAt);
    this.#lives = judgedKinds.map((kind) => new AlertsOverTime(kind, rules.alerts, rules.channelOf, history.of));
    const within = (at: Instant): boolean => at > range.fromAt && at <= range.toAt;
    const sorted = (instants: readonly Instant[]): Instant[] =>
      [...new Set(instants.filter(within))].sort((a, b) => a - b);
    const { runs, epochs } = history.of;
    this.#runOf = new Map(runs.toReversed().map((run) => [run.jobName, run]));
    this.#runEnds = sorted(history.ended.map(({ finishedAt }) => finishedAt));
    this.#tickCauses = sorted([
      ...history.outcomes.map(({ knownAt }) => knownAt),
      ...epochs.map(({ fromAt }) => fromAt + 1),
      ...runs.flatMap(({ startedAt }) => startedAt ?? []),
    ]);
    const windowMs = (rules.detection.successRate?.windowDays ?? 0) * dayMs;
    const asksWindows = rules.detection.successRate !== undefined || rules.detection.regression !== undefined;
    this.#slaCauses = asksWindows
      ? sorted([...this.#runEnds, ...(windowMs > 0 ? runs.map(({ createdAt }) => createdAt + windowMs + 1) : [])])
      : [];
  }

  play(): PreviewedAlert[] {
    const { fromAt, toAt } = this.#range;
    this.#look(fromAt, [...ofTick, ...ofSlaTick], false);
    let now = fromAt;
    for (let looks = 0; looks < mostLooks; looks++) {
      const next = this.#nextLook(now);
      if (next === undefined || next.at > toAt) break;
      now = next.at;
      this.#look(now, next.parts, next.isRun);
    }
    return this.#lives.flatMap((life) => life.rows.flatMap((row) => this.#toPreviewed(life, row)));
  }

  /** The earliest instant after `now` at which the service would have asked, and what. */
  #nextLook(
    now: Instant,
  ): { readonly at: Instant; readonly parts: readonly Part[]; readonly isRun: boolean } | undefined {
    const runAt = this.#runEnds[this.#nextRun];
    const causeAt = earliest(this.#tickCauses[this.#nextCause], ...this.#dueAt.values());
    const tickAt = causeAt === undefined ? undefined : Math.max(ceilTo(causeAt, tickMs), ceilTo(now + 1, tickMs));
    const slaCauseAt = earliest(this.#slaCauses[this.#nextSlaCause], this.#slaDueAt);
    const slaAt =
      slaCauseAt === undefined ? undefined : Math.max(ceilTo(slaCauseAt, slaTickMs), ceilTo(now + 1, slaTickMs));
    const alertAt = earliest(...this.#lives.map(({ dueAt }) => dueAt));
    const recheckAt = alertAt === undefined ? undefined : Math.max(alertAt, now + 1_000);
    const at = earliest(runAt, tickAt, slaAt, recheckAt);
    if (at === undefined) return undefined;
    const parts = new Set<Part>();
    const isRun = runAt === at;
    if (isRun) for (const part of [...ofRun, ...this.#openParts()]) parts.add(part);
    if (tickAt === at) for (const part of ofTick) parts.add(part);
    if (slaAt === at) for (const part of ofSlaTick) parts.add(part);
    if (recheckAt === at) for (const part of this.#openParts()) parts.add(part);
    while ((this.#runEnds[this.#nextRun] ?? Infinity) <= at) this.#nextRun++;
    if (tickAt === at) while ((this.#tickCauses[this.#nextCause] ?? Infinity) <= at) this.#nextCause++;
    if (slaAt === at) while ((this.#slaCauses[this.#nextSlaCause] ?? Infinity) <= at) this.#nextSlaCause++;
    return { at, parts: [...parts], isRun };
  }

  #look(now: Instant, parts: readonly Part[], isRun: boolean): void {
    const openNow: OpenNow = {
      isTold: (kind) => {
        const state = this.#lifeOf(
          kind === 'jobFailed' ? 'jobFailed' : 'slaBreached',
          kind === 'jobFailed' ? undefined : kind,
        )?.live?.alert.state;
        return state !== undefined && state !== 'pending';
      },
      regression: this.#openRegression(),
    };
    const facts = this.#facts.at(now, openNow, parts);
    const judged = judge(this.#rules.detection, facts, now);
    this.#failedRuns = isRun ? this.#facts.failedAt(now) : 0;
    for (const life of this.#lives) life.ranAt = this.#facts.ranAt;
    const causes = this.#causes(judged, now);
    for (const one of judged) this.#follow(one, causes, now);
    // While one deadline is passed the next one is to come.
    if (facts.finishBy) this.#dueAt.set('slaBreached/finishBy', after(facts.finishBy.nextDeadlineAt, now));
    if (parts.includes('successRate') || parts.includes('regression')) this.#noteSlaDue(now);
  }

  #follow({ type, subject, verdict }: Judged, causes: readonly PossibleCause[], now: Instant): void {
    const life = this.#lifeOf(type, subject);
    if (!life) return;
    const key = `${type}/${subject ?? ''}`;
    if (!isOverWindow({ type, subject }))
      this.#dueAt.set(key, verdict.kind === 'holds' ? undefined : after(verdict.dueAt, now));
    if (verdict.kind === 'undecided') return;
    if (verdict.kind === 'quiet') {
      const { reason } = verdict;
      const isGone = reason === 'notConfigured' || reason === 'paused';
      return life.ends(isGone ? { kind: 'gone', cause: reason } : { kind: 'quiet' }, now);
    }
    const { suppressDuplicatesForMs } = this.#rules.alerts;
    const sign = { type, subject, severity: life.severityOf(verdict), jobNames: jobNamesOf(verdict.detail) };
    const inhibition = inhibitionOf(sign, causes, { now, duplicateWindowMs: suppressDuplicatesForMs });
    const hold: MessageHold | undefined =
      inhibition && ({ reason: 'inhibited', untilAt: inhibition.untilAt, ref: undefined } as const);
    life.holds(verdict, this.#occurred(type, verdict, life), hold, now);
  }

  /** How many failures or missed runs are new. */
  #occurred(type: AlertType, verdict: HoldingVerdict, { live }: AlertsOverTime): number {
    if (type === 'jobFailed') return this.#failedRuns;
    if (type !== 'missedSchedule') return 0;
    const lastAt = Number(verdict.detail['lastSlotAt'] ?? 0);
    const isNew = live !== undefined && lastAt > this.#countedSlotAt;
    this.#countedSlotAt = Math.max(this.#countedSlotAt, lastAt);
    return Number(isNew);
  }

  #causes(judged: readonly Judged[], now: Instant): PossibleCause[] {
    const answered = new Map(judged.map((one) => [`${one.type}/${one.subject ?? ''}`, one.verdict]));
    return this.#lives.flatMap((life): PossibleCause[] => {
      const { type, subject, live } = life;
      const verdict = answered.get(`${type}/${subject ?? ''}`);
      const opens = verdict?.kind === 'holds' && live === undefined && this.#rules.alerts.alertDelayMs === 0;
      const lasts = live?.alert.state === 'active' && verdict?.kind !== 'quiet';
      const of = opens ? verdict : lasts ? live.verdict : undefined;
      if (!of) return [];
      const jobNames = jobNamesOf(of.detail);
      const severity = life.severityOf(of);
      const run = jobNames[0] === undefined ? undefined : this.#runOf.get(jobNames[0]);
      const told = (run && failureReason(run)) ?? of.detail['reason'];
      const reason = typeof told === 'string' ? told : undefined;
      return [
        {
          id: undefined,
          type,
          subject,
          severity,
          activatedAt: live?.alert.activatedAt ?? now,
          jobNames,
          reason,
          jobReason: run?.jobReason,
        },
      ];
    });
  }

  /** What decides about alerts that are open. */
  #openParts(): Part[] {
    return this.#lives.flatMap((life) => (life.live ? partOf(life) : []));
  }

  #openRegression(): { readonly baseline: Baseline; readonly sinceAt: Instant } | undefined {
    const live = this.#lifeOf('durationRegression', undefined)?.live;
    // As the detector wrote it when it opened.
    const baseline = live?.verdict.detail['baseline'] as Baseline | undefined;
    return live && baseline && { baseline, sinceAt: live.alert.sinceAt };
  }

  /** While one answer more may end an alert, and when a regression is the new normal. */
  #noteSlaDue(now: Instant): void {
    const rate = this.#lifeOf('slaBreached', 'successRate')?.live;
    const regression = this.#lifeOf('durationRegression', undefined)?.live;
    const isNearlyGood = [rate, regression].some(
      (row) => row && (row.alert.quietCount > 0 || row.verdict.detail['good'] === true),
    );
    const windowMs = this.#rules.detection.regression?.baselineWindowMs;
    const normalAt = regression && windowMs !== undefined ? regression.alert.sinceAt + windowMs : undefined;
    this.#slaDueAt = isNearlyGood ? now + 1 : after(normalAt, now);
  }

  #lifeOf(type: AlertType, subject: AlertSubject | undefined): AlertsOverTime | undefined {
    return this.#lives.find((life) => life.type === type && life.subject === subject);
  }

  #toPreviewed({ type, subject }: AlertsOverTime, row: PreviewedRow): PreviewedAlert[] {
    const { sinceAt, activatedAt, endedAt, severity } = row.alert;
    if (activatedAt === undefined) return []; // never told
    const { timeZone } = this.#history.of;
    const { message } = toHolding(type, subject, row.verdict, { timeZone });
    const told = [...row.told].filter(([, at]) => endedAt === undefined || at < endedAt);
    const channels = told.map(([name]) => name).sort();
    const openedAt = row.openedAt ?? activatedAt;
    return [{ type, subject, severity, sinceAt, openedAt, activatedAt, endedAt, message, channels }];
  }
}

function ceilTo(at: Instant, stepMs: number): Instant {
  return Math.ceil(at / stepMs) * stepMs;
}

/** Undefined for what is past already. */
function after(at: Instant | undefined, now: Instant): Instant | undefined {
  return at !== undefined && at > now ? at : undefined;
}
