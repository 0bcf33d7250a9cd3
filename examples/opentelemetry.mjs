// Makes an OpenTelemetry span of each job, as a child of the span of the request that it serves. Nothing but `traceJobs` is needed in a
// program that has an SDK already, such as that of @opentelemetry/sdk-node.
//
//   npm install @opentelemetry/api @opentelemetry/sdk-trace-base @opentelemetry/context-async-hooks
//   node examples/opentelemetry.mjs
import { tracingChannel } from 'node:diagnostics_channel';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { errorCategory, TorrentCreate, verify } from 'metainfo';

/** Makes a span of each job from now on. */
function traceJobs() {
  const tracer = trace.getTracer('metainfo');
  const spans = new WeakMap();
  tracingChannel('metainfo:job').subscribe({
    // It runs in the context of the caller, whose span becomes the parent.
    start(job) {
      spans.set(job, tracer.startSpan(`metainfo ${job.operation}`));
    },
    error(job) {
      const span = spans.get(job);
      // Somebody who cancels a job knows about it.
      if (errorCategory(job.error) === 'cancelled') return;
      span?.recordException(job.error);
      span?.setStatus({ code: SpanStatusCode.ERROR, message: job.error.message });
      span?.setAttributes({ 'error.type': job.error.code ?? job.error.name });
    },
    asyncEnd(job) {
      const span = spans.get(job);
      for (const name of ['version', 'bytes', 'files', 'queueSeconds'])
        if (job[name] !== null) span?.setAttribute(`metainfo.${name}`, job[name]);
      span?.end();
    },
  });
}

// The SDK of this program keeps its spans in memory. A server sends them to a collector.
const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
traceJobs();

/** A request of a server, with a span of its own. */
async function request(name, serve) {
  await trace.getTracer('server').startActiveSpan(name, async (span) => {
    await serve().catch(() => null);
    span.end();
  });
}
const upload = new TorrentCreate({ sources: [{ path: 'notes.txt', data: Buffer.from('some notes') }] });
await Promise.all([
  request('POST /torrents', () => upload.generate()),
  request('POST /verifications', async () => verify(await upload.generate(), '/nowhere')),
]);

const finished = exporter.getFinishedSpans();
const nameOf = (id) => finished.find((span) => span.spanContext().spanId === id)?.name;
const lines = finished.map(({ name, parentSpanContext, attributes, status }) => {
  const bytes = attributes['metainfo.bytes'] ?? '-';
  const failure = status.code === SpanStatusCode.ERROR ? attributes['error.type'] : 'ok';
  return `${nameOf(parentSpanContext?.spanId) ?? 'client'} > ${name}: ${bytes} bytes, ${failure}`;
});
for (const line of lines.sort()) console.log(line);
