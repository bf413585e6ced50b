import { rows } from '../ask.ts';
import { fromJson } from '../column.ts';
import type { Db } from '../database.ts';

/** A channel as far as it decides who is told. */
export interface RoutedChannel {
  readonly uid: string;
  readonly name: string;
  /** It hears of ends, too. */
  readonly sendResolved: boolean;
}

/** Every channel that exists, by name. */
export async function listRoutedChannels(db: Db): Promise<ReadonlyMap<string, RoutedChannel>> {
  const found = await rows(db, 'select uid, name, spec from channels where deleted_at is null order by name');
  return new Map(
    found.map((row) => {
      const spec = fromJson(row['spec']) as { readonly sendResolved?: unknown } | null | undefined;
      const name = String(row['name']);
      return [name, { uid: db.dialect.id16Text(row['uid']), name, sendResolved: spec?.sendResolved !== false }];
    }),
  );
}
