import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { EmailTarget } from '@cronjob-monitor/shared/domain';
import type { Secrets, Unusable } from '../channel.ts';
import { unusable } from '../secret-value.ts';
import { bareHost } from '../reach.ts';

interface Envelope {
  readonly from: string;
  readonly to: readonly string[];
}

/** What the server said to each recipient, and that it took the mail for those it accepted. */
export interface SmtpResult {
  readonly accepted: readonly string[];
  readonly rejected: readonly Rejection[];
}

export interface Rejection {
  readonly recipient: string;
  /** Undefined: it said something that is no reply. */
  readonly replyCode: number | undefined;
}

/** Where a session ended early. Holds nothing of what was said but its code. */
export class SmtpFailure extends Error {
  readonly stage: 'connect' | 'login' | 'sender' | 'recipients' | 'message';
  /** Reply of the server; undefined: none. */
  readonly replyCode: number | undefined;
  /** Code of the system, of TLS or of the library. */
  readonly code: string | undefined;
  readonly rejected: readonly Rejection[];
  /** The message was begun to be written, and no reply to it came. */
  readonly maybeSent: boolean;

  constructor(facts: Pick<SmtpFailure, 'stage' | 'replyCode' | 'code' | 'rejected' | 'maybeSent'>) {
    super(`the SMTP session ended early: ${facts.stage}`);
    this.name = 'SmtpFailure';
    this.stage = facts.stage;
    this.replyCode = facts.replyCode;
    this.code = facts.code;
    this.rejected = facts.rejected;
    this.maybeSent = facts.maybeSent;
  }
}

/** An error of the library, as far as it is used. Its texts quote the server and are never kept. */
interface LibraryError {
  readonly code?: string | undefined;
  readonly originalCode?: string | undefined;
  readonly command?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly recipient?: string | undefined;
  readonly rejectedErrors?: readonly LibraryError[] | undefined;
}

/** The library says the same when a server offers no encryption; a promise of ours must not hang on that alone. */
const notEncrypted = (): Error => Object.assign(new Error('the connection is not encrypted'), { code: 'ETLS' });

/** The caller's limit is shorter: these only keep the library's own, of minutes, away. */
const libraryLimitMs = 20_000;

/**
 * One mail over an open connection: greeting, TLS, login, envelope, message. The signal's reason when it is aborted, else
 * SmtpFailure. With `tls` required nothing is said before the connection is encrypted; without encryption there is no login.
 */
export class SmtpSession {
  readonly #connection: SMTPConnection;
  readonly #socket: Socket;
  readonly #broken: Promise<never>;
  readonly #login: EmailCredentials['login'];
  readonly #mustEncrypt: boolean;
  #messageBegun = false;

  constructor(socket: Socket, credentials: EmailCredentials, tls: 'required' | 'opportunistic') {
    this.#socket = socket;
    this.#login = credentials.login;
    this.#mustEncrypt = tls === 'required';
    this.#connection = new SMTPConnection({
      connection: socket,
      host: bareHost(credentials.host),
      port: credentials.port,
      secure: credentials.isSecure,
      ...(tls === 'required' ? { requireTLS: true } : { opportunisticTLS: true }),
      tls: { rejectUnauthorized: true },
      connectionTimeout: libraryLimitMs,
      greetingTimeout: libraryLimitMs,
      socketTimeout: libraryLimitMs,
      socketCloseTimeout: 1_000,
      maxResponseSize: 64 * 1024,
      logger: false,
    });
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {}); // Every step hears of it.
    this.#connection.on('error', reject);
    this.#broken = promise;
  }

  /** @throws SmtpFailure, or the signal's reason */
  async deliver(
    mail: { readonly envelope: Envelope; readonly content: Buffer },
    signal: AbortSignal,
  ): Promise<SmtpResult> {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    aborted.catch(() => {});
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const either = <Result>(step: Promise<Result>): Promise<Result> => {
      step.catch(() => {}); // A later failure of a step that was given up changes nothing.
      return Promise.race([step, this.#broken, aborted]);
    };
    try {
      signal.throwIfAborted();
      await either(this.#connect());
      if (this.#mustEncrypt && !this.#connection.secure) throw notEncrypted();
      if (this.#login && this.#connection.secure) await either(this.#logIn(this.#login));
      const result = await either(this.#send(mail.envelope, mail.content));
      this.#connection.quit();
      this.#connection.close();
      return result;
    } catch (error) {
      this.#connection.close();
      this.#socket.destroy();
      signal.throwIfAborted();
      throw this.#toFailure(error as LibraryError); // all that is left is the library's
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Whether some of the message was written: for those who give up. */
  get messageBegun(): boolean {
    return this.#messageBegun;
  }

  #connect(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#connection.connect((error) => (error ? reject(error) : resolve()));
    });
  }

  #logIn({ user, password }: NonNullable<EmailCredentials['login']>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#connection.login({ user, pass: password }, (error) => (error ? reject(error) : resolve()));
    });
  }

  #send({ from, to }: Envelope, mail: Buffer): Promise<SmtpResult> {
    return new Promise((resolve, reject) => {
      this.#connection.send({ from, to: [...to], size: mail.length }, this.#reading(mail), (error, info) => {
        if (error) reject(error);
        else resolve({ accepted: info.accepted, rejected: toRejections(info.rejectedErrors) });
      });
    });
  }

  /** The mail as a stream that remembers that it was asked for: before that nothing of it was written. */
  #reading(mail: Buffer): Readable {
    const begin = (): void => {
      this.#messageBegun = true;
    };
    return new Readable({
      read() {
        begin();
        this.push(mail);
        this.push(null);
      },
    });
  }

  #toFailure({ code, originalCode, command = '', responseCode, rejectedErrors }: LibraryError): SmtpFailure {
    return new SmtpFailure({
      stage: stageOf(command, code),
      replyCode: responseCode || undefined,
      code: originalCode ?? code,
      rejected: toRejections(rejectedErrors),
      maybeSent: this.#messageBegun && !responseCode,
    });
  }
}

function stageOf(command: string, code: string | undefined): SmtpFailure['stage'] {
  if (command.startsWith('AUTH') || code === 'EAUTH') return 'login';
  if (command === 'MAIL FROM') return 'sender';
  if (command === 'RCPT TO') return 'recipients';
  return command === 'DATA' ? 'message' : 'connect';
}

function toRejections(errors: readonly LibraryError[] | undefined): Rejection[] {
  return (errors ?? []).flatMap(({ recipient, responseCode }) =>
    recipient === undefined ? [] : [{ recipient, replyCode: responseCode || undefined }],
  );
}

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
