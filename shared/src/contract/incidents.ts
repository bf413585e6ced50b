import { CoverageSummary } from './coverage.ts';
import { actedOnFields, RecentRun } from './cronjobs.ts';
import { Health } from './health.ts';
import { count, id, instant, listOf, nullable, object, type Of, optional, text, words } from './shape/shape.ts';
import { Tonight } from './tonight.ts';
import { StateCounts, Verdict, Words } from './verdict.ts';
import { alertStates, alertSubjects, alertTypes, severities } from './vocabulary.ts';
import { WallCell } from './wall.ts';
import { missing, pageFields, Ref } from './wire.ts';

/** A CronJob that is not well, with all its open alerts: one row however many they are. */
export const Incident = object('Incident', {
  /** Name of its cluster; only where the service shows several. */
  cluster: optional(text),
  cronjob: Ref,
  verdict: Verdict,
  /** By what it fails that others may fail by as well, such as one image, node or host: incidents with the same sentence are one. Null = its own, not known, or in a line of a log that the caller may not read. */
  sharedCause: nullable(Words),
  /** Active and suppressed ones, worst first, then those that wait; none: it fails without one. */
  alerts: listOf(
    object({
      id,
      type: words(alertTypes),
      subject: nullable(words(alertSubjects)),
      severity: words(severities),
      state: words(alertStates),
      verdict: Verdict,
    }),
  ),
  /** The 30 newest, oldest first; none of a CronJob that is expected and not there. */
  recentRuns: listOf(RecentRun, 30),
  nextRun: nullable(instant),
  owner: nullable(text),
  /** Null: it is expected and not there, and nothing can be done with it. */
  actedOn: nullable(object(actedOnFields)),
});
export type Incident = Of<typeof Incident>;

/** GET /api/v1/incidents */
export const IncidentList = object('IncidentList', { ...pageFields(Incident), missing });
export type IncidentList = Of<typeof IncidentList>;

/** GET /api/v1/overview: what is wrong, what comes next and how the service is, in one answer. */
export const Overview = object('Overview', {
  /** Cursor of the changes that it was computed at. */
  revision: text,
  headline: Words,
  states: StateCounts,
  /** CronJobs with a Job that runs. */
  running: count,
  channels: object({ total: count, ready: count, words: Words }),
  monitors: object({ total: count, well: count, words: Words }),
  /** CronJobs in this state, and which of them has been for longest: no incident, and easily forgotten. */
  suspended: object({ total: count, words: Words }),
  /** The first 20. */
  incidents: listOf(Incident, 20),
  incidentTotal: count,
  tonight: Tonight,
  /** Where the first column of the lanes begins; they are half hours, and the present one is the last. */
  lanesFrom: instant,
  /** Runs of the last 24 h, those of a namespace together; the namespaces with the worst CronJobs come first. */
  lanes: listOf(
    object({
      namespace: text,
      cronJobs: count,
      /** As those of the wall; no single run stands for a cell. */
      cells: listOf(WallCell, 48),
    }),
    6,
  ),
  /** Namespaces with CronJobs, those that have a lane among them. */
  laneTotal: count,
  coverage: CoverageSummary,
  /** What `GET /api/v1/advice` finds, without notes. */
  findings: count,
  service: Health,
});
export type Overview = Of<typeof Overview>;
