import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { listEvidence, type Evidence } from '@cronjob-monitor/shared/store';
import { piecesOf } from '@cronjob-monitor/simcluster';
import { testDatabases } from '../store/databases.ts';
import { listStoredRuns, untilAllRecorded } from './checker/index.ts';
import { namespace, until } from './harness/bench.ts';
import { endedPodStatus, failedStatus, putCronJob, putJob, putPod, slotNumber } from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';

const maxLogSizeKB = 4;
const maxBytes = maxLogSizeKB * 1024;
const exitCode = 1;
const fiveMegabytes = 5 * 1024 * 1024;

interface HostileLog {
  readonly bytes: Buffer;
  /** What is kept of it. */
  readonly says: (kept: Evidence) => void;
}

const exactly =
  (text: string): HostileLog['says'] =>
  (kept) => {
    assert.equal(kept.body, text);
    assert.equal(kept.truncated, false);
  };

const logs: Readonly<Record<string, HostileLog>> = {
  'NUL bytes': { bytes: Buffer.from('before\u0000after\n\u0000\u0000end\n'), says: exactly('beforeafter\nend\n') },
  'invalid UTF-8': {
    // A lone continuation, an overlong form, half a surrogate pair, and a character that the log ends in.
    bytes: Buffer.concat([
      Buffer.from('a'),
      Buffer.from([0x80]),
      Buffer.from('b'),
      Buffer.from([0xc0, 0xaf]),
      Buffer.from('c'),
      Buffer.from([0xed, 0xa0, 0x80]),
      Buffer.from('d'),
      Buffer.from([0xf0, 0x9f, 0x98]),
    ]),
    says: (kept) => {
      assert.match(kept.body ?? '', /^a\uFFFDb\uFFFD+c\uFFFD+d\uFFFD$/);
    },
  },
  'terminal sequences': {
    bytes: Buffer.from(
      '\u001B[2J\u001B[31mred\u001B[0m \u001B]0;title\u0007plain\u001B]8;;http://x\u001B\\link\n\u0007bell\u0008\n',
    ),
    says: exactly('red plainlink\nbell\n'),
  },
  'a line of 5 MB': {
    bytes: Buffer.from(`${'x'.repeat(fiveMegabytes)} the truth`),
    says: (kept) => {
      assert.equal(kept.truncated, true);
      assert.equal(Buffer.byteLength(kept.body ?? ''), maxBytes);
      assert.match(kept.body ?? '', /x the truth$/);
    },
  },
  'a cut inside a character': {
    // Three bytes each, and the limit is no multiple of three.
    bytes: Buffer.from('€'.repeat(3 * maxBytes)),
    says: (kept) => {
      assert.equal(kept.truncated, true);
      assert.match(kept.body ?? '', /^€+$/u);
      assert.ok(maxBytes - Buffer.byteLength(kept.body ?? '') < 3);
    },
  },
};

/** F36: what containers write is bytes of strangers. */
for (const database of testDatabases()) {
  describe(`F36, hostile logs, ${database.name}`, { skip: database.skip }, () => {
    const monitor = { dataRetention: { storeLogs: true, maxLogSizeKB } };
    const bench = benchOfSuite({ controllers: false, monitor }, async () => {
      const settings = await database.fresh();
      const entryPoint = settings.type === 'sqlite' ? 'standalone' : 'controller';
      return { settings, storage: settings, entryPoint, config: { 'storage.log-storage-enabled': true } };
    });
    after(() => database.remove());
    let over = 0;

    for (const [what, { bytes, says }] of Object.entries(logs)) {
      test(`${what}: the run is stored, its log as text`, async () => {
        const { sim, reader, store } = bench();
        const owner = putCronJob(sim, `hostile-${++over}`);
        const job = putJob(sim, owner, { slotAt: slotNumber(over) });
        const pod = `${job.metadata.name}-x`;
        sim.logs.write({ namespace, pod, container: 'main' }, { pieces: piecesOf(bytes, Date.now()), ended: true });
        putPod(sim, job, { name: pod, status: endedPodStatus(exitCode) });
        putJob(sim, owner, { slotAt: slotNumber(over), status: failedStatus() });
        await untilAllRecorded(reader, store, {
          over,
          scriptOf: () => ({ exitCodes: [exitCode], reasons: ['Error'] }),
          withinMs: 20_000,
        });
        let kept: Evidence | undefined;
        await until('its log is kept', async () => {
          kept = (await listEvidence(store, job.metadata.uid)).find(({ kind }) => kind === 'logs');
          return kept?.body !== undefined;
        });
        assert.ok(kept);
        says(kept);
      });
    }

    test('words of pods and conditions that no text column takes: the run is stored, they are cleaned', async () => {
      const { sim, store } = bench();
      const owner = putCronJob(sim, 'hostile-words');
      const job = putJob(sim, owner, { slotAt: slotNumber(0) });
      const terminated = {
        exitCode: 3,
        reason: 'Er\u0000ror',
        message: 'half \uD83D of a pair',
        finishedAt: '2026-01-02T03:04:05Z',
      };
      const status = { ...endedPodStatus(3), containerStatuses: [{ name: 'main', state: { terminated } }] };
      putPod(sim, job, { name: `${job.metadata.name}-x`, status });
      putJob(sim, owner, { slotAt: slotNumber(0), status: failedStatus(undefined, undefined, 'Back\u0000off\uD800') });
      const row = async () => (await listStoredRuns(store)).find(({ jobUid }) => jobUid === job.metadata.uid);
      await until('it is stored', async () => (await row())?.exitCode === 3);
      const { reason, jobReason } = (await row()) ?? {};
      assert.deepEqual([reason, jobReason], ['Er ror', 'Back off\uFFFD']);
    });
  });
}
