import {
  alertSubjectTable,
  alertTypes,
  alertTypeTable,
  type AlertSubject,
  type AlertType,
} from '../../contract/vocabulary.ts';

/** An alert as far as its row in the table tells about it. */
interface OfType {
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
}

type Trait = 'joinsStorms' | 'endsWithSuccess' | 'isOverWindow';

function has(trait: Trait, { type, subject }: OfType): boolean {
  const given = alertTypeTable[type][trait];
  return given === true || (subject !== undefined && given?.includes(subject) === true);
}

/** What an alert is about, in few words and without figures: `job failed`. */
export function nameFinding(type: AlertType, subject: AlertSubject | null | undefined): string {
  return subject == null ? alertTypeTable[type].name : alertSubjectTable[subject].name;
}

/** Something that happens and is counted each time; else it is so, and can be asked again at any time. */
export function isEdge(type: AlertType): boolean {
  return alertTypeTable[type].kind === 'edge';
}

/** One outage of the cluster brings it about for many CronJobs at once (detection.md section 4). */
export function joinsStorms(of: OfType): boolean {
  return has('joinsStorms', of);
}

/** Types of which some alerts join storms. */
export const stormTypes: readonly AlertType[] = alertTypes.filter((type) => alertTypeTable[type].joinsStorms);

/** A success ends it as it ends itself, however late the service comes to know of it. */
export function endsWithSuccess(of: OfType): boolean {
  return has('endsWithSuccess', of);
}

/** It is about a success that does not come. */
export function lacksSuccess(of: OfType): boolean {
  return endsWithSuccess(of) && !isEdge(of.type);
}

/** It is computed over a window, and may cross its limit to and fro. */
export function isOverWindow(of: OfType): boolean {
  return has('isOverWindow', of);
}
