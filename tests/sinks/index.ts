export { ArrivalLog, readArrivals } from './arrival-log.ts';
export { startChatSink } from './chat-sink.ts';
export {
  HttpSink,
  type Answering,
  type HttpAnswer,
  type HttpArrival,
  type HttpReply,
  type HttpSinkOptions,
} from './http-sink.ts';
export { parseMail, type Mail } from './mail.ts';
export { incidentsOf, startPagingSink, type Incident, type PagingEvent } from './paging-sink.ts';
export { SmtpSink, type MailArrival, type SmtpReply, type SmtpScript, type SmtpSinkOptions } from './smtp-sink.ts';
export { isSigned, startWebhookSink } from './webhook-sink.ts';
