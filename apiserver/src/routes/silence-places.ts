import type { SilenceMatcher } from '@cronjob-monitor/shared/domain';
import { findAlert, type Store } from '@cronjob-monitor/shared/store';
import type { Authentication, Caller } from '../auth/authentication.ts';
import { isObjectId } from '../object-name.ts';

/** Where a silence acts: in the namespaces that it names, in those of its CronJobs, or in that of its alert; undefined: in the whole cluster. */
export async function placesOf(store: Store, matcher: SilenceMatcher): Promise<readonly (string | undefined)[]> {
  const { alertId } = matcher;
  const namespaces = namedIn(matcher);
  if (namespaces.length > 0) return namespaces;
  const alert = alertId !== null && isObjectId(alertId) ? await findAlert(store, alertId) : undefined;
  return [alert?.cronJob.namespace];
}

/** The namespaces that a silence names, or those of the CronJobs that it names; empty: it can concern each. */
export function namedIn({ namespaces, refs = [] }: SilenceMatcher): readonly string[] {
  return namespaces.length > 0 ? namespaces : [...new Set(refs.map(({ namespace }) => namespace))];
}

/** Whether a caller may read a silence: the right to read wherever it acts, as for the silence itself. */
export async function mayReadSilence(
  { store, authentication }: { readonly store: Store; readonly authentication: Authentication },
  caller: Caller,
  matcher: SilenceMatcher,
): Promise<boolean> {
  for (const namespace of await placesOf(store, matcher)) {
    // Serial: one refusal is enough, and answers are kept.
    if (!(await authentication.may(caller, 'read', { namespace }))) return false;
  }
  return true;
}
