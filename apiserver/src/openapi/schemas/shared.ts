import {
  errorStatuses,
  healthStates,
  logsUnavailableReasons,
  notFoundKinds,
  notFoundReasons,
  slotOutcomes,
  stepActions,
  verdictHolds,
  verdictKinds,
  type Condition,
  type CronJobSummary,
  type ErrorBody,
  type ErrorDetails,
  type Pagination,
  type Problem,
  type Ref,
  type SlotCounts,
  type StateCounts,
  type Verdict,
  type VerdictFinding,
  type VerdictHold,
  type VerdictLogLine,
  type VerdictStep,
} from '@cronjob-monitor/shared/contract';
import { bool, count, instant, int, listOf, nullable, object, ref, text, words, type Schema } from '../schema.ts';

const details: Schema = {
  ...object<ErrorDetails>({
    problems: listOf(
      object<Problem>({
        in: words(['query', 'path', 'body', 'header']),
        field: text,
        message: text,
        allowed: nullable(text),
      }),
    ),
    verb: text,
    resource: text,
    namespace: nullable(text),
    kind: words(notFoundKinds),
    name: text,
    reason: words([...notFoundReasons, ...logsUnavailableReasons]),
    allowed: listOf(text),
    policy: text,
    activeJobs: listOf(text),
    state: text,
    retryAfterSeconds: int,
    schema: int,
    supported: int,
  }),
  required: [],
};

/** Instants stand in it for the reader's clock to print. */
const sentence: Schema = {
  type: 'string',
  description:
    'Instants stand in it as {age:…}, {ago:…}, {in:…} and {at:…}, printed by the reader at the time of the server.',
};

/** What several resources share. */
export const sharedSchemas: Readonly<Record<string, Schema>> = {
  Ref: object<Ref>({ namespace: text, name: text }),
  Pagination: object<Pagination>({ total: count, limit: count, offset: count, hasMore: bool }),
  Condition: object<Condition>({
    type: text,
    status: text,
    reason: text,
    message: text,
    lastTransitionTime: nullable(instant),
    observedGeneration: nullable(int),
  }),
  Error: object<ErrorBody>({
    error: object<ErrorBody['error']>(
      { code: words(Object.keys(errorStatuses)), message: text, requestId: text, details },
      ['details'],
    ),
  }),
  CronJobSummary: object<CronJobSummary>({
    healthy: count,
    warning: count,
    critical: count,
    suspended: count,
    running: count,
    unknown: count,
  }),
  Verdict: object<Verdict>({
    state: words(healthStates),
    kind: words(verdictKinds),
    words: sentence,
    cause: nullable(sentence),
    logLine: nullable(object<VerdictLogLine>({ text, number: count, jobName: text, pod: text, href: text })),
    step: nullable(
      object<VerdictStep>({
        action: words(stepActions),
        words: sentence,
        command: nullable(text),
        href: nullable(text),
      }),
    ),
    since: nullable(instant),
    holds: listOf(
      object<VerdictHold>({
        kind: words(verdictHolds),
        by: nullable(text),
        until: nullable(instant),
        words: sentence,
      }),
    ),
    told: nullable(ref('Told')),
    findings: listOf(object<VerdictFinding>({ code: text, words: sentence, href: nullable(text) })),
    revision: text,
  }),
  // The words of the table are the keys.
  StateCounts: object<StateCounts>(
    Object.fromEntries(healthStates.map((state) => [state, count])) as Record<keyof StateCounts, Schema>,
  ),
  // The words of the table are the keys.
  SlotCounts: object<SlotCounts>(
    Object.fromEntries(slotOutcomes.map((outcome) => [outcome, count])) as Record<keyof SlotCounts, Schema>,
  ),
};
