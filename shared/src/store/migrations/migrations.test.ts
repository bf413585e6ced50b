import assert from 'node:assert/strict';
import test from 'node:test';
import { dialects } from '../dialect/index.ts';
import { migrations, oldestUsableSchema, schemaNumber } from './index.ts';
import { checksumOf } from './migration.ts';
import { runTables, catalogTables, serviceTables } from './tables-of-runs.ts';
import { alertTables } from './tables-of-alerts.ts';

/** What databases in the field were made with. A line is added with its migration and never changes. */
const released: Readonly<Record<string, readonly string[]>> = {
  sqlite: [
    '36eab25691ddf5fce35666f83503166f',
    '09fa9b3027a8e2343b55b7bd03bb477d',
    '101e2165c1dc09c61bac40ef8cbbe702',
    'f0a551e56f5bc9c27d614dfa5cf803ae',
    '696c9f1681f7e719ba35216f683b7acd',
    'a8f1573df454db69271f73511ea08473',
    '69033ab507b743c4e7797c9df646dabe',
    '0595d03971bdaed340ace70fef63490a',
    '79e3ec99de7e8a96bb0c0cd3f6e33040',
    'ea1e12fed10be862a93e1e0d50a106c3',
    '58cd0b40a3075c1ed227bedbc61173f3',
    'da1bd7a2568d44121cbb5ce6611177e5',
    '9d4a402f2665947f0625ee5da040315e',
  ],
  postgres: [
    '3940994370f3b31a47d7cc715ea1a6ec',
    'af98a57109d0f5c617d92c4b704bcfe5',
    '101e2165c1dc09c61bac40ef8cbbe702',
    'a7ac83bde0fa703589a7ef54a37b62a5',
    '696c9f1681f7e719ba35216f683b7acd',
    'e942e70723971aa9d115184f6db12fe5',
    '4b1264a9a5c31aaadffc375d4c0a10da',
    '18c7fc54b95b24a538246a0a10b9f760',
    'd0a9dc9ab2bc4aded8bd9f1ba2e6bd28',
    '570218e52f82614c7f77be89f5e36e67',
    '8d7eee378bc78376cbf0f492c2a5b8ee',
    'a1e15ad9205d44dbb50f41245548f046',
    '49ebb184a52e8ee1cbf2191c3efd4d5d',
  ],
  mysql: [
    'c01de5720772215762df85e18e4f432b',
    'b1f2bbf2f6dd339fdb913c9662ee3243',
    '902fef1a2bb3b07a77fc953eca447f84',
    '1263acc50114aa74f8ea90943583c647',
    '65ea0b7ccf5f8c64fcb62d918f6318d1',
    'f88615bfbcf7598bb4c77ab06a81dd02',
    '2b587b85acd822748d3e8498a28650a9',
    '563ed1c36c6d3d52e144c8ca7228032b',
    '731aed967a96674babf3cfc788bcb631',
    '143e266009e73f48aef262375595ebe7',
    '1588642b4117f3f90101552bc48be74a',
    '31e925162834db772bc2e15224506f9d',
    'e43884fa272db0d5910f72b5f1c16fa5',
  ],
};

test('migrations are numbered without a gap and none was edited', () => {
  assert.deepEqual(
    migrations.map(({ version }) => version),
    migrations.map((_, i) => i + 1),
  );
  for (const [name, dialect] of Object.entries(dialects)) {
    assert.deepEqual(
      migrations.map((migration) => checksumOf(migration, dialect)),
      released[name],
      `a released migration differs on ${name}: add a new one instead`,
    );
  }
});

test('this program can use the schema it makes, and no step shuts out a program it did not have to', () => {
  assert.ok(oldestUsableSchema <= schemaNumber);
  for (const { version, readableFrom } of migrations) assert.ok(readableFrom <= version);
});

test('no step has two names alike, since the journal knows them by name', () => {
  for (const { steps } of migrations) assert.equal(new Set(steps.map(({ name }) => name)).size, steps.length);
});

test('instants are bigint, and nothing is a timestamp, a JSON, an enum, a boolean or a foreign key', () => {
  for (const table of [...catalogTables, ...runTables, ...serviceTables, ...alertTables]) {
    for (const [name, { type }] of Object.entries(table.columns)) {
      if (/(^|_)at$|_until$/.test(name)) assert.equal(type, 'bigint', `${table.name}.${name}`);
    }
  }
  for (const dialect of Object.values(dialects)) {
    const sql = migrations.flatMap(({ steps }) => steps.flatMap((step) => step.statements(dialect))).join('\n');
    assert.doesNotMatch(
      sql,
      /\b(timestamp|datetime|json|jsonb|enum|boolean|references|trigger \w+ (before|after)|procedure)\b/i,
    );
  }
});
