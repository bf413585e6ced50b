import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareSides, differenceWords, type RunSide } from './side-by-side.ts';

const container = {
  name: 'main',
  image: 'backup:1.8.2',
  args: ['--all', '--compress=3'],
  env: [
    { name: 'MODE', value: 'hash:aa' },
    { name: 'REGION', value: 'hash:rr' },
    { name: 'DB', valueFrom: { secretKeyRef: { name: 'db', key: 'url' } } },
  ],
  resources: { limits: { memory: '512Mi' } },
};

function side(changes: Partial<RunSide> = {}, changed: object = {}, spec: object = {}): RunSide {
  return {
    template: { template: { spec: { containers: [{ ...container, ...changed }], ...spec } } },
    schedule: '0 2 * * *',
    timeZone: undefined,
    node: 'node-1',
    images: { main: 'registry/backup@sha256:111' },
    outcome: 'succeeded',
    nodes: [],
    ...changes,
  };
}

const told = (before: RunSide, after: RunSide): string[] =>
  compareSides(before, after).map(
    ({ key, name, before: old, after: fresh, same }) =>
      `${same ? '=' : '!'} ${[key, name].filter(Boolean).join(' ')}: ${old} -> ${fresh}`,
  );

test('what differs comes first, and what is equal is told too', () => {
  const after = side(
    {
      outcome: 'exit code 137, OOMKilled',
      nodes: ['node-2', 'node-1'],
      images: { main: 'registry/backup@sha256:222' },
    },
    { image: 'backup:1.9.0', args: ['--all', '--compress=9'] },
  );
  assert.deepEqual(told(side(), after), [
    '! image main: backup:1.8.2 -> backup:1.9.0',
    '! digest main: sha256:111 -> sha256:222',
    '! args main: --all --compress=3 -> --all --compress=9',
    '! node: node-1 -> node-2, node-1',
    '! outcome: succeeded -> exit code 137, OOMKilled',
    '= env: 3 names -> 3 names',
    '= resources main: memory limit: 512Mi -> 512Mi',
    '= schedule: 0 2 * * * -> 0 2 * * *',
  ]);
  assert.equal(differenceWords(compareSides(side(), after)), 'Image, image digest, arguments and node differ');
});

test('of variables the names are told, what became of them, and no value', () => {
  const env = [
    { name: 'MODE', value: 'hash:bb' },
    { name: 'DB', valueFrom: { secretKeyRef: { name: 'db', key: 'url' } } },
    { name: 'WINDOW', value: 'hash:cc' },
  ];
  const rows = told(side(), side({}, { env })).filter((row) => row.includes(' env'));
  assert.deepEqual(rows, [
    '! env main: MODE: set -> another value',
    '! env main: WINDOW: null -> set',
    '! env main: REGION: set -> null',
    '= env: 1 name -> 1 name',
  ]);
  assert.doesNotMatch(JSON.stringify(compareSides(side(), side({}, { env }))), /hash:/);
});

test('the rest of the spec is told by its path', () => {
  const rows = compareSides(side(), side({}, {}, { serviceAccountName: 'other' }));
  assert.deepEqual(rows[0], { key: 'spec', name: 'serviceAccountName', before: null, after: 'other', same: false });
  assert.equal(differenceWords(rows), 'Spec differs');
});

test('what is not known of one of them is left out', () => {
  const unknown = { template: undefined, schedule: undefined, node: undefined, images: undefined };
  assert.deepEqual(told(side(unknown), side()), ['= outcome: succeeded -> succeeded']);
});

test('two runs that differ in what came of them alone are said to', () => {
  const rows = compareSides(side(), side({ outcome: 'exit code 1' }));
  assert.match(differenceWords(rows), /^Nothing that is known/);
});

test('a spec of a stranger makes no more than a hundred rows', () => {
  const env = Array.from({ length: 5_000 }, (_, at) => ({ name: `V${at}`, value: 'x'.repeat(2_000) }));
  const rows = compareSides(side(), side({}, { env, args: ['y'.repeat(9_000)] }));
  assert.equal(rows.length, 100);
  assert.ok(rows.every(({ after }) => (after ?? '').length <= 500));
});
