import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRandom } from '../random.ts';
import { JsonSyntaxError, readJson } from './json-reader.ts';

const refusal = (text: string): string => {
  try {
    readJson(text);
    return 'accepted';
  } catch (error) {
    assert.ok(error instanceof JsonSyntaxError);
    return error.message;
  }
};

describe('reading JSON as Go does', () => {
  test('gives what JSON.parse gives, for any value', (t) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    t.diagnostic(`seed ${seed}`);
    const random = createRandom(seed);
    const fraction = (): number => random.fraction();
    const texts = ['', 'a', '"', '\\', 'é', '\u0000', '\n', '😀', '__proto__', '</'];
    const text = (): string => texts[Math.floor(fraction() * texts.length)] ?? '';
    const value = (depth: number): unknown => {
      const kind = Math.floor(fraction() * (depth > 3 ? 4 : 6));
      if (kind === 0) return text();
      if (kind === 1) return (fraction() - 0.5) * 10 ** Math.floor(fraction() * 20);
      if (kind === 2) return fraction() < 0.5;
      if (kind === 3) return null;
      const items = Array.from({ length: Math.floor(fraction() * 4) }, () => value(depth + 1));
      return kind === 4 ? items : Object.fromEntries(items.map((item, index) => [`${text()}${index}`, item]));
    };
    for (let round = 0; round < 300; round++) {
      const written = JSON.stringify(value(0));
      assert.deepEqual(readJson(written).value, JSON.parse(written));
    }
  });

  test('names keys that stand twice by their path', () => {
    const { value, duplicates } = readJson('{"a":{"b":1,"b":2},"c":[{"d":1,"d":2}],"a":3}');
    assert.deepEqual(duplicates, ['a.b', 'c[0].d', 'a']);
    assert.deepEqual(value, { a: 3, c: [{ d: 2 }] });
  });

  test('refuses what is no JSON in the words of Go', () => {
    assert.equal(refusal(''), 'unexpected end of JSON input');
    assert.equal(refusal('{"a":'), 'unexpected end of JSON input');
    assert.equal(refusal('{a}'), "invalid character 'a' looking for beginning of object key string");
    assert.equal(refusal('[1,]'), "invalid character ']' looking for beginning of value");
    assert.equal(refusal('1 2'), "invalid character '2' after top-level value");
    assert.equal(refusal('nope'), "invalid character 'o' in literal null (expecting 'u')");
  });
});
