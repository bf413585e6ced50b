import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  aTemporaryFolder,
  aTestCertificate,
  FakeClock,
  kubeconfigText,
  RecordingLogger,
  TestServer,
  until,
  type KubeconfigContent,
  type TestCertificate,
} from '../testing/index.ts';
import { createCluster, type ClusterOptions } from './client.ts';

const never = new AbortController().signal;

interface Started {
  readonly folder: string;
  /** Writes a file of the folder and returns its path. */
  readonly write: (name: string, text: string) => string;
  readonly server: TestServer;
  readonly clock: FakeClock;
  readonly logger: RecordingLogger;
  /** A cluster by these files, closed at the end of the test. */
  readonly connect: (kubeconfig: string, options?: Partial<ClusterOptions>) => ReturnType<typeof createCluster>;
  /** Header of the newest request. */
  readonly sent: (name: string) => string | string[] | undefined;
}

async function start(t: TestContext, tls?: TestCertificate, clientAuthority?: string): Promise<Started> {
  const folder = aTemporaryFolder(t);
  const server = await TestServer.start(tls, clientAuthority);
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const clusters: ReturnType<typeof createCluster>[] = [];
  t.after(async () => {
    await Promise.all(clusters.map((cluster) => cluster.close()));
    await server.stop();
  });
  return {
    folder,
    write(name, text) {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    },
    server,
    clock,
    logger,
    connect(kubeconfig, options) {
      const cluster = createCluster({ kubeconfig, clock, logger, ...options });
      clusters.push(cluster);
      return cluster;
    },
    sent: (name) => server.requests.at(-1)?.headers[name],
  };
}

/** [what the user of the kubeconfig has, that user, the header that the server sees] */
const users: [string, KubeconfigContent['user'], string, string | undefined][] = [
  ['a token', { token: 'abc' }, 'authorization', 'Bearer abc'],
  [
    'a password',
    { username: 'bob', password: 'pw' },
    'authorization',
    `Basic ${Buffer.from('bob:pw').toString('base64')}`,
  ],
  ['nothing', {}, 'authorization', undefined],
  ['another identity', { token: 'abc', as: 'jane' }, 'impersonate-user', 'jane'],
];

for (const [title, user, header, value] of users) {
  test(`a user with ${title} is sent as such`, async (t) => {
    const { write, server, connect, sent } = await start(t);
    await connect(write('config', kubeconfigText({ server: server.url, ...(user ? { user } : {}) }))).version(never);
    assert.equal(sent(header), value);
  });
}

test('a token file is read again after a minute, not before', async (t) => {
  const { write, server, clock, connect, sent } = await start(t);
  write('token', 'first\n');
  const cluster = connect(write('config', kubeconfigText({ server: server.url, user: { tokenFile: 'token' } })));
  await cluster.version(never);
  assert.equal(sent('authorization'), 'Bearer first');
  write('token', 'second\n');
  await clock.advance(59_000);
  await cluster.version(never);
  assert.equal(sent('authorization'), 'Bearer first');
  await clock.advance(1000);
  await cluster.version(never);
  assert.equal(sent('authorization'), 'Bearer second');
});

test('a refused token is read again for the next call', async (t) => {
  const { write, server, connect, sent } = await start(t);
  server.answer = ({ headers }) => ({ status: headers['authorization'] === 'Bearer new' ? 200 : 401, body: {} });
  write('token', 'old');
  const cluster = connect(write('config', kubeconfigText({ server: server.url, user: { tokenFile: 'token' } })));
  await assert.rejects(cluster.version(never), { code: 'unauthorized' });
  write('token', 'new');
  await cluster.version(never);
  assert.equal(sent('authorization'), 'Bearer new');
});

test('credentials are read again when asked for', async (t) => {
  const { write, server, connect, sent } = await start(t);
  const rewrite = (token: string) => write('config', kubeconfigText({ server: server.url, user: { token } }));
  const cluster = connect(rewrite('old'));
  await cluster.version(never);
  rewrite('new');
  await cluster.version(never);
  assert.equal(sent('authorization'), 'Bearer old');
  cluster.reloadCredentials();
  await cluster.version(never);
  assert.equal(sent('authorization'), 'Bearer new');
});

test('a kubeconfig that can no longer be read leaves what was read before in force', async (t) => {
  const { write, server, logger, connect, sent } = await start(t);
  const cluster = connect(write('config', kubeconfigText({ server: server.url })));
  write('config', '{');
  cluster.reloadCredentials();
  await cluster.version(never);
  assert.equal(sent('authorization'), 'Bearer secret');
  assert.deepEqual(
    logger.lines.map(({ level }) => level),
    ['warn'],
  );
});

test('a token file that is missing is no credentials, until it is there', async (t) => {
  const { write, server, connect } = await start(t);
  const cluster = connect(write('config', kubeconfigText({ server: server.url, user: { tokenFile: 'token' } })));
  await assert.rejects(cluster.version(never), {
    code: 'unauthorized',
    message: 'get version: no credentials (ENOENT)',
  });
  write('token', 'x');
  await cluster.version(never);
});

test('a credential plugin runs once for calls that come together, and its words are never told', async (t) => {
  const { folder, write, server, connect, sent } = await start(t);
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'from-plugin' },
  };
  const script = `require('node:fs').appendFileSync(${JSON.stringify(`${folder}/runs`)}, 'x'); console.log(${JSON.stringify(JSON.stringify(credential))})`;
  const exec = (code: string) => ({
    exec: { apiVersion: credential.apiVersion, command: process.execPath, args: ['-e', code] },
  });
  const cluster = connect(write('config', kubeconfigText({ server: server.url, user: exec(script) })));
  await Promise.all([cluster.version(never), cluster.version(never), cluster.version(never)]);
  assert.equal(sent('authorization'), 'Bearer from-plugin');
  assert.equal(readFileSync(`${folder}/runs`, 'utf8'), 'x');

  const failing = connect(
    write('failing', kubeconfigText({ server: server.url, user: exec('console.error("hunter2"); process.exit(1)') })),
  );
  await assert.rejects(failing.version(never), { code: 'unauthorized', message: 'get version: no credentials' });
});

test('a client certificate is shown, and a new one makes new connections', async (t) => {
  const authority = aTestCertificate();
  const [first, second] = [aTestCertificate('first'), aTestCertificate('second')];
  const { write, server, connect } = await start(t, authority, first.cert + second.cert);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const writeWith = ({ cert, key }: TestCertificate): string =>
    write(
      'config',
      kubeconfigText({
        server: server.url,
        ca: authority.cert,
        user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) },
      }),
    );
  const cluster = connect(writeWith(first));
  await cluster.version(never);
  assert.equal(server.requests.at(-1)?.client, 'first');
  writeWith(second);
  cluster.reloadCredentials();
  await cluster.version(never);
  assert.equal(server.requests.at(-1)?.client, 'second');
  assert.equal(server.connections, 2);
  await until(() => server.openConnections === 1, 2000);
});

test('a server whose certificate no authority vouches for is not talked to, unless that is asked for', async (t) => {
  const authority = aTestCertificate();
  const { write, server, connect } = await start(t, authority);
  const strict = connect(write('strict', kubeconfigText({ server: server.url })));
  await assert.rejects(strict.version(never), {
    code: 'unreachable',
    message: /DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY/,
  });
  assert.equal(server.requests.length, 0);
  const cluster = { 'insecure-skip-tls-verify': true };
  await connect(write('lax', kubeconfigText({ server: server.url, cluster }))).version(never);
});

test('the context that is asked for is used, with its namespace', async (t) => {
  const { write, server, connect, sent } = await start(t);
  const nowhere = write('a', kubeconfigText({ server: 'http://127.0.0.1:1', name: 'a', namespace: 'one' }));
  const here = write('b', kubeconfigText({ server: server.url, name: 'b', namespace: 'two', user: { token: 'b' } }));
  const files = [nowhere, here].join(delimiter);
  const cluster = connect(files, { context: 'b' });
  assert.equal(cluster.ownNamespace, 'two');
  await cluster.version(never);
  assert.equal(sent('authorization'), 'Bearer b');
  assert.equal(connect(files).ownNamespace, 'one');
});

test('of two files the first one to name a thing wins', async (t) => {
  const { write, server, connect, sent } = await start(t);
  const first = write('a', kubeconfigText({ server: server.url, user: { token: 'first' } }));
  const second = write('b', kubeconfigText({ server: 'http://127.0.0.1:1', user: { token: 'second' } }));
  await connect([first, second].join(delimiter)).version(never);
  assert.equal(sent('authorization'), 'Bearer first');
});

/** [what is wrong, text of the file, what the error says] */
const bad: [string, string | undefined, RegExp][] = [
  ['it does not exist', undefined, /the kubeconfig .*config cannot be read/],
  ['it is no YAML', '{', /the kubeconfig .*config cannot be read/],
  ['it is empty', '', /the kubeconfig .*config cannot be read|no context/],
  [
    'it has no current context',
    kubeconfigText({ server: 'http://a' }).replace('"current-context":"test"', '"x":1'),
    /no context/,
  ],
  ['it names no server', kubeconfigText({ server: 'ftp://a' }), /names no server: "ftp:\/\/a"/],
  [
    'its server has no port',
    kubeconfigText({ server: 'https://a:undefined' }),
    /names no server: "https:\/\/a:undefined"/,
  ],
];

for (const [title, text, message] of bad) {
  test(`a kubeconfig is refused at the start: ${title}`, async (t) => {
    const { folder, write, connect } = await start(t);
    const file = text === undefined ? `${folder}/config` : write('config', text);
    assert.throws(() => connect(file), message);
  });
}

test('a context that does not exist is refused at the start', async (t) => {
  const { write, connect } = await start(t);
  const file = write('config', kubeconfigText({ server: 'http://a' }));
  assert.throws(() => connect(file, { context: 'other' }), /no context "other"/);
});
