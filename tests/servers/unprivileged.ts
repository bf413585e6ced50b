import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** The account that runs a database server: an unprivileged one when we are root, since the servers refuse to run as root; otherwise our own. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
  readonly name: string;
}

export function serverUser(): ServerUser {
  const { uid, username } = userInfo();
  if (uid !== 0) return { name: username };
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g'), name: 'nobody' };
}

/** A new folder under the temporary one that this user owns. */
export function makeServerFolder(prefix: string, user: ServerUser): string {
  const folder = mkdtempSync(join(tmpdir(), `${prefix}-`));
  chmodSync(folder, 0o700);
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}
