import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Flights } from './flights.ts';

const paces = { chat: { inFlight: 1, gapMs: 1_000 }, hook: { inFlight: 2, gapMs: 0 } } as const;

function start(): { readonly flights: Flights; readonly time: { ms: number } } {
  const time = { ms: 0 };
  const paceOf = (uid: string) =>
    uid.startsWith('chat') ? paces.chat : uid.startsWith('hook') ? paces.hook : undefined;
  return { flights: new Flights({ paceOf, monotonicMs: () => time.ms }), time };
}

test('enough is claimed for many sends, and of a channel sixteen times as much as may be on its way', () => {
  const { flights } = start();
  assert.deepEqual([flights.room, flights.roomOn('hook-1'), flights.roomOn('gone')], [128, 32, 1]);
  for (let times = 0; times < 32; times++) flights.begin('hook-1');
  flights.begin('hook-2');
  assert.deepEqual([flights.room, flights.roomOn('hook-1'), flights.roomOn('hook-2')], [95, 0, 31]);
  assert.deepEqual([flights.inFlightOn('hook-1'), flights.fullChannels()], [32, ['hook-1']]);
  flights.end('hook-1');
  assert.deepEqual([flights.count, flights.roomOn('hook-1'), flights.fullChannels()], [32, 1, []]);
});

test('it is time to claim more when what is claimed may be on its way all at once', () => {
  const { flights } = start();
  for (let times = 0; times < 3; times++) flights.begin('hook-1');
  assert.equal(flights.isNearlyIdle('hook-1'), false);
  flights.end('hook-1');
  assert.equal(flights.isNearlyIdle('hook-1'), true);
});

test('a chat is left alone for a second after a message began, whenever that ended', () => {
  const { flights, time } = start();
  flights.begin('chat');
  assert.equal(flights.roomOn('chat'), 0);
  time.ms = 300;
  flights.end('chat');
  assert.deepEqual([flights.roomOn('chat'), flights.pauseLeftMs('chat'), flights.fullChannels()], [0, 700, ['chat']]);
  time.ms = 1_000;
  assert.deepEqual([flights.roomOn('chat'), flights.fullChannels()], [1, []]);
});

test('it is busy while a channel has more to send than may be on its way', () => {
  const { flights } = start();
  flights.begin('hook-1');
  flights.begin('hook-1');
  flights.begin('hook-2');
  assert.equal(flights.isBusy, false);
  flights.begin('hook-1');
  assert.equal(flights.isBusy, true);
});
