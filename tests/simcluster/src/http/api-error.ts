import type { Fields } from '../json.ts';
import type { Fault } from '../validation/fault.ts';

/** Which objects an error is about: plural or kind, and the group. */
export interface Subject {
  readonly group: string;
  /** The plural for most errors, the kind for invalid objects. */
  readonly kind: string;
}

/** An answer that is not a success: a Status object, or plain text where the real server sends plain text. */
export class ApiError extends Error {
  readonly code: number;
  readonly body: Fields | string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: number, body: Fields | string, headers: Readonly<Record<string, string>> = {}) {
    super(typeof body === 'string' ? body : String(body['message']));
    this.code = code;
    this.body = body;
    this.headers = headers;
  }
}

/** The Status object of a failure. Fields without a value are left out. */
export function failure(parts: {
  code: number;
  message: string;
  reason?: string;
  details?: Fields | undefined;
  metadata?: Fields;
}): Fields {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: parts.metadata ?? {},
    status: 'Failure',
    message: parts.message,
    ...(parts.reason === undefined ? {} : { reason: parts.reason }),
    ...(parts.details === undefined ? {} : { details: parts.details }),
    code: parts.code,
  };
}

export function statusError(parts: Parameters<typeof failure>[0], headers: Record<string, string> = {}): ApiError {
  return new ApiError(parts.code, failure(parts), headers);
}

/** `cronjobs.batch`, or `pods` in the core group. */
function qualified(subject: Subject): string {
  return subject.group === '' ? subject.kind : `${subject.kind}.${subject.group}`;
}

function detailsOf(subject: Subject, name?: string, more: Fields = {}): Fields {
  return {
    ...(name === undefined || name === '' ? {} : { name }),
    ...(subject.group === '' ? {} : { group: subject.group }),
    ...(subject.kind === '' ? {} : { kind: subject.kind }),
    ...more,
  };
}

export function notFound(subject: Subject, name: string): ApiError {
  return statusError({
    code: 404,
    reason: 'NotFound',
    message: `${qualified(subject)} ${JSON.stringify(name)} not found`,
    details: detailsOf(subject, name),
  });
}

export function alreadyExists(subject: Subject, name: string): ApiError {
  return statusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualified(subject)} ${JSON.stringify(name)} already exists`,
    details: detailsOf(subject, name),
  });
}

export function conflict(subject: Subject, name: string, detail: string): ApiError {
  return statusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(subject)} ${JSON.stringify(name)}: ${detail}`,
    details: detailsOf(subject, name),
  });
}

export const modifiedDetail =
  'the object has been modified; please apply your changes to the latest version and try again';

export function badRequest(message: string): ApiError {
  return statusError({ code: 400, reason: 'BadRequest', message });
}

/** 422 with one cause per fault. A text that repeats is said once in the message and every time in the causes. */
export function invalidObject(subject: Subject, name: string, faults: readonly Fault[]): ApiError {
  const texts = [...new Set(faults.map((fault) => `${fault.field}: ${fault.message}`))];
  const [only = ''] = texts;
  const joined = texts.length === 1 ? only : `[${texts.join(', ')}]`;
  const causes = faults.map(({ reason, message, field }) => ({ reason, message, field }));
  return statusError({
    code: 422,
    reason: 'Invalid',
    message: `${qualified(subject)} ${JSON.stringify(name)} is invalid: ${joined}`,
    details: detailsOf(subject, name, { causes }),
  });
}

export function forbiddenError(subject: Subject, name: string, detail: string, causes?: readonly Fields[]): ApiError {
  const what = name === '' ? qualified(subject) : `${qualified(subject)} ${JSON.stringify(name)}`;
  return statusError({
    code: 403,
    reason: 'Forbidden',
    message: `${what} is forbidden: ${detail}`,
    details: detailsOf(subject, name, causes === undefined ? {} : { causes: [...causes] }),
  });
}

export function methodNotAllowed(): ApiError {
  return statusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

/** A path inside a built-in group that leads nowhere. */
export function noSuchResource(): ApiError {
  return statusError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

/** A path outside every group that is served. */
export function pageNotFound(): ApiError {
  return new ApiError(404, '404 page not found\n');
}
