import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { ServerSettings } from '@cronjob-monitor/shared/store';
import { startBench, type Bench } from '../../faults/harness/bench.ts';
import { findFreePort, runOnMysql, runOnPostgres, type MonitorProcess } from '../../servers/index.ts';
import { testDatabases } from '../../store/databases.ts';
import { builtUi, startBrowser, whyNoBrowser } from '../ui/fixtures/browser.ts';
import { askHealth, untilShownAs } from './told.ts';

/** A process of ours begins to answer within it, on a machine that has other things to do. */
const startMs = 90_000;

/** That a server takes: fewer than one process uses here. */
const fewConnections = 20;

interface Refusal {
  readonly change: (settings: ServerSettings) => Partial<ServerSettings> | Promise<Partial<ServerSettings>>;
  /** What is wrong, and the key to change; `KEY` is the beginning of the keys. */
  readonly said: RegExp;
}

const refusals: Readonly<Record<string, Refusal>> = {
  'a wrong password': {
    change: () => ({ password: 'not-this-one' }),
    said: /refuses the password of account .*: correct storage\.\w+\.password/,
  },
  'an unknown database': {
    change: () => ({ database: 'no_such_database' }),
    said: /has no database .*: create it.*, or correct storage\.\w+\.database/,
  },
  'a server without TLS': {
    change: () => ({ sslMode: 'require' }),
    said: /offers no TLS .*set storage\.\w+\.ssl-mode to disable/,
  },
  'a closed port': {
    change: async () => ({ port: await findFreePort() }),
    said: /^nothing listens at .* correct storage\.\w+\.host and storage\.\w+\.port/,
  },
};

for (const database of testDatabases().filter(({ name }) => name !== 'sqlite')) {
  describe(`a database that refuses, ${database.name}`, { skip: database.skip ?? false }, () => {
    let bench: Bench;
    let settings: ServerSettings;
    /** Undefined: there is none here. */
    let browser: Browser | undefined;
    before(async () => {
      if (whyNoBrowser() === undefined) {
        await builtUi();
        browser = await startBrowser();
      }
      settings = (await database.fresh()) as ServerSettings;
      bench = await startBench({ controllers: false });
    });
    after(async () => {
      await browser?.close();
      await bench.close();
      await database.remove();
    });

    const prepare = (storage: ServerSettings) =>
      bench.prepare({
        entryPoint: 'standalone',
        storage,
        config: { [`storage.${storage.type}.ssl-mode`]: storage.sslMode },
      });

    for (const [title, { change, said }] of Object.entries(refusals)) {
      test(`${title}: readiness, health, the log and the page say one sentence with the place and the key`, async () => {
        const storage = { ...settings, ...(await change(settings)) };
        const service = await prepare(storage);
        service.start();
        const { problem } = await untilTold(service, said, storage);
        if (browser) await untilShownAs(browser, service, problem);
        assert.ok(!JSON.stringify(service.log).includes('not-this-one'));
        await service.end();
      });
    }

    test('too many connections: the same, and it begins when there is one', async () => {
      const account = await limitedAccount(settings);
      const service = await prepare(account.storage);
      service.start();
      const said = /takes no more connections .*lower storage\.\w+\.pool\.max-open-conns/;
      const { problem } = await untilTold(service, said, account.storage);
      if (browser) await untilShownAs(browser, service, problem);
      // Of PostgreSQL a restart alone changes it.
      const isSmall = settings.type === 'mysql';
      if (isSmall) await runOnMysql(rootOf(settings), `set global max_connections = ${fewConnections}`);
      await account.allow();
      await service.untilReady();
      if (isSmall)
        await service.until('it warns that the server takes fewer connections than its pool may open', () =>
          service
            .said('the database server takes fewer connections than the replicas use')
            .some(({ serverLimit, used }) => serverLimit === fewConnections && Number(used) > fewConnections),
        );
      await service.end();
      if (isSmall) await runOnMysql(rootOf(settings), 'set global max_connections = default');
    });
  });
}

async function untilTold(service: MonitorProcess, said: RegExp, { host, port, database, username }: ServerSettings) {
  let told: Awaited<ReturnType<MonitorProcess['readiness']>> | undefined;
  const isAll = (sentence: string): boolean =>
    said.test(sentence) &&
    [`${host}:${port}`, `"${database}"`, `"${username}"`].every((part) => sentence.includes(part));
  await service.until(
    () => `it is told: ${JSON.stringify(told)}`,
    async () => {
      told = await service.readiness();
      return told.status === 503 && told.body.split('\n').some(isAll);
    },
    startMs,
  );
  await service.until('the log says so', () =>
    service.said('the service is not ready').some(({ problem }) => isAll(String(problem))),
  );
  const { status, health } = await askHealth(service);
  assert.equal(status, 503);
  assert.deepEqual([health.status, health.storage, health.ready], ['unhealthy', 'unreachable', false]);
  const [problem = ''] = health.problems;
  assert.ok(isAll(problem), health.problems.join('\n'));
  const up = await service.metric('cronjob_monitor_db_up');
  assert.deepEqual([up, await service.metric('cronjob_monitor_symptom', { cause: 'databaseAway' })], [0, 2]);
  return { problem };
}

/** An account that the server gives no connection to, until it is allowed some. */
async function limitedAccount(settings: ServerSettings) {
  const { database } = settings;
  const root = rootOf(settings);
  const storage: ServerSettings = { ...settings, username: 'limited', password: 'limited' };
  if (settings.type === 'postgres') {
    await runOnPostgres(
      root,
      `create role limited login password 'limited' connection limit 0`,
      `alter database ${database} owner to limited`,
    );
    return { storage, allow: () => runOnPostgres(root, 'alter role limited connection limit -1') };
  }
  // One connection, which another client has.
  await runOnMysql(
    root,
    `create user limited@'%' identified by 'limited' with max_user_connections 1`,
    `grant all on ${database}.* to limited@'%'`,
  );
  const taken = runOnMysql({ ...root, username: 'limited', password: 'limited' }, 'do sleep(60)').catch(() => {});
  return {
    storage,
    allow: async () => {
      await runOnMysql(root, `alter user limited@'%' with max_user_connections 0`, `kill user limited@'%'`);
      await taken;
    },
  };
}

function rootOf({ host, port, username, password = '', database }: ServerSettings) {
  return { host, port, username, password, database };
}
