import { ClusterError } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';

/**
 * Ends a call about the Lease after `limitMs`, or with the signal, also when the call heeds neither: an election must not
 * hang with the server. Throws `ClusterError` with code `timeout` or `aborted`, else what the call throws.
 */
export async function withinLimit<T>(
  limit: { readonly clock: Clock; readonly limitMs: number; readonly signal: AbortSignal },
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, limitMs, signal } = limit;
  if (signal.aborted) throw notCalled('aborted');
  const calling = new AbortController();
  const timer = new AbortController();
  const onAbort = () => timer.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  const expiry = clock.sleep(Math.max(0, limitMs), timer.signal).then(
    () => 'timeout' as const,
    () => 'aborted' as const,
  );
  try {
    const answer = call(calling.signal).then((value) => ({ value }));
    const first = await Promise.race([answer, expiry]);
    if (typeof first === 'object') return first.value;
    answer.catch(() => {}); // Given up: whatever it says comes too late.
    throw notCalled(first);
  } finally {
    timer.abort();
    calling.abort();
    signal.removeEventListener('abort', onAbort);
  }
}

function notCalled(code: 'timeout' | 'aborted'): ClusterError {
  const message = code === 'timeout' ? 'no answer about the Lease in time' : 'the call about the Lease was aborted';
  return new ClusterError(code, { verb: 'call', resource: 'leases', message });
}
