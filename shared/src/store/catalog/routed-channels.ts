import type { ChannelType } from '../../contract/index.ts';
import type { CompletableChannel } from '../../domain/index.ts';
import { rows } from '../ask.ts';
import { fromJson } from '../column.ts';
import type { Db } from '../database.ts';

/** A channel as far as it decides who is told. */
export interface RoutedChannel extends CompletableChannel {
  readonly uid: string;
  readonly name: string;
  /** It hears of ends, too. An Alertmanager always does: its own receivers say who is told. */
  readonly sendResolved: boolean;
  /** It is told what is so, again and again, and decides itself who hears of it. */
  readonly isAlertmanager: boolean;
  /** A paging channel that hears also of what ended before it was told. Others always do. */
  readonly sendRecovered: boolean;
  /** Namespaces that it admits; undefined: monitors of all, and what CronJobs say of themselves from none. */
  readonly allowedNamespaces: readonly string[] | undefined;
}

/** Every channel that exists, by name. */
export async function listRoutedChannels(db: Db): Promise<ReadonlyMap<string, RoutedChannel>> {
  const found = await rows(db, 'select uid, name, type, spec from channels where deleted_at is null order by name');
  return new Map(
    found.map((row) => {
      const spec = fromJson(row['spec']) as
        | {
            readonly sendResolved?: unknown;
            readonly sendRecovered?: unknown;
            readonly allowedNamespaces?: unknown;
            readonly webhook?: { readonly sendUpdates?: unknown; readonly format?: unknown };
          }
        | null
        | undefined;
      const isAlertmanager = spec?.webhook?.format === 'alertmanager';
      const channel: RoutedChannel = {
        uid: db.dialect.id16Text(row['uid']),
        name: String(row['name']),
        type: String(row['type']) as ChannelType,
        sendResolved: isAlertmanager || spec?.sendResolved !== false,
        isAlertmanager,
        sendRecovered: spec?.sendRecovered === true,
        sendUpdates: spec?.webhook?.sendUpdates === true,
        allowedNamespaces: allowedNamespacesOf(spec),
      };
      return [channel.name, channel];
    }),
  );
}

/** What cannot be read admits no namespace. */
export function allowedNamespacesOf(
  spec: { readonly allowedNamespaces?: unknown } | null | undefined,
): readonly string[] | undefined {
  const allowed = spec?.allowedNamespaces;
  if (allowed === undefined || allowed === null) return undefined;
  return Array.isArray(allowed) ? allowed.filter((name) => typeof name === 'string') : [];
}
