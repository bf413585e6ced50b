import { get } from 'node:http';
import { test } from 'node:test';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import { startFleet } from '../../testing/fleet.ts';

test('a log is read no further when its reader leaves', { timeout: 20_000 }, async () => {
  const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>();
  const { promise: ended, resolve: hasEnded } = Promise.withResolvers<void>();
  const cluster = {
    listPodsOfJob: (_namespace: string, _jobName: string, signal: AbortSignal) => {
      wasAsked();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('aborted'));
          hasEnded();
        });
      });
    },
  } as unknown as Cluster;
  await using fleet = await startFleet({ cluster });
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  await fleet.addRuns(cronJob, { jobName: 'backup-1' });
  const path = '/api/v1/cronjobs/prod/backup/executions/backup-1/logs?source=live';
  const request = get({ host: '127.0.0.1', port: fleet.server.port, path });
  request.on('error', () => {}); // it leaves
  await asked;
  request.destroy();
  await ended; // by the signal, for the clock of this test stands still
});
