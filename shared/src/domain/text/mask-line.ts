/** No more of a line is looked at, characters. */
const longestMasked = 5_000;

const months = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
const days = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun';

/** What differs from run to run though the same is said, the longest first. Each is read from left to right once. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '#'], // UUID
  [new RegExp(`\\b(?:(?:${days}),? )?(?:(?:${months}) +\\d{1,2}|\\d{1,2}[ /-](?:${months}))\\b`, 'g'), '#'], // a date
  [/\b0x[0-9a-f]+\b/gi, '#'],
  [/\b(?=[a-f]{0,63}\d)[0-9a-f]{7,64}\b/gi, '#'], // a hash; letters alone are a word
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '-#'], // what Kubernetes adds to the names of pods
  [/\d+(?:[.,:]\d+)*(?:[nuµm]?s\b|[mh]\b)?/g, '#'],
  [/#(?:[-/.T :+]*#)+Z?/g, '#'], // a time stamp and its parts
];

/**
 * A line of a log without what differs from run to run: numbers, times, durations, hashes and generated names become `#`. Lines that are
 * equal afterwards say the same. Only the first 5,000 characters count.
 */
export function maskLine(line: string): string {
  const near = line.slice(0, longestMasked).trim();
  return varying.reduce((masked, [pattern, by]) => masked.replace(pattern, by), near);
}
