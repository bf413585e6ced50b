import { badRequest, invalidObject, notFound } from '../http/api-error.ts';
import type { Answer, ApiRequest, User } from '../http/api-request.ts';
import { fieldsOf, isFields, listOf, textOf, textsOf, type Fields } from '../json.ts';
import { decode, DecodeError } from '../schema/decode.ts';
import { printTime } from '../schema/go-time.ts';
import { JsonSyntaxError, readJson } from '../schema/json-reader.ts';
import { reviewTypes } from '../schema/review-types.ts';
import { invalid } from '../validation/fault.ts';
import type { Random } from '../random.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Authenticator } from './authenticate.ts';
import type { Authorizer, Deed } from './authorize.ts';
import { apiAudience, type ServiceAccountTokens } from './service-account-tokens.ts';

export interface ReviewDeps {
  readonly store: ObjectStore;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly tokens: ServiceAccountTokens;
  readonly random: Random;
  readonly now: () => number;
}

const shortestTokenSeconds = 600;

/** Questions that are answered at once and stored nowhere; undefined when the kind is none of them. */
export function answerReview(request: ApiRequest, deps: ReviewDeps): Answer | undefined {
  switch (request.kind.kind) {
    case 'TokenReview':
      return tokenReview(request, deps);
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview':
      return accessReview(request, 'SubjectAccessReview', deps);
    case 'SelfSubjectAccessReview':
      return accessReview(request, 'SelfSubjectAccessReview', deps);
    case 'SelfSubjectRulesReview':
      return rulesReview(request, deps);
    case 'SelfSubjectReview':
      return created(request, 'SelfSubjectReview', { status: { userInfo: presentUser(request.user) } });
    default:
      return undefined;
  }
}

function readReview(request: ApiRequest, typeName: string): Fields {
  const type = reviewTypes.get(typeName);
  if (type === undefined) throw new Error(`no type ${typeName}`);
  try {
    return decode(readJson(request.body.toString()).value, type).value;
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`${typeName} in version "v1" cannot be handled as a ${typeName}: ${error.message}`);
  }
}

function created(request: ApiRequest, typeName: string, parts: Fields): Answer {
  const sent = readReview(request, typeName);
  const { group, version, kind } = request.kind;
  return { code: 201, body: { ...sent, kind, apiVersion: `${group}/${version}`, ...parts } };
}

function tokenReview(request: ApiRequest, deps: ReviewDeps): Answer {
  const spec = fieldsOf(readReview(request, 'TokenReview')['spec']);
  const token = textOf(spec['token']);
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const verdict = deps.authenticator.review(token);
  if (verdict.user === undefined) {
    return created(request, 'TokenReview', { status: { user: {}, error: verdict.error } });
  }
  const wanted = listOf(spec['audiences']).map(textOf);
  const audiences = wanted.length === 0 ? [apiAudience] : wanted.filter((one) => verdict.audiences.includes(one));
  const fits = wanted.length === 0 ? verdict.audiences.includes(apiAudience) : audiences.length > 0;
  if (!fits) {
    const error = `[invalid bearer token, token audiences ${JSON.stringify(verdict.audiences)} is invalid for the target audiences ${JSON.stringify(wanted.length === 0 ? [apiAudience] : wanted)}]`;
    return created(request, 'TokenReview', { status: { user: {}, error } });
  }
  return created(request, 'TokenReview', {
    status: { authenticated: true, user: presentUser(verdict.user), audiences },
  });
}

function presentUser(user: User): Fields {
  return {
    username: user.name,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: user.groups,
    ...(user.extra === undefined ? {} : { extra: user.extra }),
  };
}

function accessReview(request: ApiRequest, typeName: string, deps: ReviewDeps): Answer {
  const review = readReview(request, typeName);
  const spec = fieldsOf(review['spec']);
  const user = typeName === 'SelfSubjectAccessReview' ? request.user : reviewedUser(spec);
  const verdict = deps.authorizer.decide(user, deedOf(spec, request));
  const status = { allowed: verdict.allowed, ...(verdict.reason === undefined ? {} : { reason: verdict.reason }) };
  return created(request, typeName, { status });
}

function reviewedUser(spec: Fields): User {
  const name = textOf(spec['user']);
  const groups = listOf(spec['groups']).map(textOf);
  if (name === '' && groups.length === 0) {
    const fault = invalid('spec.user', '', 'at least one of user or group must be specified');
    throw invalidObject({ group: 'authorization.k8s.io', kind: 'SubjectAccessReview' }, '', [fault]);
  }
  return { name, groups };
}

function deedOf(spec: Fields, request: ApiRequest): Deed {
  const path = spec['nonResourceAttributes'];
  if (isFields(path)) return { verb: textOf(path['verb']), path: textOf(path['path']) };
  const attributes = textsOf(spec['resourceAttributes']);
  return {
    verb: textOf(attributes['verb']),
    group: textOf(attributes['group']),
    resource: textOf(attributes['resource']),
    subresource: attributes['subresource'],
    namespace: attributes['namespace'] ?? request.namespace,
    name: attributes['name'],
  };
}

function rulesReview(request: ApiRequest, deps: ReviewDeps): Answer {
  const spec = fieldsOf(readReview(request, 'SelfSubjectRulesReview')['spec']);
  const rules = deps.authorizer.rulesFor(request.user, textOf(spec['namespace']));
  const status = {
    resourceRules: rules.filter((rule) => rule.resources !== undefined),
    nonResourceRules: rules.filter((rule) => rule.nonResourceURLs !== undefined),
    incomplete: false,
  };
  // The answer does not say which namespace it is about.
  return created(request, 'SelfSubjectRulesReview', { spec: {}, status });
}

/** POST of serviceaccounts/token: a fresh token of one service account. */
export function requestToken(request: ApiRequest, deps: ReviewDeps): Answer {
  const name = request.name ?? '';
  const spec = fieldsOf(readReview(request, 'TokenRequest')['spec']);
  const account = deps.store.get('serviceaccounts', request.namespace, name);
  if (account === undefined) throw notFound({ group: '', kind: 'serviceaccounts' }, name);
  const seconds = typeof spec['expirationSeconds'] === 'number' ? spec['expirationSeconds'] : 3600;
  if (seconds < shortestTokenSeconds) {
    const fault = invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes');
    throw invalidObject({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [fault]);
  }
  const wanted = listOf(spec['audiences']).map(textOf);
  const audiences = wanted.length === 0 ? [apiAudience] : wanted;
  const token = deps.tokens.issue(account, { audiences, seconds, id: deps.random.uuid() });
  const body = {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {
      name,
      namespace: request.namespace,
      uid: account.metadata.uid,
      creationTimestamp: printTime(deps.now()),
    },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec['boundObjectRef'] ?? null },
    status: { token, expirationTimestamp: printTime(deps.now() + seconds * 1000) },
  };
  return { code: 201, body };
}
