import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenCases } from '../testing/index.ts';
import type { RawObject } from './cluster.ts';
import { accessReviewOf, isAllowed, toIdentity, tokenReviewOf } from './reviews.ts';

const nobody = { user: 'u', uid: undefined, groups: [], extra: {} };

/** The reviews recorded in the cases of this name, with their answers. */
function reviews(name: string): { request: RawObject; answer: RawObject }[] {
  const cases = goldenCases('auth').filter((one) => one.name === name);
  return cases.flatMap(({ steps }) =>
    steps.flatMap(({ request, response }) =>
      request.path.endsWith('reviews') && response.status === 201
        ? [{ request: request.body as RawObject, answer: response.body as RawObject }]
        : [],
    ),
  );
}

test('a good token has an owner, with groups and extra', () => {
  const [review] = reviews('token-review');
  assert.ok(review);
  assert.deepEqual(review.request, tokenReviewOf((review.request['spec'] as { token: string }).token));
  const identity = toIdentity(review.answer);
  assert.equal(identity?.user, 'system:serviceaccount:auth-7:monitor');
  assert.ok(identity?.groups.includes('system:authenticated'));
  assert.ok(Object.keys(identity?.extra ?? {}).length > 0);
});

test('a token that is refused has no owner', () => {
  const refused = reviews('token-review-invalid');
  assert.ok(refused.length >= 3);
  for (const { answer } of refused) assert.equal(toIdentity(answer), undefined);
});

test('only a plain yes is one', () => {
  const user = { username: 'a', groups: [] };
  assert.equal(toIdentity({ status: { authenticated: 'true', user } }), undefined);
  assert.equal(toIdentity({ status: { authenticated: true, user: {} } }), undefined);
  assert.equal(toIdentity({}), undefined);
  assert.equal(isAllowed({ status: { allowed: true, denied: true } }), false);
  assert.equal(isAllowed({ status: { allowed: 'true' } }), false);
  assert.equal(isAllowed({}), false);
});

test('where audiences are asked for, the answer must name one of them', () => {
  const user = { username: 'a', groups: [] };
  const answer = (audiences?: unknown) => ({ status: { authenticated: true, user, audiences } });
  assert.equal(toIdentity(answer(['monitor', 'other']), ['monitor'])?.user, 'a');
  for (const named of [['other'], [], undefined, 'monitor'])
    assert.equal(toIdentity(answer(named), ['monitor']), undefined);
  assert.equal(toIdentity(answer())?.user, 'a');
  assert.deepEqual(tokenReviewOf('t', ['monitor']), {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: 't', audiences: ['monitor'] },
  });
});

test('recorded access reviews are asked and answered alike', () => {
  const asked = [...reviews('subject-access-review'), ...reviews('subject-access-review-non-resource')];
  const answers = asked.map(({ request, answer }) => {
    const spec = request['spec'] as {
      user: string;
      groups?: string[];
      resourceAttributes?: Record<string, string>;
      nonResourceAttributes?: { verb: string; path: string };
    };
    const { verb = '', group = '', resource = '', ...rest } = spec.resourceAttributes ?? {};
    const question = spec.nonResourceAttributes ?? { verb, group, resource, ...rest };
    const made = accessReviewOf({ ...nobody, user: spec.user, groups: spec.groups ?? [] }, question);
    const sent = JSON.parse(JSON.stringify(made)) as { spec: Record<string, unknown> };
    assert.deepEqual(sent.spec['nonResourceAttributes'], spec.nonResourceAttributes);
    if (spec.resourceAttributes)
      assert.deepEqual(sent.spec['resourceAttributes'], { group: '', ...spec.resourceAttributes });
    assert.equal(sent.spec['user'], spec.user);
    return isAllowed(answer);
  });
  assert.ok(answers.includes(true) && answers.includes(false), JSON.stringify(answers));
});
