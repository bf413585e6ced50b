import { download, type Query } from './client.ts';

/** Lists of the API that it also gives as a whole file. */
const exportedLists = ['cronjobs', 'sla', 'alerts', 'alerts/history'] as const;
export type ExportedList = (typeof exportedLists)[number] | `cronjobs/${string}/${string}/${'executions' | 'slots'}`;
type ExportFormat = 'csv' | 'json';

/** All rows of the same filters, made by the server. */
export function exportList(
  list: ExportedList,
  query: Query,
  format: ExportFormat,
): Promise<{ blob: Blob; name: string }> {
  return download(list, { ...query, format });
}
