import { rows } from '../ask.ts';
import type { Db } from '../database.ts';

/** What the catalog holds as existing: a new leader compares it with the cluster, for what went while the service did not watch. */
interface PresentObjects {
  readonly cronJobs: readonly { readonly uid: string; readonly namespace: string; readonly name: string }[];
  /** UIDs. */
  readonly monitors: readonly string[];
  readonly channels: readonly string[];
}

export async function listPresentObjects(db: Db): Promise<PresentObjects> {
  const cronJobs = await rows(db, 'select uid_text, namespace, name from cronjobs where deleted_at is null');
  const monitors = await rows(db, 'select uid from monitors where deleted_at is null');
  const channels = await rows(db, 'select uid from channels where deleted_at is null');
  return {
    cronJobs: cronJobs.map((row) => ({
      uid: String(row['uid_text']),
      namespace: String(row['namespace']),
      name: String(row['name']),
    })),
    monitors: monitors.map((row) => db.dialect.id16Text(row['uid'])),
    channels: channels.map((row) => db.dialect.id16Text(row['uid'])),
  };
}
