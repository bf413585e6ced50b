import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importsOf } from './source-imports.ts';
import { readSource } from './source-text.ts';

describe('a source that is read for its imports and names', () => {
  test('loses comments and the content of strings', () => {
    const { code, strings } = readSource(`a(); // Date.now()\nb('Date.now()', "it's"); /* Date.now() */ c();`);
    assert.equal(code, 'a(); \nb("0", "1");  c();');
    assert.deepEqual(strings, ['Date.now()', "it's"]);
  });

  test('keeps the code inside templates, and loses their text', () => {
    const { code } = readSource('x = `now ${ f({ a: `in ${Date.now()} it` }) } later`; y();');
    assert.equal(code, 'x = "" f({ a: ""Date.now()"" }) ""; y();');
  });

  test('tells a regular expression from a division', () => {
    assert.equal(
      readSource(`a = b / c / "d"; e = /'[/]"/.test(f) ? 1 / 2 : 3;`).code,
      'a = b / c / "0"; e = / /.test(f) ? 1 / 2 : 3;',
    );
    assert.equal(readSource(`return /\\/'/g.exec(a);`).code, 'return / /g.exec(a);');
    assert.equal(readSource(`const a = x.replace(/"/g, '') // b`).code, 'const a = x.replace(/ /g, "0") ');
  });

  test('ends at the end when something is left open', () => {
    for (const open of ["'a", '`a ${', '/* a', '// a', 'x = /a']) assert.equal(typeof readSource(open).code, 'string');
  });
});

describe('imports', () => {
  const one = (source: string) => importsOf(source)[0];

  test('are found in every form, with the names that are values', () => {
    assert.deepEqual(one(`import { a, type B, c as d } from './x.ts';`), {
      specifier: './x.ts',
      isType: false,
      names: ['a', 'c'],
    });
    assert.deepEqual(one(`import a, * as b from "x";`), { specifier: 'x', isType: false, names: ['default', '*'] });
    assert.deepEqual(one(`import x, {\n  y,\n} from 'x';`)?.names, ['default', 'y']);
    assert.deepEqual(one(`import './x.ts';`), { specifier: './x.ts', isType: false, names: [] });
    assert.deepEqual(one(`const x = await import('./x.ts');`), {
      specifier: './x.ts',
      isType: false,
      names: ['import()'],
    });
    assert.deepEqual(one(`export { a } from './x.ts';`)?.names, ['a']);
    assert.deepEqual(one(`export * from './x.ts';`)?.names, ['*']);
  });

  test('of types alone are told apart', () => {
    for (const source of [
      `import type { A } from 'x';`,
      `import type A from 'x';`,
      `export type { A } from 'x';`,
      `import { type A, type B } from 'x';`,
    ]) {
      assert.deepEqual(one(source), { specifier: 'x', isType: true, names: [] }, source);
    }
    assert.equal(one(`import type from 'x';`)?.isType, false);
  });

  test('are not seen where there are none', () => {
    assert.deepEqual(
      importsOf(`// import a from 'x';\nconst b = "import c from 'y'"; export const d = 1; f('from', 'z');`),
      [],
    );
    assert.deepEqual(
      importsOf(`export const a = 1;\nimport { b } from 'x';`).map(({ specifier }) => specifier),
      ['x'],
    );
  });
});
