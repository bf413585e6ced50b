import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { prune, readSchema, withDefaults } from './custom-schema.ts';
import { schemaFaults } from './schema-faults.ts';

const schema = readSchema({
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
        level: { type: 'string', enum: ['low', 'high'], default: 'low' },
        share: { type: 'number', minimum: 0, maximum: 100 },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', maxItems: 2 },
        nested: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        map: { type: 'object', additionalProperties: { type: 'integer' } },
      },
    },
  },
});
const faults = (spec: object): string[] =>
  schemaFaults({ spec }, schema).map(({ field, message }) => `${field}: ${message}`);

describe('schemas of custom kinds', () => {
  test('fill in defaults, nested ones only where their parent is there', () => {
    assert.deepEqual(withDefaults({ spec: { name: 'a' } }, schema), { spec: { name: 'a', level: 'low' } });
    assert.deepEqual(withDefaults({ spec: { nested: {}, level: null } }, schema), {
      spec: { nested: { on: true }, level: 'low' },
    });
    assert.deepEqual(withDefaults({}, schema), {});
  });

  test('drop what they do not know, and name it', () => {
    const unknown: string[] = [];
    const spec = { name: 'a', extra: 1, free: { any: { thing: 1 } }, map: { x: 1 } };
    const pruned = prune({ spec }, schema, '', unknown);
    assert.deepEqual(pruned, { spec: { name: 'a', free: { any: { thing: 1 } }, map: { x: 1 } } });
    assert.deepEqual(unknown, ['spec.extra']);
  });

  test('refuse what does not fit, each in its words', () => {
    assert.deepEqual(faults({ name: 'a' }), []);
    assert.match(faults({}).join(), /spec\.name: Required value/);
    assert.match(
      faults({ name: 'A' }).join(),
      /spec\.name: Invalid value: "A": spec\.name in body should match '\^\[a-z\]\+\$'/,
    );
    assert.match(faults({ name: 'abcdef' }).join(), /spec\.name: Too long: may not be more than 5 bytes/);
    assert.match(
      faults({ name: 'a', level: 'odd' }).join(),
      /spec\.level: Unsupported value: "odd": supported values: "low", "high"/,
    );
    assert.match(
      faults({ name: 'a', share: 101 }).join(),
      /spec\.share: Invalid value: 101: spec\.share in body should be less than or equal to 100/,
    );
    assert.match(faults({ name: 'a', tags: ['x', 'x'] }).join(), /spec\.tags\[1\]: Duplicate value: "x"/);
    assert.match(
      faults({ name: 'a', tags: ['x', 'y', 'z'] }).join(),
      /spec\.tags: Too many: 3: must have at most 2 items/,
    );
    assert.match(
      faults({ name: 5 }).join(),
      /spec\.name: Invalid value: "integer": spec\.name in body must be of type string: "integer"/,
    );
  });
});
