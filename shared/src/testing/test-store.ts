import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../process/index.ts';
import { migrate, openStore, takeEpoch, type Store, type StoreDeps } from '../store/index.ts';
import { RecordingLogger } from './recording-logger.ts';
import { aTemporaryFolder } from './temporary-folder.ts';

/** A migrated database in a file of its own, and the epoch of its first leader. It is closed and removed with the test. */
export async function aTestStore(
  t: TestContext,
  { clock = systemClock, log = new RecordingLogger() }: Partial<StoreDeps> = {},
): Promise<{ readonly store: Store; readonly epoch: number }> {
  const store = openStore({ type: 'sqlite', path: join(aTemporaryFolder(t), 'monitor.db') }, { clock, log });
  t.after(() => store.close());
  await migrate(store, { version: 'test' });
  return { store, epoch: await takeEpoch(store, 'test') };
}
