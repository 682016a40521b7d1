import { encodeAudio } from '../../audio/codec.ts';
import { FRAME_MS, FRAME_SAMPLES_8K, MULAW_8K } from '../../audio/format.ts';
import type { VoiceDetector } from '../../call/inbound/inbound-audio.ts';
import type { Attachment, CarrierCapabilities, MediaEvent, StreamStarted } from '../../carriers/port.ts';
import { CarrierEnd } from '../replay/recorded-carrier.ts';
import type { VirtualTime } from '../replay/virtual-time.ts';
import { PLATFORM_RECOGNITION, PLATFORM_SYNTHESIS } from '../../speech/platform-capabilities.ts';
import type { Recogniser, RecognitionEvent, RecognitionSession, SynthesisRequest, Synthesizer } from '../../speech/port.ts';

// A telephone line for text: the caller's words become frames that count as voice, and the recogniser returns the words as those frames arrive. The
// bot's words are silence of matching length.

/** Frames for one word; all words of a breath together are limited. */
const WORD_FRAMES = 16;
const MOST_FRAMES = 1_000;
/** Delay of the recogniser's answer to a commit. */
const SETTLING_MS = 20;
/** Faster than speech, so that the bot's whole answer is made well before its beginning was heard. */
const MS_PER_CHARACTER = 20;
const LEAST_SPEECH_MS = 200;
const SAMPLES_PER_MS = MULAW_8K.rateHz / 1000;
const CHUNK_SAMPLES = 200 * SAMPLES_PER_MS;
/** The sample that marks a frame as the caller's voice. */
const VOICED = 1_000;

const CAPABILITIES: CarrierCapabilities = {
  clear: 'native',
  marks: 'native',
  marksReturnOnClear: 'yes',
  pacing: 'burst',
  frameMs: FRAME_MS,
  dtmfOut: 'message',
};

/** The caller's utterance, sent in parts, one a frame. */
interface Breath {
  /** Words not recognised yet. */
  readonly words: string[];
  readonly framesPerWord: number;
  framesLeft: number;
}

/** The carrier's side of a text call: plays what it is sent in virtual time, and returns marks. */
export class TextLine implements Attachment {
  readonly id = 'chat';
  readonly carrier = 'chat';
  readonly capabilities = CAPABILITIES;
  readonly rateHz = MULAW_8K.rateHz;
  readonly speechFormat = MULAW_8K;
  readonly bufferedBytes = 0;
  readonly started: StreamStarted;
  readonly #time: VirtualTime;
  readonly #end = new CarrierEnd(MULAW_8K.rateHz);
  readonly #startedMs: number;
  #listener: (event: MediaEvent) => void = () => undefined;
  #marks: { readonly name: string; readonly cancel: () => void }[] = [];
  #breath: Breath | undefined;
  #open = true;

  constructor(time: VirtualTime, carrierCallId: string) {
    this.#time = time;
    this.#startedMs = time.nowMs();
    this.started = { type: 'started', streamId: 'chat', carrierCallId, inbound: MULAW_8K, outbound: MULAW_8K, parameters: {} };
    this.#frame();
  }

  /** The caller is still speaking. */
  get isSpeaking(): boolean {
    return (this.#breath?.framesLeft ?? 0) > 0;
  }

  /** The caller begins to speak. */
  say(text: string): void {
    const words = text.trim().split(/\s+/u);
    const framesPerWord = Math.max(1, Math.min(WORD_FRAMES, Math.floor(MOST_FRAMES / words.length)));
    // A single short word lasts as long as two.
    const framesLeft = Math.max(words.length, 2) * framesPerWord;
    this.#breath = { words: [...words], framesPerWord: Math.floor(framesLeft / words.length), framesLeft };
  }

  /** Takes the words that were not heard. */
  takeUnheard(): string {
    const unheard = this.#breath?.words.splice(0).join(' ') ?? '';
    this.#breath = undefined;
    return unheard;
  }

  press(digit: string): void {
    this.#listener({ type: 'digit', digit });
  }

  /** The caller hangs up, or was transferred. */
  stop(reason: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.#listener({ type: 'stopped', reason });
  }

  listen(listener: (event: MediaEvent) => void): void {
    this.#listener = listener;
  }

  sendAudio(pcm: Int16Array): void {
    this.#end.sent(pcm.length, this.#time.nowMs());
  }

  sendMark(name: string): void {
    const timer = this.#time.at(this.#end.at(this.#time.nowMs()), undefined, () => this.#return(name));
    this.#marks.push({ name, cancel: () => timer.cancel() });
  }

  sendClear(): void {
    this.#end.cleared(this.#time.nowMs());
    const taken = this.#marks;
    for (const { name, cancel } of taken) {
      cancel();
      this.#time.after(0, () => this.#return(name));
    }
  }

  sendDigits(): void {
    // The dialog's action has the target.
  }

  close(): void {
    this.#open = false;
  }

  /** The recogniser of this call. */
  readonly recogniser: Recogniser = {
    capabilities: PLATFORM_RECOGNITION,
    open: (_options, listener) => this.#recognition(listener),
  };

  #return(name: string): void {
    this.#marks = this.#marks.filter((mark) => mark.name !== name);
    if (this.#open) this.#listener({ type: 'mark', name });
  }

  /** Sends 20 ms of the caller's side, repeatedly, until the line is closed. */
  #frame(): void {
    if (!this.#open) return;
    // New each time, as the call may silence a frame in place.
    const pcm = new Int16Array(FRAME_SAMPLES_8K);
    if (this.#breath !== undefined && this.#breath.framesLeft > 0) {
      this.#breath.framesLeft -= 1;
      pcm.fill(VOICED);
    }
    const timestampMs = this.#time.nowMs() - this.#startedMs;
    this.#time.after(FRAME_MS, () => this.#frame());
    this.#listener({ type: 'audio', pcm, timestampMs });
  }

  #recognition(listener: (event: RecognitionEvent) => void): RecognitionSession {
    const time = this.#time;
    let seg = 0;
    let heard: string[] = [];
    let voicedSamples = 0;
    let over = false;
    const tell = (event: RecognitionEvent): void => {
      if (!over) listener(event);
    };
    const take = (breath: Breath): void => {
      const perWord = breath.framesPerWord * FRAME_SAMPLES_8K;
      const before = heard.length;
      // A word is complete at half its frames, so that batching loses no word.
      while (breath.words.length > 0 && voicedSamples >= perWord / 2) {
        voicedSamples -= perWord;
        heard.push(breath.words.shift() ?? '');
      }
      if (heard.length > before) tell({ type: 'partial', seg, text: heard.join(' ') });
    };
    time.after(0, () => tell({ type: 'ready' }));
    return {
      send: (pcm) => {
        voicedSamples += pcm.reduce((count, sample) => (sample === 0 ? count : count + 1), 0);
        if (this.#breath !== undefined) take(this.#breath);
      },
      commit: () => {
        const text = heard.join(' ');
        const event = { type: 'final', seg, text, endOfUtterance: true, language: undefined } as const;
        seg += 1;
        heard = [];
        voicedSamples = 0;
        time.after(SETTLING_MS, () => tell(event));
      },
      end: async () => void (over = true),
      abort: () => void (over = true),
    };
  }
}

/** A voice detector that recognises exactly a `TextLine`'s voiced frames. */
export const textDetector: VoiceDetector = {
  process: (frame) => (frame[0] === 0 ? { voiced: false, speechLike: 0 } : { voiced: true, speechLike: 1 }),
  close: () => undefined,
};

/** A synthesizer of silence. @param onSpeak called for each requested sentence, in order */
export function textSynthesizer(onSpeak: (request: SynthesisRequest) => void): Synthesizer {
  return {
    capabilities: PLATFORM_SYNTHESIS,
    async *speak(request, signal) {
      onSpeak(request);
      yield* silence(Math.max(LEAST_SPEECH_MS, request.text.length * MS_PER_CHARACTER), signal);
    },
  };
}

/** Silence of this length as mu-law. */
export function* silence(lengthMs: number, signal: AbortSignal): Generator<Uint8Array> {
  const chunk = encodeAudio('mulaw', new Int16Array(CHUNK_SAMPLES));
  for (let left = lengthMs * SAMPLES_PER_MS; left > 0 && !signal.aborted; left -= CHUNK_SAMPLES) {
    yield chunk.subarray(0, Math.min(CHUNK_SAMPLES, left));
  }
}
