import { failureReason } from '../execution/fault.ts';
import { durationInWords, durationUnits, type Words } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';

/** A limit in the largest unit that divides it evenly, as people write it: `25 h`, `45 min`, but `6 min 54 s` and `1 h 40 min`; days from two on. */
export function limitInWords(seconds: number): string {
  const unit = durationUnits.find(
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
