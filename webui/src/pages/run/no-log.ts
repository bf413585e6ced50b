import type { ActiveJob, ExecutionDetail } from '@cronjob-monitor/shared/contract';
import type { ApiError } from '../../api/client.ts';
import { reasonText } from '../../format/alert-reasons.ts';

/** Why there is no log, in the words of the last look. */
export function noLogText(
  /** Undefined: it was not asked for. */
  error: ApiError | undefined,
  run: Pick<ExecutionDetail, 'logs' | 'withheld'> | Pick<ActiveJob, 'podName'> | undefined,
  namespace: string,
): { readonly title: string; readonly text: string } {
  const isActive = run !== undefined && 'podName' in run;
  const ended = isActive ? undefined : run;
  if (error?.code === 'FORBIDDEN' || ended?.withheld)
    return { title: 'The log is withheld', text: `You may not read pods/log in ${namespace}.` };
  const captured = reasonText(ended?.logs?.unavailable ?? null);
  if (captured) return { title: 'No log', text: `It was looked for when the run ended: ${captured}.` };
  if (isActive && run.podName === null) return { title: 'No log yet', text: 'No pod of it has been created.' };
  switch (error?.details?.reason) {
    case 'notStarted':
      return { title: 'No log yet', text: 'No container of it has started.' };
    case 'podGone':
      return { title: 'No log', text: 'The pod is gone, and no log of it is stored.' };
    default:
      return { title: 'No log', text: 'No log is stored (storage.log-storage-enabled), and the pod is gone.' };
  }
}
