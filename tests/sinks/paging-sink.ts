import { HttpSink, type Answering, type HttpArrival, type HttpSinkOptions } from './http-sink.ts';

/** An event as it arrived. */
interface PagingEvent {
  readonly routing_key: string;
  readonly event_action: 'trigger' | 'acknowledge' | 'resolve';
  readonly dedup_key: string;
  readonly payload?: { readonly summary: string; readonly severity: string; readonly source: string };
}

/** A paging service with an events endpoint: 202 for an event that it takes, 400 for another. */
export function startPagingSink(options: HttpSinkOptions = {}): Promise<HttpSink> {
  return HttpSink.start({ answer: judgeEvent, ...options });
}

interface Incident {
  readonly key: string;
  readonly summary: string;
  readonly severity: string;
  readonly isOpen: boolean;
  /** Further triggers of the open incident. */
  readonly repeats: number;
}

/** What its users see: one incident for each key, opened by a trigger, closed by a resolve, opened anew by the next trigger. */
export function incidentsOf(arrivals: readonly HttpArrival[]): Incident[] {
  const incidents = new Map<string, Incident>();
  for (const { body, answered } of arrivals) {
    if (answered !== 202) continue;
    const event = JSON.parse(body) as PagingEvent; // judged before it was taken
    const known = incidents.get(event.dedup_key);
    if (event.event_action === 'resolve') {
      if (known) incidents.set(event.dedup_key, { ...known, isOpen: false });
    } else if (event.payload) {
      const { summary, severity } = event.payload;
      const repeats = known?.isOpen ? known.repeats + 1 : 0;
      incidents.set(event.dedup_key, { key: event.dedup_key, summary, severity, isOpen: true, repeats });
    }
  }
  return [...incidents.values()];
}

const judgeEvent: Answering = ({ body }) => {
  const problem = findProblem(body);
  if (problem === undefined) return { status: 202, body: '{"status":"success","message":"Event processed"}' };
  return { status: 400, body: JSON.stringify({ status: 'invalid event', errors: [problem] }) };
};

const severities = ['critical', 'error', 'warning', 'info'];

/** https://developer.pagerduty.com/docs/send-alert-event */
function findProblem(body: string): string | undefined {
  if (Buffer.byteLength(body) > 512_000) return 'too large';
  let event: Partial<PagingEvent>;
  try {
    event = JSON.parse(body) as Partial<PagingEvent>; // looked at field by field below
  } catch {
    return 'no JSON';
  }
  if (!event.routing_key) return "'routing_key' is missing";
  if (!['trigger', 'acknowledge', 'resolve'].includes(event.event_action ?? '')) return "'event_action' is unknown";
  if ((event.dedup_key ?? '').length > 255) return "'dedup_key' is too long";
  if (event.event_action !== 'trigger') return event.dedup_key ? undefined : "'dedup_key' is missing";
  const { summary = '', severity = '', source = '' } = event.payload ?? {};
  if (summary === '' || summary.length > 1_024) return "'payload.summary' is missing or too long";
  if (source === '') return "'payload.source' is missing";
  return severities.includes(severity) ? undefined : "'payload.severity' is unknown";
}
