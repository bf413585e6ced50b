import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const dockerfile = resolve(import.meta.dirname, '../../Dockerfile');

/** What the image sets for its processes. */
export function imageEnvironment(): Record<string, string> {
  const lines = readFileSync(dockerfile, 'utf8').matchAll(/^ENV (\w+)=(\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

/** What the image hands to Node before the program. */
export function imageArguments(): string[] {
  const [, list = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync(dockerfile, 'utf8')) ?? [];
  return (JSON.parse(list) as string[]).slice(1);
}
