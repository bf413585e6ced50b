import { counted } from '@cronjob-monitor/shared/domain';
import { adviceLevels, type AdviceLevel } from '@cronjob-monitor/shared/contract';

/** What is spoken of: where it stands, and its kind and name. */
export interface Subject {
  readonly place: string;
  readonly title: string;
}

/** Something to say about one object of a file. */
export interface Finding {
  readonly subject: Subject;
  readonly level: AdviceLevel;
  /** `schema` for what a field may not be, else a code of the lint. */
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

/** The findings by their objects, the worst first, and a line that counts them. */
export function describeFindings(findings: readonly Finding[], objects: number): string {
  const blocks = [...Map.groupBy(findings, ({ subject }) => subject)].map(([subject, ofOne]) => {
    const sorted = ofOne.toSorted((a, b) => adviceLevels.indexOf(a.level) - adviceLevels.indexOf(b.level));
    return [`${subject.place}: ${subject.title}`, ...sorted.map(lineOf)].join('\n');
  });
  return `${[...blocks, summaryOf(findings, objects)].join('\n')}\n`;
}

function lineOf({ level, path, message, code }: Finding): string {
  return `  ${level.padEnd(7)}  ${path}: ${message}${code === 'schema' ? '' : ` (${code})`}`;
}

function summaryOf(findings: readonly Finding[], objects: number): string {
  if (objects === 0) return 'no CronJobMonitor and no AlertChannel: nothing to check';
  const of = counted(objects, 'object');
  if (findings.length === 0) return `${of}, nothing to say`;
  const counts = adviceLevels.map((level) => counted(findings.filter((one) => one.level === level).length, level));
  return `${of}: ${counts.join(', ')}`;
}

/** Whether one of the findings is at least so bad. */
export function reaches(findings: readonly Finding[], level: AdviceLevel): boolean {
  const worst = adviceLevels.indexOf(level);
  return findings.some((finding) => adviceLevels.indexOf(finding.level) <= worst);
}

/** The same for a program: flat, in the order of the files. */
export function presentFindings(findings: readonly Finding[]): object[] {
  return findings.map(({ subject, level, code, path, message }) => ({
    place: subject.place,
    object: subject.title,
    level,
    code,
    path,
    message,
  }));
}
