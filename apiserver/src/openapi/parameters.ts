import {
  alertHistorySortKeys,
  alertSortKeys,
  alertTypes,
  changeKinds,
  channelSortKeys,
  channelTypes,
  closedAlertStates,
  coverageSortKeys,
  coverageStates,
  cronJobKinds,
  cronJobSortKeys,
  cronJobStatusFilters,
  healthStates,
  deliveryKinds,
  deliverySortKeys,
  deliveryStates,
  executionSortKeys,
  executionStatuses,
  executionTriggers,
  failureCauses,
  gridSortKeys,
  logSources,
  maxLimit,
  maxOffset,
  monitorPhases,
  monitorSortKeys,
  openAlertStates,
  severities,
  silenceSortKeys,
  silenceStates,
  slaSortKeys,
  slaSubjects,
  slaTargetVerdicts,
  slaVerdicts,
  slotOutcomes,
  slotSortKeys,
  timelineSortKeys,
  wallGroups,
  wallOutcomes,
  wallSortKeys,
  wallSteps,
} from '@cronjob-monitor/shared/contract';
import { bool, listOf, text, wholeNumber, words, type Schema } from './schema.ts';

/** A parameter as OpenAPI writes it. */
type Parameter = Readonly<Record<string, unknown>>;

function query(name: string, description: string, schema: Schema): Parameter {
  return { name, in: 'query', description, schema };
}

/** Values comma-separated or repeated; one of them has to match. */
function list(name: string, description: string, items: Schema): Parameter {
  return query(name, description, listOf(items));
}

function sort(keys: readonly string[], standard: string): Parameter {
  const directions = keys.flatMap((key) => [key, `-${key}`]);
  return query('sort', `Rises; with a minus it falls. Without it ${standard}.`, words(directions));
}

function path(name: string, description: string): Parameter {
  return { name, in: 'path', required: true, description, schema: { type: 'string', minLength: 1 } };
}

const instantText: Schema = {
  type: 'string',
  description: 'RFC 3339 with Z or an offset, or a date, which begins at 00:00 UTC.',
};
const since = (what: string): Parameter => query('since', what, instantText);
const until = (what: string): Parameter => query('until', what, instantText);

/** In the path of many operations. */
export const pathParameters: Readonly<Record<string, Parameter>> = {
  namespace: path('namespace', 'Namespace of the object.'),
  name: path('name', 'Name of the object.'),
  jobName: path('jobName', 'Name of the Job.'),
  id: path('id', 'Id of the object.'),
};

/** In queries, by the names that the comments of routers use; several of them may have one name on the wire. */
export const queryParameters: Readonly<Record<string, Parameter>> = {
  limit: query('limit', `Rows of a page; more than ${maxLimit} is lowered.`, { type: 'integer', minimum: 1 }),
  gridLimit: query('limit', 'Rows of a page; more than 100 is lowered.', { type: 'integer', minimum: 1 }),
  offset: query('offset', 'Rows to pass over.', wholeNumber(0, maxOffset)),
  namespaces: list('namespace', 'Namespaces.', text),
  monitor: query('monitor', 'A monitor, as namespace/name.', { type: 'string', pattern: '^[^/]+/[^/]+$' }),
  search: query('search', 'A part of the name, case ignored.', { type: 'string', maxLength: 253 }),
  similar: query(
    'similar',
    'With search: also names with letters missing, swapped or wrong, each word anywhere in namespace and name.',
    bool,
  ),
  export: query('format', 'All rows as a file; limit and offset are not possible then.', words(['csv', 'json'])),

  oneNamespace: query('namespace', 'Where the abilities are asked for; without it in any namespace.', text),
  monitorPhases: list('phase', 'Phases.', words(monitorPhases)),
  monitorSort: sort(monitorSortKeys, 'name'),

  cronJobStatuses: list('status', 'Health; suspended and running are overlays.', words(cronJobStatusFilters)),
  cronJobKinds: list(
    'kind',
    'CronJob unless it is given; Jobs: groups of Jobs that no CronJob controls.',
    words(cronJobKinds),
  ),
  cronJobStates: list('state', 'States of the verdict.', words(healthStates)),
  slaVerdicts: list('sla', 'Verdicts on the success rate.', words(slaVerdicts)),
  includeRemoved: query('includeRemoved', 'Also those that are gone and have history.', bool),
  recent: query('recent', 'So many recent runs of each; needs limit.', wholeNumber(0, 30)),
  recentOfOne: query('recent', 'So many recent runs.', wholeNumber(0, 90)),
  cronJobSort: sort(cronJobSortKeys, 'name'),
  force: query('force', 'Also beside an unfinished Job, whatever the policy says.', bool),

  executionStatuses: list('status', 'How runs ended.', words(executionStatuses)),
  causes: list('cause', 'On whose side it is.', words(failureCauses)),
  triggers: list('trigger', 'What started runs.', words(executionTriggers)),
  executionsSince: since('Inclusive; by the creation of the Job. Without it 30 days ago.'),
  executionsUntil: until('Exclusive; by the creation of the Job.'),
  executionSort: sort(executionSortKeys, '-time'),
  with: query('with', 'Name of the Job to compare with; without it the newest success before.', text),
  uid: query('uid', 'UID of the Job; without it the newest of that name.', text),

  container: query('container', 'Without it the one that failed, else the first regular one.', text),
  tailLines: query('tailLines', 'Last lines, 500 without it; more than 10000 is lowered.', {
    type: 'integer',
    minimum: 1,
  }),
  logSource: query('source', 'Without it live, else stored.', words(logSources)),
  pod: query('pod', 'One pod of several.', text),
  previous: query('previous', 'Of the container before its restart.', bool),
  logText: query('q', 'What a line has in it, upper and lower case alike; an expression with regex=true.', text),
  logRegex: query('regex', 'q is RE2.', bool),
  logCursor: query('cursor', 'Of the answer before: the search goes on where it ended.', text),
  logFormat: query('format', 'As an object, or as a text file.', words(['json', 'text'])),

  slotsSince: since('Inclusive; without it 7 days ago.'),
  slotsUntil: until('Exclusive; without it now.'),
  slotOutcomes: list('outcome', 'What became of expected runs.', words(slotOutcomes)),
  slotSort: sort(slotSortKeys, '-scheduledFor'),

  hours: query('hours', 'Width of the window, 24 without it.', wholeNumber(1, 168)),
  tonightUntil: until('In the next 48 hours; without it 06:00 of the zone, between 06:00 and 18:00 its 22:00.'),
  zone: query('zone', 'A time zone by its IANA name; without it that of the cluster.', text),
  gridUntil: until('End of the window; without it now.'),
  timelineSort: sort(timelineSortKeys, 'nextRun'),
  gridSort: sort(gridSortKeys, 'name'),
  wallFrom: query(
    'from',
    'Inclusive, moved back to a full column; at most 31 days before until. Without it as many columns back as the step stands for.',
    instantText,
  ),
  wallUntil: until(
    'Exclusive, moved on to a full column; at most 48 hours ahead. Without it as many columns ahead as the step stands for.',
  ),
  wallStep: query(
    'step',
    'Width of a column, 30m without it: 24 h back and 12 h ahead. 3h: 7 d and 2 d. 2m: 1 h and 1 h. At most 200 columns.',
    words(wallSteps),
  ),
  wallGroup: query('group', 'What rows stand together by, namespace without it.', words(wallGroups)),
  wallOutcomes: list('outcome', 'What a row has to have a cell of; one of several is enough.', words(wallOutcomes)),
  wallSort: sort(wallSortKeys, 'status'),
  count: query('count', 'Runs to come, 20 without it.', wholeNumber(1, 500)),
  facts: query(
    'facts',
    'Names of facts, repeated or with commas: their figures come with each day.',
    listOf(text, { maxItems: 32 }),
  ),
  days: query('days', 'UTC days, 30 without it; today is the last.', wholeNumber(1, 365)),

  slaSubjects: list('subject', 'What is asked of runs.', words(slaSubjects)),
  targetVerdicts: list('verdict', 'Verdicts.', words(slaTargetVerdicts)),
  slaSort: sort(slaSortKeys, 'verdict'),

  coverageStates: list('state', 'States.', words(coverageStates)),
  coverageTypes: list(
    'types',
    'Types that have to be heard of; without it jobFailed, missedSchedule and deadManTriggered.',
    words(alertTypes),
  ),
  coverageDays: query(
    'days',
    'A channel has to have accepted something within so many days; 30 without it.',
    wholeNumber(1, 365),
  ),
  coverageProved: query(
    'proved',
    'A channel counts as proved only where a person has acknowledged a drill of it within `days`.',
    bool,
  ),
  routeAt: query('at', 'The instant that is asked about, from now to 31 days ahead; now without it.', instantText),
  coverageSort: sort(coverageSortKeys, 'state, the worst first'),

  severities: list('severity', 'Severities.', words(severities)),
  alertTypes: list('type', 'Types.', words(alertTypes)),
  cronJobs: list('cronjob', 'Names of CronJobs.', text),
  openStates: list('state', 'States; active without it.', words(openAlertStates)),
  closedStates: list('state', 'States; resolved and expired without it.', words(closedAlertStates)),
  acknowledged: query('acknowledged', 'Whether somebody has taken note.', bool),
  alertSort: sort(alertSortKeys, 'severity, then the oldest'),
  endedSince: since('Inclusive; by the end of the alert.'),
  endedUntil: until('Exclusive; by the end of the alert.'),
  historySort: sort(alertHistorySortKeys, '-endedAt'),

  silenceStates: list('state', 'States; scheduled and active without it.', words(silenceStates)),
  silenceSort: sort(silenceSortKeys, 'endsAt'),
  dryRun: query('dryRun', 'Only says what it would hold; nothing is kept.', bool),

  channelTypes: list('type', 'Types.', words(channelTypes)),
  ready: query('ready', 'Whether it can be used.', bool),
  channelSort: sort(channelSortKeys, 'name'),

  channels: list('channel', 'Names of channels.', text),
  deliveryStates: list('state', 'States.', words(deliveryStates)),
  deliveryKinds: list('kind', 'Kinds.', words(deliveryKinds)),
  alertId: query('alert', 'Id of an alert.', text),
  createdSince: since('Inclusive; by its creation.'),
  createdUntil: until('Exclusive; by its creation.'),
  deliverySort: sort(deliverySortKeys, '-createdAt'),

  streamKinds: list(
    'kinds',
    'Kinds of messages; hello and resync come in any case.',
    words([...changeKinds, 'health']),
  ),
};
