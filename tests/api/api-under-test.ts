import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi, type ApiSettings } from '@cronjob-monitor/apiserver';
import { ProblemList, createProcessMetrics, type Clock } from '@cronjob-monitor/shared/process';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import type { Store } from '@cronjob-monitor/shared/store';
import { RecordingLogger, type LoggedLine } from '@cronjob-monitor/shared/testing';

/** The API behind a socket of loopback. */
export interface ApiUnderTest extends AsyncDisposable {
  readonly port: number;
  readonly lines: readonly LoggedLine[];
}

interface ApiUnderTestOptions {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly settings: ApiSettings;
  readonly uiFolder?: string;
  /** Opens the schemas of other clusters; absent: none is looked for. */
  readonly openSchema?: (name: string) => Store;
  /** Told of each request as its answer ends. */
  readonly seen?: (request: IncomingMessage, status: number) => void;
}

export async function serveApi(options: ApiUnderTestOptions): Promise<ApiUnderTest> {
  const { store, cluster, clock, settings, uiFolder, openSchema, seen } = options;
  const logger = new RecordingLogger();
  const { registry } = createProcessMetrics({ entryPoint: 'apiserver', version: '0.1.0', clock });
  const problems = new ProblemList({ clock, logger });
  const api = createApi({
    settings,
    store,
    cluster,
    clock,
    logger,
    problems,
    registry,
    uiFolder,
    openSchema,
    version: '0.1.0',
  });
  api.start();
  const server = createServer((request, response) => {
    response.setHeader('date', new Date(clock.now()).toUTCString());
    response.on('finish', () => seen?.(request, response.statusCode));
    api.handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    lines: logger.lines,
    [Symbol.asyncDispose]: async () => {
      await api.stop();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
