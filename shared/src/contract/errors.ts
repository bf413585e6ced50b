import { int, listOf, nullable, object, type Of, optional, text, words } from './shape/shape.ts';
import { MissingCluster } from './wire.ts';

/** The stable codes of errors and the HTTP status of each. */
export const errorStatuses = {
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  CROSS_SITE_REFUSED: 403,
  READ_ONLY: 403,
  CLUSTER_FORBIDDEN: 403,
  NOT_FOUND: 404,
  LOGS_UNAVAILABLE: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  AMBIGUOUS_CLUSTER: 409,
  CONCURRENCY_REFUSED: 409,
  ALERT_ENDED: 409,
  NOT_REDRIVABLE: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  HOST_NOT_ALLOWED: 421,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  CLUSTER_UNAVAILABLE: 502,
  REVIEW_UNAVAILABLE: 503,
  DATABASE_UNAVAILABLE: 503,
  MIGRATING: 503,
  TOO_MANY_STREAMS: 503,
  SHUTTING_DOWN: 503,
  CLUSTER_SILENT: 503,
} as const;
export type ErrorCode = keyof typeof errorStatuses;

/** What a path named when it named nothing. `Route`: no such path. */
const notFoundKinds = [
  'CronJob',
  'CronJobMonitor',
  'AlertChannel',
  'Execution',
  'Alert',
  'Silence',
  'Delivery',
  'Drill',
  'Route',
] as const;
export type NotFoundKind = (typeof notFoundKinds)[number];

const notFoundReasons = ['neverSeen', 'deleted', 'expired'] as const;
export type NotFoundReason = (typeof notFoundReasons)[number];

export const logsUnavailableReasons = ['notStored', 'podGone', 'notStarted'] as const;
export type LogsUnavailableReason = (typeof logsUnavailableReasons)[number];

/** One thing that is wrong with a request. */
export const Problem = object({
  in: words(['query', 'path', 'body', 'header']),
  /** Name of the parameter; in a body the path, `""` for the body itself. */
  field: text,
  message: text,
  allowed: nullable(text),
});
export type Problem = Of<typeof Problem>;

/** Only the keys that the code has. */
export const ErrorDetails = object({
  problems: optional(listOf(Problem)),
  verb: optional(text),
  resource: optional(text),
  namespace: optional(nullable(text)),
  kind: optional(words(notFoundKinds)),
  name: optional(text),
  reason: optional(words([...notFoundReasons, ...logsUnavailableReasons])),
  allowed: optional(listOf(text)),
  policy: optional(text),
  activeJobs: optional(listOf(text)),
  state: optional(text),
  retryAfterSeconds: optional(int),
  schema: optional(int),
  supported: optional(int),
  /** Names of clusters, of which `cluster` has to be one. */
  clusters: optional(listOf(text)),
  /** Clusters that may have what was not found, and could not be asked. */
  missing: optional(listOf(MissingCluster)),
});
export type ErrorDetails = Of<typeof ErrorDetails>;

/** Body of every answer that is no success, but for health. */
export const ErrorBody = object('Error', {
  error: object({
    code: words(Object.keys(errorStatuses) as ErrorCode[]),
    /** One sentence for a person. */
    message: text,
    requestId: text,
    details: optional(ErrorDetails),
  }),
});
export type ErrorBody = Of<typeof ErrorBody>;
