const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** A duration as Go writes it, such as `1h30m`, in milliseconds. Throws an Error worded as Go words it. */
export function readGoDuration(text: string): number {
  const invalid = new Error(`time: invalid duration ${JSON.stringify(text)}`);
  let rest = text.replace(/^[+-]/, '');
  const sign = text.startsWith('-') ? -1 : 1;
  if (rest === '0') return 0;
  if (rest === '') throw invalid;
  let total = 0;
  while (rest !== '') {
    const number = /^(?:[0-9]+\.?[0-9]*|\.[0-9]+)/.exec(rest)?.[0];
    if (number === undefined) throw invalid;
    rest = rest.slice(number.length);
    const unit = /^[^.0-9]+/.exec(rest)?.[0];
    if (unit === undefined) throw new Error(`time: missing unit in duration ${JSON.stringify(text)}`);
    const factor = units[unit];
    if (factor === undefined) {
      throw new Error(`time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`);
    }
    rest = rest.slice(unit.length);
    total += Number(number) * factor;
  }
  return sign * total;
}
