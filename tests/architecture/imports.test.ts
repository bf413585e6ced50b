import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findCircles } from './circles.ts';
import { findDoorProblems } from './doors.ts';
import { listFiles, readProjectFile } from './project-files.ts';
import { findWallProblems } from './walls.ts';

const sources = [
  ...listFiles('{controller,apiserver,webui,shared}/src/**/*.{ts,svelte}'),
  ...listFiles('tests/simcluster/src/**/*.ts'),
];

test('no import crosses a wall between rooms', () => {
  assert.ok(sources.length > 200, 'the sources are found');
  assert.deepEqual(
    sources.flatMap((path) => findWallProblems(path, readProjectFile(path))),
    [],
  );
});

/** A question is asked in a dialect, and what a dialect does is asked as a question. */
const ofOneSubject = [['shared/src/store/database.ts', 'shared/src/store/dialect/dialect.ts']];

test('no file needs another that needs it, not even for a type', () => {
  assert.deepEqual(
    findCircles(
      sources.filter((path) => !path.endsWith('.test.ts')),
      readProjectFile,
    ),
    ofOneSubject,
  );
  const files: Readonly<Record<string, string>> = {
    'shared/src/a.ts': `import { b } from './b.ts';`,
    'shared/src/b.ts': `export type { C } from './c.ts';`,
    'shared/src/c.ts': `import type { A } from './a.ts'; import { d } from './d.ts';`,
    'shared/src/d.ts': '',
  };
  assert.deepEqual(
    findCircles(Object.keys(files), (path) => files[path] ?? ''),
    [['shared/src/a.ts', 'shared/src/b.ts', 'shared/src/c.ts']],
  );
});

test('the hall of the controller holds how a process is put together, and every other file has a room', () => {
  assert.deepEqual(listFiles('controller/src/*.ts'), ['controller/src/compose.ts', 'controller/src/index.ts']);
});

test('every package and every piece of the world is used behind its door', () => {
  assert.deepEqual(
    sources.flatMap((path) => findDoorProblems(path, readProjectFile(path))),
    [],
  );
});

/** A line of a source at a place, and whether it may stand there. */
const walls: readonly [title: string, path: string, line: string, isAllowed: boolean][] = [
  ['domain knows the contract', 'shared/src/domain/a.ts', `import { b } from '../contract/index.ts';`, true],
  ['domain knows no store', 'shared/src/domain/a.ts', `import { b } from '../store/index.ts';`, false],
  ['domain knows no clock', 'shared/src/domain/a.ts', `import type { Clock } from '../process/index.ts';`, false],
  [
    'others know the types of process',
    'shared/src/store/a.ts',
    `import type { Clock } from '../process/index.ts';`,
    true,
  ],
  ['but not its values', 'shared/src/store/a.ts', `import { systemClock } from '../process/index.ts';`, false],
  ['kube and store do not know each other', 'shared/src/kube/a.ts', `import { b } from '../store/index.ts';`, false],
  ['a room is entered by its door', 'shared/src/kube/a.ts', `import { b } from '../domain/duration.ts';`, false],
  ['also by name', 'controller/src/evidence/a.ts', `import { b } from '@cronjob-monitor/shared/kube/client';`, false],
  [
    'the schedule has a door of its own',
    'controller/src/evaluate/a.ts',
    `import { parse } from '@cronjob-monitor/shared/domain/schedule';`,
    true,
  ],
  [
    'routes ask the store',
    'apiserver/src/routes/a/router.ts',
    `import { listRuns } from '@cronjob-monitor/shared/store';`,
    true,
  ],
  [
    'and tell it nothing',
    'apiserver/src/routes/a/router.ts',
    `import { putEvidence } from '@cronjob-monitor/shared/store';`,
    false,
  ],
  [
    'and know no cluster',
    'apiserver/src/routes/a/router.ts',
    `import { b } from '@cronjob-monitor/shared/kube';`,
    false,
  ],
  [
    'channels are handed their secrets',
    'controller/src/channels/chat.ts',
    `import { b } from '@cronjob-monitor/shared/kube';`,
    false,
  ],
  [
    'a reconciler knows no other',
    'controller/src/reconcilers/job/a.ts',
    `import { b } from '../monitor/index.ts';`,
    false,
  ],
  ['evaluation raises alerts', 'controller/src/evaluate/a.ts', `import { raise } from '../alerting/index.ts';`, true],
  ['and sends none', 'controller/src/evaluate/a.ts', `import { createDispatcher } from '../outbox/index.ts';`, false],
  [
    'standalone knows the API',
    'controller/src/bin/standalone.ts',
    `import { createApi } from '@cronjob-monitor/apiserver';`,
    true,
  ],
  [
    'the controller does not',
    'controller/src/bin/controller.ts',
    `import { createApi } from '@cronjob-monitor/apiserver';`,
    false,
  ],
  [
    'the browser knows the contract',
    'webui/src/api/a.ts',
    `import { b } from '@cronjob-monitor/shared/contract';`,
    true,
  ],
  ['and nothing else of ours', 'webui/src/api/a.ts', `import type { B } from '@cronjob-monitor/shared/domain';`, false],
  [
    'also in a component',
    'webui/src/pages/A.svelte',
    `<script lang="ts">import { b } from '@cronjob-monitor/shared/domain';</script>`,
    false,
  ],
  [
    'tests know what is for tests',
    'shared/src/store/a.test.ts',
    `import { FakeClock } from '../testing/index.ts';`,
    true,
  ],
  ['nothing else does', 'shared/src/store/a.ts', `import { FakeClock } from '../testing/index.ts';`, false],
  [
    'tests know the simulated cluster',
    'shared/src/kube/a.test.ts',
    `import { b } from '@cronjob-monitor/simcluster';`,
    true,
  ],
  ['nothing else does that either', 'shared/src/kube/a.ts', `import { b } from '@cronjob-monitor/simcluster';`, false],
  [
    'the simulated cluster knows nothing of ours',
    'tests/simcluster/src/a.ts',
    `import type { B } from '@cronjob-monitor/shared/domain';`,
    false,
  ],
  [
    'packages are imported by name',
    'controller/src/evaluate/a.ts',
    `import { b } from '../../../shared/src/domain/index.ts';`,
    false,
  ],
  ['a dynamic import is one', 'shared/src/domain/a.ts', `const b = await import('../store/index.ts');`, false],
  ['a re-export is one', 'shared/src/domain/a.ts', `export * from '../store/index.ts';`, false],
];

describe('the walls', () => {
  for (const [title, path, line, isAllowed] of walls) {
    test(`${title} (${path})`, () => {
      assert.equal(findWallProblems(path, line).length, isAllowed ? 0 : 1);
    });
  }
});

const doors: readonly [path: string, line: string, isAllowed: boolean][] = [
  ['shared/src/store/open.ts', `import knex from 'knex';`, true],
  ['controller/src/evaluate/a.ts', `import knex from 'knex';`, false],
  ['shared/src/store/open.ts', `import pg from 'pg';`, false],
  ['shared/src/store/dialect/postgres.ts', `import pg from 'pg';`, true],
  ['shared/src/store/dialect/mysql.ts', `import mysql from 'mysql2/promise';`, true],
  ['shared/src/process/logger.ts', `import bunyan from 'bunyan';`, true],
  ['shared/src/process/listen.ts', `import bunyan from 'bunyan';`, false],
  ['apiserver/src/middleware/validate.ts', `import * as yup from 'yup';`, true],
  ['apiserver/src/routes/a/query.ts', `import * as yup from 'yup';`, false],
  ['apiserver/src/routes/a/present.ts', `import * as yup from 'yup';`, false],
  ['apiserver/src/routes/a/router.ts', `import Router from '@koa/router';`, true],
  ['apiserver/src/actions/a.ts', `import type Koa from 'koa';`, false],
  ['webui/src/pages/a/state.svelte.ts', `import { untrack } from 'svelte';`, true],
  ['controller/src/evaluate/a.ts', `import lodash from 'lodash';`, false],
  ['shared/src/process/clock.ts', 'Date.now();', true],
  ['controller/src/evaluate/a.ts', 'Date.now();', false],
  ['controller/src/evaluate/a.ts', 'new Date();', false],
  ['controller/src/evaluate/a.ts', 'new Date(nowMs).toISOString();', true],
  ['controller/src/evaluate/a.ts', 'Date.UTC(2026, 1);', true],
  ['controller/src/evaluate/a.ts', 'x instanceof Date', true],
  ['controller/src/evaluate/a.ts', 'performance.now()', false],
  ['controller/src/evaluate/a.ts', 'setTimeout(f, 1);', false],
  ['controller/src/evaluate/a.ts', 'globalThis.setInterval(f, 1);', false],
  ['controller/src/evaluate/a.ts', 'socket.setTimeout(1);', true],
  ['controller/src/evaluate/a.ts', 'AbortSignal.timeout(1);', false],
  ['controller/src/evaluate/a.ts', `import { setTimeout } from 'node:timers/promises';`, false],
  ['controller/src/evaluate/a.ts', `import { setImmediate } from 'node:timers/promises';`, true],
  ['controller/src/evaluate/a.ts', '// Date.now() here', true],
  ['controller/src/evaluate/a.ts', `log('setTimeout(');`, true],
  ['controller/src/evaluate/a.test.ts', 'Date.now(); setTimeout(f, 1); process.env.X; fetch(u);', true],
  ['shared/src/config/load.ts', 'process.env', true],
  ['controller/src/bin/cronjob-monitor.ts', 'process.env', true],
  ['controller/src/commands/ask-service.ts', 'process.env', false],
  ['controller/src/commands/ask-service.ts', 'await fetch(url);', true],
  ['controller/src/commands/lint.ts', 'await fetch(url);', false],
  ['controller/src/evaluate/a.ts', 'process.env.HOME', false],
  ['controller/src/evaluate/a.ts', `process['env']`, false],
  ['controller/src/evaluate/a.ts', `import { env } from 'node:process';`, false],
  ['controller/src/evaluate/a.ts', 'await fetch(url);', false],
  ['controller/src/evaluate/a.ts', 'reflector.fetch(url);', true],
  ['controller/src/evaluate/a.ts', `import https from 'node:https';`, false],
  ['controller/src/channels/outbound-http.ts', `import https from 'node:https';`, true],
  ['shared/src/process/listen.ts', `import { createServer, type Server } from 'node:http';`, true],
  ['shared/src/process/listen.ts', `import { request } from 'node:http';`, false],
  ['webui/src/api/client.ts', 'await fetch(url);', true],
  ['webui/src/pages/A.svelte', '<script>fetch(url);</script>', false],
  ['webui/src/pages/A.svelte', '<p>Date.now()</p>', true],
];

describe('the doors', () => {
  for (const [path, line, isAllowed] of doors) {
    test(`${line} is ${isAllowed ? 'at home' : 'out of place'} in ${path}`, () => {
      assert.equal(findDoorProblems(path, line).length === 0, isAllowed);
    });
  }
});
