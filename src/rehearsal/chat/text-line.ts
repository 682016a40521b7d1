import { encodeAudio } from '../../audio/codec.ts';
import { FRAME_MS, FRAME_SAMPLES_8K, MULAW_8K } from '../../audio/format.ts';
import type { VoiceDetector } from '../../call/inbound/inbound-audio.ts';
import type { Attachment, CarrierCapabilities, MediaEvent, StreamStarted } from '../../carriers/port.ts';
import { CarrierEnd } from '../replay/recorded-carrier.ts';
import type { VirtualTime } from '../replay/virtual-time.ts';
import { PLATFORM_RECOGNITION, PLATFORM_SYNTHESIS } from '../../speech/platform-capabilities.ts';
import type { Recogniser, RecognitionEvent, RecognitionSession, SynthesisRequest, Synthesizer } from '../../speech/port.ts';

// A telephone line for text: the caller's words become frames that the detector takes for a voice, and the recogniser gives the words
// back as those frames reach it. What the bot says is silence, as long as the text takes to say.

/** A word takes so many frames to say; all words of a breath together no more than this. */
const WORD_FRAMES = 16;
const MOST_FRAMES = 1_000;
/** The recogniser answers a commit after this. */
const SETTLING_MS = 20;
/** Faster than people speak: the bot's whole answer is made well before the first of it was heard. */
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

/** What the caller is saying, a part of it a frame. */
interface Breath {
  /** Words that no recogniser has heard yet. */
  readonly words: string[];
  readonly framesPerWord: number;
  framesLeft: number;
}

/** The carrier's side of a call in text: plays what it is sent on the clock's time, and gives its marks back. */
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

  /** The caller still says something. */
  get isSpeaking(): boolean {
    return (this.#breath?.framesLeft ?? 0) > 0;
  }

  /** The caller begins to say this. */
  say(text: string): void {
    const words = text.trim().split(/\s+/u);
    const framesPerWord = Math.max(1, Math.min(WORD_FRAMES, Math.floor(MOST_FRAMES / words.length)));
    // A single "ja" is spoken as long as two short words are.
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
    // The dialog's action says which.
  }

  close(): void {
    this.#open = false;
  }

  /** What a recogniser hears of this call. */
  readonly recogniser: Recogniser = {
    capabilities: PLATFORM_RECOGNITION,
    open: (_options, listener) => this.#recognition(listener),
  };

  #return(name: string): void {
    this.#marks = this.#marks.filter((mark) => mark.name !== name);
    if (this.#open) this.#listener({ type: 'mark', name });
  }

  /** 20 ms of the caller's side, and so on until the line is closed. */
  #frame(): void {
    if (!this.#open) return;
    // The frame is made silence where it may not be heard, so each one is new.
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
      // The last word is whole with its first half: nothing is lost where the voice ends between two batches.
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

/** Takes exactly the caller's frames of a `TextLine` for a voice. */
export const textDetector: VoiceDetector = {
  process: (frame) => (frame[0] === 0 ? { voiced: false, speechLike: 0 } : { voiced: true, speechLike: 1 }),
  close: () => undefined,
};

/** "Speaks" in silence. @param onSpeak told of each sentence as it is asked for, in order */
export function textSynthesizer(onSpeak: (request: SynthesisRequest) => void): Synthesizer {
  return {
    capabilities: PLATFORM_SYNTHESIS,
    async *speak(request, signal) {
      onSpeak(request);
      yield* silence(Math.max(LEAST_SPEECH_MS, request.text.length * MS_PER_CHARACTER), signal);
    },
  };
}

/** So much silence as mu-law. */
export function* silence(lengthMs: number, signal: AbortSignal): Generator<Uint8Array> {
  const chunk = encodeAudio('mulaw', new Int16Array(CHUNK_SAMPLES));
  for (let left = lengthMs * SAMPLES_PER_MS; left > 0 && !signal.aborted; left -= CHUNK_SAMPLES) {
    yield chunk.subarray(0, Math.min(CHUNK_SAMPLES, left));
  }
}
