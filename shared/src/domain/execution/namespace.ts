import type { Instant } from '../instant.ts';

/** What we keep of a Namespace: what selectors ask, and whom its administrator lets watch it. */
export interface NamespaceFacts {
  readonly uid: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Annotation `cronjob-monitor.io/monitored-from`: namespaces whose monitors may select here; `*` stands for all. */
  readonly monitoredFrom: readonly string[];
  readonly deletingAt: Instant | undefined;
}
