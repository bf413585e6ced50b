import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  anyText,
  componentsOf,
  count,
  described,
  each,
  extended,
  input,
  instant,
  listOf,
  mapOf,
  named,
  nullable,
  object,
  optional,
  schemaOf,
  shortText,
  text,
  typed,
  wholeNumber,
  words,
  type Of,
} from './index.ts';

const Part = object('Part', { id: text, state: words(['on', 'off']), endedAt: nullable(instant) });
const Whole = named('Whole', extended(Part, { parts: listOf(Part, 3), note: optional(text), last: nullable(Part) }));

test('the type of a shape is what it describes', () => {
  const whole: Of<typeof Whole> = {
    id: 'a',
    state: 'on',
    endedAt: null,
    parts: [{ id: 'b', state: 'off', endedAt: '2026-11-21T06:52:00.000Z' }],
    last: null,
  };
  // @ts-expect-error: no word of the list
  const wrongWord: Of<typeof Part> = { id: 'a', state: 'maybe', endedAt: null };
  // @ts-expect-error: a field that has to be there
  const missing: Of<typeof Part> = { id: 'a', state: 'on' };
  assert.equal(whole.note ?? wrongWord.id, missing.id);
});

test('a shape with a name is a component that others refer to', () => {
  assert.deepEqual(schemaOf(Whole), { $ref: '#/components/schemas/Whole' });
  const { Part: part, Whole: whole, ...more } = componentsOf([Whole]);
  assert.deepEqual(more, {});
  assert.deepEqual(part, {
    type: 'object',
    required: ['id', 'state', 'endedAt'],
    properties: {
      id: { type: 'string' },
      state: { type: 'string', enum: ['on', 'off'] },
      endedAt: { ...schemaOf(instant), type: ['string', 'null'] },
    },
  });
  const { required, properties } = whole as { required: string[]; properties: Record<string, unknown> };
  assert.deepEqual(required, ['id', 'state', 'endedAt', 'parts', 'last']);
  assert.deepEqual(properties['parts'], { type: 'array', items: { $ref: '#/components/schemas/Part' }, maxItems: 3 });
  assert.deepEqual(properties['last'], { anyOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }] });
});

test('two shapes of one name are refused', () => {
  assert.throws(() => componentsOf([Part, object('Part', { id: text })]), /two shapes are called Part/);
});

test('a field of the same name takes the place of the one that is extended', () => {
  const Counted = extended(Part, { state: count });
  const counted: Of<typeof Counted> = { id: 'a', state: 1, endedAt: null };
  const { properties } = schemaOf(Counted) as { properties: Record<string, unknown> };
  assert.deepEqual(properties['state'], schemaOf(count));
  assert.deepEqual(Object.keys(properties).toSorted(), Object.keys(counted).toSorted());
});

test('what a caller sends has no other fields', () => {
  assert.deepEqual(schemaOf(input({ by: optional(shortText(9)), days: wholeNumber(1, 30), note: anyText(5) })), {
    type: 'object',
    additionalProperties: false,
    required: ['days', 'note'],
    properties: {
      by: { type: 'string', minLength: 1, maxLength: 9 },
      days: { type: 'integer', minimum: 1, maximum: 30 },
      note: { type: 'string', maxLength: 5 },
    },
  });
});

test('words may be null, names of a map are free, and a sentence stands beside a shape', () => {
  assert.deepEqual(schemaOf(nullable(words(['a', 'b']))), { type: ['string', 'null'], enum: ['a', 'b', null] });
  assert.deepEqual(schemaOf(mapOf(count)), {
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0 },
  });
  assert.deepEqual(schemaOf(described(typed<`a${string}`>(text), 'Begins with a.')), {
    type: 'string',
    description: 'Begins with a.',
  });
  const counts = named('Counts', each(['a', 'b'], count));
  const filled: Of<typeof counts> = { a: 1, b: 2 };
  assert.deepEqual(Object.keys(counts.fields), Object.keys(filled));
});
