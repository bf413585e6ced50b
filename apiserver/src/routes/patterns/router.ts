import {
  type PatternMatch,
  PatternTestInput,
  PatternTestResult,
  type Problem,
  type Ref,
  refText,
} from '@cronjob-monitor/shared/contract';
import {
  findRegexProblem,
  suggestionPlaceholders,
  type FixPattern,
  wrongPlaceholders,
} from '@cronjob-monitor/shared/domain';
import { findMonitor } from '@cronjob-monitor/shared/store';
import { missingRight, questionOf } from '../../auth/permission.ts';
import type { ApiContext } from '../../context.ts';
import { forbidden, invalidRequest, notFound } from '../../errors.ts';
import { fixPatternsOf } from '../../monitor-spec.ts';
import { isObjectName } from '../../object-name.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import type { PatternQuestion } from '../../actions/index.ts';
import { callerOf } from '../../middleware/guard.ts';

/** Would this pattern of suggested fixes apply to a run like this, alone or among those of a monitor? */
export const patternsRoutes = [
  route(
    {
      method: 'POST',
      path: '/patterns/test',
      tag: 'Alerts',
      id: 'testPattern',
      says: "Would a pattern of suggested fixes apply, and which one of a monitor's?",
      ability: 'testPattern',
      costly: true,
      harmless: true,
      body: PatternTestInput,
      answer: PatternTestResult,
      refusals: [404],
    },
    async ({ deps, ctx, body }) => {
      const question = readPatternQuestion(body);
      const ofMonitor = body.monitor && (await patternsOf(deps, ctx, body.monitor));
      return deps.actions.testPattern({ ...question, ofMonitor });
    },
  ),
];

/** Throws FORBIDDEN to who may not read the monitor, NOT_FOUND. */
async function patternsOf(
  { store, authentication }: RouteDeps,
  ctx: ApiContext,
  ref: Ref,
): Promise<readonly FixPattern[]> {
  const caller = callerOf(ctx);
  const { namespace, name } = ref;
  const path = refText(ref);
  if (!isObjectName(namespace) || !isObjectName(name)) throw notFound('CronJobMonitor', path, 'neverSeen');
  const question = questionOf('readMonitors', { namespace });
  if (question && !(await authentication.may(caller, 'readMonitors', { namespace }))) {
    const missing = missingRight(question);
    throw forbidden(missing.verb, missing.resource, missing.namespace);
  }
  const { monitor, wasDeleted } = await findMonitor(store, { namespace, name });
  if (!monitor) throw notFound('CronJobMonitor', path, wasDeleted ? 'deleted' : 'neverSeen');
  return fixPatternsOf(monitor.spec);
}

/** The priority of a pattern that names none, as in the CustomResourceDefinition: above the built-in ones. */
const standardPriority = 101;

/**
 * What a body asks, without the patterns of its monitor. Throws INVALID_REQUEST for neither pattern nor monitor, a match without criteria, an
 * expression or a template that cannot be used.
 */
function readPatternQuestion(body: PatternTestInput): Omit<PatternQuestion, 'ofMonitor'> {
  const { pattern, monitor, testContext = {} } = body;
  if (!pattern && !monitor) throw invalidRequest([problem('pattern', 'is required unless a monitor is named')]);
  const match = pattern?.match;
  const problems = pattern && match ? [...judgeMatch(match), ...judgeSuggestion(pattern.suggestion)] : [];
  if (problems.length > 0) throw invalidRequest(problems);
  const { namespace, cronjobName, jobName, exitCode, reason, logs, events = [] } = testContext;
  return {
    pattern: pattern && match && { ...pattern, match, priority: pattern.priority ?? standardPriority },
    facts: { exitCode, reasons: reason === undefined ? [] : [reason], log: logs, events },
    values: {
      'CronJob.Name': cronjobName,
      'CronJob.Namespace': namespace,
      Namespace: namespace,
      Name: cronjobName,
      JobName: jobName,
      ExitCode: exitCode === undefined ? undefined : String(exitCode),
      Reason: reason,
    },
  };
}

function judgeMatch(match: PatternMatch): Problem[] {
  const given = Object.values(match).filter((value) => value !== undefined);
  if (given.length === 0) return [problem('pattern.match', 'needs at least one criterion')];
  const { exitCodeRange: range } = match;
  const expressions = (['reasonPattern', 'logPattern', 'eventPattern'] as const).flatMap((field) => {
    const expression = match[field];
    const wrong = expression === undefined ? undefined : findRegexProblem(expression);
    return wrong === undefined ? [] : [problem(`pattern.match.${field}`, wrong)];
  });
  return range && range.min > range.max
    ? [problem('pattern.match.exitCodeRange', 'min must not exceed max'), ...expressions]
    : expressions;
}

function judgeSuggestion(suggestion: string): Problem[] {
  const wrong = wrongPlaceholders(suggestion, suggestionPlaceholders);
  if (wrong.length === 0) return [];
  const allowed = suggestionPlaceholders.map((name) => `{{ .${name} }}`).join(', ');
  return [{ ...problem('pattern.suggestion', `no such placeholder: ${wrong.join(', ')}`), allowed }];
}

function problem(field: string, message: string): Problem {
  return { in: 'body', field, message, allowed: null };
}
