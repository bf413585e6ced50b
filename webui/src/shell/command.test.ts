import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { readCommand, sayCommand, whatToType } from './command.ts';
import { stateMarks } from '../format/marks.ts';
import { bestOf, inOrder, scoreOf, type PaletteEntry } from './palette-entry.ts';
import { Search } from './search.svelte.ts';

const read = (typed: string): readonly (string | undefined)[] => {
  const { verb, list, object } = readCommand(typed);
  return [verb ?? list?.word, object];
};

test('a verb and a name are a command, and the verb may be cut short or be said otherwise', () => {
  assert.deepEqual(read('trigger night'), ['trigger', 'night']);
  assert.deepEqual(read('  Suspend   prod/etl '), ['suspend', 'prod/etl']);
  assert.deepEqual(read('tri night'), ['trigger', 'night']);
  assert.deepEqual(read('ack'), ['acknowledge', '']);
  assert.deepEqual(read('who hears backup'), ['who hears', 'backup']);
  assert.deepEqual(read('who'), ['who hears', '']);
  assert.deepEqual(read('mute etl'), ['silence', 'etl']);
  assert.deepEqual(read('diff etl'), ['compare', 'etl']);
});

test('a name alone is a name, also where it begins as a verb does', () => {
  assert.deepEqual(read('nightly backup'), [undefined, 'nightly backup']);
  assert.deepEqual(read('log-rotate'), [undefined, 'log-rotate']);
  assert.deepEqual(read('sus'), [undefined, 'sus']);
});

test('a word of what is wrong lists CronJobs by what the service says of them', () => {
  assert.deepEqual(read('oom'), ['oom', '']);
  assert.deepEqual(read('at risk'), ['at risk', '']);
  const verdict = { kind: 'lastRunFailed', cause: 'Killed at 512 Mi', holds: [] };
  const cronJob = { verdict, lastExecution: { reason: 'OOMKilled' } } as never;
  const listed = ['failed', 'oom', 'stuck', 'late', 'silenced'].filter((word) => {
    const by = readCommand(word).list?.by;
    return typeof by === 'function' && by(cronJob);
  });
  assert.deepEqual(listed, ['failed', 'oom']);
});

test('a line says what it does', () => {
  assert.equal(sayCommand('trigger', 'prod/etl'), 'Trigger prod/etl');
  assert.equal(sayCommand('who hears', 'prod/etl'), 'Who hears of prod/etl');
});

/** What the palette finds, of a service that answers each question by its path; and what it was asked. */
async function find(typed: string, answers: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  mock.method(globalThis, 'fetch', (address: string) => {
    const { pathname, search } = new URL(address, 'http://localhost');
    asked.push(pathname + search);
    return Promise.resolve(Response.json(answers[pathname.replace('/api/v1/', '')] ?? { items: [] }));
  });
  mock.timers.enable({ apis: ['setTimeout'] });
  const search = new Search();
  search.type(typed);
  mock.timers.runAll();
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  mock.timers.reset();
  mock.restoreAll();
  return { asked, search };
}

const healthy = { state: 'healthy', words: 'Healthy', holds: [] };

test('what stands behind > is sought among pages and settings alone, all of them without a word', async () => {
  const { asked, search } = await find('>settings', {});
  assert.deepEqual([asked, search.entries.map(({ href }) => href), search.isSearching], [[], ['/settings'], false]);
  const all = (await find('>', {})).search.entries.map(({ name }) => name);
  assert.deepEqual(
    ['Settings', 'Dark theme', 'Times in UTC'].filter((name) => !all.includes(name)),
    [],
  );
});

test('"at risk" lists once each CronJob of which the SLA page says so, healthy ones too', async () => {
  const target = { cronjob: { namespace: 'data', name: 'etl' }, verdict: 'atRisk', judged: healthy };
  const { asked, search } = await find('at risk', { sla: { items: [target, { ...target, subject: 'finishBy' }] } });
  assert.deepEqual(
    search.entries.map(({ name, group, mark }) => [name, group, mark?.word]),
    [['data/etl', 'CronJobs: at risk', 'At risk']],
  );
  assert.match(asked.join(), /sla\?verdict=atRisk/);
});

test('compare holds the newest run against the success before it, and says where there is no run', async () => {
  const cronJob = { namespace: 'data', name: 'etl', verdict: healthy };
  const found = async (lastExecution: unknown) =>
    (await find('compare etl', { cronjobs: { items: [{ ...cronJob, lastExecution }] } })).search.entries[0];
  const { name, href } = (await found({ jobName: 'etl-2' })) ?? {};
  assert.equal(name, 'Compare the newest run of data/etl with the success before it');
  assert.equal(href, '/cronjobs/data/etl/runs/etl-2#compare');
  assert.equal((await found(null))?.note, 'It has no run yet');
});

test('a palette that finds nothing names what can be typed', async () => {
  assert.deepEqual((await find('zzz', {})).search.entries, []);
  for (const word of ['trigger', 'who hears', 'compare', 'oom', 'at risk', '>'])
    assert.ok(whatToType.includes(word), `${word} in ${whatToType}`);
});

describe('the palette', () => {
  const entry = (name: string, group = 'CronJobs'): PaletteEntry => ({ id: name, name, group });

  test('puts a name that begins with what is typed first', () => {
    const found = bestOf([entry('prod/db-backfill'), entry('data/nightly-backup'), entry('back/office')], 'back', 8);
    assert.deepEqual(
      found.map(({ name }) => name),
      ['back/office', 'prod/db-backfill', 'data/nightly-backup'],
    );
  });

  test('wants every word', () => {
    assert.equal(scoreOf('data/nightly-backup', 'data etl'), 0);
    assert.ok(scoreOf('data/nightly-backup', 'data back') > 0);
  });

  test('lists what fits exactly, what is broken, what was chosen lately, then the rest', () => {
    const crit = stateMarks.critical;
    const jobs = [entry('data/alerts-a'), entry('data/alerts-b'), { ...entry('data/alerts-c'), mark: crit }];
    const found = (typed: string) =>
      inOrder([...jobs, entry('Alerts', 'Pages')], typed, ['data/alerts-b']).map(({ name }) => name);
    const ofJobs = ['data/alerts-c', 'data/alerts-b', 'data/alerts-a'];
    assert.deepEqual(found('alerts'), ['Alerts', ...ofJobs]);
    assert.deepEqual(found('alert'), [...ofJobs, 'Alerts']);
  });

  test('takes some of each group', () => {
    const many = Array.from({ length: 20 }, (_, index) => entry(`backup-${index}`));
    const found = bestOf([...many, entry('Backups page', 'Pages')], 'back', 8);
    assert.deepEqual([found.length, found.at(-1)?.group], [9, 'Pages']);
  });
});
