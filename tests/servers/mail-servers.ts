import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Child } from './child-process.ts';
import { findFreePort } from './free-port.ts';

/** Postfix takes mail for example.org on loopback, and Dovecot sorts it into mailboxes by the Sieve scripts of their owners. */
export interface MailServers {
  /** Where Postfix listens, without TLS and without a password. */
  readonly port: number;
  /** The Sieve script of a mailbox (`team` of team@example.org), for all mail from now on. */
  sortBy(user: string, script: string): void;
  /** What lies in a mailbox, with the line ends that it was sent with. */
  mailsOf(user: string): string[];
  /** What both have logged. */
  log(): string;
  stop(): Promise<void>;
}

const programs = ['/usr/sbin/postfix', '/usr/sbin/dovecot', '/usr/lib/dovecot/modules/lib90_sieve_plugin.so'];
/** Debian packages that bring them. */
const mailPackages = 'postfix dovecot-core dovecot-lmtpd dovecot-sieve';

/** Why they cannot be started here; undefined: they can. Both change to accounts of their own, which only root may. */
export function whyNoMailServers(): string | undefined {
  if (programs.some((path) => !existsSync(path)))
    return `Postfix and Dovecot are not installed (apt-get install ${mailPackages})`;
  return process.getuid?.() === 0 ? undefined : 'Postfix and Dovecot need root';
}

/** Starts both with folders and ports of their own; an installation of the machine is left alone. Rejects when they do not listen in time. */
export async function startMailServers(): Promise<MailServers> {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-mail-'));
  chmodSync(folder, 0o755);
  const [port, lmtpPort] = [await findFreePort(), await findFreePort()];
  const folders = ['postfix', 'queue', 'data', 'dovecot', 'run', 'mail'].map((name) => join(folder, name));
  for (const one of folders) mkdirSync(one);
  chownSync(join(folder, 'data'), idOf('postfix'), -1);
  chownSync(join(folder, 'mail'), idOf('dovecot'), -1);
  writeFileSync(join(folder, 'postfix/main.cf'), mainOf(folder, lmtpPort));
  writeFileSync(join(folder, 'postfix/master.cf'), masterOf(port));
  writeFileSync(join(folder, 'dovecot/dovecot.conf'), dovecotOf(folder, lmtpPort));
  const dovecot = new Child({ command: '/usr/sbin/dovecot', args: ['-F', '-c', join(folder, 'dovecot/dovecot.conf')] });
  const postfix = new Child({ command: '/usr/sbin/postfix', args: ['-c', join(folder, 'postfix'), 'start-fg'] });
  const servers: MailServers = {
    port,
    sortBy(user, script) {
      mkdirSync(join(folder, 'mail', user), { recursive: true });
      chownSync(join(folder, 'mail', user), idOf('dovecot'), -1);
      writeFileSync(join(folder, 'mail', user, 'rules.sieve'), script);
    },
    mailsOf(user) {
      const box = join(folder, 'mail', user, 'new');
      return existsSync(box)
        ? readdirSync(box).map((name) => readFileSync(join(box, name), 'utf8').replaceAll(/\r?\n/g, '\r\n'))
        : [];
    },
    log: () => {
      const file = join(folder, 'postfix.log');
      return [postfix.output, existsSync(file) ? readFileSync(file, 'utf8') : '', dovecot.output].join('\n');
    },
    async stop() {
      await promisify(execFile)('/usr/sbin/postfix', ['-c', join(folder, 'postfix'), 'stop']).catch(() => {}); // not running
      dovecot.signal('SIGTERM');
      await Promise.all([postfix.ended(), dovecot.ended()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    for (const one of [port, lmtpPort]) await untilListening(one);
  } catch (error) {
    const log = servers.log();
    await servers.stop();
    throw new Error(`Postfix or Dovecot does not listen:\n${log}`, { cause: error });
  }
  return servers;
}

async function untilListening(port: number, limitMs = 30_000): Promise<void> {
  for (const endsAt = performance.now() + limitMs; ; await wait(100)) {
    const socket = connect(port, '127.0.0.1');
    const { promise, resolve } = Promise.withResolvers<boolean>();
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    const isOpen = await promise;
    socket.destroy();
    if (isOpen) return;
    if (performance.now() > endsAt) throw new Error(`nothing listens on port ${port}`);
  }
}

function idOf(account: string): number {
  return Number(spawnSync('id', ['-u', account], { encoding: 'utf8' }).stdout);
}

/** https://www.postfix.org/postconf.5.html */
const mainOf = (folder: string, lmtpPort: number): string => `compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mail.example.org
mydestination =
mynetworks = 127.0.0.0/8
virtual_mailbox_domains = example.org
virtual_mailbox_maps =
virtual_transport = lmtp:inet:127.0.0.1:${lmtpPort}
local_recipient_maps =
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_tls_security_level = none
maillog_file = ${folder}/postfix.log
maillog_file_prefixes = ${folder}
`;

/** https://www.postfix.org/master.5.html: service, type, private, unprivileged, chroot, wakeup, processes, command. */
const masterOf = (port: number): string => `127.0.0.1:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
proxymap unix - - n - - proxymap
postlog unix-dgram n - n - 1 postlogd
`;

/** https://doc.dovecot.org/2.3/configuration_manual/protocols/lmtp_server/ */
const dovecotOf = (folder: string, lmtpPort: number): string => `base_dir = ${folder}/run
instance_name = ${folder.slice(folder.lastIndexOf('/') + 1)}
protocols = lmtp
log_path = /dev/stderr
ssl = no
mail_location = maildir:${folder}/mail/%n
first_valid_uid = 1
first_valid_gid = 1
userdb {
  driver = static
  args = uid=dovecot gid=dovecot home=${folder}/mail/%n
}
passdb {
  driver = static
  args = nopassword=y
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${lmtpPort}
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
protocol lmtp {
  postmaster_address = postmaster@example.org
  mail_plugins = sieve
}
plugin {
  sieve = file:${folder}/mail/%n/rules.sieve
}
`;
