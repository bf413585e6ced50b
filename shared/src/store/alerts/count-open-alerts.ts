import { firstRow, marks } from '../ask.ts';
import type { Db } from '../database.ts';

/** Open alerts by state. */
interface OpenAlerts {
  readonly active: number;
  readonly pending: number;
  readonly suppressed: number;
  /** Open ones that are acknowledged. */
  readonly acknowledged: number;
}

/** Of these namespaces, of all when none is given. */
export async function countOpenAlerts(db: Db, namespaces: readonly string[]): Promise<OpenAlerts> {
  const within = namespaces.length > 0 ? ` and a.namespace in (${marks(namespaces)})` : '';
  const isIn = (state: string): string => `sum(case when a.state = '${state}' then 1 else 0 end)`;
  const row = await firstRow(
    db,
    `select ${isIn('active')} as n_active, ${isIn('pending')} as n_pending, ${isIn('suppressed')} as n_suppressed, ` +
      'sum(case when k.alert_id is null then 0 else 1 end) as n_acknowledged ' +
      'from alerts a left join acknowledgements k on k.alert_id = a.id and k.ended_at is null ' +
      `where a.state in ('active', 'pending', 'suppressed')${within}`,
    namespaces,
  );
  const count = (name: string): number => Number(row?.[`n_${name}`] ?? 0);
  return {
    active: count('active'),
    pending: count('pending'),
    suppressed: count('suppressed'),
    acknowledged: count('acknowledged'),
  };
}
