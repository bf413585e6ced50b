import type { ComparedKey, ComparedRow, RunComparison } from '@cronjob-monitor/shared/contract';

const keyWords: Readonly<Record<ComparedKey, string>> = {
  image: 'Image',
  digest: 'Digest',
  command: 'Command',
  args: 'Arguments',
  env: 'Env',
  resources: 'Resources',
  spec: 'Spec',
  schedule: 'Schedule',
  node: 'Node',
  outcome: 'Outcome',
};

/** `Image`, `Env main: MODE`, `main: memory limit`. */
export function rowTitle({ key, name }: Pick<ComparedRow, 'key' | 'name'>): string {
  if (name === null) return key === 'env' ? 'Env names' : keyWords[key];
  // The path and the amount say what they are.
  if (key === 'resources' || key === 'spec') return name;
  return `${keyWords[key]} ${name}`;
}

/** `Image and arguments differ from the last success`. */
export function comparedTitle({ words }: Pick<RunComparison, 'words'>, isLastSuccess: boolean, at: string): string {
  const than = isLastSuccess ? 'the last success' : `the run of ${at}`;
  if (words === null) return `Compared with ${than}`;
  return / differs?$/.test(words) ? `${words} from ${than}` : `${words}, beside ${than}`;
}
