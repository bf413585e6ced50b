import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

const driver = createRequire(createRequire(import.meta.url).resolve('@cronjob-monitor/shared/store')).resolve(
  'better-sqlite3',
);

/** Another process that takes the write lock of a file, holds it and lets go. Resolves when it has it, to its end. */
export async function lockElsewhere(path: string, forMs: number): Promise<{ readonly ended: Promise<unknown> }> {
  const script = `
    const file = new (require(${JSON.stringify(driver)}))(${JSON.stringify(path)});
    file.exec('begin immediate');
    console.log('locked');
    setTimeout(() => { file.exec('commit'); file.close(); }, ${forMs});`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  // It may be over before the question comes.
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return { ended };
}
