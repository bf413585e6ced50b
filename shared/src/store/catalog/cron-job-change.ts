import type { Severity } from '../../contract/index.ts';
import { cronJobStatus } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import type { Change } from '../changes.ts';
import { optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';

/** Columns that the change of a CronJob is made of. */
const shownColumns =
  'id, namespace, name, suspended, running, worst_severity, active_alerts, deleted_at, last_run, last_success_at';

/** What the stream tells of these CronJobs as they are now. */
export async function cronJobChanges(db: Db, cronJobIds: readonly number[]): Promise<Change[]> {
  const found = await rowsIn(db, cronJobIds, (marks) => `select ${shownColumns} from cronjobs where id in (${marks})`);
  return found.map(toChange);
}

function toChange(row: Row): Change {
  const suspended = Number(row['suspended']) === 1;
  const namespace = String(row['namespace']);
  return {
    kind: 'cronjob',
    namespace,
    data: {
      namespace,
      name: String(row['name']),
      status: cronJobStatus({
        // The column holds severities only: raise writes it.
        worstSeverity: optionalText(row['worst_severity']) as Severity | undefined,
        suspended,
        hasRun: row['last_run'] !== null || row['last_success_at'] !== null,
      }),
      suspended,
      runningJobs: Number(row['running']),
      activeAlerts: Number(row['active_alerts']),
      deleted: row['deleted_at'] !== null,
    },
  };
}
