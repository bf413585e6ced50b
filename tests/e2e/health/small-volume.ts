import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** A real file system of a few megabytes, mounted for one test: ext4 on a loop device. */
export interface SmallVolume {
  readonly folder: string;
  /** Leaves no room on it. */
  fill(): void;
  /** Gives the room back. */
  empty(): void;
  /** The kernel makes it read-only, as it does when a disk fails. It stays so. */
  fail(): void;
  /** No process may write to this file, whatever its mode. */
  setImmutable(path: string, isImmutable: boolean): void;
  remove(): void;
}

/** Why no volume can be mounted here; undefined: it can. */
export function whyNoVolume(): string | undefined {
  if (process.platform !== 'linux') return 'a small volume is mounted on Linux alone';
  if (process.getuid?.() !== 0) return 'mounting a small volume needs root';
  try {
    mountVolume(4).remove();
    return undefined;
  } catch (error) {
    return `a small volume cannot be mounted here: ${(error as Error).message}`;
  }
}

export function mountVolume(megabytes: number): SmallVolume {
  const place = mkdtempSync(join(tmpdir(), 'cronjob-monitor-volume-'));
  const image = join(place, 'image');
  const folder = join(place, 'volume');
  const fillers = [join(folder, 'filler'), join(folder, 'last-bytes')];
  try {
    writeFileSync(image, '');
    truncateSync(image, megabytes * 1024 ** 2);
    run('mkfs.ext4', '-q', '-m', '0', '-O', '^has_journal', image);
    run('mkdir', folder);
    run('mount', '-o', 'loop,errors=remount-ro', image, folder);
  } catch (error) {
    rmSync(place, { recursive: true, force: true });
    throw error;
  }
  const device = run('findmnt', '-n', '-o', 'SOURCE', folder).trim();
  return {
    folder,
    fill: () => {
      for (const filler of fillers) spawnSync('sh', ['-c', `cat /dev/zero > ${filler}`]);
    },
    empty: () => {
      for (const filler of fillers) rmSync(filler, { force: true });
    },
    fail: () => writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, '1'),
    setImmutable: (path, isImmutable) => void run('chattr', isImmutable ? '+i' : '-i', path),
    remove: () => {
      run('umount', '--lazy', folder);
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** What it printed. Throws what it complained of. */
function run(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(error?.message ?? `${command}: ${stderr.trim()}`);
  return stdout;
}
