import {
  alertTypesOf,
  type Ref,
  refText,
  type VerdictFinding,
  type VerdictKind,
  whyNotJudged,
} from '@cronjob-monitor/shared/contract';
import {
  codesExplaining,
  durationInWords,
  hourMs,
  type Instant,
  instantIn,
  isGroupName,
  limitInWords,
  lintCronJob,
  type LintedCronJob,
  type LintFinding,
  mergeCommand,
  parseDuration,
  patchCommand,
  slaOf,
} from '@cronjob-monitor/shared/domain';
import {
  findZoneFault,
  parse,
  type Rhythm,
  rhythmOf,
  type RhythmProblem,
} from '@cronjob-monitor/shared/domain/schedule';
import {
  type CatalogCronJob,
  countTargets,
  listCronJobsById,
  listMonitors,
  listSpecEpochs,
  measureLastDurations,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import { deadManLimitOf, maxDurationOf } from '../../monitor-spec.ts';
import type { RouteDeps } from '../deps.ts';
import type { Surroundings } from './surroundings.ts';
import { toWordedAlert } from './of-alert.ts';

/** Runs that the check of rules asks for durations. */
const durationsOf = 100;

/** What the check of rules finds about the rule of each of these alerts, with a handful of questions however many they are. */
export async function gatherFindings(
  { store, settings }: Pick<RouteDeps, 'store' | 'settings'>,
  alerts: readonly StoredAlert[],
  { now }: Pick<Surroundings, 'now'>,
): Promise<(alert: StoredAlert) => VerdictFinding[]> {
  const ids = [
    ...new Set(alerts.filter((alert) => codesExplaining(alert).length > 0).map(({ cronJobId }) => cronJobId)),
  ];
  if (ids.length === 0) return () => [];
  const [cronJobs, durations, monitors] = await Promise.all([
    listCronJobsById(store, ids),
    measureLastDurations(store, ids, durationsOf),
    listMonitors(store),
  ]);
  const byId = new Map(cronJobs.map((cronJob) => [cronJob.id, cronJob]));
  const byName = new Map(monitors.map((monitor) => [refText(monitor), monitor]));
  const monitorOf = ({ monitor }: StoredAlert) => byName.get(refText(monitor));

  function lint(alert: StoredAlert): LintFinding[] {
    const cronJob = byId.get(alert.cronJobId);
    const codes = codesExplaining(alert);
    if (!cronJob || isGroupName(cronJob.name) || codes.length === 0) return [];
    const zone = cronJob.timeZone ?? settings.defaultTimeZone;
    const rhythm = rhythmIn(cronJob.schedule, zone, now);
    const linted = toLinted(cronJob, rhythm, durations.get(cronJob.id));
    // The limit is that of the alert: a rule that was changed since explains the next one.
    const limits = limitsOf(monitorOf(alert)?.spec, alert);
    return lintCronJob(linted, { monitor: limits, skewP99Ms: 0 })
      .filter(
        ({ code }) => codes.includes(code) && (code !== tooShort || isBeforeNextRun(alert, { cronJob, zone, now })),
      )
      .map((finding) => {
        const words = finding.code === tooShort ? deadManWords(rhythm, toWordedAlert(alert).limit) : undefined;
        return { ...finding, message: words ?? inWords(finding.message) };
      });
  }

  const found = new Map(alerts.map((alert) => [alert, lint(alert)]));
  const isOfPauses = [...found.values()].some((findings) => findings.some(({ code }) => code === tooShort));
  const targets = isOfPauses ? await countTargets(store) : new Map<number, undefined>();
  return (alert) => {
    const { namespace, name } = alert.monitor;
    const isShared = (targets.get(monitorOf(alert)?.id ?? 0)?.cronJobs ?? 0) > 1;
    return (found.get(alert) ?? []).map((finding) => {
      const mend = mendOf(finding, alert, isShared);
      // What the CronJob says of itself is not changed at its monitor.
      const href = isRule(finding.path) ? `/monitors/${namespace}/${name}` : null;
      return { code: finding.code, words: finding.message, href, ...(mend && { mend }) };
    });
  };
}

/** What is said only where no run comes. */
const ofAbsence: readonly VerdictKind[] = [...alertTypesOf('absence'), 'missedLast', 'notEvaluated'];

/**
 * What is wrong with the schedules of CronJobs, whatever rules watch them: a zone that no clock knows or that Kubernetes would refuse, a
 * schedule that expects no run, with the one before it, which brings the runs back, and one whose runs replace each other.
 */
export async function gatherScheduleFindings(
  store: RouteDeps['store'],
  cronJobs: readonly CatalogCronJob[],
): Promise<(cronJob: CatalogCronJob, kind: VerdictKind) => VerdictFinding[]> {
  const endless = cronJobs.filter(({ problem }) => problem === 'neverRuns' || problem === 'unparsable');
  const epochs = await listSpecEpochs(
    store,
    endless.map(({ id }) => id),
  );
  const found = new Map(
    endless.map((cronJob) => {
      const { id, namespace, name, schedule, problem } = cronJob;
      const before = epochs.get(id)?.findLast((epoch) => epoch.schedule !== schedule && epoch.toAt !== undefined);
      const since =
        before?.toAt === undefined ? '' : `; until ${instantIn('at', before.toAt)} it was "${before.schedule}"`;
      const mend = before && {
        path: 'spec.schedule',
        value: before.schedule,
        command: patchCommand({ kind: 'cronjob', namespace, name }, 'spec.schedule', before.schedule),
      };
      const code = problem === 'neverRuns' ? 'ScheduleNeverFires' : 'ScheduleInvalid';
      const words = `No run is expected: ${whyNotJudged(cronJob)}${since}`;
      return [id, { code, words, href: null, ...(mend && { mend }) }] as const;
    }),
  );
  return (cronJob, kind) => {
    const { id, schedule, timeZone } = cronJob;
    const fault = findZoneFault({ schedule, timeZone });
    if (fault) return [{ code: fault.code, words: fault.message, href: null }];
    const finding = found.get(id) ?? replaced(cronJob);
    return finding && ofAbsence.includes(kind) ? [finding] : [];
  };
}

/** The next run ends each one before it is done, so that none fails and none succeeds. */
function replaced({ namespace, name, policy, lastRun }: CatalogCronJob): VerdictFinding | undefined {
  if (policy !== 'Replace' || lastRun?.status !== 'replaced') return undefined;
  const [path, value] = ['spec.concurrencyPolicy', 'Forbid'];
  return {
    code: 'RunsLongerThanPeriod',
    words: 'The next run ended the last one before it was done (concurrencyPolicy Replace): give runs more time',
    href: null,
    mend: { path, value, command: patchCommand({ kind: 'cronjob', namespace, name }, path, value) },
  };
}

/** A limit that is as long as the schedule of each CronJob says; one limit that suits several would not notice that the others have stopped. */
export function ruleFromSchedule(monitor: Ref): string {
  const deadManSwitch = { maxTimeSinceLastSuccess: null, autoFromSchedule: { enabled: true } };
  return mergeCommand({ kind: 'cronjobmonitor', ...monitor }, { spec: { deadManSwitch } });
}

/** Fields of a monitor, not of a CronJob. */
export function isRule(path: string | undefined): boolean {
  return /^spec\.(?:deadManSwitch|sla|alerting|selector|suspendedHandling|missedSchedule|dependsOn)\b/.test(path ?? '');
}

/** What would let a rule of the monitor hold, or runs of the CronJob start; undefined: no value is known. */
function mendOf(finding: LintFinding, alert: StoredAlert, isShared: boolean): VerdictFinding['mend'] {
  const [{ code, path, mend }, { monitor, cronJob }] = [finding, alert];
  if (mend == null || path === undefined) return undefined;
  if (!isRule(path))
    return { path, value: String(mend), command: patchCommand({ kind: 'cronjob', ...cronJob }, path, mend) };
  if (code === tooShort && isShared)
    return { path: 'spec.deadManSwitch.autoFromSchedule', value: 'by schedule', command: ruleFromSchedule(monitor) };
  const value = typeof mend === 'number' ? `${mend} d` : inWords(mend); // the only number is a window of days
  return { path, value, command: patchCommand({ kind: 'cronjobmonitor', ...monitor }, path, mend) };
}

/** Whether a finding of this kind says why such an alert came. */
export function explains(code: string, alert: Pick<StoredAlert, 'type' | 'subject'>): boolean {
  return codesExplaining(alert).some((one) => one === code);
}

type Limits = Parameters<typeof lintCronJob>[1]['monitor'];

function limitsOf(spec: unknown, alert: StoredAlert): Limits {
  const { limit } = toWordedAlert(alert);
  const asText = limit === undefined ? undefined : `${limit}s`;
  const deadMan = alert.type === 'deadManTriggered' ? asText : deadManLimitOf(spec);
  return {
    deadManSwitch:
      deadMan === undefined || deadMan === 'auto' ? undefined : { enabled: true, maxTimeSinceLastSuccess: deadMan },
    sla: {
      ...slaOf(spec),
      maxDuration: alert.subject === 'maxDuration' ? asText : maxDurationOf(spec),
    },
  };
}

/** What only the spec of its Jobs tells is not asked for: the codes above need none of it. */
function toLinted(
  { namespace, name, notes, schedule, timeZone, policy, deadlineS }: CatalogCronJob,
  rhythm: Rhythm | RhythmProblem,
  durations: LintedCronJob['durations'],
): LintedCronJob {
  return {
    facts: {
      namespace,
      name,
      notes,
      schedule,
      timeZone,
      policy,
      deadlineS,
      successLimit: 3,
      failureLimit: 1,
      activeDeadlineS: undefined,
      ttlAfterFinishedS: undefined,
      backoffLimit: undefined,
      restartPolicy: undefined,
    },
    rhythm,
    durations,
    nextRunAt: undefined,
  };
}

const kept = new Map<string, Rhythm | RhythmProblem>();
const mostKept = 5_000;

/** It costs some milliseconds and hardly changes within a day. */
function rhythmIn(schedule: string, zone: string, now: Instant): Rhythm | RhythmProblem {
  const key = `${schedule} ${zone} ${Math.floor(now / (24 * hourMs))}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const rhythm = rhythmOf(schedule, zone, now);
  if (kept.size >= mostKept) kept.clear();
  kept.set(key, rhythm);
  return rhythm;
}

const tooShort = 'DeadManShorterThanPeriod';

/** A limit that is too short explains its alert until a run was due: from then on that run should have ended it. */
function isBeforeNextRun(
  alert: StoredAlert,
  { cronJob, zone, now }: { readonly cronJob: CatalogCronJob; readonly zone: string; readonly now: Instant },
): boolean {
  const { limit = 0 } = toWordedAlert(alert);
  try {
    const dueAt = parse(cronJob.schedule).next(alert.sinceAt - limit * 1_000, zone);
    return dueAt === null || dueAt > (alert.endedAt ?? now);
  } catch {
    return true; // A schedule that cannot be read has a finding of its own.
  }
}

function deadManWords(rhythm: Rhythm | RhythmProblem, limitSeconds = 0): string {
  const { usualGapMs, largestGapMs } = typeof rhythm === 'string' ? never : rhythm;
  if (largestGapMs === Infinity) return 'The limit is no longer than its schedule';
  const hours = largestGapMs / hourMs;
  const gap = hours >= 1 ? `${Math.round(hours)} h` : `${Math.round(largestGapMs / 60_000)} min`;
  if (limitSeconds * 1_000 > usualGapMs)
    return `The limit is no longer than the longest pause of its schedule (${gap}): it fires in each such pause`;
  return `The limit is no longer than its schedule (${gap}): it fires ${often(hours)}`;
}

const never: Pick<Rhythm, 'usualGapMs' | 'largestGapMs'> = { usualGapMs: Infinity, largestGapMs: Infinity };

function often(hours: number): string {
  if (hours >= 23 && hours <= 25) return 'every day';
  return hours >= 167 && hours <= 169 ? 'every week' : 'between any two of its runs';
}

/** A sentence of the check, whose durations stand as fields do: `1h30m is less than …` is `1 h 30 min is less than …`, and 25h stays 25 h. */
export function inWords(message: string): string {
  const words = message.replaceAll(/(?<![\w.])(?:\d+(?:\.\d+)?(?:d|h|m|s|ms))+(?!\w)/g, (text) => {
    const ms = parseDuration(text);
    if (ms === undefined) return text;
    return ms % hourMs === 0 ? limitInWords(ms / 1_000) : durationInWords(ms / 1_000);
  });
  return words.charAt(0).toUpperCase() + words.slice(1);
}
