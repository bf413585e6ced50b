import { isObject } from '../read-documents.ts';
import type { Json, Remark } from './remark.ts';

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Each round leaves one field out: no resource has so many that cannot be used. */
const mostRounds = 1_000;

/**
 * The resource without the fields that the service could not use, and what was left out of it. A required field that is not there cannot be
 * left out, and without a part of its selector a monitor would reach more than was meant: both are named as still to do.
 */
export function leaveOut(
  object: Json,
  problemsOf: (object: Json) => readonly Problem[],
): { readonly object: Json; readonly remarks: readonly Remark[] } {
  const remarks: Remark[] = [];
  let left = object;
  for (let round = 0; round < mostRounds; round++) {
    const problems = problemsOf(left);
    // The last one first: places in a list before it keep their numbers.
    const next = problems.findLast(
      ({ path }) => path !== 'spec' && !path.startsWith('spec.selector') && valueAt(left, stepsOf(path)) !== undefined,
    );
    if (!next) {
      const rest = problems.map(({ path, message }): Remark => ({ kind: 'to do', path, message }));
      return { object: left, remarks: [...remarks.reverse(), ...rest] };
    }
    remarks.push({ kind: 'left out', path: next.path, message: `cannot be used: ${next.message}` });
    left = without(left, stepsOf(next.path)) as Json; // an object stays one
  }
  return { object: left, remarks };
}

type Step = string | number;

/** `spec.a[0].b`, and `spec.headers[X-Team]`, as steps. */
function stepsOf(path: string): Step[] {
  return [...path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)].map(([, name, inside = '']) => {
    if (name !== undefined) return name;
    return /^\d+$/.test(inside) ? Number(inside) : inside.replaceAll('"', '');
  });
}

function valueAt(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return value;
  if (Array.isArray(value)) return valueAt((value as readonly unknown[])[Number(step)], rest);
  return isObject(value) ? valueAt(value[step], rest) : undefined;
}

/** A list or a block that is empty without it goes too. */
function without(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return undefined;
  if (Array.isArray(value)) {
    const kept = (value as readonly unknown[])
      .map((item, index) => (index === step ? without(item, rest) : item))
      .filter((item) => item !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  if (!isObject(value)) return value;
  const inner = without(value[step], rest);
  const { [step]: _left, ...others } = value;
  const kept = inner === undefined ? others : { ...others, [step]: inner };
  return Object.keys(kept).length === 0 ? undefined : kept;
}
