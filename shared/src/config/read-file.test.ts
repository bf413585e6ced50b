import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { aTemporaryFolder } from '../testing/index.ts';
import { readConfigFile, readYaml } from './read-file.ts';

/** What a text gave, by key. */
function given(yaml: string): Record<string, unknown> {
  const { settings, problems } = readYaml('f.yaml', yaml);
  assert.deepEqual(problems, []);
  return Object.fromEntries([...settings].map(([key, setting]) => [key, setting.given]));
}

/** The lines about a text, without what all of them begin with. */
function problems(yaml: string): string[] {
  return readYaml('f.yaml', yaml).problems.map((line) => line.replace(/^configuration: /, ''));
}

describe('values', () => {
  test('keys are nested at their dots, and know their line', () => {
    const { settings } = readYaml('f.yaml', 'log-level: warn\nstorage:\n  sqlite:\n    path: /x\n');
    assert.deepEqual(settings.get('log-level')?.source, { from: 'file', path: 'f.yaml', line: 1 });
    assert.deepEqual(settings.get('storage.sqlite.path'), {
      given: '/x',
      source: { from: 'file', path: 'f.yaml', line: 4 },
    });
    assert.deepEqual(given('storage: {sqlite: {path: /y}}'), { 'storage.sqlite.path': '/y' });
  });

  test('scalars stay as they are written', () => {
    assert.deepEqual(given('storage: {postgres: {password: 0123, port: "5432"}}\nscheduler: {prune-interval: 90}'), {
      'storage.postgres.password': '0123',
      'storage.postgres.port': '5432',
      'scheduler.prune-interval': '90',
    });
    assert.deepEqual(given('storage: {postgres: {password: True}}'), { 'storage.postgres.password': 'True' });
    assert.deepEqual(given('cluster: {name: 1e3}\nui: {port: 0x50}'), { 'cluster.name': '1e3', 'ui.port': '0x50' });
    assert.deepEqual(given('storage:\n  postgres:\n    password: |-\n      a\n      b\n'), {
      'storage.postgres.password': 'a\nb',
    });
  });

  test('every spelling of a boolean of YAML is read for a bool', () => {
    assert.deepEqual(given('ui: {enabled: FALSE}\nmetrics: {secure: True}'), {
      'ui.enabled': 'false',
      'metrics.secure': 'true',
    });
    assert.deepEqual(given('ui: {enabled: no}'), { 'ui.enabled': 'no' });
  });

  test('null in every spelling, and a block without content, set nothing', () => {
    assert.deepEqual(given('log-level:\ncluster: {name: null, context: ~}\nstorage:\n'), {});
    assert.deepEqual(given('cluster: {name: "null"}'), { 'cluster.name': 'null' });
    assert.deepEqual(given(''), {});
    assert.deepEqual(given('# nothing\n'), {});
  });

  test('lists are lists of strings, in either form', () => {
    assert.deepEqual(given('ignored-namespaces: [a, 123]'), { 'ignored-namespaces': ['a', '123'] });
    assert.deepEqual(given('ignored-namespaces:\n  - a\n  - b\n'), { 'ignored-namespaces': ['a', 'b'] });
    assert.deepEqual(given('ignored-namespaces: []'), { 'ignored-namespaces': [] });
  });

  test('aliases stand for what they point at', () => {
    assert.deepEqual(given('ignored-namespaces: &all [a]\nmonitors: {cross-namespace-from: *all}'), {
      'ignored-namespaces': ['a'],
      'monitors.cross-namespace-from': ['a'],
    });
  });
});

describe('problems', () => {
  test('an unknown key is named with its line and the one that was meant', () => {
    assert.deepEqual(problems('log-level: info\nstorage:\n  sqlite: {}\n  typ: x\n'), [
      'storage.typ (file f.yaml line 4) is no key; did you mean storage.type?',
    ]);
    assert.deepEqual(problems('stroage: {type: x}'), ['stroage (file f.yaml line 1) is no key; did you mean storage?']);
    assert.deepEqual(problems('prune-interval: 1h'), [
      'prune-interval (file f.yaml line 1) is no key; did you mean scheduler.prune-interval?',
    ]);
    assert.deepEqual(problems('xyzzy: 1'), ['xyzzy (file f.yaml line 1) is no key']);
  });

  test('doubled keys are refused with both lines', () => {
    assert.deepEqual(problems('ui:\n  port: 1\n  port: 2\n'), [
      'ui.port (file f.yaml line 3) is given twice, first on line 2',
    ]);
    assert.deepEqual(problems('ui: {port: 1}\napi: {}\nui: {enabled: true}\n'), [
      'ui (file f.yaml line 3) is given twice, first on line 1',
    ]);
  });

  test('a dotted key is told how to be nested', () => {
    assert.deepEqual(problems('storage.sqlite.path: /x'), [
      'storage.sqlite.path (file f.yaml line 1) has a dot in its name; nest it: storage: {sqlite: {path: …}}',
    ]);
  });

  test('a value of another form is refused: block, list and single value', () => {
    assert.deepEqual(problems('storage: sqlite'), [
      'storage (file f.yaml line 1) is one value; allowed: a block of keys',
    ]);
    assert.deepEqual(problems('log-level: {a: 1}'), ['log-level (file f.yaml line 1) is a block; allowed: one value']);
    assert.deepEqual(problems('log-level: [info]'), ['log-level (file f.yaml line 1) is a list; allowed: one value']);
    assert.deepEqual(problems('ignored-namespaces: a,b'), [
      'ignored-namespaces (file f.yaml line 1) is one value; allowed: a YAML list of strings',
    ]);
    assert.deepEqual(problems('ignored-namespaces: [a, null]'), [
      'ignored-namespaces (file f.yaml line 1) is a list; allowed: a YAML list of strings',
    ]);
    assert.deepEqual(problems('- a'), ['file f.yaml line 1 is one value; allowed: a block of keys']);
  });

  test('all of them are told at once', () => {
    assert.equal(problems('a: 1\nb: 2\nui: {c: 3, port: {}}\n').length, 4);
  });

  test('a fault of YAML is told with line and column, and never with the text, which may be a secret', () => {
    for (const yaml of [
      'a: [hunter2\nb: 1',
      'a: "hunter2',

      'a: !hunter2 hunter2',
      'a\n\thunter2: b',
      '%hunter2',
      '--- a\n--- hunter2',
    ]) {
      const found = problems(yaml);
      assert.notEqual(found.length, 0, yaml);
      assert.match(found[0] ?? '', /^file f\.yaml line \d+ column \d+ is no YAML: [a-z ]+$/, yaml);
      assert.equal(found.join().includes('hunter2'), false, yaml);
      assert.equal(readYaml('f.yaml', yaml).broken, true);
    }
  });

  test('an alias without its anchor is a problem, and not an absent value', () => {
    assert.deepEqual(problems('log-level: *hunter2'), ['file f.yaml line 1 has an alias without its anchor']);
    assert.deepEqual(problems('ignored-namespaces: [*x]').length, 2);
  });
});

describe('files', () => {
  test('the first of the searched ones that exists is read, only that one', (t) => {
    const folder = aTemporaryFolder(t, { 'second.yaml': 'ui: {port: 2}', 'third.yaml': 'log-level: warn' });
    const paths = ['first.yaml', 'second.yaml', 'third.yaml'].map((name) => join(folder, name));
    const { settings } = readConfigFile(undefined, paths);
    assert.deepEqual([...settings.keys()], ['ui.port']);
    assert.deepEqual([...readConfigFile(undefined, [join(folder, 'no', 'file.yaml')]).settings], []);
  });

  test('a named file is read instead; one that does not exist is a problem', (t) => {
    const folder = aTemporaryFolder(t, { 'named.yaml': 'ui: {port: 2}', 'searched.yaml': 'log-level: warn' });
    const searched = [join(folder, 'searched.yaml')];
    assert.deepEqual([...readConfigFile(join(folder, 'named.yaml'), searched).settings.keys()], ['ui.port']);
    assert.deepEqual(readConfigFile('/no/such.yaml', searched).problems, [
      'configuration: file /no/such.yaml (flag --config) does not exist',
    ]);
  });

  test('a folder, a file of more than 1 MiB and one that is not UTF-8 are problems', (t) => {
    const folder = aTemporaryFolder(t, {
      'large.yaml': `#${'x'.repeat(1024 * 1024)}`,
      'full.yaml': `#${'x'.repeat(1024 * 1024 - 1)}`,
    });
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'latin.yaml'), Buffer.from([0x61, 0xe4]));
    const only = (name: string) => readConfigFile(undefined, [join(folder, name)]);
    assert.match(only('folder').problems[0] ?? '', /cannot be read: EISDIR$/);
    assert.match(only('large.yaml').problems[0] ?? '', /is larger than 1 MiB$/);
    assert.match(only('latin.yaml').problems[0] ?? '', /is not UTF-8$/);
    assert.deepEqual(only('full.yaml').problems, []);
    for (const name of ['folder', 'large.yaml', 'latin.yaml']) assert.equal(only(name).broken, true, name);
  });

  test('a file that is deeper than the parser can go is a problem and not a crash', (t) => {
    const folder = aTemporaryFolder(t, { 'deep.yaml': '['.repeat(20_000) });
    assert.equal(readConfigFile(join(folder, 'deep.yaml'), []).broken, true);
  });
});
