import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { KeyPair } from '../servers/index.ts';
import { ArrivalLog } from './arrival-log.ts';

/** A mail that was taken, or that was refused after its last line. */
interface MailArrival {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly from: string;
  /** Recipients of the envelope that were accepted. */
  readonly to: readonly string[];
  /** User that logged in. */
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
  /** As it came: headers and body. */
  readonly raw: string;
  /** The reply to it: 250, or the scripted one. */
  readonly answered: number;
}

/** Replies in place of the good ones: a code, or `hang` for none. */
export interface SmtpScript {
  readonly greeting?: SmtpReply;
  readonly login?: SmtpReply;
  readonly sender?: SmtpReply;
  /** By address. */
  readonly recipients?: Readonly<Record<string, SmtpReply>>;
  /** After the last line of the message. */
  readonly message?: SmtpReply;
}
type SmtpReply = number | 'hang';

export interface SmtpSinkOptions {
  readonly logPath?: string | undefined;
  /** With a certificate it offers STARTTLS, or speaks TLS from the start. */
  readonly tls?: KeyPair | undefined;
  readonly isSecure?: boolean | undefined;
  /** Who may log in; undefined: it offers no login. */
  readonly login?: { readonly user: string; readonly password: string } | undefined;
  /** Offers and takes logins over plain connections too, as careless servers do. */
  readonly loginOverPlain?: boolean | undefined;
}

/** A mail server on loopback that remembers what arrived, on disk if asked to, and answers as it is told. */
export class SmtpSink {
  readonly log: ArrivalLog<MailArrival>;
  /** Commands in which a client tried to log in, with the password: to see that none does over a plain connection. */
  readonly logins: { readonly user: string; readonly password: string; readonly isEncrypted: boolean }[] = [];
  script: SmtpScript = {};
  readonly #server: SMTPServer;
  readonly #login: SmtpSinkOptions['login'];

  private constructor({ logPath, tls, isSecure = false, login, loginOverPlain = false }: SmtpSinkOptions) {
    this.log = new ArrivalLog(logPath);
    this.#login = login;
    const disabled = [...(tls ? [] : ['STARTTLS']), ...(login ? [] : ['AUTH'])];
    this.#server = new SMTPServer({
      ...(tls && { cert: tls.certificate, key: tls.key }),
      secure: isSecure,
      authOptional: true,
      allowInsecureAuth: loginOverPlain,
      disabledCommands: disabled,
      disableReverseLookup: true,
      closeTimeout: 1_000,
      logger: false,
      ...this.#handlers(),
    });
    this.#server.on('error', () => {}); // clients that break off are part of the tests
  }

  static async start(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
    const sink = new SmtpSink(options);
    await new Promise<void>((resolve) => {
      sink.#server.listen(0, '127.0.0.1', resolve);
    });
    return sink;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get arrivals(): readonly MailArrival[] {
    return this.log.arrivals;
  }

  /** Breaks every connection; the server goes on listening. */
  cutConnections(): void {
    const connections = this.#server.connections as ReadonlySet<{ readonly _socket?: { destroy(): void } | undefined }>;
    for (const { _socket: socket } of connections) socket?.destroy();
  }

  async stop(): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      this.#server.close(resolve);
    });
    this.cutConnections();
    await stopped;
    this.log.close();
  }

  #handlers(): SMTPServerOptions {
    return {
      onConnect: (_session, done) => answer(this.script.greeting, done),
      onAuth: (auth, session, done) => {
        const username = auth.username ?? '';
        const password = auth.password ?? '';
        this.logins.push({ user: username, password, isEncrypted: session.secure });
        const isRight = username === this.#login?.user && password === this.#login.password;
        answer(this.script.login ?? (isRight ? undefined : 535), (error) => done(error, { user: username }));
      },
      onMailFrom: (_address, _session, done) => answer(this.script.sender, done),
      onRcptTo: ({ address }, _session, done) => answer(this.script.recipients?.[address], done),
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const reply = this.script.message;
          this.log.append({
            ...envelopeOf(session),
            raw: Buffer.concat(chunks).toString('utf8'),
            answered: typeof reply === 'number' ? reply : 250,
          });
          answer(reply, done);
        });
      },
    };
  }
}

function envelopeOf(session: SMTPServerSession): Pick<MailArrival, 'at' | 'from' | 'to' | 'user' | 'isEncrypted'> {
  const { mailFrom, rcptTo } = session.envelope;
  return {
    at: Date.now(),
    from: (mailFrom && mailFrom.address) || '',
    to: rcptTo.map(({ address }) => address),
    user: typeof session.user === 'string' ? session.user : undefined,
    isEncrypted: session.secure,
  };
}

/** Its words hold no secret of the sender's, so that a test sees whether they are passed on. */
function answer(reply: SmtpReply | undefined, done: (error?: Error | null) => void): void {
  if (reply === 'hang') return;
  if (reply === undefined || reply < 400) return done();
  done(Object.assign(new Error(`words of the mail server ${reply}`), { responseCode: reply }));
}
