import { severities } from '@cronjob-monitor/shared/contract';
import type { Block, Json } from './remark.ts';

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
export function convertAlerting(spec: Block): Json | undefined {
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
