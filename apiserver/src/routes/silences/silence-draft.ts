import type { Problem, SilenceInput } from '@cronjob-monitor/shared/contract';
import { dayMs, type Instant, parseDuration, type SilenceMatcher } from '@cronjob-monitor/shared/domain';
import type { SilenceDraft } from '../../actions/index.ts';
import { invalidRequest } from '../../errors.ts';
import { isCronJobName, isObjectId, isObjectName } from '../../object-name.ts';
import { instantForms, readInstant } from '../../middleware/parameters.ts';

const longestMs = 30 * dayMs;
const latestStartMs = 366 * dayMs;

/** What a body asks for. Throws INVALID_REQUEST with all that its fields say wrongly of one another (api.md section 9). */
export function readSilenceDraft(body: SilenceInput, by: string, now: Instant): SilenceDraft {
  const problems: Problem[] = [];
  const { comment = '', untilResolved = false, untilSuccess } = body;
  const matcher = readMatcher(body.matcher, problems);
  const startsAt = readAt('startsAt', body.startsAt, problems) ?? now;
  const endsAt = readEnd(body, startsAt, problems);
  if (endsAt !== undefined && problems.length === 0) problems.push(...judgeSpan({ startsAt, endsAt }, now));
  if (body.comment?.trim() === '')
    problems.push(problem('comment', 'says nothing', '1 to 500 characters that say why'));
  if (problems.length > 0 || endsAt === undefined) throw invalidRequest(problems);
  return { matcher, startsAt, endsAt, untilResolved: untilSuccess ?? untilResolved, comment, by };
}

const wholeNames = 'whole names; a namespace and a name together go into refs';

function readMatcher(given: SilenceInput['matcher'], problems: Problem[]): SilenceMatcher {
  const {
    namespaces = [],
    cronjobs = [],
    refs = [],
    types = [],
    severities = [],
    monitor,
    alertId,
    all = false,
  } = given;
  const lists = [namespaces, cronjobs, refs, types, severities];
  const hasCriteria = lists.some((list) => list.length > 0) || monitor !== undefined || alertId !== undefined;
  if (alertId !== undefined && !isObjectId(alertId))
    problems.push(problem('matcher.alertId', 'is not the id of an alert', 'as the API and messages write it'));
  // A name that no object can have would hold nothing, without a word.
  for (const [index, name] of namespaces.entries())
    if (!isObjectName(name))
      problems.push(problem(`matcher.namespaces[${index}]`, 'is no name of a namespace', wholeNames));
  for (const [index, name] of cronjobs.entries())
    if (!isCronJobName(name))
      problems.push(problem(`matcher.cronjobs[${index}]`, 'is no name of a CronJob', wholeNames));
  if (all && hasCriteria) problems.push(problem('matcher.all', 'leaves no room for other criteria', null));
  if (!all && !hasCriteria) {
    problems.push(problem('matcher', 'names nothing', 'at least one criterion, or {"all": true} for the whole fleet'));
  }
  return { namespaces, cronjobs, refs, types, severities, monitor: monitor ?? null, alertId: alertId ?? null, all };
}

function readEnd(body: SilenceInput, startsAt: Instant, problems: Problem[]): Instant | undefined {
  const { endsAt, duration, untilSuccess = false } = body;
  if (Number(endsAt !== undefined) + Number(duration !== undefined) + Number(untilSuccess) !== 1) {
    problems.push(problem('endsAt', 'exactly one of endsAt, duration and untilSuccess is needed', null));
    return undefined;
  }
  if (untilSuccess) return startsAt + longestMs;
  if (duration === undefined) return readAt('endsAt', endsAt, problems);
  const durationMs = parseDuration(duration);
  if (durationMs !== undefined && durationMs > 0) return startsAt + durationMs;
  problems.push(problem('duration', 'must be a duration longer than zero', 'such as 4h or 2d'));
  return undefined;
}

function judgeSpan({ startsAt, endsAt }: { startsAt: Instant; endsAt: Instant }, now: Instant): Problem[] {
  if (startsAt - now > latestStartMs) return [problem('startsAt', 'must be at most a year ahead', null)];
  if (endsAt <= now) return [problem('endsAt', 'must be in the future', null)];
  if (endsAt <= startsAt) return [problem('endsAt', 'must be after startsAt', null)];
  if (endsAt - startsAt > longestMs) return [problem('endsAt', 'must be at most 30 days after startsAt', null)];
  return [];
}

function readAt(field: string, text: string | undefined, problems: Problem[]): Instant | undefined {
  if (text === undefined) return undefined;
  const reading = readInstant(text);
  if ('at' in reading) return reading.at;
  problems.push(problem(field, reading.problem, instantForms));
  return undefined;
}

function problem(field: string, message: string, allowed: string | null): Problem {
  return { in: 'body', field, message, allowed };
}
