import { wavFile } from '../../../src/audio/wav.ts';
import { buzz } from '../../support/buzz.ts';
import type { ScriptedLine, ScriptedRecogniser } from './scripted-recogniser.ts';
import type { Json, TestPlatform } from './setup.ts';

export type Voice = { readonly hz: number; readonly formants: readonly number[] };
export const deep: Voice = { hz: 105, formants: [450, 1100, 2300] };
export const bright: Voice = { hz: 215, formants: [650, 1800, 2900] };

/** What a verbose answer may hold, as far as tests look at it. */
export interface Answer extends Json {
  readonly text: string;
  readonly words: { word: string; start: number; end: number; confidence: number }[];
  readonly segments: {
    text: string;
    start: number;
    end: number;
    speaker?: string;
    emotion?: string;
    emotion_confidence?: number;
  }[];
  readonly nbest: { text: string }[];
  readonly detail: string | { loc: string[] }[];
}

const said = new Map<Voice, Int16Array>();

/** Two seconds of a voice, at 16 kHz; made once. */
function spoken(voice: Voice): Int16Array {
  const pcm = said.get(voice) ?? buzz({ ...voice, seconds: 2, wobble: 1 });
  said.set(voice, pcm);
  return pcm;
}

/** One utterance for each voice, with a second of silence after it; 16 kHz WAV. */
function utterances(voices: readonly Voice[]): Uint8Array {
  const pcm = new Int16Array(8_000 + voices.length * 48_000);
  voices.forEach((voice, index) => pcm.set(spoken(voice), 8_000 + index * 48_000));
  return wavFile(pcm, 16_000);
}

/** Transcribes a recording in which the recogniser hears these lines. */
export async function transcribeLines(
  test: TestPlatform,
  recogniser: ScriptedRecogniser,
  lines: readonly (string | (ScriptedLine & { readonly voice?: Voice }))[],
  fields: Readonly<Record<string, string>>,
): Promise<{ status: number; body: Answer }> {
  const script = lines.map((line) => (typeof line === 'string' ? { text: line } : line));
  recogniser.lines = script;
  const form = new FormData();
  const wav = utterances(script.map((line) => ('voice' in line ? (line.voice ?? deep) : deep)));
  form.append('file', new Blob([Buffer.from(wav)]), 'audio.wav');
  for (const [name, value] of Object.entries({ language_code: 'en', response_format: 'verbose_json', ...fields })) {
    form.append(name, value);
  }
  const response = await test.post(`${test.platform.asrUrl}/v1/audio/transcriptions`, form);
  return { status: response.status, body: (await response.json()) as Answer };
}
