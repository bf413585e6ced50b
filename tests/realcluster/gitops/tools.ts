import { execFile, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { buildBinary } from '../build-binary.ts';

/** An object as the API server has it, and what is to be read in it. */
interface Question {
  readonly object: object;
  /** Health scripts of Argo CD, by a name of ours. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** `spec.healthCheckExprs` of a Kustomization of Flux. */
  readonly flux?: readonly unknown[];
}

/** What the tools say of it. */
interface Answer {
  readonly scripts: Readonly<Record<string, { readonly status: string; readonly message: string }>>;
  readonly kstatus: string;
  readonly flux?: string;
}

/** Tools of rollouts that are not ours, built from their Go modules. */
export interface Tools {
  /** Throws what a tool refuses. */
  readonly ask: (questions: readonly Question[]) => Answer[];
  /** Runs kubectl; never throws for how it ends. */
  readonly kubectl: (args: readonly string[]) => Promise<{ readonly code: number; readonly said: string }>;
  /** Applies objects as the engine of Argo CD does, by the client or by the server. */
  readonly sync: (kubeconfig: string, way: 'client' | 'server', objects: readonly object[]) => void;
  /** What that engine expects to change in each of them. */
  readonly compare: (kubeconfig: string, objects: readonly object[]) => Difference[];
  /** The script by which Argo CD judges a kind by itself, such as `batch/CronJob`, or why it cannot be had. */
  readonly argoScript: (kind: string) => { readonly script: string } | { readonly skipped: string };
}

/** What an object would become, in each way of the engine; null: it sees no difference. */
interface Difference {
  readonly name: string;
  readonly threeWay: unknown;
  readonly structured: unknown;
  readonly serverSide: unknown;
}

const argo = {
  module: 'github.com/argoproj/argo-cd/v3@v3.6.1',
  sum: 'h1:OmhqeKiR3C//awbFrhQqFdtRI+Qiv17j8vqm3UkMj/g=',
};

/** Or why this machine cannot make them. */
export async function findTools(): Promise<Tools | { readonly skipped: string }> {
  const binary = await buildBinary('gitops');
  if ('skipped' in binary) return binary;
  const { path } = binary;
  const run = (args: readonly string[], input?: string): string => {
    const { status, stdout, stderr } = spawnSync(path, args, { input, encoding: 'utf8', maxBuffer: 1 << 24 });
    if (status !== 0) throw new Error(stderr);
    return stdout;
  };
  return {
    ask: (questions) => answersIn(run([], asLines(questions))),
    sync: (kubeconfig, way, objects) => void run(['sync', kubeconfig, way], asLines(objects)),
    compare: (kubeconfig, objects) => answersIn(run(['compare', kubeconfig], asLines(objects))),
    async kubectl(args) {
      try {
        const { stdout } = await promisify(execFile)(path, ['kubectl', ...args], { encoding: 'utf8' });
        return { code: 0, said: stdout };
      } catch (error) {
        const { code, stderr } = Object(error) as { code: unknown; stderr: unknown };
        if (typeof code !== 'number') throw error;
        return { code, said: String(stderr) };
      }
    },
    argoScript(kind) {
      const zip = findArgo();
      if ('skipped' in zip) return zip;
      return { script: run(['script', zip.path, `resource_customizations/${kind}/health.lua`]) };
    },
  };
}

function asLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

function answersIn<T>(lines: string): T[] {
  return lines
    .trim()
    .split('\n')
    .map((line): T => JSON.parse(line));
}

/** The zip of its module. Go fetches and checks it also where the module asks for a newer Go, and says so besides. */
function findArgo(): { readonly path: string } | { readonly skipped: string } {
  const env = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };
  const { stdout } = spawnSync('go', ['mod', 'download', '-json', argo.module], {
    cwd: tmpdir(),
    env,
    encoding: 'utf8',
  });
  const told = JSON.parse(stdout || '{}') as { Zip?: string; Sum?: string; Error?: string };
  if (told.Zip === undefined || told.Sum === undefined)
    return { skipped: `Go: ${argo.module} cannot be had: ${told.Error ?? 'no answer'}` };
  if (told.Sum !== argo.sum) throw new Error(`${argo.module} has the sum ${told.Sum} and not ${argo.sum}`);
  return { path: told.Zip };
}
