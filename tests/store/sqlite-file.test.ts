import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  findClusterState,
  migrate,
  openStore,
  projectCronJobs,
  putClusterState,
  takeEpoch,
  type Store,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { seen, someCronJob } from './facts.ts';
import { lockElsewhere } from './lock-elsewhere.ts';
import { readNumber, readRows } from './rows.ts';
import { TestClock } from './test-clock.ts';

describe('a SQLite file', { skip: process.env['DATABASES']?.includes('sqlite') === false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-sqlite-'));
  const stores: Store[] = [];
  let files = 0;
  const open = (path = join(folder, `${files++}.db`)): { store: Store; path: string; log: RecordingLogger } => {
    const log = new RecordingLogger();
    const store = openStore({ type: 'sqlite', path }, { clock: new TestClock(), log });
    stores.push(store);
    return { store, path, log };
  };
  const opened = async (): Promise<{ store: Store; path: string; log: RecordingLogger }> => {
    const made = open();
    await migrate(made.store, { version: 'test' });
    return made;
  };
  after(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is opened with the settings that keep every commit', async () => {
    const { store } = await opened();
    const pragma = async (name: string): Promise<unknown> =>
      Object.values((await readRows(store, `pragma ${name}`))[0] ?? {})[0];
    assert.equal(await pragma('journal_mode'), 'wal');
    assert.equal(await pragma('synchronous'), 2);
    assert.equal(await pragma('busy_timeout'), 5_000);
    assert.equal(await pragma('journal_size_limit'), 64 * 1024 * 1024);
  });

  it('is made for its account alone, with the files beside it, and one that is there keeps its mode', async () => {
    const modes = (path: string): number[] =>
      [path, `${path}-wal`, `${path}-shm`].map((one) => statSync(one).mode & 0o777);
    const { path } = await opened();
    assert.deepEqual(modes(path), [0o600, 0o600, 0o600]);
    const given = join(folder, 'given.db');
    writeFileSync(given, '');
    chmodSync(given, 0o660);
    await migrate(open(given).store, { version: 'test' });
    assert.deepEqual(modes(given), [0o660, 0o660, 0o660]);
  });

  it('without WAL is refused', async () => {
    // A database in memory knows no WAL and does not say so: as a file system that cannot do it.
    const { store, log } = open(':memory:');
    await assert.rejects(store.probe(), { code: 'refused', driverCode: 'journal_mode=memory' });
    assert.equal(log.lines[0]?.level, 'error');
  });

  it('that is none is refused, and a missing folder is waited for', async () => {
    const path = join(folder, 'text.db');
    writeFileSync(path, 'this is no database, however long it is made to be'.repeat(50));
    await assert.rejects(open(path).store.probe(), { code: 'refused' });
    await assert.rejects(open(join(folder, 'nowhere', 'x.db')).store.probe(), { code: 'unavailable' });
  });

  it('is locked for writing from the beginning of a transaction: its reads cannot become stale', async () => {
    const { store, path } = await opened();
    const other = open(path).store;
    await other.sql.raw('pragma busy_timeout = 0');
    await store.transaction(async (tx) => {
      await findClusterState(tx, 'startSkew');
      await assert.rejects(other.sql.raw('begin immediate'), { code: 'busy' });
      await putClusterState(tx, 'startSkew', 1);
    });
    assert.equal(await findClusterState(other, 'startSkew'), 1);
  });

  it('fences an older process by the epoch of a newer one', async () => {
    const { store, path } = await opened();
    const newer = open(path).store;
    const old = await takeEpoch(store, 'older');
    await takeEpoch(newer, 'newer');
    await assert.rejects(
      store.fenced(old, (tx) => putClusterState(tx, 'startSkew', 'older')),
      { code: 'fenced' },
    );
  });

  it('waits for another process that holds it', async () => {
    const { store, path } = await opened();
    const child = await lockElsewhere(path, 700);
    const started = performance.now();
    await store.transaction((tx) => putClusterState(tx, 'startSkew', 'after'));
    assert.ok(performance.now() - started > 300);
    await child.ended;
    assert.equal(await findClusterState(store, 'startSkew'), 'after');
  });

  it('begins anew when the wait was too short', async () => {
    const { path } = await opened();
    const child = await lockElsewhere(path, 200);
    const repeats: string[] = [];
    const deps = {
      clock: new TestClock(),
      log: new RecordingLogger(),
      onRepeat: (cause: string) => repeats.push(cause),
    };
    const patient = openStore({ type: 'sqlite', path }, deps);
    stores.push(patient);
    await patient.sql.raw('pragma busy_timeout = 60');
    await patient.transaction((tx) => putClusterState(tx, 'startSkew', 'anew'));
    await child.ended;
    assert.ok(repeats.length > 0 && repeats.every((cause) => cause === 'busy'));
  });

  it('that is full says so, keeps what it has, and takes more when there is room', async () => {
    const { store } = await opened();
    const pages = await readNumber(store, 'select page_count as n from pragma_page_count');
    await store.sql.raw(`pragma max_page_count = ${pages + 4}`);
    const many = Array.from({ length: 200 }, () => seen(someCronJob()));
    await assert.rejects(
      store.transaction((tx) => projectCronJobs(tx, many)),
      { code: 'full', driverCode: 'SQLITE_FULL' },
    );
    assert.equal(await readNumber(store, 'select count(*) as n from cronjobs'), 0);
    await store.sql.raw('pragma max_page_count = 100000');
    await store.transaction((tx) => projectCronJobs(tx, many));
    assert.equal(await readNumber(store, 'select count(*) as n from cronjobs'), 200);
  });

  it('lets the event loop turn between its statements', async () => {
    const { store } = await opened();
    const all = Array.from({ length: 3_000 }, () => seen(someCronJob()));
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    const started = performance.now();
    for (let i = 0; i < all.length; i += 100)
      await store.transaction((tx) => projectCronJobs(tx, all.slice(i, i + 100)));
    clearInterval(counting);
    const tookMs = performance.now() - started;
    assert.ok(turns > tookMs / 60, `${turns} turns in ${tookMs} ms`);
  });
});
