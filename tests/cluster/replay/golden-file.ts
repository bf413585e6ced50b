import { readFileSync } from 'node:fs';

/** One recorded file is one topic; tests/golden/kube/README.md tells the format. */
interface GoldenFile {
  readonly topic: string;
  readonly cases: readonly RecordedCase[];
}

export interface RecordedCase {
  readonly name: string;
  readonly note: string;
  /** RFC 3339: the wall clock at offset 0. */
  readonly epoch: string;
  readonly steps: readonly RecordedStep[];
}

export interface RecordedStep {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly setup?: boolean;
  readonly request: RecordedRequest;
  readonly response: RecordedResponse;
  readonly volatile?: readonly string[];
  /** By pointer into this step: where the value of that place came from, or parts of it. */
  readonly bind?: Readonly<Record<string, string | readonly { readonly text: string; readonly from: string }[]>>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly rawBody?: string;
  readonly bodyNote?: string;
  readonly pathNote?: string;
  readonly anonymous?: boolean;
}

interface RecordedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly bodyOmitted?: boolean;
  readonly lines?: readonly StreamLine[];
  readonly endedAt?: number;
  readonly closedBy?: 'server' | 'client';
}

export interface StreamLine {
  readonly at: number;
  readonly type: string;
  readonly object: unknown;
}

const topics = [
  'discovery',
  'lists',
  'watch',
  'writes',
  'crd',
  'leases',
  'auth',
  'pod-logs',
  'cronjob-validation',
  'cronjob-lifecycle',
  'edge',
  'overload',
];

/** All recorded topics. */
export function readTopics(): GoldenFile[] {
  return topics.map((topic) => readTopic(topic));
}

export function readTopic(topic: string): GoldenFile {
  const file = new URL(`../../golden/kube/${topic}.json`, import.meta.url);
  // The files are ours and of this form.
  return JSON.parse(readFileSync(file, 'utf8')) as GoldenFile;
}
