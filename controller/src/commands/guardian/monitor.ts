import type { Block } from './remark.ts';
import { severities } from '@cronjob-monitor/shared/contract';
import { isObject, type Json } from '@cronjob-monitor/shared/domain';

/** The spec of a CronJobMonitor in our words. What it cannot say it tells through the block. */
export function convertMonitor(spec: Block): Json {
  const converted = {
    ...nested('selector', convertSelector(spec)),
    ...nested('deadManSwitch', convertDeadMan(spec)),
    ...nested('sla', convertSla(spec)),
    ...convertRemediation(spec),
    ...nested('suspendedHandling', convertBlock(spec, 'suspendedHandling', ['pauseMonitoring', 'alertIfSuspendedFor'])),
    ...convertWindows(spec),
    ...nested('alerting', convertAlerting(spec)),
    ...nested('dataRetention', convertBlock(spec, 'dataRetention', retentionFields)),
  };
  if (spec.has('dependencies')) {
    spec.leftOut(
      'dependencies',
      'a CronJob knows nothing of others here; alerts of many at once are told together, as a storm',
    );
  }
  if (spec.has('timezone'))
    spec.leftOut('timezone', 'a schedule is read in the zone of its CronJob, a window in its own');
  spec.end();
  return converted;
}

const retentionFields = [
  'retentionDays',
  'logRetentionDays',
  'maxLogSizeKB',
  'storeLogs',
  'storeEvents',
  'onCronJobDeletion',
  'purgeAfterDays',
  'onRecreation',
];

function nested(name: string, value: unknown): Json {
  return value === undefined ? {} : { [name]: value };
}

function convertBlock(spec: Block, name: string, fields: readonly string[]): Json | undefined {
  const block = spec.block(name);
  if (!block) return undefined;
  const converted = block.same(...fields);
  block.end();
  return converted;
}

/**
 * Of the three ways to name namespaces ours takes one. A selector that is no object stays as it is, for without one a monitor selects its
 * whole namespace: the check of the result names it.
 */
function convertSelector(spec: Block): unknown {
  const given = spec.take('selector');
  if (given !== undefined && !isObject(given)) return given;
  const outside = spec.take('namespaces');
  if (outside !== undefined)
    spec.changed('namespaces', 'belongs into the selector, where cronjob-guardian looks for it too');
  const block = spec.block('selector');
  if (!block) return outside === undefined ? undefined : { namespaces: outside };
  const labels = block.same('matchLabels', 'matchExpressions', 'matchNames');
  const {
    allNamespaces,
    namespaces = outside,
    namespaceSelector,
  } = block.same('allNamespaces', 'namespaces', 'namespaceSelector');
  const isAll = allNamespaces === true;
  if (isAll && namespaces !== undefined) block.changed('namespaces', 'without effect beside allNamespaces');
  if (isAll && namespaceSelector !== undefined)
    block.changed('namespaceSelector', 'without effect beside allNamespaces');
  if (!isAll && namespaces !== undefined && namespaceSelector !== undefined) {
    block.leftOut('namespaceSelector', 'a monitor takes a list or a selector; make a second monitor for the selector');
  }
  const where = isAll
    ? { allNamespaces: true }
    : namespaces !== undefined
      ? { namespaces }
      : nested('namespaceSelector', namespaceSelector); // as written; the check of the result reads it
  if (Object.keys(where).length > 0) {
    const consent =
      "other namespaces are selected only where monitors.cross-namespace-from has the monitor's, or they agree by annotation";
    block.changed(Object.keys(where)[0] ?? '', consent);
  }
  block.end();
  return { ...labels, ...where };
}

function convertDeadMan(spec: Block): Json | undefined {
  const block = spec.block('deadManSwitch');
  if (!block) return undefined;
  const own = block.same('enabled', 'maxTimeSinceLastSuccess');
  const auto = block.block('autoFromSchedule');
  // There it is off unless it is switched on; here a block that is there is on.
  const fields = auto && { enabled: false, ...auto.same('enabled', 'buffer', 'missedScheduleThreshold') };
  auto?.end();
  block.end();
  const limit = own['maxTimeSinceLastSuccess'];
  if (own['enabled'] !== false && limit === undefined && fields?.enabled !== true) {
    spec.leftOut('deadManSwitch', 'it has neither a time nor the schedule to go by, and never fires');
    return undefined;
  }
  return { ...own, ...nested('autoFromSchedule', fields) };
}

function convertSla(spec: Block): Json | undefined {
  const block = spec.block('sla');
  if (!block) return undefined;
  const converted = block.same(
    'enabled',
    'minSuccessRate',
    'windowDays',
    'maxDuration',
    'durationRegressionThreshold',
    'durationBaselineWindowDays',
  );
  if (block.has('durationPercentiles')) block.changed('durationPercentiles', 'p50, p95 and p99 are always measured');
  block.end();
  return converted;
}

/** Nothing is ended or started again here; a Job that takes too long is told. */
function convertRemediation(spec: Block): Json {
  const block = spec.block('remediation');
  if (!block) return {};
  const isOn = block.take('enabled') === true;
  const kill = block.block('killStuckJobs');
  const after = kill?.take('afterDuration');
  const tells = isOn && kill?.take('enabled') === true && after !== undefined;
  spec.leftOut(
    'remediation',
    tells
      ? 'no Job is ended or started again; stuckJobs.overrunningAfter tells of those that take so long'
      : 'no Job is ended or started again',
  );
  return tells ? { stuckJobs: { overrunningAfter: after } } : {};
}

/** A window has a name here, by which people and messages know it. */
function convertWindows(spec: Block): Json {
  const blocks = spec.blocks('maintenanceWindows');
  const taken = new Set(blocks.map((window) => window.take('name')));
  const windows = blocks.map((window, index) => {
    const { name, ...own } = window.same('name', 'schedule', 'duration', 'timezone', 'suppressAlerts');
    const made = name === undefined || name === '' ? freeName(index, taken) : undefined;
    if (made !== undefined) window.changed('name', `is ${made}: a window has a name here`);
    const converted = { name: made ?? name, ...own };
    if (window.has('suppressRemediation')) window.changed('suppressRemediation', 'nothing is remediated');
    window.end();
    return converted;
  });
  return windows.length === 0 ? {} : { maintenanceWindows: windows };
}

function freeName(index: number, taken: Set<unknown>): string {
  let number = index + 1;
  while (taken.has(`window-${number}`)) number++;
  taken.add(`window-${number}`);
  return `window-${number}`;
}

/** Types that both spell alike; a stuck Job is called otherwise, a failed dependency is known to one of them alone. */
const overrides: Readonly<Record<string, string>> = {
  jobFailed: 'jobFailed',
  missedSchedule: 'missedSchedule',
  deadManTriggered: 'deadManTriggered',
  slaBreached: 'slaBreached',
  durationRegression: 'durationRegression',
  stuckJob: 'jobStuck',
};

const contextFields = [
  'logs',
  'logLines',
  'logContainerName',
  'includeInitContainerLogs',
  'events',
  'podStatus',
  'suggestedFixes',
];

/** The block `alerting` in our words; undefined when there is none. */
function convertAlerting(spec: Block): Json | undefined {
  const block = spec.block('alerting');
  if (!block) return undefined;
  const refs = block.blocks('channelRefs').flatMap(convertRef);
  const context = convertContext(block);
  const converted = {
    ...block.same('enabled'),
    ...(refs.length > 0 && { channelRefs: refs }),
    ...(Object.keys(context).length > 0 && { includeContext: context }),
    severityOverrides: convertOverrides(block),
    ...convertPatterns(block),
    ...block.same('suppressDuplicatesFor', 'alertDelay'),
  };
  if (block.has('groupingKey'))
    block.leftOut('groupingKey', 'alerts are told one by one, and together when they are very many');
  block.end();
  return converted;
}

/** `info` is never an alert's severity: a channel that takes nothing else would hear nothing. */
function convertRef(ref: Block): Json[] {
  const { name, severities: wanted } = ref.same('name', 'severities');
  ref.end();
  if (!Array.isArray(wanted) || wanted.length === 0) return [{ name }];
  const kept = wanted.filter((one) => severities.some((severity) => severity === one));
  if (kept.length === wanted.length) return [{ name, severities: kept }];
  const others = wanted.filter((one) => !kept.includes(one)).join(', ');
  if (kept.length === 0) {
    ref.leftOut('severities', `no alert is ${others} here: the channel would hear nothing, and is not named`);
    return [];
  }
  ref.changed('severities', `no alert is ${others} here`);
  return [{ name, severities: kept }];
}

function convertContext(block: Block): Json {
  const context = block.block('includeContext');
  const own = context?.same(...contextFields) ?? {};
  context?.end();
  const misnamed = block.block('context');
  const { includeLogs, logLines, includeEvents, includeSuggestedFix } =
    misnamed?.same('includeLogs', 'logLines', 'includeEvents', 'includeSuggestedFix') ?? {};
  if (misnamed) block.changed('context', 'taken as includeContext; cronjob-guardian has no such field, and drops it');
  misnamed?.end();
  const fixes = block.take('includeSuggestedFixes');
  if (fixes !== undefined) block.changed('includeSuggestedFixes', 'taken as includeContext.suggestedFixes');
  const meant = { logs: includeLogs, logLines, events: includeEvents, suggestedFixes: includeSuggestedFix ?? fixes };
  return { ...Object.fromEntries(Object.entries(meant).filter(([, value]) => value !== undefined)), ...own };
}

/** A failed run is critical there unless a route says otherwise, and a warning here. */
function convertOverrides(block: Block): Json {
  const given = block.block('severityOverrides');
  const converted: Record<string, unknown> = {};
  for (const [theirs, ours] of Object.entries(overrides)) {
    const severity = given?.take(theirs);
    if (severity === 'info') given?.changed(theirs, `no alert is info here: ${ours} is a warning`);
    if (severity !== undefined) converted[ours] = severity === 'info' ? 'warning' : severity;
  }
  if (given?.has('dependencyFailed')) given.leftOut('dependencyFailed', 'there is no such alert here');
  given?.end();
  if (converted['jobFailed'] === undefined) {
    block.changed('severityOverrides', 'jobFailed is critical, as it is by default in cronjob-guardian');
    converted['jobFailed'] = 'critical';
  }
  return converted;
}

function convertPatterns(block: Block): Json {
  const patterns = block.blocks('suggestedFixPatterns').map((pattern) => {
    const { suggestion, ...rest } = pattern.same('name', 'match', 'suggestion', 'priority');
    pattern.end();
    // As Go trims them: a dash inside the braces says the same here without it.
    return { ...rest, suggestion: typeof suggestion === 'string' ? suggestion.trimEnd() : suggestion };
  });
  return patterns.length === 0 ? {} : { suggestedFixPatterns: patterns };
}
