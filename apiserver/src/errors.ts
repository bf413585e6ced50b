import {
  errorStatuses,
  type ErrorCode,
  type ErrorDetails,
  type LogsUnavailableReason,
  type MissingCluster,
  type NotFoundKind,
  type NotFoundReason,
  type Problem,
} from '@cronjob-monitor/shared/contract';

/** A refusal or failure that the caller is told: stable code, safe sentence, details by allow-list. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetails | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    more: { details?: ErrorDetails; headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = errorStatuses[code];
    this.details = more.details;
    this.headers = more.headers ?? {};
  }
}

/** One sentence for one or many problems: the first in words, the others counted. */
export function invalidRequest(problems: readonly Problem[]): ApiError {
  const [first] = problems;
  const text = first ? [first.field, first.message].filter(Boolean).join(': ') : 'the request is wrong';
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new ApiError('INVALID_REQUEST', text + more, { details: { problems } });
}

export function notFound(kind: NotFoundKind, name: string, reason: NotFoundReason): ApiError {
  // A CronJob that no monitor selects is in the cluster all the same.
  const neverSeen = kind === 'CronJob' ? 'is not known: there is none, or no monitor selects it' : 'does not exist';
  const why = { neverSeen, deleted: 'was deleted', expired: 'is no longer kept' }[reason];
  return new ApiError('NOT_FOUND', `${kind} ${name} ${why}`, { details: { kind, name, reason } });
}

/** The same where some clusters could not be asked: they may have it. */
export function notFoundWhereAsked(error: ApiError, missing: readonly MissingCluster[]): ApiError {
  const others = missing.map(({ cluster, problem }) => `${cluster} could not be asked: ${problem}`).join('; ');
  return new ApiError(error.code, `${error.message}; ${others}`, { details: { ...error.details, missing } });
}

/** An unknown path. */
export function noSuchRoute(message = 'There is nothing at this path'): ApiError {
  return new ApiError('NOT_FOUND', message, { details: { kind: 'Route', reason: 'neverSeen' } });
}

export function logsUnavailable(jobName: string, reason: LogsUnavailableReason): ApiError {
  const why = {
    notStored: 'its logs were not stored',
    podGone: 'its pod is gone and its logs were not stored',
    notStarted: 'none of its containers has started yet',
  }[reason];
  return new ApiError('LOGS_UNAVAILABLE', `No logs of ${jobName}: ${why}`, { details: { reason } });
}

export function methodNotAllowed(method: string, allowed: readonly string[]): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', `${method} is not possible here, use ${allowed.join(' or ')}`, {
    details: { allowed },
    headers: { Allow: allowed.join(', ') },
  });
}

/** No identity, or one that was not confirmed. */
export function unauthenticated(message: string): ApiError {
  return new ApiError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** The caller lacks a right; `namespace` undefined: asked for the whole cluster, or a path. */
export function forbidden(verb: string, resource: string, namespace: string | undefined): ApiError {
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  return new ApiError('FORBIDDEN', `You need the right to ${verb} ${resource}${where}`, {
    details: { verb, resource, namespace: namespace ?? null },
  });
}

/** Who calls, or what they may do, cannot be found out: every caller is refused. */
export function reviewUnavailable(cause?: unknown): ApiError {
  return new ApiError(
    'REVIEW_UNAVAILABLE',
    'The cluster cannot be asked now who you are and what you may do; try again',
    {
      headers: { 'Retry-After': '5' },
      cause,
    },
  );
}

export function hostNotAllowed(): ApiError {
  return new ApiError('HOST_NOT_ALLOWED', 'The Host header names no host of this service; see api.allowed-hosts');
}

export function crossSiteRefused(): ApiError {
  return new ApiError('CROSS_SITE_REFUSED', 'A page of another site may not change anything here');
}

export function readOnly(): ApiError {
  return new ApiError('READ_ONLY', 'This service is read-only: api.read-only is true');
}

export function payloadTooLarge(maxBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBytes} bytes`, {
    headers: { Connection: 'close' }, // the rest of the body is not read
  });
}

export function unsupportedMediaType(): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json in UTF-8, not encoded further');
}

export function rateLimited(retryAfterSeconds: number): ApiError {
  return new ApiError('RATE_LIMITED', `Too many costly calls; try again in ${retryAfterSeconds} s`, {
    details: { retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}

/** Too much is being read at once: soon there is room again. */
export function tooBusy(retryAfterSeconds: number): ApiError {
  return new ApiError('RATE_LIMITED', 'Too many expensive reads at once; try again', {
    details: { retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}

export function conflict(message: string): ApiError {
  return new ApiError('CONFLICT', message);
}

export function clusterUnavailable(cause: unknown): ApiError {
  return new ApiError('CLUSTER_UNAVAILABLE', 'The Kubernetes API server did not answer', { cause });
}

export function clusterForbidden(
  verb: string,
  resource: string,
  namespace: string | undefined,
  cause: unknown,
): ApiError {
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  return new ApiError('CLUSTER_FORBIDDEN', `The service's own account may not ${verb} ${resource}${where}`, {
    details: { verb, resource, namespace: namespace ?? null },
    cause,
  });
}

export function databaseUnavailable(
  cause: unknown,
  message = 'The database does not answer; what is stored cannot be read now',
): ApiError {
  return new ApiError('DATABASE_UNAVAILABLE', message, {
    headers: { 'Retry-After': '5' },
    cause,
  });
}

export function migrating(schema: number, supported: number): ApiError {
  return new ApiError('MIGRATING', `The schema is ${schema}, this version serves ${supported}`, {
    details: { schema, supported },
    headers: { 'Retry-After': '5' },
  });
}

export function tooManyStreams(): ApiError {
  return new ApiError('TOO_MANY_STREAMS', 'All live streams of this process are taken', {
    headers: { 'Retry-After': '5' },
  });
}

export function shuttingDown(): ApiError {
  return new ApiError('SHUTTING_DOWN', 'This process is stopping; try again', { headers: { Connection: 'close' } });
}

export function internalError(cause: unknown): ApiError {
  return new ApiError(
    'INTERNAL_ERROR',
    'Something failed inside the service; its log has the cause under the request id',
    {
      cause,
    },
  );
}

/** What only the service of that cluster does, or knows. */
export function onlyReadHere(cluster: string): ApiError {
  return new ApiError('READ_ONLY', `The history of ${cluster} is only read here: ask the service of that cluster`);
}

/** What the service of that cluster would be asked for, and no key is shared with it. */
export function noKeyFor(cluster: string): ApiError {
  return new ApiError(
    'READ_ONLY',
    `${cluster} is only read here: its service acts for callers here once both have one key (cluster.actions-key-file) and different names (cluster.name)`,
  );
}

export function mayNotAskThere(cluster: string, schema: string): ApiError {
  return new ApiError(
    'READ_ONLY',
    `${cluster} is only read here: our account of the database needs select, insert and update on ${schema}.actions`,
  );
}

export function tooMuchToAsk(cluster: string, mostBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The service of ${cluster} is asked for at most ${mostBytes} bytes at once`);
}

/** A name that several clusters have. */
export function ambiguousCluster(name: string, clusters: readonly string[]): ApiError {
  return new ApiError('AMBIGUOUS_CLUSTER', `${name} is in several clusters: say which one with cluster=`, {
    details: { name, clusters },
  });
}
