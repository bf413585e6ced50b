import { bool, count, instant, int, listOf, nullable, object, type Of, text } from './shape/shape.ts';
import { StateCounts } from './verdict.ts';

/** One cluster whose history is in the database that this service reads. */
export const Cluster = object('Cluster', {
  /** Value of the parameter `cluster`. */
  name: text,
  /** UID of its namespace kube-system; null = its controller has not said so yet. */
  uid: nullable(text),
  /** The cluster that this service runs in. */
  home: bool,
  /** Schema of PostgreSQL, or database of MySQL, that holds its rows. */
  schema: text,
  schemaVersion: nullable(int),
  /** The last sign of life of its controller; null = none was ever seen. */
  lastSeenAt: nullable(instant),
  /** Its controller leads and lives; else what is shown is as old as lastSeenAt. */
  live: bool,
  /** Whether it takes actions from here; in the home cluster all is done. */
  actions: bool,
  /** Why its rows cannot be read now, or not by this version; null = they can. The counts are 0 then. */
  problem: nullable(text),
  states: StateCounts,
  activeAlerts: count,
});
export type Cluster = Of<typeof Cluster>;

/** GET /api/v1/clusters: those that the caller may read, the home cluster first, then by name. */
export const ClusterList = object('ClusterList', { items: listOf(Cluster) });
export type ClusterList = Of<typeof ClusterList>;
