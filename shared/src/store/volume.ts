import { accessSync, closeSync, constants, openSync, statfsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The volume of a database file, as it is now. */
export interface VolumeState {
  /** What an unprivileged account may still take; undefined where the system does not tell. */
  readonly freeBytes: number | undefined;
  readonly isReadOnly: 'volume' | 'file' | undefined;
}

/** Looks at the volume of a file and at the files of the database on it. Never throws. */
export function lookAtVolume(path: string): VolumeState {
  return { freeBytes: freeBytesOf(dirname(path)), isReadOnly: findReadOnly(path) };
}

function freeBytesOf(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined; // the folder is gone, which the database says in its own words
  }
}

function findReadOnly(path: string): VolumeState['isReadOnly'] {
  // A file is opened: of a volume that the kernel made read-only after an error, access alone says that it can be written.
  const tries = [
    () => closeSync(openSync(path, 'r+')),
    () => closeSync(openSync(`${path}-wal`, 'r+')),
    () => accessSync(dirname(path), constants.W_OK),
  ];
  for (const attempt of tries) {
    try {
      attempt();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EROFS') return 'volume';
      if (code === 'EPERM' || code === 'EACCES') return 'file';
    }
  }
  return undefined;
}

/** As much as the largest transaction writes at once: one that is smaller could pass on a volume that the next one fills. */
const scratchBytes = 1024 ** 2;

/** Writes a scratch file beside the database, makes sure of it and removes it. Throws what the system says: ENOSPC, EROFS, EDQUOT, EFBIG. */
export async function tryToWrite(path: string): Promise<void> {
  for (const one of [path, `${path}-wal`]) {
    const file = await open(one, 'r+').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined; // it is made when it is first needed
      throw error;
    });
    await file?.close();
  }
  const scratch = `${path}-room`;
  const file = await open(scratch, 'w', 0o600);
  try {
    await file.writeFile(Buffer.alloc(scratchBytes));
    await file.sync();
  } finally {
    await file.close();
    await rm(scratch, { force: true });
  }
}
