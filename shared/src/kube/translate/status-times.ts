import { type Instant, objectOf } from '../../domain/index.ts';
import { arrayOf, instantOf } from './fields.ts';
import type { Metadata } from './metadata.ts';

/**
 * Kubernetes dates what a status tells by the clock of the controller that writes it, and creation and writes by that of the API server. So far
 * the two may differ before the controller's counts as wrong: whole seconds, and machines that are not set alike.
 */
const skewMs = 10_000;

/** When the status of an object was written last, by the clock of the API server; undefined: nothing says so. */
function statusWrittenAt({ raw }: Metadata): Instant | undefined {
  const writes = arrayOf(raw['managedFields']).flatMap((value) => {
    const entry = objectOf(value);
    const at = instantOf(entry['time']);
    return at === undefined || !('f:status' in objectOf(entry['fieldsV1'])) ? [] : [at];
  });
  return writes.length === 0 ? undefined : Math.max(...writes);
}

/** False: a clock that was wrong told it, since the status that tells of it was written before. */
export function hasCome(at: Instant, metadata: Metadata): boolean {
  const writtenAt = statusWrittenAt(metadata);
  return writtenAt === undefined || at <= writtenAt + skewMs;
}

/**
 * By how much the controller's clock was ahead when it dated the end of an object: nothing ends after the write that tells of it. 0: it was right,
 * as far as can be told; an end before its write may simply have been told late. Without this a success that is dated ahead would outlast failures
 * that came after it.
 */
export function clockErrorMs(endedAt: Instant, metadata: Metadata): number {
  const writtenAt = statusWrittenAt(metadata);
  return writtenAt === undefined || hasCome(endedAt, metadata) ? 0 : endedAt - writtenAt;
}
