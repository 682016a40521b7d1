// What docs/speech-client.md shows, as it stands there; test/unit/speech/entry.test.ts holds the two together.
import { SpeechAuthError, SpeechError, SpeechPlatform } from '../../src/speech/index.ts';

interface Settings {
  readonly authUrl: string;
  readonly asrUrl: string;
  readonly ttsUrl: string;
  readonly apiKey: string;
}

export async function say({ authUrl, asrUrl, ttsUrl, apiKey }: Settings): Promise<void> {
  await using speech = new SpeechPlatform({ authUrl, asrUrl, ttsUrl, apiKey });
  const spoken = await speech.synthesize({ text: 'Good morning.', voice: 'Nisha', format: 'wav' }, AbortSignal.timeout(60_000));
  for await (const bytes of spoken.audio) process.stdout.write(bytes);
}

export async function transcribe(speech: SpeechPlatform, signal: AbortSignal): Promise<void> {
  try {
    const heard = await speech.transcribe({ path: 'call.wav' }, { language: 'hi', verbose: true }, signal);
    for (const { word, startS } of heard.words) console.log(startS.toFixed(2), word);
  } catch (error) {
    if (error instanceof SpeechAuthError) console.error('check the API key and its balance');
    else if (error instanceof SpeechError) console.error(error.code, error.status, error.requestId, error.retryable);
    else throw error;
  }
}

export async function listen(speech: SpeechPlatform, microphone: AsyncIterable<Int16Array>, signal: AbortSignal): Promise<void> {
  await using session = speech.recognise({ language: 'en', sampleRateHz: 16_000 }, signal);
  const talk = async (): Promise<void> => {
    for await (const pcm of microphone) session.send(pcm);
    const { text } = await session.commit();
    console.log('the turn:', text);
    await session.end();
  };
  const follow = async (): Promise<void> => {
    for await (const event of session) if (event.type === 'partial') console.log('so far:', event.text);
  };
  await Promise.all([talk(), follow()]);
}
