// A client of the platform written from its documents, for measuring: nothing of the product's own client is in the way.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { encodeAudio } from '../../src/audio/codec.ts';

export interface Addresses {
  readonly authUrl: string;
  readonly asrUrl: string;
  readonly ttsUrl: string;
  readonly apiKey: string;
}

const FRAME_MS = 20;
export const RATE_HZ = 8000;

export async function mint({ authUrl, apiKey }: Addresses): Promise<string> {
  const response = await fetch(`${authUrl}/api/auth/token`, { method: 'POST', headers: { 'api-key': apiKey } });
  return ((await response.json()) as { token: string }).token;
}

/** An open synthesis socket; one synthesis after another. */
export async function openSpeaker({ ttsUrl }: Addresses, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${ttsUrl.replace('http', 'ws')}/v1/realtime`, { headers });
  await once(socket, 'open');
  return {
    /** @returns milliseconds from the request to the first audio, and the audio */
    async speak(input: string, voice: string): Promise<{ firstMs: number; pcm: Int16Array }> {
      const startedMs = performance.now();
      let firstMs = Number.NaN;
      const parts: Buffer[] = [];
      const done = new Promise<void>((resolve, reject) => {
        socket.on('message', (data: Buffer, isBinary: boolean) => {
          if (isBinary) {
            if (parts.length === 0) firstMs = performance.now() - startedMs;
            parts.push(data);
            return;
          }
          const { type, error } = JSON.parse(data.toString('utf8')) as { type: string; error?: string };
          if (type === 'completion') resolve();
          if (type === 'error') reject(new Error(error));
        });
      });
      socket.send(JSON.stringify({ model: 'zero-indic', input, voice, response_format: 'pcm', encoding: 'pcm' }));
      await done;
      socket.removeAllListeners('message');
      const bytes = Buffer.concat(parts);
      return { firstMs, pcm: Int16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at)) };
    },
    close: () => socket.terminate(),
  };
}

/** An open recognition session, fed at the pace of a call. */
export async function openListener({ asrUrl }: Addresses, token: string, language: string) {
  let onFinal: (text: string) => void = () => undefined;
  const socket = new WebSocket(`${asrUrl.replace('http', 'ws')}/v1/realtime`);
  await once(socket, 'open');
  socket.send(JSON.stringify({ token, language_code: language, sample_rate: RATE_HZ }));
  await once(socket, 'message');
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString('utf8')) as { type: string; text?: string };
    if (event.type === 'final') onFinal(event.text ?? '');
  });
  return {
    /** Sends speech in frames of 20 ms, each in its time, then commits. @returns milliseconds from commit to final, and its text */
    async hear(pcm: Int16Array): Promise<{ finalMs: number; text: string }> {
      const frame = (RATE_HZ * FRAME_MS) / 1000;
      const startedMs = performance.now();
      for (let at = 0, index = 0; at < pcm.length; at += frame, index += 1) {
        await untilMs(startedMs + index * FRAME_MS);
        socket.send(encodeAudio('pcm16', pcm.subarray(at, at + frame)));
      }
      const final = new Promise<string>((resolve) => (onFinal = resolve));
      const committedMs = performance.now();
      socket.send('commit');
      const text = await final;
      return { finalMs: performance.now() - committedMs, text };
    },
    close: () => socket.terminate(),
  };
}

async function untilMs(dueMs: number): Promise<void> {
  const leftMs = dueMs - performance.now();
  if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
}
