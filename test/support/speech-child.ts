import { SpeechError, SpeechPlatform } from '../../src/speech/index.ts';

/*
 * A program as users of `offhook/speech` write it: nothing of it keeps the process alive but the waits themselves. It prints one
 * line after each wait, so that the last line tells which wait the process did not survive.
 */
const url = process.argv[2] ?? '';
const { signal } = new AbortController();
const recording = { bytes: new Uint8Array(64), name: 'a.wav' };
const settings = { authUrl: url, asrUrl: url, ttsUrl: url, apiKey: 'the-key' };
const say = { text: 'Hello.', voice: 'Nisha', language: 'en' };

async function main(): Promise<void> {
  {
    await using speech = new SpeechPlatform(settings);
    const { token } = await speech.accessToken(signal);
    console.log(`after a 502 of the token service: ${token}`);
    const { text } = await speech.transcribe(recording, { language: 'en' }, signal);
    console.log(`after a 429 of the recogniser: ${text}`);
  }
  {
    await using speech = new SpeechPlatform(settings);
    let bytes = 0;
    for await (const part of speech.stream(say, signal)) bytes += part.length;
    console.log(`after a lost synthesis socket: ${bytes}`);
  }
  {
    await using speech = new SpeechPlatform(settings);
    await using session = speech.recognise({ language: 'en', sampleRateHz: 8_000 }, signal);
    console.log(`after two lost recognition sockets: ${(await session.commit()).text}`);
  }
  {
    await using speech = new SpeechPlatform({ ...settings, slotsPerKey: 1, requestTimeoutMs: 300 });
    const unread = await speech.synthesize({ ...say, format: 'mulaw' }, signal);
    const spoken = await speech.synthesize({ ...say, format: 'mulaw' }, signal);
    console.log(`after a wait for the slot of unread audio: ${spoken.format} ${unread.format}`);
    spoken.close();
  }
  {
    const never: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)));
    await using speech = new SpeechPlatform(settings, { fetch: never });
    const told = await speech.health(AbortSignal.timeout(100)).catch((error: unknown) => error);
    console.log(`after a fetch that gave no answer: ${told instanceof SpeechError ? told.code : String(told)}`);
  }
}

await main();
