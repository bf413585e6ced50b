/** The sentence of an error of ours, for a log line: those of the store and of the client hold nothing secret. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
