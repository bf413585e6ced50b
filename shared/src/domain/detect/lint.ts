import { ownName } from '../objects/own-name.ts';
import { isGroupName } from '../../contract/vocabulary.ts';
import { durationInWords, refText } from '../../contract/wording.ts';
import { cycleThrough, mostDependencies, readDependsOn, toNamedRef } from '../alert/dependency.ts';
import { raisedTypes } from '../alert-types/index.ts';
import { routesOf, type Routing } from '../alert/routes.ts';
import { alertSeverity } from '../alert/severity.ts';
import { counted } from '../delivery/wording.ts';
import { minuteMs, parseResourceDuration } from '../duration.ts';
import { staysOpen } from '../mute/maintenance.ts';
import { goText, lintCronJob } from './lint-cron-job.ts';
import {
  type LintCode,
  type LintedCronJob,
  type LintedMonitor,
  type LintFacts,
  type LintFinding,
  lintLevels,
  ofMonitor,
  type OwnOfLinted,
  readAdviceIgnore,
} from './lint-finding.ts';

const fewestCrowded = 20;
const crowdedShare = 0.2;
/** So many CronJobs of a finding about several are named. */
const mostNamed = 3;

const ranks = new Map(Object.keys(lintLevels).map((code, index) => [code, index]));

/**
 * Every finding about a monitor and its CronJobs: errors first, then warnings, then notes, each in the order of their codes. `ofEach`: what
 * `lintOne` finds of a CronJob, where that is known.
 */
export function lint(
  all: LintFacts,
  ofEach: (cronJob: LintedCronJob) => readonly LintFinding[] = (cronJob) => lintOne(cronJob, all),
): LintFinding[] {
  const found = [...all.cronJobs.flatMap(ofEach), ...lintTogether(all)];
  return found.sort((a, b) => (ranks.get(a.code) ?? 0) - (ranks.get(b.code) ?? 0));
}

/** What is found of one CronJob, whatever the others are. When it runs next says nothing here. */
export function lintOne(cronJob: LintedCronJob, all: Pick<LintFacts, 'monitor' | 'skewP99Ms'>): LintFinding[] {
  if (isGroupName(cronJob.facts.name)) return [];
  const rules = cronJob.own ? { ...all, monitor: cronJob.own.monitor } : all;
  return marked([...lintCronJob(cronJob, rules), ...lintOwn(cronJob)], cronJob.facts.notes.adviceIgnore);
}

/** What is found of the monitor, and of its CronJobs together. */
export function lintTogether(all: LintFacts): LintFinding[] {
  const { monitor } = all;
  // A group of Jobs has no schedule, and nothing of a CronJob's spec.
  const facts = { ...all, cronJobs: all.cronJobs.filter((cronJob) => !isGroupName(cronJob.facts.name)) };
  const found = [
    ...lintSla(monitor),
    ...lintWindows(monitor),
    ...lintFarLimit(facts),
    ...lintRouting(facts),
    ...lintCrowds(facts.cronJobs),
  ];
  found.push(...lintZones(facts));
  // Nothing is left for a fallback where all is watched, as it should be; Jobs without a CronJob come and go.
  if (all.cronJobs.length === 0 && monitor.selector?.fallback !== true && !monitor.jobs)
    found.push(ofMonitor('SelectorEmpty', 'spec.selector', 'no CronJob is selected'));
  return [...marked(found, all.adviceIgnore), ...lintDependencies(facts)];
}

/** Those that their owner wants left are marked. */
function marked(findings: LintFinding[], adviceIgnore: string | undefined): LintFinding[] {
  if (adviceIgnore === undefined) return findings;
  const left = readAdviceIgnore(adviceIgnore);
  return findings.map((finding) => (left.includes(finding.code) ? { ...finding, isLeft: true } : finding));
}

function lintSla({ sla, dataRetention }: LintedMonitor): LintFinding[] {
  const { retentionDays } = dataRetention;
  if (!sla?.enabled || sla.windowDays <= retentionDays) return [];
  const message = `${counted(sla.windowDays, 'day')} are more than the ${retentionDays} that runs are kept; before, only daily figures are left`;
  return [ofMonitor('SlaWindowBeyondRetention', 'spec.sla.windowDays', message, retentionDays)];
}

/** From a fixed day on, so that a finding stands whatever the day. */
const windowsFromAt = Date.UTC(2025, 0, 1);

function lintWindows({ maintenanceWindows = [] }: LintedMonitor): LintFinding[] {
  return maintenanceWindows.flatMap(({ duration, timezone: timeZone, ...window }, index) => {
    const durationMs = parseResourceDuration(duration);
    if (!window.suppressAlerts || durationMs === undefined) return [];
    if (!staysOpen({ ...window, durationMs, timeZone }, windowsFromAt)) return [];
    const message = `${window.name}: each occurrence begins before the one before it is over, so it stays open, and no channel is told of alerts`;
    return [ofMonitor('WindowStaysOpen', `spec.maintenanceWindows[${index}].schedule`, message)];
  });
}

/** A limit of more than an hour that is so many times what the slowest of its CronJobs takes tells of no run that hangs for a while. */
const farTimes = 10;
const shortestFarMs = 3_600_000;

function lintFarLimit({ monitor: { sla }, cronJobs }: LintFacts): LintFinding[] {
  const limitMs = sla?.enabled ? parseResourceDuration(sla.maxDuration ?? '') : undefined;
  const taken = cronJobs.map(({ durations }) => durations?.p95Ms ?? Infinity);
  const slowestMs = Math.max(...taken);
  if (limitMs === undefined || limitMs < shortestFarMs || taken.length === 0 || limitMs < farTimes * slowestMs)
    return [];
  const message = `${sla?.maxDuration} is ${Math.floor(limitMs / slowestMs)} times what its slowest CronJob takes (${durationInWords(slowestMs / 1_000)}, 95th percentile)`;
  return [ofMonitor('MaxDurationFarAbove', 'spec.sla.maxDuration', message, goText(3 * slowestMs))];
}

/** Routes are open to some CronJobs and not to others, and an annotation speaks for one: what is said of itself is asked of each. */
function lintOwn({ facts: { namespace, name }, own }: LintedCronJob): LintFinding[] {
  if (!own) return [];
  const { monitor, routing, severityOverrides, problems } = own;
  const of = (code: LintCode, path: string, message: string): LintFinding => {
    return { code, level: lintLevels[code], path, cronJob: { namespace, name }, message };
  };
  const unrouted = routing?.enabled ? unroutedOf(monitor, routing, severityOverrides) : [];
  return [
    ...problems.map((problem) => of('AnnotationInvalid', 'metadata.annotations', problem)),
    ...(unrouted.length > 0
      ? [of('SeverityNotRouted', 'spec.alerting', `no channel takes ${unrouted.join(', ')}`)]
      : []),
  ];
}

/** Every channel is there, and admits all: which do not is told by other findings. */
const everyChannel = { allowedNamespaces: ['*'] };

function unroutedOf(
  monitor: LintedMonitor,
  routing: Routing,
  overrides: OwnOfLinted['severityOverrides'],
): readonly string[] {
  return raisedTypes(monitor).flatMap((type) => {
    const asserted = type === 'slaBreached' ? (monitor.output?.assertions ?? []) : [];
    const usual = monitor.sla?.enabled === true || type !== 'slaBreached' ? [undefined] : [];
    const found = [...usual, ...asserted.map(({ severity }) => severity)];
    const severities = new Set(found.map((one) => alertSeverity(type, overrides, one).severity));
    return [...severities].flatMap((severity) =>
      'notRouted' in routesOf(routing, { type, severity }, () => everyChannel) ? [`${type} (${severity})`] : [],
    );
  });
}

function lintRouting({ monitor, cronJobs, channelFaults }: LintFacts): LintFinding[] {
  const { alerting } = monitor;
  if (!alerting?.enabled) return [];
  const { channelRefs, severityOverrides } = alerting;
  const isAskedOfEach = cronJobs.length > 0 && cronJobs.every(({ own }) => own !== undefined);
  const everywhere = { enabled: true, channelRefs, monitorNamespace: '', cronJobNamespace: '' };
  const unrouted =
    isAskedOfEach || (alerting.routes ?? []).length > 0 ? [] : unroutedOf(monitor, everywhere, severityOverrides);
  const findings = channelFaults.map(({ name, why }) =>
    ofMonitor('ChannelUnknown', 'spec.alerting.channelRefs', `channel ${name}: ${why}`),
  );
  if (unrouted.length > 0) {
    const message = `no channel takes ${unrouted.join(', ')}`;
    findings.push(ofMonitor('SeverityNotRouted', 'spec.alerting.channelRefs', message));
  }
  return findings;
}

const dependsOnPath = `metadata.annotations['${ownName('depends-on')}']`;

/** What waits for a CronJob that cannot be known, or for itself, does not wait. */
function lintDependencies({ monitor, cronJobs, dependencies, adviceIgnore }: LintFacts): LintFinding[] {
  if (dependencies === undefined) return [];
  const { namespace: own, problemOf } = dependencies;
  const named = (monitor.dependsOn ?? []).flatMap((text) => {
    const problem = problemOf(toNamedRef(text, own));
    return problem === undefined ? [] : ofMonitor('DependencyUnknown', 'spec.dependsOn', `${text}: ${problem}`);
  });
  const declared = cronJobs.flatMap(({ facts: { namespace, name, notes } }) => {
    const cronJob = { namespace, name };
    const tell = (code: 'DependencyUnknown' | 'DependencyCycle', message: string): LintFinding => {
      return { ...ofMonitor(code, dependsOnPath, message), cronJob };
    };
    const { names, refused } = readDependsOn(notes.dependsOn);
    const unknown = names.flatMap((text) => {
      const problem = problemOf(toNamedRef(text, namespace));
      return problem === undefined ? [] : tell('DependencyUnknown', `${text}: ${problem}`);
    });
    const child = refText(cronJob);
    const isOwn = names.some((text) => refText(toNamedRef(text, namespace)) === child);
    const parents = dependencies.of.get(child) ?? [];
    const way = isOwn
      ? [child, child]
      : parents.map((parent) => cycleThrough(dependencies.of, child, parent)).find((found) => found !== undefined);
    const found = [
      ...refused.map((text) =>
        tell(
          'DependencyUnknown',
          `${text.slice(0, 100)}: is no name of a CronJob, or one more than ${mostDependencies}`,
        ),
      ),
      ...unknown,
      ...(way ? [tell('DependencyCycle', `${way.join(' → ')}: none of these waits for the next`)] : []),
    ];
    return marked(found, notes.adviceIgnore);
  });
  return [...marked(named, adviceIgnore), ...declared];
}

/** Who names no zone leaves it to the cluster which one is meant. */
function lintZones({ cronJobs, isDefaultZoneGiven }: LintFacts): LintFinding[] {
  if (isDefaultZoneGiven) return [];
  const names = cronJobs
    .filter(({ facts, rhythm }) => facts.timeZone === undefined && typeof rhythm !== 'string' && !rhythm.hasZonePrefix)
    .map(({ facts }) => refText(facts))
    .sort();
  if (names.length === 0) return [];
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  const who = `${names.length} ${names.length === 1 ? 'CronJob names' : 'CronJobs name'} no time zone`;
  const message =
    `${who} (${names.slice(0, mostNamed).join(', ')}${more}): the clock of the cluster decides, which is taken for UTC; ` +
    'set spec.timeZone, or cluster.default-time-zone';
  return [ofMonitor('ZoneNotDeclared', 'spec.selector', message)];
}

/** Many that start in one minute wait for one another, and look like a fault of the cluster. */
function lintCrowds(cronJobs: readonly LintedCronJob[]): LintFinding[] {
  const due = cronJobs.flatMap(({ nextRunAt }) => (nextRunAt === undefined ? [] : Math.floor(nextRunAt / minuteMs)));
  return [...Map.groupBy(due, (minute) => minute)]
    .filter(([, { length }]) => length >= fewestCrowded && length >= crowdedShare * cronJobs.length)
    .map(([minute, { length }]) => {
      const at = new Date(minute * minuteMs).toISOString().slice(0, 16);
      return ofMonitor('CrowdedMinute', 'spec.selector', `${length} of ${cronJobs.length} CronJobs start at ${at}Z`);
    });
}
