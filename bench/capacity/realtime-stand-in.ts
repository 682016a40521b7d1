// The peer's realtime service, as far as its transport needs it: takes the caller's audio, and talks without end.
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { decodeMulaw } from '../../src/audio/g711.ts';
import type { Ledger } from './ledger.ts';
import { CHUNK_MS, type StandInOptions } from './stand-in.ts';
import { LEAD_FRAMES, type Workload } from './workload.ts';

/** One loopback port. @returns its address, which wants `?call=` with the call's number, and what closes it */
export async function startRealtimeStandIn(work: Workload, ledger: Ledger): Promise<{ url: string; close: () => void }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false, skipUTF8Validation: true });
  const chunks = base64Chunks(work.voice);
  server.on('connection', (socket, request) => {
    const call = Number(new URL(request.url ?? '/', 'ws://stand-in').searchParams.get('call'));
    const hear = listener(call, work, ledger);
    const silence = talk(socket, call, chunks, ledger);
    socket.on('close', silence);
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString('latin1')) as { type: string; audio?: string; session?: unknown };
      if (event.audio !== undefined) hear(Buffer.from(event.audio, 'base64'));
      else if (event.type === 'session.update')
        socket.send(JSON.stringify({ type: 'session.updated', event_id: 'updated', session: event.session }));
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

/** The peer drops what comes before it is connected, so that a line is compared from the first frame after its lead. */
function listener(call: number, work: Workload, ledger: Ledger): (mulaw: Buffer) => void {
  const first = work.pcm(call, LEAD_FRAMES);
  let heard: number | undefined;
  return (mulaw) => {
    const samples = decodeMulaw(mulaw);
    const pcm = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
    if (heard === undefined && pcm.equals(first)) heard = (LEAD_FRAMES * first.length) / 2;
    if (heard === undefined) return;
    ledger.heard(call, heard, pcm);
    heard += samples.length;
  };
}

/** One response after another, as long as the voice, in real time. @returns what ends it */
function talk(socket: WebSocket, call: number, chunks: readonly string[], ledger: Ledger): () => void {
  const startedMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const send = (type: string, at: string, more: object): void =>
    socket.send(JSON.stringify({ type, event_id: `${type}.${at}`, ...more }));
  const next = (index: number): void => {
    const [response, at] = [Math.floor(index / chunks.length), index % chunks.length];
    const place = { response_id: `response_${response}`, item_id: `item_${response}`, output_index: 0, content_index: 0 };
    const facts = { id: place.response_id, object: 'realtime.response', output: [] };
    if (at === 0) {
      send('response.created', `${index}`, { response: { ...facts, status: 'in_progress' } });
      ledger.speaks(call);
    }
    send('response.output_audio.delta', `${index}`, { ...place, delta: chunks[at] });
    if (at === chunks.length - 1) {
      send('response.output_audio.done', `${index}`, place);
      send('response.done', `${index}`, { response: { ...facts, status: 'completed' } });
    }
    timer = setTimeout(() => next(index + 1), startedMs + (index + 1) * CHUNK_MS - performance.now());
  };
  send('session.created', '0', { session: {} });
  next(0);
  return () => clearTimeout(timer);
}

function base64Chunks(voice: StandInOptions['voice']): string[] {
  const framesOfChunk = CHUNK_MS / 20;
  return Array.from({ length: Math.floor(voice.frames.length / framesOfChunk) }, (_, at) =>
    Buffer.concat(voice.frames.slice(at * framesOfChunk, (at + 1) * framesOfChunk)).toString('base64'),
  );
}
