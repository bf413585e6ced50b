import { failureReason } from '../execution/failure-reason.ts';
import type { Words } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';

const units = [
  { word: 'd', seconds: 86_400 },
  { word: 'h', seconds: 3_600 },
  { word: 'min', seconds: 60 },
  { word: 's', seconds: 1 },
] as const;

/** A duration in words: two units at most, `1 d 2 h`, `52 min 54 s`, `340 ms`. */
export function durationInWords(seconds: number): string {
  if (seconds > 0 && seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  const whole = Math.round(seconds);
  const first = units.findIndex(({ seconds: size }) => whole >= size);
  if (first < 0) return '0 s';
  const parts: string[] = [];
  let left = whole;
  for (const { word, seconds: size } of units.slice(first, first + 2)) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count} ${word}`);
    left -= count * size;
  }
  return parts.join(' ');
}

/** A limit in the largest unit that divides it evenly, as people write it: `25 h`, `45 min`, but `6 min 54 s` and `1 h 40 min`; days from two on. */
export function limitInWords(seconds: number): string {
  const unit = units.find(
    ({ word, seconds: size }) => seconds >= size && seconds % size === 0 && (word !== 'd' || seconds >= 2 * size),
  );
  if (!unit) return durationInWords(seconds);
  const count = seconds / unit.seconds;
  const isOdd = (unit.word === 's' && count >= 120) || (unit.word === 'min' && count > 90);
  return isOdd || count > 999 ? durationInWords(seconds) : `${count} ${unit.word}`;
}

/** A rate cut to one decimal, so that one below its minimum never reads like the minimum; 0.0 only if nothing succeeded. */
export function rateInWords(percent: number): string {
  const cut = Math.floor(percent * 10 + 1e-9) / 10;
  return `${(cut <= 0 && percent > 0 ? 0.1 : cut).toFixed(1)} %`;
}

/** A target as a person wrote it: `95 %`, `97.5 %`. */
export function targetInWords(percent: number): string {
  return `${Number(percent.toFixed(2))} %`;
}

/** An instant in a sentence, for who shows it to print by the server's clock. */
export function instantIn(form: 'age' | 'ago' | 'in' | 'at', at: Instant): Words {
  return `{${form}:${new Date(at).toISOString()}}`;
}

/** `exit code 137, OOMKilled`; empty when nothing is known. */
export function exitInWords(run: {
  readonly exitCode?: number | undefined;
  readonly reason?: string | undefined;
  readonly jobReason?: string | undefined;
}): string {
  const { exitCode } = run;
  const parts = [exitCode === undefined ? undefined : `exit code ${exitCode}`, failureReason(run)];
  return parts.filter((part) => part !== undefined && part !== '').join(', ');
}
