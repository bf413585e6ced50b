import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disagreements } from './agreement.ts';
import type { Answer } from './http.ts';

const result = { success: true, message: 'Suspended', suspended: true, changed: true };
const refusal = { error: { code: 'NOT_FOUND', message: 'x', requestId: 'y' } };

function anAnswer(status: number, body: unknown, type = 'application/json; charset=utf-8'): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    status,
    headers: { 'content-type': type },
    text,
    json: () => JSON.parse(text) as unknown,
    error: () => assert.fail('the cluster is not asked'),
  };
}

/** A request, its answer, and what the document says against it. */
const cases: readonly (readonly [method: string, path: string, answer: Answer, problem: RegExp | undefined])[] = [
  ['POST', '/api/v1/cronjobs/a/b/suspend', anAnswer(200, result), undefined],
  ['POST', '/api/v1/cronjobs/a/b/suspend', anAnswer(200, { ...result, more: 1 }), /\$\.more is in no schema/],
  ['POST', '/api/v1/cronjobs/a/b/suspend', anAnswer(200, { success: true }), /\$\.message is missing/],
  ['POST', '/api/v1/cronjobs/a/b/suspend', anAnswer(202, result), /no such status/],
  ['POST', '/api/v1/cronjobs/a/b/suspend', anAnswer(200, 'x', 'text/plain'), /with text\/plain/],
  ['POST', '/api/v1/cronjobs/a/b/suspend', anAnswer(404, refusal), undefined],
  ['POST', '/api/v1/cronjobs/a/b/suspend', anAnswer(404, { error: 'x' }), /\$\.error is string/],
  ['GET', '/api/v1/alerts/history', anAnswer(404, refusal), /no such status/],
  ['GET', '/api/v1/alerts/x?y=1', anAnswer(404, refusal), undefined],
  ['HEAD', '/api/v1/stats', anAnswer(200, ''), undefined],
  ['HEAD', '/api/v1/stats', anAnswer(200, 'x'), /with a body/],
  ['GET', '/api/v1/nothing', anAnswer(404, refusal), undefined],
  ['GET', '/api/v1/nothing', anAnswer(200, {}), /no such operation/],
  ['PATCH', '/api/v1/stats', anAnswer(405, refusal), undefined],
  ['GET', '/', anAnswer(200, 'page', 'text/html'), undefined],
];

test('finds what an answer says and the document does not', () => {
  for (const [method, path, answer, problem] of cases) {
    const found = disagreements(method, path, answer).join('; ');
    const about = `${method} ${path} ${answer.status}: ${found}`;
    if (problem) assert.match(found, problem, about);
    else assert.equal(found, '', about);
  }
});
