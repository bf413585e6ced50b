import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { describe, test } from 'node:test';
import { listFiles, readProjectFile } from './project-files.ts';
import { importsOf, scriptOf } from './source-imports.ts';
import { readSource } from './source-text.ts';

/** Parts of packages that the packages themselves name as entries; every other import names a package alone. */
const namedEntries = [
  'svelte/elements',
  'svelte/reactivity',
  'uplot/dist/uPlot.min.css',
  // https://nodemailer.com/extras/smtp-connection; why not its transport: docs/adr/0006.
  'nodemailer/lib/smtp-connection',
  // https://knexjs.org/guide/#custom-client: a client of one's own is a subclass of one of these.
  'knex/lib/dialects/better-sqlite3/index.js',
  'knex/lib/dialects/postgres/index.js',
  'knex/lib/dialects/mysql2/index.js',
];

/** Members that a library keeps for its subclasses: the method of a client of knex that a statement goes through (docs/adr/0006). */
const namedMembers = ['_query'];

/** What reaches into a library, or works by names that the compiler does not see, in one source; a line each. */
function findReaches(path: string, source: string): string[] {
  const script = scriptOf(path, source);
  const { code, strings } = readSource(script);
  const deep = importsOf(script).flatMap(({ specifier }) =>
    /^(?!\.|node:|@cronjob-monitor\/)(@[^/]+\/[^/]+|[^@/][^/]*)\//.test(specifier) && !namedEntries.includes(specifier)
      ? [`${path} imports ${specifier}, which is inside a package`]
      : [],
  );
  const members = [...code.matchAll(/\.(_[A-Za-z_]\w*)/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => !namedMembers.includes(name))
    .map((name) => `${path} uses the member ${name}`);
  const keys = [...code.matchAll(/\[\s*"(\d+)"\s*\]/g)]
    .map(([, index]) => strings[Number(index)] ?? '')
    .filter((name) => /^_[A-Za-z_]/.test(name))
    .map((name) => `${path} uses the member ${name}`);
  const reflected = /\bReflect\.(get|set)\b/.test(code) ? [`${path} uses Reflect`] : [];
  return [...deep, ...members, ...keys, ...reflected];
}

const production = listFiles('{controller,apiserver,shared,webui}/src/**/*.{ts,svelte}').filter(
  (path) => !/\.test\.ts$|\.d\.ts$|\/testing\//.test(path),
);

test('no source reaches into a library', () => {
  assert.ok(production.length > 300, 'the sources are found');
  assert.deepEqual(
    production.flatMap((path) => findReaches(path, readProjectFile(path))),
    [],
  );
});

describe('what reaches into a library', () => {
  const lines: readonly (readonly [string, boolean])[] = [
    [`import inner from 'koa/lib/application.js';`, true],
    [`import inner from '@koa/router/dist/router.js';`, true],
    [`import knex from 'knex';`, false],
    [`import own from './lib/own.ts';`, false],
    [`import SMTPConnection from 'nodemailer/lib/smtp-connection';`, false],
    [`pool.__internal = 1;`, true],
    [`pool['__internal'] = 1;`, true],
    [`const handle = socket._handle;`, true],
    [`const handle = socket['_handle'];`, true],
    [`import inner from 'bits-ui/esm/inner.js';`, true],
    [`import type { Table } from 'knex/types/tables';`, true],
    [`const mailer = await import('nodemailer/mailer');`, true],
    [`import Router from '@koa/router';`, false],
    [`import { readFile } from 'node:fs/promises';`, false],
    [`import { Thing } from '@cronjob-monitor/shared/contract';`, false],
    [`const [_, kept] = pair;`, false],
    [`const answer = Reflect.get(client, name);`, true],
    [`// pool.__internal`, false],
  ];
  for (const [line, isReach] of lines) {
    test(`${line} ${isReach ? 'does' : 'does not'}`, () => {
      assert.equal(findReaches('controller/src/a.ts', line).length > 0, isReach);
    });
  }
});

/** Packages that another one loads by its name: the query builder its driver. */
const loadedBy = new Map([['mysql2', 'knex/lib/dialects/mysql2']]);

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Packages of a manifest that nothing in its folder uses: no import, no command, no types of what is imported. */
function findUnused(manifest: Manifest, texts: readonly string[]): string[] {
  const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  const commands = Object.values(manifest.scripts ?? {}).join('\n');
  const isImported = (name: string) =>
    texts.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`) || text.includes(`"${name}"`));
  const isCommand = (name: string) => new RegExp(`(^|[^\\w-])${name}([^\\w-]|$)`, 'm').test(commands);
  return names.filter((name) => {
    const typed = /^@types\/(.+)$/.exec(name)?.[1]?.replace('__', '/');
    if (typed === 'node') return false;
    if (typed !== undefined) return !isImported(typed.includes('/') ? `@${typed}` : typed);
    return !isImported(loadedBy.get(name) ?? name) && !isCommand(name);
  });
}

describe('every package of a manifest is used', () => {
  /** What the manifests of the root and of the user interface bring as commands for others: the compiler, and what type-aware lint runs. */
  const byOthers = ['typescript', 'oxlint-tsgolint'];
  for (const folder of ['.', 'controller', 'apiserver', 'shared', 'webui', 'tests', 'tests/simcluster']) {
    test(folder, () => {
      const manifest = JSON.parse(readProjectFile(posix.join(folder, 'package.json'))) as Manifest;
      const files = listFiles(folder === '.' ? 'scripts/**/*.mjs' : `${folder}/**/*.{ts,svelte,css,mjs}`);
      const unused = findUnused(manifest, files.map(readProjectFile)).filter((name) => !byOthers.includes(name));
      assert.deepEqual(unused, []);
    });
  }

  for (const folder of ['controller', 'apiserver', 'shared']) {
    test(`what ${folder} installs for a service is used by it, and not by tests alone`, () => {
      const { dependencies = {} } = JSON.parse(readProjectFile(posix.join(folder, 'package.json'))) as Manifest;
      const sources = production.filter((path) => path.startsWith(`${folder}/`)).map(readProjectFile);
      assert.deepEqual(findUnused({ dependencies }, sources), []);
    });
  }

  test('one that is only mentioned by another name is found', () => {
    const manifest: Manifest = {
      dependencies: { koa: '1', 'koa-static': '1', '@scope/part': '1' },
      devDependencies: { '@types/koa': '1', '@types/koa-static': '1', '@types/node': '1', vite: '1' },
      scripts: { build: 'vite build' },
    };
    assert.deepEqual(findUnused(manifest, [`import Koa from 'koa';\nimport x from '@scope/part/inner';`]), [
      'koa-static',
      '@types/koa-static',
    ]);
  });
});

test('every package of the catalog is asked for by a manifest', () => {
  const workspace = readProjectFile('pnpm-workspace.yaml');
  const catalog = workspace.slice(workspace.indexOf('\ncatalog:'));
  const names = [...catalog.matchAll(/^ {2}'?([@\w][\w@/.-]*)'?: /gm)].map(([, name]) => name ?? '');
  assert.ok(names.length > 20, 'the catalog is read');
  const manifests = listFiles('{.,*,tests/simcluster}/package.json').map(readProjectFile).join('\n');
  assert.deepEqual(
    names.filter((name) => !manifests.includes(`"${name}": "catalog:"`)),
    [],
  );
});
