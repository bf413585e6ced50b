export { readArrivals } from './arrival-log.ts';
export { startChatSink } from './chat-sink.ts';
export { HttpSink, type HttpAnswer, type HttpArrival } from './http-sink.ts';
export { parseMail, type Mail } from './mail.ts';
export { incidentsOf, startPagingSink } from './paging-sink.ts';
export { SmtpSink, type SmtpScript, type SmtpSinkOptions } from './smtp-sink.ts';
export { isSigned, startWebhookSink } from './webhook-sink.ts';
