/** A rate in percent cut to one decimal, as verdicts say it: none below its minimum reads like the minimum. 0.0 only if nothing succeeded; null is no data. */
export function percentText(rate: number | null): string {
  if (rate === null) return 'no data';
  const cut = Math.floor(rate * 10 + 1e-9) / 10;
  return `${(cut <= 0 && rate > 0 ? 0.1 : cut).toFixed(1)} %`;
}

/** A target in percent, as a person wrote it: `95 %`, `97.5 %`. */
export function targetText(percent: number): string {
  return `${Number(percent.toFixed(2))} %`;
}

/** A count with groups of three: `35,120`. */
export function countText(count: number | null): string {
  return count === null ? 'no data' : count.toLocaleString('en-US');
}

/** A fact as people read it: `1,200,000`, `0.0125`. */
export function factText(value: number): string {
  const digits = Math.abs(value) >= 1 ? { maximumFractionDigits: 3 } : { maximumSignificantDigits: 3 };
  return value.toLocaleString('en-US', digits);
}

/** `1 run`, `2 runs`. */
export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** `3rd`, for "3rd failure in a row". */
export function ordinal(count: number): string {
  const tens = count % 100;
  const ending = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${count}${ending}`;
}

/** Bytes in the unit that leaves one to three digits: `46 MiB`. */
export function bytesText(bytes: number | null): string {
  if (bytes === null) return 'no data';
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(names.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${names[power]}`;
}

/** `a`, `a and b`, `a, b and c`, and beyond `most` of them `a, b and 3 more`. */
export function listText(items: readonly string[], most = 3): string {
  if (items.length > most) return `${items.slice(0, most - 1).join(', ')} and ${items.length - most + 1} more`;
  if (items.length < 2) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
