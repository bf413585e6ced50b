import type { Condition, Monitor } from '@cronjob-monitor/shared/contract';
import { readyText } from './channels.ts';
import { spelledOut } from './duration.ts';

const wellTexts: Readonly<Record<string, string>> = {
  Ready: 'It is evaluated',
  SpecValid: 'Its fields can be used',
  ChannelsResolved: 'Its channels exist and are ready',
  SelectorAuthorized: 'It may reach every namespace it names',
  SchedulesUnderstood: 'Every schedule is understood',
  ConfigurationSound: 'Nothing in it looks wrong',
  ExpectationsMet: 'Every CronJob that it expects is there',
  Healthy: 'The last run of every CronJob that is not suspended succeeded',
};

const wellReasons: Readonly<Record<string, string>> = {
  NoneReferenced: 'It names no channel: none is told',
  NoneExpected: 'It expects no CronJob by its name',
};

const whatToChange: Readonly<Record<string, string>> = {
  NotEvaluated: 'It is evaluated as soon as a controller leads',
  EvaluationFailed: 'The log of the controller has the cause',
  InvalidField: 'Correct the field; what needs it is off until then',
  InvalidPattern: 'Correct the pattern under spec.alerting.suggestedFixPatterns',
  InvalidTimeZone: 'Use an IANA name such as Europe/Berlin',
  InvalidSchedule: 'Correct the schedule of the maintenance window',
  Undecodable: 'Write spec as an object with the documented fields',
  ChannelNotFound: 'Create the AlertChannel, or correct spec.alerting.channelRefs',
  ChannelNotAllowed: 'Add the namespace to spec.allowedNamespaces of the channel, or name another one',
  ChannelNotReady: 'The page of the channel says what it lacks',
  NamespaceNotAuthorized: 'Annotate the namespace with cronjob-monitor.io/monitored-from, or leave it out',
  NamespaceIgnored: 'Take it out of the selector, or out of ignored-namespaces',
  NamespaceNotFound: 'Correct the name in the selector',
  ScheduleInvalid: 'Correct the schedule of the CronJob',
  ZoneUnknown: 'Correct spec.timeZone of the CronJob',
  ZoneMismatch: 'Name the zone in spec.timeZone, or correct cluster.default-time-zone',
  ScheduleNeverFires: 'Choose a date that comes',
  EveryNeverRuns: 'Raise startingDeadlineSeconds above the period of the schedule',
  Missing: 'Create it, label it as the selector says, or name it in expects.except',
  OutOfReach: 'Let the namespace agree by its annotation, or take the name out of expects',
  NamespaceGone: 'Take it out of expects when it is not to come back',
  LintFindings: 'Change what the findings name, or leave it knowingly',
};

/** A message of a condition without its codes, and with its durations in words. */
function readable(message: string): string {
  return spelledOut(message)
    .replaceAll(/(?<=^|; )(?:[A-Z]\w+: )+/g, '')
    .replaceAll(/(?<=not ready, )\w+/g, (reason) => lowerFirst(readyText({ reason, message: '' })));
}

/** Problems of a monitor in one line; what its settings are found to be stands as findings. */
export function problemsText({ problems, findings }: Pick<Monitor, 'problems' | 'findings'>): string {
  return readable(
    problems.filter((problem) => findings === 0 || !problem.startsWith('ConfigurationSound:')).join('; '),
  );
}

/** A condition of a monitor as a sentence, and what to change when it is not well. */
interface ConditionLine {
  readonly type: string;
  readonly isWell: boolean;
  readonly says: string;
  readonly change: string | undefined;
}

/** What is not well comes first. */
export function conditionLines(conditions: readonly Condition[]): ConditionLine[] {
  const lines = conditions.map(({ type, status, reason, message }) => {
    const isWell = (status === 'True') !== (type === 'Stalled');
    const said = message === '' ? reason : readable(message);
    // A condition that is well has nothing to tell but a note of its own.
    const note = isWell && reason === 'Noted' ? said : undefined;
    return {
      type,
      isWell: isWell && note === undefined,
      says: note ?? (isWell ? (wellReasons[reason] ?? wellTexts[type] ?? said) : said),
      change: isWell ? undefined : whatToChange[reason],
    };
  });
  return [...lines.filter(({ isWell }) => !isWell), ...lines.filter(({ isWell }) => isWell)];
}

/** The first line of a monitor's page: how it stands. */
export function phaseText(phase: string, conditions: readonly Condition[]): string {
  const first = conditionLines(conditions).find(({ isWell }) => !isWell)?.says;
  switch (phase) {
    case 'Active':
      return 'It works: its spec is valid and its last evaluation succeeded';
    case 'Degraded':
      return first ? `It works, but ${lowerFirst(first)}` : 'It works, but part of it is switched off';
    case 'Error':
      return first ? `It cannot be evaluated: ${lowerFirst(first)}` : 'It cannot be evaluated';
    default:
      return 'It was not evaluated yet';
  }
}

/** A sentence inside another begins small, unless it begins with a name or a field. */
function lowerFirst(sentence: string): string {
  return /^[A-Z][a-z]*\b(?![.\][])/.test(sentence) && !/^[A-Z][a-z]+[A-Z]/.test(sentence)
    ? sentence.charAt(0).toLowerCase() + sentence.slice(1)
    : sentence;
}
