import { readGolden } from './golden.ts';

/** One request to the real API server and what it answered; tests/golden/kube/README.md tells the format. */
export interface GoldenStep {
  /** Milliseconds since the epoch of the case. */
  readonly at: number;
  readonly setup?: boolean;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    /** Of a watch. */
    readonly lines?: readonly GoldenLine[];
  };
}

interface GoldenLine {
  readonly at: number;
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>>;
}

export interface GoldenCase {
  readonly name: string;
  readonly note: string;
  /** RFC 3339. */
  readonly epoch: string;
  readonly steps: readonly GoldenStep[];
}

/** The recorded cases of one topic, such as `cronjob-lifecycle`. */
export function goldenCases(topic: string): readonly GoldenCase[] {
  return (JSON.parse(readGolden(`kube/${topic}.json`)) as { cases: GoldenCase[] }).cases;
}

/** What the watches of one resource brought within a case, in order; `plural` as in the path. */
export function watchedLines({ steps }: GoldenCase, plural: string): readonly GoldenLine[] {
  const isWatch = new RegExp(`/${plural}\\?watch`);
  return steps.filter(({ request }) => isWatch.test(request.path)).flatMap(({ response }) => response.lines ?? []);
}
