import assert from 'node:assert/strict';
import test from 'node:test';
import { toMysqlError } from './dialect/mysql.ts';
import { toPostgresError } from './dialect/postgres.ts';
import { toSqliteError } from './dialect/sqlite.ts';
import { StoreError } from './store-error.ts';

const thrown = (message: string, facts: object): Error => Object.assign(new Error(message), facts);

test('a message cannot be changed afterwards, as the query builder would with SQL and values', () => {
  const error = new StoreError('conflict', 'the database refused the row', {
    driverCode: '23505',
    constraint: 'c',
    table: 't',
  });
  error.message = `insert into t values ('secret') - ${error.message}`;
  assert.equal(error.message, 'the database refused the row (code 23505, constraint c, table t)');
  assert.equal(error.code, 'conflict');
});

test('errors of PostgreSQL become our words', () => {
  const rows: [string, string, boolean][] = [
    ['40001', 'busy', true],
    ['40P01', 'busy', true],
    ['55P03', 'busy', true],
    ['57014', 'timeout', false],
    ['57P01', 'unavailable', false],
    ['57P03', 'unavailable', false],
    ['08006', 'unavailable', false],
    ['25P03', 'unavailable', false],
    ['53300', 'unavailable', false],
    ['53100', 'full', false],
    ['25006', 'full', false],
    ['28P01', 'refused', false],
    ['3D000', 'refused', false],
    ['23505', 'conflict', false],
    ['22021', 'conflict', false],
    ['42P01', 'schema', false],
    ['42601', 'internal', false],
    ['XX000', 'internal', false],
  ];
  for (const [code, word, retryable] of rows) {
    const error = toPostgresError(
      thrown(`duplicate key value 'secret'`, { code, constraint: 'leader_pkey', table: 'leader' }),
    );
    assert.deepEqual(
      [error.code, error.retryable, error.driverCode, error.constraint],
      [word, retryable, code, 'leader_pkey'],
      code,
    );
    assert.doesNotMatch(error.message, /secret/);
  }
  assert.equal(toPostgresError(new Error('Connection terminated unexpectedly')).code, 'unavailable');
  assert.equal(toPostgresError(new Error('The server does not support SSL connections')).driverCode, 'NO_TLS');
});

test('errors of MySQL and MariaDB become our words', () => {
  const rows: [number, string, string, boolean][] = [
    [1213, 'ER_LOCK_DEADLOCK', 'busy', true],
    [1205, 'ER_LOCK_WAIT_TIMEOUT', 'busy', true],
    [1969, 'ER_STATEMENT_TIMEOUT', 'timeout', false],
    [3024, 'ER_QUERY_TIMEOUT', 'timeout', false],
    [1040, 'ER_CON_COUNT_ERROR', 'unavailable', false],
    [1927, 'ER_CONNECTION_KILLED', 'unavailable', false],
    [1045, 'ER_ACCESS_DENIED_ERROR', 'refused', false],
    [1049, 'ER_BAD_DB_ERROR', 'refused', false],
    [1114, 'ER_RECORD_FILE_FULL', 'full', false],
    [1146, 'ER_NO_SUCH_TABLE', 'schema', false],
    [1406, 'ER_DATA_TOO_LONG', 'conflict', false],
    [1064, 'ER_PARSE_ERROR', 'internal', false],
  ];
  for (const [errno, code, word, retryable] of rows) {
    const error = toMysqlError(thrown('secret', { errno, code }));
    assert.deepEqual([error.code, error.retryable, error.driverCode], [word, retryable, code], code);
    assert.doesNotMatch(error.message, /secret/);
  }
  for (const key of ['executions_job_uid', 'executions.executions_job_uid']) {
    const duplicate = thrown(`Duplicate entry 'secret' for key '${key}'`, { errno: 1062, code: 'ER_DUP_ENTRY' });
    assert.equal(toMysqlError(duplicate).constraint, 'executions_job_uid');
  }
  assert.equal(toMysqlError(thrown('x', { code: 'PROTOCOL_CONNECTION_LOST' })).code, 'unavailable');
  assert.equal(toMysqlError(thrown('x', { code: 'HANDSHAKE_NO_SSL_SUPPORT' })).driverCode, 'NO_TLS');
});

test('errors of SQLite become our words', () => {
  const rows: [string, string, string, boolean][] = [
    ['SQLITE_BUSY', 'database is locked', 'busy', true],
    ['SQLITE_BUSY_SNAPSHOT', 'database is locked', 'busy', true],
    ['SQLITE_LOCKED', 'database table is locked', 'busy', true],
    ['SQLITE_FULL', 'database or disk is full', 'full', false],
    ['SQLITE_READONLY_DBMOVED', 'attempt to write', 'full', false],
    ['SQLITE_IOERR_WRITE', 'disk I/O error', 'full', false],
    ['SQLITE_IOERR_READ', 'disk I/O error', 'unavailable', false],
    ['SQLITE_CANTOPEN', 'unable to open database file', 'unavailable', false],
    ['SQLITE_CORRUPT', 'malformed', 'refused', false],
    ['SQLITE_NOTADB', 'file is not a database', 'refused', false],
    ['SQLITE_ERROR', 'no such table: executions', 'schema', false],
    ['SQLITE_ERROR', 'near "from": syntax error', 'internal', false],
  ];
  for (const [code, message, word, retryable] of rows) {
    const error = toSqliteError(thrown(message, { code }));
    assert.deepEqual([error.code, error.retryable], [word, retryable], `${code} ${message}`);
  }
  const duplicate = toSqliteError(
    thrown('UNIQUE constraint failed: executions.job_uid', { code: 'SQLITE_CONSTRAINT_UNIQUE' }),
  );
  assert.deepEqual(
    [duplicate.code, duplicate.constraint, duplicate.table],
    ['conflict', 'executions.job_uid', 'executions'],
  );
});

test('a pool without a free connection: a server is out of reach, a file is busy with a lock', () => {
  const late = thrown('x', { name: 'KnexTimeoutError' });
  assert.deepEqual(
    [toPostgresError, toMysqlError, toSqliteError].map((toError) => toError(late).code),
    ['unavailable', 'unavailable', 'busy'],
  );
});

test('what the network does is the same everywhere', () => {
  for (const toError of [toPostgresError, toMysqlError, toSqliteError]) {
    assert.equal(toError(thrown('connect', { code: 'ECONNREFUSED' })).code, 'unavailable');
    assert.equal(toError(thrown('read', { code: 'ECONNRESET' })).code, 'unavailable');
    assert.equal(toError(thrown('getaddrinfo', { code: 'ENOTFOUND' })).code, 'unavailable');
    assert.equal(toError(thrown('x', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })).code, 'refused');
    assert.equal(toError(thrown('x', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })).code, 'refused');
    assert.equal(toError(thrown('x', { name: 'KnexTimeoutError' })).driverCode, 'POOL_TIMEOUT');
    assert.equal(toError('nonsense').code, 'internal');
    const known = new StoreError('full', 'x');
    assert.equal(toError(known), known);
  }
});
