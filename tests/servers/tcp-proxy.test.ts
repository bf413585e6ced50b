import assert from 'node:assert/strict';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startFaultProxy, type FaultProxy } from './tcp-proxy.ts';

/** Answers each line with the same line. */
async function startEcho(): Promise<{ port: number; server: Server }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { port: address.port, server };
}

class Talker {
  readonly socket: Socket;
  heard = '';
  ended: string | undefined;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (bytes: Buffer) => (this.heard += bytes.toString()));
    this.socket.on('error', (error: NodeJS.ErrnoException) => (this.ended = error.code ?? 'error'));
    this.socket.on('close', () => (this.ended ??= 'closed'));
  }

  /** Says a line and waits until something is heard, the connection ended, or the time is over. */
  async say(line: string, limitMs = 500): Promise<string> {
    this.heard = '';
    this.socket.write(line);
    const deadline = performance.now() + limitMs;
    while (this.heard === '' && this.ended === undefined && performance.now() < deadline) await wait(5);
    return this.heard;
  }
}

describe('the fault proxy', () => {
  let echo: Awaited<ReturnType<typeof startEcho>>;
  let proxy: FaultProxy;
  before(async () => {
    echo = await startEcho();
    proxy = await startFaultProxy({ port: echo.port });
  });
  after(async () => {
    await proxy.close();
    echo.server.close();
  });

  it('passes everything on, and counts connections', async () => {
    const talker = new Talker(proxy.port);
    assert.equal(await talker.say('hello'), 'hello');
    assert.equal(proxy.open, 1);
    talker.socket.end();
    await wait(50);
    assert.equal(proxy.open, 0);
    assert.equal(proxy.total, 1);
  });

  it('delays, in order', async () => {
    const talker = new Talker(proxy.port);
    await talker.say('x');
    proxy.disturb('toClient', { delayMs: 120 });
    const started = performance.now();
    talker.socket.write('a');
    await wait(20);
    assert.equal(await talker.say('b', 130), 'a');
    assert.ok(performance.now() - started >= 110);
    await wait(200);
    assert.equal(talker.heard, 'ab');
    proxy.disturb('toClient', {});
    talker.socket.destroy();
  });

  it('is a black hole in one direction', async () => {
    const talker = new Talker(proxy.port);
    await talker.say('x');
    proxy.disturb('toServer', { drop: true });
    assert.equal(await talker.say('lost', 100), '');
    proxy.disturb('toServer', {});
    assert.equal(talker.ended, undefined);
    assert.equal(await talker.say('found'), 'found');
    talker.socket.destroy();
  });

  it('holds what is said and lets go of it', async () => {
    const talker = new Talker(proxy.port);
    await talker.say('x');
    proxy.disturb('toClient', { hold: true });
    assert.equal(await talker.say('held', 100), '');
    proxy.disturb('toClient', {});
    await wait(50);
    assert.equal(talker.heard, 'held');
    talker.socket.destroy();
  });

  it('drops one answer, or cuts the connection at it', async () => {
    const talker = new Talker(proxy.port);
    await talker.say('x');
    proxy.inspect(({ direction, bytes }) => (direction === 'toClient' && bytes.includes('secret') ? 'drop' : 'pass'));
    assert.equal(await talker.say('secret', 100), '');
    assert.equal(await talker.say('open'), 'open');
    proxy.inspect(({ direction, bytes }) => (direction === 'toClient' && bytes.includes('secret') ? 'cut' : 'pass'));
    assert.equal(await talker.say('secret', 200), '');
    assert.notEqual(talker.ended, undefined);
    proxy.inspect(undefined);
  });

  it('resets what is open and refuses what is new', async () => {
    const talker = new Talker(proxy.port);
    await talker.say('x');
    proxy.reset();
    await wait(50);
    assert.equal(talker.ended, 'ECONNRESET');
    proxy.accept(false);
    const refused = new Talker(proxy.port);
    assert.equal(await refused.say('x', 200), '');
    assert.notEqual(refused.ended, undefined);
    proxy.accept(true);
    assert.equal(await new Talker(proxy.port).say('again'), 'again');
    proxy.reset();
  });
});
