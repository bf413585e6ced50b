/** One metric with its series, as a scrape shows it. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
  /** Where it differs from the name of the family: `x_sum`, `x_bucket`. */
  readonly metricName?: string | undefined;
}

/** A family of one series without labels; without a value, of none. */
export function single(type: 'gauge' | 'counter', name: string, help: string, value: number | undefined): Family {
  return { name, help, type, values: value === undefined ? [] : [{ labels: {}, value }] };
}

/** So many lines are made between two turns of the event loop. */
const linesPerPiece = 1000;

/** The labels of a counter or gauge are one object for as long as its series lives: the line stays made until the value changes. */
const madeLines = new WeakMap<object, { readonly value: number; readonly line: string }>();

/**
 * The text format of Prometheus, piece by piece: the event loop turns between two of them, so that a scrape of many series
 * stalls nothing. HELP and TYPE are there for a family without series too.
 */
export async function* renderFamilies(families: AsyncIterable<Family> | Iterable<Family>): AsyncGenerator<string> {
  let piece = '';
  let lines = 0;
  for await (const family of families) {
    const lineOf = family.type === 'counter' || family.type === 'gauge' ? keptLine : makeLine;
    piece += `# HELP ${family.name} ${escapeHelp(family.help)}\n# TYPE ${family.name} ${family.type}\n`;
    for (const sample of family.values) {
      piece += lineOf(family, sample);
      lines += 1;
      if (lines < linesPerPiece) continue;
      yield piece;
      piece = '';
      lines = 0;
      await turnOfTheLoop();
    }
  }
  if (piece !== '') yield piece;
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function keptLine(family: Family, sample: Sample): string {
  const known = madeLines.get(sample.labels);
  if (known?.value === sample.value) return known.line;
  const line = makeLine(family, sample);
  madeLines.set(sample.labels, { value: sample.value, line });
  return line;
}

function makeLine(family: Family, { labels, value, metricName }: Sample): string {
  const pairs = Object.entries(labels)
    .filter(([, label]) => label !== undefined)
    .map(([name, label]) => `${name}="${escapeLabel(String(label))}"`);
  const text = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `${metricName ?? family.name}${text} ${numberText(value)}\n`;
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
