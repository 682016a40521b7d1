import type { FrameSound } from './frame-sound.ts';

/** 20 ms of the line, as the voice detector and `FrameSounds` have measured them. */
export interface HeardFrame extends FrameSound {
  readonly atMs: number;
  /** Not the bot's echo. */
  readonly voiced: boolean;
  /** Periodicity of a voiced frame, 0 to 1. */
  readonly speechLike: number;
}

/** Speech without a pause longer than `RUN_GAP_MS`. */
export interface Run {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly voicedMs: number;
  /** Speech in the runs right before this one, each longer than a word: a sign of a prepared speech. */
  readonly beforeMs: number;
}

interface Tone {
  readonly hz: number;
  readonly secondHz: number;
  readonly levelDb: number;
  readonly sinceMs: number;
  readonly lastMs: number;
  /** Whether it began in a quiet line: a tone right after a voice is a held vowel. */
  readonly fromQuiet: boolean;
}

/** Counts of signals that were heard to their end, or long enough to be certain. */
export interface Signals {
  /** Single tones after which a mailbox records, or may. */
  readonly beeps: number;
  readonly lastBeepMs: number | undefined;
  /** Speech heard before the last beep. */
  readonly voicedBeforeBeepMs: number;
  /** 2,100 Hz of an answering fax, and 1,100 Hz of a calling one. */
  readonly faxAnswers: number;
  readonly faxCalls: number;
  /** Ringing, busy and congestion tones. */
  readonly lineTones: number;
  /** How many of the three tones before a carrier's announcement were heard in a row. */
  readonly announcing: number;
}

/** What was heard of the line so far; bounded. */
export interface Hearing {
  readonly atMs: number;
  /** Level of the loudest voice: much quieter voices are in the background. */
  readonly peakDb: number;
  /** The last voiced frame with a pitch: unpitched hiss alone is not a voice. */
  readonly pitchedMs: number;
  /** Voice that may still be a click; joins a run once it has lasted. */
  readonly burst: Run | undefined;
  /** The current run, or the last one. */
  readonly run: Run | undefined;
  /** Runs so far, including the one above. */
  readonly runs: number;
  readonly firstRunMs: number | undefined;
  readonly voicedMs: number;
  /** The longest run so far, including the one above. */
  readonly longestMs: number;
  readonly tone: Tone | undefined;
  /** When a tone other than a vowel was last heard. */
  readonly lastToneMs: number | undefined;
  readonly signals: Signals;
  /** End of the ringing tone: speech begins after it. */
  readonly ringingUntilMs: number;
  /** Smoothed spectral likeness of successive frames: how long it has been music-like, the longest so far, and when last. */
  readonly likeness: number;
  readonly musicMs: number;
  readonly mostMusicMs: number;
  readonly lastMusicMs: number | undefined;
}

const FRAME_MS = 20;
/** A pause this long separates runs: longer than those inside a sentence. */
export const RUN_GAP_MS = 700;
/** A longer pause ends one speech of sentences; runs longer than a word belong to it. */
const SPEECH_GAP_MS = 1_600;
const MORE_THAN_A_WORD_MS = 1_000;
/** Quiet that ends a burst. */
const BURST_GAP_MS = 240;
/** Shorter voice is a click or a knock. */
const LEAST_BURST_MS = 100;
/** A voice this far below the loudest is background. */
const FOREGROUND_DB = 24;
/** Periodicity of a pitched frame, and how long after it a consonant may last. */
const PITCHED = 0.5;
const UNPITCHED_MS = 180;

/** A tone goes on while its frequency and level stay within these: no voice is as steady for long. */
const TONE_DRIFT_HZ = 8;
const TONE_DRIFT_DB = 2.5;
/** Quiet before a signal tone. */
const QUIET_BEFORE_MS = 80;
const TONE_GAP_MS = 40;
/** A steady tone this long is not a vowel; a shorter one may be. */
const SURE_TONE_MS = 60;
const MOST_VOWEL_MS = 300;
const LEAST_BEEP_MS = 120;
const MOST_BEEP_MS = 2_500;
const BEEP_HZ = [300, 2_500] as const;
const FAX_ANSWER_HZ = 2_100;
const LEAST_FAX_ANSWER_MS = 900;
const FAX_CALL_HZ = 1_100;
const FAX_CALL_MS = [380, 640] as const;
const FAX_DRIFT_HZ = 30;
/** Ringing and busy tones of most networks lie here, alone or in pairs; two in one frame look like one. */
const LINE_TONE_HZ = [340, 500] as const;
const LEAST_LINE_TONE_MS = 180;
/** The three tones before an announcement (ITU-T E.180), each a third of a second. */
const ANNOUNCING_HZ = [
  [900, 1_000],
  [1_350, 1_450],
  [1_750, 1_850],
] as const;
const LEAST_ANNOUNCING_MS = 200;

const MUSIC_LIKENESS = 0.85;
const LIKENESS_WEIGHT = 0.04;
/** Shorter stretches may be voices, some of which are as even as music for a second. */
const LEAST_MUSIC_MS = 1_300;
const MOST_MUSIC_MS = 8_000;
/** A longer note is a signal. */
const LONGEST_NOTE_MS = 700;
/** Music for the far end is not much softer than the voices before it. */
const MUSIC_DB = 20;

export function nothingHeard(atMs = 0): Hearing {
  return {
    atMs,
    peakDb: -60,
    pitchedMs: Number.NEGATIVE_INFINITY,
    burst: undefined,
    run: undefined,
    runs: 0,
    firstRunMs: undefined,
    voicedMs: 0,
    longestMs: 0,
    tone: undefined,
    lastToneMs: undefined,
    signals: {
      beeps: 0,
      lastBeepMs: undefined,
      voicedBeforeBeepMs: 0,
      faxAnswers: 0,
      faxCalls: 0,
      lineTones: 0,
      announcing: 0,
    },
    ringingUntilMs: atMs,
    likeness: 0,
    musicMs: 0,
    mostMusicMs: 0,
    lastMusicMs: undefined,
  };
}

/** Takes in the next frame; a frame dated before the last counts at the last one's time. */
export function hearFrame(before: Hearing, frame: HeardFrame): Hearing {
  const atMs = Math.max(before.atMs, frame.atMs);
  const toned = withTone({ ...before, atMs }, frame);
  const isTone = toned.tone?.fromQuiet === true && toned.tone.lastMs - toned.tone.sinceMs + FRAME_MS >= SURE_TONE_MS;
  const toneHeard = isTone ? { ...toned, lastToneMs: toned.tone?.lastMs } : toned;
  const spoken = isTone || playsMusic(toned) ? withoutBurst(toneHeard) : withVoice(toneHeard, frame);
  return withMusic(spoken, frame);
}

/** How long it has been quiet since the last speech, without music or beeps; undefined before any speech. */
export function quietMs({ run, atMs, lastMusicMs, lastToneMs }: Hearing): number | undefined {
  return run === undefined ? undefined : atMs - Math.max(run.lastMs, lastMusicMs ?? run.lastMs, lastToneMs ?? run.lastMs);
}

export function lengthMs({ sinceMs, lastMs }: Run): number {
  return lastMs - sinceMs + FRAME_MS;
}

/** Quiet that ends an utterance: longer after longer speech, which is more likely to go on. */
export function endMs(saidMs: number): number {
  if (saidMs < 1_000) return 320;
  return saidMs < 1_800 ? 420 : 520;
}

/** Length of the signal tone that is sounding. */
export function toneMs({ tone }: Hearing): number {
  return tone === undefined ? 0 : lastedMs(tone);
}

function lastedMs({ sinceMs, lastMs }: Tone): number {
  return lastMs - sinceMs + FRAME_MS;
}

function withVoice(hearing: Hearing, frame: HeardFrame): Hearing {
  const { atMs } = hearing;
  const burst = hearing.burst !== undefined && atMs - hearing.burst.lastMs > BURST_GAP_MS ? undefined : hearing.burst;
  const pitchedMs = frame.voiced && frame.speechLike >= PITCHED ? atMs : hearing.pitchedMs;
  if (!frame.voiced || atMs - pitchedMs > UNPITCHED_MS || frame.levelDb < hearing.peakDb - FOREGROUND_DB)
    return burst === hearing.burst && pitchedMs === hearing.pitchedMs ? hearing : { ...hearing, burst, pitchedMs };
  const peakDb = Math.max(hearing.peakDb, frame.levelDb);
  const grown: Run = {
    sinceMs: burst?.sinceMs ?? atMs,
    lastMs: atMs,
    voicedMs: (burst?.voicedMs ?? 0) + FRAME_MS,
    beforeMs: 0,
  };
  const next = { ...hearing, burst: grown, pitchedMs };
  return grown.voicedMs < LEAST_BURST_MS ? next : withRun({ ...next, peakDb }, grown);
}

/** A burst longer than a click joins the run, or begins one. */
function withRun(hearing: Hearing, burst: Run, newMs = burst.voicedMs === LEAST_BURST_MS ? LEAST_BURST_MS : FRAME_MS): Hearing {
  const { run } = hearing;
  const isNew = run === undefined || burst.sinceMs - run.lastMs > RUN_GAP_MS;
  const grown = isNew
    ? { sinceMs: burst.sinceMs, lastMs: burst.lastMs, voicedMs: newMs, beforeMs: saidBefore(run, burst) }
    : { sinceMs: run.sinceMs, lastMs: burst.lastMs, voicedMs: run.voicedMs + newMs, beforeMs: run.beforeMs };
  return {
    ...hearing,
    run: grown,
    runs: hearing.runs + (isNew ? 1 : 0),
    firstRunMs: hearing.firstRunMs ?? grown.sinceMs,
    voicedMs: hearing.voicedMs + newMs,
    longestMs: Math.max(hearing.longestMs, lengthMs(grown)),
  };
}

function saidBefore(run: Run | undefined, next: Run): number {
  if (run === undefined || next.sinceMs - run.lastMs > SPEECH_GAP_MS || lengthMs(run) < MORE_THAN_A_WORD_MS) return 0;
  return run.beforeMs + lengthMs(run);
}

function withoutBurst(hearing: Hearing): Hearing {
  return hearing.burst === undefined ? hearing : { ...hearing, burst: undefined };
}

function withTone(hearing: Hearing, frame: HeardFrame): Hearing {
  const { tone, atMs } = hearing;
  if (tone !== undefined && goesOn(tone, frame)) {
    const grown = { ...tone, lastMs: atMs };
    return signalGoingOn({ ...hearing, tone: grown }, tone, grown);
  }
  if (tone !== undefined && frame.toneHz === 0 && atMs - tone.lastMs <= TONE_GAP_MS) return hearing;
  const ended = tone === undefined ? hearing : afterTone(hearing, tone);
  const { toneHz: hz, secondHz, levelDb } = frame;
  const fromQuiet = hearing.run === undefined || atMs - hearing.run.lastMs >= QUIET_BEFORE_MS;
  const begun = hz === 0 ? undefined : { hz, secondHz, levelDb, sinceMs: atMs, lastMs: atMs, fromQuiet };
  return begun === undefined && ended.tone === undefined ? ended : { ...ended, tone: begun };
}

function goesOn(tone: Tone, frame: HeardFrame): boolean {
  return (
    frame.toneHz !== 0 &&
    Math.abs(frame.toneHz - tone.hz) <= TONE_DRIFT_HZ &&
    (frame.secondHz === 0) === (tone.secondHz === 0) &&
    Math.abs(frame.secondHz - tone.secondHz) <= TONE_DRIFT_HZ &&
    Math.abs(frame.levelDb - tone.levelDb) <= TONE_DRIFT_DB
  );
}

/** A fax is recognised before its tone ends: some last until they are answered. */
function signalGoingOn(hearing: Hearing, before: Tone, tone: Tone): Hearing {
  const isFax = tone.secondHz === 0 && Math.abs(tone.hz - FAX_ANSWER_HZ) <= FAX_DRIFT_HZ;
  // Frames may come late, and several at once.
  if (!isFax || lastedMs(before) >= LEAST_FAX_ANSWER_MS || lastedMs(tone) < LEAST_FAX_ANSWER_MS) return hearing;
  return withSignals(hearing, { faxAnswers: hearing.signals.faxAnswers + 1 });
}

/** The tone is over: it was a signal or a vowel. */
function afterTone(hearing: Hearing, tone: Tone): Hearing {
  if (!tone.fromQuiet) return hearing;
  const heard = signalEnded(hearing, tone);
  const vowelMs = lastedMs(tone);
  if (heard !== hearing || vowelMs < SURE_TONE_MS || vowelMs > MOST_VOWEL_MS) return heard;
  const spoken: Run = { sinceMs: tone.sinceMs, lastMs: tone.lastMs, voicedMs: vowelMs, beforeMs: 0 };
  const next = { ...hearing, burst: spoken, pitchedMs: tone.lastMs };
  return vowelMs < LEAST_BURST_MS ? next : withRun(next, spoken, vowelMs);
}

function signalEnded(before: Hearing, tone: Tone): Hearing {
  const toneMs = lastedMs(tone);
  const { hz, secondHz } = tone;
  const nobodySpoke = before.runs === 0;
  const next = ANNOUNCING_HZ[before.signals.announcing];
  const announces = next !== undefined && secondHz === 0 && isIn(hz, next) && isIn(toneMs, [LEAST_ANNOUNCING_MS, 500]);
  // The first of the three tones may also be a beep.
  const hearing = announces ? withSignals(before, { announcing: before.signals.announcing + 1 }) : before;
  const { signals } = hearing;
  if (signals.announcing > 1 && announces) return hearing;
  if (isIn(hz, LINE_TONE_HZ) && toneMs >= LEAST_LINE_TONE_MS && nobodySpoke)
    return { ...withSignals(hearing, { lineTones: signals.lineTones + 1 }), ringingUntilMs: hearing.atMs };
  if (secondHz !== 0) return hearing;
  if (Math.abs(hz - FAX_ANSWER_HZ) <= FAX_DRIFT_HZ && toneMs >= LEAST_FAX_ANSWER_MS) return hearing;
  if (Math.abs(hz - FAX_CALL_HZ) <= FAX_DRIFT_HZ && isIn(toneMs, FAX_CALL_MS) && nobodySpoke)
    return withSignals(hearing, { faxCalls: signals.faxCalls + 1 });
  if (!isIn(hz, BEEP_HZ) || !isIn(toneMs, [LEAST_BEEP_MS, MOST_BEEP_MS])) return hearing;
  return withSignals(hearing, {
    beeps: signals.beeps + 1,
    lastBeepMs: tone.lastMs,
    voicedBeforeBeepMs: hearing.voicedMs,
  });
}

function withSignals(hearing: Hearing, heard: Partial<Signals>): Hearing {
  return { ...hearing, signals: { ...hearing.signals, ...heard } };
}

function isIn(value: number, [least, most]: readonly [number, number]): boolean {
  return value >= least && value <= most;
}

/** Held notes give spectra that stay alike for longer than any vowel. Soft music behind a voice is background in the room. */
function withMusic(hearing: Hearing, frame: HeardFrame): Hearing {
  const sounds = frame.likeLast > 0 && toneMs(hearing) < LONGEST_NOTE_MS && frame.levelDb >= hearing.peakDb - MUSIC_DB;
  const likeness = hearing.likeness + LIKENESS_WEIGHT * ((sounds ? frame.likeLast : 0) - hearing.likeness);
  const isAlike = likeness >= MUSIC_LIKENESS;
  const musicMs = isAlike ? Math.min(hearing.musicMs + FRAME_MS, MOST_MUSIC_MS) : Math.max(0, hearing.musicMs - 2 * FRAME_MS);
  const next = { ...hearing, likeness, musicMs };
  if (!isAlike || !playsMusic(next)) return next;
  return { ...next, mostMusicMs: Math.max(hearing.mostMusicMs, musicMs), lastMusicMs: hearing.atMs };
}

function playsMusic({ likeness, musicMs }: Hearing): boolean {
  return likeness >= MUSIC_LIKENESS && musicMs >= LEAST_MUSIC_MS;
}
