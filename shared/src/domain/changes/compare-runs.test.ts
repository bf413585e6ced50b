import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeWords, compareRuns, type ComparedRun } from './compare-runs.ts';

const container = {
  name: 'backup',
  image: 'backup:1.8',
  command: ['sh', '-c', 'run'],
  env: [
    { name: 'MODE', value: 'hash:aa' },
    { name: 'DB', valueFrom: { secretKeyRef: { name: 'db', key: 'url' } } },
  ],
  resources: { limits: { memory: '256Mi' } },
};

function run(changes: Partial<ComparedRun> = {}, changed: object = {}, spec: object = {}): ComparedRun {
  return {
    template: {
      backoffLimit: 3,
      template: {
        metadata: { labels: { app: 'backup' } },
        spec: { containers: [{ ...container, ...changed }], restartPolicy: 'Never', ...spec },
      },
    },
    schedule: '0 2 * * *',
    timeZone: undefined,
    node: 'node-1',
    images: { backup: 'registry/backup@sha256:111' },
    ...changes,
  };
}

/** `path: before -> after`, in order. */
function told(before: ComparedRun, after: ComparedRun): string[] {
  return compareRuns(before, after).map((change) => `${change.path}: ${change.before} -> ${change.after}`);
}

test('equal runs differ in nothing', () => assert.deepEqual(compareRuns(run(), run()), []));

const cases: { says: string; after: ComparedRun; told: string[] }[] = [
  {
    says: 'an image',
    after: run({}, { image: 'backup:1.9' }),
    told: ['containers[backup].image: backup:1.8 -> backup:1.9'],
  },
  {
    says: 'a command, as one text',
    after: run({}, { command: ['sh', '-c', 'run --all'] }),
    told: ['containers[backup].command: ["sh","-c","run"] -> ["sh","-c","run --all"]'],
  },
  {
    says: 'a variable, one that came and one that went',
    after: run(
      {},
      {
        env: [
          { name: 'NEW', value: 'hash:cc' },
          { name: 'MODE', value: 'hash:bb' },
        ],
      },
    ),
    told: [
      'containers[backup].env[DB].valueFrom.secretKeyRef.key: url -> null',
      'containers[backup].env[DB].valueFrom.secretKeyRef.name: db -> null',
      'containers[backup].env[MODE].value: hash:aa -> hash:bb',
      'containers[backup].env[NEW].value: null -> hash:cc',
    ],
  },
  {
    says: 'a limit',
    after: run({}, { resources: { limits: { memory: '128Mi' } } }),
    told: ['containers[backup].resources.limits.memory: 256Mi -> 128Mi'],
  },
  {
    says: 'a field of the pod',
    after: run({}, {}, { serviceAccountName: 'b' }),
    told: ['serviceAccountName: null -> b'],
  },
  {
    says: 'a moved tag',
    after: run({ images: { backup: 'mirror/backup@sha256:222' } }),
    told: ['containers[backup].imageDigest: sha256:111 -> sha256:222'],
  },
  {
    says: 'the same image from a mirror is the same',
    after: run({ images: { backup: 'mirror/backup@sha256:111' } }),
    told: [],
  },
  {
    says: 'schedule, zone and node, after all else',
    after: run({ schedule: '0 3 * * *', timeZone: 'Europe/Berlin', node: 'node-2' }, { image: 'x' }),
    told: [
      'containers[backup].image: backup:1.8 -> x',
      'schedule: 0 2 * * * -> 0 3 * * *',
      'timeZone: null -> Europe/Berlin',
      'node: node-1 -> node-2',
    ],
  },
  {
    says: 'what is not known is not compared',
    after: run({ template: undefined, schedule: undefined, timeZone: 'UTC', node: undefined, images: undefined }),
    told: [],
  },
];

for (const { says, after, told: expected } of cases) {
  test(`tells ${says}`, () => assert.deepEqual(told(run(), after), expected));
}

test('one more container in front moves no other', () => {
  const before = run();
  const after = run({}, {}, { containers: [{ name: 'proxy', image: 'proxy:1' }, container] });
  assert.deepEqual(told(before, after), ['containers[proxy].image: null -> proxy:1']);
});

test('lists whose items have no name of their own are one text', () => {
  const after = run(
    {},
    {},
    { tolerations: [{ operator: 'Exists' }, { operator: 'Exists' }], imagePullSecrets: [{ name: 'a' }] },
  );
  assert.deepEqual(told(run(), after), [
    'imagePullSecrets[a]: null -> a',
    'tolerations: null -> [{"operator":"Exists"},{"operator":"Exists"}]',
  ]);
});

test('long values are cut where they differ, and many changes are counted', () => {
  const long = 'x'.repeat(500);
  const [change] = compareRuns(run({}, { args: [`${long}a`] }), run({}, { args: [`${long}b`] }));
  assert.ok(change && (change.before?.length ?? 0) <= 200 && change.before !== change.after);
  const env = (value: string) => ({ env: Array.from({ length: 80 }, (_, index) => ({ name: `V${index}`, value })) });
  const many = compareRuns(run({}, env('1')), run({}, env('2')));
  assert.deepEqual([many.length, many.at(-1)?.path], [50, '31 more changes']);
});

test('a hostile spec is cut and throws nothing', () => {
  let deep: unknown = 'end';
  for (let depth = 0; depth < 60; depth++) deep = { deep };
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]));
  assert.equal(compareRuns(run({ template: 5 }), run({ template: [] })).length, 0);
  assert.ok(compareRuns(run({ template: { deep } }), run({ template: { wide } })).length <= 50);
});

for (const [says, after] of [
  ['since image 1.8 → 1.9', run({}, { image: 'backup:1.9' })],
  ['since image backup:1.8 → other/backup:1.8', run({}, { image: 'other/backup:1.8' })],
  ['since image 1.8 → latest', run({}, { image: 'backup' })],
  [
    'since image 1.8 → 1.9 and 3 other changes',
    run({}, { image: 'backup:1.9', command: ['sh', '-c', 'x'], resources: {} }),
  ],
  ['since resources.limits.memory 256Mi → 128Mi', run({}, { resources: { limits: { memory: '128Mi' } } })],
  ['since another command', run({}, { command: ['sh', '-c', 'secret'] })],
  ['since another env MODE', run({}, { env: [{ name: 'MODE', value: 'hash:bb' }, container.env[1]] })],
  ['since another image digest', run({ images: { backup: 'registry/backup@sha256:222' } })],
  [undefined, run({ node: 'node-2', schedule: '0 3 * * *' })],
] as const)
  test(`in a few words: ${says ?? 'where and when alone is no change'}`, () =>
    assert.equal(changeWords(compareRuns(run(), after)), says));
