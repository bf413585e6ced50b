import { after, before } from 'node:test';
import type { Store, StoreSettings } from '@cronjob-monitor/shared/store';
import type { EntryPoint, MonitorProcess, StoragePlace } from '../../servers/index.ts';
import { JobReader, openBeside } from '../checker/index.ts';
import { namespace, startBench, type Bench, type BenchOptions } from './bench.ts';

/** One service that leads, the cluster it watches, and the judge of what it records. */
export interface ServiceBench extends Bench {
  readonly service: MonitorProcess;
  readonly reader: JobReader;
  readonly store: Store;
}

interface ServicePlace {
  readonly entryPoint?: EntryPoint;
  /** The database as the service reaches it: perhaps through a proxy. */
  readonly storage: StoragePlace;
  /** The same as the test reaches it. */
  readonly settings: StoreSettings;
  readonly config?: Readonly<Record<string, string | number | boolean>>;
}

/** Without a place: standalone, on SQLite. */
export async function startServiceBench(options: BenchOptions = {}, place?: ServicePlace): Promise<ServiceBench> {
  const bench = await startBench(options);
  try {
    const {
      storage,
      settings,
      entryPoint = 'standalone',
      config = {},
    } = place ?? { storage: bench.sqlite(), settings: bench.sqlite() };
    const service = await bench.prepare({ storage, entryPoint, config });
    await service.startReady();
    await service.untilLeading();
    const reader = await JobReader.start({ url: bench.sim.url }, namespace);
    const store = openBeside(settings);
    return {
      ...bench,
      service,
      reader,
      store,
      async close() {
        await reader.stop();
        await store.close();
        await bench.close();
      },
    };
  } catch (error) {
    await bench.close();
    throw error;
  }
}

/** A bench for the tests of a suite: made before them, closed after them. */
export function benchOfSuite(options: BenchOptions = {}, place?: () => Promise<ServicePlace>): () => ServiceBench {
  let bench: ServiceBench | undefined;
  before(async () => {
    bench = await startServiceBench(options, await place?.());
  });
  after(() => bench?.close());
  return () => {
    if (!bench) throw new Error('the suite has not begun');
    return bench;
  };
}
