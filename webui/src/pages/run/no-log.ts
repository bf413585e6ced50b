import type { ExecutionDetail } from '@cronjob-monitor/shared/contract';
import type { ApiError } from '../../api/client.ts';

const captureReasons: Readonly<Record<string, string>> = {
  podGone: 'its pod was gone before its log could be read',
  containerWaiting: 'its container never started',
  forbidden: 'the service may not read logs there',
  timeout: 'Kubernetes did not hand it out in time',
  nodeUnreachable: 'its node could not be reached',
  empty: 'its container wrote nothing',
};

/** Why there is no log, in the words of the last look. */
export function noLogText(
  /** Undefined: it was not asked for. */
  error: ApiError | undefined,
  run: Pick<ExecutionDetail, 'logs' | 'withheld'> | undefined,
  namespace: string,
): { readonly title: string; readonly text: string } {
  if (error?.code === 'FORBIDDEN' || run?.withheld)
    return { title: 'The log is withheld', text: `You may not read pods/log in ${namespace}.` };
  const captured = run?.logs?.unavailable;
  if (captured)
    return { title: 'No log', text: `It was looked for when the run ended: ${captureReasons[captured] ?? captured}.` };
  switch (error?.details?.reason) {
    case 'notStarted':
      return { title: 'No log yet', text: 'No container of it has started.' };
    case 'podGone':
      return { title: 'No log', text: 'The pod is gone, and no log of it is stored.' };
    default:
      return { title: 'No log', text: 'No log is stored (storage.log-storage-enabled), and the pod is gone.' };
  }
}
