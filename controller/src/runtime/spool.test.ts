import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { FakeClock, RecordingLogger, settle } from '@cronjob-monitor/shared/testing';

import { Circuit } from './circuit.ts';
import { Snapshots } from './snapshots.ts';
import { Spool, type SpoolDeps, type SpoolEntry } from './spool.ts';
import { Spooling } from './spooling.ts';

async function aFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'spool-'));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, 'made-at-need');
}

function aSpool(folder: string, changes: Partial<SpoolDeps> = {}) {
  const counts = { dropped: 0, unreadable: 0 };
  const onDropped = () => (counts.dropped += 1);
  const onUnreadable = () => (counts.unreadable += 1);
  return { spool: new Spool({ folder, onDropped, onUnreadable, ...changes }), counts };
}

async function all(spool: Spool): Promise<SpoolEntry[]> {
  const entries: SpoolEntry[] = [];
  for await (const entry of spool.readBack()) entries.push(entry);
  return entries;
}

test('what was appended is read back by the next process, in its order', async (t) => {
  const folder = await aFolder(t);
  const { spool } = aSpool(folder);
  await spool.append([{ uid: 'a', value: { n: 1 } }]);
  await spool.append([
    { uid: 'b', value: 'two\nlines' },
    { uid: 'a', value: { n: 2 } },
  ]);
  await spool.close();
  const { spool: next } = aSpool(folder);
  assert.deepEqual(await all(next), [
    { uid: 'a', value: { n: 1 } },
    { uid: 'b', value: 'two\nlines' },
    { uid: 'a', value: { n: 2 } },
  ]);
});

test('is on disk as soon as append resolves, readable by its owner alone', async (t) => {
  const folder = await aFolder(t);
  const { spool } = aSpool(folder);
  await spool.append([{ uid: 'a', value: 1 }]);
  const { spool: other } = aSpool(folder);
  assert.equal((await all(other)).length, 1);
  const [name] = await readdir(folder);
  const { mode } = await stat(join(folder, name ?? ''));
  assert.equal(mode & 0o077, 0);
  await spool.close();
});

test('every append is synced before it resolves, and so is the name of a new file', async (t) => {
  const folder = await aFolder(t);
  await mkdir(folder);
  const handle = await open(folder);
  const methods: unknown = Object.getPrototypeOf(handle);
  await handle.close();
  assert.ok(isSyncable(methods));
  const data = t.mock.method(methods, 'datasync');
  const names = t.mock.method(methods, 'sync');
  const { spool } = aSpool(folder);
  await spool.append([{ uid: 'a', value: 1 }]);
  await spool.append([{ uid: 'b', value: 2 }]);
  assert.equal(data.mock.callCount(), 2);
  assert.equal(names.mock.callCount(), 1);
  await spool.close();
});

function isSyncable(value: unknown): value is { datasync(): Promise<void>; sync(): Promise<void> } {
  return typeof value === 'object' && value !== null && 'datasync' in value && 'sync' in value;
}

test('nothing is left on disk when all is committed', async (t) => {
  const folder = await aFolder(t);
  const { spool } = aSpool(folder, { segmentBytes: 40 });
  for (const uid of ['a', 'b', 'c']) await spool.append([{ uid, value: 'x'.repeat(30) }]);
  assert.equal((await readdir(folder)).length, 3);
  await spool.remove(['a', 'c']);
  assert.equal((await readdir(folder)).length, 1);
  await spool.remove(['b', 'never-there']);
  assert.deepEqual(await readdir(folder), []);
  assert.equal(spool.bytes, 0);
  await spool.append([{ uid: 'd', value: 1 }]);
  assert.equal((await readdir(folder)).length, 1, 'it begins anew');
  await spool.close();
});

test('a newer line of an object frees the segment of the older one', async (t) => {
  const folder = await aFolder(t);
  const { spool } = aSpool(folder, { segmentBytes: 10 });
  await spool.append([{ uid: 'a', value: 'old' }]);
  await spool.append([{ uid: 'a', value: 'new' }]);
  await spool.close();
  assert.deepEqual(await all(aSpool(folder).spool), [{ uid: 'a', value: 'new' }]);
});

test('over its bound the oldest go first, and are counted', async (t) => {
  const folder = await aFolder(t);
  const { spool, counts } = aSpool(folder, { segmentBytes: 100, maxBytes: 500 });
  const value = 'x'.repeat(100);
  for (let n = 0; n < 10; n += 1) await spool.append([{ uid: `j${n}`, value }]);
  await spool.close();
  assert.ok(spool.bytes <= 500);
  const kept = (await all(aSpool(folder).spool)).map(({ uid }) => uid);
  assert.deepEqual(kept, ['j6', 'j7', 'j8', 'j9']);
  assert.equal(counts.dropped, 6);
});

test('a line cut by a crash is counted and skipped, the others are read; foreign files are left alone', async (t) => {
  const folder = await aFolder(t);
  const { spool } = aSpool(folder);
  await spool.append([{ uid: 'a', value: 1 }]);
  await spool.close();
  const [name] = await readdir(folder);
  await appendFile(join(folder, name ?? ''), '{"uid":"b","val');
  await writeFile(join(folder, 'notes.txt'), 'mine');
  const { spool: next, counts } = aSpool(folder);
  assert.deepEqual(await all(next), [{ uid: 'a', value: 1 }]);
  assert.equal(counts.unreadable, 1);
  await next.append([{ uid: 'c', value: 3 }]);
  assert.deepEqual((await readdir(folder)).sort(), ['ended-0000000001.jsonl', 'ended-0000000002.jsonl', 'notes.txt']);
  await next.remove(['a', 'c']);
  assert.deepEqual(await readdir(folder), ['notes.txt']);
});

interface Job {
  readonly uid: string;
  readonly outcome: string;
}

function isJob(value: unknown): value is Job {
  return typeof value === 'object' && value !== null && 'uid' in value && 'outcome' in value;
}

function aProcess(t: TestContext, folder: string) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const life = new AbortController();
  let isAway = false;
  const probe = async () => {
    if (isAway) throw new Error('away');
  };
  const circuit = new Circuit({ clock, logger, signal: life.signal, probe, random: () => 0 });
  const snapshots = new Snapshots<Job>({
    clock,
    uidOf: (job) => job.uid,
    next: (_known, arrived) => arrived,
    isEnded: (job) => job.outcome !== '',
    onDropped: () => {},
  });
  const { spool } = aSpool(folder);
  const spooling = new Spooling({
    snapshots,
    spool,
    circuit,
    logger,
    decode: (state) => (isJob(state) ? state : undefined),
  });
  const end = async () => {
    life.abort();
    await spooling.flushed();
    await spool.close();
    await settle();
  };
  t.after(end);
  return {
    clock,
    logger,
    snapshots,
    spooling,
    end,
    start: () => spooling.start(life.signal),
    lose: () => {
      isAway = true;
      circuit.trip(new Error('away'));
    },
    regain: async () => {
      isAway = false;
      await clock.advance(1_000);
    },
    put: (uid: string, outcome = 'success') => snapshots.put({ uid, outcome }),
    commit: (uid: string) => {
      const snapshot = snapshots.find(uid);
      return snapshot !== undefined && snapshots.forget(uid, snapshot);
    },
    files: () => readdir(folder).catch(() => []),
  };
}

test('an outage and a restart lose no ended run, and the commit clears the disk', async (t) => {
  const folder = await aFolder(t);
  const first = aProcess(t, folder);
  first.start();
  first.put('before');
  await first.spooling.flushed();
  assert.deepEqual(await first.files(), [], 'nothing is written while the database is there');
  first.lose();
  first.put('during');
  first.put('running', '');
  await first.spooling.flushed();
  await first.end();

  const second = aProcess(t, folder);
  assert.equal(await second.spooling.restore(), 2);
  second.start();
  assert.deepEqual(second.snapshots.uids().sort(), ['before', 'during']);
  second.commit('before');
  second.commit('during');
  await second.spooling.flushed();
  assert.deepEqual(await second.files(), []);
});

test('after the outage nothing more is written', async (t) => {
  const folder = await aFolder(t);
  const one = aProcess(t, folder);
  one.start();
  one.lose();
  one.put('a');
  await one.spooling.flushed();
  await one.regain();
  one.commit('a');
  one.put('b');
  await one.spooling.flushed();
  assert.deepEqual(await one.files(), []);
});

test('a restored snapshot keeps the instant at which it was seen', async (t) => {
  const folder = await aFolder(t);
  const first = aProcess(t, folder);
  first.start();
  first.lose();
  first.put('a');
  const seenAt = first.snapshots.find('a')?.seenAt;
  await first.end();
  const second = aProcess(t, folder);
  second.clock.stepWall(86_400_000);
  await second.spooling.restore();
  assert.equal(second.snapshots.find('a')?.seenAt, seenAt);
});

test('a folder that cannot be written is logged once, and everything else goes on', async (t) => {
  const folder = await aFolder(t);
  await writeFile(folder, 'a file stands where the folder should be');
  const one = aProcess(t, folder);
  assert.equal(await one.spooling.restore(), 0);
  one.start();
  one.lose();
  one.put('a');
  await one.spooling.flushed();
  one.put('b');
  await one.spooling.flushed();
  const errors = one.logger.lines.filter(({ message }) => message.startsWith('the spool'));
  assert.deepEqual(
    errors.map(({ message }) => message),
    ['the spool cannot be read', 'the spool cannot be written'],
  );
  assert.equal(one.snapshots.endedCount, 2);
});
