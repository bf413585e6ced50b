import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openStore, sslModes, type ServerSettings, type SslMode } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import {
  makeAuthority,
  makeSelfSigned,
  startMariadb,
  startPostgres,
  whyNoMariadb,
  type Authority,
  type KeyPair,
} from '../servers/index.ts';
import { TestClock } from './test-clock.ts';

interface Server {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  restart(options: { readonly tls: KeyPair | undefined }): Promise<void>;
  remove(): Promise<void>;
}

/** Which certificate a server has, and what each mode makes of it: undefined = connected, else the error. */
interface Case {
  readonly server: string;
  readonly certificate: (authority: Authority) => Promise<KeyPair | undefined>;
  readonly host: string;
  readonly expected: Readonly<Record<SslMode, string | undefined>>;
}

const cases: readonly Case[] = [
  {
    server: 'with a good certificate',
    certificate: (authority) => authority.issue(['localhost', '127.0.0.1']),
    host: 'localhost',
    expected: { disable: undefined, require: undefined, 'verify-ca': undefined, 'verify-full': undefined },
  },
  {
    server: 'with a good certificate, reached by its address',
    certificate: (authority) => authority.issue(['127.0.0.1']),
    host: '127.0.0.1',
    expected: { disable: undefined, require: undefined, 'verify-ca': undefined, 'verify-full': undefined },
  },
  {
    server: 'with a self-signed certificate',
    certificate: async () => makeSelfSigned(['localhost']),
    host: 'localhost',
    expected: { disable: undefined, require: undefined, 'verify-ca': 'refused', 'verify-full': 'refused' },
  },
  {
    server: 'with a certificate for another host',
    certificate: (authority) => authority.issue(['db.example.org']),
    host: 'localhost',
    expected: { disable: undefined, require: undefined, 'verify-ca': undefined, 'verify-full': 'refused' },
  },
  {
    server: 'with a certificate for another name, reached by its address',
    certificate: (authority) => authority.issue(['localhost']),
    host: '127.0.0.1',
    expected: { disable: undefined, require: undefined, 'verify-ca': undefined, 'verify-full': 'refused' },
  },
  {
    server: 'without TLS',
    certificate: async () => undefined,
    host: 'localhost',
    expected: { disable: undefined, require: 'refused', 'verify-ca': 'refused', 'verify-full': 'refused' },
  },
];

const wanted = process.env['DATABASES']?.split(',');
const databases = [
  { name: 'postgres', database: 'postgres', start: startPostgres, skip: undefined },
  { name: 'mysql', database: 'mysql', start: startMariadb, skip: whyNoMariadb() },
] as const;

for (const { name, database, start, skip } of databases) {
  const reason = wanted !== undefined && !wanted.includes(name) ? 'DATABASES leaves it out' : skip;
  describe(`ssl-mode of ${name}`, { skip: reason ?? false }, () => {
    let authority: Authority;
    let started: Server;
    const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-tls-'));
    const caFile = join(folder, 'ca.pem');
    before(async () => {
      authority = await makeAuthority();
      writeFileSync(caFile, authority.certificate);
      started = await start();
    });
    after(async () => {
      await started.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    for (const { server, certificate, host, expected } of cases) {
      it(`judges a server ${server}`, async () => {
        await started.restart({ tls: await certificate(authority) });
        for (const sslMode of sslModes) {
          const outcome = await connect({ ...settingsOf(started, name, database), host, sslMode, sslCaFile: caFile });
          assert.equal(outcome.code, expected[sslMode], `${sslMode}: ${outcome.message}`);
          const shouldEncrypt = outcome.code === undefined && sslMode !== 'disable';
          assert.equal(outcome.encrypted, shouldEncrypt, sslMode);
        }
      });
    }
  });
}

function settingsOf(
  server: Server,
  type: ServerSettings['type'],
  database: string,
): Omit<ServerSettings, 'host' | 'sslMode'> {
  const { port, username, password } = server;
  const pool = { maxIdleConns: 1, maxOpenConns: 2, connMaxLifetimeMs: 0, connMaxIdleTimeMs: 0 };
  return { type, port, username, password, database, pool };
}

async function connect(settings: ServerSettings): Promise<{ code?: string; message: string; encrypted: boolean }> {
  const store = openStore(settings, { clock: new TestClock(), log: new RecordingLogger() });
  try {
    await store.probe();
    return { message: 'connected', encrypted: await isEncrypted(store) };
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message, encrypted: false };
  } finally {
    await store.close();
  }
}

async function isEncrypted(store: ReturnType<typeof openStore>): Promise<boolean> {
  const question =
    store.dialect.name === 'postgres'
      ? 'select ssl as cipher from pg_stat_ssl where pid = pg_backend_pid()'
      : `select variable_value as cipher from information_schema.session_status where variable_name = 'Ssl_cipher'`;
  const [row] = store.dialect.rowsOf(await store.sql.raw(question));
  const cipher = row?.['cipher'];
  return cipher === true || (typeof cipher === 'string' && cipher !== '');
}
