import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  findMaxConnections,
  migrate,
  openStore,
  recordRuns,
  takeEpoch,
  type ServerSettings,
  type Store,
  type StoreDeps,
  type StoreError,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { startFaultProxy, type FaultProxy } from '../servers/index.ts';
import { aRun, projected } from './facts.ts';
import { readNumber } from './rows.ts';
import { ownServers, type OwnServer } from './servers.ts';
import { shortLimits } from './suite.ts';
import { TestClock } from './test-clock.ts';

for (const kind of ownServers) {
  describe(`connections to ${kind.name}`, { skip: kind.skip }, () => {
    const clock = new TestClock();
    const stores: Store[] = [];
    let own: OwnServer;
    let proxy: FaultProxy;
    let epoch: number;
    const open = (settings: ServerSettings, deps: Partial<StoreDeps> = {}): { store: Store; log: RecordingLogger } => {
      const log = new RecordingLogger();
      const store = openStore(settings, { clock, log, ...deps });
      stores.push(store);
      return { store, log };
    };

    before(async () => {
      own = await kind.start();
      proxy = await startFaultProxy({ port: own.server.port });
      const { store } = open(own.settings());
      await migrate(store, { version: 'test' });
      epoch = await takeEpoch(store, 'suite');
    });
    after(async () => {
      for (const store of stores) await store.close();
      await proxy.close();
      await own.server.remove();
    });

    it('records a run once when the answer to COMMIT is lost', async () => {
      const { store: direct } = open(own.settings());
      const cronJob = await projected(direct, epoch);
      const repeats: string[] = [];
      const { store } = open(own.settings(proxy.port), { ...shortLimits, onRepeat: (cause) => repeats.push(cause) });
      await store.probe();
      let lost = 0;
      // The server gets the COMMIT; whatever it answers does not arrive, and the connection is gone.
      const committing = new Set<number>();
      proxy.inspect(({ direction, bytes, connection }) => {
        if (direction === 'toServer' && lost === 0 && bytes.includes('COMMIT')) committing.add(connection);
        if (direction === 'toClient' && committing.delete(connection)) {
          lost++;
          return 'cut';
        }
        return 'pass';
      });
      const run = aRun(cronJob);
      const result = await recordRuns(store, epoch, [run]);
      proxy.inspect(undefined);
      assert.equal(lost, 1);
      assert.deepEqual(repeats, ['unknownCommit']);
      assert.deepEqual(result.inserted, [run.jobUid]);
      assert.equal(
        await readNumber(direct, 'select count(*) as n from executions where cronjob_id = ?', [cronJob.id]),
        1,
      );
      assert.equal(await readNumber(direct, 'select success as n from rollups where cronjob_id = ?', [cronJob.id]), 1);
    });

    it('records a run once when COMMIT never arrived', async () => {
      const { store: direct } = open(own.settings());
      const cronJob = await projected(direct, epoch);
      const { store } = open(own.settings(proxy.port), shortLimits);
      await store.probe();
      let cut = 0;
      proxy.inspect(({ direction, bytes }) =>
        direction === 'toServer' && bytes.includes('COMMIT') && cut++ === 0 ? 'cut' : 'pass',
      );
      const run = aRun(cronJob);
      assert.deepEqual((await recordRuns(store, epoch, [run])).inserted, [run.jobUid]);
      proxy.inspect(undefined);
      assert.ok(cut > 0);
      assert.equal(await readNumber(direct, 'select success as n from rollups where cronjob_id = ?', [cronJob.id]), 1);
    });

    it('gives up on a server that does not answer, and does not use that connection again', async () => {
      const { store } = open(own.settings(proxy.port), {
        statementLimitMs: 300,
        limits: { lockMs: 1_000, idleInTransactionMs: 1_000 },
      });
      await store.probe();
      proxy.disturb('toClient', { drop: true });
      const started = performance.now();
      await assert.rejects(store.probe(), (error: StoreError) => ['timeout', 'unavailable'].includes(error.code));
      assert.ok(performance.now() - started < 3_500);
      proxy.disturb('toClient', {});
      await store.probe();
    });

    it('says that the database is away, and works again after a kill, without being told', async () => {
      const { store, log } = open(own.settings());
      await store.probe();
      await own.server.kill();
      await assert.rejects(store.probe(), { code: 'unavailable' });
      await assert.rejects(store.probe(), { code: 'unavailable' });
      await assert.rejects(
        store.transaction(async (tx) => tx.sql.raw('select 1')),
        { code: 'unavailable' },
      );
      await own.server.restart();
      await store.waitUntilReady(AbortSignal.timeout(10_000));
      const said = log.lines.map(({ level, message }) => `${level} ${message}`);
      // A server that starts says so: that is another reason, and a line of its own.
      const changes = said.filter((line, index) => line !== said[index - 1]);
      assert.deepEqual(changes, [
        'info The database is connected',
        'warn The database is not reachable',
        'info The database is connected',
      ]);
    });

    it('waits for a database that is not there yet, and logs one line', async () => {
      const late = await startFaultProxy({ port: own.server.port });
      late.accept(false);
      const { store, log } = open(own.settings(late.port));
      const ready = store.waitUntilReady(AbortSignal.timeout(20_000));
      await wait(2_500);
      assert.ok(late.total === 0);
      late.accept(true);
      await ready;
      assert.deepEqual(
        log.lines.map(({ message }) => message),
        ['The database is not reachable', 'The database is connected'],
      );
      await store.close();
      await late.close();
    });

    it('ends the wait when told to', async () => {
      const { store } = open(own.settings(1));
      await assert.rejects(store.waitUntilReady(AbortSignal.timeout(200)), { name: /TimeoutError|AbortError/ });
    });

    it('says that a person has to act when the password is wrong, and never says which it was', async () => {
      const { store, log } = open(own.settings(undefined, { password: 'hunter2' }));
      await assert.rejects(store.probe(), (error: StoreError) => {
        assert.equal(error.code, 'refused');
        assert.doesNotMatch(`${error.stack} ${JSON.stringify(log.lines)}`, /hunter2/);
        return true;
      });
      assert.equal(log.lines[0]?.level, 'error');
    });

    it('reads the password file anew for each connection', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-password-'));
      const passwordFile = join(folder, 'password');
      const { password, ...settings } = own.settings();
      const { store } = open({ ...settings, passwordFile });
      await assert.rejects(store.probe(), { code: 'refused', driverCode: 'ENOENT' });
      writeFileSync(passwordFile, 'wrong\n');
      await assert.rejects(store.probe(), { code: 'refused' });
      writeFileSync(passwordFile, `${password}\nsecond line\n`);
      await store.probe();
      rmSync(folder, { recursive: true });
    });

    it('measures how far the clock of the database is from ours', async () => {
      const behind = new TestClock();
      behind.offsetMs = -3_600_000;
      const { store } = open(own.settings(), { clock: behind });
      assert.equal(store.clockOffsetMs(), undefined);
      assert.ok(Math.abs(store.now() - behind.now()) < 5);
      await store.waitUntilReady(AbortSignal.timeout(5_000));
      assert.ok(Math.abs((store.clockOffsetMs() ?? 0) - 3_600_000) < 500);
      // It is set right: nothing has to be measured for that.
      const toldAt = store.now();
      behind.offsetMs = 0;
      assert.ok(Math.abs(store.clockOffsetMs() ?? NaN) < 500);
      assert.ok(Math.abs(store.now() - toldAt) < 500);
      assert.ok(Math.abs(store.now() - Date.now()) < 500);
    });

    it('tells how many connections the server takes', async () => {
      const { store } = open(own.settings());
      const most = await findMaxConnections(store);
      assert.ok(most !== undefined && most > 0 && most <= 60);
    });
  });
}
