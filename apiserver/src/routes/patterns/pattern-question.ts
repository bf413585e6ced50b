import type { PatternMatch, PatternTestInput, Problem } from '@cronjob-monitor/shared/contract';
import {
  findRegexProblem,
  parseTemplate,
  suggestionPlaceholders,
  unknownPlaceholders,
} from '@cronjob-monitor/shared/domain';
import type { PatternQuestion } from '../../actions/index.ts';
import { invalidRequest } from '../../errors.ts';

/** The priority of a pattern that names none, as in the CustomResourceDefinition: above the built-in ones. */
const standardPriority = 101;

/**
 * What a body asks, without the patterns of its monitor. Throws INVALID_REQUEST for neither pattern nor monitor, a match without criteria, an
 * expression or a template that cannot be used.
 */
export function readPatternQuestion(body: PatternTestInput): Omit<PatternQuestion, 'ofMonitor'> {
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
  const template = parseTemplate(suggestion);
  const unknown = unknownPlaceholders(template, suggestionPlaceholders).map((name) => `{{ .${name} }}`);
  const wrong = [...unknown, ...template.malformed];
  if (wrong.length === 0) return [];
  const allowed = suggestionPlaceholders.map((name) => `{{ .${name} }}`).join(', ');
  return [{ ...problem('pattern.suggestion', `no such placeholder: ${wrong.join(', ')}`), allowed }];
}

function problem(field: string, message: string): Problem {
  return { in: 'body', field, message, allowed: null };
}
