import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { goldenCases, watchedLines } from '../../testing/index.ts';
import type { RawObject } from '../cluster.ts';
import { toClusterEvent } from './event.ts';
import { createTranslator } from './translator.ts';

/** One recorded object of each kind, rich in fields. */
function recorded(): { kind: string; object: RawObject }[] {
  const cases = goldenCases('cronjob-lifecycle');
  return ['cronjobs', 'jobs', 'pods', 'events'].map((kind) => {
    const objects = cases.flatMap((scenario) => watchedLines(scenario, kind)).map((line) => line.object);
    return { kind, object: objects.reduce((a, b) => (lengthOf(a) >= lengthOf(b) ? a : b)) };
  });
}

function lengthOf(object: unknown): number {
  return JSON.stringify(object).length;
}

/** The same value with each of its parts replaced in turn, at any depth. */
function* withOnePartReplaced(value: unknown, replacement: unknown): Generator {
  yield replacement;
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    for (const changed of withOnePartReplaced((value as Record<string, unknown>)[key], replacement)) {
      yield Array.isArray(value)
        ? value.map((item: unknown, index) => (String(index) === key ? changed : item))
        : { ...value, [key]: changed };
    }
  }
}

const translate = createTranslator();
const translations: Record<string, (object: RawObject) => unknown> = {
  cronjobs: (object) => translate.cronJob(object),
  jobs: (object) => translate.job(object),
  pods: (object) => translate.pod(object),
  events: toClusterEvent,
};

test('a field of the wrong type, wherever it is, never throws', () => {
  let tried = 0;
  for (const { kind, object } of recorded()) {
    for (const replacement of [null, 7, 'text', true, [], {}, [null], { '': [] }, -1.5]) {
      for (const changed of withOnePartReplaced(object, replacement)) {
        translations[kind]?.(changed as RawObject);
        tried++;
      }
    }
  }
  assert.ok(tried > 1000, `${tried} objects`);
});

test('any JSON at all is translated or left out, and never throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const one of Object.values(translations)) one(value as RawObject);
      translate.namespace(value as RawObject);
    }),
  );
});

test('an object without UID or name is left out', () => {
  for (const { kind, object } of recorded()) {
    const metadata = object['metadata'] as Record<string, unknown>;
    assert.notEqual(translations[kind]?.(object), undefined, kind);
    assert.equal(translations[kind]?.({ ...object, metadata: { ...metadata, uid: undefined } }), undefined, kind);
    assert.equal(translations[kind]?.({ ...object, metadata: { ...metadata, name: '' } }), undefined, kind);
  }
});

test('a spec nested beyond all measure neither throws nor hashes like another', () => {
  let deep: unknown = {};
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  const job = recorded().find(({ kind }) => kind === 'jobs')?.object;
  assert.ok(job);
  const hashed = translate.job({ ...job, spec: { template: { spec: deep } } })?.templateHash;
  assert.notEqual(hashed, translate.job({ ...job, spec: { template: { spec: [] } } })?.templateHash);
});
