import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMysqlError } from './dialect/mysql.ts';
import { toPostgresError } from './dialect/postgres.ts';
import type { ServerSettings } from './settings.ts';
import { PoolBusyError, StoreError } from './store-error.ts';
import { fileTrouble, serverTrouble } from './trouble.ts';

const settings: ServerSettings = {
  type: 'postgres',
  host: 'db.prod',
  port: 5433,
  database: 'watch',
  username: 'ana',
  password: 'hidden',
  sslMode: 'require',
  pool: { maxIdleConns: 1, maxOpenConns: 5, connMaxIdleTimeMs: 0, connMaxLifetimeMs: 0 },
};

/** What the driver throws, and what has to be changed. */
const refusals: readonly (readonly [string, StoreError, RegExp])[] = [
  ['a wrong password', toPostgresError({ code: '28P01' }), /password.*storage\.postgres\.password/],
  ['no such database', toPostgresError({ code: '3D000' }), /has no database.*storage\.postgres\.database/],
  ['too many connections', toPostgresError({ code: '53300' }), /no more connections.*pool\.max-open-conns/],
  [
    'no TLS',
    toPostgresError({ message: 'The server does not support SSL connections' }),
    /offers no TLS.*storage\.postgres\.ssl-mode/,
  ],
  ['a closed port', toPostgresError({ code: 'ECONNREFUSED' }), /nothing listens.*storage\.postgres\.port/],
  ['an unknown host', toPostgresError({ code: 'ENOTFOUND' }), /not known.*storage\.postgres\.host/],
  ['an account that is not let in', toPostgresError({ code: '28000' }), /does not let.*pg_hba/],
  ['a server that takes no writes', toPostgresError({ code: '25006' }), /takes no writes.*\(25006\)/],
  [
    'a pool of which all connections are in use',
    new PoolBusyError(5, 'storage.postgres.pool.max-open-conns'),
    /all 5 connections of this process.*storage\.postgres\.pool\.max-open-conns/,
  ],
  ['anything else', toPostgresError({ code: '57P03' }), /does not answer.*\(57P03\)/],
];

for (const [title, error, expected] of refusals) {
  test(`${title}: says host, port, database, account and what to change`, () => {
    const sentence = serverTrouble(settings, error);
    assert.match(sentence, expected);
    for (const part of ['db.prod:5433', '"watch"', '"ana"']) assert.ok(sentence.includes(part), sentence);
    assert.ok(!sentence.includes('hidden') && !sentence.endsWith('.'));
  });
}

test('MariaDB has numbers of its own for the same', () => {
  const of = (code: string, errno: number) =>
    serverTrouble({ ...settings, type: 'mysql' }, toMysqlError({ code, errno }));
  assert.match(of('ER_ACCESS_DENIED_ERROR', 1045), /password.*storage\.mysql\.password/);
  assert.match(of('ER_BAD_DB_ERROR', 1049), /has no database/);
  assert.match(of('ER_DBACCESS_DENIED_ERROR', 1044), /has no database.*may not use it/);
  assert.match(of('ER_CON_COUNT_ERROR', 1040), /no more connections/);
  assert.match(of('ER_USER_LIMIT_REACHED', 1226), /no more connections/);
  assert.match(of('HANDSHAKE_NO_SSL_SUPPORT', 0), /offers no TLS.*storage\.mysql\.ssl-mode/);
});

test('a database file: full, read-only, or refused by something else', () => {
  const full = new StoreError('full', 'no room', { driverCode: 'SQLITE_FULL' });
  const at = (freeBytes: number, isReadOnly?: 'volume' | 'file') =>
    fileTrouble('/d/f.db', full, { freeBytes, isReadOnly });
  assert.equal(at(0), 'the volume of /d/f.db is full (0 MB free): make room on it, or enlarge it');
  assert.match(at(5e6, 'volume'), /^the volume of \/d\/f\.db is read-only \(4 MB free\)/);
  assert.match(at(5e6, 'file'), /^the file \/d\/f\.db is read-only/);
  assert.match(at(5e6), /takes no writes \(SQLITE_FULL\) although its volume has room \(4 MB free\)/);
});
