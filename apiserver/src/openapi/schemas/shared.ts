import {
  errorStatuses,
  logsUnavailableReasons,
  notFoundKinds,
  notFoundReasons,
  slotOutcomes,
  type Condition,
  type CronJobSummary,
  type ErrorBody,
  type ErrorDetails,
  type Pagination,
  type Problem,
  type Ref,
  type SlotCounts,
} from '@cronjob-monitor/shared/contract';
import { bool, count, instant, int, listOf, nullable, object, text, words, type Schema } from '../schema.ts';

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
  // The words of the table are the keys.
  SlotCounts: object<SlotCounts>(
    Object.fromEntries(slotOutcomes.map((outcome) => [outcome, count])) as Record<keyof SlotCounts, Schema>,
  ),
};
