import type { DecisiveLine } from '@cronjob-monitor/shared/contract';
import { attemptsIn, type DecisiveLineOfPod, decisiveLines, maskLine } from '@cronjob-monitor/shared/domain';
import { type Db, type Evidence, listDecisiveLines, type StoredExecution } from '@cronjob-monitor/shared/store';
import { toWireInstantOrNull } from '../../wire-values.ts';

/** Runs before this one of which the lines are looked through for the first that says the same. */
const mostRunsBack = 200;

/** The decisive lines of a run, one an attempt whose log is kept; none of a run that did not fail. */
export async function readDecisive(
  db: Db,
  cronJobIds: readonly number[],
  run: StoredExecution,
  evidence: readonly Evidence[],
): Promise<DecisiveLine[]> {
  if (run.status !== 'failed') return [];
  const lines = linesOf(evidence);
  if (lines.length === 0) return [];
  const seen = new Map<string, number>();
  // Newest first: what is written last is the oldest.
  for (const { endedAt, body } of await listDecisiveLines(db, cronJobIds, run.createdAt, mostRunsBack))
    for (const { text } of JSON.parse(body) as readonly DecisiveLineOfPod[]) seen.set(maskLine(text), endedAt); // as it was kept
  return lines.map(({ before: _, ...line }) => ({
    ...line,
    firstSeenAt: toWireInstantOrNull(seen.get(maskLine(line.text))),
  }));
}

/** As they were marked when the run was explained, with its monitors' patterns; of a run that no alert asked to explain, found in its kept logs. */
export function linesOf(evidence: readonly Evidence[]): readonly DecisiveLineOfPod[] {
  return storedLines(evidence) ?? decisiveLines(evidence, { container: failedContainer(evidence) });
}

function storedLines(evidence: readonly Evidence[]): readonly DecisiveLineOfPod[] | undefined {
  const body = evidence.find(({ kind }) => kind === 'decisive')?.body;
  return body === undefined ? undefined : (JSON.parse(body) as readonly DecisiveLineOfPod[]);
}

/** Of the newest attempt. */
function failedContainer(evidence: readonly Evidence[]): string | undefined {
  return attemptsIn(evidence)
    .flatMap(({ containers }) => containers)
    .findLast(({ exitCode }) => exitCode !== undefined && exitCode !== 0)?.name;
}
