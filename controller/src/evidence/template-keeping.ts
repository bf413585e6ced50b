import type { JobFacts } from '@cronjob-monitor/shared/domain';
import type { Redaction } from '@cronjob-monitor/shared/kube';
import { getTemplateKey, recordTemplates, type NewTemplate, type Store } from '@cronjob-monitor/shared/store';

/** Stores the Job spec of each run once, so that later runs can be compared with it. */
interface TemplateKeeping {
  /** Takes the spec of a run that ended or cannot start. Returns at once; false: the spec is stored already. */
  add(job: JobFacts): boolean;
  /**
   * Writes the added specs, or those of these CronJobs alone. Rejects when the database does not take them; the next flush writes them
   * then.
   */
  flush(cronJobUids?: ReadonlySet<string>): Promise<void>;
}

const mostAtOnce = 100;
/** CronJobs whose last spec is remembered as stored. */
const mostKnown = 100_000;

export function createTemplateKeeping(deps: {
  readonly store: Store;
  readonly epoch: number;
  readonly redaction: Pick<Redaction, 'templates'>;
}): TemplateKeeping {
  const { store, epoch, redaction } = deps;
  /** Hash of the spec that was stored last, by CronJob UID. */
  let known = new Map<string, string>();
  const waiting = new Map<string, JobFacts>();
  let key: string | undefined;
  let last: Promise<unknown> = Promise.resolve();

  return {
    add(job) {
      if (job.template === undefined || known.get(job.cronJobUid) === job.templateHash) return false;
      waiting.set(`${job.cronJobUid} ${job.templateHash}`, job);
      return true;
    },
    flush(cronJobUids) {
      const turn = last.then(() => write(cronJobUids));
      last = turn.catch(() => {}); // its caller hears of it
      return turn;
    },
  };

  async function write(of: ReadonlySet<string> | undefined): Promise<void> {
    const wanted = [...waiting].filter(([, { cronJobUid }]) => of?.has(cronJobUid) ?? true);
    for (let begun = 0; begun < wanted.length; begun += mostAtOnce) {
      const part = wanted.slice(begun, begun + mostAtOnce);
      key ??= await store.fenced(epoch, getTemplateKey);
      const bodies = await redaction.templates(
        part.map(([, { template }]) => template ?? ''),
        key,
      );
      const safe = part.flatMap(([, { cronJobUid, templateHash: hash }], index): NewTemplate[] => {
        const body = bodies[index];
        return body === undefined ? [] : [{ cronJobUid, hash, body }];
      });
      await store.fenced(epoch, async (tx) => recordTemplates(tx, safe));
      if (known.size > mostKnown) known = new Map();
      for (const [name, job] of part) {
        waiting.delete(name);
        known.set(job.cronJobUid, job.templateHash);
      }
    }
  }
}
