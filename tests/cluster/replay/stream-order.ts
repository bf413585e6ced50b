import type { StreamLine } from './golden-file.ts';

/** Lines about different objects may change places when they were recorded this close to each other. */
const closeMs = 100;

/**
 * The lines of this run in the order of the recorded ones, as far as the recording leaves their order open: lines about one
 * object keep theirs, lines about different objects may swap when they came within a few milliseconds.
 */
export function alignLines(recorded: readonly StreamLine[], actual: readonly StreamLine[]): StreamLine[] {
  const left = [...actual];
  const aligned: StreamLine[] = [];
  for (const [index, line] of recorded.entries()) {
    const found = left.findIndex((candidate, position) => {
      if (!alike(line, candidate)) return false;
      // Whatever is passed over must be allowed to come later.
      return left.slice(0, position).every((passed) => mayFollow(recorded, index, passed));
    });
    const [taken] = left.splice(Math.max(0, found), 1);
    if (taken !== undefined) aligned.push(taken);
  }
  return [...aligned, ...left];
}

function mayFollow(recorded: readonly StreamLine[], index: number, passed: StreamLine): boolean {
  const here = recorded[index];
  return recorded
    .slice(index + 1)
    .some(
      (later) => here !== undefined && later.at - here.at <= closeMs && alike(later, passed) && !aboutSame(later, here),
    );
}

/** The object that a line is about. */
export function aboutOf(line: StreamLine): string {
  return subjectOf(line, true);
}

function alike(a: StreamLine, b: StreamLine): boolean {
  return a.type === b.type && subjectOf(a, false) === subjectOf(b, false);
}

function aboutSame(a: StreamLine, b: StreamLine): boolean {
  return subjectOf(a, true) === subjectOf(b, true);
}

/** What a line is about. Generated names differ from run to run, so only the part before them counts across runs. */
function subjectOf({ object }: StreamLine, exactly: boolean): string {
  const fields = object as {
    kind?: string;
    metadata?: { name?: string; generateName?: string; uid?: string };
    reason?: string;
    involvedObject?: { kind?: string; name?: string };
  };
  if (exactly) return `${fields.kind}/${fields.metadata?.name}`;
  const name = fields.metadata?.generateName ?? fields.metadata?.name ?? '';
  if (fields.kind === 'Event') return `Event/${fields.involvedObject?.kind}/${fields.reason}`;
  return `${fields.kind}/${name}`;
}
