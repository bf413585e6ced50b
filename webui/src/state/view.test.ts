import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { countIn, listIn, wordIn, wordsIn } from './filters.ts';
import { Persisted } from './preferences.svelte.ts';

describe('what an address says of a view', () => {
  const query = new URLSearchParams('status=critical,nonsense,warning&sort=-name&ns=a,,b&offset=40&bad=-1');

  test('is taken where it is known, in the order of the words', () => {
    assert.deepEqual(wordsIn(query, 'status', ['warning', 'critical']), ['warning', 'critical']);
    assert.equal(wordIn(query, 'sort', ['name', '-name'], 'name'), '-name');
    assert.deepEqual(listIn(query, 'ns'), ['a', 'b']);
    assert.equal(countIn(query, 'offset', 0), 40);
  });

  test('is the default where it is not, or is wrong', () => {
    assert.equal(wordIn(query, 'sort', ['status'], 'status'), 'status');
    assert.equal(countIn(query, 'bad', 0), 0);
    assert.equal(countIn(query, 'none', 7), 7);
    assert.deepEqual(wordsIn(query, 'none', ['a']), []);
  });
});

describe('a preference of this browser', () => {
  const isWord = (value: unknown): value is string => typeof value === 'string';
  afterEach(() => Reflect.deleteProperty(globalThis, 'localStorage'));

  /** As much of a storage as a preference asks for. */
  function aStorage(kept: Record<string, string> = {}) {
    Object.assign(globalThis, {
      localStorage: {
        getItem: (key: string) => kept[key] ?? null,
        setItem: (key: string, value: string) => void (kept[key] = value),
      },
    });
    return kept;
  }

  test('outlives the page', () => {
    const kept = aStorage();
    new Persisted('zone', 'utc', isWord).value = 'browser';
    assert.equal(kept['cronjob-monitor.zone'], '"browser"');
    assert.equal(new Persisted('zone', 'utc', isWord).value, 'browser');
  });

  test('that is not ours counts as none', () => {
    aStorage({ 'cronjob-monitor.zone': '{"x":1}', 'cronjob-monitor.theme': 'no json' });
    assert.equal(new Persisted('zone', 'utc', isWord).value, 'utc');
    assert.equal(new Persisted('theme', 'system', isWord).value, 'system');
  });

  test('lasts as long as the page where storage is off', () => {
    const preference = new Persisted('zone', 'utc', isWord);
    preference.value = 'cluster';
    assert.equal(preference.value, 'cluster');
  });
});
