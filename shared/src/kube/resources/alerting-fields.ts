import {
  alertTypes,
  failureCauses,
  overrideWords,
  severities,
  type AlertType,
  type Severity,
} from '../../contract/vocabulary.ts';
import { parseDuration, suggestionPlaceholders, type FixPattern, wrongPlaceholders } from '../../domain/index.ts';
import { list, namedList, refine, set, textMap } from './collection.ts';
import {
  boolean,
  defaulted,
  duration,
  integer,
  object,
  oneOf,
  optional,
  regex,
  required,
  text,
  type Member,
} from './field.ts';
import type { ChannelRef, ChannelRoute, IncludeContextSpec } from './monitor-spec.ts';
import { refuse, hasProblemIn } from './reading.ts';

const severity = oneOf(severities);

const longestAfterMs = 24 * 3_600_000;

const after = refine(duration(), (value, path, reading) =>
  (parseDuration(value) ?? 0) <= longestAfterMs ? value : refuse(reading, path, 'must be at most 24h'),
);

const channelRef = refine(
  object({
    name: required(text(1, 253)),
    severities: optional(set(severity, 2)),
    after: optional(after),
    unlessAcknowledged: defaulted(boolean, true),
  }),
  ({ name, severities: wanted, after: rung, unlessAcknowledged }, path, reading): ChannelRef | undefined => {
    if (name === undefined) return undefined;
    // What cannot be read of a rung tells it at once, and whatever was acknowledged.
    const ref = { name, after: rung, unlessAcknowledged: unlessAcknowledged === true };
    if (wanted !== undefined && wanted.length > 0) return { ...ref, severities: wanted };
    // Without a usable list nothing is filtered out: to be told too much is better than not to be told.
    if (wanted?.length === 0) {
      const message = `an empty list of severities for channel ${name} means both`;
      reading.notes.push({ code: 'SeveritiesEmpty', path: `${path}.severities`, message });
    }
    return { ...ref, severities };
  },
);

const channelRefs = namedList(channelRef, 20);

const when = object({
  owners: optional(set(text(1, 253), 50)),
  labels: optional(textMap(text(0, 63), 20)),
  causes: optional(set(oneOf(failureCauses), 4)),
  types: optional(set(oneOf(alertTypes), alertTypes.length)),
});

const routedChannel = refine(text(1, 253), (written, path, reading) => {
  const names = wrongPlaceholders(written, ['Owner']);
  if (names.length === 0) return written;
  return refuse(
    reading,
    path,
    `no such placeholder: ${names.join(', ')}; only {{ .Owner }} may stand here`,
    'InvalidPattern',
  );
});

const route = refine(
  object({
    name: required(text(1, 63)),
    when: defaulted(when, {}),
    channels: required(list(routedChannel, 5, 1)),
    severities: optional(set(severity, 2)),
    instead: defaulted(boolean, false),
    fold: defaulted(boolean, false),
  }),
  (read, path, reading): ChannelRoute | undefined => {
    const { name, when: asks, channels, severities: taken = [], instead, fold } = read;
    // Without a criterion of its own it would take what it was not meant for.
    const isWhole = !reading.problems.some((problem) => problem.path.startsWith(`${path}.when`));
    if (name === undefined || !asks || !channels || channels.length === 0 || !isWhole) return undefined;
    const { owners = [], labels = {}, causes = [], types = [] } = asks;
    if (fold === true && causes.length === 0) return refuse(reading, path, 'fold needs when.causes');
    const said = { channels, severities: taken, instead: instead === true, fold: fold === true };
    return { name, when: { owners, labels, causes, types }, ...said };
  },
);

const routes = namedList(route, 50);

const includeContext = refine(
  object({
    logs: defaulted(boolean, true),
    logLines: defaulted(integer(1, 10_000), 50),
    logContainerName: optional(text(1, 63)),
    events: defaulted(boolean, true),
    includeInitContainerLogs: defaulted(boolean, false),
    podStatus: defaulted(boolean, true),
    suggestedFixes: defaulted(boolean, true),
  }),
  (read, path, reading): IncludeContextSpec => {
    const logs = ['logLines', 'logContainerName', 'includeInitContainerLogs'].map((name) => `${path}.${name}`);
    const logsAreUsable = !reading.problems.some((problem) => logs.includes(problem.path));
    return {
      logs: read.logs === true && logsAreUsable,
      logLines: read.logLines ?? 50,
      logContainerName: read.logContainerName,
      events: read.events === true,
      includeInitContainerLogs: read.includeInitContainerLogs === true,
      podStatus: read.podStatus === true,
      suggestedFixes: read.suggestedFixes === true,
    };
  },
);

const overrideMembers = Object.fromEntries(alertTypes.map((type) => [type, optional(severity)])) as Record<
  AlertType,
  Member<Severity>
>; // one member for each type, made from the list of all types

const severityOverrides = refine(object(overrideMembers), (read): Partial<Record<AlertType, Severity>> =>
  Object.fromEntries(Object.entries(read).filter(([, severity]) => severity !== undefined)),
);

const exitCode = integer(0, 255);

const exitCodeRange = refine(
  object({ min: required(exitCode), max: required(exitCode) }),
  ({ min, max }, path, reading) => {
    if (min === undefined || max === undefined) return undefined;
    return min <= max ? { min, max } : refuse(reading, path, 'min must not exceed max');
  },
);

const match = refine(
  object({
    exitCode: optional(exitCode),
    exitCodeRange: optional(exitCodeRange),
    reason: optional(text(1, 256)),
    reasonPattern: optional(regex),
    logPattern: optional(regex),
    eventPattern: optional(regex),
  }),
  (read, path, reading): FixPattern['match'] | undefined => {
    // A criterion that cannot be used makes the whole pattern unusable: without it others would match too much.
    if (hasProblemIn(reading, path)) return undefined;
    const isEmpty = Object.values(read).every((criterion) => criterion === undefined);
    return isEmpty ? refuse(reading, path, 'match needs at least one criterion') : read;
  },
);

/** An unknown placeholder is named and stays as written; the suggestion is used all the same. */
const suggestion = refine(text(1, 2048), (written, path, reading) => {
  const names = wrongPlaceholders(written, suggestionPlaceholders);
  if (names.length > 0) refuse(reading, path, `no such placeholder: ${names.join(', ')}`, 'InvalidPattern');
  return written;
});

const fixPattern = refine(
  object({
    name: required(text(1, 63)),
    match: required(match),
    suggestion: required(suggestion),
    priority: defaulted(integer(0, 10_000), 101),
  }),
  ({ name, match, suggestion, priority }): FixPattern | undefined =>
    name === undefined || match === undefined || suggestion === undefined || priority === undefined
      ? undefined
      : { name, match, suggestion, priority },
);

const suggestedFixPatterns = namedList(fixPattern, 50);

const shortestReminderMs = 5 * 60_000;

const remindEvery = refine(duration({ zero: true }), (value, path, reading) => {
  const ms = parseDuration(value) ?? 0;
  return ms === 0 || ms >= shortestReminderMs ? value : refuse(reading, path, 'must be 0s for none, or at least 5m');
});

/** Annotations of CronJobs and Namespaces that count. */
export const allowOverrides = set(oneOf(overrideWords), overrideWords.length);

export const alertingField = object({
  enabled: defaulted(boolean, true),
  channelRefs: optional(channelRefs),
  routes: optional(routes),
  includeContext: defaulted(includeContext, {}),
  severityOverrides: optional(severityOverrides),
  suggestedFixPatterns: optional(suggestedFixPatterns),
  suppressDuplicatesFor: optional(duration({ zero: true })),
  alertDelay: optional(duration({ zero: true })),
  remindEvery: defaulted(remindEvery, '24h'),
  renotifyOnChangedError: defaulted(boolean, false),
});
