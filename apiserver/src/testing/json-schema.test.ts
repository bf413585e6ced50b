import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaProblems } from './json-schema.ts';

const root = { components: { Ref: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } } };

/** A schema, a value, and what is wrong with it. */
const cases: readonly (readonly [schema: object, value: unknown, problems: readonly string[]])[] = [
  [{ type: 'string' }, 'x', []],
  [{ type: 'string' }, 1, ['$ is number, not string']],
  [{ type: 'integer' }, 1.5, ['$ is number, not integer']],
  [{ type: ['string', 'null'] }, null, []],
  [{ type: 'string', enum: ['a'] }, 'b', ['$ is "b", none of its words']],
  [{ type: 'string', pattern: '^a' }, 'b', ['$ does not match ^a']],
  [{ type: 'string', format: 'uuid' }, 'b', ['$ is no uuid']],
  [{ type: 'string', minLength: 1 }, '', ['$ has 0 characters']],
  [{ type: 'number', minimum: 0 }, -1, ['$ is -1, out of bounds']],
  [
    { type: 'array', items: { type: 'number' }, maxItems: 1 },
    [1, 'x'],
    ['$ has 2 items', '$[1] is string, not number'],
  ],
  [{ $ref: '#/components/Ref' }, { name: 'x' }, []],
  [{ $ref: '#/components/Ref' }, {}, ['$.name is missing']],
  [{ $ref: '#/components/Ref' }, { name: 'x', more: 1 }, ['$.more is in no schema']],
  [{ type: 'object', additionalProperties: true, properties: {} }, { more: 1 }, []],
  [{ type: 'object', additionalProperties: { type: 'number' } }, { more: 'x' }, ['$.more is string, not number']],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null, []],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, ['$ is number, not string']],
];

test('finds what is wrong with a value', () => {
  for (const [schema, value, problems] of cases) {
    assert.deepEqual(schemaProblems(schema, value, root), problems, JSON.stringify([schema, value]));
  }
});

test('refuses a schema that it would only half check', () => {
  assert.throws(() => schemaProblems({ oneOf: [] }, 1, root), /oneOf/);
  assert.throws(() => schemaProblems({ $ref: '#/components/Nothing' }, 1, root), /Nothing/);
});
