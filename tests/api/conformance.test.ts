import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  ask,
  disagreements,
  documentedOperations,
  testSettings,
  type Answer,
} from '@cronjob-monitor/apiserver/testing';
import { systemClock } from '@cronjob-monitor/shared/process';
import { migrate, openStore, type Store } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { testDatabases } from '../store/databases.ts';
import { serveApi, type ApiUnderTest } from './api-under-test.ts';
import { aClusterOfOne } from './cluster.ts';
import { actingRows, readingRows, refusedRows, type Row } from './rows.ts';
import { seedFleet, type Seed } from './seed.ts';

const page = '<!doctype html><title>cronjob-monitor</title>';

for (const database of testDatabases()) {
  describe(`the contract of the API on ${database.name}`, { skip: database.skip ?? false }, () => {
    const cluster = { away: false };
    const uiFolder = mkdtempSync(join(tmpdir(), 'ui-'));
    let store: Store;
    let api: ApiUnderTest;
    let seed: Seed;

    before(async () => {
      writeFileSync(join(uiFolder, 'index.html'), page);
      const deps = { clock: systemClock, log: new RecordingLogger() };
      store = openStore(await database.fresh(), deps);
      await migrate(store, { version: 'test' });
      seed = await seedFleet(store);
      const settings = { ...testSettings, costlyRequestsPerMinute: 1_000 };
      api = await serveApi({ store, cluster: aClusterOfOne(cluster), clock: systemClock, settings, uiFolder });
    });
    after(async () => {
      await api[Symbol.asyncDispose]();
      await store.close();
      await database.remove();
      rmSync(uiFolder, { recursive: true });
    });

    /** Asks as a row says, and compares status and body with the row, and all of the answer with the OpenAPI document. */
    const answerOf = async (row: Row): Promise<Answer> => {
      const method = row.question?.method ?? 'GET';
      const answer = await ask(api.port, row.path, row.question ?? {});
      const about = `${method} ${row.path}: ${answer.text.slice(0, 400)}`;
      assert.equal(answer.status, row.status, about);
      assert.deepEqual(disagreements(method, row.path, answer), []);
      if (row.says) assert.partialDeepStrictEqual(answer.json(), row.says, about);
      if (row.code !== undefined) assert.equal(answer.error().code, row.code, about);
      return answer;
    };

    test('every read answers as written, and again to who knows the answer', async () => {
      for (const row of readingRows(seed)) {
        const answer = await answerOf(row);
        const { etag } = answer.headers;
        const headers = typeof etag === 'string' ? { 'If-None-Match': etag } : {};
        const again = await ask(api.port, row.path, { headers });
        const kept = !/\/(health|whoami|logs\/search|.*\/logs)(\?|$)/.test(row.path);
        // Figures of the clock may have moved on meanwhile.
        if (kept) assert.ok(again.status === 304 || again.headers['etag'] !== etag, row.path);
        else assert.equal(answer.headers['cache-control'], 'no-store', row.path);
        const head = await ask(api.port, row.path, { method: 'HEAD' });
        assert.deepEqual([head.status, head.text], [answer.status, ''], row.path);
      }
    });

    test('every list that can be exported gives all rows as a table and as JSON', async () => {
      const lists = [
        'cronjobs',
        'cronjobs/prod/backup/executions',
        'cronjobs/prod/backup/slots',
        'sla',
        'alerts',
        'alerts/history',
      ];
      for (const list of lists) {
        const csv = await ask(api.port, `/api/v1/${list}?format=csv`, {});
        assert.deepEqual([csv.status, csv.headers['content-type']], [200, 'text/csv; charset=utf-8'], list);
        const json = await ask(api.port, `/api/v1/${list}?format=json`, {});
        const rows = json.json() as readonly unknown[];
        assert.equal(csv.text.trimEnd().split('\r\n').length, rows.length + 1, list);
        assert.match(
          String(json.headers['content-disposition']),
          /^attachment; filename="[a-z-]+-\d{4}-\d{2}-\d{2}\.json"$/,
        );
      }
    });

    test('what is refused says why, and nothing has happened', async () => {
      for (const row of refusedRows(seed)) {
        const answer = await answerOf(row);
        assert.equal(answer.headers['cache-control'], 'no-store', row.path);
      }
      assert.equal((await ask(api.port, '/api/v1/silences', {})).text.includes('longer'), false);
    });

    test('a cluster that does not answer is said to be the reason', async () => {
      cluster.away = true;
      const row = { operation: 'trigger', path: '/api/v1/cronjobs/prod/backup/trigger', question: { method: 'POST' } };
      await answerOf({ ...row, status: 502, code: 'CLUSTER_UNAVAILABLE' });
      cluster.away = false;
    });

    test('every action does what is written', async () => {
      for (const row of actingRows(seed)) {
        const answer = await answerOf(row);
        assert.equal(answer.headers['cache-control'], 'no-store', row.path);
        if (row.status === 201)
          assert.match(String(answer.headers['location']), /^\/api\/v1\/silences\/[0-9a-f-]{36}$/);
      }
    });

    test('every operation of the document is asked, but for the stream', () => {
      const asked = new Set([...readingRows(seed), ...actingRows(seed)].map(({ operation }) => operation));
      assert.deepEqual(
        documentedOperations.filter((operation) => !asked.has(operation)),
        ['GET /api/v1/events/stream'],
      );
    });

    test('pages of the user interface are no paths of the API', async () => {
      const html = { headers: { Accept: 'text/html' } };
      for (const path of ['/', '/cronjobs/prod/backup.v2']) {
        const answer = await ask(api.port, path, html);
        assert.deepEqual([answer.status, answer.text, answer.headers['cache-control']], [200, page, 'no-cache'], path);
      }
      for (const path of ['/assets/none.js', '/favicon.ico', '/api/none']) {
        assert.equal((await ask(api.port, path, html)).status, 404, path);
      }
      assert.equal((await ask(api.port, '/cronjobs', { headers: { Accept: 'application/json' } })).status, 404);
      assert.equal((await ask(api.port, '/swagger/', {})).status, 200);
      const options = await ask(api.port, '/api/v1/silences', { method: 'OPTIONS' });
      assert.deepEqual([options.status, options.headers['allow']], [204, 'GET, HEAD, POST, OPTIONS']);
    });
  });
}
