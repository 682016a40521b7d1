import { type AudioFormat, durationMs, TELEPHONE_FORMAT } from '../../audio/format.ts';
import { encodeAudio } from '../../audio/codec.ts';
import { PLATFORM_RECOGNITION, PLATFORM_SYNTHESIS } from '../../speech/platform-capabilities.ts';
import type { Recogniser, RecognitionEvent, RecognitionSession, Synthesizer } from '../../speech/port.ts';
import type { DecisionLog } from './decision.ts';
import type { CallFixture, Entry, KeptRecognition } from './fixture.ts';
import { type KeptPart, replayAnswer, median, type NoteStandIn, takeFirst } from './replayed-answer.ts';
import { withoutDigits } from './scrub.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Largest distance at which two commits count as the same. */
const SAME_COMMIT_MS = 2_500;
const USUAL_SETTLING_MS = 300;
const USUAL_FIRST_BYTE_MS = 150;
const USUAL_MS_PER_CHARACTER = 60;
const CHUNK_MS = 200;
const SEG_STEP = 1 / 1_024;

type Hints = Extract<Entry, { k: 'hints' }>;
type Words = Extract<Entry, { k: 'words' }> & { readonly rank: number };

/** The recorded recogniser: words arrive at recorded times, answers to commits after recorded delays. */
export function replayRecogniser(fixture: CallFixture, time: VirtualTime, standIn: NoteStandIn): Recogniser {
  const taken = new Set<number>();
  const words = fixture.log.flatMap((entry, rank): Words[] => (entry.k === 'words' ? [{ ...entry, rank }] : []));
  const settlingMs = median(
    words.flatMap(({ commit, tookMs }) => (commit === undefined ? [] : [tookMs])),
    USUAL_SETTLING_MS,
  );
  const takers = fixture.log.filter((entry) => entry.k === 'recogniser');
  const hints = fixture.log.filter((entry) => entry.k === 'hints');
  const asKept = (phrases: readonly string[]): string => {
    const text = phrases.join('\n');
    return fixture.digitsMasked ? withoutDigits(text) : text;
  };
  return {
    get capabilities() {
      const { mostHints } = standing(takers, time.nowMs() - fixture.baseMs) ?? PLATFORM_RECOGNITION;
      return { ...PLATFORM_RECOGNITION, mostHints };
    },
    open(options, listener) {
      const { language, boostPhrases = [] } = options;
      const wanted = asKept(boostPhrases);
      const number = takeFirst(
        fixture.recognitions,
        taken,
        (kept) => kept.language === language && kept.boostPhrases.join('\n') === wanted,
      );
      if (number === undefined) standIn('words', `a recogniser session for "${language}" was not opened then; it hears nothing`);
      const mine = words.filter(({ s }) => s === number);
      const commits = number === undefined ? [] : (fixture.recognitions[number]?.commits ?? []);
      const told = hints.filter(({ s }) => s === number);
      const { baseMs } = fixture;
      return new ReplayedRecognition({ mine, commits, told, asKept, settlingMs, baseMs, time, listener, standIn });
    },
  };
}

/** The entry in force at a time since the call's start: the last before it, or the first. */
function standing<Each extends { readonly t: number }>(entries: readonly Each[], atMs: number): Each | undefined {
  return entries.findLast(({ t }) => t <= Math.round(atMs)) ?? entries[0];
}

interface Kept {
  readonly mine: readonly Words[];
  /** Recorded commit times. */
  readonly commits: readonly number[];
  readonly told: readonly Hints[];
  /** Phrases in the fixture's form. */
  readonly asKept: (phrases: readonly string[]) => string;
  readonly settlingMs: number;
  readonly baseMs: number;
  readonly time: VirtualTime;
  readonly listener: (event: RecognitionEvent) => void;
  readonly standIn: NoteStandIn;
}

class ReplayedRecognition implements RecognitionSession {
  readonly #kept: Kept;
  #aborted = false;
  #nextCommit = 0;
  #nextHints = 0;
  #lastSeg = -1;

  constructor(kept: Kept) {
    this.#kept = kept;
    const { mine, time, baseMs } = kept;
    const openedMs = time.nowMs();
    for (const { event, commit, t, tookMs, rank } of mine) {
      if (commit !== undefined) continue;
      // Words follow the caller's audio, at its recorded times; events of a session itself count from its opening.
      const atMs = event.type === 'ready' ? openedMs + tookMs : baseMs + t;
      if (atMs >= openedMs) this.#at(atMs, rank, event);
    }
  }

  send(): void {
    // The results are recorded, so audio is not needed.
  }

  commit(): void {
    const { mine, commits, settlingMs, baseMs, time, standIn } = this.#kept;
    const nowMs = time.nowMs();
    const sinceMs = (index: number): number => nowMs - baseMs - (commits[index] ?? Number.POSITIVE_INFINITY);
    while (sinceMs(this.#nextCommit) > SAME_COMMIT_MS) this.#nextCommit += 1;
    if (sinceMs(this.#nextCommit) < -SAME_COMMIT_MS) {
      standIn('words', 'nothing was committed here then; the recogniser answers with no words');
      const marksEnd = mine.some(({ event }) => event.type === 'final' && event.endOfUtterance !== null);
      const seg = this.#lastSeg + SEG_STEP;
      const event = { type: 'final', seg, text: '', endOfUtterance: marksEnd ? true : null, language: null } as const;
      this.#at(nowMs + settlingMs, undefined, event);
      return;
    }
    const answers = mine.filter(({ commit }) => commit === this.#nextCommit);
    this.#nextCommit += 1;
    for (const { event, tookMs, rank } of answers) this.#at(nowMs + tookMs, rank, event);
  }

  /** Present while the recorded recogniser took hints. */
  get listenFor(): RecognitionSession['listenFor'] {
    const { told, asKept, time, baseMs, standIn } = this.#kept;
    if ((standing(told, time.nowMs() - baseMs)?.phrases ?? null) === null) return undefined;
    return (phrases) => {
      const then = told.filter((entry) => entry.phrases !== null)[this.#nextHints]?.phrases ?? undefined;
      this.#nextHints += 1;
      if (then === undefined || asKept(then) !== asKept(phrases))
        standIn('words', 'the recogniser was given other hints then; it hears what it heard with those');
    };
  }

  async end(): Promise<void> {
    this.abort();
  }

  abort(): void {
    this.#aborted = true;
  }

  #at(atMs: number, rank: number | undefined, event: KeptRecognition): void {
    this.#kept.time.at(atMs, rank, () => {
      if (this.#aborted) return;
      if ('seg' in event) this.#lastSeg = Math.max(this.#lastSeg, event.seg);
      this.#kept.listener(live(event));
    });
  }
}

/** The recorded voice; a sentence without a recording is silence of matching length. */
export function replaySynthesizer(
  fixture: CallFixture,
  time: VirtualTime,
  decisions: DecisionLog,
  standIn: NoteStandIn,
): Synthesizer {
  const taken = new Set<number>();
  const { speeches, baseMs } = fixture;
  const format = speechFormatOf(fixture);
  const kept = keptSpeeches(fixture);
  const firstByteMs = median(
    kept.flatMap((parts) => (parts[0] !== undefined && 'part' in parts[0].what ? [parts[0].tookMs] : [])),
    USUAL_FIRST_BYTE_MS,
  );
  const perCharacter = msPerCharacter(speeches, kept, format);
  const overMs = fixture.log.at(-1)?.t ?? 0;
  return {
    capabilities: PLATFORM_SYNTHESIS,
    speak({ text, voice, language, speed = 1 }, signal) {
      decisions.note('speak', JSON.stringify(text));
      const same = (speech: (typeof speeches)[number]): boolean =>
        speech.text === text && speech.voice === voice && speech.language === language && speech.speed === speed;
      const lengthMs = Math.max(CHUNK_MS, text.length * perCharacter);
      let number = takeFirst(speeches, taken, same);
      if (number === undefined) {
        number = speeches.findIndex((speech, index) => same(speech) && speech.abortedAfterMs === null && ends(kept[index]));
        if (number === -1) {
          standIn('voice', `${JSON.stringify(text)} was not spoken then; it is ${Math.round(lengthMs)} ms of silence`);
          return replayAnswer(time, { parts: silence(format, firstByteMs, lengthMs), wasAborted: false }, signal);
        }
        standIn('voice', `${JSON.stringify(text)} was spoken less often then; it sounds as before`);
        const again = (kept[number] ?? []).map((part) => ({ ...part, rank: undefined }));
        return replayAnswer(time, { parts: again, wasAborted: false }, signal);
      }
      const parts = kept[number] ?? [];
      const { abortedAfterMs = null } = speeches[number] ?? {};
      // If it broke off in the recording and is wanted now, silence follows from that time on.
      const fromMs = 1 + (abortedAfterMs ?? Math.max(0, overMs - (time.nowMs() - baseMs)));
      const missingMs = lengthMs - madeMs(parts, format);
      const rest = ends(parts) ? [] : silence(format, fromMs, Math.max(0, missingMs));
      return replayAnswer(time, { parts: [...parts, ...rest], wasAborted: abortedAfterMs !== null }, signal);
    },
  };
}

function keptSpeeches({ log, speeches, botAudio }: CallFixture): readonly KeptPart<Uint8Array>[][] {
  const parts: KeptPart<Uint8Array>[][] = speeches.map(() => []);
  let from = 0;
  for (const [rank, entry] of log.entries()) {
    if (entry.k === 'sound') {
      parts[entry.speech]?.push({ ...entry, rank, what: { part: botAudio.subarray(from, from + entry.n) } });
      from += entry.n;
    } else if (entry.k === 'spoken') parts[entry.speech]?.push({ ...entry, rank, what: { failure: entry.failure } });
  }
  return parts;
}

/** Format of a fixture's bot audio: that of its first attachment, as for all of a call. */
function speechFormatOf({ log }: CallFixture): AudioFormat {
  const attached = log.find((entry) => entry.k === 'attached');
  return attached?.speechFormat ?? attached?.format ?? TELEPHONE_FORMAT;
}

function madeMs(parts: readonly KeptPart<Uint8Array>[], format: AudioFormat): number {
  return parts.reduce((sum, { what }) => sum + ('part' in what ? durationMs(format, what.part.length) : 0), 0);
}

/** Whether it ended or failed without being aborted. */
function ends(parts: readonly KeptPart<Uint8Array>[] | undefined): boolean {
  return parts?.some(({ by, what }) => by === 'asked' && 'failure' in what) === true;
}

function msPerCharacter(speeches: CallFixture['speeches'], kept: readonly KeptPart<Uint8Array>[][], format: AudioFormat): number {
  const rates = speeches.flatMap(({ text }, index) => {
    const parts = kept[index] ?? [];
    return ends(parts) && text.length > 0 ? [madeMs(parts, format) / text.length] : [];
  });
  return median(rates, USUAL_MS_PER_CHARACTER);
}

function silence(format: AudioFormat, fromMs: number, lengthMs: number): readonly KeptPart<Uint8Array>[] {
  const parts: KeptPart<Uint8Array>[] = [];
  const chunk = encodeAudio(format.encoding, new Int16Array((CHUNK_MS * format.rateHz) / 1000));
  const common = { by: 'asked', tookMs: fromMs, rank: undefined } as const;
  for (let made = 0; made < lengthMs; made += CHUNK_MS) parts.push({ ...common, what: { part: chunk } });
  return [...parts, { ...common, what: { failure: undefined } }];
}

/** Only the kind of the error is recorded. */
class RecogniserClosed extends Error {}

function live(event: KeptRecognition): RecognitionEvent {
  switch (event.type) {
    case 'final':
      return { ...event, endOfUtterance: event.endOfUtterance ?? undefined, language: event.language ?? undefined };
    case 'closed':
      return { type: 'closed', error: event.error === null ? undefined : new RecogniserClosed(event.error) };
    case 'ready':
    case 'partial':
    case 'final-refined':
    case 'reconnecting':
    case 'audio-lost':
      return event;
  }
}
