import type { EmailTarget } from '@cronjob-monitor/shared/domain';
import type { Secrets, Unusable } from '../channel.ts';
import { unusable } from '../secret-value.ts';

export interface EmailCredentials {
  readonly host: string;
  readonly port: number;
  /** TLS from the start. */
  readonly isSecure: boolean;
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

/** Submission (RFC 6409), and submission over TLS (RFC 8314). */
const defaultPort = 587;
const securePort = 465;

/** Keys `host`, `port`, `username` and `password` of the Secret: alerting.md section 10.4. */
export function emailCredentialsOf({ email }: EmailTarget, secrets: Secrets): EmailCredentials | Unusable {
  const { namespace, name } = email.smtpSecretRef;
  const content = secrets({ namespace, name });
  const problem = (what: string): Unusable => unusable(`Secret ${namespace}/${name} ${what}`);
  if (!content) return problem('does not exist');

  const host = content.get('host')?.trim() ?? '';
  if (host === '') return problem('has no value under the key host');
  if (!isHost(host)) return problem('has a host that is no name or address');
  const port = content.get('port')?.trim() || String(defaultPort);
  if (!/^[0-9]{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    return problem('has a port that is none');

  // A password is taken as it is but for the end of the line that files have.
  const user = content.get('username')?.trim() ?? '';
  const password = content.get('password')?.replace(/\r?\n$/, '') ?? '';
  if ((user === '') !== (password === '')) return problem('needs both username and password, or neither');
  if (user.includes('\0') || password.includes('\0')) return problem('has a username or password that cannot be sent');
  return {
    host,
    port: Number(port),
    isSecure: Number(port) === securePort,
    login: user === '' ? undefined : { user, password },
  };
}

/** A URL knows what a host is; anything beside it would be a part of another kind. */
function isHost(text: string): boolean {
  const isAddress = text.includes(':');
  const url = URL.parse(`http://${isAddress && !text.startsWith('[') ? `[${text}]` : text}/`);
  return url !== null && /^[^\s/?#@\\]+$/.test(text) && url.port === '' && url.pathname === '/';
}
