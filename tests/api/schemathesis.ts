import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const version = '4.32.5';
/** git ignores it. */
const folder = fileURLToPath(new URL('../../.cache/schemathesis', import.meta.url));
const program = `${folder}/bin/schemathesis`;
const installMs = 180_000;

/** Why schemathesis cannot run here; undefined: it can. Installs it when it is not there. */
export function whyNoSchemathesis(): string | undefined {
  if (installed() === version) return undefined;
  const venv = spawnSync('python3', ['-m', 'venv', folder], { timeout: installMs, encoding: 'utf8' });
  if (venv.status !== 0) return 'there is no python3 with venv (apt-get install python3-venv)';
  const pip = spawnSync(`${folder}/bin/pip`, ['install', '--quiet', `schemathesis==${version}`], {
    timeout: installMs,
    encoding: 'utf8',
  });
  if (pip.status !== 0 || installed() !== version) return `pip cannot install schemathesis==${version} here`;
  return undefined;
}

function installed(): string | undefined {
  if (!existsSync(program)) return undefined;
  const { stdout } = spawnSync(program, ['--version'], { timeout: installMs, encoding: 'utf8' });
  return /(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
}

interface SchemathesisRun {
  readonly status: number | null;
  /** What it wrote: the failures, each with the request that made it. */
  readonly output: string;
}

/** Makes requests of the OpenAPI document that the server at `port` serves, right and wrong ones. */
export function runSchemathesis(
  port: number,
  options: { readonly seed: number; readonly examples: number; readonly limitMs: number },
): Promise<SchemathesisRun> {
  const api = `http://127.0.0.1:${port}/api/v1`;
  const child = spawn(
    program,
    [
      'run',
      `${api}/openapi.json`,
      `--url=${api}`,
      '--checks=not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance',
      '--phases=examples,coverage,fuzzing',
      `--max-examples=${options.examples}`,
      `--seed=${options.seed}`,
      '--generation-database=none',
      '--no-shrink',
      '--continue-on-failure',
      '--suppress-health-check=all',
      '--request-timeout=20',
      '--warnings=off',
      '--no-color',
      // A stream of events has no end to wait for.
      '--exclude-path=/events/stream',
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: options.limitMs },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}
