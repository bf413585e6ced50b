import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '@cronjob-monitor/controller/testing';
import { getSchemaState, openStore, type ServerSettings, type Store } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { Child } from '../servers/index.ts';
import { testDatabases } from '../store/databases.ts';
import { fillFile, type FilledFile } from '../store/filled-file.ts';
import { TestClock } from '../store/test-clock.ts';

const program = fileURLToPath(new URL('../../controller/src/bin/cronjob-monitor.ts', import.meta.url));

for (const database of testDatabases().filter(({ name }) => name !== 'sqlite')) {
  describe(`the command copy to ${database.name}`, { skip: database.skip ?? false }, () => {
    const ends: (() => unknown)[] = [];
    let file: FilledFile;
    before(async () => {
      file = await fillFile({ after: (end) => void ends.push(end as () => unknown) });
    });
    after(async () => {
      for (const end of ends) await end();
      await database.remove();
    });

    /** The command as a process of its own, with the password in its environment. */
    function start({ host, port, database: name, username, password = '' }: ServerSettings): Child {
      const url = `${database.name}://${username}@${host}:${port}/${name}?ssl-mode=disable`;
      const variable = `MONITOR_STORAGE_${database.name.toUpperCase()}_PASSWORD`;
      return new Child({
        command: process.execPath,
        args: [program, 'copy', '--from', `sqlite:${file.path}`, '--to', url],
        env: { NODE_OPTIONS: undefined, NODE_TEST_CONTEXT: undefined, [variable]: password },
      });
    }

    async function target(): Promise<{ readonly settings: ServerSettings; readonly store: Store }> {
      const settings = (await database.fresh()) as ServerSettings; // SQLite is left out above
      const store = openStore(settings, { clock: new TestClock(), log: new RecordingLogger() });
      ends.unshift(() => store.close());
      return { settings, store };
    }

    it('shows each table with its rows and checksums, and ends with 0', async () => {
      const { settings, store } = await target();
      const child = start(settings);
      assert.deepEqual(await child.ended(), { code: 0, signal: null }, child.output);
      assert.match(child.output, /^executions +2300 +2300 +([0-9a-f]{16}) +\1 +equal$/m);
      assert.match(child.output, /^cronjobs +199 +199 +([0-9a-f]{16}) +\1 +200 +200 +equal$/m);
      assert.match(child.output, /all \d+ tables are equal/);
      assert.equal((await getSchemaState(store)).state, 'ready');
      const again = start(settings);
      assert.equal((await again.ended()).code, 2);
      assert.match(again.output, /the target holds data/);
    });

    it('killed in the middle leaves a mark, and the next one finishes', async () => {
      const { settings, store } = await target();
      const killed = start(settings);
      await killed.ready(async () => assert.match(killed.output, /^cronjobs: 199 rows copied$/m));
      killed.signal('SIGKILL');
      await killed.ended();
      assert.equal((await getSchemaState(store)).state, 'tooNew', killed.output);
      const next = start(settings);
      assert.equal((await next.ended()).code, 0, next.output);
      assert.match(next.output, /left by an interrupted copy, cleared/);
      assert.equal((await getSchemaState(store)).state, 'ready');
    });

    it('that does not reach its target says so, and repeats no password', async () => {
      const { settings } = await target();
      const child = start({ ...settings, password: 'wr0ng' });
      assert.equal((await child.ended()).code, 2);
      assert.match(child.output, /cronjob-monitor copy: /);
      assert.doesNotMatch(child.output, /wr0ng/);
    });
  });
}

describe('the arguments of copy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-copy-'));
  const file = join(folder, 'a.db');
  writeFileSync(file, '');
  after(() => rmSync(folder, { recursive: true }));
  const from = ['--from', `sqlite:${file}`];

  for (const [title, argv, problem] of [
    ['no source', [], /copy from where\? Give --from sqlite:PATH/],
    ['another kind of source', ['--from', 'postgres://a@b/c'], /is no source; allowed: --from sqlite:PATH/],
    ['a file that is not there', ['--from', `sqlite:${folder}/none.db`], /there is no file .*none\.db/],
    ['no target', from, /copy to where\? Give --to URL, or --storage\.type; allowed: postgres, mysql/],
    ['a target that is a file', [...from, '--storage.type', 'sqlite'], /allowed: postgres, mysql/],
    [
      'a password in the URL',
      [...from, '--to', 'postgres://a:s3cret@b/c'],
      /put it into MONITOR_STORAGE_POSTGRES_PASSWORD/,
    ],
    ['a URL of something else', [...from, '--to', 'http://a@b/c'], /has the scheme http:/],
    ['a URL without a database', [...from, '--to', 'mysql://a@b'], /needs a user, a host and one database/],
    [
      'a mode of TLS that does not exist',
      [...from, '--to', 'mysql://a@b/c?ssl-mode=maybe'],
      /storage\.mysql\.ssl-mode = maybe/,
    ],
    ['a key without its server', [...from, '--storage.type=postgres'], /storage\.postgres\.host is required/],
    ['a flag that is no key', [...from, '--too', 'x'], /too \(flag --too\) is no key/],
  ] as const) {
    it(`refuse ${title}`, async () => {
      const { status, error, out } = await runCommand(['copy', ...argv]);
      assert.equal(status, 2);
      assert.match(error, problem);
      assert.doesNotMatch(error + out, /s3cret/);
    });
  }
});
