import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as shapes from '@cronjob-monitor/shared/contract/shape';
import type { Problem } from '@cronjob-monitor/shared/contract';
import type { ApiContext } from '../context.ts';
import { ApiError } from '../errors.ts';
import { flag, instant, names, paging, ref, search, sort, whole, word, words, type Parameter } from './parameters.ts';
import { createBodyReader, readNoBody, readQuery, type Values } from './validate.ts';

const shape = {
  namespace: names('Namespaces.'),
  status: words('Statuses.', ['success', 'failed']),
  format: word('Form.', ['csv', 'json']),
  search: search(),
  since: instant('Begin.'),
  monitor: ref('Monitor.'),
  force: flag('By force.'),
  recent: whole('Runs.', { min: 0, max: 30 }),
  sort: sort(['time', 'duration'], { key: 'time', descending: true }),
  ...paging,
};

function asked(querystring: string): ApiContext {
  return { querystring, state: {} } as ApiContext;
}

function withBody(bodyText: string | undefined): ApiContext {
  return { state: { bodyText } } as ApiContext;
}

function read(querystring: string): Values<typeof shape> {
  return readQuery(asked(querystring), shape);
}

function problemsOf(fn: () => unknown): readonly Problem[] {
  try {
    fn();
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, 'INVALID_REQUEST');
    return error.details?.problems ?? [];
  }
  return assert.fail('it was accepted');
}

test('reads each kind of parameter', () => {
  const query = read(
    'namespace=prod,dev&namespace=ops&status=failed&format=csv&search=back&since=2026-11-21&monitor=prod/dr' +
      '&force=true&recent=30&sort=-duration&limit=7&offset=3',
  );
  assert.deepEqual(query, {
    namespace: ['prod', 'dev', 'ops'],
    status: ['failed'],
    format: 'csv',
    search: 'back',
    since: Date.parse('2026-11-21'),
    monitor: { namespace: 'prod', name: 'dr' },
    force: true,
    recent: 30,
    sort: { key: 'duration', descending: true },
    limit: 7,
    offset: 3,
  });
});

test('takes an empty value as not given, and gives lists and sort their standard', () => {
  const query = read('namespace=&status=,&limit=&search=&sort=');
  assert.deepEqual(query.namespace, []);
  assert.deepEqual(query.status, []);
  assert.equal(query.limit, undefined);
  assert.equal(query.search, undefined);
  assert.deepEqual(query.sort, { key: 'time', descending: true });
});

test('names everything that is wrong in one answer, with what is allowed', () => {
  const problems = problemsOf(() => read('limit=0&since=soon&status=ok&colour=red&force=1&force=2&sort=name'));
  assert.deepEqual(problems.map(({ in: place, field }) => `${place} ${field}`).sort(), [
    'query colour',
    'query force',
    'query limit',
    'query since',
    'query sort',
    'query status',
  ]);
  for (const { field, message, allowed } of problems) {
    assert.ok(message.length > 0, field);
    assert.ok(allowed !== null && allowed.length > 0, field);
  }
});

test('refuses a scalar that is given twice, even with one value', () => {
  assert.match(problemsOf(() => read('limit=5&limit=5'))[0]?.message ?? '', /more than once/);
});

/** Query, and the one field it is refused for. */
const refused: readonly (readonly [string, string])[] = [
  ['limit=1.5', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=1e3', 'limit'],
  ['limit=%2B5', 'limit'],
  ['limit=0', 'limit'],
  ['offset=100001', 'offset'],
  ['offset=-1', 'offset'],
  ['recent=31', 'recent'],
  ['force=True', 'force'],
  ['status=Failed', 'status'],
  ['format=xml', 'format'],
  ['monitor=dr', 'monitor'],
  ['monitor=a/b/c', 'monitor'],
  ['sort=--time', 'sort'],
  [`search=${'a'.repeat(254)}`, 'search'],
  ['since=2026-11-21T06:52:00+01:00', 'since'],
  ['__proto__=1', '__proto__'],
  ['constructor=1', 'constructor'],
  ['Limit=5', 'Limit'],
];

for (const [query, field] of refused) {
  test(`refuses ${query.slice(0, 40)}`, () => {
    assert.deepEqual(
      problemsOf(() => read(query)).map((problem) => problem.field),
      [field],
    );
  });
}

test('says which bound a whole number passes', () => {
  const problem = (query: string): string | undefined => problemsOf(() => read(query))[0]?.message;
  assert.equal(problem('recent=-1'), 'must be at least 0');
  assert.equal(problem('recent=9999999999999999999'), 'must be at most 30');
  assert.equal(problem('recent=1.5'), 'must be a whole number');
});

test('lowers a limit above 500', () => {
  assert.equal(read('limit=501').limit, 500);
  assert.equal(read('limit=999999999').limit, 500);
  assert.equal(read('limit=500').limit, 500);
});

test('names what is broken in the percent-encoding of a query', () => {
  const fields = (query: string): readonly string[] => problemsOf(() => read(query)).map(({ field }) => field);
  assert.deepEqual(fields('limit=5&search=%zz'), ['search']);
  assert.deepEqual(fields('search=%ff&%=1'), ['search', '%']);
});

test('lets no NUL through', () => {
  assert.equal(read('search=a%00b').search, 'a\uFFFDb');
});

test('asks rules over several parameters only when each by itself is well', () => {
  const rule = (): Problem[] => [{ in: 'query', field: 'since', message: 'never', allowed: null }];
  const only: Record<string, Parameter<unknown>> = { limit: paging.limit };
  assert.equal(problemsOf(() => readQuery(asked('limit=x'), only, rule))[0]?.field, 'limit');
  assert.equal(problemsOf(() => readQuery(asked('limit=1'), only, rule))[0]?.field, 'since');
});

const readBody = createBodyReader(
  shapes.input({
    olderThanDays: shapes.wholeNumber(1, 100),
    dryRun: shapes.optional(shapes.bool),
    matcher: shapes.optional(shapes.input({ types: shapes.optional(shapes.listOf(shapes.words(['jobFailed']), 2)) })),
    comment: shapes.optional(shapes.shortText(3)),
    labels: shapes.optional(shapes.listOf(shapes.shortText(3))),
    note: shapes.optional(shapes.anyText(3)),
    spec: shapes.optional(shapes.anyObject),
  }),
);

test('reads a body by its shape, and fills in nothing', () => {
  assert.deepEqual(readBody(withBody('{"olderThanDays": 30, "note": "", "spec": {"a": [1]}}')), {
    olderThanDays: 30,
    note: '',
    spec: { a: [1] },
  });
});

/** Body, and what is said of it. */
const sentences: readonly (readonly [string, string])[] = [
  ['{}', 'olderThanDays is required'],
  ['{"olderThanDays": 101}', 'olderThanDays must be a whole number from 1 to 100'],
  ['{"olderThanDays": "x"}', 'olderThanDays must be a whole number from 1 to 100'],
  ['{"olderThanDays": 1, "dryRun": null}', 'dryRun must not be null'],
  ['{"olderThanDays": 1, "dryRun": 1}', 'dryRun must be true or false'],
  ['{"olderThanDays": 1, "comment": ""}', 'comment must not be empty'],
  ['{"olderThanDays": 1, "labels": [""]}', 'labels[0] must not be empty'],
  ['{"olderThanDays": 1, "labels": [null]}', 'labels[0] is required'],
  ['{"olderThanDays": 1, "comment": "abcd"}', 'comment must have at most 3 characters'],
  ['{"olderThanDays": 1, "comment": 1}', 'comment must be a text'],
  ['{"olderThanDays": 1, "note": "abcd"}', 'note must have at most 3 characters'],
  ['{"olderThanDays": 1, "spec": []}', 'spec must be an object'],
  ['{"olderThanDays": 1, "matcher": 1}', 'matcher must be an object'],
  ['{"olderThanDays": 1, "matcher": {"types": "x"}}', 'matcher.types must be a list'],
  ['{"olderThanDays": 1, "matcher": {"types": ["x"]}}', 'matcher.types[0] must be one of jobFailed'],
  ['{"olderThanDays": 1, "matcher": {"types": [null]}}', 'matcher.types[0] is required'],
  [
    '{"olderThanDays": 1, "matcher": {"types": ["jobFailed", "jobFailed", "jobFailed"]}}',
    'matcher.types must have at most 2 items',
  ],
  ['{"olderThanDays": 1, "more": 1}', 'more is not a field of this body'],
];

for (const [text, sentence] of sentences) {
  test(`says of the body ${text} that ${sentence}`, () => {
    const problems = problemsOf(() => readBody(withBody(text)));
    assert.deepEqual(
      problems.map(({ field, message }) => `${field} ${message}`),
      [sentence],
    );
  });
}

test('counts the characters of a text, not halves of them', () => {
  assert.deepEqual(readBody(withBody('{"olderThanDays": 1, "note": "😀😀😀"}')), { olderThanDays: 1, note: '😀😀😀' });
});

/** Body, and the fields it is refused for. */
const refusedBodies: readonly (readonly [string | undefined, readonly string[]])[] = [
  [undefined, ['olderThanDays']],
  ['{}', ['olderThanDays']],
  ['{"olderThanDays": "30"}', ['olderThanDays']],
  ['{"olderThanDays": 1.5}', ['olderThanDays']],
  ['{"olderThanDays": null}', ['olderThanDays']],
  ['{"olderThanDays": 30, "dryRun": "true"}', ['dryRun']],
  ['{"olderThanDays": 30, "other": 1}', ['other']],
  ['{"olderThanDays": 30, "__proto__": {"dryRun": true}}', ['__proto__']],
  ['{"olderThanDays": 30, "matcher": {"colour": 1}}', ['matcher.colour']],
  ['{"olderThanDays": 30, "matcher": {"types": ["nope"]}}', ['matcher.types[0]']],
  ['{"olderThanDays": 0, "other": 1}', ['other', 'olderThanDays']],
  ['[]', ['']],
  ['null', ['']],
  ['30', ['']],
  ['{"olderThanDays": 30', ['']],
  ['\uFEFF{"olderThanDays": 30}', ['']],
];

for (const [text, fields] of refusedBodies) {
  test(`refuses the body ${text}`, () => {
    const problems = problemsOf(() => readBody(withBody(text)));
    assert.deepEqual(
      problems.map((problem) => problem.field),
      fields,
    );
    assert.ok(problems.every((problem) => problem.in === 'body'));
  });
}

test('a call without a body takes nothing and an empty object, and no field', () => {
  readNoBody(withBody(undefined));
  readNoBody(withBody('{}'));
  assert.deepEqual(
    problemsOf(() => readNoBody(withBody('{"a": 1}'))).map((problem) => problem.field),
    ['a'],
  );
});
