import type { DecisiveLine } from '@cronjob-monitor/shared/contract';
import {
  decisiveLine,
  decisiveLines,
  findAgain,
  maskLine,
  type DecisiveLineOfPod,
  attemptsIn,
} from '@cronjob-monitor/shared/domain';
import { listDecisiveLines, type Db, type Evidence, type StoredExecution } from '@cronjob-monitor/shared/store';
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

/** Those of one log of a failed run as it is shown, numbered by it. Of a log that is not kept it is the last line that speaks of an error. */
export function decisiveIn(
  lines: readonly DecisiveLine[],
  { pod, container, logs }: { readonly pod: string | null; readonly container: string; readonly logs: string },
): DecisiveLine[] {
  const known = lines.filter((line) => line.pod === pod && line.container === container);
  if (known.length > 0) return known.flatMap((line) => findAgain(line, logs) ?? []);
  const line = decisiveLine(logs);
  return pod !== null && line?.by === 'word' ? [{ pod, container, ...line, firstSeenAt: null }] : [];
}

/** Of the newest attempt. */
function failedContainer(evidence: readonly Evidence[]): string | undefined {
  return attemptsIn(evidence)
    .flatMap(({ containers }) => containers)
    .findLast(({ exitCode }) => exitCode !== undefined && exitCode !== 0)?.name;
}
