import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, anEnd, aPod } from '../../testing/index.ts';
import { addFacts, factsOfPods, isOutputKnown, lastFacts, readFacts } from './output-facts.ts';

const read = (text: string) => {
  const facts = readFacts(text);
  return facts && { values: Object.fromEntries(facts.values), problems: facts.problems };
};

test('a line that begins with the mark tells names and numbers as JSON writes them', () => {
  assert.deepEqual(read('::cronjob-monitor rows=0 bytes=1.2e9 drift=-0.5'), {
    values: { rows: 0, bytes: 1_200_000_000, drift: -0.5 },
    problems: [],
  });
  assert.deepEqual(read('done\n::cronjob-monitor  rows=1\t bytes=2  \r\nbye')?.values, { rows: 1, bytes: 2 });
});

test('the last such line counts alone', () => {
  const text = '::cronjob-monitor rows=1 bytes=2\nmore\n::cronjob-monitor rows=3\n';
  assert.deepEqual(read(text)?.values, { rows: 3 });
});

for (const text of [
  '',
  'rows=1',
  ' ::cronjob-monitor rows=1',
  'say ::cronjob-monitor rows=1',
  '::cronjob-monitorrows=1',
]) {
  test(`${JSON.stringify(text)} tells nothing`, () => assert.equal(readFacts(text), undefined));
}

test('a line with the mark and no pair tells that there are no facts', () => {
  assert.deepEqual(read('::cronjob-monitor '), { values: {}, problems: [] });
});

for (const number of [
  '',
  '0x10',
  '1_000',
  '.5',
  '5.',
  '01',
  '+1',
  'NaN',
  'Infinity',
  '1e999',
  '"1"',
  'null',
  '１',
  '1e',
]) {
  test(`${JSON.stringify(number)} is no number`, () =>
    assert.deepEqual(read(`::cronjob-monitor rows=${number} ok=1`), {
      values: { ok: 1 },
      problems: ['rows has no number'],
    }));
}

test('a number is at most 1e15, on either side of zero', () => {
  assert.deepEqual(read('::cronjob-monitor a=1e15 b=-1e15 c=1000000000000001 d=-1.1e15'), {
    values: { a: 1e15, b: -1e15 },
    problems: ['c is beyond 1e15', 'd is beyond 1e15'],
  });
});

test('what is no name is told by its place and never repeated, for it may be a secret', () => {
  const problem = (place: number) =>
    `pair ${place} has no name of a to z, 0 to 9 and _, with a letter first, of at most 32 characters`;
  assert.deepEqual(read(`::cronjob-monitor Rows=1 hunter2-token=2 ${'a'.repeat(33)}=3 __proto__=4 =5 ok=6`), {
    values: { ok: 6 },
    problems: [1, 2, 3, 4, 5].map(problem),
  });
});

test('a name of every object is a name like any other', () => {
  assert.deepEqual([...(readFacts('::cronjob-monitor constructor=7')?.values ?? [])], [['constructor', 7]]);
});

test('the duration is measured and cannot be given, and a name counts once', () => {
  assert.deepEqual(read('::cronjob-monitor duration_seconds=1 rows=1 rows=2'), {
    values: { rows: 2 },
    problems: ['duration_seconds is measured and cannot be given', 'rows is given twice and the last one counts'],
  });
});

test('the first 16 pairs of the first 4,096 characters count, however long the text is', () => {
  const pairs = Array.from({ length: 40 }, (_, index) => `f${index}=1`).join(' ');
  const many = read(`::cronjob-monitor ${pairs}`);
  assert.deepEqual([Object.keys(many?.values ?? {}).length, many?.problems], [16, ['only the first 16 pairs count']]);
  const long = read(`::cronjob-monitor rows=1${' '.repeat(5_000)}late=1`);
  assert.deepEqual(long, { values: { rows: 1 }, problems: ['only the first 4096 characters of the line count'] });
  const hostile = `${'x'.repeat(2_000_000)}\n::cronjob-monitor ${'='.repeat(2_000_000)}`;
  assert.equal(readFacts(hostile)?.values.size, 0);
});

const says = (message: string) => readFacts(`::cronjob-monitor ${message}`);
const ends = (message: string, exitCode = 0) => ({ ...anEnd(exitCode), output: says(message) });

test('of the containers of a pod later ones win, and pods add up', () => {
  assert.deepEqual(Object.fromEntries(lastFacts([says('rows=1 bytes=5'), undefined, says('rows=2')])?.values ?? []), {
    rows: 2,
    bytes: 5,
  });
  const sum = addFacts([says('rows=1 big=9e14'), says('rows=2 big=9e14')]);
  assert.deepEqual(
    [Object.fromEntries(sum?.values ?? []), sum?.problems],
    [{ rows: 3 }, ['big adds up to more than 1e15']],
  );
  assert.equal(addFacts([undefined]), undefined);
});

test('the output of a run is that of its pods that succeeded, else that of the newest that failed', () => {
  const pod = (uid: string, phase: string, message: string) =>
    aPod({ uid, phase, createdAt: Number(uid), containers: [aContainer({ terminated: ends(message) })] });
  const rows = (...pods: ReturnType<typeof pod>[]) => factsOfPods(pods)?.values.get('rows');
  assert.equal(rows(pod('1', 'Failed', 'rows=5'), pod('2', 'Succeeded', 'rows=7')), 7);
  assert.equal(rows(pod('1', 'Succeeded', 'rows=5'), pod('2', 'Succeeded', 'rows=7')), 12);
  assert.equal(rows(pod('1', 'Failed', 'rows=5'), pod('2', 'Failed', 'rows=7')), 7);
  assert.equal(rows(), undefined);
});

test('what a run said is known when every pod that succeeded was seen to, as many as its Job counts', () => {
  const seen = (...phases: string[]) => phases.map((phase) => aPod({ phase }));
  assert.equal(isOutputKnown('success', { succeededPods: 2 }, seen('Succeeded', 'Running')), false);
  assert.equal(isOutputKnown('success', { succeededPods: 2 }, seen('Succeeded', 'Failed', 'Succeeded')), true);
  assert.equal(isOutputKnown('success', { succeededPods: 0 }, []), false);
  assert.equal(isOutputKnown('failed', { succeededPods: 0 }, seen('Running')), false);
  assert.equal(isOutputKnown('failed', { succeededPods: 0 }, seen('Failed')), true);
});
