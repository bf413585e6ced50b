import { systemClock } from '@cronjob-monitor/shared/process';
import { openStore, type ServerSettings, type Store, type Tx } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { readNumber, readRows } from '../../store/rows.ts';
import { until } from './bench.ts';

/** Longer than anything that happens here. */
const patienceMs = 30_000;

/** Another client of the same database, whose transactions stand in the way of those of the service. */
export class Bystander {
  readonly #store: Store;

  constructor(settings: ServerSettings) {
    this.#store = openStore(settings, {
      clock: systemClock,
      log: new RecordingLogger(),
      statementLimitMs: patienceMs,
      limits: { lockMs: patienceMs, idleInTransactionMs: patienceMs },
    });
  }

  /** Holds the row of a CronJob for as long as `during` takes. */
  async holdCronJob(id: number, during: () => Promise<void>): Promise<void> {
    await this.#inTransaction(async (tx) => {
      await lockRow(tx, 'cronjobs', 'id', id);
      await during();
    });
  }

  /**
   * Takes locks in the other order than a recording does: first the figures of the day, then, once the recording waits for them, the row
   * of the CronJob. `begin` makes a run end.
   */
  async deadlock(cronJobId: number, begin: () => void): Promise<void> {
    await this.#inTransaction(async (tx) => {
      await this.#gainWeight(tx);
      await lockRow(tx, 'rollups', 'cronjob_id', cronJobId);
      begin();
      await until('another transaction waits for it', async () => this.#isWaitedFor(tx), patienceMs);
      await lockRow(tx, 'cronjobs', 'id', cronJobId);
    });
  }

  /** From now on two of three inserts of runs of this CronJob fail as a serialization does. */
  async failInserts(cronJobId: number): Promise<void> {
    const statements =
      this.#store.dialect.name === 'postgres'
        ? [
            'create sequence inserts_tried',
            `create function fail_inserts() returns trigger language plpgsql as $$ begin
               if new.cronjob_id = ${cronJobId} and nextval('inserts_tried') % 3 <> 0 then
                 raise exception 'could not serialize access' using errcode = '40001';
               end if;
               return new;
             end $$`,
            'create trigger fail_inserts before insert on executions for each row execute function fail_inserts()',
          ]
        : [
            'create sequence inserts_tried nocache',
            `create trigger fail_inserts before insert on executions for each row
             begin
               if new.cronjob_id = ${cronJobId} and nextval(inserts_tried) % 3 <> 0 then
                 signal sqlstate 'HY000' set mysql_errno = 1020, message_text = 'record has changed';
               end if;
             end`,
          ];
    for (const statement of statements) await this.#store.sql.raw(statement.replaceAll('?', '\\?'));
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  /** Once only: a transaction of the test that is chosen as the victim is a mistake of the test. */
  async #inTransaction(work: (tx: Tx) => Promise<void>): Promise<void> {
    let isTried = false;
    await this.#store.transaction(async (tx) => {
      if (isTried) throw new Error('the transaction of the test was the victim');
      isTried = true;
      await work(tx);
    });
  }

  /** MariaDB ends the transaction that has changed less. */
  async #gainWeight(tx: Tx): Promise<void> {
    if (tx.dialect.name !== 'mysql') return;
    await this.#store.sql.raw('create table if not exists weight (n integer)');
    await tx.sql.raw('insert into weight select seq from seq_1_to_5000');
  }

  async #isWaitedFor(tx: Tx): Promise<boolean> {
    if (tx.dialect.name === 'postgres') {
      const [own] = tx.dialect.rowsOf(await tx.sql.raw('select pg_backend_pid() as pid'));
      const blocked = `select count(*) as n from pg_stat_activity where ${Number(own?.['pid'])} = any (pg_blocking_pids(pid))`;
      return (await readNumber(this.#store, blocked)) > 0;
    }
    const [own] = tx.dialect.rowsOf(await tx.sql.raw('select connection_id() as pid'));
    const rows = await readRows(
      this.#store,
      `select 1 from information_schema.innodb_lock_waits w join information_schema.innodb_trx t on t.trx_id = w.blocking_trx_id
       where t.trx_mysql_thread_id = ${Number(own?.['pid'])}`,
    );
    return rows.length > 0;
  }
}

async function lockRow(tx: Tx, table: string, column: string, value: number): Promise<void> {
  await tx.sql.raw(`select ${column} from ${table} where ${column} = ${value}${tx.dialect.lock.update}`);
}
