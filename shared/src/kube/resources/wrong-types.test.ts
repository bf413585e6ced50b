import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  listPlaces,
  monitorDefaults,
  readSpecSchema,
  wholeChannelSpecs,
  wholeMonitorSpec,
  type SchemaPlace,
} from '../../testing/index.ts';
import { decodeChannelSpec } from './decode-channel.ts';
import { decodeMonitorSpec } from './decode-monitor.ts';

const defaults = { ...monitorDefaults, storeLogs: true };

/** Values of the other types, for every type that a schema can ask for. */
const wrong: Readonly<Record<string, readonly unknown[]>> = {
  boolean: ['true', 1, {}, []],
  integer: ['5', 1.5, true, {}],
  number: ['5', true, {}],
  string: [7, true, {}, []],
  array: ['x', 7, {}],
  object: ['x', 7, true, []],
};

/** The spec with another value at one place; keys lead through what the whole spec has. */
function replaced(spec: unknown, keys: readonly (string | number)[], value: unknown): unknown {
  const [key, ...deeper] = keys;
  if (key === undefined) return value;
  if (Array.isArray(spec)) return spec.map((item, index) => (index === key ? replaced(item, deeper, value) : item));
  const object = spec as Readonly<Record<string, unknown>>;
  return { ...object, [key]: replaced(object[key], deeper, value) };
}

function valueAt(spec: unknown, keys: readonly (string | number)[]): unknown {
  return keys.reduce<unknown>((value, key) => (value as Record<string | number, unknown> | undefined)?.[key], spec);
}

/** One way to name namespaces at a time: the whole spec has the selector, this one the list. */
const withNamespaces = {
  ...wholeMonitorSpec,
  selector: { ...wholeMonitorSpec.selector, namespaceSelector: undefined, namespaces: ['prod'] },
};

const monitorPlaces = listPlaces(readSpecSchema('cronjobmonitors'));

test('the whole spec sets every field of the schema, so that each can be given a wrong type', () => {
  const missing = monitorPlaces.filter(
    ({ keys }) => valueAt(wholeMonitorSpec, keys) === undefined && valueAt(withNamespaces, keys) === undefined,
  );
  assert.deepEqual(
    missing.map(({ path }) => path),
    [],
  );
  for (const spec of [wholeMonitorSpec, withNamespaces]) {
    const decoded = decodeMonitorSpec({ spec }, defaults);
    assert.deepEqual(decoded.ok && decoded.problems, []);
  }
});

function baseFor({ keys }: SchemaPlace): Readonly<Record<string, unknown>> {
  return valueAt(wholeMonitorSpec, keys) === undefined ? withNamespaces : wholeMonitorSpec;
}

for (const place of monitorPlaces) {
  test(`${place.path} of a wrong type is named, and the other blocks work on`, () => {
    const base = baseFor(place);
    const sound = decodeMonitorSpec({ spec: base }, defaults);
    assert.ok(sound.ok);
    for (const value of wrong[place.schema.type] ?? []) {
      const decoded = decodeMonitorSpec({ spec: replaced(base, place.keys, value) }, defaults);
      assert.ok(decoded.ok);
      const named = decoded.problems.map(({ path }) => path);
      assert.ok(named.includes(place.path), `${JSON.stringify(value)} is named as ${named.join(', ')}`);
      const block = String(place.keys[0]);
      assert.deepEqual({ ...decoded.spec, [block]: 0 }, { ...sound.spec, [block]: 0 });
      assert.notDeepEqual(decoded.spec, sound.spec, 'what needs the field is off');
    }
  });
}

for (const spec of ['x', 7, true, []]) {
  test(`a spec that is ${JSON.stringify(spec)} cannot be decoded`, () => {
    assert.equal(decodeMonitorSpec({ spec }, defaults).ok, false);
    assert.equal(decodeChannelSpec({ spec }).spec, undefined);
    assert.equal(decodeChannelSpec({ spec }).problems[0]?.path, 'spec');
  });
}

for (const [type, spec] of Object.entries(wholeChannelSpecs)) {
  const places = listPlaces(readSpecSchema('alertchannels')).filter(({ keys }) => valueAt(spec, keys) !== undefined);
  test(`every field of a ${type} channel is set, and decodes`, () => {
    const own = listPlaces(readSpecSchema('alertchannels')).filter(({ keys }) => keys[0] === type);
    assert.deepEqual(
      own.filter(({ keys }) => valueAt(spec, keys) === undefined).map(({ path }) => path),
      [],
    );
    assert.deepEqual(decodeChannelSpec({ spec }).problems, []);
  });
  for (const place of places) {
    test(`${place.path} of a wrong type makes a ${type} channel invalid, by name`, () => {
      for (const value of wrong[place.schema.type] ?? []) {
        const { problems } = decodeChannelSpec({ spec: replaced(spec, place.keys, value) });
        const named = problems.map(({ path }) => path);
        assert.ok(named.includes(place.path), `${JSON.stringify(value)} is named as ${named.join(', ')}`);
      }
    });
  }
}
