import { bool, instant, int, listOf, nullable, object, type Of, text, words } from './shape/shape.ts';
import { healthStatuses, storageStates } from './vocabulary.ts';

/** GET /api/v1/health: 503 with the same shape when unhealthy. */
export const Health = object('Health', {
  status: words(healthStatuses),
  storage: words(storageStates),
  /** The service can do its work: someone leads, and no problem keeps it from recording, judging and sending. As `/readyz` of the leader. */
  ready: bool,
  /** A live controller leads. */
  leader: bool,
  version: text,
  /** Go text, of the process that answers. */
  uptime: text,
  /** The leader has finished one evaluation of its term. */
  analyzerEnabled: bool,
  schedulersRunning: listOf(text),
  /** One sentence for each, without a stop, that says what to do; those that keep the service from its work come first. */
  problems: listOf(text),
  lastEvaluation: nullable(instant),
  schemaVersion: nullable(int),
  cluster: nullable(text),
  defaultTimeZone: text,
  /** Version of the time zone data of the process that answers. */
  timeZoneData: text,
  controller: nullable(object({ name: text, version: text, epoch: int, since: instant })),
});
export type Health = Of<typeof Health>;
